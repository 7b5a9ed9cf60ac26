// SPDX-License-Identifier: Apache-2.0
// Generated from arrowdevice.h by `cargo run -p declarations`. Do not edit.

pub const ARROW_FLAG_DICTIONARY_ORDERED: i64 = 1;
pub const ARROW_FLAG_NULLABLE: i64 = 2;
pub const ARROW_FLAG_MAP_KEYS_SORTED: i64 = 4;
pub const ARROW_DEVICE_CPU: ArrowDeviceType = 1;
pub const ARROW_DEVICE_CUDA: ArrowDeviceType = 2;
pub const ARROW_DEVICE_CUDA_HOST: ArrowDeviceType = 3;
pub const ARROW_DEVICE_OPENCL: ArrowDeviceType = 4;
pub const ARROW_DEVICE_VULKAN: ArrowDeviceType = 7;
pub const ARROW_DEVICE_METAL: ArrowDeviceType = 8;
pub const ARROW_DEVICE_VPI: ArrowDeviceType = 9;
pub const ARROW_DEVICE_ROCM: ArrowDeviceType = 10;
pub const ARROW_DEVICE_ROCM_HOST: ArrowDeviceType = 11;
pub const ARROW_DEVICE_EXT_DEV: ArrowDeviceType = 12;
pub const ARROW_DEVICE_CUDA_MANAGED: ArrowDeviceType = 13;
pub const ARROW_DEVICE_ONEAPI: ArrowDeviceType = 14;
pub const ARROW_DEVICE_WEBGPU: ArrowDeviceType = 15;
pub const ARROW_DEVICE_HEXAGON: ArrowDeviceType = 16;
pub const ARROWDEVICE_VERSION_MAJOR: u32 = 0;
pub const ARROWDEVICE_VERSION_MINOR: u32 = 1;
pub const ARROWDEVICE_VERSION_PATCH: u32 = 0;
pub const ARROWDEVICE_NO_TIMEOUT: i64 = 0;
pub const ARROWDEVICE_POLL: i64 = -1;
pub const ARROWDEVICE_VALIDATE_STRUCTURE: i32 = 0;
pub const ARROWDEVICE_VALIDATE_FULL: i32 = 1;
pub const ARROWDEVICE_VALIDATE_STRICT: i32 = 2;
pub const ARROWDEVICE_ASYNC_LAYOUT_UNKNOWN: i32 = 0;
pub const ARROWDEVICE_ASYNC_LAYOUT_40_BYTES: i32 = 1;
pub const ARROWDEVICE_ASYNC_LAYOUT_48_BYTES: i32 = 2;
pub const ARROWDEVICE_POOL_WAIT_FOR_CONTEXT: u32 = 1;
pub const ARROWDEVICE_POOL_SHAREABLE: u32 = 2;
pub const ARROWDEVICE_COPY_ASYNC: u32 = 1;
pub const ARROWDEVICE_COPY_ALWAYS: u32 = 2;
pub const ARROWDEVICE_COPY_NEVER: u32 = 4;
pub const ARROWDEVICE_COPY_NO_TRIM: u32 = 8;
pub const ARROWDEVICE_DEVICE_ADDRESSES: u64 = 1;
pub const ARROWDEVICE_DEVICE_HOST_READABLE: u64 = 2;
pub const ARROWDEVICE_DEVICE_EVENTS: u64 = 4;
pub const ARROWDEVICE_DEVICE_WAIT_BLOCKS: u64 = 8;
pub const ARROWDEVICE_DEVICE_WRAPPED: u64 = 16;
pub const ARROWDEVICE_DEVICE_COPY_BLOCKS: u64 = 32;
pub const ARROWDEVICE_DEVICE_STREAM_ORDERED: u64 = 64;
pub const ARROWDEVICE_DEVICE_SHAREABLE: u64 = 128;
pub const ARROWDEVICE_PEER_ACCESS: u32 = 1;
pub const ARROWDEVICE_PEER_COPY: u32 = 2;
pub const ARROWDEVICE_PEER_REMOTE: u32 = 4;
pub const ARROWDEVICE_LINK_ANY_USER: u32 = 1;
pub const ARROWDEVICE_LINK_ISOLATED: u32 = 2;
pub const ARROWDEVICE_STREAM_READ_AHEAD: u32 = 1;
pub const ARROWDEVICE_METADATA_STREAM: u32 = 0;
pub const ARROWDEVICE_METADATA_ITEM: u32 = 1;
pub const ARROWDEVICE_IMPORT_RESOLVE_SIZES: u32 = 1;
pub const ARROWDEVICE_ROLE_VALIDITY: u32 = 1;
pub const ARROWDEVICE_ROLE_DATA: u32 = 2;
pub const ARROWDEVICE_ROLE_OFFSETS: u32 = 3;
pub const ARROWDEVICE_ROLE_SIZES: u32 = 4;
pub const ARROWDEVICE_ROLE_TYPE_IDS: u32 = 5;
pub const ARROWDEVICE_ROLE_VIEWS: u32 = 6;
pub const ARROWDEVICE_ROLE_VARIADIC: u32 = 7;
pub const ARROWDEVICE_ROLE_VARIADIC_SIZES: u32 = 8;
pub const ARROWDEVICE_BUFFER_SIZE_KNOWN: u32 = 1;
pub const ARROWDEVICE_BUFFER_HOST: u32 = 2;
pub const ARROWDEVICE_LAYOUT_NULL: i32 = 0;
pub const ARROWDEVICE_LAYOUT_FIXED: i32 = 1;
pub const ARROWDEVICE_LAYOUT_BINARY: i32 = 2;
pub const ARROWDEVICE_LAYOUT_LARGE_BINARY: i32 = 3;
pub const ARROWDEVICE_LAYOUT_BINARY_VIEW: i32 = 4;
pub const ARROWDEVICE_LAYOUT_LIST: i32 = 5;
pub const ARROWDEVICE_LAYOUT_LARGE_LIST: i32 = 6;
pub const ARROWDEVICE_LAYOUT_LIST_VIEW: i32 = 7;
pub const ARROWDEVICE_LAYOUT_LARGE_LIST_VIEW: i32 = 8;
pub const ARROWDEVICE_LAYOUT_FIXED_SIZE_LIST: i32 = 9;
pub const ARROWDEVICE_LAYOUT_STRUCT: i32 = 10;
pub const ARROWDEVICE_LAYOUT_SPARSE_UNION: i32 = 11;
pub const ARROWDEVICE_LAYOUT_DENSE_UNION: i32 = 12;
pub const ARROWDEVICE_LAYOUT_RUN_END_ENCODED: i32 = 13;
#[repr(C)]
#[derive(Debug)]
pub struct ArrowSchema {
    pub format: *const ::core::ffi::c_char,
    pub name: *const ::core::ffi::c_char,
    pub metadata: *const ::core::ffi::c_char,
    pub flags: i64,
    pub n_children: i64,
    pub children: *mut *mut ArrowSchema,
    pub dictionary: *mut ArrowSchema,
    pub release: ::core::option::Option<unsafe extern "C" fn(arg1: *mut ArrowSchema)>,
    pub private_data: *mut ::core::ffi::c_void,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of ArrowSchema"][::core::mem::size_of::<ArrowSchema>() - 72usize];
    ["Alignment of ArrowSchema"][::core::mem::align_of::<ArrowSchema>() - 8usize];
    ["Offset of field: ArrowSchema::format"][::core::mem::offset_of!(ArrowSchema, format) - 0usize];
    ["Offset of field: ArrowSchema::name"][::core::mem::offset_of!(ArrowSchema, name) - 8usize];
    ["Offset of field: ArrowSchema::metadata"][::core::mem::offset_of!(ArrowSchema, metadata) - 16usize];
    ["Offset of field: ArrowSchema::flags"][::core::mem::offset_of!(ArrowSchema, flags) - 24usize];
    ["Offset of field: ArrowSchema::n_children"][::core::mem::offset_of!(ArrowSchema, n_children) - 32usize];
    ["Offset of field: ArrowSchema::children"][::core::mem::offset_of!(ArrowSchema, children) - 40usize];
    ["Offset of field: ArrowSchema::dictionary"][::core::mem::offset_of!(ArrowSchema, dictionary) - 48usize];
    ["Offset of field: ArrowSchema::release"][::core::mem::offset_of!(ArrowSchema, release) - 56usize];
    ["Offset of field: ArrowSchema::private_data"][::core::mem::offset_of!(ArrowSchema, private_data) - 64usize];
};
impl Default for ArrowSchema {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
#[repr(C)]
#[derive(Debug)]
pub struct ArrowArray {
    pub length: i64,
    pub null_count: i64,
    pub offset: i64,
    pub n_buffers: i64,
    pub n_children: i64,
    pub buffers: *mut *const ::core::ffi::c_void,
    pub children: *mut *mut ArrowArray,
    pub dictionary: *mut ArrowArray,
    pub release: ::core::option::Option<unsafe extern "C" fn(arg1: *mut ArrowArray)>,
    pub private_data: *mut ::core::ffi::c_void,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of ArrowArray"][::core::mem::size_of::<ArrowArray>() - 80usize];
    ["Alignment of ArrowArray"][::core::mem::align_of::<ArrowArray>() - 8usize];
    ["Offset of field: ArrowArray::length"][::core::mem::offset_of!(ArrowArray, length) - 0usize];
    ["Offset of field: ArrowArray::null_count"][::core::mem::offset_of!(ArrowArray, null_count) - 8usize];
    ["Offset of field: ArrowArray::offset"][::core::mem::offset_of!(ArrowArray, offset) - 16usize];
    ["Offset of field: ArrowArray::n_buffers"][::core::mem::offset_of!(ArrowArray, n_buffers) - 24usize];
    ["Offset of field: ArrowArray::n_children"][::core::mem::offset_of!(ArrowArray, n_children) - 32usize];
    ["Offset of field: ArrowArray::buffers"][::core::mem::offset_of!(ArrowArray, buffers) - 40usize];
    ["Offset of field: ArrowArray::children"][::core::mem::offset_of!(ArrowArray, children) - 48usize];
    ["Offset of field: ArrowArray::dictionary"][::core::mem::offset_of!(ArrowArray, dictionary) - 56usize];
    ["Offset of field: ArrowArray::release"][::core::mem::offset_of!(ArrowArray, release) - 64usize];
    ["Offset of field: ArrowArray::private_data"][::core::mem::offset_of!(ArrowArray, private_data) - 72usize];
};
impl Default for ArrowArray {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
pub type ArrowDeviceType = i32;
#[repr(C)]
#[derive(Debug)]
pub struct ArrowDeviceArray {
    pub array: ArrowArray,
    pub device_id: i64,
    pub device_type: ArrowDeviceType,
    pub sync_event: *mut ::core::ffi::c_void,
    pub reserved: [i64; 3usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of ArrowDeviceArray"][::core::mem::size_of::<ArrowDeviceArray>() - 128usize];
    ["Alignment of ArrowDeviceArray"][::core::mem::align_of::<ArrowDeviceArray>() - 8usize];
    ["Offset of field: ArrowDeviceArray::array"][::core::mem::offset_of!(ArrowDeviceArray, array) - 0usize];
    ["Offset of field: ArrowDeviceArray::device_id"][::core::mem::offset_of!(ArrowDeviceArray, device_id) - 80usize];
    ["Offset of field: ArrowDeviceArray::device_type"]
        [::core::mem::offset_of!(ArrowDeviceArray, device_type) - 88usize];
    ["Offset of field: ArrowDeviceArray::sync_event"][::core::mem::offset_of!(ArrowDeviceArray, sync_event) - 96usize];
    ["Offset of field: ArrowDeviceArray::reserved"][::core::mem::offset_of!(ArrowDeviceArray, reserved) - 104usize];
};
impl Default for ArrowDeviceArray {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
#[repr(C)]
#[derive(Debug)]
pub struct ArrowArrayStream {
    pub get_schema: ::core::option::Option<
        unsafe extern "C" fn(arg1: *mut ArrowArrayStream, out: *mut ArrowSchema) -> ::core::ffi::c_int,
    >,
    pub get_next: ::core::option::Option<
        unsafe extern "C" fn(arg1: *mut ArrowArrayStream, out: *mut ArrowArray) -> ::core::ffi::c_int,
    >,
    pub get_last_error:
        ::core::option::Option<unsafe extern "C" fn(arg1: *mut ArrowArrayStream) -> *const ::core::ffi::c_char>,
    pub release: ::core::option::Option<unsafe extern "C" fn(arg1: *mut ArrowArrayStream)>,
    pub private_data: *mut ::core::ffi::c_void,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of ArrowArrayStream"][::core::mem::size_of::<ArrowArrayStream>() - 40usize];
    ["Alignment of ArrowArrayStream"][::core::mem::align_of::<ArrowArrayStream>() - 8usize];
    ["Offset of field: ArrowArrayStream::get_schema"][::core::mem::offset_of!(ArrowArrayStream, get_schema) - 0usize];
    ["Offset of field: ArrowArrayStream::get_next"][::core::mem::offset_of!(ArrowArrayStream, get_next) - 8usize];
    ["Offset of field: ArrowArrayStream::get_last_error"]
        [::core::mem::offset_of!(ArrowArrayStream, get_last_error) - 16usize];
    ["Offset of field: ArrowArrayStream::release"][::core::mem::offset_of!(ArrowArrayStream, release) - 24usize];
    ["Offset of field: ArrowArrayStream::private_data"]
        [::core::mem::offset_of!(ArrowArrayStream, private_data) - 32usize];
};
impl Default for ArrowArrayStream {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
#[repr(C)]
#[derive(Debug)]
pub struct ArrowDeviceArrayStream {
    pub device_type: ArrowDeviceType,
    pub get_schema: ::core::option::Option<
        unsafe extern "C" fn(arg1: *mut ArrowDeviceArrayStream, out: *mut ArrowSchema) -> ::core::ffi::c_int,
    >,
    pub get_next: ::core::option::Option<
        unsafe extern "C" fn(arg1: *mut ArrowDeviceArrayStream, out: *mut ArrowDeviceArray) -> ::core::ffi::c_int,
    >,
    pub get_last_error:
        ::core::option::Option<unsafe extern "C" fn(arg1: *mut ArrowDeviceArrayStream) -> *const ::core::ffi::c_char>,
    pub release: ::core::option::Option<unsafe extern "C" fn(arg1: *mut ArrowDeviceArrayStream)>,
    pub private_data: *mut ::core::ffi::c_void,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of ArrowDeviceArrayStream"][::core::mem::size_of::<ArrowDeviceArrayStream>() - 48usize];
    ["Alignment of ArrowDeviceArrayStream"][::core::mem::align_of::<ArrowDeviceArrayStream>() - 8usize];
    ["Offset of field: ArrowDeviceArrayStream::device_type"]
        [::core::mem::offset_of!(ArrowDeviceArrayStream, device_type) - 0usize];
    ["Offset of field: ArrowDeviceArrayStream::get_schema"]
        [::core::mem::offset_of!(ArrowDeviceArrayStream, get_schema) - 8usize];
    ["Offset of field: ArrowDeviceArrayStream::get_next"]
        [::core::mem::offset_of!(ArrowDeviceArrayStream, get_next) - 16usize];
    ["Offset of field: ArrowDeviceArrayStream::get_last_error"]
        [::core::mem::offset_of!(ArrowDeviceArrayStream, get_last_error) - 24usize];
    ["Offset of field: ArrowDeviceArrayStream::release"]
        [::core::mem::offset_of!(ArrowDeviceArrayStream, release) - 32usize];
    ["Offset of field: ArrowDeviceArrayStream::private_data"]
        [::core::mem::offset_of!(ArrowDeviceArrayStream, private_data) - 40usize];
};
impl Default for ArrowDeviceArrayStream {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct ArrowAsyncTask {
    pub extract_data: ::core::option::Option<
        unsafe extern "C" fn(self_: *mut ArrowAsyncTask, out: *mut ArrowDeviceArray) -> ::core::ffi::c_int,
    >,
    pub private_data: *mut ::core::ffi::c_void,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of ArrowAsyncTask"][::core::mem::size_of::<ArrowAsyncTask>() - 16usize];
    ["Alignment of ArrowAsyncTask"][::core::mem::align_of::<ArrowAsyncTask>() - 8usize];
    ["Offset of field: ArrowAsyncTask::extract_data"][::core::mem::offset_of!(ArrowAsyncTask, extract_data) - 0usize];
    ["Offset of field: ArrowAsyncTask::private_data"][::core::mem::offset_of!(ArrowAsyncTask, private_data) - 8usize];
};
impl Default for ArrowAsyncTask {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct ArrowAsyncProducer {
    pub device_type: ArrowDeviceType,
    pub request: ::core::option::Option<unsafe extern "C" fn(self_: *mut ArrowAsyncProducer, n: i64)>,
    pub cancel: ::core::option::Option<unsafe extern "C" fn(self_: *mut ArrowAsyncProducer)>,
    pub additional_metadata: *const ::core::ffi::c_char,
    pub private_data: *mut ::core::ffi::c_void,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of ArrowAsyncProducer"][::core::mem::size_of::<ArrowAsyncProducer>() - 40usize];
    ["Alignment of ArrowAsyncProducer"][::core::mem::align_of::<ArrowAsyncProducer>() - 8usize];
    ["Offset of field: ArrowAsyncProducer::device_type"]
        [::core::mem::offset_of!(ArrowAsyncProducer, device_type) - 0usize];
    ["Offset of field: ArrowAsyncProducer::request"][::core::mem::offset_of!(ArrowAsyncProducer, request) - 8usize];
    ["Offset of field: ArrowAsyncProducer::cancel"][::core::mem::offset_of!(ArrowAsyncProducer, cancel) - 16usize];
    ["Offset of field: ArrowAsyncProducer::additional_metadata"]
        [::core::mem::offset_of!(ArrowAsyncProducer, additional_metadata) - 24usize];
    ["Offset of field: ArrowAsyncProducer::private_data"]
        [::core::mem::offset_of!(ArrowAsyncProducer, private_data) - 32usize];
};
impl Default for ArrowAsyncProducer {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct ArrowAsyncDeviceStreamHandler {
    pub on_schema: ::core::option::Option<
        unsafe extern "C" fn(
            self_: *mut ArrowAsyncDeviceStreamHandler,
            stream_schema: *mut ArrowSchema,
        ) -> ::core::ffi::c_int,
    >,
    pub on_next_task: ::core::option::Option<
        unsafe extern "C" fn(
            self_: *mut ArrowAsyncDeviceStreamHandler,
            task: *mut ArrowAsyncTask,
            metadata: *const ::core::ffi::c_char,
        ) -> ::core::ffi::c_int,
    >,
    pub on_error: ::core::option::Option<
        unsafe extern "C" fn(
            self_: *mut ArrowAsyncDeviceStreamHandler,
            code: ::core::ffi::c_int,
            message: *const ::core::ffi::c_char,
            metadata: *const ::core::ffi::c_char,
        ),
    >,
    pub release: ::core::option::Option<unsafe extern "C" fn(self_: *mut ArrowAsyncDeviceStreamHandler)>,
    pub producer: *mut ArrowAsyncProducer,
    pub private_data: *mut ::core::ffi::c_void,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of ArrowAsyncDeviceStreamHandler"][::core::mem::size_of::<ArrowAsyncDeviceStreamHandler>() - 48usize];
    ["Alignment of ArrowAsyncDeviceStreamHandler"][::core::mem::align_of::<ArrowAsyncDeviceStreamHandler>() - 8usize];
    ["Offset of field: ArrowAsyncDeviceStreamHandler::on_schema"]
        [::core::mem::offset_of!(ArrowAsyncDeviceStreamHandler, on_schema) - 0usize];
    ["Offset of field: ArrowAsyncDeviceStreamHandler::on_next_task"]
        [::core::mem::offset_of!(ArrowAsyncDeviceStreamHandler, on_next_task) - 8usize];
    ["Offset of field: ArrowAsyncDeviceStreamHandler::on_error"]
        [::core::mem::offset_of!(ArrowAsyncDeviceStreamHandler, on_error) - 16usize];
    ["Offset of field: ArrowAsyncDeviceStreamHandler::release"]
        [::core::mem::offset_of!(ArrowAsyncDeviceStreamHandler, release) - 24usize];
    ["Offset of field: ArrowAsyncDeviceStreamHandler::producer"]
        [::core::mem::offset_of!(ArrowAsyncDeviceStreamHandler, producer) - 32usize];
    ["Offset of field: ArrowAsyncDeviceStreamHandler::private_data"]
        [::core::mem::offset_of!(ArrowAsyncDeviceStreamHandler, private_data) - 40usize];
};
impl Default for ArrowAsyncDeviceStreamHandler {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
#[doc = "Describes why a call failed. It has 512 bytes, the caller owns it, and there is nothing to\nrelease. The texts are UTF-8 and always end with a zero byte."]
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct arrowdevice_error {
    pub code: i32,
    pub native_code: i32,
    pub backend: [::core::ffi::c_char; 16usize],
    pub message: [::core::ffi::c_char; 488usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of arrowdevice_error"][::core::mem::size_of::<arrowdevice_error>() - 512usize];
    ["Alignment of arrowdevice_error"][::core::mem::align_of::<arrowdevice_error>() - 4usize];
    ["Offset of field: arrowdevice_error::code"][::core::mem::offset_of!(arrowdevice_error, code) - 0usize];
    ["Offset of field: arrowdevice_error::native_code"]
        [::core::mem::offset_of!(arrowdevice_error, native_code) - 4usize];
    ["Offset of field: arrowdevice_error::backend"][::core::mem::offset_of!(arrowdevice_error, backend) - 8usize];
    ["Offset of field: arrowdevice_error::message"][::core::mem::offset_of!(arrowdevice_error, message) - 24usize];
};
impl Default for arrowdevice_error {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct arrowdevice_device {
    _unused: [u8; 0],
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct arrowdevice_queue {
    _unused: [u8; 0],
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct arrowdevice_pool {
    _unused: [u8; 0],
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct arrowdevice_view {
    _unused: [u8; 0],
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct arrowdevice_backend {
    _unused: [u8; 0],
}
#[repr(C)]
#[derive(Debug)]
pub struct DLManagedTensorVersioned {
    _unused: [u8; 0],
}
#[doc = "Options of async streams."]
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct arrowdevice_async_options {
    pub struct_size: u32,
    pub flags: u32,
    #[doc = "Arrays that the library requests ahead of the consumer. 0 means 4."]
    pub depth: i32,
    #[doc = "Layout of a foreign ArrowAsyncProducer, ARROWDEVICE\\_ASYNC\\_LAYOUT\\_\\*."]
    pub upstream_layout: i32,
    #[doc = "Flags of copies, ARROWDEVICE\\_COPY\\_\\* of copy.h. ARROWDEVICE\\_COPY\\_ASYNC has no effect, because it\nis always on."]
    pub copy_flags: u32,
    pub reserved: u32,
    #[doc = "arrowdevice\\_stream\\_options says what the next three mean, and how long the stream uses them."]
    pub queue: *mut arrowdevice_queue,
    pub pool: *mut arrowdevice_pool,
    pub source_device: *mut arrowdevice_device,
    #[doc = "Executor of the application, or NULL for one thread of the stream. `submit` schedules\n`job(arg)` for any thread, and never runs it itself. It returns 0 if it accepts the job. Every\naccepted job must run. If `submit` returns another value, it refuses the job, and the stream\nends with that value as its error. A stream submits one job at a time."]
    pub submit: ::core::option::Option<
        unsafe extern "C" fn(
            user: *mut ::core::ffi::c_void,
            job: ::core::option::Option<unsafe extern "C" fn(arg: *mut ::core::ffi::c_void)>,
            arg: *mut ::core::ffi::c_void,
        ) -> ::core::ffi::c_int,
    >,
    #[doc = "Passed to `submit` and `get_metadata`. Must stay valid until the stream has ended and its last\njob has returned."]
    pub user: *mut ::core::ffi::c_void,
    #[doc = "Metadata of a stream for arrowdevice\\_async\\_produce(), or NULL. Without this callback, the\nconsumer gets the metadata of arrowdevice\\_stream\\_get\\_metadata().\n\nThe library calls it after it has called `get_schema` or `get_next`, on the same thread. After\na `get_schema` that succeeded, `kind` is ARROWDEVICE\\_METADATA\\_STREAM. After each `get_next`,\nand after a `get_schema` that failed, `kind` is ARROWDEVICE\\_METADATA\\_ITEM. The callback returns\nNULL if there is no metadata. The library copies the metadata at once. Malformed metadata ends\nthe stream with EINVAL."]
    pub get_metadata: ::core::option::Option<
        unsafe extern "C" fn(user: *mut ::core::ffi::c_void, kind: i32) -> *const ::core::ffi::c_char,
    >,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of arrowdevice_async_options"][::core::mem::size_of::<arrowdevice_async_options>() - 72usize];
    ["Alignment of arrowdevice_async_options"][::core::mem::align_of::<arrowdevice_async_options>() - 8usize];
    ["Offset of field: arrowdevice_async_options::struct_size"]
        [::core::mem::offset_of!(arrowdevice_async_options, struct_size) - 0usize];
    ["Offset of field: arrowdevice_async_options::flags"]
        [::core::mem::offset_of!(arrowdevice_async_options, flags) - 4usize];
    ["Offset of field: arrowdevice_async_options::depth"]
        [::core::mem::offset_of!(arrowdevice_async_options, depth) - 8usize];
    ["Offset of field: arrowdevice_async_options::upstream_layout"]
        [::core::mem::offset_of!(arrowdevice_async_options, upstream_layout) - 12usize];
    ["Offset of field: arrowdevice_async_options::copy_flags"]
        [::core::mem::offset_of!(arrowdevice_async_options, copy_flags) - 16usize];
    ["Offset of field: arrowdevice_async_options::reserved"]
        [::core::mem::offset_of!(arrowdevice_async_options, reserved) - 20usize];
    ["Offset of field: arrowdevice_async_options::queue"]
        [::core::mem::offset_of!(arrowdevice_async_options, queue) - 24usize];
    ["Offset of field: arrowdevice_async_options::pool"]
        [::core::mem::offset_of!(arrowdevice_async_options, pool) - 32usize];
    ["Offset of field: arrowdevice_async_options::source_device"]
        [::core::mem::offset_of!(arrowdevice_async_options, source_device) - 40usize];
    ["Offset of field: arrowdevice_async_options::submit"]
        [::core::mem::offset_of!(arrowdevice_async_options, submit) - 48usize];
    ["Offset of field: arrowdevice_async_options::user"]
        [::core::mem::offset_of!(arrowdevice_async_options, user) - 56usize];
    ["Offset of field: arrowdevice_async_options::get_metadata"]
        [::core::mem::offset_of!(arrowdevice_async_options, get_metadata) - 64usize];
};
impl Default for arrowdevice_async_options {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
#[doc = "One place that the library searched for a backend, and the result."]
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct arrowdevice_backend_report {
    pub struct_size: u32,
    pub status: i32,
    pub name: [::core::ffi::c_char; 16usize],
    pub path: [::core::ffi::c_char; 1024usize],
    pub reason: [::core::ffi::c_char; 488usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of arrowdevice_backend_report"][::core::mem::size_of::<arrowdevice_backend_report>() - 1536usize];
    ["Alignment of arrowdevice_backend_report"][::core::mem::align_of::<arrowdevice_backend_report>() - 4usize];
    ["Offset of field: arrowdevice_backend_report::struct_size"]
        [::core::mem::offset_of!(arrowdevice_backend_report, struct_size) - 0usize];
    ["Offset of field: arrowdevice_backend_report::status"]
        [::core::mem::offset_of!(arrowdevice_backend_report, status) - 4usize];
    ["Offset of field: arrowdevice_backend_report::name"]
        [::core::mem::offset_of!(arrowdevice_backend_report, name) - 8usize];
    ["Offset of field: arrowdevice_backend_report::path"]
        [::core::mem::offset_of!(arrowdevice_backend_report, path) - 24usize];
    ["Offset of field: arrowdevice_backend_report::reason"]
        [::core::mem::offset_of!(arrowdevice_backend_report, reason) - 1048usize];
};
impl Default for arrowdevice_backend_report {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
#[doc = "Options of a pool. arrowdevice\\_pool\\_create() reads the struct only during the call."]
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct arrowdevice_pool_options {
    pub struct_size: u32,
    #[doc = "ARROWDEVICE\\_POOL\\_WAIT\\_FOR\\_CONTEXT: when memory is released, the pool records an event after all\nwork of the device's context so far, on all queues. The pool reuses or frees the memory when\nthat event has fired. This protects a consumer that releases an array although its own work\nstill uses the memory. Each release then costs a driver call, and it may end graph captures in\nthat context (see the backend's manual). Memory that waits counts for `max_bytes`. If the\ndevice is full, an allocation does not wait for such memory and fails with ENOMEM. `allocate`\nmust be NULL.\n\nARROWDEVICE\\_POOL\\_SHAREABLE: other processes can open the memory without a copy (see ipc.h). A\nprocess that opens an array sees whole allocations of the pool. They may contain other arrays of\nthe pool, now and later. Arrays for processes that must not see each other's data therefore\nneed different pools. In a child process after `fork`, the pool is empty, and `max_bytes` applies to\nthe child's own memory. `allocate` must be NULL."]
    pub flags: u32,
    #[doc = "Bytes that the pool may cache for reuse. 0 means a quarter of the free memory, up to a maximum.\nThe maximum is 1 GiB or an eighth of the device's memory, whichever is larger. For memory that\nthe CPU uses in place, it is 1 GiB. If the number is negative, the pool caches no memory."]
    pub max_cached_bytes: i64,
    #[doc = "Limit of the bytes in use and cached together. Beyond it, allocations fail with ENOMEM. 0 means\nno limit."]
    pub max_bytes: i64,
    #[doc = "Allocates memory for the pool, or is NULL to use the driver's allocator. Returns 0 or an errno\nvalue. The library calls it from any thread and holds no lock.\n\n`native_queue` is the vendor's queue that uses the memory first. If it is NULL, the memory must\nbe ready for every queue when the function returns. While the function runs,\narrowdevice\\_queue\\_destroy() of that queue may wait for it. A thread that destroys the queue\nmust therefore not hold a lock that this function takes."]
    pub allocate: ::core::option::Option<
        unsafe extern "C" fn(
            user: *mut ::core::ffi::c_void,
            size: i64,
            alignment: i64,
            native_queue: *mut ::core::ffi::c_void,
            out: *mut *mut ::core::ffi::c_void,
        ) -> ::core::ffi::c_int,
    >,
    #[doc = "Frees memory that `allocate` gave. The work on it has finished. `native_queue` is always NULL.\nThe library calls it from any thread and holds no lock. It never calls it after `exit` has\nbegun."]
    pub deallocate: ::core::option::Option<
        unsafe extern "C" fn(
            user: *mut ::core::ffi::c_void,
            buffer: *mut ::core::ffi::c_void,
            size: i64,
            native_queue: *mut ::core::ffi::c_void,
        ),
    >,
    #[doc = "Ends the pool's use of `user`. The library calls it once, from any thread, after the last\n`deallocate`. The library does not call it after `exit` has begun, nor in a child process after\n`fork`, nor if arrowdevice\\_pool\\_create() failed. May be NULL."]
    pub destroy: ::core::option::Option<unsafe extern "C" fn(user: *mut ::core::ffi::c_void)>,
    pub user: *mut ::core::ffi::c_void,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of arrowdevice_pool_options"][::core::mem::size_of::<arrowdevice_pool_options>() - 56usize];
    ["Alignment of arrowdevice_pool_options"][::core::mem::align_of::<arrowdevice_pool_options>() - 8usize];
    ["Offset of field: arrowdevice_pool_options::struct_size"]
        [::core::mem::offset_of!(arrowdevice_pool_options, struct_size) - 0usize];
    ["Offset of field: arrowdevice_pool_options::flags"]
        [::core::mem::offset_of!(arrowdevice_pool_options, flags) - 4usize];
    ["Offset of field: arrowdevice_pool_options::max_cached_bytes"]
        [::core::mem::offset_of!(arrowdevice_pool_options, max_cached_bytes) - 8usize];
    ["Offset of field: arrowdevice_pool_options::max_bytes"]
        [::core::mem::offset_of!(arrowdevice_pool_options, max_bytes) - 16usize];
    ["Offset of field: arrowdevice_pool_options::allocate"]
        [::core::mem::offset_of!(arrowdevice_pool_options, allocate) - 24usize];
    ["Offset of field: arrowdevice_pool_options::deallocate"]
        [::core::mem::offset_of!(arrowdevice_pool_options, deallocate) - 32usize];
    ["Offset of field: arrowdevice_pool_options::destroy"]
        [::core::mem::offset_of!(arrowdevice_pool_options, destroy) - 40usize];
    ["Offset of field: arrowdevice_pool_options::user"]
        [::core::mem::offset_of!(arrowdevice_pool_options, user) - 48usize];
};
impl Default for arrowdevice_pool_options {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
#[doc = "Statistics of a pool. In the CPU's own pool, a copy between arrays of the CPU counts with the\nstructs of its array. It raises `peak_bytes` only when the statistics are read."]
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct arrowdevice_pool_stats {
    pub struct_size: u32,
    pub reserved: u32,
    pub used_bytes: i64,
    pub cached_bytes: i64,
    pub peak_bytes: i64,
    pub allocations: i64,
    pub driver_allocations: i64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of arrowdevice_pool_stats"][::core::mem::size_of::<arrowdevice_pool_stats>() - 48usize];
    ["Alignment of arrowdevice_pool_stats"][::core::mem::align_of::<arrowdevice_pool_stats>() - 8usize];
    ["Offset of field: arrowdevice_pool_stats::struct_size"]
        [::core::mem::offset_of!(arrowdevice_pool_stats, struct_size) - 0usize];
    ["Offset of field: arrowdevice_pool_stats::reserved"]
        [::core::mem::offset_of!(arrowdevice_pool_stats, reserved) - 4usize];
    ["Offset of field: arrowdevice_pool_stats::used_bytes"]
        [::core::mem::offset_of!(arrowdevice_pool_stats, used_bytes) - 8usize];
    ["Offset of field: arrowdevice_pool_stats::cached_bytes"]
        [::core::mem::offset_of!(arrowdevice_pool_stats, cached_bytes) - 16usize];
    ["Offset of field: arrowdevice_pool_stats::peak_bytes"]
        [::core::mem::offset_of!(arrowdevice_pool_stats, peak_bytes) - 24usize];
    ["Offset of field: arrowdevice_pool_stats::allocations"]
        [::core::mem::offset_of!(arrowdevice_pool_stats, allocations) - 32usize];
    ["Offset of field: arrowdevice_pool_stats::driver_allocations"]
        [::core::mem::offset_of!(arrowdevice_pool_stats, driver_allocations) - 40usize];
};
#[doc = "Options of copies."]
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct arrowdevice_copy_options {
    pub struct_size: u32,
    #[doc = "ARROWDEVICE\\_COPY\\_ASYNC: the call returns when the copy is submitted. The result's `sync_event`\nfires when the copy is complete. If the target has no events, the call waits for the copy\nwithout limit. If the source is host memory with an event, such as CUDA\\_HOST, the call waits\nfor that event.\n\nTwo kinds of copies are divided into pieces. For these, even an asynchronous call returns only\nwhen most pieces have been copied and the last one is submitted:\n\n- staged copies, which go from device to device through host memory\n- copies of 8 MiB or more to a GPU from pageable host memory, such as that of `malloc`\n\nThe library does not divide a copy of the second kind if the target has\nARROWDEVICE\\_DEVICE\\_COPY\\_BLOCKS and the application's `queue` still waits for an event or runs\nother work. The call then copies the source to pinned memory, submits the copy from there, and\nreturns. If there is not enough pinned memory, the call waits for the queue's work.\n\nARROWDEVICE\\_COPY\\_ALWAYS and ARROWDEVICE\\_COPY\\_NEVER exclude each other. They have an effect only\nin arrowdevice\\_array\\_to\\_device() and arrowdevice\\_array\\_to\\_host(). Memory that the device would\nuse over the bus (ARROWDEVICE\\_PEER\\_REMOTE), such as CUDA\\_HOST memory on a GPU, is shared only\nwith ARROWDEVICE\\_COPY\\_NEVER. Otherwise it is copied.\n\nARROWDEVICE\\_COPY\\_NO\\_TRIM: the copy of a slice also has the rows before it and keeps its offset."]
    pub flags: u32,
    #[doc = "Queue for the copy, or NULL for a queue of the library. The copy runs after the queue's work so\nfar. The application may destroy the queue when the call returns, even with\nARROWDEVICE\\_COPY\\_ASYNC.\n\nThe table below names the backend of the queue. The queue may be of any device of that backend.\nWith a queue of another backend the call fails with EINVAL, even if no copy is needed. In the\ntable, host memory is the CPU, or another device with both\nARROWDEVICE\\_DEVICE\\_HOST\\_READABLE and ARROWDEVICE\\_DEVICE\\_ADDRESSES, such as CUDA\\_HOST.\n\n| source | target | backend of the queue |\n|---|---|---|\n| any | device memory | the target's |\n| device memory | host memory | the source's |\n| host memory | host memory | the source's, the target's or the CPU's |\n\nIn the last row the CPU copies, after it has waited for the queue's work."]
    pub queue: *mut arrowdevice_queue,
    #[doc = "Pool of the target device that provides the memory, or NULL for the device's default pool. The\ncopy holds a reference. The call fails with EINVAL for a pool of another device."]
    pub pool: *mut arrowdevice_pool,
    #[doc = "Device of the source, or NULL to find it from the array. A wrapped device must stay wrapped as\nlong as the caller must keep the source array (see arrowdevice\\_array\\_copy())."]
    pub source_device: *mut arrowdevice_device,
    #[doc = "Time-out in nanoseconds for all waits of the call together: for the source's event, for the\nqueue's work, for offsets and sizes that the CPU reads back, and for the copy. After that time\nthe call fails with ETIMEDOUT, and the work that was submitted runs on as deferred work.\nARROWDEVICE\\_NO\\_TIMEOUT (0) waits without limit. With ARROWDEVICE\\_POLL, the call fails if it\nwould have to wait."]
    pub timeout_ns: i64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of arrowdevice_copy_options"][::core::mem::size_of::<arrowdevice_copy_options>() - 40usize];
    ["Alignment of arrowdevice_copy_options"][::core::mem::align_of::<arrowdevice_copy_options>() - 8usize];
    ["Offset of field: arrowdevice_copy_options::struct_size"]
        [::core::mem::offset_of!(arrowdevice_copy_options, struct_size) - 0usize];
    ["Offset of field: arrowdevice_copy_options::flags"]
        [::core::mem::offset_of!(arrowdevice_copy_options, flags) - 4usize];
    ["Offset of field: arrowdevice_copy_options::queue"]
        [::core::mem::offset_of!(arrowdevice_copy_options, queue) - 8usize];
    ["Offset of field: arrowdevice_copy_options::pool"]
        [::core::mem::offset_of!(arrowdevice_copy_options, pool) - 16usize];
    ["Offset of field: arrowdevice_copy_options::source_device"]
        [::core::mem::offset_of!(arrowdevice_copy_options, source_device) - 24usize];
    ["Offset of field: arrowdevice_copy_options::timeout_ns"]
        [::core::mem::offset_of!(arrowdevice_copy_options, timeout_ns) - 32usize];
};
impl Default for arrowdevice_copy_options {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
#[doc = "Properties of a device, filled by arrowdevice\\_device\\_get\\_info()."]
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct arrowdevice_device_info {
    pub struct_size: u32,
    pub device_type: ArrowDeviceType,
    pub device_id: i64,
    pub name: [::core::ffi::c_char; 128usize],
    pub vendor: [::core::ffi::c_char; 64usize],
    pub backend: [::core::ffi::c_char; 16usize],
    pub uuid: [u8; 16usize],
    pub total_memory: i64,
    pub buffer_alignment: i64,
    pub sub_buffer_alignment: i64,
    pub flags: u64,
    pub staging_type: ArrowDeviceType,
    pub numa_node: i32,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of arrowdevice_device_info"][::core::mem::size_of::<arrowdevice_device_info>() - 280usize];
    ["Alignment of arrowdevice_device_info"][::core::mem::align_of::<arrowdevice_device_info>() - 8usize];
    ["Offset of field: arrowdevice_device_info::struct_size"]
        [::core::mem::offset_of!(arrowdevice_device_info, struct_size) - 0usize];
    ["Offset of field: arrowdevice_device_info::device_type"]
        [::core::mem::offset_of!(arrowdevice_device_info, device_type) - 4usize];
    ["Offset of field: arrowdevice_device_info::device_id"]
        [::core::mem::offset_of!(arrowdevice_device_info, device_id) - 8usize];
    ["Offset of field: arrowdevice_device_info::name"]
        [::core::mem::offset_of!(arrowdevice_device_info, name) - 16usize];
    ["Offset of field: arrowdevice_device_info::vendor"]
        [::core::mem::offset_of!(arrowdevice_device_info, vendor) - 144usize];
    ["Offset of field: arrowdevice_device_info::backend"]
        [::core::mem::offset_of!(arrowdevice_device_info, backend) - 208usize];
    ["Offset of field: arrowdevice_device_info::uuid"]
        [::core::mem::offset_of!(arrowdevice_device_info, uuid) - 224usize];
    ["Offset of field: arrowdevice_device_info::total_memory"]
        [::core::mem::offset_of!(arrowdevice_device_info, total_memory) - 240usize];
    ["Offset of field: arrowdevice_device_info::buffer_alignment"]
        [::core::mem::offset_of!(arrowdevice_device_info, buffer_alignment) - 248usize];
    ["Offset of field: arrowdevice_device_info::sub_buffer_alignment"]
        [::core::mem::offset_of!(arrowdevice_device_info, sub_buffer_alignment) - 256usize];
    ["Offset of field: arrowdevice_device_info::flags"]
        [::core::mem::offset_of!(arrowdevice_device_info, flags) - 264usize];
    ["Offset of field: arrowdevice_device_info::staging_type"]
        [::core::mem::offset_of!(arrowdevice_device_info, staging_type) - 272usize];
    ["Offset of field: arrowdevice_device_info::numa_node"]
        [::core::mem::offset_of!(arrowdevice_device_info, numa_node) - 276usize];
};
impl Default for arrowdevice_device_info {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
#[doc = "Counters of the library's use of a device since the process began. They count only work that\nreached the driver. An allocation that a pool serves from its cache is not counted."]
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct arrowdevice_device_counters {
    pub struct_size: u32,
    pub reserved: u32,
    pub driver_allocations: i64,
    pub submissions: i64,
    pub regions: i64,
    pub events: i64,
    pub host_waits: i64,
    pub readbacks: i64,
    pub bytes_in: i64,
    pub bytes_out: i64,
    pub staged_bytes: i64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of arrowdevice_device_counters"][::core::mem::size_of::<arrowdevice_device_counters>() - 80usize];
    ["Alignment of arrowdevice_device_counters"][::core::mem::align_of::<arrowdevice_device_counters>() - 8usize];
    ["Offset of field: arrowdevice_device_counters::struct_size"]
        [::core::mem::offset_of!(arrowdevice_device_counters, struct_size) - 0usize];
    ["Offset of field: arrowdevice_device_counters::reserved"]
        [::core::mem::offset_of!(arrowdevice_device_counters, reserved) - 4usize];
    ["Offset of field: arrowdevice_device_counters::driver_allocations"]
        [::core::mem::offset_of!(arrowdevice_device_counters, driver_allocations) - 8usize];
    ["Offset of field: arrowdevice_device_counters::submissions"]
        [::core::mem::offset_of!(arrowdevice_device_counters, submissions) - 16usize];
    ["Offset of field: arrowdevice_device_counters::regions"]
        [::core::mem::offset_of!(arrowdevice_device_counters, regions) - 24usize];
    ["Offset of field: arrowdevice_device_counters::events"]
        [::core::mem::offset_of!(arrowdevice_device_counters, events) - 32usize];
    ["Offset of field: arrowdevice_device_counters::host_waits"]
        [::core::mem::offset_of!(arrowdevice_device_counters, host_waits) - 40usize];
    ["Offset of field: arrowdevice_device_counters::readbacks"]
        [::core::mem::offset_of!(arrowdevice_device_counters, readbacks) - 48usize];
    ["Offset of field: arrowdevice_device_counters::bytes_in"]
        [::core::mem::offset_of!(arrowdevice_device_counters, bytes_in) - 56usize];
    ["Offset of field: arrowdevice_device_counters::bytes_out"]
        [::core::mem::offset_of!(arrowdevice_device_counters, bytes_out) - 64usize];
    ["Offset of field: arrowdevice_device_counters::staged_bytes"]
        [::core::mem::offset_of!(arrowdevice_device_counters, staged_bytes) - 72usize];
};
#[doc = "Handles of a vendor's context: those of an application, or those behind a device of the library.\nThe manual of each backend says which fields it uses. arrowdevice\\_device\\_wrap() ignores all other\nfields. arrowdevice\\_device\\_get\\_native() sets them to zero."]
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct arrowdevice_native_device {
    pub struct_size: u32,
    pub queue_family: u32,
    pub api_version: u32,
    pub n_extensions: u32,
    pub platform: *mut ::core::ffi::c_void,
    pub physical_device: *mut ::core::ffi::c_void,
    pub device: *mut ::core::ffi::c_void,
    pub context: *mut ::core::ffi::c_void,
    pub queue: *mut ::core::ffi::c_void,
    pub get_proc_addr: *mut ::core::ffi::c_void,
    pub extensions: *const *const ::core::ffi::c_char,
    pub features: *const ::core::ffi::c_void,
    #[doc = "Locks and unlocks `native_queue`, if the API requires external synchronization. Both may be\nNULL. A thread of the library may hold a lock of the backend when it calls `lock`. A thread\nthat holds the application's lock must therefore not call the library, because the two threads\ncould wait for each other."]
    pub lock: ::core::option::Option<
        unsafe extern "C" fn(user: *mut ::core::ffi::c_void, native_queue: *mut ::core::ffi::c_void),
    >,
    pub unlock: ::core::option::Option<
        unsafe extern "C" fn(user: *mut ::core::ffi::c_void, native_queue: *mut ::core::ffi::c_void),
    >,
    pub lock_user: *mut ::core::ffi::c_void,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of arrowdevice_native_device"][::core::mem::size_of::<arrowdevice_native_device>() - 104usize];
    ["Alignment of arrowdevice_native_device"][::core::mem::align_of::<arrowdevice_native_device>() - 8usize];
    ["Offset of field: arrowdevice_native_device::struct_size"]
        [::core::mem::offset_of!(arrowdevice_native_device, struct_size) - 0usize];
    ["Offset of field: arrowdevice_native_device::queue_family"]
        [::core::mem::offset_of!(arrowdevice_native_device, queue_family) - 4usize];
    ["Offset of field: arrowdevice_native_device::api_version"]
        [::core::mem::offset_of!(arrowdevice_native_device, api_version) - 8usize];
    ["Offset of field: arrowdevice_native_device::n_extensions"]
        [::core::mem::offset_of!(arrowdevice_native_device, n_extensions) - 12usize];
    ["Offset of field: arrowdevice_native_device::platform"]
        [::core::mem::offset_of!(arrowdevice_native_device, platform) - 16usize];
    ["Offset of field: arrowdevice_native_device::physical_device"]
        [::core::mem::offset_of!(arrowdevice_native_device, physical_device) - 24usize];
    ["Offset of field: arrowdevice_native_device::device"]
        [::core::mem::offset_of!(arrowdevice_native_device, device) - 32usize];
    ["Offset of field: arrowdevice_native_device::context"]
        [::core::mem::offset_of!(arrowdevice_native_device, context) - 40usize];
    ["Offset of field: arrowdevice_native_device::queue"]
        [::core::mem::offset_of!(arrowdevice_native_device, queue) - 48usize];
    ["Offset of field: arrowdevice_native_device::get_proc_addr"]
        [::core::mem::offset_of!(arrowdevice_native_device, get_proc_addr) - 56usize];
    ["Offset of field: arrowdevice_native_device::extensions"]
        [::core::mem::offset_of!(arrowdevice_native_device, extensions) - 64usize];
    ["Offset of field: arrowdevice_native_device::features"]
        [::core::mem::offset_of!(arrowdevice_native_device, features) - 72usize];
    ["Offset of field: arrowdevice_native_device::lock"]
        [::core::mem::offset_of!(arrowdevice_native_device, lock) - 80usize];
    ["Offset of field: arrowdevice_native_device::unlock"]
        [::core::mem::offset_of!(arrowdevice_native_device, unlock) - 88usize];
    ["Offset of field: arrowdevice_native_device::lock_user"]
        [::core::mem::offset_of!(arrowdevice_native_device, lock_user) - 96usize];
};
impl Default for arrowdevice_native_device {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
#[doc = "An IPC handle of an array. The struct never grows."]
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct arrowdevice_ipc_handle {
    pub bytes: *const u8,
    pub size: i64,
    pub descriptors: *const ::core::ffi::c_int,
    pub n_descriptors: i32,
    pub reserved: i32,
    pub copied_bytes: i64,
    #[doc = "Closes the descriptors and frees the bytes. NULL if the handle is released."]
    pub release: ::core::option::Option<unsafe extern "C" fn(handle: *mut arrowdevice_ipc_handle)>,
    pub private_data: *mut ::core::ffi::c_void,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of arrowdevice_ipc_handle"][::core::mem::size_of::<arrowdevice_ipc_handle>() - 56usize];
    ["Alignment of arrowdevice_ipc_handle"][::core::mem::align_of::<arrowdevice_ipc_handle>() - 8usize];
    ["Offset of field: arrowdevice_ipc_handle::bytes"][::core::mem::offset_of!(arrowdevice_ipc_handle, bytes) - 0usize];
    ["Offset of field: arrowdevice_ipc_handle::size"][::core::mem::offset_of!(arrowdevice_ipc_handle, size) - 8usize];
    ["Offset of field: arrowdevice_ipc_handle::descriptors"]
        [::core::mem::offset_of!(arrowdevice_ipc_handle, descriptors) - 16usize];
    ["Offset of field: arrowdevice_ipc_handle::n_descriptors"]
        [::core::mem::offset_of!(arrowdevice_ipc_handle, n_descriptors) - 24usize];
    ["Offset of field: arrowdevice_ipc_handle::reserved"]
        [::core::mem::offset_of!(arrowdevice_ipc_handle, reserved) - 28usize];
    ["Offset of field: arrowdevice_ipc_handle::copied_bytes"]
        [::core::mem::offset_of!(arrowdevice_ipc_handle, copied_bytes) - 32usize];
    ["Offset of field: arrowdevice_ipc_handle::release"]
        [::core::mem::offset_of!(arrowdevice_ipc_handle, release) - 40usize];
    ["Offset of field: arrowdevice_ipc_handle::private_data"]
        [::core::mem::offset_of!(arrowdevice_ipc_handle, private_data) - 48usize];
};
impl Default for arrowdevice_ipc_handle {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct arrowdevice_server {
    _unused: [u8; 0],
}
#[doc = "Options of a server."]
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct arrowdevice_server_options {
    pub struct_size: u32,
    pub flags: u32,
    #[doc = "With ARROWDEVICE\\_COPY\\_NEVER, arrowdevice\\_server\\_add\\_arrays() fails if it needs a copy, and a batch\nthat needs a copy ends its stream with ENOTSUP. ARROWDEVICE\\_COPY\\_ALWAYS is refused."]
    pub copy_flags: u32,
    pub max_clients: i32,
    #[doc = "Limit of the bytes of copies that one connection has in use on one device. It applies to clients\nof another user, and to all clients of an isolated server. Beyond it the client's stream fails\nwith ENOMEM. 0 means 1 GiB."]
    pub max_client_bytes: i64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of arrowdevice_server_options"][::core::mem::size_of::<arrowdevice_server_options>() - 24usize];
    ["Alignment of arrowdevice_server_options"][::core::mem::align_of::<arrowdevice_server_options>() - 8usize];
    ["Offset of field: arrowdevice_server_options::struct_size"]
        [::core::mem::offset_of!(arrowdevice_server_options, struct_size) - 0usize];
    ["Offset of field: arrowdevice_server_options::flags"]
        [::core::mem::offset_of!(arrowdevice_server_options, flags) - 4usize];
    ["Offset of field: arrowdevice_server_options::copy_flags"]
        [::core::mem::offset_of!(arrowdevice_server_options, copy_flags) - 8usize];
    ["Offset of field: arrowdevice_server_options::max_clients"]
        [::core::mem::offset_of!(arrowdevice_server_options, max_clients) - 12usize];
    ["Offset of field: arrowdevice_server_options::max_client_bytes"]
        [::core::mem::offset_of!(arrowdevice_server_options, max_client_bytes) - 16usize];
};
#[doc = "Options of a client."]
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct arrowdevice_connect_options {
    pub struct_size: u32,
    pub flags: u32,
    #[doc = "- ARROWDEVICE\\_COPY\\_ALWAYS: each batch is copied into memory that no other process can open.\n- ARROWDEVICE\\_COPY\\_NEVER: a batch that needs a copy ends the stream with ENOTSUP."]
    pub copy_flags: u32,
    pub max_batches: i32,
    pub max_bytes: i64,
    #[doc = "Time-out in nanoseconds of the connection, and of each `get_next`. ARROWDEVICE\\_NO\\_TIMEOUT waits\nwithout limit. With ARROWDEVICE\\_POLL a connection always fails, because it has to wait."]
    pub timeout_ns: i64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of arrowdevice_connect_options"][::core::mem::size_of::<arrowdevice_connect_options>() - 32usize];
    ["Alignment of arrowdevice_connect_options"][::core::mem::align_of::<arrowdevice_connect_options>() - 8usize];
    ["Offset of field: arrowdevice_connect_options::struct_size"]
        [::core::mem::offset_of!(arrowdevice_connect_options, struct_size) - 0usize];
    ["Offset of field: arrowdevice_connect_options::flags"]
        [::core::mem::offset_of!(arrowdevice_connect_options, flags) - 4usize];
    ["Offset of field: arrowdevice_connect_options::copy_flags"]
        [::core::mem::offset_of!(arrowdevice_connect_options, copy_flags) - 8usize];
    ["Offset of field: arrowdevice_connect_options::max_batches"]
        [::core::mem::offset_of!(arrowdevice_connect_options, max_batches) - 12usize];
    ["Offset of field: arrowdevice_connect_options::max_bytes"]
        [::core::mem::offset_of!(arrowdevice_connect_options, max_bytes) - 16usize];
    ["Offset of field: arrowdevice_connect_options::timeout_ns"]
        [::core::mem::offset_of!(arrowdevice_connect_options, timeout_ns) - 24usize];
};
#[doc = "Numbers of a server, all since it was created except `clients`."]
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct arrowdevice_server_stats {
    pub struct_size: u32,
    pub reserved: u32,
    pub clients: i64,
    pub batches: i64,
    pub bytes: i64,
    pub copied_bytes: i64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of arrowdevice_server_stats"][::core::mem::size_of::<arrowdevice_server_stats>() - 40usize];
    ["Alignment of arrowdevice_server_stats"][::core::mem::align_of::<arrowdevice_server_stats>() - 8usize];
    ["Offset of field: arrowdevice_server_stats::struct_size"]
        [::core::mem::offset_of!(arrowdevice_server_stats, struct_size) - 0usize];
    ["Offset of field: arrowdevice_server_stats::reserved"]
        [::core::mem::offset_of!(arrowdevice_server_stats, reserved) - 4usize];
    ["Offset of field: arrowdevice_server_stats::clients"]
        [::core::mem::offset_of!(arrowdevice_server_stats, clients) - 8usize];
    ["Offset of field: arrowdevice_server_stats::batches"]
        [::core::mem::offset_of!(arrowdevice_server_stats, batches) - 16usize];
    ["Offset of field: arrowdevice_server_stats::bytes"]
        [::core::mem::offset_of!(arrowdevice_server_stats, bytes) - 24usize];
    ["Offset of field: arrowdevice_server_stats::copied_bytes"]
        [::core::mem::offset_of!(arrowdevice_server_stats, copied_bytes) - 32usize];
};
#[doc = "Opens a stream for a client of a server. A thread of the library calls it.\n\nReturns 0, or an errno value. `error` may have a text for the client."]
pub type arrowdevice_open_stream = ::core::option::Option<
    unsafe extern "C" fn(
        user: *mut ::core::ffi::c_void,
        out: *mut ArrowDeviceArrayStream,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int,
>;
#[doc = "A vendor's queue: `CUstream`, `hipStream_t`, `cl_command_queue`, `VkQueue` or an immediate Level\nZero list."]
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct arrowdevice_native_queue {
    pub struct_size: u32,
    pub family: u32,
    pub queue: *mut ::core::ffi::c_void,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of arrowdevice_native_queue"][::core::mem::size_of::<arrowdevice_native_queue>() - 16usize];
    ["Alignment of arrowdevice_native_queue"][::core::mem::align_of::<arrowdevice_native_queue>() - 8usize];
    ["Offset of field: arrowdevice_native_queue::struct_size"]
        [::core::mem::offset_of!(arrowdevice_native_queue, struct_size) - 0usize];
    ["Offset of field: arrowdevice_native_queue::family"]
        [::core::mem::offset_of!(arrowdevice_native_queue, family) - 4usize];
    ["Offset of field: arrowdevice_native_queue::queue"]
        [::core::mem::offset_of!(arrowdevice_native_queue, queue) - 8usize];
};
impl Default for arrowdevice_native_queue {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
#[doc = "One region of a copy of bytes. The struct is frozen: it never grows, because it is passed in\narrays.\n\n`dst_device` and `src_device` are devices of the queue's backend, or NULL or the CPU's device for\nmemory of the program."]
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct arrowdevice_copy_region {
    pub dst_device: *mut arrowdevice_device,
    pub dst: *mut ::core::ffi::c_void,
    pub dst_offset: i64,
    pub src_device: *mut arrowdevice_device,
    pub src: *const ::core::ffi::c_void,
    pub src_offset: i64,
    pub size: i64,
    pub reserved: u64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of arrowdevice_copy_region"][::core::mem::size_of::<arrowdevice_copy_region>() - 64usize];
    ["Alignment of arrowdevice_copy_region"][::core::mem::align_of::<arrowdevice_copy_region>() - 8usize];
    ["Offset of field: arrowdevice_copy_region::dst_device"]
        [::core::mem::offset_of!(arrowdevice_copy_region, dst_device) - 0usize];
    ["Offset of field: arrowdevice_copy_region::dst"][::core::mem::offset_of!(arrowdevice_copy_region, dst) - 8usize];
    ["Offset of field: arrowdevice_copy_region::dst_offset"]
        [::core::mem::offset_of!(arrowdevice_copy_region, dst_offset) - 16usize];
    ["Offset of field: arrowdevice_copy_region::src_device"]
        [::core::mem::offset_of!(arrowdevice_copy_region, src_device) - 24usize];
    ["Offset of field: arrowdevice_copy_region::src"][::core::mem::offset_of!(arrowdevice_copy_region, src) - 32usize];
    ["Offset of field: arrowdevice_copy_region::src_offset"]
        [::core::mem::offset_of!(arrowdevice_copy_region, src_offset) - 40usize];
    ["Offset of field: arrowdevice_copy_region::size"]
        [::core::mem::offset_of!(arrowdevice_copy_region, size) - 48usize];
    ["Offset of field: arrowdevice_copy_region::reserved"]
        [::core::mem::offset_of!(arrowdevice_copy_region, reserved) - 56usize];
};
impl Default for arrowdevice_copy_region {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
#[doc = "Options of streams that move their batches."]
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct arrowdevice_stream_options {
    pub struct_size: u32,
    #[doc = "ARROWDEVICE\\_STREAM\\_READ\\_AHEAD: a thread of the stream calls the producer. It starts with the\nconsumer's first call. Without the flag, the library calls the producer only on the consumer's\nthread, during the consumer's calls."]
    pub flags: u32,
    #[doc = "Number of batches in progress, including the one that the consumer gets next. With 2, the\nstream has read batch 2 and started its copy when the consumer gets batch 1. 0 means 2."]
    pub depth: i32,
    #[doc = "Flags of copies, ARROWDEVICE\\_COPY\\_\\* of copy.h. ARROWDEVICE\\_COPY\\_ASYNC has no effect, because it\nis always on."]
    pub copy_flags: u32,
    #[doc = "Queue for the copies, as in arrowdevice\\_copy\\_options, or NULL for a queue of the library. The\nstream uses it until the stream is released. Meanwhile the application may call only\narrowdevice\\_queue\\_destroy() on it. The comment of that function says how the stream goes on."]
    pub queue: *mut arrowdevice_queue,
    #[doc = "Pool of the target device, or NULL for its default pool. The stream holds a reference until it\nis released."]
    pub pool: *mut arrowdevice_pool,
    #[doc = "Device of the batches, or NULL to find it from each batch. If it is wrapped, the application\nmay unwrap it while the stream is alive. Later batches then fail with ENODEV."]
    pub source_device: *mut arrowdevice_device,
    #[doc = "Time-out in nanoseconds for all waits of one `get_schema` or `get_next` together.\nARROWDEVICE\\_NO\\_TIMEOUT (0) waits without limit. If the time-out ends, the function fails with\nETIMEDOUT. For `get_next` this is final. With ARROWDEVICE\\_POLL, the first array that is not\nready ends the stream. The time of the producer's own calls counts only with\nARROWDEVICE\\_STREAM\\_READ\\_AHEAD."]
    pub timeout_ns: i64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of arrowdevice_stream_options"][::core::mem::size_of::<arrowdevice_stream_options>() - 48usize];
    ["Alignment of arrowdevice_stream_options"][::core::mem::align_of::<arrowdevice_stream_options>() - 8usize];
    ["Offset of field: arrowdevice_stream_options::struct_size"]
        [::core::mem::offset_of!(arrowdevice_stream_options, struct_size) - 0usize];
    ["Offset of field: arrowdevice_stream_options::flags"]
        [::core::mem::offset_of!(arrowdevice_stream_options, flags) - 4usize];
    ["Offset of field: arrowdevice_stream_options::depth"]
        [::core::mem::offset_of!(arrowdevice_stream_options, depth) - 8usize];
    ["Offset of field: arrowdevice_stream_options::copy_flags"]
        [::core::mem::offset_of!(arrowdevice_stream_options, copy_flags) - 12usize];
    ["Offset of field: arrowdevice_stream_options::queue"]
        [::core::mem::offset_of!(arrowdevice_stream_options, queue) - 16usize];
    ["Offset of field: arrowdevice_stream_options::pool"]
        [::core::mem::offset_of!(arrowdevice_stream_options, pool) - 24usize];
    ["Offset of field: arrowdevice_stream_options::source_device"]
        [::core::mem::offset_of!(arrowdevice_stream_options, source_device) - 32usize];
    ["Offset of field: arrowdevice_stream_options::timeout_ns"]
        [::core::mem::offset_of!(arrowdevice_stream_options, timeout_ns) - 40usize];
};
impl Default for arrowdevice_stream_options {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
#[doc = "Options of arrowdevice\\_array\\_import()."]
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct arrowdevice_import_options {
    pub struct_size: u32,
    #[doc = "ARROWDEVICE\\_IMPORT\\_RESOLVE\\_SIZES: the call waits for the array's event. It then reads from the\ndevice the values that give the sizes of buffers, such as last offsets."]
    pub flags: u32,
    #[doc = "Queue that waits for the array's event. If it is NULL, no queue waits, and the application\ncalls arrowdevice\\_array\\_wait() or arrowdevice\\_queue\\_wait\\_array() before it uses the data."]
    pub queue: *mut arrowdevice_queue,
    #[doc = "Device of the array, or NULL to find it from the array."]
    pub source_device: *mut arrowdevice_device,
    pub validate: i32,
    pub reserved: i32,
    #[doc = "Time-out in nanoseconds for all waits of the CPU. ARROWDEVICE\\_NO\\_TIMEOUT (0) waits without\nlimit."]
    pub timeout_ns: i64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of arrowdevice_import_options"][::core::mem::size_of::<arrowdevice_import_options>() - 40usize];
    ["Alignment of arrowdevice_import_options"][::core::mem::align_of::<arrowdevice_import_options>() - 8usize];
    ["Offset of field: arrowdevice_import_options::struct_size"]
        [::core::mem::offset_of!(arrowdevice_import_options, struct_size) - 0usize];
    ["Offset of field: arrowdevice_import_options::flags"]
        [::core::mem::offset_of!(arrowdevice_import_options, flags) - 4usize];
    ["Offset of field: arrowdevice_import_options::queue"]
        [::core::mem::offset_of!(arrowdevice_import_options, queue) - 8usize];
    ["Offset of field: arrowdevice_import_options::source_device"]
        [::core::mem::offset_of!(arrowdevice_import_options, source_device) - 16usize];
    ["Offset of field: arrowdevice_import_options::validate"]
        [::core::mem::offset_of!(arrowdevice_import_options, validate) - 24usize];
    ["Offset of field: arrowdevice_import_options::reserved"]
        [::core::mem::offset_of!(arrowdevice_import_options, reserved) - 28usize];
    ["Offset of field: arrowdevice_import_options::timeout_ns"]
        [::core::mem::offset_of!(arrowdevice_import_options, timeout_ns) - 32usize];
};
impl Default for arrowdevice_import_options {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
#[doc = "One buffer of an imported array. The struct is frozen: it never grows, because nodes have arrays\nof it."]
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct arrowdevice_node_buffer {
    pub data: *const ::core::ffi::c_void,
    pub size: i64,
    pub role: u32,
    pub flags: u32,
    pub reserved: u64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of arrowdevice_node_buffer"][::core::mem::size_of::<arrowdevice_node_buffer>() - 32usize];
    ["Alignment of arrowdevice_node_buffer"][::core::mem::align_of::<arrowdevice_node_buffer>() - 8usize];
    ["Offset of field: arrowdevice_node_buffer::data"][::core::mem::offset_of!(arrowdevice_node_buffer, data) - 0usize];
    ["Offset of field: arrowdevice_node_buffer::size"][::core::mem::offset_of!(arrowdevice_node_buffer, size) - 8usize];
    ["Offset of field: arrowdevice_node_buffer::role"]
        [::core::mem::offset_of!(arrowdevice_node_buffer, role) - 16usize];
    ["Offset of field: arrowdevice_node_buffer::flags"]
        [::core::mem::offset_of!(arrowdevice_node_buffer, flags) - 20usize];
    ["Offset of field: arrowdevice_node_buffer::reserved"]
        [::core::mem::offset_of!(arrowdevice_node_buffer, reserved) - 24usize];
};
impl Default for arrowdevice_node_buffer {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
#[doc = "One node of an imported array, with its type and its typed buffers. The struct is frozen: it\nnever grows. The view owns the node and all texts and arrays to which the node points."]
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct arrowdevice_node {
    pub name: *const ::core::ffi::c_char,
    pub format: *const ::core::ffi::c_char,
    pub metadata: *const ::core::ffi::c_char,
    pub extension_name: *const ::core::ffi::c_char,
    pub extension_metadata: *const ::core::ffi::c_char,
    pub extension_metadata_size: i64,
    pub length: i64,
    pub offset: i64,
    pub null_count: i64,
    pub flags: i64,
    pub layout: i32,
    pub n_buffers: i32,
    pub n_children: i64,
    pub bit_width: i64,
    pub list_size: i64,
    pub buffers: *const arrowdevice_node_buffer,
    pub children: *const *const arrowdevice_node,
    pub dictionary: *const arrowdevice_node,
    pub array: *const ArrowArray,
    pub reserved: [u64; 4usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of arrowdevice_node"][::core::mem::size_of::<arrowdevice_node>() - 176usize];
    ["Alignment of arrowdevice_node"][::core::mem::align_of::<arrowdevice_node>() - 8usize];
    ["Offset of field: arrowdevice_node::name"][::core::mem::offset_of!(arrowdevice_node, name) - 0usize];
    ["Offset of field: arrowdevice_node::format"][::core::mem::offset_of!(arrowdevice_node, format) - 8usize];
    ["Offset of field: arrowdevice_node::metadata"][::core::mem::offset_of!(arrowdevice_node, metadata) - 16usize];
    ["Offset of field: arrowdevice_node::extension_name"]
        [::core::mem::offset_of!(arrowdevice_node, extension_name) - 24usize];
    ["Offset of field: arrowdevice_node::extension_metadata"]
        [::core::mem::offset_of!(arrowdevice_node, extension_metadata) - 32usize];
    ["Offset of field: arrowdevice_node::extension_metadata_size"]
        [::core::mem::offset_of!(arrowdevice_node, extension_metadata_size) - 40usize];
    ["Offset of field: arrowdevice_node::length"][::core::mem::offset_of!(arrowdevice_node, length) - 48usize];
    ["Offset of field: arrowdevice_node::offset"][::core::mem::offset_of!(arrowdevice_node, offset) - 56usize];
    ["Offset of field: arrowdevice_node::null_count"][::core::mem::offset_of!(arrowdevice_node, null_count) - 64usize];
    ["Offset of field: arrowdevice_node::flags"][::core::mem::offset_of!(arrowdevice_node, flags) - 72usize];
    ["Offset of field: arrowdevice_node::layout"][::core::mem::offset_of!(arrowdevice_node, layout) - 80usize];
    ["Offset of field: arrowdevice_node::n_buffers"][::core::mem::offset_of!(arrowdevice_node, n_buffers) - 84usize];
    ["Offset of field: arrowdevice_node::n_children"][::core::mem::offset_of!(arrowdevice_node, n_children) - 88usize];
    ["Offset of field: arrowdevice_node::bit_width"][::core::mem::offset_of!(arrowdevice_node, bit_width) - 96usize];
    ["Offset of field: arrowdevice_node::list_size"][::core::mem::offset_of!(arrowdevice_node, list_size) - 104usize];
    ["Offset of field: arrowdevice_node::buffers"][::core::mem::offset_of!(arrowdevice_node, buffers) - 112usize];
    ["Offset of field: arrowdevice_node::children"][::core::mem::offset_of!(arrowdevice_node, children) - 120usize];
    ["Offset of field: arrowdevice_node::dictionary"][::core::mem::offset_of!(arrowdevice_node, dictionary) - 128usize];
    ["Offset of field: arrowdevice_node::array"][::core::mem::offset_of!(arrowdevice_node, array) - 136usize];
    ["Offset of field: arrowdevice_node::reserved"][::core::mem::offset_of!(arrowdevice_node, reserved) - 144usize];
};
impl Default for arrowdevice_node {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
unsafe extern "C" {
    #[doc = "Returns the library's version as \"major.minor.patch\". The text is static.\n\nThread-safety: free."]
    pub fn arrowdevice_version() -> *const ::core::ffi::c_char;
    #[doc = "Sends the library's log to a function of the application.\n\nIf no handler is set, the library prints messages of level 0 to standard error and drops the\nothers. The environment variable `ARROWDEVICE_LOG` sets the highest level to print: \"error\",\n\"warning\", \"info\", \"debug\", or a number from 0 to 3. It does not limit a handler. The\nlibrary logs single copies and the growth of pools only if the variable is \"debug\".\n\n- `log`: Handler, or NULL to restore the default. The library calls it from any thread.\n  `level` is 0 for errors, 1 for warnings, 2 for info and 3 for debug. `message` is a\n  line of UTF-8 without a line end. The handler must not call the library.\n- `user`: Passed to `log`. After the handler is replaced, other threads may still be calling\n  it, and the library does not report when the last call has returned. `user`\n  therefore usually lives as long as the process.\n\nThread-safety: free. If another thread is logging meanwhile, its message may still reach the\nformer handler."]
    pub fn arrowdevice_log_set_handler(
        log: ::core::option::Option<
            unsafe extern "C" fn(
                user: *mut ::core::ffi::c_void,
                level: ::core::ffi::c_int,
                message: *const ::core::ffi::c_char,
            ),
        >,
        user: *mut ::core::ffi::c_void,
    );
    #[doc = "Sets a function that can end the waits of the calling thread. NULL removes it.\n\nWhile a call of this thread waits for a device or for another thread of the library, the library\ncalls `check` about 20 times per second. If the result is not 0, the wait ends and the call fails\nwith ECANCELED. Afterwards the same rules hold as after ETIMEDOUT (see \\*\\*Failure\\*\\* in\narrowdevice.h). Calls of the driver and of producers are not interrupted. The library does not\ncall `check` in a wait of less than 50 milliseconds.\n\n- `check`: The function, or NULL. There is one per thread. The library calls it on this\n  thread and holds no lock meanwhile. It may call the library, but not with an object\n  of the waiting call.\n- `user`: Passed to `check`.\n\nThread-safety: free. Applies to the calling thread only."]
    pub fn arrowdevice_interrupt_set_check(
        check: ::core::option::Option<unsafe extern "C" fn(user: *mut ::core::ffi::c_void) -> ::core::ffi::c_int>,
        user: *mut ::core::ffi::c_void,
    );
    #[doc = "Selects which thread completes deferred work: the application's or the library's.\n\nThe library defers a release if the device still uses the memory. By default the library starts\none thread at the first deferred work. This thread completes deferred work. A call that defers\nwork completes up to two earlier items too, on its own thread. A call that lacks memory completes\nall items that it can. Do not hold a lock that a release callback takes in such a call. In manual\nmode there is no such thread, no call completes the work of others, and the application calls\narrowdevice\\_deferred\\_run().\n\n- `on`: 1 for manual mode, or 0 for the library's thread. Every other value counts as 1.\n\nErrors:\n- EBUSY if `on` changes the mode, and work has been deferred or an IPC handle (see ipc.h) has\nbeen made at any time before.\n- The general errors.\n\nThread-safety: free. Does not block."]
    pub fn arrowdevice_deferred_set_manual(on: ::core::ffi::c_int, error: *mut arrowdevice_error)
    -> ::core::ffi::c_int;
    #[doc = "Completes deferred work whose events have fired, on the calling thread. Does not wait for events.\nThe call also releases the arrays of IPC handles that no process uses any more (see ipc.h).\n\nThe call may run the release callbacks of producers on the calling thread.\n\n- `max`: Largest number of items to complete. If it is negative, the call completes all that\n  it can.\n- `done`: Receives the number of completed items. May be NULL.\n\nErrors: the general errors.\n\nThread-safety: free."]
    pub fn arrowdevice_deferred_run(max: i64, done: *mut i64, error: *mut arrowdevice_error) -> ::core::ffi::c_int;
    #[doc = "Waits until no work is deferred. Work of calls that failed with ETIMEDOUT, ECANCELED or EBUSY\ncounts as deferred until it is complete or has failed. A copy of arrowdevice\\_array\\_to\\_host\\_async()\ncounts until its `done` has returned. A program that must free all memory before it ends calls\nthis function.\n\nIn manual mode the calling thread completes deferred work while it waits.\n\n- `timeout_ns`: Time-out in nanoseconds, as the conventions say.\n\nErrors:\n- ETIMEDOUT if some work is not complete when the time-out ends. That work stays deferred.\n- EBUSY if the call is made from a release callback that runs as deferred work, or from `done` of\narrowdevice\\_array\\_to\\_host\\_async().\n- The general errors.\n\nThread-safety: free. Blocks up to `timeout_ns`."]
    pub fn arrowdevice_wait_idle(timeout_ns: i64, error: *mut arrowdevice_error) -> ::core::ffi::c_int;
    #[doc = "Makes a device array from buffers that are on a device already.\n\n- `device`: Device of the buffers.\n- `moved`: Array whose buffers are on `device`.\n- `producer_queue`: Queue whose work so far writes the buffers, so that the array's event\n  fires after that work. NULL means that the data is ready.\n- `out`: Receives the array, with `reserved` zeroed. Its children may be moved out\n  and released on their own.\n\nErrors:\n- EIO if the queue's work failed, or if the driver fails.\n- The general errors.\n\nImplements: \"The ArrowDeviceArray structure\", \"Synchronization\".\n\nThread-safety: per object. If the device publishes no events or the queue belongs to another\nbackend, the call waits for the queue without limit. Otherwise it does not block. If the thread's\ncheck ends that wait, the queue's work may still write the buffers."]
    pub fn arrowdevice_array_export(
        device: *mut arrowdevice_device,
        moved: *mut ArrowArray,
        producer_queue: *mut arrowdevice_queue,
        out: *mut ArrowDeviceArray,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "Makes a device array as arrowdevice\\_array\\_export() does, with an event that the application\nrecorded.\n\n- `device`: Device of the buffers.\n- `moved`: Array whose buffers are on `device`.\n- `sync_event`: Pointer to the native event, in the form that the format defines for the\n  device type.\n- `event_release`: Called once, from any thread, after the last array that shares the memory\n  is released. The library does not call it if this call fails. NULL means\n  that the event outlives the array.\n- `user`: Passed to `event_release`. It must stay valid until then.\n- `out`: Receives the array.\n\nErrors:\n- EINVAL if arrays of the device type have no events, or if the backend refuses the event.\n- EIO if the driver fails.\n- The general errors.\n\nImplements: \"Synchronization event types\".\n\nThread-safety: per object. Does not block."]
    pub fn arrowdevice_array_export_event(
        device: *mut arrowdevice_device,
        moved: *mut ArrowArray,
        sync_event: *mut ::core::ffi::c_void,
        event_release: ::core::option::Option<
            unsafe extern "C" fn(user: *mut ::core::ffi::c_void, sync_event: *mut ::core::ffi::c_void),
        >,
        user: *mut ::core::ffi::c_void,
        out: *mut ArrowDeviceArray,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "Makes a device array from a CPU array: device type CPU, id -1, no event. O(1).\n\n- `moved`: The CPU array.\n- `out`: Receives the device array.\n\nErrors: the general errors.\n\nImplements: \"The ArrowDeviceArray structure\".\n\nThread-safety: per object. Does not block."]
    pub fn arrowdevice_array_from_host(
        moved: *mut ArrowArray,
        out: *mut ArrowDeviceArray,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "Finds the device of an array. If the backend can find the device of a buffer or event, the\nlibrary asks it. Otherwise the array's type and id decide.\n\n- `array`: The array.\n- `out`: Receives the device.\n\nErrors:\n- ENODEV if there is no driver or no such device, or if the buffers belong to no device that the\nbackend knows.\n- ENOTSUP if neither the format nor any backend knows the device type.\n- EIO if the driver fails.\n- The general errors.\n\nImplements: \"ArrowDeviceType\", \"ArrowDeviceArray.device\\_id\".\n\nThread-safety: free on a `const` array. May block while a driver starts."]
    pub fn arrowdevice_array_get_device(
        array: *const ArrowDeviceArray,
        out: *mut *mut arrowdevice_device,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "Moves a device array to another struct: overwrites `to` and sets the `release` of `from` to NULL.\nO(1).\n\n- `from`: The array, or NULL.\n- `to`: Struct that receives the array, or NULL. If either is NULL or both are the same, the\n  call has no effect.\n\nImplements: \"Moving an array\".\n\nThread-safety: per object. Does not block."]
    pub fn arrowdevice_array_move(from: *mut ArrowDeviceArray, to: *mut ArrowDeviceArray);
    #[doc = "Releases an array. The caller promises that its own device work on the array has finished, and\nthat no asynchronous copy still reads from the array. The result of an asynchronous copy may be\nreleased while that copy runs (see arrowdevice\\_array\\_copy()).\n\n- `array`: The array. If it is NULL or released, the call has no effect.\n\nImplements: \"Memory management\".\n\nThread-safety: per object, from any thread. Never waits for device work of the library."]
    pub fn arrowdevice_array_release(array: *mut ArrowDeviceArray);
    #[doc = "Releases an array when the queue's work so far has finished.\n\nIf that work has finished already, the producer's release callback runs on the calling thread.\nOtherwise it runs as deferred work (see arrowdevice\\_deferred\\_set\\_manual()). If the call fails,\nthe array still belongs to the caller. The caller must release it when its work has finished.\n\n- `moved`: The array.\n- `queue`: Queue that has the caller's work on the array.\n\nErrors:\n- EIO if the queue failed, or if the driver fails.\n- The general errors.\n\nImplements: \"Memory management\".\n\nThread-safety: per object. Returns at once."]
    pub fn arrowdevice_array_release_after(
        moved: *mut ArrowDeviceArray,
        queue: *mut arrowdevice_queue,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "Makes a second array of the same memory. Both arrays become owners.\n\nThe producer's release callback runs after the last owner is released. A child that was moved out\nis an owner too.\n\n- `inout`: The array, which stays valid.\n- `out`: Receives the second array.\n\nErrors:\n- EINVAL if a child is NULL, released or its own ancestor, or if buffers or children are missing.\n- EINVAL if the array has an event, but arrays of its device type have no events.\n- The general errors.\n\nImplements: \"Memory management\", \"Moving an array\".\n\nThread-safety: per object. Does not block."]
    pub fn arrowdevice_array_share(
        inout: *mut ArrowDeviceArray,
        out: *mut ArrowDeviceArray,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "Tells if an array's event has fired.\n\n- `array`: The array.\n- `source_device`: Device of the array, or NULL to find it from the array.\n- `out`: Receives 1 if the event has fired or if there is none, and 0 if it has not\n  fired or if the call fails.\n\nErrors:\n- EINVAL if the array has an event, but arrays of its device type have no events.\n- ENOTSUP if the backend cannot import events.\n- ENODEV if the array's device is not present.\n- EIO if the producer's work failed, or if the driver fails.\n- The general errors.\n\nImplements: \"Synchronization\".\n\nThread-safety: free on a `const` array. Does not wait for the event."]
    pub fn arrowdevice_array_is_ready(
        array: *const ArrowDeviceArray,
        source_device: *mut arrowdevice_device,
        out: *mut ::core::ffi::c_int,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "Makes the CPU wait for an array's event. If there is none, the call succeeds at once. After\nETIMEDOUT the application may call again.\n\n- `array`: The array.\n- `source_device`: Device of the array, or NULL to find it from the array.\n- `timeout_ns`: Time-out in nanoseconds, as the conventions say.\n\nErrors:\n- ETIMEDOUT if the event has not fired when the time-out ends.\n- All errors of arrowdevice\\_array\\_is\\_ready().\n\nImplements: \"Synchronization\".\n\nThread-safety: free on a `const` array. Blocks up to `timeout_ns`."]
    pub fn arrowdevice_array_wait(
        array: *const ArrowDeviceArray,
        source_device: *mut arrowdevice_device,
        timeout_ns: i64,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "Makes a file descriptor for event loops such as `poll` and `epoll`. It becomes readable when the\narray's event has fired or failed, or at once if there is no event. A call of\narrowdevice\\_array\\_is\\_ready() then tells success from failure.\n\nThe caller keeps the array until the descriptor is readable, even if the caller has closed it. If\nthe mode of deferred work is manual, arrowdevice\\_deferred\\_run() makes the descriptor readable.\n\n- `array`: The array.\n- `source_device`: Device of the array, or NULL to find it from the array.\n- `out`: Receives a non-blocking Linux `eventfd`, or -1 if the call fails. The caller\n  closes it, at any time.\n\nErrors:\n- EMFILE, ENFILE or ENOMEM if there are no more descriptors.\n- All errors of arrowdevice\\_array\\_is\\_ready(). A failure of the producer's work is no error here.\n\nImplements: \"Synchronization\".\n\nThread-safety: free on a `const` array. Does not wait for the event."]
    pub fn arrowdevice_array_open_eventfd(
        array: *const ArrowDeviceArray,
        source_device: *mut arrowdevice_device,
        out: *mut ::core::ffi::c_int,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "Makes an array of some rows of `inout`. Both arrays are owners of the memory then. Reads no data.\n\n- `inout`: The array, which stays valid and becomes a shared owner.\n- `schema`: Type of the array.\n- `offset`: First row, counted from the array's own first row.\n- `length`: Number of rows.\n- `out`: Receives the slice. A record batch is a root of type `+s` without validity. The root\n  of its slice has offset 0, and each child is sliced instead.\n\nErrors:\n- EINVAL if rows are outside of the array, or if the array does not match its schema.\n- ENOTSUP if a format is unknown.\n- The general errors.\n\nThread-safety: per object. Does not block."]
    pub fn arrowdevice_array_slice(
        inout: *mut ArrowDeviceArray,
        schema: *const ArrowSchema,
        offset: i64,
        length: i64,
        out: *mut ArrowDeviceArray,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "Makes an array of some columns of a struct array or record batch. Both arrays are owners of the\nmemory then.\n\n- `inout`: The array, which stays valid and becomes a shared owner.\n- `schema`: Type of the array.\n- `children`: `n` indices of children, in the order of the result. An index may appear\n  several times.\n- `n`: Number of indices.\n- `out`: Receives the array.\n- `out_schema`: Receives the type of `out`, as an independent copy. May be NULL.\n\nErrors:\n- EINVAL if `n` is negative, an index is out of range, or `out_schema` is `schema`.\n- EINVAL if the array is not a struct or does not match its schema.\n- ENOTSUP if a format is unknown.\n- The general errors.\n\nThread-safety: per object. Does not block."]
    pub fn arrowdevice_array_select(
        inout: *mut ArrowDeviceArray,
        schema: *const ArrowSchema,
        children: *const i64,
        n: i64,
        out: *mut ArrowDeviceArray,
        out_schema: *mut ArrowSchema,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "Checks an array against its schema. Each level includes the levels before it.\n\n- ARROWDEVICE\\_VALIDATE\\_STRUCTURE checks the structs and reads no data.\n- ARROWDEVICE\\_VALIDATE\\_FULL also checks the data:\n- The array's device can use each buffer, and each buffer is large enough, as far as the driver\nreports this.\n- `null_count` is correct.\n- Offsets, views, type ids, run ends and dictionary indices are in range.\n- In string and binary views, the prefix equals the first 4 bytes of the value, and the unused\nbytes of an inline value are zero.\n- Texts are UTF-8.\n- ARROWDEVICE\\_VALIDATE\\_STRICT also checks rules that real producers neglect:\n- `reserved` is zero.\n- `null_count` is not -1 if there is no validity bitmap.\n- Fields that are not nullable have no nulls in rows that are visible through their parents.\n\nThe library cannot know the size of a buffer that was allocated without a driver, for example\nwith `malloc`, and does not check it.\n\n- `array`: The array.\n- `schema`: Type of the array.\n- `source_device`: Device of the array, or NULL to find it from the array.\n- `level`: One of `ARROWDEVICE_VALIDATE_*`.\n\nErrors:\n- EINVAL if the array is not valid (the message names the child and the slot), or if `level` is\nunknown.\n- ENOTSUP if a format is unknown.\n- With FULL or STRICT: ENODEV if the array's device is not present.\n- With FULL or STRICT: EIO if the producer's work failed or the driver fails.\n- ENOMEM if the host or the device has no memory.\n- The general errors.\n\nImplements: \"Structure definitions\"; the layouts of the columnar format.\n\nThread-safety: free on a `const` array. With FULL or STRICT, the call waits without limit until\nthe array is ready. It then reads the data back in blocks of 1 MiB."]
    pub fn arrowdevice_array_validate(
        array: *const ArrowDeviceArray,
        schema: *const ArrowSchema,
        source_device: *mut arrowdevice_device,
        level: ::core::ffi::c_int,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "Copies a schema deeply. The copy is independent of the original.\n\n- `schema`: The schema.\n- `out`: Receives the copy.\n\nErrors:\n- EINVAL if the schema is released or malformed.\n- The general errors.\n\nThread-safety: free on a `const` schema. Does not block."]
    pub fn arrowdevice_schema_copy(
        schema: *const ArrowSchema,
        out: *mut ArrowSchema,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "Releases a schema, for languages that cannot call its release callback.\n\n- `schema`: The schema. If it is NULL or released, the call has no effect.\n\nThread-safety: per object."]
    pub fn arrowdevice_schema_release(schema: *mut ArrowSchema);
    #[doc = "Releases a CPU array, for languages that cannot call its release callback.\n\n- `array`: The array. If it is NULL or released, the call has no effect.\n\nThread-safety: per object."]
    pub fn arrowdevice_host_array_release(array: *mut ArrowArray);
    #[doc = "Produces the arrays of a stream for a handler, as fast as the handler requests them.\n\nAt most one job of the executor reads from the stream at a time. If the stream waits, that job\nblocks.\n\n- `moved`: The stream. On failure it still belongs to the caller.\n- `handler`: The consumer's handler. The library borrows it until it calls `release`. The\n  consumer's `release` may free the handler. If the call fails, the library made no\n  callback, and the handler still belongs to the caller.\n- `options`: Options, or NULL for the defaults. Of the options, the call uses only `submit`,\n  `user` and `get_metadata`.\n\nErrors:\n- EINVAL if the handler lacks a callback, or if the options are not valid.\n- ENOMEM if the library can start no thread.\n- The value of `submit`, if the executor refuses the job.\n- The general errors.\n- Later, by `on_error`: the stream's error with its text. The consumer first gets the\narrays that precede the error.\n- Later, by `on_error`: EINVAL if an array is in memory that devices of the stream's type cannot\nuse.\n- Later, by `on_error`: EINVAL if metadata is malformed.\n\nImplements: \"Async Device Stream Interface\".\n\nThread-safety: per object. Does not block."]
    pub fn arrowdevice_async_produce(
        moved: *mut ArrowDeviceArrayStream,
        handler: *mut ArrowAsyncDeviceStreamHandler,
        options: *const arrowdevice_async_options,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "Makes a handler for a producer, and the stream of the arrays that the handler receives.\n\nThe library requests `depth` arrays ahead. The thread that reads the stream extracts the tasks.\nReleasing the stream cancels the producer. It does not release the handler: the\nproducer does.\n\n- `device_type`: Device type of the arrays.\n- `options`: Options, or NULL for the defaults. The call uses only `depth` and\n  `upstream_layout`.\n- `out_handler`: Receives the handler for the producer. The rules above say how it ends.\n- `out`: Receives the stream. The caller releases it. Its `get_schema` and `get_next`\n  wait for the producer, and arrowdevice\\_stream\\_cancel() wakes them.\n  arrowdevice\\_stream\\_get\\_metadata() returns the producer's metadata.\n\nErrors:\n- EINVAL if `device_type` is not positive, or if the options are not valid.\n- The general errors.\n- Later, from the stream: the producer's error. The consumer first gets the arrays that\nprecede the error.\n- Later, from the stream: EIO if the producer releases the handler before the end.\n- Later, from the stream: EINVAL if the end comes before the schema.\n- Later, from the stream and from `on_schema`: EINVAL if the producer has another device type.\n- Later, from the stream: EINVAL if metadata is malformed.\n\nImplements: \"The ArrowAsyncDeviceStreamHandler structure\".\n\nThread-safety: per object. Does not block."]
    pub fn arrowdevice_async_collect(
        device_type: ArrowDeviceType,
        options: *const arrowdevice_async_options,
        out_handler: *mut *mut ArrowAsyncDeviceStreamHandler,
        out: *mut ArrowDeviceArrayStream,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "Makes a handler for a producer. The handler puts each array on a device and passes it to another\nhandler.\n\nIt puts arrays on the device as arrowdevice\\_array\\_to\\_device() does, and holds at most `depth`\narrays. The event of an array may still be pending when the downstream handler gets the array.\nThe library passes metadata on.\n\n- `downstream`: The consumer's handler. The library borrows it until it calls `release`. If\n  the call fails, the handler is untouched and still belongs to the caller.\n- `to`: Target device.\n- `options`: Options, or NULL for the defaults.\n- `out_upstream`: Receives the handler for the producer. The rules above say how it ends. If\n  it is released without a producer, `downstream` gets `on_error` and\n  `release`.\n\nErrors:\n- EINVAL if the handler lacks a callback, if the options are not valid, or if the pool or queue\ncan serve no array on `to`.\n- ENOMEM if the library can start no thread.\n- The general errors.\n- Later, by `on_error`: the producer's error.\n- Later, by `on_error`, after the schema: EINVAL if the queue cannot serve the producer's device\ntype.\n- Later, by `on_error`: all errors of arrowdevice\\_array\\_to\\_device() but ETIMEDOUT, because its\nwaits have no limit.\n- Later, by `on_error`: EINVAL if the end comes before the schema, or if metadata of a task is\nmalformed.\n- Later, by `on_error`: EIO if the producer releases its handler before the end, or before its\nschema.\n\nImplements: \"The ArrowAsyncDeviceStreamHandler structure\".\n\nThread-safety: per object. Does not block."]
    pub fn arrowdevice_async_to_device(
        downstream: *mut ArrowAsyncDeviceStreamHandler,
        to: *mut arrowdevice_device,
        options: *const arrowdevice_async_options,
        out_upstream: *mut *mut ArrowAsyncDeviceStreamHandler,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "Loads a backend from a plugin file. Starts no driver.\n\n- `absolute_path`: Absolute path of the file.\n\nErrors:\n- ENOENT if there is no such file.\n- EEXIST if a backend with this name, or for one of its device types, is present already.\n- ENOTSUP if the plugin has another version of the backend table.\n- EINVAL if the path is not absolute, the file is not a plugin, or its table lacks a required\nentry.\n- EBUSY if code of the plugin calls this function for its own file.\n- EBUSY in a child process after `fork`, if the parent process was opening this file.\n- The error that the plugin reports, if its entry function fails.\n- The general errors.\n\nThread-safety: free. Blocks while another thread loads the same file."]
    pub fn arrowdevice_backend_load(
        absolute_path: *const ::core::ffi::c_char,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "Registers a backend that is linked into the application.\n\nThe first backend for a device type serves it until the process ends. The call must therefore\ncome before the first use of its device types.\n\n- `table`: Backend table, which the library copies. The functions and texts to which the table\n  points must stay valid until the process ends.\n\nErrors:\n- EEXIST if a backend with this name, or for one of its device types, is present already.\n- ENOTSUP if the table has another version.\n- EINVAL if the table lacks a required entry or has an invalid name.\n- The general errors.\n\nThread-safety: free."]
    pub fn arrowdevice_backend_register(
        table: *const arrowdevice_backend,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "Reads one entry of the list of backends that were loaded, registered or refused, and of folders\nthat were searched in vain. The list is in the order of the search, and gives the reasons.\n\n- `index`: Index into the list, from 0.\n- `out`: Receives the entry. The caller sets its `struct_size`.\n\nErrors:\n- ENOENT if `index` is negative or past the last entry.\n- The general errors.\n\nThread-safety: free. If other threads load backends meanwhile, the list grows at its end."]
    pub fn arrowdevice_backend_get_report(
        index: i64,
        out: *mut arrowdevice_backend_report,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "Creates a pool of a device's memory.\n\nThe call itself calls none of the functions in the options. If it fails, the library never calls\nthem, `destroy` included. `user` still belongs to the caller. If it succeeds, the pool uses them\nuntil it calls `destroy`. That happens after arrowdevice\\_pool\\_destroy(), when no buffer, stream\nor device uses the pool.\n\n- `device`: The device.\n- `options`: Options, or NULL for the defaults. `allocate` and `deallocate` must both be set\n  or both be NULL.\n- `out`: Receives the pool. The caller destroys it with arrowdevice\\_pool\\_destroy().\n\nErrors:\n- EINVAL if `flags` has unknown bits, `max_bytes` is negative, or only one of `allocate` and\n`deallocate` is set.\n- EINVAL if `allocate` is set together with ARROWDEVICE\\_POOL\\_WAIT\\_FOR\\_CONTEXT or\nARROWDEVICE\\_POOL\\_SHAREABLE.\n- ENOTSUP if ARROWDEVICE\\_POOL\\_SHAREABLE is set, and the device lacks ARROWDEVICE\\_DEVICE\\_SHAREABLE.\n- ENOTSUP if ARROWDEVICE\\_POOL\\_WAIT\\_FOR\\_CONTEXT is set, and the driver cannot record such an\nevent.\n- The general errors.\n\nThread-safety: free."]
    pub fn arrowdevice_pool_create(
        device: *mut arrowdevice_device,
        options: *const arrowdevice_pool_options,
        out: *mut *mut arrowdevice_pool,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "Reads the statistics of a pool.\n\n- `pool`: The pool.\n- `out`: Receives the statistics. The caller sets its `struct_size`.\n\nErrors: the general errors.\n\nThread-safety: free."]
    pub fn arrowdevice_pool_get_stats(
        pool: *const arrowdevice_pool,
        out: *mut arrowdevice_pool_stats,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "Frees all memory that a pool caches and that is not in use. The call also frees what the library\ncaches for the pool's device in pools of its own: memory for handles (see ipc.h) and, if the\ndevice's `staging_type` is 0, host memory for staged copies.\n\n- `pool`: The pool.\n\nErrors: the general errors.\n\nThread-safety: free."]
    pub fn arrowdevice_pool_trim(pool: *mut arrowdevice_pool, error: *mut arrowdevice_error) -> ::core::ffi::c_int;
    #[doc = "Destroys a pool. Live buffers hold references, so the memory survives until the last buffer is\nfreed.\n\n- `pool`: The pool, or NULL.\n\nThread-safety: free. The application calls it once."]
    pub fn arrowdevice_pool_destroy(pool: *mut arrowdevice_pool);
    #[doc = "Allocates device memory.\n\n- `device`: The device.\n- `pool`: Pool of the device, or NULL for its default pool.\n- `queue`: Queue of `device` that uses the memory first. NULL if any queue may be the first.\n- `size`: Bytes, more than 0.\n- `out`: Receives an address or a handle, depending on the device. The caller frees it with\n  arrowdevice\\_buffer\\_free().\n\nErrors:\n- ENOMEM if the device or the host has no memory, or if the pool has reached its limit.\n- EINVAL if `size` is 0 or negative, or if the pool or queue belongs to another device.\n- EIO if the driver fails.\n- The error of the application's `allocate`, if the pool has one and it fails.\n- The general errors.\n\nThread-safety: free."]
    pub fn arrowdevice_buffer_allocate(
        device: *mut arrowdevice_device,
        pool: *mut arrowdevice_pool,
        queue: *mut arrowdevice_queue,
        size: i64,
        out: *mut *mut ::core::ffi::c_void,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "Frees memory of arrowdevice\\_buffer\\_allocate(). If `buffer` is other memory, the call logs that\nand leaves it alone.\n\n- `device`: Device of the buffer.\n- `queue`: Queue whose work so far may still use the memory, or NULL if no work does. The\n  library reuses the memory only after that work.\n- `buffer`: The buffer, or NULL.\n\nThread-safety: free. Returns at once."]
    pub fn arrowdevice_buffer_free(
        device: *mut arrowdevice_device,
        queue: *mut arrowdevice_queue,
        buffer: *mut ::core::ffi::c_void,
    );
    #[doc = "Creates a sub-buffer: a range of a buffer that is used as a buffer.\n\nIf buffers are addresses, the result is the address `offset` bytes after `buffer`. The library\nthen does not check that the range lies within the buffer.\n\n- `device`: Device of the buffer.\n- `buffer`: The buffer, which must outlive its sub-buffers.\n- `offset`: Bytes. If buffers are handles, a multiple of the device's `sub_buffer_alignment`.\n- `size`: Bytes, more than 0.\n- `out`: Receives the sub-buffer. The caller destroys it with\n  arrowdevice\\_sub\\_buffer\\_destroy().\n\nErrors:\n- EINVAL if `offset` is negative or not aligned, if `size` is 0 or negative, or if the backend\nrefuses the range.\n- EIO if the driver fails.\n- The general errors.\n\nThread-safety: free."]
    pub fn arrowdevice_sub_buffer_create(
        device: *mut arrowdevice_device,
        buffer: *const ::core::ffi::c_void,
        offset: i64,
        size: i64,
        out: *mut *mut ::core::ffi::c_void,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "Destroys a sub-buffer. The application calls it before it frees the buffer. If buffers are\naddresses, the call has no effect.\n\n- `device`: Device of the sub-buffer, or NULL.\n- `sub`: The sub-buffer, or NULL.\n\nThread-safety: free."]
    pub fn arrowdevice_sub_buffer_destroy(device: *mut arrowdevice_device, sub: *mut ::core::ffi::c_void);
    #[doc = "Copies an array to a device, with one allocation. The copy is one submission and one event. Two\nkinds of copies need several of both: copies that are divided into pieces (see\nARROWDEVICE\\_COPY\\_ASYNC), and copies of more than 2 MiB between pageable host memory and a GPU, in\neither direction.\n\nThe copy has only the bytes that the array's rows need, unless ARROWDEVICE\\_COPY\\_NO\\_TRIM is set.\n\nThe copy runs after the source's event. Until the copy no longer needs the source, the caller\nmust not release it, change its data, or unwrap its device. That moment comes when the call\nreturns, with two exceptions:\n\n- After ETIMEDOUT, ECANCELED or EBUSY, it comes when arrowdevice\\_wait\\_idle() has succeeded. Before that, the\ncaller may call again with the same array.\n- After success with ARROWDEVICE\\_COPY\\_ASYNC, if `out->sync_event` is not NULL, it comes when\narrowdevice\\_array\\_wait() or arrowdevice\\_array\\_is\\_ready() has reported that the event of `out`\nfired.\n\nA caller that does not want to wait for the event of `out` has three choices:\n\n- It calls arrowdevice\\_array\\_to\\_device() with ARROWDEVICE\\_COPY\\_ALWAYS instead. The library then\nreleases the source.\n- If it gave a queue in the options, it calls arrowdevice\\_array\\_release\\_after() for the source\nwith that queue.\n- It releases `out`, so that the running copy becomes deferred work. It releases the source\nlater, when arrowdevice\\_wait\\_idle() has succeeded.\n\nIf arrowdevice\\_array\\_wait() or arrowdevice\\_array\\_is\\_ready() fails with another code than\nETIMEDOUT, ECANCELED or EBUSY, the caller makes the third choice.\n\n- `array`: The source, which stays as it is.\n- `schema`: Type of the array.\n- `to`: Target device.\n- `options`: Options. With NULL the call waits for the copy, uses a queue of the library, and\n  allocates from the target's default pool.\n- `out`: Receives the copy. Its children may be moved out and released on their own.\n\nErrors:\n- EINVAL if the array does not match its schema, or if the queue or pool does not fit the\ndevices.\n- EINVAL if the flags are unknown or contradict each other.\n- ENOTSUP if a format is unknown, or if the backend cannot import the array's event.\n- ENODEV if the array's device is not present.\n- ENOMEM if the host or the device has no memory, or if the pool has reached its limit.\n- ETIMEDOUT if a wait exceeds `timeout_ns`.\n- EIO if the producer's work or the copy failed.\n- The general errors.\n\nImplements: \"Synchronization\"; the layouts of the columnar format.\n\nThread-safety: free on a `const` array, per object on the queue. Blocks until the copy is\ncomplete. With ARROWDEVICE\\_COPY\\_ASYNC it blocks until the copy is submitted. Before that, the\nlibrary may read offsets and sizes back from the source device."]
    pub fn arrowdevice_array_copy(
        array: *const ArrowDeviceArray,
        schema: *const ArrowSchema,
        to: *mut arrowdevice_device,
        options: *const arrowdevice_copy_options,
        out: *mut ArrowDeviceArray,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "Puts an array on a device: shares the memory if the device can use it at full speed, else copies\nit.\n\nIf the array is copied, the library releases the source when the copy is complete or has failed,\neven with ARROWDEVICE\\_COPY\\_ASYNC. The caller keeps nothing alive. After ETIMEDOUT or ECANCELED\nthe caller still owns `moved`, and may release it at once or call again.\n\nIf the source's device is wrapped, arrowdevice\\_device\\_unwrap() waits for such copies. In two\ncases it fails with EBUSY until `out` is released, because `out` has an event of the source\ndevice:\n\n- `to` is host memory with events, such as CUDA\\_HOST.\n- `options.queue` is a queue of the source device.\n\n- `moved`: The array.\n- `schema`: Type of the array.\n- `to`: Target device.\n- `options`: Options, or NULL for the defaults, as for arrowdevice\\_array\\_copy().\n- `out`: Receives the array on `to`.\n\nErrors:\n- ENOTSUP if ARROWDEVICE\\_COPY\\_NEVER is set and the device cannot share the memory.\n- All errors of arrowdevice\\_array\\_copy().\n\nImplements: \"Moving an array\", \"Synchronization\".\n\nThread-safety: per object. A copy blocks as arrowdevice\\_array\\_copy() does. If the memory is\nshared, but arrays of `to` cannot carry the source's event, the call blocks until the event has\nfired or the time-out ends."]
    pub fn arrowdevice_array_to_device(
        moved: *mut ArrowDeviceArray,
        schema: *const ArrowSchema,
        to: *mut arrowdevice_device,
        options: *const arrowdevice_copy_options,
        out: *mut ArrowDeviceArray,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "Puts an array on the CPU: shares the memory if the CPU can read it, else copies it. The data is\nready on return.\n\n- `moved`: The array.\n- `schema`: Type of the array.\n- `options`: Options, or NULL for the defaults. ARROWDEVICE\\_COPY\\_ASYNC has no effect.\n- `out`: Receives the CPU array.\n\nErrors: all errors of arrowdevice\\_array\\_to\\_device().\n\nImplements: \"Synchronization\"; the layouts of the columnar format.\n\nThread-safety: per object. Blocks until the data is ready."]
    pub fn arrowdevice_array_to_host(
        moved: *mut ArrowDeviceArray,
        schema: *const ArrowSchema,
        options: *const arrowdevice_copy_options,
        out: *mut ArrowArray,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "Starts to put an array on the CPU, and returns without waiting. A thread of the library does what\narrowdevice\\_array\\_to\\_host() does.\n\nIf the call succeeds, the library owns `moved` and calls `done` once, on a thread of the library.\n`done` may run before this call returns. The arrays of one device are copied one after the other,\neach after its event. Arrays of different devices do not wait for each other. The library does not\ncall `done` after `exit` has begun. A forked child does not call `done` for copies of its parent.\n\n`done` may call the library, except arrowdevice\\_wait\\_idle(), which fails with EBUSY. While `done`\nruns, later copies from the same device wait.\n\n- `moved`: The array. If the call fails, it still belongs to the caller.\n- `schema`: Type of the array. The library copies it.\n- `options`: Options, or NULL for the defaults. `timeout_ns` limits the time from this call to\n  the end of the copy. The copy waits for the work that `queue` has now, and runs on\n  a queue of the library. ARROWDEVICE\\_COPY\\_ASYNC has no effect.\n- `done`: Receives the result. After `done` returns, the library releases the array that\n  `done` has not moved out.\n  - On success `array` is the CPU array. `done` may move it out. `source` and\n  `error` are NULL.\n  - On failure `error` says why, and has the errors of arrowdevice\\_array\\_to\\_host().\n  `source` is the array of the call. `done` may move it out. `array` is NULL.\n- `user`: Passed to `done`.\n\nErrors:\n- EINVAL if the queue or pool does not fit the devices.\n- EINVAL if the flags are unknown or contradict each other.\n- ENOTSUP if the backend cannot import the array's event.\n- ENODEV if the array's device is not present.\n- ENOMEM if the library can start no thread.\n- The general errors.\n\nImplements: \"Synchronization\"; the layouts of the columnar format.\n\nThread-safety: per object. Does not wait for devices."]
    pub fn arrowdevice_array_to_host_async(
        moved: *mut ArrowDeviceArray,
        schema: *const ArrowSchema,
        options: *const arrowdevice_copy_options,
        done: ::core::option::Option<
            unsafe extern "C" fn(
                user: *mut ::core::ffi::c_void,
                array: *mut ArrowArray,
                source: *mut ArrowDeviceArray,
                error: *const arrowdevice_error,
            ),
        >,
        user: *mut ::core::ffi::c_void,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "Finds a device by its type and id. Loads the backend of its type if necessary.\n\n- `device_type`: An `ARROW_DEVICE_*` value.\n- `device_id`: Id from 0 to n-1. For the CPU, -1 and 0 name one device. For CUDA\\_HOST,\n  ROCM\\_HOST and CUDA\\_MANAGED, -1 means 0.\n- `out`: Receives the device, which is never a wrapped one.\n\nErrors:\n- ENODEV if there is no driver or no such device. The message says why.\narrowdevice\\_backend\\_get\\_report() lists every place that the library searched.\n- ENOTSUP if neither the format nor any backend knows the device type.\n- EINVAL if the backend reports properties that the library cannot use.\n- EIO if the driver fails.\n- The general errors.\n\nImplements: \"ArrowDeviceType\", \"ArrowDeviceArray.device\\_id\".\n\nThread-safety: free. May block while a driver starts."]
    pub fn arrowdevice_device_find_by_id(
        device_type: ArrowDeviceType,
        device_id: i64,
        out: *mut *mut arrowdevice_device,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "Finds a device by a text such as \"opencl:0\", as arrowdevice\\_device\\_find\\_by\\_id() does by type and\nid. The text is not the `name` of arrowdevice\\_device\\_info.\n\n- `name`: A name of arrowdevice\\_device\\_type\\_get\\_name(), a colon and the id, such as \"opencl:0\"\n  or \"cuda\\_host:1\". Without a colon and an id, as in \"cpu\", the id is 0. Upper and lower\n  case are the same.\n- `out`: Receives the device, which is never a wrapped one.\n\nErrors:\n- EINVAL if the name has another form or begins with an unknown type name. The message suggests\nthe nearest name.\n- All errors of arrowdevice\\_device\\_find\\_by\\_id().\n\nThread-safety: free. May block while a driver starts."]
    pub fn arrowdevice_device_find_by_name(
        name: *const ::core::ffi::c_char,
        out: *mut *mut arrowdevice_device,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "Counts the devices of a type. Their ids are 0 to n-1.\n\n- `device_type`: An `ARROW_DEVICE_*` value.\n- `out`: Receives the number. It is 0 if the driver is absent or if the call fails.\n\nErrors:\n- ENOTSUP if neither the format nor any backend knows the device type.\n- EIO if the driver fails.\n- The general errors.\n\nThread-safety: free. May block while a driver starts."]
    pub fn arrowdevice_device_count(
        device_type: ArrowDeviceType,
        out: *mut i64,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "Lists the devices of all backends, ordered by type, then by id. Loads every backend.\n\nIf a backend fails, the list lacks its devices. arrowdevice\\_backend\\_get\\_report() and the log say\nwhy.\n\n- `out`: Receives as many devices as fit. May be NULL if `capacity` is 0.\n- `capacity`: Length of `out`, in devices.\n- `count`: Receives the number of all devices, even if it is larger than `capacity`.\n\nErrors:\n- EINVAL if `capacity` is negative.\n- The general errors.\n\nThread-safety: free. May block while drivers start."]
    pub fn arrowdevice_device_list(
        out: *mut *mut arrowdevice_device,
        capacity: i64,
        count: *mut i64,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "Describes a device. Calls no driver.\n\n- `device`: The device.\n- `out`: Receives the properties. The caller sets its `struct_size`.\n\nErrors: the general errors.\n\nThread-safety: free. Does not block."]
    pub fn arrowdevice_device_get_info(
        device: *const arrowdevice_device,
        out: *mut arrowdevice_device_info,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "Reports how the device `to` can use memory of the device `from`.\n\n- `from`: Device that has the memory.\n- `to`: Device that uses the memory.\n- `out`: Receives a sum of `ARROWDEVICE_PEER_*`. It is 0 if the library stages data between\n  the devices through the host. For the same device twice, the result is ACCESS and\n  COPY.\n\nErrors:\n- EIO if the driver fails.\n- The general errors.\n\nThread-safety: free."]
    pub fn arrowdevice_device_get_peer_flags(
        from: *const arrowdevice_device,
        to: *const arrowdevice_device,
        out: *mut u32,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "Returns the name of a device type, such as \"opencl\", or NULL if the format has no name for it.\nThe text is static.\n\n- `device_type`: An `ARROW_DEVICE_*` value.\n\nThread-safety: free."]
    pub fn arrowdevice_device_type_get_name(device_type: ArrowDeviceType) -> *const ::core::ffi::c_char;
    #[doc = "Reads how much memory a device has now, as the driver reports it.\n\n- `device`: The device.\n- `free_bytes`: Receives the free bytes, or -1 if the driver does not report them. May be\n  NULL.\n- `total_bytes`: Receives all bytes, or -1 if the driver does not report them. May be NULL.\n\nErrors:\n- EIO if the driver fails.\n- The general errors.\n\nThread-safety: free."]
    pub fn arrowdevice_device_get_memory_info(
        device: *const arrowdevice_device,
        free_bytes: *mut i64,
        total_bytes: *mut i64,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "Reads the counters of a device.\n\n- `device`: The device.\n- `out`: Receives the counters. The caller sets its `struct_size`.\n\nErrors: the general errors.\n\nThread-safety: free. If other threads count meanwhile, the result may lack their latest counts."]
    pub fn arrowdevice_device_get_counters(
        device: *const arrowdevice_device,
        out: *mut arrowdevice_device_counters,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "Wraps an application's own context as a device.\n\nThe same handles give the same device, and the library counts the calls. Each successful call\nneeds one arrowdevice\\_device\\_unwrap().\n\n- `device_type`: An `ARROW_DEVICE_*` value.\n- `device_id`: Id that the device's arrays carry: the vendor's ordinal if there is one.\n  Several devices may share an id.\n- `native`: Handles of the context. The library borrows them until the device is\n  unwrapped.\n- `out`: Receives the device.\n\nErrors:\n- ENOTSUP if the backend cannot wrap contexts, or if neither the format nor any backend knows the\ntype.\n- EINVAL if the backend refuses the handles.\n- ENODEV if there is no driver.\n- EBUSY if another thread is unwrapping the device.\n- EIO if the driver fails.\n- The general errors.\n\nThread-safety: free. May block while a driver starts."]
    pub fn arrowdevice_device_wrap(
        device_type: ArrowDeviceType,
        device_id: i64,
        native: *const arrowdevice_native_device,
        out: *mut *mut arrowdevice_device,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "Undoes one arrowdevice\\_device\\_wrap().\n\nWhen the device has been unwrapped as often as it was wrapped, the call waits for all deferred\nwork of the process. It then destroys the library's own queues of the device, frees the memory\nthat the device's default pool caches, and stops using the handles. Afterwards every call on the\ndevice fails with ENODEV, this one included. If the call fails, the device stays usable, and the\napplication may call again.\n\n- `device`: A wrapped device.\n- `timeout_ns`: Time-out in nanoseconds, as the conventions say.\n\nErrors:\n- EBUSY if an array of the device is alive, or if a pool or queue that the application created on\nit is alive.\n- EBUSY if another thread is unwrapping the device.\n- EBUSY if the call is made from a release callback that runs as deferred work.\n- ETIMEDOUT if work is not complete when the time-out ends.\n- ENOTSUP if the backend cannot wrap contexts.\n- EINVAL if the device is not wrapped.\n- EIO if the driver fails.\n- The general errors.\n\nThread-safety: free. Blocks up to `timeout_ns`."]
    pub fn arrowdevice_device_unwrap(
        device: *mut arrowdevice_device,
        timeout_ns: i64,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "Gets the vendor's handles behind a device. They are borrowed. If the device is wrapped, they\nstay valid until it is unwrapped, otherwise until the process ends.\n\n- `device`: The device.\n- `out`: Receives the handles. The caller sets its `struct_size`.\n\nErrors:\n- ENOTSUP if the backend has no handles to give.\n- The general errors.\n\nThread-safety: free."]
    pub fn arrowdevice_device_get_native(
        device: *const arrowdevice_device,
        out: *mut arrowdevice_native_device,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "Makes a pool the default pool of its device. The device holds a reference until another pool\nreplaces it.\n\n- `device`: The device.\n- `pool`: A pool of the device, or NULL for the library's own pool.\n\nErrors:\n- EINVAL if the pool belongs to another device.\n- The general errors.\n\nThread-safety: free. If other threads are copying meanwhile, they use the pool with which they\nstarted."]
    pub fn arrowdevice_device_set_pool(
        device: *mut arrowdevice_device,
        pool: *mut arrowdevice_pool,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "Gets the default pool of a device.\n\n- `device`: The device.\n- `out`: Receives the pool, which is borrowed and valid while it is the default. The caller\n  must not destroy it.\n\nErrors: the general errors.\n\nThread-safety: free."]
    pub fn arrowdevice_device_get_pool(
        device: *const arrowdevice_device,
        out: *mut *mut arrowdevice_pool,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "Exports an array as a tensor of DLPack 1.0, which consumers of every later 1.x can read.\n\nThe tensor is read-only, compact and row-major, and has strides. The array's offset is in\n`byte_offset`, even if buffers are handles.\n\n- `inout`: The array, which stays valid and becomes a shared owner, as with\n  arrowdevice\\_array\\_share().\n- `schema`: Type of the array. The library reads it only during the call. DLPack has\n  no dtype for some types, such as timestamps. To export them, pass a\n  number type of the same layout, such as int64.\n- `consumer_queue`: Queue that uses the tensor. Work that is queued later waits for the\n  array's event, as with arrowdevice\\_queue\\_wait\\_array(). If it is NULL, the\n  CPU waits.\n- `out`: Receives the tensor. The consumer calls its `deleter` once, from any\n  thread, and the `deleter` never blocks. The `deleter` does not wait for\n  `consumer_queue`: the consumer calls it after its device work on the\n  tensor has finished. If the tensor is the last owner, the `deleter`\n  releases the memory, and the library may reuse it at once.\n\nErrors:\n- EINVAL if the array does not match its schema.\n- ENOTSUP if visible rows have nulls, or if DLPack knows no such device. The message names the\nchild.\n- ENOTSUP if the type is neither a number nor a fixed-size list of numbers. Booleans are not\nsupported, because they are bits in Arrow and bytes in DLPack.\n- All errors of arrowdevice\\_queue\\_wait\\_array().\n\nImplements: \"Memory management\", \"Synchronization\".\n\nThread-safety: per object. The CPU waits if `consumer_queue` is NULL or cannot wait. It also\nwaits to count nulls on a device. These waits have no limit."]
    pub fn arrowdevice_dlpack_export(
        inout: *mut ArrowDeviceArray,
        schema: *const ArrowSchema,
        consumer_queue: *mut arrowdevice_queue,
        out: *mut *mut DLManagedTensorVersioned,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "Imports a tensor of DLPack 1 as an array.\n\nRank 1 gives an array of numbers, and rank 0 gives an array of one row. Higher ranks give\nfixed-size lists, whose child is named \"item\". Fields are nullable and have no nulls.\n\n- `moved`: The tensor. When the last owner of the array is released, the library\n  calls the tensor's `deleter`, on that thread or as deferred work. The\n  `deleter` may be NULL. On failure the tensor is untouched, even if it has\n  another major version. The application must not write to its memory while\n  the array lives.\n- `producer_queue`: Queue that has the producer's work. The array's event fires after the work\n  so far. If arrays of the device carry no events, the call waits. NULL\n  means that the data is ready.\n- `out`: Receives the array.\n- `out_schema`: Receives the type of the array. May be NULL if the caller knows the type.\n\nErrors:\n- EINVAL if the number of dimensions, an extent or the device id is negative.\n- EINVAL if the shape or the data is missing, or if sizes overflow.\n- ENOTSUP if the tensor has another major version, or a device type or dtype that Arrow does not\nname. Booleans are not supported.\n- ENOTSUP if the strides are not compact and row-major, or if there are more than 64 dimensions.\n- ENOTSUP if an extent after the first dimension is above 2^31 - 1. The message names the\ndimension.\n- ENOTSUP if buffers are handles and `byte_offset` is not a multiple of an element.\n- ENODEV if a queue is given and the device is not present.\n- EIO if the queue failed.\n- The general errors.\n\nImplements: \"The ArrowDeviceArray structure\", \"Synchronization\".\n\nThread-safety: per object. Blocks only if it waits for the queue's work."]
    pub fn arrowdevice_dlpack_import(
        moved: *mut DLManagedTensorVersioned,
        producer_queue: *mut arrowdevice_queue,
        out: *mut ArrowDeviceArray,
        out_schema: *mut ArrowSchema,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "Makes a handle of an array. The handle holds a reference to the array's memory.\n\nIf the memory is shareable, the handle refers to it. Otherwise the library copies the array into\nshareable memory of the same device, and the handle refers to the copy. `copied_bytes` is the size\nof the copy. The log at level \"debug\" has the reason.\n\n- `inout`: The array, which stays valid. If it is not copied, it becomes a shared owner, as\n  with arrowdevice\\_array\\_share().\n- `schema`: Type of the array. The handle has it too.\n- `options`: Options, or NULL for the defaults.\n  - ARROWDEVICE\\_COPY\\_NEVER: the call fails with ENOTSUP if a copy is necessary.\n  - ARROWDEVICE\\_COPY\\_ALWAYS: the array is copied. If `pool` serves only this handle,\n  the receiving process cannot see other arrays.\n  - ARROWDEVICE\\_COPY\\_ASYNC has no effect. The data is ready when the call returns.\n  - `pool`: a shareable pool of the array's device for a copy. With NULL, it is the\n  device's default pool if that is shareable, else a pool of the library.\n  - `queue` and ARROWDEVICE\\_COPY\\_NO\\_TRIM have an effect on a copy only, as for\n  arrowdevice\\_array\\_copy().\n  - `source_device` and `timeout_ns` are as for arrowdevice\\_array\\_copy().\n- `out`: Receives the handle.\n\nErrors:\n- EINVAL if the array does not match its schema, or if the pool is not shareable.\n- ENOTSUP if the device has no shareable memory, or if the schema has something that Arrow's IPC\nformat cannot express, such as a dictionary of dictionaries.\n- ENOTSUP if ARROWDEVICE\\_COPY\\_NEVER is set and a copy is necessary. The message has the reason.\n- EMFILE or ENFILE if there are no more descriptors.\n- ENOSPC if the user's limit of descriptors in epoll sets is reached.\n- All errors of arrowdevice\\_array\\_copy().\n\nThread-safety: per object. Blocks until the array is ready and the copy is complete, or until the\ntime-out ends."]
    pub fn arrowdevice_array_get_ipc_handle(
        inout: *mut ArrowDeviceArray,
        schema: *const ArrowSchema,
        options: *const arrowdevice_copy_options,
        out: *mut arrowdevice_ipc_handle,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "Releases a handle. Descriptors that were sent stay open in other processes.\n\n- `handle`: The handle. If it is NULL or released, the call has no effect.\n\nThread-safety: per object. Any thread may call it. Does not block."]
    pub fn arrowdevice_ipc_handle_release(handle: *mut arrowdevice_ipc_handle);
    #[doc = "Opens a handle of another process, or of this one. A handle may be opened several times.\n\nThe library checks every number of the handle against the sizes that the kernel or the driver\nreports. It checks the last offsets of texts and binaries too. On devices whose buffers have no\naddresses, such as OpenCL, it also checks the sizes of variadic buffers. It reads no other data.\narrowdevice\\_array\\_validate() checks the rest.\n\nThe array must not be written. Memory of the CPU is mapped for reading only, so a write ends the\nprocess.\n\n- `bytes`: The handle's bytes.\n- `size`: Number of bytes.\n- `descriptors`: The handle's descriptors in their order, with the numbers that they have in\n  this process. The library duplicates what it keeps. The caller closes them,\n  whether the call succeeds or not.\n- `n_descriptors`: Number of descriptors.\n- `options`: Options, or NULL for the defaults.\n  - ARROWDEVICE\\_COPY\\_ALWAYS: the call first copies the bytes of all buffers, as\n  they are, to memory that no other process can open. It checks the copy. The\n  memory of the owner process is not used any more when the call returns.\n  - The other flags have no effect.\n  - `pool`: a pool of the array's device for the copy. With NULL, the library\n  chooses a pool that is not shareable.\n  - `source_device`: the device of the array. With NULL, the device is found by\n  its UUID, or by its id if it has no UUID. A wrapped device is never found.\n  - `timeout_ns` limits the waits for a device.\n  - `queue` is NULL.\n- `out`: Receives the array, which is ready. When it is released, the owner process may\n  reuse the memory, unless other duplicates exist.\n- `out_schema`: Receives the type of the array. The caller releases it.\n\nErrors:\n- EINVAL if the bytes or the descriptors are not those of a handle, or if the owner process\ncould make the memory smaller.\n- EINVAL if `queue` is not NULL, or if the pool or `source_device` does not fit the array's device.\n- ENOTSUP if the handle is of a version that the library does not read.\n- ENODEV if this process does not see the array's device. The message has its UUID or its id.\n- ETIMEDOUT if a wait exceeds `timeout_ns`. Nothing is opened.\n- EMFILE or ENFILE if there are no more descriptors.\n- ENOMEM if the memory cannot be mapped, or if there is no memory for a copy.\n- EIO if the driver fails.\n- The general errors.\n\nThread-safety: free. If the CPU cannot read the device, the call waits until sizes are read back and\na copy is complete, or until the time-out ends."]
    pub fn arrowdevice_array_open_ipc_handle(
        bytes: *const u8,
        size: i64,
        descriptors: *const ::core::ffi::c_int,
        n_descriptors: i64,
        options: *const arrowdevice_copy_options,
        out: *mut ArrowDeviceArray,
        out_schema: *mut ArrowSchema,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "Makes a server, which accepts clients from now on.\n\n- `uri`: Address, without a name.\n- `options`: Options, or NULL for the defaults.\n- `out`: Receives the server. The caller destroys it.\n\nErrors:\n- EINVAL if the address or an option is not valid.\n- ENOTSUP for an address of another form.\n- EADDRINUSE if a server has the address. EEXIST if the path is a file that is no socket.\n- The errors of `socket`, `bind` and `open`.\n- The general errors.\n\nThread-safety: free. Does not block."]
    pub fn arrowdevice_server_create(
        uri: *const ::core::ffi::c_char,
        options: *const arrowdevice_server_options,
        out: *mut *mut arrowdevice_server,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "Offers a stream, which the first client gets. Every later client gets EBUSY.\n\n- `moved`: The stream. On success the server owns it. A thread of the server uses it.\n\nErrors:\n- EINVAL if the name is empty or the stream is released. EEXIST if the server has a stream of that name.\n- The general errors.\n\nThread-safety: free. Does not block."]
    pub fn arrowdevice_server_add_stream(
        server: *mut arrowdevice_server,
        name: *const ::core::ffi::c_char,
        moved: *mut ArrowDeviceArrayStream,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "Offers arrays as a stream, which every client gets from its beginning.\n\nArrays that are not in shareable memory are copied once, by this call.\n\n- `schema`: Type of the arrays.\n- `inout`: `n` arrays of one device type, which stay valid. They become shared owners, as with\n  arrowdevice\\_array\\_share().\n- `n`: Number of arrays. It may be 0.\n\nErrors:\n- EINVAL if the name is empty, `n` is negative, or an array does not fit. EEXIST if the server has\na stream of that name.\n- ENOTSUP if the arrays cannot be shared: the device has no shareable memory, a copy is necessary\nand ruled out, or the schema has something that Arrow's IPC format cannot express.\n- All errors of arrowdevice\\_array\\_copy().\n\nThread-safety: per object. Blocks until the copies are complete."]
    pub fn arrowdevice_server_add_arrays(
        server: *mut arrowdevice_server,
        name: *const ::core::ffi::c_char,
        schema: *const ArrowSchema,
        inout: *mut ArrowDeviceArray,
        n: i64,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "Offers a source, which opens a stream for each client.\n\n- `open`: Opens a stream. Several threads may call it at once.\n- `user`: Argument of `open`.\n- `user_release`: Releases `user` after the last call, or NULL. It is called by\n  arrowdevice\\_server\\_remove(), arrowdevice\\_server\\_destroy() or a thread of the server.\n  After a failure of this function it is not called.\n\nErrors: as arrowdevice\\_server\\_add\\_stream().\n\nThread-safety: free. Does not block."]
    pub fn arrowdevice_server_add_source(
        server: *mut arrowdevice_server,
        name: *const ::core::ffi::c_char,
        open: arrowdevice_open_stream,
        user: *mut ::core::ffi::c_void,
        user_release: ::core::option::Option<unsafe extern "C" fn(user: *mut ::core::ffi::c_void)>,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "Removes a stream, arrays or a source. Clients that have it already keep it.\n\nErrors: ENOENT if the server has nothing of that name, and the general errors.\n\nThread-safety: free. Does not block."]
    pub fn arrowdevice_server_remove(
        server: *mut arrowdevice_server,
        name: *const ::core::ffi::c_char,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "Gets the numbers of a server.\n\nErrors: the general errors.\n\nThread-safety: free. Does not block."]
    pub fn arrowdevice_server_get_stats(
        server: *const arrowdevice_server,
        out: *mut arrowdevice_server_stats,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "Destroys a server. A client first gets the batches that were sent. Then its stream fails with\nECANCELED, or with ECONNRESET if the socket had no room for that error. Batches that clients have stay\nvalid, and the arrays of the server stay in use until the clients release them.\n\n- `server`: The server. If it is NULL, the call has no effect.\n\nIn a forked child the call has no effect on the server, which is the parent's.\n\nThread-safety: per object. Waits for calls of the program's streams and sources that are running. Streams\nof the library are cancelled first."]
    pub fn arrowdevice_server_destroy(server: *mut arrowdevice_server);
    #[doc = "Connects to a server and gets one of its streams. For an async stream, the result is an input of\narrowdevice\\_async\\_produce().\n\n- `uri`: Address, perhaps with a name.\n- `to`: Device of the batches. With NULL they are on the device where the server has them. If\n  this process has no device of that type, the server copies them to the CPU.\n  - The CPU: the server copies batches of other devices to the CPU.\n  - Another device: the batches are put there, as by arrowdevice\\_stream\\_to\\_device().\n  If this process has devices of that type, but not the one of a batch, `get_next` fails\n  with ENODEV.\n- `options`: Options, or NULL for the defaults.\n- `out`: Receives the stream. Its batches are ready. Memory of the CPU is mapped for reading\n  only. An error of `get_next` is final:\n  - the error of the server's stream, with its text\n  - ECANCELED if the server was destroyed, or the stream was cancelled\n  - ECONNRESET if the server's process has ended, or was destroyed and the socket had\n  no room for that error\n  - ETIMEDOUT if no batch comes within the time-out\n  - ENOTSUP if a copy is necessary and ruled out\n  - ENODEV if this process does not see the device of a batch, or is a forked child\n  - EINVAL if a message of the server is not valid\n  - EMFILE or ENOMEM if this process has no room for the memory\n  - ENOMEM if the server has no memory for a copy\n\nErrors:\n- EINVAL if the address or an option is not valid. ENOTSUP for an address of another form.\n- ECONNREFUSED or ENOENT if there is no server at the address.\n- ENOENT if the server has no stream of that name. The message has the names. EBUSY if another\nclient has the stream, or if the server has too many clients.\n- EACCES if the server is of another user, or refuses this one.\n- ENODEV or ENOTSUP if a copy is necessary and ruled out.\n- ECONNRESET if the server ends meanwhile. ETIMEDOUT if the time-out ends.\n- The errors of the server's stream, and the general errors.\n\nThread-safety: free. Blocks until the server has opened its stream."]
    pub fn arrowdevice_stream_connect(
        uri: *const ::core::ffi::c_char,
        to: *mut arrowdevice_device,
        options: *const arrowdevice_connect_options,
        out: *mut ArrowDeviceArrayStream,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "Creates an in-order queue of the library on a device.\n\n- `device`: The device.\n- `out`: Receives the queue. The caller destroys it with arrowdevice\\_queue\\_destroy().\n\nErrors:\n- EIO if the driver fails.\n- The general errors, including ENOMEM if the driver has no memory for a queue.\n\nThread-safety: free."]
    pub fn arrowdevice_queue_create(
        device: *mut arrowdevice_device,
        out: *mut *mut arrowdevice_queue,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "Wraps an application's own queue.\n\nThe library borrows the native queue. The application keeps it alive until\narrowdevice\\_queue\\_destroy() has returned. Afterwards the library does not use it.\n\n- `device`: Device of the native queue.\n- `native`: Handle of the queue. The library reads the struct only during the call.\n- `out`: Receives the queue. The caller destroys it with arrowdevice\\_queue\\_destroy().\n\nErrors:\n- ENOTSUP if the backend cannot wrap queues.\n- EINVAL if the backend refuses the queue, because it is out of order or belongs to another\ncontext.\n- EIO if the driver fails.\n- The general errors.\n\nThread-safety: free."]
    pub fn arrowdevice_queue_wrap(
        device: *mut arrowdevice_device,
        native: *const arrowdevice_native_queue,
        out: *mut *mut arrowdevice_queue,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "Gets the vendor's handle behind a queue. It is borrowed until the queue is destroyed.\n\n- `queue`: The queue.\n- `out`: Receives the handle. The caller sets its `struct_size`.\n\nErrors:\n- ENOTSUP if the backend has no handle to give.\n- The general errors.\n\nThread-safety: per object."]
    pub fn arrowdevice_queue_get_native(
        queue: *const arrowdevice_queue,
        out: *mut arrowdevice_native_queue,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "Enqueues copies of bytes. They run after the queue's work so far. Regions of one call may run in\nany order.\n\nIf the call fails, some of the regions may have been copied, or may still be in progress. Their\nmemory must stay valid until arrowdevice\\_queue\\_finish() has succeeded.\n\n- `queue`: The queue.\n- `regions`: `n` regions. The library reads the structs only during the call. The memory that\n  they name must stay valid until the copies are complete.\n- `n`: Number of regions.\n\nErrors:\n- EINVAL if `n`, a size or an offset is negative, or if an address or handle is NULL.\n- EINVAL if a device is not the CPU's and belongs to another backend than the queue.\n- EIO if the driver fails.\n- The general errors.\n\nThread-safety: per object. Returns before the copies are complete, unless the queue belongs to\nthe CPU.\n\nOn a device with ARROWDEVICE\\_DEVICE\\_COPY\\_BLOCKS, pageable host memory, such as that of `malloc`,\nmay make the call wait. If it is the source or destination of a region, the call may wait for the\nqueue's work so far. If it is the destination, the call may also wait for the copy. Memory of the\ndevice's `staging_type` avoids these waits. If both ends of a region are host memory of any type,\nthe call may wait for the queue's work so far and for the copy."]
    pub fn arrowdevice_queue_copy(
        queue: *mut arrowdevice_queue,
        regions: *const arrowdevice_copy_region,
        n: i64,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "Makes a queue wait for an array's event, so that work that is queued later runs after it.\n\nIf the queue's device cannot wait for such an event, the CPU waits during the call.\n\n- `queue`: The queue that waits.\n- `array`: The array.\n- `source_device`: Device of the array, or NULL to find it from the array.\n\nErrors:\n- EINVAL if the array's `sync_event` is not NULL, although the format defines no events for its\ndevice type.\n- ENOTSUP if the backend of the array's device cannot import events.\n- ENODEV if the array's device is not present.\n- EIO if the producer's work failed, or if the driver fails.\n- The general errors.\n\nImplements: \"Synchronization\".\n\nThread-safety: free on a `const` array, per object on the queue. If the CPU waits, it waits\nwithout limit."]
    pub fn arrowdevice_queue_wait_array(
        queue: *mut arrowdevice_queue,
        array: *const ArrowDeviceArray,
        source_device: *mut arrowdevice_device,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "Waits until all work that was given to this queue so far has finished. After ETIMEDOUT the\napplication may call again.\n\nA wrapped queue may have other work, from the application or from another wrap. The call may wait\nfor that work too, but the application must not rely on this.\n\n- `queue`: The queue.\n- `timeout_ns`: Time-out in nanoseconds, as the conventions say.\n\nErrors:\n- ETIMEDOUT if the work is not complete when the time-out ends.\n- EIO if some of the work failed.\n- The general errors.\n\nThread-safety: per object. Blocks up to `timeout_ns`."]
    pub fn arrowdevice_queue_finish(
        queue: *mut arrowdevice_queue,
        timeout_ns: i64,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "Destroys a queue. Work in flight still completes, and its events still fire.\n\nThe application may destroy a wrapped native queue as soon as this function returns. The library\nno longer uses it, neither for arrays that were copied on it, nor for deferred releases, nor for\npools.\n\nIf an Arrow stream (stream.h, async.h) uses a wrapped queue, that stream continues on a queue of\nthe library, after all work so far. If the driver cannot tell when that work ends, the Arrow\nstream fails with the driver's error. A queue of arrowdevice\\_queue\\_create() stays in use until\nthe Arrow stream is released.\n\n- `queue`: The queue, or NULL.\n\nThread-safety: per object. The application may call it while an Arrow stream uses the queue. It\nreturns at once, with one exception: if the queue is wrapped, and an Arrow stream is calling the\ndriver or an allocator with it at that moment, the function waits for that call."]
    pub fn arrowdevice_queue_destroy(queue: *mut arrowdevice_queue);
    #[doc = "Makes a stream of `n` arrays of one schema, in their order.\n\nOn success the stream owns the schema and all arrays. On failure they all still belong to the\ncaller.\n\n- `moved`: Type of the arrays.\n- `moved_arrays`: `n` arrays. On success the library sets `release` of each to NULL. The C\n  array itself still belongs to the caller.\n- `n`: Number of arrays. It may be 0.\n- `device_type`: Device type of all arrays.\n- `out`: Receives the stream.\n\nErrors:\n- EINVAL if `n` is negative, `device_type` is not positive, or an array does not match the schema\nor is not on `device_type`. The message names the array.\n- EINVAL if an array has an event, but arrays of its device type have no events, as on the CPU.\n- ENOTSUP if a format is unknown.\n- The general errors.\n\nImplements: \"The ArrowDeviceArrayStream structure\".\n\nThread-safety: per object. Does not block."]
    pub fn arrowdevice_stream_from_arrays(
        moved: *mut ArrowSchema,
        moved_arrays: *mut ArrowDeviceArray,
        n: i64,
        device_type: ArrowDeviceType,
        out: *mut ArrowDeviceArrayStream,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "Makes a device stream on the CPU from a C stream. Until the end or an error, each call that the\nconsumer makes leads to one call to the producer.\n\n- `moved`: The C stream.\n- `out`: Receives the device stream.\n\nErrors:\n- The general errors.\n- Later, from the stream: the producer's error, with its text.\n\nImplements: \"The ArrowDeviceArrayStream structure\".\n\nThread-safety: per object. Does not block."]
    pub fn arrowdevice_stream_from_host(
        moved: *mut ArrowArrayStream,
        out: *mut ArrowDeviceArrayStream,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "Makes a C stream of the batches of a device stream. Puts each batch on the CPU, as\narrowdevice\\_array\\_to\\_host() does.\n\nEach batch is complete when the stream gives it out. The stream starts a thread for the copies,\neven without ARROWDEVICE\\_STREAM\\_READ\\_AHEAD.\n\n- `moved`: The device stream.\n- `options`: Options, or NULL for the defaults.\n- `out`: Receives the C stream.\n\nErrors: as arrowdevice\\_stream\\_to\\_device(), with the CPU as the target.\n\nThread-safety: per object. Does not block."]
    pub fn arrowdevice_stream_to_host(
        moved: *mut ArrowDeviceArrayStream,
        options: *const arrowdevice_stream_options,
        out: *mut ArrowArrayStream,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "Makes a stream that puts each batch on a device, as arrowdevice\\_array\\_to\\_device() does.\n\n- A batch that the device can use at full speed is shared, the others are copied. The event of a\nbatch may still be pending when the consumer gets the batch.\n- The stream holds at most `depth` batches. It does not call the producer before the consumer's\nfirst call.\n- Staged copies, large copies of pageable memory, and copies to devices without events run on a\nthread of the stream.\n- Releasing the stream returns at once. Work in flight completes as deferred work. If a thread of\nthe stream is inside the producer, that thread releases the producer when the producer returns.\n\n- `moved`: The stream.\n- `to`: Target device.\n- `options`: Options, or NULL for the defaults.\n- `out`: Receives the stream of batches on `to`.\n\nErrors:\n- EINVAL if the options have unknown flags or a negative `depth`, or if the pool belongs to\nanother device than `to`.\n- EINVAL if the queue cannot serve batches of the stream's device type or of `source_device`.\n- The general errors.\n- Later, from the stream: the producer's error with its text. The consumer first gets the batches\nthat precede the error.\n- Later, from the stream: EINVAL if a batch is in memory that devices of the stream's type cannot\nuse. A stream on CUDA may also have batches in CUDA\\_HOST memory, which those devices can use.\n- Later, from the stream: all errors of arrowdevice\\_array\\_to\\_device().\n\nImplements: \"Device Stream Interface\".\n\nThread-safety: per object. Does not block."]
    pub fn arrowdevice_stream_to_device(
        moved: *mut ArrowDeviceArrayStream,
        to: *mut arrowdevice_device,
        options: *const arrowdevice_stream_options,
        out: *mut ArrowDeviceArrayStream,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "Gets the schema of a device stream. The caller releases it.\n\nIf the library made the stream, `error` has all facts of the failure, such as `backend` and\n`native_code`. If the error passed through an async handler or a foreign stream, `error` has only\nits code and text.\n\n- `stream`: The stream.\n- `out`: Receives the schema.\n\nErrors:\n- ECANCELED if the stream was cancelled before its schema arrived.\n- The producer's error, with its text.\n- The general errors.\n\nImplements: \"ArrowDeviceArrayStream.get\\_schema\".\n\nThread-safety: per object. Blocks as the producer does."]
    pub fn arrowdevice_stream_get_schema(
        stream: *mut ArrowDeviceArrayStream,
        out: *mut ArrowSchema,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "Gets the next array of a device stream. The caller releases it. A released array marks the end.\n\n`error` is filled as arrowdevice\\_stream\\_get\\_schema() says. If the library made the stream,\nevery error is final, as the rules above say.\n\n- `stream`: The stream.\n- `out`: Receives the array.\n\nErrors:\n- ECANCELED if the stream was cancelled.\n- ETIMEDOUT if a wait exceeds the stream's `timeout_ns`.\n- The errors under \"Later, from the stream\" of the function that made the stream.\n- The producer's error, with its text.\n- The general errors.\n\nImplements: \"ArrowDeviceArrayStream.get\\_next\", \"get\\_last\\_error\".\n\nThread-safety: per object. Blocks as the producer does."]
    pub fn arrowdevice_stream_get_next(
        stream: *mut ArrowDeviceArrayStream,
        out: *mut ArrowDeviceArray,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "Gets metadata of a stream that this library made. Metadata is encoded like ArrowSchema.metadata.\n\nStreams of arrowdevice\\_async\\_collect() have the metadata that the async producer gave.\narrowdevice\\_stream\\_to\\_device() passes it on. Other streams have none.\n\n- `stream`: The stream.\n- `kind`: ARROWDEVICE\\_METADATA\\_STREAM or ARROWDEVICE\\_METADATA\\_ITEM. For the metadata of the\n  stream, the call waits for the schema.\n- `out`: Receives the metadata, or NULL if there is none. The stream owns it. Metadata of\n  an item is valid until the next `get_next`, metadata of the stream until the\n  stream's release.\n\nErrors:\n- EINVAL if `kind` is unknown.\n- EINVAL if the stream is released or belongs to another library.\n- The errors of arrowdevice\\_stream\\_get\\_schema(), for ARROWDEVICE\\_METADATA\\_STREAM.\n- The general errors.\n\nImplements: \"Async Device Stream Interface\", the metadata of its structs and callbacks.\n\nThread-safety: per object. Blocks as arrowdevice\\_stream\\_get\\_schema() does, for\nARROWDEVICE\\_METADATA\\_STREAM."]
    pub fn arrowdevice_stream_get_metadata(
        stream: *mut ArrowDeviceArrayStream,
        kind: i32,
        out: *mut *const ::core::ffi::c_char,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "Cancels a stream that this library made. The stream still has to be released, but not while this\ncall runs.\n\nFrom then on `get_next` fails with ECANCELED. A `get_next` that waits for a thread of the stream\nwakes up. A `get_next` that is inside a foreign producer fails when the producer returns.\n\n- `stream`: The stream.\n\nErrors:\n- EINVAL if the stream is released or belongs to another library.\n- The general errors.\n\nThread-safety: free, even if another thread is in `get_next`. Does not block."]
    pub fn arrowdevice_stream_cancel(
        stream: *mut ArrowDeviceArrayStream,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "Releases a device stream.\n\n- `stream`: The stream. If it is NULL or released, the call has no effect.\n\nThread-safety: per object. If the library made the stream, the call returns at once."]
    pub fn arrowdevice_stream_release(stream: *mut ArrowDeviceArrayStream);
    #[doc = "Imports a foreign array: checks it against its schema and makes a view of its typed buffers.\nCopies no data.\n\n- `moved`: The array. The view owns it until the view is detached or released.\n- `schema`: Type of the array.\n- `options`: Options, or NULL: the call checks the structure, and no queue waits.\n- `out`: Receives the view. The caller ends it with arrowdevice\\_view\\_detach(),\n  arrowdevice\\_view\\_release() or arrowdevice\\_view\\_release\\_after().\n\nErrors:\n- EINVAL if the array does not match its schema. The message names the child, such as\n\"batch.prices.item: ...\".\n- EINVAL if the options have unknown flags or an unknown level.\n- ENOTSUP if a format is unknown, or if the backend cannot import the array's event.\n- ENODEV if the array's device is not present.\n- ETIMEDOUT if a wait exceeds `timeout_ns`.\n- EIO if the producer's work failed, or if the driver fails.\n- The general errors.\n\nImplements: \"Memory management\", \"Synchronization\"; the layouts of the columnar format.\n\nThread-safety: per object. Blocks in three cases: with ARROWDEVICE\\_IMPORT\\_RESOLVE\\_SIZES; if the\nqueue's device cannot wait for the event; and if `validate` is above\nARROWDEVICE\\_VALIDATE\\_STRUCTURE."]
    pub fn arrowdevice_array_import(
        moved: *mut ArrowDeviceArray,
        schema: *const ArrowSchema,
        options: *const arrowdevice_import_options,
        out: *mut *mut arrowdevice_view,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "Returns the root of the view's tree of nodes. It is valid until the view ends.\n\n- `view`: The view. If it is NULL, the result is NULL.\n\nThread-safety: free."]
    pub fn arrowdevice_view_get_root(view: *const arrowdevice_view) -> *const arrowdevice_node;
    #[doc = "Returns the array that the view owns. It is valid until the view ends.\n\n- `view`: The view. If it is NULL, the result is NULL.\n\nThread-safety: free."]
    pub fn arrowdevice_view_get_array(view: *const arrowdevice_view) -> *const ArrowDeviceArray;
    #[doc = "Returns the device of the view's array.\n\n- `view`: The view. If it is NULL, the result is NULL.\n\nThread-safety: free."]
    pub fn arrowdevice_view_get_device(view: *const arrowdevice_view) -> *mut arrowdevice_device;
    #[doc = "Makes a device array that is a shared owner of the view's memory. Copies no data.\n\n- `view`: The view, which stays valid.\n- `out`: Receives the array.\n\nErrors:\n- EINVAL if a child of the array is NULL, released or its own ancestor.\n- The general errors.\n\nImplements: \"Memory management\".\n\nThread-safety: free. Does not block."]
    pub fn arrowdevice_view_share(
        view: *const arrowdevice_view,
        out: *mut ArrowDeviceArray,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "Ends a view and moves its array to `out`. If `out` is NULL, the call has no effect.\n\n- `view`: The view, or NULL.\n- `out`: Receives the array as it was imported.\n\nThread-safety: per object. Does not block."]
    pub fn arrowdevice_view_detach(view: *mut arrowdevice_view, out: *mut ArrowDeviceArray);
    #[doc = "Ends a view and releases its array. The caller promises that its own device work on the array has\nfinished.\n\n- `view`: The view, or NULL.\n\nImplements: \"Memory management\".\n\nThread-safety: per object. Never waits for device work of the library."]
    pub fn arrowdevice_view_release(view: *mut arrowdevice_view);
    #[doc = "Ends a view and releases its array when the queue's work so far has finished.\n\nThe release runs as arrowdevice\\_array\\_release\\_after() says. If the call fails, the view stays as\nit was, and the caller must end it later.\n\n- `moved`: The view, which ends on success.\n- `queue`: Queue that has the caller's work on the array.\n\nErrors:\n- EIO if the queue failed, or if the driver fails.\n- The general errors.\n\nImplements: \"Memory management\".\n\nThread-safety: per object. Returns at once."]
    pub fn arrowdevice_view_release_after(
        moved: *mut arrowdevice_view,
        queue: *mut arrowdevice_queue,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
}

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
pub const ARROWDEVICE_DEVICE_ADDRESSES: u64 = 1;
pub const ARROWDEVICE_DEVICE_HOST_READABLE: u64 = 2;
pub const ARROWDEVICE_DEVICE_EVENTS: u64 = 4;
pub const ARROWDEVICE_DEVICE_WAIT_BLOCKS: u64 = 8;
pub const ARROWDEVICE_DEVICE_WRAPPED: u64 = 16;
pub const ARROWDEVICE_PEER_ACCESS: u32 = 1;
pub const ARROWDEVICE_PEER_COPY: u32 = 2;
pub const ARROWDEVICE_COPY_ASYNC: u32 = 1;
pub const ARROWDEVICE_COPY_ALWAYS: u32 = 2;
pub const ARROWDEVICE_COPY_NEVER: u32 = 4;
pub const ARROWDEVICE_COPY_NO_TRIM: u32 = 8;
pub const ARROWDEVICE_IMPORT_RESOLVE_SIZES: u32 = 1;
pub const ARROWDEVICE_STREAM_READ_AHEAD: u32 = 1;
pub const ARROWDEVICE_VALIDATE_STRUCTURE: i32 = 0;
pub const ARROWDEVICE_VALIDATE_FULL: i32 = 1;
pub const ARROWDEVICE_VALIDATE_STRICT: i32 = 2;
pub const ARROWDEVICE_ASYNC_LAYOUT_UNKNOWN: i32 = 0;
pub const ARROWDEVICE_ASYNC_LAYOUT_40_BYTES: i32 = 1;
pub const ARROWDEVICE_ASYNC_LAYOUT_48_BYTES: i32 = 2;
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
#[doc = "What went wrong: 512 bytes, owned by the caller, nothing to free. Text is UTF-8 and always terminated."]
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
#[doc = "A device is a vendor's context with a published `(ArrowDeviceType, device_id)` pair. What a vendor calls a memory\nkind is a device here: `CUDA_HOST` 0 is the pinned memory of GPU 0. Pointers to devices stay valid as long as the\nprocess; there is nothing to free.\n\nNothing of a driver is touched before the first call that names a device of its type."]
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
    pub reserved: i32,
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
    ["Offset of field: arrowdevice_device_info::reserved"]
        [::core::mem::offset_of!(arrowdevice_device_info, reserved) - 276usize];
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
#[doc = "What the library has asked of a device since the process began: calls of the driver, not hits of a pool."]
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
#[doc = "An application's own context of a device, or the handles behind a device of the library. Each backend documents which\nfield means what; fields without a meaning are zero."]
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
#[doc = "One place where a backend was looked for, and what came of it."]
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
#[doc = "A vendor's queue: `CUstream`, `hipStream_t`, `cl_command_queue`, a Vulkan queue, an immediate Level Zero list."]
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
#[doc = "How a pool gets, keeps and bounds its memory."]
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct arrowdevice_pool_options {
    pub struct_size: u32,
    pub flags: u32,
    pub max_cached_bytes: i64,
    pub max_bytes: i64,
    #[doc = "The application's own allocator; NULL: the driver's. Returns 0 or an errno value; from any thread. `native_queue`\nis not NULL when the memory may be stream-ordered on that queue."]
    pub allocate: ::core::option::Option<
        unsafe extern "C" fn(
            user: *mut ::core::ffi::c_void,
            size: i64,
            alignment: i64,
            native_queue: *mut ::core::ffi::c_void,
            out: *mut *mut ::core::ffi::c_void,
        ) -> ::core::ffi::c_int,
    >,
    #[doc = "Gives back what `allocate` gave: from any thread, no lock held, never after `exit` has begun."]
    pub deallocate: ::core::option::Option<
        unsafe extern "C" fn(
            user: *mut ::core::ffi::c_void,
            buffer: *mut ::core::ffi::c_void,
            size: i64,
            native_queue: *mut ::core::ffi::c_void,
        ),
    >,
    #[doc = "Called once, after the last deallocate, from any thread; never after `exit` has begun, in a child by `fork` of the\nprocess that made the pool, nor for a pool that arrowdevice\\_pool\\_create() refused. May be NULL."]
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
#[doc = "A pool's figures, in bytes and counts."]
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
#[doc = "One piece of a copy of bytes. Frozen. A NULL device is host memory; both ends are of one backend, or host memory."]
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
#[doc = "How arrays are copied and moved between devices."]
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct arrowdevice_copy_options {
    pub struct_size: u32,
    #[doc = "ARROWDEVICE\\_COPY\\_ASYNC: return while the copy runs; the result's `sync_event` says when it is done (staged copies,\nand large ones of pageable memory, occupy the caller until their last piece is submitted; targets without events\nare waited for).\nARROWDEVICE\\_COPY\\_ALWAYS (move\\_to, to\\_host): copy even where sharing would do.\nARROWDEVICE\\_COPY\\_NEVER: ENOTSUP where sharing will not do.\nARROWDEVICE\\_COPY\\_NO\\_TRIM: do not trim to the slice."]
    pub flags: u32,
    #[doc = "Of the backend that copies: the target's, or the source's where the target is host memory (the CPU, and what it\nreads in place by address, as CUDA\\_HOST) and the source is not. Where both are, the CPU copies, and it is of\neither backend or the CPU's. NULL: the library's own. The copy comes after the queue's work so far; where the CPU\ndoes the copying, it waits for that work. Any other queue is EINVAL, also where the array is shared and nothing is\ncopied. Not needed any more when the call returns, also with ARROWDEVICE\\_COPY\\_ASYNC."]
    pub queue: *mut arrowdevice_queue,
    #[doc = "Of the target, else EINVAL; NULL: its default. The copy keeps it."]
    pub pool: *mut arrowdevice_pool,
    #[doc = "Overrides what `(device_type, device_id)` of the source would find. One that was adopted is not retired before the\nsource may go: see arrowdevice\\_array\\_copy() and arrowdevice\\_array\\_to\\_device()."]
    pub source_device: *mut arrowdevice_device,
    #[doc = "Bounds every wait of the CPU before submission: ETIMEDOUT."]
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
#[doc = "How a foreign array is taken over."]
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct arrowdevice_import_options {
    pub struct_size: u32,
    pub flags: u32,
    #[doc = "This queue waits for the array's event. NULL: nobody waits; call arrowdevice\\_array\\_wait() or \\_wait\\_on()."]
    pub queue: *mut arrowdevice_queue,
    #[doc = "Overrides what `(device_type, device_id)` would find."]
    pub source_device: *mut arrowdevice_device,
    pub validate: i32,
    pub reserved: i32,
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
#[doc = "One buffer of an imported array. Frozen."]
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
#[doc = "One node of an imported array: its type and its typed buffers. Frozen. Owned by the view, texts included."]
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
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct arrowdevice_stream_options {
    pub struct_size: u32,
    #[doc = "ARROWDEVICE\\_STREAM\\_READ\\_AHEAD: a thread of the stream calls the producer, started with the first call of the\nconsumer. Without it, only the consumer's own thread does, within its calls."]
    pub flags: u32,
    #[doc = "Batches that are asked of the producer before the oldest of them is handed out; 0: 2. That one is used while the\nothers are on their way."]
    pub depth: i32,
    #[doc = "As in arrowdevice\\_copy\\_options. ARROWDEVICE\\_COPY\\_ASYNC makes no difference: it is always so."]
    pub copy_flags: u32,
    #[doc = "As in arrowdevice\\_copy\\_options. The stream's own until it is released: the program may destroy it (see\narrowdevice\\_queue\\_destroy()) and do nothing else with it. NULL: the library's own."]
    pub queue: *mut arrowdevice_queue,
    #[doc = "Of the target. Held until the stream is released. NULL: the target's default."]
    pub pool: *mut arrowdevice_pool,
    #[doc = "Overrides what (device\\_type, device\\_id) of the batches would find. If it was adopted, the stream does not keep it\nfrom being retired: batches after that are ENODEV."]
    pub source_device: *mut arrowdevice_device,
    #[doc = "Nanoseconds; bounds every CPU wait before a submission."]
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
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct arrowdevice_async_options {
    pub struct_size: u32,
    pub flags: u32,
    #[doc = "Arrays asked of a producer ahead of what is used; 0: 4."]
    pub depth: i32,
    #[doc = "Of a foreign ArrowAsyncProducer: ARROWDEVICE\\_ASYNC\\_LAYOUT\\_\\*. Of UNKNOWN the metadata is not read."]
    pub upstream_layout: i32,
    #[doc = "As in arrowdevice\\_copy\\_options. ARROWDEVICE\\_COPY\\_ASYNC makes no difference: it is always so."]
    pub copy_flags: u32,
    pub reserved: u32,
    #[doc = "As in arrowdevice\\_stream\\_options, until the stream is over."]
    pub queue: *mut arrowdevice_queue,
    pub pool: *mut arrowdevice_pool,
    pub source_device: *mut arrowdevice_device,
    #[doc = "The program's executor: has `task(arg)` run, never within this call, from any thread; every task that is accepted\nmust run. Any result but 0 refuses the task and ends the stream with it. A stream has one task at a time. NULL: one\nthread of the stream."]
    pub submit: ::core::option::Option<
        unsafe extern "C" fn(
            user: *mut ::core::ffi::c_void,
            task: ::core::option::Option<unsafe extern "C" fn(arg: *mut ::core::ffi::c_void)>,
            arg: *mut ::core::ffi::c_void,
        ) -> ::core::ffi::c_int,
    >,
    pub user: *mut ::core::ffi::c_void,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of arrowdevice_async_options"][::core::mem::size_of::<arrowdevice_async_options>() - 64usize];
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
unsafe extern "C" {
    #[doc = "The library's version, \"major.minor.patch\". Static text.\n\nThread-safety: free."]
    pub fn arrowdevice_version() -> *const ::core::ffi::c_char;
    #[doc = "Send the library's log to a function of the program.\n\nWithout a handler, messages of level 0 go to standard error and all others nowhere, unless `ARROWDEVICE_LOG` is set\nto the highest level to print, as a number or by its name.\n\n- `log`: called with a level (0 error, 1 warning, 2 info, 3 debug) and a line of UTF-8 without a line end, from\n  any thread; it must not call the library. NULL restores the default.\n- `user`: passed to `log`; must stay valid until the handler has been replaced.\n\nThread-safety: free; a message under way on another thread may still reach the former handler."]
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
    #[doc = "Find a device by its published pair, loading the backend that drives its type if need be.\n\n- `device_type`: an `ARROW_DEVICE_*` value.\n- `device_id`: 0 .. n-1; for the CPU -1 and 0 are one device; -1 means 0 for CUDA\\_HOST, ROCM\\_HOST, CUDA\\_MANAGED.\n- `out`: the device; never an adopted one.\n\nErrors: ENODEV no driver or no such device (the message says why; arrowdevice\\_backend\\_get\\_report() has every place\nlooked at); ENOTSUP a device type that neither the format nor any backend knows.\n\nImplements: \"ArrowDeviceType\", \"ArrowDeviceArray.device\\_id\".\n\nThread-safety: free. May block while a driver starts."]
    pub fn arrowdevice_device_find_by_id(
        device_type: ArrowDeviceType,
        device_id: i64,
        out: *mut *mut arrowdevice_device,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "How many devices of a type there are; their ids are 0 .. n-1. A type whose driver is absent counts 0.\n\n- `device_type`: an `ARROW_DEVICE_*` value.\n- `out`: the number; 0 on failure.\n\nErrors: ENOTSUP a device type that neither the format nor any backend knows; EIO the driver failed.\n\nThread-safety: free. May block while a driver starts."]
    pub fn arrowdevice_device_count(
        device_type: ArrowDeviceType,
        out: *mut i64,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "All devices of all backends, ordered by type, then id. Loads every backend.\n\n- `out`: filled with as many devices as fit; may be NULL when `capacity` is 0.\n- `capacity`: the room in `out`, in devices.\n- `count`: how many there are, also when more than `capacity`.\n\nA backend that fails is left out; arrowdevice\\_backend\\_get\\_report() says why.\n\nErrors: EINVAL a negative capacity.\n\nThread-safety: free. May block while drivers start."]
    pub fn arrowdevice_device_list(
        out: *mut *mut arrowdevice_device,
        capacity: i64,
        count: *mut i64,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "What is known of a device. Does not block and calls no driver.\n\n- `out`: `struct_size` set by the caller; the rest is filled.\n\nThread-safety: free."]
    pub fn arrowdevice_device_get_info(
        device: *const arrowdevice_device,
        out: *mut arrowdevice_device_info,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "What the device `to` can do with memory of the device `from`.\n\n- `out`: a sum of `ARROWDEVICE_PEER_*`, 0 when data between them is staged through the host. From a device to\n  itself: both.\n\nThread-safety: free."]
    pub fn arrowdevice_device_get_peer_flags(
        from: *const arrowdevice_device,
        to: *const arrowdevice_device,
        out: *mut u32,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "Find a device by name, as arrowdevice\\_device\\_find\\_by\\_id() does by its pair.\n\n- `name`: the type's name, a colon and the id (\"opencl:0\", \"cuda\\_host:1\"); without an id, id 0 (\"cpu\").\n- `out`: the device; never an adopted one.\n\nErrors: EINVAL a name of another form or an unknown type name; else as arrowdevice\\_device\\_find\\_by\\_id().\n\nThread-safety: free. May block while a driver starts."]
    pub fn arrowdevice_device_find_by_name(
        name: *const ::core::ffi::c_char,
        out: *mut *mut arrowdevice_device,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "The name of a device type: \"opencl\". NULL if the format names no such type. Static text.\n\nThread-safety: free."]
    pub fn arrowdevice_device_type_get_name(device_type: ArrowDeviceType) -> *const ::core::ffi::c_char;
    #[doc = "Bytes free and in all, as the driver says now. Either may be -1 where the driver does not say; either out may be\nNULL.\n\nThread-safety: free."]
    pub fn arrowdevice_device_get_memory_info(
        device: *const arrowdevice_device,
        free_bytes: *mut i64,
        total_bytes: *mut i64,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "Read a device's counters.\n\nThread-safety: free; counts that other threads are adding may or may not be included."]
    pub fn arrowdevice_device_get_counters(
        device: *const arrowdevice_device,
        out: *mut arrowdevice_device_counters,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "Take an application's own context as a device.\n\n- `device_id`: the id that its arrays carry (the vendor's ordinal where there is one); several devices may share\n  it.\n- `native`: the handles. They are borrowed until the device is retired.\n- `out`: the device. The same handles give the same device, counted: each success is to be undone by one\n  arrowdevice\\_device\\_unwrap().\n\nErrors: ENOTSUP the backend adopts nothing; EINVAL handles that it refuses; ENODEV no such driver; EBUSY another\nthread is retiring the device.\n\nThread-safety: free. May block while a driver starts."]
    pub fn arrowdevice_device_wrap(
        device_type: ArrowDeviceType,
        device_id: i64,
        native: *const arrowdevice_native_device,
        out: *mut *mut arrowdevice_device,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "Undo one arrowdevice\\_device\\_wrap(). The last one drains the device's queues, frees what its pools keep and lets the\nhandles go; from then on every call on the device answers ENODEV.\n\nErrors: EBUSY arrays, pools or queues of it are alive, or a deferred release calls; ETIMEDOUT its work is not done;\nENOTSUP the backend adopts nothing; EINVAL not an adopted one. After each the device is usable, and the call may be\nmade again.\n\nThread-safety: free. Blocks up to `timeout_ns`."]
    pub fn arrowdevice_device_unwrap(
        device: *mut arrowdevice_device,
        timeout_ns: i64,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "The vendor's handles behind a device. They are borrowed and stay valid as long as the device.\n\nErrors: ENOTSUP the backend has no handles to give.\n\nThread-safety: free."]
    pub fn arrowdevice_device_get_native(
        device: *const arrowdevice_device,
        out: *mut arrowdevice_native_device,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "Load a backend from a plugin file.\n\n- `absolute_path`: the file; anything but an absolute path is EINVAL.\n\nErrors: ENOENT no such file; EEXIST a backend of that name or for one of its device types is there already; ENOTSUP\nanother table version; EINVAL not a plugin, or a table that lacks what it must have; what the plugin itself says.\n\nThread-safety: free. No driver is started."]
    pub fn arrowdevice_backend_load(
        absolute_path: *const ::core::ffi::c_char,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "Register a backend that is linked into the program. Must come before the first use of its device types, since the\nfirst backend for a type keeps it.\n\n- `table`: copied; the functions and texts it points to must stay valid as long as the process.\n\nErrors: EEXIST, ENOTSUP, EINVAL as arrowdevice\\_backend\\_load().\n\nThread-safety: free."]
    pub fn arrowdevice_backend_register(
        table: *const arrowdevice_backend,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "Every place looked at so far, in the order of looking, loaded or not and why not.\n\n- `index`: counts from 0.\n\nErrors: ENOENT past the last.\n\nThread-safety: free; loading on other threads adds to the end."]
    pub fn arrowdevice_backend_get_report(
        index: i64,
        out: *mut arrowdevice_backend_report,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "Make an in-order queue of the library on a device.\n\n- `out`: to be given to arrowdevice\\_queue\\_destroy().\n\nThread-safety: free."]
    pub fn arrowdevice_queue_create(
        device: *mut arrowdevice_device,
        out: *mut *mut arrowdevice_queue,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "Use an application's own queue. It is borrowed: the application keeps it alive until arrowdevice\\_queue\\_destroy() has\nreturned, after which the library never touches it again.\n\n- `native`: the handle; the struct is read during the call only.\n- `out`: to be given to arrowdevice\\_queue\\_destroy().\n\nErrors: ENOTSUP the backend wraps no queues; EINVAL a queue that it refuses (out of order, another context).\n\nThread-safety: free."]
    pub fn arrowdevice_queue_wrap(
        device: *mut arrowdevice_device,
        native: *const arrowdevice_native_queue,
        out: *mut *mut arrowdevice_queue,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "The vendor's handle behind a queue, borrowed until the queue is destroyed.\n\nErrors: ENOTSUP the backend has no handle to give.\n\nThread-safety: per object."]
    pub fn arrowdevice_queue_get_native(
        queue: *const arrowdevice_queue,
        out: *mut arrowdevice_native_queue,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "Wait until all work that was given to this queue so far is done. What else a wrapped queue has to do, for the\napplication or by way of another wrap, may be waited for too, but need not be.\n\nErrors: ETIMEDOUT it is not done yet; EIO some of it failed.\n\nThread-safety: per object. Blocks up to `timeout_ns`."]
    pub fn arrowdevice_queue_finish(
        queue: *mut arrowdevice_queue,
        timeout_ns: i64,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "Let a queue go. Work and events in flight survive.\n\nOf a queue that was wrapped, the native one is never touched again once this has returned, and may be destroyed at\nonce: not by arrays that were written or copied on it, not by what is released or freed behind it, not by pools. A\nstream that was given it goes on on a queue of the library, behind all that was queued so far; where the driver\ncannot tell the end of that, the stream fails with what the driver says. A stream that was given a queue of the\nlibrary keeps it.\n\nThread-safety: per object, also while a stream that was given it is at work. Returns at once; of a wrapped queue that\na stream uses at that moment, once the driver's or allocator's call with it has returned."]
    pub fn arrowdevice_queue_destroy(queue: *mut arrowdevice_queue);
    #[doc = "Make a pool of a device's memory. Every device has one already; see arrowdevice\\_device\\_get\\_pool().\n\nThe call itself calls none of the functions in the options. When it fails, none of them has been called and none ever\nwill be, `destroy` neither: `user` and all else that the options carry are still the caller's, who may try again with\nthem. When it succeeds they are the pool's, until `destroy` gives them back: after arrowdevice\\_pool\\_destroy(), once\nno buffer, stream or device uses the pool any more.\n\n- `options`: NULL: the defaults. `allocate` and `deallocate` come together.\n- `out`: to be given to arrowdevice\\_pool\\_destroy().\n\nErrors: EINVAL unknown flags, a negative cap, or one of `allocate` and `deallocate` without the other.\n\nThread-safety: free."]
    pub fn arrowdevice_pool_create(
        device: *mut arrowdevice_device,
        options: *const arrowdevice_pool_options,
        out: *mut *mut arrowdevice_pool,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "Read a pool's figures.\n\nThread-safety: free."]
    pub fn arrowdevice_pool_get_stats(
        pool: *const arrowdevice_pool,
        out: *mut arrowdevice_pool_stats,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "Give back to the driver all that is kept and not in use.\n\nThread-safety: free."]
    pub fn arrowdevice_pool_trim(pool: *mut arrowdevice_pool, error: *mut arrowdevice_error) -> ::core::ffi::c_int;
    #[doc = "Let a pool go. Live buffers keep it until the last of them is freed.\n\nThread-safety: free, once."]
    pub fn arrowdevice_pool_destroy(pool: *mut arrowdevice_pool);
    #[doc = "Make a pool the default of its device. The device keeps it alive until another one takes its place.\n\n- `pool`: NULL: the library's own again.\n\nErrors: EINVAL a pool of another device.\n\nThread-safety: free; copies under way keep the pool they started with."]
    pub fn arrowdevice_device_set_pool(
        device: *mut arrowdevice_device,
        pool: *mut arrowdevice_pool,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "A device's default pool.\n\n- `out`: the pool, borrowed: not to be destroyed by the caller, valid while it is the default.\n\nThread-safety: free."]
    pub fn arrowdevice_device_get_pool(
        device: *const arrowdevice_device,
        out: *mut *mut arrowdevice_pool,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "Get device memory.\n\n- `pool`: NULL: the device's default.\n- `queue`: the queue that will use it first; NULL: any.\n- `size`: bytes, more than 0.\n- `out`: an address or a handle, as the device has them; to be given to arrowdevice\\_buffer\\_free().\n\nErrors: ENOMEM; EINVAL a size that is not positive, or a pool or queue of another device.\n\nThread-safety: free."]
    pub fn arrowdevice_buffer_allocate(
        device: *mut arrowdevice_device,
        pool: *mut arrowdevice_pool,
        queue: *mut arrowdevice_queue,
        size: i64,
        out: *mut *mut ::core::ffi::c_void,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "Give memory of arrowdevice\\_buffer\\_allocate() back. Returns at once. What is not such memory is left alone and logged.\n\n- `queue`: the queue whose work so far still uses it: the memory is used again only after that work.\n  NULL: nothing uses it any more.\n\nThread-safety: free."]
    pub fn arrowdevice_buffer_free(
        device: *mut arrowdevice_device,
        queue: *mut arrowdevice_queue,
        buffer: *mut ::core::ffi::c_void,
    );
    #[doc = "A part of a buffer as a buffer: on devices with addresses the address `offset` bytes on, on devices with handles a\nsub-buffer.\n\n- `buffer`: the whole; it outlives its parts.\n- `offset`: bytes, a multiple of the device's `sub_buffer_alignment` where buffers are handles.\n- `size`: bytes, more than 0. Where buffers are addresses, nobody checks that it lies within `buffer`.\n- `out`: to be given to arrowdevice\\_sub\\_buffer\\_destroy().\n\nErrors: EINVAL a range or an alignment that will not do.\n\nThread-safety: free."]
    pub fn arrowdevice_sub_buffer_create(
        device: *mut arrowdevice_device,
        buffer: *const ::core::ffi::c_void,
        offset: i64,
        size: i64,
        out: *mut *mut ::core::ffi::c_void,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "Give a sub-buffer back, before its parent. Does nothing on devices with addresses.\n\nThread-safety: free."]
    pub fn arrowdevice_sub_buffer_destroy(device: *mut arrowdevice_device, sub: *mut ::core::ffi::c_void);
    #[doc = "Queue copies of bytes, to run after the queue's work so far. Regions of one call may run in any order.\n\n- `regions`: `n` of them, not needed any more after the call; host memory in them must stay valid until the copies\n  are done.\n\nErrors: EINVAL a region with a negative size or offset, a NULL end, or a device of another backend than the queue's;\nafter a failure any of the regions may have been copied.\n\nThread-safety: per object. Returns before the copies are done, but on a queue of the CPU."]
    pub fn arrowdevice_queue_copy(
        queue: *mut arrowdevice_queue,
        regions: *const arrowdevice_copy_region,
        n: i64,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "Make a device array out of buffers that already are on a device. Nothing is copied.\n\n- `device`: where the buffers are.\n- `moved`: the array whose buffers are on `device`.\n- `producer_queue`: the queue whose work so far writes the buffers: the result's event fires after it. NULL:\n  the data is ready.\n- `out`: the device array; its `reserved` is zero. Its children have lives of their own.\n\nErrors: EIO the queue failed.\n\nImplements: \"The ArrowDeviceArray structure\", \"Synchronization\".\n\nThread-safety: per object. Waits for the queue where the device publishes no events or the queue is of another\nbackend; else does not block."]
    pub fn arrowdevice_array_export(
        device: *mut arrowdevice_device,
        moved: *mut ArrowArray,
        producer_queue: *mut arrowdevice_queue,
        out: *mut ArrowDeviceArray,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "As arrowdevice\\_array\\_export(), with an event that the application recorded itself.\n\n- `sync_event`: a pointer to the native event, in the form that the format names for the device type.\n- `event_release`: called with the last owner of the array, from any thread, not on failure; NULL: the event\n  outlives the array.\n- `user`: passed to `event_release`; must stay valid until then.\n\nErrors: EINVAL an event on a device type that has none.\n\nImplements: \"Synchronization event types\".\n\nThread-safety: per object."]
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
    #[doc = "The device that an array is on; asks the backend about its buffers and event where the backend can tell.\n\nErrors: ENODEV, ENOTSUP as arrowdevice\\_device\\_find\\_by\\_id().\n\nImplements: \"ArrowDeviceType\", \"ArrowDeviceArray.device\\_id\".\n\nThread-safety: free on a `const` array. May block while a driver starts."]
    pub fn arrowdevice_array_get_device(
        array: *const ArrowDeviceArray,
        out: *mut *mut arrowdevice_device,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "Take over a foreign array: check it against its schema and see its typed buffers. Nothing is copied.\n\n- `moved`: the array; the view owns it until it is detached or released.\n- `schema`: its type, read during the call only.\n- `options`: NULL: structural validation, nobody waits.\n- `out`: the view, to be given to arrowdevice\\_view\\_release() or one of its kin.\n\nErrors: EINVAL the array does not fit its schema (the message names the child: \"batch.prices.item: ...\"); ENOTSUP a\nformat that is not known; ENODEV its device is not there; ETIMEDOUT, EIO from a wait.\n\nImplements: \"Memory management\", \"Synchronization\"; the layouts of the columnar format.\n\nThread-safety: per object. Blocks only with IMPORT\\_SIZES, where the queue cannot wait on the device, or with a level\nof `validate` beyond the structure."]
    pub fn arrowdevice_array_import(
        moved: *mut ArrowDeviceArray,
        schema: *const ArrowSchema,
        options: *const arrowdevice_import_options,
        out: *mut *mut arrowdevice_view,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "The root of the view's tree of nodes. Valid until the view ends.\n\nThread-safety: free."]
    pub fn arrowdevice_view_get_root(view: *const arrowdevice_view) -> *const arrowdevice_node;
    #[doc = "The array that the view owns. Valid until the view ends.\n\nThread-safety: free."]
    pub fn arrowdevice_view_get_array(view: *const arrowdevice_view) -> *const ArrowDeviceArray;
    #[doc = "The device that the view's array is on.\n\nThread-safety: free."]
    pub fn arrowdevice_view_get_device(view: *const arrowdevice_view) -> *mut arrowdevice_device;
    #[doc = "A second owner of the view's memory, as a device array of its own. Nothing is copied.\n\nImplements: \"Memory management\".\n\nThread-safety: free."]
    pub fn arrowdevice_view_share(
        view: *const arrowdevice_view,
        out: *mut ArrowDeviceArray,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "End the view; the array lives on in `out`, as it came. With a NULL `out` nothing happens.\n\nThread-safety: per object."]
    pub fn arrowdevice_view_detach(view: *mut arrowdevice_view, out: *mut ArrowDeviceArray);
    #[doc = "End the view and release its array. Says that the consumer's device work on it is finished.\n\nImplements: \"Memory management\".\n\nThread-safety: per object. Never blocks on device work."]
    pub fn arrowdevice_view_release(view: *mut arrowdevice_view);
    #[doc = "End the view, and release its array once the queue's work so far is done, as arrowdevice\\_array\\_release\\_after() does.\n\n- `moved`: ended on success; on failure it stays as it was.\n\nErrors: EIO the queue failed.\n\nImplements: \"Memory management\".\n\nThread-safety: per object. Returns at once."]
    pub fn arrowdevice_view_release_after(
        moved: *mut arrowdevice_view,
        queue: *mut arrowdevice_queue,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "Move a device array to another struct: `to` takes over, `from` is marked released. O(1). `to` is overwritten.\n\nImplements: \"Moving an array\".\n\nThread-safety: per object."]
    pub fn arrowdevice_array_move(from: *mut ArrowDeviceArray, to: *mut ArrowDeviceArray);
    #[doc = "Release an array; says that the consumer's device work on it is finished. A released one, or NULL, is left alone.\n\nImplements: \"Memory management\".\n\nThread-safety: per object, from any thread. Never blocks on device work of the library."]
    pub fn arrowdevice_array_release(array: *mut ArrowDeviceArray);
    #[doc = "Release an array once the queue's work so far is done. The producer's release runs on the calling thread when that\nis the case already, else on the library's reaper thread (see arrowdevice\\_deferred\\_set\\_manual()).\n\nErrors: EIO the queue failed.\n\nImplements: \"Memory management\".\n\nThread-safety: per object. Returns at once."]
    pub fn arrowdevice_array_release_after(
        moved: *mut ArrowDeviceArray,
        queue: *mut arrowdevice_queue,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "Whether an array's event has fired. Does not block.\n\n- `source_device`: overrides what `(device_type, device_id)` would find.\n- `out`: 1 fired, or there is none; 0 not yet, and on failure.\n\nErrors: EINVAL an event on a device type that has none; ENOTSUP the backend imports no events; EIO the producer's\nwork failed; ENODEV its device is not there.\n\nImplements: \"Synchronization\".\n\nThread-safety: free on a `const` array."]
    pub fn arrowdevice_array_is_ready(
        array: *const ArrowDeviceArray,
        source_device: *mut arrowdevice_device,
        out: *mut ::core::ffi::c_int,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "Make the CPU wait for an array's event.\n\n- `source_device`: overrides what `(device_type, device_id)` would find.\n\nErrors: as arrowdevice\\_array\\_is\\_ready(); ETIMEDOUT it has not fired in time.\n\nImplements: \"Synchronization\".\n\nThread-safety: free on a `const` array. Blocks up to `timeout_ns`."]
    pub fn arrowdevice_array_wait(
        array: *const ArrowDeviceArray,
        source_device: *mut arrowdevice_device,
        timeout_ns: i64,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "Make a queue wait for an array's event: work queued later runs after it. Where the queue's device cannot wait for\nsuch an event, the CPU waits.\n\n- `source_device`: overrides what `(device_type, device_id)` would find.\n\nErrors: as arrowdevice\\_array\\_is\\_ready().\n\nImplements: \"Synchronization\".\n\nThread-safety: free on a `const` array, per object on the queue. Blocks, without a bound, only where the CPU waits."]
    pub fn arrowdevice_queue_wait_array(
        array: *const ArrowDeviceArray,
        source_device: *mut arrowdevice_device,
        queue: *mut arrowdevice_queue,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "Put a copy of an array on a device: one allocation, one submission, one event. Always copies, only the bytes that\nthe array's rows need.\n\n- `array`: left as it is, and not needed any more when the call returns. With ARROWDEVICE\\_COPY\\_ASYNC, if `out`\n\nhas an event, the caller keeps the array, its buffers, its own event and its device (if that was adopted) until that\nevent has fired; who releases `out` before, until arrowdevice\\_wait\\_idle() has succeeded.\n- `schema`: its type, read during the call only.\n- `options`: NULL: complete on return, on a queue of the library, from the target's default pool.\n- `out`: the copy; every child has a life of its own.\n\nErrors: EINVAL the array does not fit its schema, unknown or contradicting flags, or a queue or pool that does not\nfit the devices; ENOTSUP a format that is not known; ENODEV its device is not there; ENOMEM; ETIMEDOUT a wait took\nlonger than the options allow; EIO the producer's work or the copy failed.\n\nImplements: \"Synchronization\"; the layouts of the columnar format.\n\nThread-safety: free on a `const` array. Blocks until the copy is done; with ARROWDEVICE\\_COPY\\_ASYNC until it is\nsubmitted, for which sizes that lie on a device are waited for."]
    pub fn arrowdevice_array_copy(
        array: *const ArrowDeviceArray,
        schema: *const ArrowSchema,
        to: *mut arrowdevice_device,
        options: *const arrowdevice_copy_options,
        out: *mut ArrowDeviceArray,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "Hand an array over to a device: by sharing where that device can use the memory, by a copy where not.\n\n- `moved`: taken over; where it was copied, released once the copy is done, by the library itself: with\n  ARROWDEVICE\\_COPY\\_ASYNC, too, the caller keeps nothing. Retiring an adopted source waits for such\n  copies; it is EBUSY as long as `out` lives and carries an event of a queue of the source, which it\n  does where such a queue was given or `to` is only memory to it (arrowdevice\\_copy\\_options.queue).\n- `schema`: its type, read during the call only.\n- `options`: as for arrowdevice\\_array\\_copy().\n- `out`: the array on `to`.\n\nErrors: as arrowdevice\\_array\\_copy(); ENOTSUP also with ARROWDEVICE\\_COPY\\_NEVER where sharing will not do.\n\nImplements: \"Moving an array\", \"Synchronization\".\n\nThread-safety: per object. A copy blocks as arrowdevice\\_array\\_copy() does; sharing, where arrays of `to` cannot carry\nthe event, until it has fired."]
    pub fn arrowdevice_array_to_device(
        moved: *mut ArrowDeviceArray,
        schema: *const ArrowSchema,
        to: *mut arrowdevice_device,
        options: *const arrowdevice_copy_options,
        out: *mut ArrowDeviceArray,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "A CPU array as a device array: device type CPU, id -1, no event. O(1).\n\nImplements: \"The ArrowDeviceArray structure\".\n\nThread-safety: per object."]
    pub fn arrowdevice_array_from_host(
        moved: *mut ArrowArray,
        out: *mut ArrowDeviceArray,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "A device array as a CPU array, complete on return: shared where the CPU can read the memory, copied where not.\n\n- `moved`: taken over, as by arrowdevice\\_array\\_to\\_device().\n- `schema`: its type, read during the call only.\n- `options`: as for arrowdevice\\_array\\_copy(); ARROWDEVICE\\_COPY\\_ASYNC changes nothing.\n\nErrors: as arrowdevice\\_array\\_to\\_device().\n\nImplements: \"Synchronization\"; the layouts of the columnar format.\n\nThread-safety: per object. Blocks until the data is there."]
    pub fn arrowdevice_array_to_host(
        moved: *mut ArrowDeviceArray,
        schema: *const ArrowSchema,
        options: *const arrowdevice_copy_options,
        out: *mut ArrowArray,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "A second owner: two arrays, one memory. `inout` becomes a co-owner itself; its producer's release runs when the last\nowner, children that were moved out included, is released.\n\nErrors: EINVAL an array with a released child.\n\nImplements: \"Memory management\", \"Moving an array\".\n\nThread-safety: per object."]
    pub fn arrowdevice_array_share(
        inout: *mut ArrowDeviceArray,
        out: *mut ArrowDeviceArray,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "Some rows of an array, as a co-owner of its memory. Reads no data, copies none.\n\n- `offset, length`: rows, counted from the array's own first row.\n- `out`: a record batch (`+s` without validity at the root) keeps root offset 0: the slice goes into\n  its children.\n\nErrors: EINVAL rows outside of the array, or an array that does not fit its schema; ENOTSUP a format that is not\nknown.\n\nThread-safety: per object."]
    pub fn arrowdevice_array_slice(
        inout: *mut ArrowDeviceArray,
        schema: *const ArrowSchema,
        offset: i64,
        length: i64,
        out: *mut ArrowDeviceArray,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "Some columns of a struct array or record batch, in the order given, as a co-owner of its memory.\n\n- `children`: `n` indices; one may appear several times.\n- `out_schema`: the type of `out`, a copy of its own; may be NULL.\n\nErrors: EINVAL an index out of range, or an array that is not a struct or does not fit its schema; ENOTSUP a format\nthat is not known.\n\nThread-safety: per object."]
    pub fn arrowdevice_array_select(
        inout: *mut ArrowDeviceArray,
        schema: *const ArrowSchema,
        children: *const i64,
        n: i64,
        out: *mut ArrowDeviceArray,
        out_schema: *mut ArrowSchema,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "Check an array against its schema.\n\n- `source_device`: overrides what `(device_type, device_id)` would find.\n- `level`: ARROWDEVICE\\_VALIDATE\\_STRUCTURE: the structs, without looking at data;\n  ARROWDEVICE\\_VALIDATE\\_FULL: also the data, wherever it lies: buffers are on the device that\n  the array names and as large as its driver says they must be, `null_count` is right, offsets,\n  views, type ids, run ends and dictionary indices refer to what is there, prefixes of views\n  are those of their data and their unused bytes zero, texts are UTF-8;\n  ARROWDEVICE\\_VALIDATE\\_STRICT: also what real producers neglect: `reserved` is zero,\n  `null_count` is not -1 where there is no validity bitmap, and fields that are not nullable\n  have no nulls where rows of the structs and lists around them can be seen.\n\nOf host memory nobody knows how large it is: a buffer that is too small is found where a driver made it.\n\nErrors: EINVAL an array that does not fit (the message names the child, and the slot), or a level that is none of\nthese; ENOTSUP a format that is not known; beyond the structure also ENODEV its device is not there, EIO from its\nevent or the device, ENOMEM.\n\nImplements: \"Structure definitions\"; the layouts of the columnar format.\n\nThread-safety: free on a `const` array. Beyond the structure it blocks until the array is ready, and while its data\nis read back, in pieces of 1 MiB."]
    pub fn arrowdevice_array_validate(
        array: *const ArrowDeviceArray,
        schema: *const ArrowSchema,
        source_device: *mut arrowdevice_device,
        level: ::core::ffi::c_int,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "Pending moves and releases end on one thread of the library, started at first need. With manual reaping there is no\nsuch thread: the program calls arrowdevice\\_deferred\\_run().\n\n- `on`: not 0: manual.\n\nErrors: EBUSY something has been deferred already.\n\nThread-safety: free."]
    pub fn arrowdevice_deferred_set_manual(on: ::core::ffi::c_int, error: *mut arrowdevice_error)
    -> ::core::ffi::c_int;
    #[doc = "End deferred work whose events have fired, producers' releases among it, on the calling thread. Does not wait.\n\n- `max`: how many pieces at most; negative: all.\n- `done`: how many were ended; may be NULL.\n\nThread-safety: free."]
    pub fn arrowdevice_deferred_run(max: i64, done: *mut i64, error: *mut arrowdevice_error) -> ::core::ffi::c_int;
    #[doc = "Wait until nothing is deferred or in flight: for an orderly shutdown. With manual reaping it reaps meanwhile.\n\nErrors: ETIMEDOUT some of it is not done yet, and stays deferred; EBUSY a deferred release calls.\n\nThread-safety: free. Blocks up to `timeout_ns`."]
    pub fn arrowdevice_wait_idle(timeout_ns: i64, error: *mut arrowdevice_error) -> ::core::ffi::c_int;
    #[doc = "A deep copy of a schema, independent of the original.\n\nErrors: EINVAL a released or malformed schema.\n\nThread-safety: free on a `const` schema."]
    pub fn arrowdevice_schema_copy(
        schema: *const ArrowSchema,
        out: *mut ArrowSchema,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "Release a schema. A released one, or NULL, is left alone.\n\nThread-safety: per object."]
    pub fn arrowdevice_schema_release(schema: *mut ArrowSchema);
    #[doc = "Release a CPU array. A released one, or NULL, is left alone.\n\nThread-safety: per object."]
    pub fn arrowdevice_host_array_release(array: *mut ArrowArray);
    #[doc = "The schema of a device stream.\n\nErrors: EINVAL a released stream; what the producer says, with its text. What failed in a stream of this library\ncomes whole, `backend` and `native_code` included; an error that has passed through an async handler or a foreign\nstream has only its code and text.\n\nImplements: \"ArrowDeviceArrayStream.get\\_schema\".\n\nThread-safety: per object."]
    pub fn arrowdevice_stream_get_schema(
        stream: *mut ArrowDeviceArrayStream,
        out: *mut ArrowSchema,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "The next array of a device stream; a released one marks the end.\n\nErrors: EINVAL a released stream; what the producer says, as arrowdevice\\_stream\\_get\\_schema().\n\nImplements: \"ArrowDeviceArrayStream.get\\_next\", \"get\\_last\\_error\".\n\nThread-safety: per object. Blocks as the producer does."]
    pub fn arrowdevice_stream_get_next(
        stream: *mut ArrowDeviceArrayStream,
        out: *mut ArrowDeviceArray,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "Release a device stream. A released one, or NULL, is left alone.\n\nThread-safety: per object."]
    pub fn arrowdevice_stream_release(stream: *mut ArrowDeviceArrayStream);
    #[doc = "A stream of `n` arrays of one schema, in their order. The array `moved_arrays` itself stays the caller's; on success\nthe schema and all arrays are taken over, on failure none is. `n` may be 0: a stream of a schema only.\n\nErrors: EINVAL an array that does not fit the schema or is not on `device_type`.\n\nImplements: \"The ArrowDeviceArrayStream structure\".\n\nThread-safety: per object."]
    pub fn arrowdevice_stream_from_arrays(
        moved: *mut ArrowSchema,
        moved_arrays: *mut ArrowDeviceArray,
        n: i64,
        device_type: ArrowDeviceType,
        out: *mut ArrowDeviceArrayStream,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "A C stream as a device stream on the CPU. Each call of the consumer is one of the producer.\n\nErrors: EINVAL a released stream. Later, from the stream: what the producer says, with its text.\n\nImplements: \"The ArrowDeviceArrayStream structure\".\n\nThread-safety: per object."]
    pub fn arrowdevice_stream_from_host(
        moved: *mut ArrowArrayStream,
        out: *mut ArrowDeviceArrayStream,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "A device stream as a C stream: each batch is moved to the CPU as arrowdevice\\_array\\_to\\_host() does it, and complete\nwhen it is handed out. Copies run on a thread of the stream, ahead of the consumer.\n\nErrors: EINVAL a released stream, options, as for arrowdevice\\_stream\\_to\\_device(). Later, from the stream: what the\nproducer says, with its text, after the batches before it; and as arrowdevice\\_array\\_to\\_host().\n\nThread-safety: per object."]
    pub fn arrowdevice_stream_to_host(
        moved: *mut ArrowDeviceArrayStream,
        options: *const arrowdevice_stream_options,
        out: *mut ArrowArrayStream,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "A stream whose batches are moved to a device while they flow, as arrowdevice\\_array\\_to\\_device() does it: what is there\nalready is passed through. Batches are handed out with their event pending. At most `depth` of them are held; nothing\nis asked of the producer before the first call of the consumer. Copies that occupy their thread (staged ones, targets\nwithout events) run on a thread of the stream. Releasing the stream returns at once: what runs is ended as deferred\nwork, and a thread that is inside the producer releases it when it comes back.\n\nErrors: EINVAL a released stream, options, a pool of another device than `to`, or a queue that can serve no batch of\nthe stream's device type or the `source_device`, as arrowdevice\\_copy\\_options has it; ENODEV a retired device. After\neach the stream is still the caller's. Later, from the stream: what the producer says, with its text, after the\nbatches before it; EINVAL a batch of another device type than the stream's; and as arrowdevice\\_array\\_to\\_device().\n\nImplements: \"Device Stream Interface\".\n\nThread-safety: per object."]
    pub fn arrowdevice_stream_to_device(
        moved: *mut ArrowDeviceArrayStream,
        to: *mut arrowdevice_device,
        options: *const arrowdevice_stream_options,
        out: *mut ArrowDeviceArrayStream,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "Stop a stream that this library has handed out. `get_next` answers ECANCELED from then on; one that waits for a\nthread of the stream is woken, one that is itself inside a foreign producer answers when that returns. The stream\nstill has to be released, and not while this runs.\n\nErrors: EINVAL a released stream, or one of someone else.\n\nThread-safety: free, also while another thread is in `get_next`. Does not block."]
    pub fn arrowdevice_stream_cancel(
        stream: *mut ArrowDeviceArrayStream,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "Be the producer: call `handler` with the arrays of a stream, as fast as it asks for them. Both are taken over. The\nstream is pulled by one task at a time of the executor, which a producer that waits holds up.\n\n- `moved`: taken over; on failure still the caller's.\n- `handler`: borrowed until its `release` is called, which frees it if the consumer says so. On failure no\n\ncallback was made.\n- `options`: NULL: the defaults. Only the executor is used.\n\nErrors: EINVAL a handler that lacks a callback; what `submit` answers.\n\nImplements: \"Async Device Stream Interface\".\n\nThread-safety: per object. Does not block."]
    pub fn arrowdevice_async_produce(
        moved: *mut ArrowDeviceArrayStream,
        handler: *mut ArrowAsyncDeviceStreamHandler,
        options: *const arrowdevice_async_options,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "Be the consumer: a handler for a producer, and the stream of what it gets. `depth` arrays are asked for ahead. Tasks\nare extracted by the thread that pulls. Releasing the stream cancels the producer. A producer on another device type\nis refused with EINVAL from `on_schema`, and the stream says so.\n\n- `device_type`: of the arrays.\n- `out_handler`: for the producer; see above for its life.\n- `out`: the caller's to release. `get_schema` and `get_next` wait for the producer;\n  arrowdevice\\_stream\\_cancel() wakes them.\n\nErrors: EINVAL options. Later, from the stream: what the producer says, after the arrays before it; EIO a producer\nthat lets go of the handler before the end.\n\nImplements: \"The ArrowAsyncDeviceStreamHandler structure\".\n\nThread-safety: per object. Does not block."]
    pub fn arrowdevice_async_collect(
        device_type: ArrowDeviceType,
        options: *const arrowdevice_async_options,
        out_handler: *mut *mut ArrowAsyncDeviceStreamHandler,
        out: *mut ArrowDeviceArrayStream,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "Be the piece in between: a handler for a producer that hands everything on to another handler, moved to a device as\narrowdevice\\_array\\_to\\_device() does it. At most `depth` arrays are held. Arrays are handed on with their event\npending; metadata is passed on.\n\n- `downstream`: the consumer's, borrowed until its `release` is called; on failure untouched.\n- `out_upstream`: for the producer; see above for its life.\n\nErrors: EINVAL a handler that lacks a callback, options, a pool or queue that can serve no array on `to`; ENODEV a\nretired device. Later, by `on_error`: what the producer says; EINVAL, with its schema, where the queue cannot serve\nthe producer's device type; as arrowdevice\\_array\\_to\\_device(); EIO a producer that lets go of the handler before the\nend.\n\nImplements: \"The ArrowAsyncDeviceStreamHandler structure\".\n\nThread-safety: per object. Does not block."]
    pub fn arrowdevice_async_to_device(
        downstream: *mut ArrowAsyncDeviceStreamHandler,
        to: *mut arrowdevice_device,
        options: *const arrowdevice_async_options,
        out_upstream: *mut *mut ArrowAsyncDeviceStreamHandler,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "An array as a tensor of DLPack 1.0, whose consumers need no newer one. The tensor is read-only, compact and\nrow-major, with strides; the array's offset is in `byte_offset`, also where buffers are handles.\n\n- `inout`: stays valid; becomes a co-owner itself, as by arrowdevice\\_array\\_share().\n- `schema`: its type, read during the call only. It may be another one of the same layout: int64 for a\n  timestamp, of which DLPack has no dtype.\n- `consumer_queue`: where the tensor is going to be used: work queued later waits for the array's event, as by\n  arrowdevice\\_queue\\_wait\\_array(). NULL: the CPU waits.\n- `out`: the tensor, to be given to its `deleter` once, from any thread, which never blocks. Doing so\n  says that the consumer's device work on it is finished, as arrowdevice\\_array\\_release() does,\n  also where there was a waiter: once no other owner is left, the memory is used again.\n\nErrors: EINVAL the array does not fit its schema; ENOTSUP it has nulls that rows show, it is of another type than\nnumbers and fixed-size lists of them (booleans are bits here and bytes there), or DLPack knows no such device (the\nmessage names the child and says why); else as arrowdevice\\_queue\\_wait\\_array().\n\nImplements: \"Memory management\", \"Synchronization\".\n\nThread-safety: per object. Blocks where the CPU waits for the event: without a waiter, where the queue cannot wait\nfor it, and to count nulls in a bitmap on a device that nobody has counted."]
    pub fn arrowdevice_dlpack_export(
        inout: *mut ArrowDeviceArray,
        schema: *const ArrowSchema,
        consumer_queue: *mut arrowdevice_queue,
        out: *mut *mut DLManagedTensorVersioned,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
    #[doc = "A tensor of DLPack 1 as an array: numbers for rank 1 and, as one row, rank 0; fixed-size lists, named \"item\", for\nhigher ranks. Fields are nullable and have no nulls.\n\n- `moved`: taken over: its `deleter`, which may be NULL, is called when the last owner of the array\n  is released, by that thread or the library's reaper thread. On failure untouched, also\n  where it is of another major version. Nobody may write to its memory meanwhile.\n- `producer_queue`: the queue that its producer's work was queued on: arrays carry an event that fires after\n  the work so far; where they cannot, it is waited for. NULL: the data is there.\n- `out_schema`: its type.\n\nErrors: EINVAL a negative number of dimensions, extent or device id, a missing shape or data, or sizes that overflow;\nENOTSUP another major version, a device type or dtype that Arrow does not name (booleans are bytes there and bits\nhere), strides that are not compact and row-major, an extent above 2^31 - 1 behind the first dimension, more than 64\ndimensions, or, where buffers are handles, a `byte_offset` that is no multiple of an element (the message names the\ndimension); ENODEV the device is not there, where a queue is given; EIO the queue failed.\n\nImplements: \"The ArrowDeviceArray structure\", \"Synchronization\".\n\nThread-safety: per object. Blocks only where the queue's work is waited for."]
    pub fn arrowdevice_dlpack_import(
        moved: *mut DLManagedTensorVersioned,
        producer_queue: *mut arrowdevice_queue,
        out: *mut ArrowDeviceArray,
        out_schema: *mut ArrowSchema,
        error: *mut arrowdevice_error,
    ) -> ::core::ffi::c_int;
}

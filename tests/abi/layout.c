/* SPDX-License-Identifier: Apache-2.0 */
/* Asserts the layout that programs of the first release have compiled in. This covers the size of every
 * public struct, the offset and size of its members, and the value of every constant. A failing line shows an
 * ABI break. Undo the change, not the line. docs/reference.md has the rules.
 *
 * A struct that GROWS gets its new size, and a line for each new member at its end. A new constant gets a
 * line. Other lines of this file never change.
 *
 * The file compiles as C11 and C++17. The numbers are those of LP64, which every 64-bit Unix uses. On other
 * platforms there are no reference numbers, so the file asserts nothing there. */
#if defined(__LP64__)

#include <arrowdevice/backend.h>
#include <assert.h>
#include <stddef.h>

#define SIZE_OF_MEMBER(type, member) sizeof(((struct type*)0)->member)

/* The struct has this size forever. */
#define FROZEN(type, bytes) static_assert(sizeof(struct type) == (bytes), #type " is frozen")
/* The struct begins with its size and may get new members at its end. */
#define GROWS(type, bytes)                                                                         \
  static_assert(sizeof(struct type) == (bytes), #type " has grown: list its new members, if so");  \
  static_assert(offsetof(struct type, struct_size) == 0 && SIZE_OF_MEMBER(type, struct_size) == 4, \
                #type " begins with its size")
#define MEMBER(type, member, offset, bytes)                                                           \
  static_assert(offsetof(struct type, member) == (offset) && SIZE_OF_MEMBER(type, member) == (bytes), \
                #type "." #member " has moved or changed")
#define VALUE(constant, value) static_assert((constant) == (value), #constant " has another value")

/* -- abi.h */

VALUE(ARROW_FLAG_DICTIONARY_ORDERED, 1);
VALUE(ARROW_FLAG_NULLABLE, 2);
VALUE(ARROW_FLAG_MAP_KEYS_SORTED, 4);

VALUE(ARROW_DEVICE_CPU, 1);
VALUE(ARROW_DEVICE_CUDA, 2);
VALUE(ARROW_DEVICE_CUDA_HOST, 3);
VALUE(ARROW_DEVICE_OPENCL, 4);
VALUE(ARROW_DEVICE_VULKAN, 7);
VALUE(ARROW_DEVICE_METAL, 8);
VALUE(ARROW_DEVICE_VPI, 9);
VALUE(ARROW_DEVICE_ROCM, 10);
VALUE(ARROW_DEVICE_ROCM_HOST, 11);
VALUE(ARROW_DEVICE_EXT_DEV, 12);
VALUE(ARROW_DEVICE_CUDA_MANAGED, 13);
VALUE(ARROW_DEVICE_ONEAPI, 14);
VALUE(ARROW_DEVICE_WEBGPU, 15);
VALUE(ARROW_DEVICE_HEXAGON, 16);

FROZEN(ArrowSchema, 72);
MEMBER(ArrowSchema, format, 0, 8);
MEMBER(ArrowSchema, name, 8, 8);
MEMBER(ArrowSchema, metadata, 16, 8);
MEMBER(ArrowSchema, flags, 24, 8);
MEMBER(ArrowSchema, n_children, 32, 8);
MEMBER(ArrowSchema, children, 40, 8);
MEMBER(ArrowSchema, dictionary, 48, 8);
MEMBER(ArrowSchema, release, 56, 8);
MEMBER(ArrowSchema, private_data, 64, 8);

FROZEN(ArrowArray, 80);
MEMBER(ArrowArray, length, 0, 8);
MEMBER(ArrowArray, null_count, 8, 8);
MEMBER(ArrowArray, offset, 16, 8);
MEMBER(ArrowArray, n_buffers, 24, 8);
MEMBER(ArrowArray, n_children, 32, 8);
MEMBER(ArrowArray, buffers, 40, 8);
MEMBER(ArrowArray, children, 48, 8);
MEMBER(ArrowArray, dictionary, 56, 8);
MEMBER(ArrowArray, release, 64, 8);
MEMBER(ArrowArray, private_data, 72, 8);

FROZEN(ArrowDeviceArray, 128);
MEMBER(ArrowDeviceArray, array, 0, 80);
MEMBER(ArrowDeviceArray, device_id, 80, 8);
MEMBER(ArrowDeviceArray, device_type, 88, 4);
MEMBER(ArrowDeviceArray, sync_event, 96, 8);
MEMBER(ArrowDeviceArray, reserved, 104, 24);

FROZEN(ArrowArrayStream, 40);
MEMBER(ArrowArrayStream, get_schema, 0, 8);
MEMBER(ArrowArrayStream, get_next, 8, 8);
MEMBER(ArrowArrayStream, get_last_error, 16, 8);
MEMBER(ArrowArrayStream, release, 24, 8);
MEMBER(ArrowArrayStream, private_data, 32, 8);

FROZEN(ArrowDeviceArrayStream, 48);
MEMBER(ArrowDeviceArrayStream, device_type, 0, 4);
MEMBER(ArrowDeviceArrayStream, get_schema, 8, 8);
MEMBER(ArrowDeviceArrayStream, get_next, 16, 8);
MEMBER(ArrowDeviceArrayStream, get_last_error, 24, 8);
MEMBER(ArrowDeviceArrayStream, release, 32, 8);
MEMBER(ArrowDeviceArrayStream, private_data, 40, 8);

FROZEN(ArrowAsyncTask, 16);
MEMBER(ArrowAsyncTask, extract_data, 0, 8);
MEMBER(ArrowAsyncTask, private_data, 8, 8);

FROZEN(ArrowAsyncProducer, 40);
MEMBER(ArrowAsyncProducer, device_type, 0, 4);
MEMBER(ArrowAsyncProducer, request, 8, 8);
MEMBER(ArrowAsyncProducer, cancel, 16, 8);
MEMBER(ArrowAsyncProducer, additional_metadata, 24, 8);
MEMBER(ArrowAsyncProducer, private_data, 32, 8);

FROZEN(ArrowAsyncDeviceStreamHandler, 48);
MEMBER(ArrowAsyncDeviceStreamHandler, on_schema, 0, 8);
MEMBER(ArrowAsyncDeviceStreamHandler, on_next_task, 8, 8);
MEMBER(ArrowAsyncDeviceStreamHandler, on_error, 16, 8);
MEMBER(ArrowAsyncDeviceStreamHandler, release, 24, 8);
MEMBER(ArrowAsyncDeviceStreamHandler, producer, 32, 8);
MEMBER(ArrowAsyncDeviceStreamHandler, private_data, 40, 8);

/* -- arrowdevice.h and the headers that it includes */

VALUE(ARROWDEVICE_NO_TIMEOUT, 0);
VALUE(ARROWDEVICE_POLL, -1);

VALUE(ARROWDEVICE_DEVICE_ADDRESSES, 1);
VALUE(ARROWDEVICE_DEVICE_HOST_READABLE, 2);
VALUE(ARROWDEVICE_DEVICE_EVENTS, 4);
VALUE(ARROWDEVICE_DEVICE_WAIT_BLOCKS, 8);
VALUE(ARROWDEVICE_DEVICE_COPY_BLOCKS, 32);
VALUE(ARROWDEVICE_DEVICE_STREAM_ORDERED, 64);
VALUE(ARROWDEVICE_DEVICE_SHAREABLE, 128);
VALUE(ARROWDEVICE_DEVICE_WRAPPED, 16);

VALUE(ARROWDEVICE_PEER_ACCESS, 1);
VALUE(ARROWDEVICE_PEER_COPY, 2);
VALUE(ARROWDEVICE_PEER_REMOTE, 4);
VALUE(ARROWDEVICE_POOL_WAIT_FOR_CONTEXT, 1);
VALUE(ARROWDEVICE_POOL_SHAREABLE, 2);

VALUE(ARROWDEVICE_COPY_ASYNC, 1);
VALUE(ARROWDEVICE_COPY_ALWAYS, 2);
VALUE(ARROWDEVICE_COPY_NEVER, 4);
VALUE(ARROWDEVICE_COPY_NO_TRIM, 8);

VALUE(ARROWDEVICE_IMPORT_RESOLVE_SIZES, 1);

VALUE(ARROWDEVICE_STREAM_READ_AHEAD, 1);
VALUE(ARROWDEVICE_METADATA_STREAM, 0);
VALUE(ARROWDEVICE_METADATA_ITEM, 1);

VALUE(ARROWDEVICE_VALIDATE_STRUCTURE, 0);
VALUE(ARROWDEVICE_VALIDATE_FULL, 1);
VALUE(ARROWDEVICE_VALIDATE_STRICT, 2);

VALUE(ARROWDEVICE_ASYNC_LAYOUT_UNKNOWN, 0);
VALUE(ARROWDEVICE_ASYNC_LAYOUT_40_BYTES, 1);
VALUE(ARROWDEVICE_ASYNC_LAYOUT_48_BYTES, 2);

VALUE(ARROWDEVICE_ROLE_VALIDITY, 1);
VALUE(ARROWDEVICE_ROLE_DATA, 2);
VALUE(ARROWDEVICE_ROLE_OFFSETS, 3);
VALUE(ARROWDEVICE_ROLE_SIZES, 4);
VALUE(ARROWDEVICE_ROLE_TYPE_IDS, 5);
VALUE(ARROWDEVICE_ROLE_VIEWS, 6);
VALUE(ARROWDEVICE_ROLE_VARIADIC, 7);
VALUE(ARROWDEVICE_ROLE_VARIADIC_SIZES, 8);

VALUE(ARROWDEVICE_BUFFER_SIZE_KNOWN, 1);
VALUE(ARROWDEVICE_BUFFER_HOST, 2);

VALUE(ARROWDEVICE_LAYOUT_NULL, 0);
VALUE(ARROWDEVICE_LAYOUT_FIXED, 1);
VALUE(ARROWDEVICE_LAYOUT_BINARY, 2);
VALUE(ARROWDEVICE_LAYOUT_LARGE_BINARY, 3);
VALUE(ARROWDEVICE_LAYOUT_BINARY_VIEW, 4);
VALUE(ARROWDEVICE_LAYOUT_LIST, 5);
VALUE(ARROWDEVICE_LAYOUT_LARGE_LIST, 6);
VALUE(ARROWDEVICE_LAYOUT_LIST_VIEW, 7);
VALUE(ARROWDEVICE_LAYOUT_LARGE_LIST_VIEW, 8);
VALUE(ARROWDEVICE_LAYOUT_FIXED_SIZE_LIST, 9);
VALUE(ARROWDEVICE_LAYOUT_STRUCT, 10);
VALUE(ARROWDEVICE_LAYOUT_SPARSE_UNION, 11);
VALUE(ARROWDEVICE_LAYOUT_DENSE_UNION, 12);
VALUE(ARROWDEVICE_LAYOUT_RUN_END_ENCODED, 13);

FROZEN(arrowdevice_error, 512);
MEMBER(arrowdevice_error, code, 0, 4);
MEMBER(arrowdevice_error, native_code, 4, 4);
MEMBER(arrowdevice_error, backend, 8, 16);
MEMBER(arrowdevice_error, message, 24, 488);

GROWS(arrowdevice_device_info, 280);
MEMBER(arrowdevice_device_info, device_type, 4, 4);
MEMBER(arrowdevice_device_info, device_id, 8, 8);
MEMBER(arrowdevice_device_info, name, 16, 128);
MEMBER(arrowdevice_device_info, vendor, 144, 64);
MEMBER(arrowdevice_device_info, backend, 208, 16);
MEMBER(arrowdevice_device_info, uuid, 224, 16);
MEMBER(arrowdevice_device_info, total_memory, 240, 8);
MEMBER(arrowdevice_device_info, buffer_alignment, 248, 8);
MEMBER(arrowdevice_device_info, sub_buffer_alignment, 256, 8);
MEMBER(arrowdevice_device_info, flags, 264, 8);
MEMBER(arrowdevice_device_info, staging_type, 272, 4);
MEMBER(arrowdevice_device_info, numa_node, 276, 4);

GROWS(arrowdevice_device_counters, 80);
MEMBER(arrowdevice_device_counters, reserved, 4, 4);
MEMBER(arrowdevice_device_counters, driver_allocations, 8, 8);
MEMBER(arrowdevice_device_counters, submissions, 16, 8);
MEMBER(arrowdevice_device_counters, regions, 24, 8);
MEMBER(arrowdevice_device_counters, events, 32, 8);
MEMBER(arrowdevice_device_counters, host_waits, 40, 8);
MEMBER(arrowdevice_device_counters, readbacks, 48, 8);
MEMBER(arrowdevice_device_counters, bytes_in, 56, 8);
MEMBER(arrowdevice_device_counters, bytes_out, 64, 8);
MEMBER(arrowdevice_device_counters, staged_bytes, 72, 8);

GROWS(arrowdevice_native_device, 104);
MEMBER(arrowdevice_native_device, queue_family, 4, 4);
MEMBER(arrowdevice_native_device, api_version, 8, 4);
MEMBER(arrowdevice_native_device, n_extensions, 12, 4);
MEMBER(arrowdevice_native_device, platform, 16, 8);
MEMBER(arrowdevice_native_device, physical_device, 24, 8);
MEMBER(arrowdevice_native_device, device, 32, 8);
MEMBER(arrowdevice_native_device, context, 40, 8);
MEMBER(arrowdevice_native_device, queue, 48, 8);
MEMBER(arrowdevice_native_device, get_proc_addr, 56, 8);
MEMBER(arrowdevice_native_device, extensions, 64, 8);
MEMBER(arrowdevice_native_device, features, 72, 8);
MEMBER(arrowdevice_native_device, lock, 80, 8);
MEMBER(arrowdevice_native_device, unlock, 88, 8);
MEMBER(arrowdevice_native_device, lock_user, 96, 8);

GROWS(arrowdevice_backend_report, 1536);
MEMBER(arrowdevice_backend_report, status, 4, 4);
MEMBER(arrowdevice_backend_report, name, 8, 16);
MEMBER(arrowdevice_backend_report, path, 24, 1024);
MEMBER(arrowdevice_backend_report, reason, 1048, 488);

GROWS(arrowdevice_native_queue, 16);
MEMBER(arrowdevice_native_queue, family, 4, 4);
MEMBER(arrowdevice_native_queue, queue, 8, 8);

GROWS(arrowdevice_pool_options, 56);
MEMBER(arrowdevice_pool_options, flags, 4, 4);
MEMBER(arrowdevice_pool_options, max_cached_bytes, 8, 8);
MEMBER(arrowdevice_pool_options, max_bytes, 16, 8);
MEMBER(arrowdevice_pool_options, allocate, 24, 8);
MEMBER(arrowdevice_pool_options, deallocate, 32, 8);
MEMBER(arrowdevice_pool_options, destroy, 40, 8);
MEMBER(arrowdevice_pool_options, user, 48, 8);

GROWS(arrowdevice_pool_stats, 48);
MEMBER(arrowdevice_pool_stats, reserved, 4, 4);
MEMBER(arrowdevice_pool_stats, used_bytes, 8, 8);
MEMBER(arrowdevice_pool_stats, cached_bytes, 16, 8);
MEMBER(arrowdevice_pool_stats, peak_bytes, 24, 8);
MEMBER(arrowdevice_pool_stats, allocations, 32, 8);
MEMBER(arrowdevice_pool_stats, driver_allocations, 40, 8);

FROZEN(arrowdevice_copy_region, 64);
MEMBER(arrowdevice_copy_region, dst_device, 0, 8);
MEMBER(arrowdevice_copy_region, dst, 8, 8);
MEMBER(arrowdevice_copy_region, dst_offset, 16, 8);
MEMBER(arrowdevice_copy_region, src_device, 24, 8);
MEMBER(arrowdevice_copy_region, src, 32, 8);
MEMBER(arrowdevice_copy_region, src_offset, 40, 8);
MEMBER(arrowdevice_copy_region, size, 48, 8);
MEMBER(arrowdevice_copy_region, reserved, 56, 8);

FROZEN(arrowdevice_ipc_handle, 56);
MEMBER(arrowdevice_ipc_handle, bytes, 0, 8);
MEMBER(arrowdevice_ipc_handle, size, 8, 8);
MEMBER(arrowdevice_ipc_handle, descriptors, 16, 8);
MEMBER(arrowdevice_ipc_handle, n_descriptors, 24, 4);
MEMBER(arrowdevice_ipc_handle, reserved, 28, 4);
MEMBER(arrowdevice_ipc_handle, copied_bytes, 32, 8);
MEMBER(arrowdevice_ipc_handle, release, 40, 8);
MEMBER(arrowdevice_ipc_handle, private_data, 48, 8);

GROWS(arrowdevice_copy_options, 40);
MEMBER(arrowdevice_copy_options, flags, 4, 4);
MEMBER(arrowdevice_copy_options, queue, 8, 8);
MEMBER(arrowdevice_copy_options, pool, 16, 8);
MEMBER(arrowdevice_copy_options, source_device, 24, 8);
MEMBER(arrowdevice_copy_options, timeout_ns, 32, 8);

GROWS(arrowdevice_import_options, 40);
MEMBER(arrowdevice_import_options, flags, 4, 4);
MEMBER(arrowdevice_import_options, queue, 8, 8);
MEMBER(arrowdevice_import_options, source_device, 16, 8);
MEMBER(arrowdevice_import_options, validate, 24, 4);
MEMBER(arrowdevice_import_options, reserved, 28, 4);
MEMBER(arrowdevice_import_options, timeout_ns, 32, 8);

FROZEN(arrowdevice_node_buffer, 32);
MEMBER(arrowdevice_node_buffer, data, 0, 8);
MEMBER(arrowdevice_node_buffer, size, 8, 8);
MEMBER(arrowdevice_node_buffer, role, 16, 4);
MEMBER(arrowdevice_node_buffer, flags, 20, 4);
MEMBER(arrowdevice_node_buffer, reserved, 24, 8);

FROZEN(arrowdevice_node, 176);
MEMBER(arrowdevice_node, name, 0, 8);
MEMBER(arrowdevice_node, format, 8, 8);
MEMBER(arrowdevice_node, metadata, 16, 8);
MEMBER(arrowdevice_node, extension_name, 24, 8);
MEMBER(arrowdevice_node, extension_metadata, 32, 8);
MEMBER(arrowdevice_node, extension_metadata_size, 40, 8);
MEMBER(arrowdevice_node, length, 48, 8);
MEMBER(arrowdevice_node, offset, 56, 8);
MEMBER(arrowdevice_node, null_count, 64, 8);
MEMBER(arrowdevice_node, flags, 72, 8);
MEMBER(arrowdevice_node, layout, 80, 4);
MEMBER(arrowdevice_node, n_buffers, 84, 4);
MEMBER(arrowdevice_node, n_children, 88, 8);
MEMBER(arrowdevice_node, bit_width, 96, 8);
MEMBER(arrowdevice_node, list_size, 104, 8);
MEMBER(arrowdevice_node, buffers, 112, 8);
MEMBER(arrowdevice_node, children, 120, 8);
MEMBER(arrowdevice_node, dictionary, 128, 8);
MEMBER(arrowdevice_node, array, 136, 8);
MEMBER(arrowdevice_node, reserved, 144, 32);

GROWS(arrowdevice_stream_options, 48);
MEMBER(arrowdevice_stream_options, flags, 4, 4);
MEMBER(arrowdevice_stream_options, depth, 8, 4);
MEMBER(arrowdevice_stream_options, copy_flags, 12, 4);
MEMBER(arrowdevice_stream_options, queue, 16, 8);
MEMBER(arrowdevice_stream_options, pool, 24, 8);
MEMBER(arrowdevice_stream_options, source_device, 32, 8);
MEMBER(arrowdevice_stream_options, timeout_ns, 40, 8);

GROWS(arrowdevice_async_options, 72);
MEMBER(arrowdevice_async_options, flags, 4, 4);
MEMBER(arrowdevice_async_options, depth, 8, 4);
MEMBER(arrowdevice_async_options, upstream_layout, 12, 4);
MEMBER(arrowdevice_async_options, copy_flags, 16, 4);
MEMBER(arrowdevice_async_options, reserved, 20, 4);
MEMBER(arrowdevice_async_options, queue, 24, 8);
MEMBER(arrowdevice_async_options, pool, 32, 8);
MEMBER(arrowdevice_async_options, source_device, 40, 8);
MEMBER(arrowdevice_async_options, submit, 48, 8);
MEMBER(arrowdevice_async_options, user, 56, 8);
MEMBER(arrowdevice_async_options, get_metadata, 64, 8);

/* -- backend.h */

VALUE(ARROWDEVICE_BACKEND_ABI_VERSION, 1);

VALUE(ARROWDEVICE_POINTER_KNOWN, 1);
VALUE(ARROWDEVICE_POINTER_HOST_READABLE, 2);

FROZEN(arrowdevice_backend_region, 64);
MEMBER(arrowdevice_backend_region, dst_device, 0, 8);
MEMBER(arrowdevice_backend_region, dst, 8, 8);
MEMBER(arrowdevice_backend_region, dst_offset, 16, 8);
MEMBER(arrowdevice_backend_region, src_device, 24, 8);
MEMBER(arrowdevice_backend_region, src, 32, 8);
MEMBER(arrowdevice_backend_region, src_offset, 40, 8);
MEMBER(arrowdevice_backend_region, size, 48, 8);
MEMBER(arrowdevice_backend_region, reserved, 56, 8);

GROWS(arrowdevice_pointer_info, 40);
MEMBER(arrowdevice_pointer_info, flags, 4, 4);
MEMBER(arrowdevice_pointer_info, device_type, 8, 4);
MEMBER(arrowdevice_pointer_info, reserved, 12, 4);
MEMBER(arrowdevice_pointer_info, device_id, 16, 8);
MEMBER(arrowdevice_pointer_info, base, 24, 8);
MEMBER(arrowdevice_pointer_info, size, 32, 8);

VALUE(ARROWDEVICE_MEMORY_DESCRIPTOR, 1);
VALUE(ARROWDEVICE_MEMORY_BYTES, 2);

GROWS(arrowdevice_memory_record, 128);
MEMBER(arrowdevice_memory_record, kind, 4, 4);
MEMBER(arrowdevice_memory_record, descriptor, 8, 4);
MEMBER(arrowdevice_memory_record, memory_type, 12, 4);
MEMBER(arrowdevice_memory_record, size, 16, 8);
MEMBER(arrowdevice_memory_record, device_uuid, 24, 16);
MEMBER(arrowdevice_memory_record, driver_uuid, 40, 16);
MEMBER(arrowdevice_memory_record, bytes, 56, 72);

GROWS(arrowdevice_backend, 320);
MEMBER(arrowdevice_backend, abi_version, 4, 4);
MEMBER(arrowdevice_backend, name, 8, 8);
MEMBER(arrowdevice_backend, version, 16, 8);
MEMBER(arrowdevice_backend, device_types, 24, 8);
MEMBER(arrowdevice_backend, n_device_types, 32, 4);
MEMBER(arrowdevice_backend, reserved, 36, 4);
MEMBER(arrowdevice_backend, device_count, 40, 8);
MEMBER(arrowdevice_backend, device_open, 48, 8);
MEMBER(arrowdevice_backend, device_get_info, 56, 8);
MEMBER(arrowdevice_backend, buffer_allocate, 64, 8);
MEMBER(arrowdevice_backend, buffer_free, 72, 8);
MEMBER(arrowdevice_backend, queue_create, 80, 8);
MEMBER(arrowdevice_backend, queue_destroy, 88, 8);
MEMBER(arrowdevice_backend, queue_copy, 96, 8);
MEMBER(arrowdevice_backend, event_record, 104, 8);
MEMBER(arrowdevice_backend, event_query, 112, 8);
MEMBER(arrowdevice_backend, event_wait, 120, 8);
MEMBER(arrowdevice_backend, queue_wait_event, 128, 8);
MEMBER(arrowdevice_backend, event_destroy, 136, 8);
MEMBER(arrowdevice_backend, event_publish, 144, 8);
MEMBER(arrowdevice_backend, event_import, 152, 8);
MEMBER(arrowdevice_backend, sub_buffer_create, 160, 8);
MEMBER(arrowdevice_backend, sub_buffer_destroy, 168, 8);
MEMBER(arrowdevice_backend, queue_wrap, 176, 8);
MEMBER(arrowdevice_backend, queue_get_native, 184, 8);
MEMBER(arrowdevice_backend, device_wrap, 192, 8);
MEMBER(arrowdevice_backend, device_unwrap, 200, 8);
MEMBER(arrowdevice_backend, device_get_native, 208, 8);
MEMBER(arrowdevice_backend, device_get_peer_flags, 216, 8);
MEMBER(arrowdevice_backend, device_locate, 224, 8);
MEMBER(arrowdevice_backend, pointer_get_info, 232, 8);
MEMBER(arrowdevice_backend, device_get_memory_info, 240, 8);
MEMBER(arrowdevice_backend, device_record_event, 248, 8);
MEMBER(arrowdevice_backend, device_trim, 256, 8);
MEMBER(arrowdevice_backend, staging_allocate, 264, 8);
MEMBER(arrowdevice_backend, staging_free, 272, 8);
MEMBER(arrowdevice_backend, shareable_allocate, 280, 8);
MEMBER(arrowdevice_backend, shareable_free, 288, 8);
MEMBER(arrowdevice_backend, memory_export, 296, 8);
MEMBER(arrowdevice_backend, memory_import, 304, 8);
MEMBER(arrowdevice_backend, memory_close, 312, 8);

#else
typedef int arrowdevice_layout_is_checked_on_lp64_only; /* a source file must not be empty */
#endif

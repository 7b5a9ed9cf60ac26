# SPDX-License-Identifier: Apache-2.0
# Declarations of arrowdevice.h that the package uses.
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t

cdef extern from "arrowdevice/abi.h" nogil:
    ctypedef int32_t ArrowDeviceType

    struct ArrowSchema:
        const char* format
        const char* name
        const char* metadata
        int64_t flags
        int64_t n_children
        ArrowSchema** children
        ArrowSchema* dictionary
        void (*release)(ArrowSchema*) noexcept nogil

    struct ArrowArray:
        int64_t length
        int64_t null_count
        int64_t offset
        int64_t n_buffers
        int64_t n_children
        const void** buffers
        ArrowArray** children
        ArrowArray* dictionary
        void (*release)(ArrowArray*) noexcept nogil

    struct ArrowDeviceArray:
        ArrowArray array
        int64_t device_id
        ArrowDeviceType device_type
        void* sync_event
        int64_t reserved[3]

    struct ArrowArrayStream:
        void (*release)(ArrowArrayStream*) noexcept nogil

    struct ArrowDeviceArrayStream:
        ArrowDeviceType device_type
        void (*release)(ArrowDeviceArrayStream*) noexcept nogil

    struct ArrowAsyncDeviceStreamHandler:
        void (*release)(ArrowAsyncDeviceStreamHandler*) noexcept nogil

cdef extern from "arrowdevice/arrowdevice.h" nogil:
    enum:
        ARROWDEVICE_COPY_ASYNC
        ARROWDEVICE_COPY_ALWAYS
        ARROWDEVICE_COPY_NEVER
        ARROWDEVICE_POOL_SHAREABLE
        ARROWDEVICE_STREAM_READ_AHEAD
        ARROWDEVICE_LINK_ANY_USER
        ARROWDEVICE_LINK_ISOLATED
        ARROWDEVICE_BUFFER_SIZE_KNOWN
        ARROWDEVICE_BUFFER_HOST
        ARROWDEVICE_ROLE_DATA
        ARROWDEVICE_ROLE_OFFSETS
        ARROWDEVICE_ROLE_SIZES
        ARROWDEVICE_ROLE_TYPE_IDS
        ARROWDEVICE_ROLE_VARIADIC_SIZES
        ARROWDEVICE_LAYOUT_FIXED
        ARROWDEVICE_LAYOUT_LARGE_BINARY
        ARROWDEVICE_LAYOUT_LARGE_LIST
        ARROWDEVICE_LAYOUT_LARGE_LIST_VIEW

    struct arrowdevice_device
    struct arrowdevice_queue
    struct arrowdevice_pool
    struct arrowdevice_view

    # The structs get names of their own because some functions have the name of a struct, which Cython would confuse.
    struct error_t "arrowdevice_error":
        int32_t code
        int32_t native_code
        char backend[16]
        char message[488]

    struct device_info_t "arrowdevice_device_info":
        uint32_t struct_size
        ArrowDeviceType device_type
        int64_t device_id
        char name[128]
        char vendor[64]
        char backend[16]
        uint8_t uuid[16]
        int64_t total_memory
        int64_t buffer_alignment
        int64_t sub_buffer_alignment
        uint64_t flags
        ArrowDeviceType staging_type
        int32_t numa_node

    struct device_counters_t "arrowdevice_device_counters":
        uint32_t struct_size
        int64_t driver_allocations
        int64_t submissions
        int64_t regions
        int64_t events
        int64_t host_waits
        int64_t readbacks
        int64_t bytes_in
        int64_t bytes_out
        int64_t staged_bytes

    struct pool_options_t "arrowdevice_pool_options":
        uint32_t struct_size
        uint32_t flags
        int64_t max_cached_bytes
        int64_t max_bytes

    struct native_device_t "arrowdevice_native_device":
        uint32_t struct_size
        uint32_t queue_family
        uint32_t api_version
        uint32_t n_extensions
        void* platform
        void* physical_device
        void* device
        void* context
        void* queue
        void* get_proc_addr
        const char* const* extensions
        const void* features
        void (*lock)(void* user, void* native_queue) noexcept nogil
        void (*unlock)(void* user, void* native_queue) noexcept nogil
        void* lock_user

    struct ipc_handle_t "arrowdevice_ipc_handle":
        const uint8_t* bytes
        int64_t size
        const int* descriptors
        int32_t n_descriptors
        int64_t copied_bytes
        void (*release)(ipc_handle_t*) noexcept nogil

    struct arrowdevice_server:
        pass

    struct server_options_t "arrowdevice_server_options":
        uint32_t struct_size
        uint32_t flags
        uint32_t copy_flags
        int32_t max_clients
        int64_t max_client_bytes

    struct connect_options_t "arrowdevice_connect_options":
        uint32_t struct_size
        uint32_t flags
        uint32_t copy_flags
        int32_t max_batches
        int64_t max_bytes
        int64_t timeout_ns

    struct server_stats_t "arrowdevice_server_stats":
        uint32_t struct_size
        int64_t clients
        int64_t batches
        int64_t bytes
        int64_t copied_bytes

    struct pool_stats_t "arrowdevice_pool_stats":
        uint32_t struct_size
        int64_t used_bytes
        int64_t cached_bytes
        int64_t peak_bytes
        int64_t allocations
        int64_t driver_allocations

    struct backend_report_t "arrowdevice_backend_report":
        uint32_t struct_size
        int32_t status
        char name[16]
        char path[1024]
        char reason[488]

    struct native_queue_t "arrowdevice_native_queue":
        uint32_t struct_size
        uint32_t family
        void* queue

    struct copy_options_t "arrowdevice_copy_options":
        uint32_t struct_size
        uint32_t flags
        arrowdevice_queue* queue
        arrowdevice_pool* pool
        arrowdevice_device* source_device
        int64_t timeout_ns

    struct import_options_t "arrowdevice_import_options":
        uint32_t struct_size
        uint32_t flags
        int32_t validate

    struct node_buffer_t "arrowdevice_node_buffer":
        const void* data
        int64_t size
        uint32_t role
        uint32_t flags

    struct node_t "arrowdevice_node":
        const char* name
        const char* format
        int64_t length
        int64_t offset
        int64_t null_count
        int32_t layout
        int32_t n_buffers
        int64_t bit_width
        int64_t n_children
        const node_buffer_t* buffers
        const node_t* const* children
        const node_t* dictionary

    struct stream_options_t "arrowdevice_stream_options":
        uint32_t struct_size
        uint32_t flags
        int32_t depth
        uint32_t copy_flags
        arrowdevice_queue* queue
        arrowdevice_pool* pool
        arrowdevice_device* source_device
        int64_t timeout_ns

    struct async_options_t "arrowdevice_async_options":
        uint32_t struct_size
        uint32_t flags
        int32_t depth
        uint32_t copy_flags

    const char* arrowdevice_version()
    int arrowdevice_device_find_by_id(ArrowDeviceType, int64_t, arrowdevice_device**, error_t*)
    int arrowdevice_device_list(arrowdevice_device**, int64_t, int64_t*, error_t*)
    int arrowdevice_device_get_info(const arrowdevice_device*, device_info_t*, error_t*)
    int arrowdevice_device_get_peer_flags(const arrowdevice_device*, const arrowdevice_device*, uint32_t*, error_t*)
    int arrowdevice_device_find_by_name(const char*, arrowdevice_device**, error_t*)
    const char* arrowdevice_device_type_get_name(ArrowDeviceType)
    int arrowdevice_device_get_memory_info(const arrowdevice_device*, int64_t*, int64_t*, error_t*)
    int arrowdevice_device_get_counters(const arrowdevice_device*, device_counters_t*, error_t*)
    int arrowdevice_device_get_pool(const arrowdevice_device*, arrowdevice_pool**, error_t*)
    int arrowdevice_device_set_pool(arrowdevice_device*, arrowdevice_pool*, error_t*)
    int arrowdevice_device_get_native(const arrowdevice_device*, native_device_t*, error_t*)
    int arrowdevice_pool_create(arrowdevice_device*, const pool_options_t*, arrowdevice_pool**, error_t*)
    void arrowdevice_pool_destroy(arrowdevice_pool*)
    int arrowdevice_buffer_allocate(arrowdevice_device*, arrowdevice_pool*, arrowdevice_queue*, int64_t, void**,
                                    error_t*)
    void arrowdevice_buffer_free(arrowdevice_device*, arrowdevice_queue*, void*)
    int arrowdevice_pool_get_stats(const arrowdevice_pool*, pool_stats_t*, error_t*)
    int arrowdevice_pool_trim(arrowdevice_pool*, error_t*)
    int arrowdevice_backend_get_report(int64_t, backend_report_t*, error_t*)
    int arrowdevice_device_wrap(ArrowDeviceType, int64_t, const native_device_t*, arrowdevice_device**, error_t*)
    int arrowdevice_device_unwrap(arrowdevice_device*, int64_t, error_t*)
    int arrowdevice_queue_create(arrowdevice_device*, arrowdevice_queue**, error_t*)
    int arrowdevice_queue_get_native(const arrowdevice_queue*, native_queue_t*, error_t*)
    int arrowdevice_queue_finish(arrowdevice_queue*, int64_t, error_t*)
    int arrowdevice_queue_wait_array(arrowdevice_queue*, const ArrowDeviceArray*, arrowdevice_device*, error_t*)
    int arrowdevice_array_release_after(ArrowDeviceArray*, arrowdevice_queue*, error_t*)
    int arrowdevice_array_export(arrowdevice_device*, ArrowArray*, arrowdevice_queue*, ArrowDeviceArray*, error_t*)
    int arrowdevice_queue_wrap(arrowdevice_device*, const native_queue_t*, arrowdevice_queue**, error_t*)
    void arrowdevice_queue_destroy(arrowdevice_queue*)
    int arrowdevice_array_get_device(const ArrowDeviceArray*, arrowdevice_device**, error_t*)
    int arrowdevice_array_import(ArrowDeviceArray*, const ArrowSchema*, const import_options_t*, arrowdevice_view**,
                                 error_t*)
    const node_t* arrowdevice_view_get_root(const arrowdevice_view*)
    void arrowdevice_view_release(arrowdevice_view*)
    void arrowdevice_array_release(ArrowDeviceArray*)
    int arrowdevice_array_is_ready(const ArrowDeviceArray*, arrowdevice_device*, int*, error_t*)
    int arrowdevice_array_wait(const ArrowDeviceArray*, arrowdevice_device*, int64_t, error_t*)
    int arrowdevice_array_to_device(ArrowDeviceArray*, const ArrowSchema*, arrowdevice_device*, const copy_options_t*,
                                  ArrowDeviceArray*, error_t*)
    int arrowdevice_array_from_host(ArrowArray*, ArrowDeviceArray*, error_t*)
    int arrowdevice_array_to_host(ArrowDeviceArray*, const ArrowSchema*, const copy_options_t*, ArrowArray*, error_t*)
    int arrowdevice_array_to_host_async(ArrowDeviceArray*, const ArrowSchema*, const copy_options_t*,
                                        void (*)(void*, ArrowArray*, ArrowDeviceArray*, const error_t*) noexcept nogil,
                                        void*, error_t*)
    int arrowdevice_array_open_eventfd(const ArrowDeviceArray*, arrowdevice_device*, int*, error_t*)
    int arrowdevice_array_share(ArrowDeviceArray*, ArrowDeviceArray*, error_t*)
    int arrowdevice_array_slice(ArrowDeviceArray*, const ArrowSchema*, int64_t, int64_t, ArrowDeviceArray*, error_t*)
    int arrowdevice_array_select(ArrowDeviceArray*, const ArrowSchema*, const int64_t*, int64_t, ArrowDeviceArray*,
                                 ArrowSchema*, error_t*)
    int arrowdevice_array_validate(const ArrowDeviceArray*, const ArrowSchema*, arrowdevice_device*, int, error_t*)
    int arrowdevice_array_get_ipc_handle(ArrowDeviceArray*, const ArrowSchema*, const copy_options_t*, ipc_handle_t*,
                                         error_t*)
    void arrowdevice_ipc_handle_release(ipc_handle_t*)
    int arrowdevice_array_open_ipc_handle(const uint8_t*, int64_t, const int*, int64_t, const copy_options_t*,
                                          ArrowDeviceArray*, ArrowSchema*, error_t*)
    int arrowdevice_server_create(const char*, const server_options_t*, arrowdevice_server**, error_t*)
    int arrowdevice_server_add_stream(arrowdevice_server*, const char*, ArrowDeviceArrayStream*, error_t*)
    int arrowdevice_server_add_arrays(arrowdevice_server*, const char*, const ArrowSchema*, ArrowDeviceArray*, int64_t,
                                      error_t*)
    int arrowdevice_server_add_source(arrowdevice_server*, const char*,
                                      int (*)(void*, ArrowDeviceArrayStream*, error_t*) noexcept nogil, void*,
                                      void (*)(void*) noexcept nogil, error_t*)
    int arrowdevice_server_remove(arrowdevice_server*, const char*, error_t*)
    int arrowdevice_server_get_stats(const arrowdevice_server*, server_stats_t*, error_t*)
    void arrowdevice_server_destroy(arrowdevice_server*)
    int arrowdevice_stream_connect(const char*, arrowdevice_device*, const connect_options_t*, ArrowDeviceArrayStream*,
                                   error_t*)
    int arrowdevice_wait_idle(int64_t, error_t*)
    int arrowdevice_schema_copy(const ArrowSchema*, ArrowSchema*, error_t*)
    void arrowdevice_schema_release(ArrowSchema*)
    void arrowdevice_host_array_release(ArrowArray*)
    int arrowdevice_stream_get_schema(ArrowDeviceArrayStream*, ArrowSchema*, error_t*)
    int arrowdevice_stream_get_next(ArrowDeviceArrayStream*, ArrowDeviceArray*, error_t*)
    void arrowdevice_stream_release(ArrowDeviceArrayStream*)
    int arrowdevice_stream_from_arrays(ArrowSchema*, ArrowDeviceArray*, int64_t, ArrowDeviceType,
                                       ArrowDeviceArrayStream*, error_t*)
    int arrowdevice_stream_from_host(ArrowArrayStream*, ArrowDeviceArrayStream*, error_t*)
    int arrowdevice_stream_to_host(ArrowDeviceArrayStream*, const stream_options_t*, ArrowArrayStream*, error_t*)
    int arrowdevice_stream_to_device(ArrowDeviceArrayStream*, arrowdevice_device*, const stream_options_t*,
                                   ArrowDeviceArrayStream*, error_t*)
    int arrowdevice_stream_cancel(ArrowDeviceArrayStream*, error_t*)
    int arrowdevice_async_produce(ArrowDeviceArrayStream*, ArrowAsyncDeviceStreamHandler*, const async_options_t*,
                                  error_t*)
    int arrowdevice_async_collect(ArrowDeviceType, const async_options_t*, ArrowAsyncDeviceStreamHandler**,
                                  ArrowDeviceArrayStream*, error_t*)
    int arrowdevice_async_to_device(ArrowAsyncDeviceStreamHandler*, arrowdevice_device*, const async_options_t*,
                                  ArrowAsyncDeviceStreamHandler**, error_t*)

cdef extern from "gil.h" nogil:
    int gil_is_supported()

cdef extern from "parts.h":
    int parts_array(object, int64_t, int64_t, ArrowArray*)

cdef extern from "signals.h" nogil:
    void signals_begin()
    void signals_end()
    int signals_raise()

cdef extern from "outgoing.h" nogil:
    int outgoing_device_stream(ArrowDeviceArrayStream*)
    int outgoing_host_stream(ArrowArrayStream*)

cdef extern from "guard.h" nogil:
    int guard_array(ArrowArray*)
    int guard_stream(ArrowDeviceArrayStream*)
    int guard_enter()
    void guard_leave()
    int64_t guard_close(int64_t)

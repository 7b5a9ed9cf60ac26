# SPDX-License-Identifier: Apache-2.0
# Part of _core.pyx: capsules, with the names and destructors of the Arrow PyCapsule interface. A destructor frees the
# struct. It releases the content first if no consumer has moved it out.

cdef void destroy_schema(object capsule) noexcept:
    cdef ArrowSchema* schema = <ArrowSchema*>PyCapsule_GetPointer(capsule, "arrow_schema")
    arrowdevice_schema_release(schema)
    free(schema)


cdef void destroy_array(object capsule) noexcept:
    cdef ArrowArray* array = <ArrowArray*>PyCapsule_GetPointer(capsule, "arrow_array")
    with nogil:
        arrowdevice_host_array_release(array)
        free(array)


cdef void destroy_device_array(object capsule) noexcept:
    cdef ArrowDeviceArray* array = <ArrowDeviceArray*>PyCapsule_GetPointer(capsule, "arrow_device_array")
    with nogil:
        arrowdevice_array_release(array)
        free(array)


cdef void destroy_stream(object capsule) noexcept:
    cdef ArrowArrayStream* stream = <ArrowArrayStream*>PyCapsule_GetPointer(capsule, "arrow_array_stream")
    with nogil:
        if stream.release is not NULL:
            stream.release(stream)
        free(stream)


cdef void destroy_device_stream(object capsule) noexcept:
    cdef ArrowDeviceArrayStream* stream = \
        <ArrowDeviceArrayStream*>PyCapsule_GetPointer(capsule, "arrow_device_array_stream")
    with nogil:
        arrowdevice_stream_release(stream)
        free(stream)


cdef void* in_capsule(object capsule, const char* name, str kind) except NULL:
    """Returns the pointer in a producer's capsule."""
    if not PyCapsule_IsValid(capsule, name):
        raise TypeError(f"expected a capsule named {text(name)!r} with {kind}, got {capsule!r}")
    return PyCapsule_GetPointer(capsule, name)


cdef void* zeroed(size_t size) except NULL:
    """Allocates zeroed memory with malloc."""
    cdef void* block = malloc(size)
    if block is NULL:
        raise MemoryError()
    memset(block, 0, size)
    return block

# SPDX-License-Identifier: Apache-2.0
# Part of _core.pyx: tensors in capsules. Which stream and which version is decided in _dlpack.py.

from cpython.pycapsule cimport PyCapsule_SetName

cdef extern from "tensors.h" nogil:
    enum: IS_COPIED
    struct legacy_tensor
    struct versioned_tensor:
        uint64_t flags
    struct DLManagedTensorVersioned
    versioned_tensor* guard_versioned(versioned_tensor*)
    versioned_tensor* guard_legacy(legacy_tensor*)
    legacy_tensor* as_legacy(versioned_tensor*)
    void delete_versioned(versioned_tensor*)
    void delete_legacy(legacy_tensor*)
    int arrowdevice_dlpack_export(ArrowDeviceArray*, const ArrowSchema*, arrowdevice_queue*, DLManagedTensorVersioned**,
                                  error_t*)
    int arrowdevice_dlpack_import(DLManagedTensorVersioned*, arrowdevice_queue*, ArrowDeviceArray*, ArrowSchema*,
                                  error_t*)


# What a consumer has taken it has also renamed.
cdef void end_versioned(object capsule) noexcept:
    if PyCapsule_IsValid(capsule, "dltensor_versioned"):
        delete_versioned(<versioned_tensor*>PyCapsule_GetPointer(capsule, "dltensor_versioned"))


cdef void end_legacy(object capsule) noexcept:
    if PyCapsule_IsValid(capsule, "dltensor"):
        delete_legacy(<legacy_tensor*>PyCapsule_GetPointer(capsule, "dltensor"))


cdef class Queue:
    """A vendor's own stream, as an integer: 0 is its default stream."""

    cdef arrowdevice_queue* pointer

    def __cinit__(self, Device device not None, size_t native):
        cdef native_queue_t handle
        cdef error_t error
        cdef int code
        memset(&handle, 0, sizeof(handle))
        handle.struct_size = sizeof(handle)
        handle.queue = <void*>native
        with nogil:
            code = arrowdevice_queue_wrap(device.pointer, &handle, &self.pointer, &error)
        check(code, &error)

    def __dealloc__(self):
        arrowdevice_queue_destroy(self.pointer)


def dlpack_export(Array array not None, Queue waiter, bint versioned, bint copied):
    """An array as a capsule that `from_dlpack` takes. `copied`: it is a copy that nobody else has, and may be written to."""
    cdef arrowdevice_queue* queue = NULL if waiter is None else waiter.pointer
    cdef ArrowDeviceArray own
    cdef DLManagedTensorVersioned* tensor = NULL
    cdef legacy_tensor* legacy
    cdef error_t error
    cdef int code
    array.share(&own)
    with nogil:
        code = arrowdevice_dlpack_export(&own, array.schema.pointer, queue, &tensor, &error)
        arrowdevice_array_release(&own)
    check(code, &error)
    if copied:
        (<versioned_tensor*>tensor).flags = IS_COPIED
    if versioned:
        try:
            return PyCapsule_New(tensor, "dltensor_versioned", end_versioned)
        except:
            delete_versioned(<versioned_tensor*>tensor)
            raise
    legacy = as_legacy(<versioned_tensor*>tensor)
    if legacy is NULL:
        delete_versioned(<versioned_tensor*>tensor)
        raise MemoryError()
    try:
        return PyCapsule_New(legacy, "dltensor", end_legacy)
    except:
        delete_legacy(legacy)
        raise


def dlpack_import(capsule, Queue written_on):
    """The tensor in a producer's capsule as an array."""
    cdef arrowdevice_queue* queue = NULL if written_on is None else written_on.pointer
    cdef versioned_tensor* tensor
    cdef Array out = Array.__new__(Array)
    cdef Schema schema = Schema.__new__(Schema)
    cdef error_t error
    cdef int code
    if PyCapsule_IsValid(capsule, "dltensor_versioned"):
        tensor = guard_versioned(<versioned_tensor*>PyCapsule_GetPointer(capsule, "dltensor_versioned"))
        if tensor is NULL:
            raise MemoryError()
        PyCapsule_SetName(capsule, "used_dltensor_versioned")
    elif PyCapsule_IsValid(capsule, "dltensor"):
        tensor = guard_legacy(<legacy_tensor*>PyCapsule_GetPointer(capsule, "dltensor"))
        if tensor is NULL:
            raise MemoryError()
        PyCapsule_SetName(capsule, "used_dltensor")
    else:
        raise TypeError(f"expected a capsule with a DLPack tensor that nobody has taken, got {capsule!r}")
    with nogil:
        code = arrowdevice_dlpack_import(<DLManagedTensorVersioned*>tensor, queue, &out.own, &schema.own, &error)
        if code != 0:
            delete_versioned(tensor)
    check(code, &error)
    out.schema = schema
    return out

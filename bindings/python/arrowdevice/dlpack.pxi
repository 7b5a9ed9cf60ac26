# SPDX-License-Identifier: Apache-2.0
# Part of _core.pyx: tensors in capsules. _dlpack.py chooses the stream and the version.

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


# A consumer that takes a tensor renames the capsule. A destructor deletes only a tensor that is still in its capsule.
cdef void destroy_versioned(object capsule) noexcept:
    if PyCapsule_IsValid(capsule, "dltensor_versioned"):
        delete_versioned(<versioned_tensor*>PyCapsule_GetPointer(capsule, "dltensor_versioned"))


cdef void destroy_legacy(object capsule) noexcept:
    if PyCapsule_IsValid(capsule, "dltensor"):
        delete_legacy(<legacy_tensor*>PyCapsule_GetPointer(capsule, "dltensor"))


def dlpack_export(Array array not None, Queue consumer_queue, bint versioned, bint copied):
    """Returns a capsule for `from_dlpack`.

    `copied` marks a copy that has no other owner. The consumer may write to it.
    """
    cdef arrowdevice_queue* queue = NULL if consumer_queue is None else consumer_queue.pointer
    cdef ArrowDeviceArray own
    cdef DLManagedTensorVersioned* tensor = NULL
    cdef legacy_tensor* legacy
    cdef error_t error
    cdef int code
    array.share(&own)
    with nogil:
        signals_begin()
        code = arrowdevice_dlpack_export(&own, array.schema.pointer, queue, &tensor, &error)
        signals_end()
        arrowdevice_array_release(&own)
    check(code, &error)
    if copied:
        (<versioned_tensor*>tensor).flags = IS_COPIED
    if versioned:
        try:
            return PyCapsule_New(tensor, "dltensor_versioned", destroy_versioned)
        except:
            delete_versioned(<versioned_tensor*>tensor)
            raise
    legacy = as_legacy(<versioned_tensor*>tensor)
    if legacy is NULL:
        delete_versioned(<versioned_tensor*>tensor)
        raise MemoryError()
    try:
        return PyCapsule_New(legacy, "dltensor", destroy_legacy)
    except:
        delete_legacy(legacy)
        raise


def dlpack_import(capsule, Queue producer_queue):
    """Moves the tensor out of a producer's capsule and returns it as an array."""
    cdef arrowdevice_queue* queue = NULL if producer_queue is None else producer_queue.pointer
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
        raise TypeError(f"expected a capsule with an unconsumed DLPack tensor, got {capsule!r}")
    with nogil:
        signals_begin()
        code = arrowdevice_dlpack_import(<DLManagedTensorVersioned*>tensor, queue, &out.own, &schema.own, &error)
        signals_end()
        if code != 0:
            delete_versioned(tensor)
    check(code, &error)
    out.schema = schema
    return out

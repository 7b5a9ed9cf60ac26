# SPDX-License-Identifier: Apache-2.0
# Part of _core.pyx: tensors in capsules. _dlpack.py chooses the stream and the version.

from cpython.pycapsule cimport PyCapsule_SetName
from cpython.ref cimport Py_INCREF
from libc.stdint cimport uint16_t, uintptr_t

cdef extern from "tensors.h" nogil:
    enum: IS_COPIED
    struct tensor:
        int32_t device_type
        int32_t device_id
        int32_t ndim
        uint8_t dtype_code
        uint8_t dtype_bits
        uint16_t dtype_lanes
        uint64_t byte_offset
    struct legacy_tensor
    struct versioned_tensor:
        uint64_t flags
        tensor tensor
    struct DLManagedTensorVersioned
    bint _has_streams "has_streams"(int32_t)
    bint _is_host_memory "is_host_memory"(int32_t)
    versioned_tensor* guard_versioned(versioned_tensor*)
    versioned_tensor* guard_legacy(legacy_tensor*)
    void unguard(versioned_tensor*)
    legacy_tensor* as_legacy(versioned_tensor*)
    void delete_versioned(versioned_tensor*)
    void delete_legacy(legacy_tensor*)
    struct shared_tensor
    shared_tensor* share_tensor(versioned_tensor*, ArrowDeviceArray*, arrowdevice_queue*)
    versioned_tensor* owner_of_shared(shared_tensor*)
    void keep_after_end(versioned_tensor*)
    const tensor* view_of_shared(const shared_tensor*)
    void drop_shared(shared_tensor*)
    int arrowdevice_dlpack_export(ArrowDeviceArray*, const ArrowSchema*, arrowdevice_queue*, DLManagedTensorVersioned**,
                                  error_t*)
    int arrowdevice_dlpack_import(DLManagedTensorVersioned*, arrowdevice_queue*, ArrowDeviceArray*, ArrowSchema*,
                                  error_t*)

# The functions have the GIL.
cdef extern from "tensors.h":
    struct exchange_header:
        uint32_t major
        exchange_header* previous
    struct exchange_api:
        exchange_header header
        int (*from_object)(void*, versioned_tensor**) except -1
        int (*work_stream)(int32_t, int32_t, void**) except -1
    const exchange_api* exchange_functions(int (*)(void*, versioned_tensor**) except -1,
                                           int (*)(versioned_tensor*, void**) except -1, int (*)(void*, tensor*) except -1)


def has_streams(int32_t device_type):
    return _has_streams(device_type)


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


# The types of tensors with one dimension, by dtype. A type is immutable, so arrays share it.
cdef list vector_types = [None] * (3 * 9)


cdef int vector_type_of(const tensor* of) noexcept:
    """Returns the place of a tensor's type in `vector_types`, or -1."""
    if of.ndim != 1 or of.dtype_lanes != 1 or of.dtype_code >= 3 or of.dtype_bits % 8 != 0 or of.dtype_bits > 64:
        return -1
    return of.dtype_code * 9 + of.dtype_bits // 8


cdef Array import_tensor(versioned_tensor* guarded, Queue producer_queue):
    """Moves a guarded tensor into an array. If this fails, the caller still has the tensor, without the guard."""
    cdef Array out
    cdef Schema schema
    cdef ArrowSchema* new_schema = NULL
    cdef int vector_type
    cdef arrowdevice_queue* queue = NULL if producer_queue is None else producer_queue.pointer
    cdef error_t error
    cdef int code
    if guarded is NULL:
        raise MemoryError()
    try:
        out = Array.__new__(Array)
        vector_type = vector_type_of(&guarded.tensor)
        schema = None if vector_type < 0 else vector_types[vector_type]
        if schema is None:
            schema = Schema.__new__(Schema)
            new_schema = &schema.own
    except:
        unguard(guarded)
        raise
    if producer_queue is None and guarded.tensor.byte_offset == 0:  # such a call asks no driver, and does not wait
        code = arrowdevice_dlpack_import(<DLManagedTensorVersioned*>guarded, NULL, &out.own, new_schema, &error)
    else:
        with nogil:
            signals_begin()
            code = arrowdevice_dlpack_import(<DLManagedTensorVersioned*>guarded, queue, &out.own, new_schema, &error)
            signals_end()
    if code != 0:
        unguard(guarded)
        check(code, &error)
    if vector_type >= 0 and new_schema is not NULL:
        vector_types[vector_type] = schema
    out.schema = schema
    return out


def dlpack_import(capsule, Queue producer_queue):
    """Moves the tensor out of a producer's capsule and returns it as an array."""
    cdef versioned_tensor* guarded
    cdef const char* name
    cdef const char* used
    if PyCapsule_IsValid(capsule, "dltensor_versioned"):
        guarded = guard_versioned(<versioned_tensor*>PyCapsule_GetPointer(capsule, "dltensor_versioned"))
        name, used = "dltensor_versioned", "used_dltensor_versioned"
    elif PyCapsule_IsValid(capsule, "dltensor"):
        guarded = guard_legacy(<legacy_tensor*>PyCapsule_GetPointer(capsule, "dltensor"))
        name, used = "dltensor", "used_dltensor"
    else:
        raise TypeError(f"expected a capsule with an unconsumed DLPack tensor, got {capsule!r}")
    PyCapsule_SetName(capsule, used)
    try:
        return import_tensor(guarded, producer_queue)
    except:
        PyCapsule_SetName(capsule, name)  # which still has the tensor
        raise


# -- functions for other packages, see tensors.h ---------------------------------------------------------------------------

# The class of arrays in Python, what prepares an array that leaves, and what returns the default stream of a device with
# streams. arrays.py sets them.
cdef object array_class = None
cdef object prepare_tensor = None
cdef object default_stream_of = None


cdef shared_tensor* shared_of(object array) except NULL:
    """Returns the tensor of an object of the array class."""
    cdef Array core = array._core
    if core.tensor is NULL:
        prepare_tensor(core)
        if core.tensor is NULL:
            raise ValueError("the array was released")  # by another thread
    return core.tensor


def share_as_tensor(Array array not None, Queue default_stream):
    """Makes the tensor of an array, and waits for the array. The memory is released behind the stream's work, if given."""
    cdef ArrowDeviceArray held
    cdef arrowdevice_queue* queue = NULL
    cdef object capsule = dlpack_export(array, None, True, False)
    held.array.release = NULL
    if default_stream is not None:
        array.share(&held)
        queue = default_stream.pointer
        default_stream.pointer = NULL
    cdef shared_tensor* made = share_tensor(
        <versioned_tensor*>PyCapsule_GetPointer(capsule, "dltensor_versioned"), &held, queue
    )
    if made is NULL:
        if queue is not NULL:
            arrowdevice_array_release(&held)
            arrowdevice_queue_destroy(queue)
        raise MemoryError()
    PyCapsule_SetName(capsule, "used_dltensor_versioned")
    # Other threads may have released or shared the array meanwhile.
    if array.own.array.release is NULL or array.tensor is not NULL:
        with nogil:
            drop_shared(made)
        return
    array.tensor = made


cdef int exchange_from_object(void* array, versioned_tensor** out) except -1:
    out[0] = owner_of_shared(shared_of(<object>array))
    if out[0] is NULL:
        raise MemoryError()
    return 0


def shared_capsule(array):
    """Returns the capsule of `__dlpack__` for a versioned tensor that the CPU uses."""
    cdef versioned_tensor* tensor = NULL
    exchange_from_object(<void*>array, &tensor)
    keep_after_end(tensor)
    try:
        return PyCapsule_New(tensor, "dltensor_versioned", destroy_versioned)
    except:
        delete_versioned(tensor)
        raise


cdef int exchange_borrow(void* array, tensor* out) except -1:
    out[0] = view_of_shared(shared_of(<object>array))[0]
    return 0


cdef int exchange_to_object(versioned_tensor* moved, void** out) except -1:
    cdef Queue producer_queue = None
    if _has_streams(moved.tensor.device_type):
        producer_queue = default_stream_of(moved.tensor.device_type, moved.tensor.device_id)
    cdef object made = array_class.__new__(array_class)
    made._device = None
    made._core = import_tensor(guard_versioned(moved), producer_queue)  # if this fails, the caller still has the tensor
    Py_INCREF(made)
    out[0] = <void*>made
    return 0


# The class of the last object that take_exchanged() saw, and its functions. Most programs have one class of tensors.
cdef object last_kind = None
cdef const exchange_api* last_functions = NULL


cdef const exchange_api* functions_of(kind) except? NULL:
    """Returns the functions of version 1 of a class of tensors. Returns NULL for other classes, and for those with the
    methods of Arrow.
    """
    if hasattr(kind, "__arrow_c_device_array__") or hasattr(kind, "__arrow_c_array__"):
        return NULL
    cdef object capsule = getattr(kind, "__dlpack_c_exchange_api__", None)
    if not PyCapsule_IsValid(capsule, "dlpack_exchange_api"):
        return NULL
    cdef exchange_header* found = <exchange_header*>PyCapsule_GetPointer(capsule, "dlpack_exchange_api")
    while found is not NULL and found.major != 1:
        found = found.previous
    return <const exchange_api*>found


def take_exchanged(obj):
    """Returns the array of a tensor whose class has exchange functions. It is ready after the work of the producer's
    stream so far. Returns None for other objects, for those with the methods of Arrow, and for tensors on a device
    without streams, which only `__dlpack__` orders.
    """
    global last_kind, last_functions
    cdef object kind = type(obj)
    cdef const exchange_api* functions
    cdef versioned_tensor* tensor = NULL
    cdef void* stream = NULL
    cdef Queue producer_queue = None
    if kind is not last_kind:
        last_functions = functions_of(kind)
        last_kind = kind
    functions = last_functions
    if functions is NULL:
        return None
    functions.from_object(<void*>obj, &tensor)
    try:
        if _has_streams(tensor.tensor.device_type):
            functions.work_stream(tensor.tensor.device_type, tensor.tensor.device_id, &stream)
            producer_queue = Queue.wrap(
                device_find_by_id(tensor.tensor.device_type, tensor.tensor.device_id), <uintptr_t>stream, 0
            )
        elif not _is_host_memory(tensor.tensor.device_type):
            delete_versioned(tensor)
            return None
        return import_tensor(guard_versioned(tensor), producer_queue)
    except:
        delete_versioned(tensor)
        raise


def exchange_capsule(of_class, prepare, stream_of):
    """Returns the capsule for `__dlpack_c_exchange_api__` of the array class."""
    global array_class, prepare_tensor, default_stream_of
    array_class = of_class
    prepare_tensor = prepare
    default_stream_of = stream_of
    return PyCapsule_New(<void*>exchange_functions(exchange_from_object, exchange_to_object, exchange_borrow), "dlpack_exchange_api", NULL)

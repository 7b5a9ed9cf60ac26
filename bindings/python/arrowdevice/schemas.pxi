# SPDX-License-Identifier: Apache-2.0
# Part of _core.pyx: types.

cdef void no_release(ArrowSchema* schema) noexcept nogil:
    schema.release = NULL


@cython.no_gc  # it refers to a Schema only, and never to itself
cdef class Schema:
    """An immutable type. It owns an ArrowSchema, or refers to a child in the ArrowSchema of `whole`."""

    cdef ArrowSchema own
    cdef ArrowSchema* pointer
    cdef Schema whole

    def __cinit__(self):
        self.own.release = NULL
        self.pointer = &self.own

    def __dealloc__(self):
        arrowdevice_schema_release(&self.own)

    @staticmethod
    def take(capsule):
        """Copies the type in a capsule. A copy is needed because the producer's release may call into Python."""
        cdef ArrowSchema* source = <ArrowSchema*>in_capsule(capsule, "arrow_schema", "an ArrowSchema")
        return Schema.copy_of(source)

    @staticmethod
    cdef Schema copy_of(const ArrowSchema* source):
        """Returns an owner of a copy of a type."""
        cdef Schema schema = Schema.__new__(Schema)
        cdef error_t error
        cdef int code = arrowdevice_schema_copy(source, &schema.own, &error)
        check(code, &error)
        return schema

    @staticmethod
    def primitive(str format not None):
        """Returns a type without a name and children."""
        cdef bytes encoded = format.encode()
        cdef ArrowSchema made
        memset(&made, 0, sizeof(made))
        made.format = encoded
        made.release = no_release
        return Schema.copy_of(&made)

    cdef Schema inner(self, ArrowSchema* pointer):
        """Returns a child or dictionary, which holds a reference to this schema."""
        cdef Schema inner = Schema.__new__(Schema)
        inner.whole = self
        inner.pointer = pointer
        return inner

    def capsule(self):
        """Returns a copy in a capsule, for `__arrow_c_schema__`."""
        cdef ArrowSchema* out = <ArrowSchema*>zeroed(sizeof(ArrowSchema))
        cdef error_t error
        cdef int code = arrowdevice_schema_copy(self.pointer, out, &error)
        if code != 0:
            free(out)
            fail(code, &error)
        try:
            return PyCapsule_New(out, "arrow_schema", destroy_schema)
        except:
            arrowdevice_schema_release(out)
            free(out)
            raise

    @property
    def format(self):
        return text(self.pointer.format)

    @property
    def name(self):
        return text(self.pointer.name)

    @property
    def flags(self):
        return self.pointer.flags

    @property
    def metadata(self):
        """Pairs of bytes, or None if the type has no metadata."""
        cdef const char* at = self.pointer.metadata
        if at is NULL:
            return None
        cdef int32_t count, size, i
        memcpy(&count, at, 4)
        at += 4
        texts = []
        for i in range(2 * count):
            memcpy(&size, at, 4)
            texts.append(at[4:4 + size])
            at += 4 + size
        return list(zip(texts[::2], texts[1::2]))

    @property
    def n_children(self):
        return self.pointer.n_children

    def child(self, int64_t index):
        """Returns the child at an index."""
        if not 0 <= index < self.pointer.n_children:
            raise IndexError(f"invalid child {index} (the type has {self.pointer.n_children})")
        return self.inner(self.pointer.children[index])

    @property
    def dictionary(self):
        return None if self.pointer.dictionary is NULL else self.inner(self.pointer.dictionary)

# SPDX-License-Identifier: Apache-2.0
# Part of _core.pyx: types.

cdef class Schema:
    """A type, which never changes: an ArrowSchema of its own, or a part of another's."""

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
        """Out of a capsule. What is kept is a copy: the producer's own may call back into Python."""
        cdef ArrowSchema* source = <ArrowSchema*>in_capsule(capsule, "arrow_schema", "an ArrowSchema")
        return Schema.copy_of(source)

    @staticmethod
    cdef Schema copy_of(const ArrowSchema* source):
        cdef Schema schema = Schema.__new__(Schema)
        cdef error_t error
        cdef int code = arrowdevice_schema_copy(source, &schema.own, &error)
        check(code, &error)
        return schema

    cdef Schema part(self, ArrowSchema* pointer):
        cdef Schema part = Schema.__new__(Schema)
        part.whole = self
        part.pointer = pointer
        return part

    def capsule(self):
        cdef ArrowSchema* out = <ArrowSchema*>zeroed(sizeof(ArrowSchema))
        cdef error_t error
        cdef int code = arrowdevice_schema_copy(self.pointer, out, &error)
        if code != 0:
            free(out)
            fail(code, &error)
        try:
            return PyCapsule_New(out, "arrow_schema", end_schema)
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
        """Pairs of bytes, None if there are none."""
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
        if not 0 <= index < self.pointer.n_children:
            raise IndexError(f"child {index} of {self.pointer.n_children}")
        return self.part(self.pointer.children[index])

    @property
    def dictionary(self):
        return None if self.pointer.dictionary is NULL else self.part(self.pointer.dictionary)

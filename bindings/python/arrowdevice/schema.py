# SPDX-License-Identifier: Apache-2.0
"""Types of arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterator

from . import _core
from .type_names import type_name

if TYPE_CHECKING:
    import pyarrow

__all__ = ["Schema"]


class Schema:
    """The immutable type of an array, a batch or a stream.

    The constructor accepts any object with `__arrow_c_schema__`.

    >>> import arrowdevice, pyarrow
    >>> schema = arrowdevice.Schema(pyarrow.schema([("price", pyarrow.float64()), ("name", pyarrow.string())]))
    >>> schema
    <arrowdevice.Schema struct<price: double, name: string>>
    >>> schema["price"].format
    'g'
    """

    __slots__ = ("_core",)

    _NULLABLE = 2

    def __init__(self, obj: Any) -> None:
        method = getattr(obj, "__arrow_c_schema__", None)
        if method is None:
            raise TypeError(f"{type(obj).__name__} has no __arrow_c_schema__")
        self._core = _core.Schema.take(method())

    @classmethod
    def _wrap(cls, core: _core.Schema) -> Schema:
        made = cls.__new__(cls)
        made._core = core
        return made

    @property
    def format(self) -> str:
        """The format string of the C data interface: "g", "+s"."""
        return self._core.format

    @property
    def name(self) -> str:
        """The name of the field, "" if it has none."""
        return self._core.name or ""

    @property
    def type(self) -> str:
        """The type in words, such as "timestamp[us, UTC]" or "list<item: int32>"."""
        return type_name(self)

    @property
    def nullable(self) -> bool:
        """True if nulls are allowed."""
        return bool(self._core.flags & self._NULLABLE)

    @property
    def flags(self) -> int:
        """The `ARROW_FLAG_*` bits of the C data interface."""
        return self._core.flags

    @property
    def metadata(self) -> dict[bytes, bytes]:
        """Keys and values. The last value counts if a key appears twice."""
        return dict(self._core.metadata or ())

    @property
    def children(self) -> tuple[Schema, ...]:
        """The fields of a struct or union, the item of a list."""
        return tuple(Schema._wrap(self._core.child(i)) for i in range(self._core.n_children))

    @property
    def names(self) -> list[str]:
        """The names of the children."""
        return [child.name for child in self.children]

    @property
    def dictionary(self) -> Schema | None:
        """The type of the values if the type is dictionary-encoded, else None."""
        core = self._core.dictionary
        return None if core is None else Schema._wrap(core)

    def index(self, name: str) -> int:
        """Returns the position of the child with a name. Raises KeyError if no child, or several, have the name."""
        found = [i for i, other in enumerate(self.names) if other == name]
        if len(found) != 1:
            what = "several fields are" if found else "no field is"
            raise KeyError(f"{what} named {name!r} (the fields are {', '.join(map(repr, self.names)) or 'none'})")
        return found[0]

    def __getitem__(self, key: int | str) -> Schema:
        return self.children[self.index(key) if isinstance(key, str) else key]

    def __len__(self) -> int:
        return self._core.n_children

    def __iter__(self) -> Iterator[Schema]:
        return iter(self.children)

    def equals(self, other: Schema, *, check_metadata: bool = True) -> bool:
        """Returns whether both types are equal."""
        return (
            (self.format, self.name, self.flags) == (other.format, other.name, other.flags)
            and (not check_metadata or self.metadata == other.metadata)
            and len(self) == len(other)
            and all(a.equals(b, check_metadata=check_metadata) for a, b in zip(self.children, other.children))
            and (self.dictionary is None) == (other.dictionary is None)
            and (
                self.dictionary is None
                or other.dictionary is None
                or self.dictionary.equals(other.dictionary, check_metadata=check_metadata)
            )
        )

    def __eq__(self, other: object) -> bool:
        return self.equals(other) if isinstance(other, Schema) else NotImplemented

    def __hash__(self) -> int:
        return hash((self.format, self.name, self.flags, len(self)))

    def __arrow_c_schema__(self) -> object:
        return self._core.capsule()

    def to_pyarrow(self) -> pyarrow.Schema | pyarrow.Field:
        """Returns a pyarrow.Schema for the type of a record batch, else a pyarrow.Field. Needs pyarrow."""
        import pyarrow

        return pyarrow.schema(self) if self.format == "+s" and not self.name else pyarrow.field(self)

    def __repr__(self) -> str:
        name = f"{self.name}: " if self.name else ""
        return f"<arrowdevice.Schema {name}{self.type}>"

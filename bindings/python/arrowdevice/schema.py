# SPDX-License-Identifier: Apache-2.0
"""Types, as they travel with arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterator

from . import _core
from .type_names import type_name

if TYPE_CHECKING:
    import pyarrow

__all__ = ["Schema"]


class Schema:
    """The type of an array, a batch or a stream. It never changes.

    Made from any object with `__arrow_c_schema__`.

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
        """The field's name, "" if it has none."""
        return self._core.name or ""

    @property
    def type(self) -> str:
        """The type in words: "timestamp[us, UTC]", "list<item: int32>"."""
        return type_name(self)

    @property
    def nullable(self) -> bool:
        """Whether nulls are allowed."""
        return bool(self._core.flags & self._NULLABLE)

    @property
    def flags(self) -> int:
        """The `ARROW_FLAG_*` of the C data interface."""
        return self._core.flags

    @property
    def metadata(self) -> dict[bytes, bytes]:
        """Keys and values; of a key that appears twice the last one."""
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
        """The type of the values, where `format` is that of indices."""
        core = self._core.dictionary
        return None if core is None else Schema._wrap(core)

    def index(self, name: str) -> int:
        """Which child has a name. KeyError if none or several have it."""
        found = [i for i, other in enumerate(self.names) if other == name]
        if len(found) != 1:
            what = "several fields are" if found else "no field is"
            raise KeyError(f"{what} named {name!r}: there are {', '.join(map(repr, self.names)) or 'none'}")
        return found[0]

    def __getitem__(self, key: int | str) -> Schema:
        return self.children[self.index(key) if isinstance(key, str) else key]

    def __len__(self) -> int:
        return self._core.n_children

    def __iter__(self) -> Iterator[Schema]:
        return iter(self.children)

    def equals(self, other: Schema, *, check_metadata: bool = True) -> bool:
        """Whether both say the same."""
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
        """A pyarrow.Schema for a record batch's type, else a pyarrow.Field. Needs pyarrow."""
        import pyarrow

        return pyarrow.schema(self) if self.format == "+s" and not self.name else pyarrow.field(self)

    def __repr__(self) -> str:
        name = f"{self.name}: " if self.name else ""
        return f"<arrowdevice.Schema {name}{self.type}>"

# SPDX-License-Identifier: Apache-2.0
"""Makes random arrays of any type. The functions combine: `lists(structs(a=booleans))` is a function of (rng, n).

Offsets do not begin at 0. Children have offsets and unreferenced rows. There is data under nulls.
"""

import decimal

import numpy as np
import pyarrow as pa

LETTERS = np.frombuffer(b"abcdefghijklmnopqrstuvwxyz", np.uint8)


def bitmap(rng, n, share=0.75):
    return pa.py_buffer(np.packbits(rng.random(n) < share, bitorder="little").tobytes())


def validity(rng, n):
    """Returns a bitmap with some nulls, or sometimes no bitmap."""
    return bitmap(rng, n) if n and rng.random() < 0.85 else None


def child_of(make, rng, n):
    """Returns n rows from the middle of a longer array."""
    before, after = (int(count) for count in rng.integers(0, 12, 2))
    return make(rng, before + n + after).slice(before, n)


def lengths(rng, n, most):
    return rng.integers(0, most + 1, n) * (rng.random(n) < 0.8)


# -- values ----------------------------------------------------------------------------------------------------------


def values(kind, numbers):
    """Makes fixed-width values. The argument returns n of them as a NumPy array or bytes."""

    def make(rng, n):
        drawn = numbers(rng, n)
        data = drawn if isinstance(drawn, bytes) else drawn.tobytes()
        return pa.Array.from_buffers(kind, n, [validity(rng, n), pa.py_buffer(data)])

    return make


def integers(dtype, low=None, high=None, step=1):
    info = np.iinfo(dtype)
    low, high = info.min if low is None else low, info.max if high is None else high
    return lambda rng, n: rng.integers(low, high, n, dtype=dtype, endpoint=True) * dtype(step)


def floats(dtype):
    return lambda rng, n: rng.normal(0, 100, n).astype(dtype)


def decimals(kind):
    def numbers(rng, n):
        drawn = (decimal.Decimal("".join(map(str, rng.integers(0, 10, kind.precision)))) for _ in range(n))
        return b"".join(
            (int(one) * (-1) ** i).to_bytes(kind.byte_width, "little", signed=True) for i, one in enumerate(drawn)
        )

    return values(kind, numbers)


def booleans(rng, n):
    return pa.Array.from_buffers(pa.bool_(), n, [validity(rng, n), bitmap(rng, n, 0.5)])


def fixed_binary(width):
    return values(pa.binary(width), lambda rng, n: rng.bytes(n * width))


def nulls(rng, n):
    return pa.nulls(n)


def all_null(rng, n):
    return pa.nulls(n, pa.string())


def month_day_nanos(rng, n):
    drawn = [pa.MonthDayNano([int(part) for part in rng.integers(-1000, 1000, 3)]) for _ in range(n)]
    return pa.array([one if rng.random() < 0.8 else None for one in drawn], pa.month_day_nano_interval())


def texts(kind, most=20):
    """Makes binary or text. The offsets do not begin at 0."""
    width = np.int64 if kind in (pa.large_binary(), pa.large_string()) else np.int32

    def make(rng, n):
        offsets = (np.concatenate([[0], np.cumsum(lengths(rng, n, most))]) + rng.integers(0, 9)).astype(width)
        data = rng.choice(LETTERS, int(offsets[-1]) + 3)
        return pa.Array.from_buffers(kind, n, [validity(rng, n), pa.py_buffer(offsets), pa.py_buffer(data)])

    return make


def views(kind, buffers, most=30):
    """Makes binary or text views into buffers, without order. Some bytes have two views and some none."""

    def make(rng, n):
        stores = [rng.choice(LETTERS, 400).tobytes() for _ in range(buffers)]
        made = bytearray()
        for length in lengths(rng, n, most if buffers else 12):
            length = int(length)
            if length <= 12:
                made += length.to_bytes(4, "little") + rng.choice(LETTERS, length).tobytes().ljust(12, b"\0")
            else:
                which, offset = int(rng.integers(0, buffers)), int(rng.integers(0, 400 - length))
                made += length.to_bytes(4, "little") + stores[which][offset : offset + 4]
                made += which.to_bytes(4, "little") + offset.to_bytes(4, "little")
        return pa.Array.from_buffers(kind, n, [validity(rng, n), pa.py_buffer(bytes(made)), *map(pa.py_buffer, stores)])

    return make


def joined_views(kind, view):
    """Joins chunks as pyarrow does: each chunk keeps its buffers."""

    def make(rng, n):
        third = n // 3
        chunks = (texts(kind)(rng, rows).to_pylist() for rows in (third, third, n - 2 * third))
        return pa.concat_arrays([pa.array([one and one * 3 for one in chunk], view) for chunk in chunks])

    return make


# -- nested ----------------------------------------------------------------------------------------------------------


def field_of(array, name="item"):
    return pa.field(name, array.type)


def lists(make_item, kind=pa.list_, most=4):
    width = np.int64 if kind is pa.large_list else np.int32

    def make(rng, n):
        offsets = (np.concatenate([[0], np.cumsum(lengths(rng, n, most))]) + rng.integers(0, 9)).astype(width)
        items = child_of(make_item, rng, int(offsets[-1]) + 2)
        return pa.Array.from_buffers(
            kind(field_of(items)), n, [validity(rng, n), pa.py_buffer(offsets)], children=[items]
        )

    return make


def list_views(make_item, kind=pa.list_view, garbage=False):
    """Makes list views that overlap and have no order. `garbage` puts invalid views under nulls."""
    width = np.int64 if kind is pa.large_list_view else np.int32

    def make(rng, n):
        items = child_of(make_item, rng, 2 * n + 9)
        sizes = lengths(rng, n, 5).astype(width)
        offsets = rng.integers(3, len(items) - 5, n).astype(width)
        valid = rng.random(n) < 0.8
        if garbage:
            offsets[~valid], sizes[~valid] = -7, 1_000_000
        bits = pa.py_buffer(np.packbits(valid, bitorder="little").tobytes()) if garbage else validity(rng, n)
        return pa.Array.from_buffers(
            kind(field_of(items)), n, [bits, pa.py_buffer(offsets), pa.py_buffer(sizes)], children=[items]
        )

    return make


def fixed_lists(make_item, size):
    def make(rng, n):
        items = child_of(make_item, rng, n * size)
        return pa.Array.from_buffers(pa.list_(field_of(items), size), n, [validity(rng, n)], children=[items])

    return make


def structs(**makers):
    def make(rng, n):
        children = [child_of(maker, rng, n) for maker in makers.values()]
        kind = pa.struct([field_of(child, name) for name, child in zip(makers, children)])
        return pa.Array.from_buffers(kind, n, [validity(rng, n)], children=children)

    return make


def maps(make_key, make_item, sorted_keys=False):
    def make(rng, n):
        offsets = (np.concatenate([[0], np.cumsum(lengths(rng, n, 3))]) + rng.integers(0, 9)).astype(np.int32)
        count = int(offsets[-1]) + 1
        items = child_of(make_item, rng, count)
        keys = child_of(lambda rng, n: without_nulls(make_key(rng, n)), rng, count)
        kind = pa.map_(keys.type, items.type, keys_sorted=sorted_keys)
        entries = pa.Array.from_buffers(
            pa.struct([kind.key_field, kind.item_field]), count, [None], children=[keys, items]
        )
        return pa.Array.from_buffers(kind, n, [validity(rng, n), pa.py_buffer(offsets)], children=[entries])

    return make


def without_nulls(array):
    return pa.Array.from_buffers(array.type, len(array), [None, *array.buffers()[1:]])


def sparse_unions(*makers, codes):
    def make(rng, n):
        ids = pa.array(rng.choice(codes, n), pa.int8())
        return pa.UnionArray.from_sparse(
            ids, [child_of(maker, rng, n) for maker in makers], [f"f{code}" for code in codes], codes
        )

    return make


def dense_unions(*makers, codes):
    def make(rng, n):
        picked = rng.integers(0, len(codes), n)
        offsets = np.zeros(n, np.int32)
        children = []
        for position, maker in enumerate(makers):
            mine = np.flatnonzero(picked == position)
            start = int(rng.integers(0, 4))
            offsets[mine] = start + np.cumsum(rng.integers(0, 3, len(mine)))  # some rows twice, some never
            children.append(child_of(maker, rng, int(offsets[mine].max()) + 2 if len(mine) else 0))
        return pa.UnionArray.from_dense(
            pa.array(np.array(codes, np.int8)[picked], pa.int8()),
            pa.array(offsets),
            children,
            [f"f{code}" for code in codes],
            codes,
        )

    return make


def dictionaries(make_value, index, ordered=False):
    def make(rng, n):
        words = child_of(make_value, rng, 9)
        drawn = pa.array(rng.integers(0, 9, n), index, mask=rng.random(n) < 0.2)
        return pa.DictionaryArray.from_arrays(drawn, words, ordered=ordered, safe=False)

    return make


def run_ends(make_value, ends):
    def make(rng, n):
        cuts = np.unique(np.append(np.flatnonzero(rng.random(n) < 0.3), n)) if n else np.array([], np.int64)
        cuts = cuts[cuts > 0]
        before = int(rng.integers(0, 3))  # the run ends have an offset too
        return pa.RunEndEncodedArray.from_arrays(
            pa.array([1] * before + list(cuts), ends).slice(before), child_of(make_value, rng, len(cuts))
        )

    return make


def extensions(kind, make_storage):
    return lambda rng, n: pa.ExtensionArray.from_storage(kind, make_storage(rng, n))


class Celsius(pa.ExtensionType):
    """An extension type with parameters, which pyarrow does not define."""

    def __init__(self, storage):
        super().__init__(storage, "arrowdevice.celsius")

    def __arrow_ext_serialize__(self):
        return b"scale\0=1"

    @classmethod
    def __arrow_ext_deserialize__(cls, storage, serialized):
        assert serialized == b"scale\0=1"
        return cls(storage)


pa.register_extension_type(Celsius(pa.float64()))


def deep(make_item, levels):
    for _ in range(levels):
        make_item = fixed_lists(structs(a=make_item), 1)
    return make_item

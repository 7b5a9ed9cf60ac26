# SPDX-License-Identifier: Apache-2.0
"""Makes random, repeatable arrays of every type of pyarrow: TYPES[name](rng_of(name), n)."""

import zlib

import numpy as np
import pyarrow as pa

from generated import (
    Celsius,
    all_null,
    booleans,
    decimals,
    deep,
    dense_unions,
    dictionaries,
    extensions,
    fixed_binary,
    fixed_lists,
    floats,
    integers,
    joined_views,
    list_views,
    lists,
    maps,
    month_day_nanos,
    nulls,
    run_ends,
    sparse_unions,
    structs,
    texts,
    values,
    views,
)


def rng_of(name):
    return np.random.default_rng(zlib.crc32(name.encode()))


int8, int16, int32, int64 = (
    values(kind, integers(kind.to_pandas_dtype())) for kind in (pa.int8(), pa.int16(), pa.int32(), pa.int64())
)
string, binary = texts(pa.string()), texts(pa.binary())
day_ms = 86_400_000

TYPES = {
    "null": nulls,
    "bool": booleans,
    "all null": all_null,
    "int8": int8,
    "int16": int16,
    "int32": int32,
    "int64": int64,
    **{
        str(kind): values(kind, integers(kind.to_pandas_dtype()))
        for kind in (pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64())
    },
    "half float": values(pa.float16(), floats(np.float16)),
    "float": values(pa.float32(), floats(np.float32)),
    "double": values(pa.float64(), floats(np.float64)),
    **{
        str(kind): decimals(kind)
        for kind in (pa.decimal32(9, 2), pa.decimal64(18, -3), pa.decimal128(38, 10), pa.decimal256(76, 40))
    },
    "date32": values(pa.date32(), integers(np.int32, -20000, 20000)),
    "date64": values(pa.date64(), integers(np.int64, -20000, 20000, day_ms)),
    **{str(kind): values(kind, integers(np.int32, 0, 86_399)) for kind in (pa.time32("s"), pa.time32("ms"))},
    **{str(kind): values(kind, integers(np.int64, 0, 86_399_999, 1000)) for kind in (pa.time64("us"), pa.time64("ns"))},
    # A hundred years around the epoch, which Python's types can hold.
    **{
        str(kind): values(kind, integers(np.int64, -3_000_000_000, 3_000_000_000, step))
        for unit, step in {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}.items()
        for kind in (pa.timestamp(unit), pa.timestamp(unit, "UTC"), pa.duration(unit))
    },
    "month day nano interval": month_day_nanos,
    "string": string,
    "binary": binary,
    "large string": texts(pa.large_string()),
    "large binary": texts(pa.large_binary()),
    "only empty strings": texts(pa.string(), 0),
    **{f"fixed size binary of {width}": fixed_binary(width) for width in (0, 1, 3, 16)},
    **{
        f"{kind}s of {count} buffers": views(kind, count)
        for kind in (pa.string_view(), pa.binary_view())
        for count in (0, 1, 5)
    },
    "string views joined": joined_views(pa.string(), pa.string_view()),
    "binary views joined": joined_views(pa.binary(), pa.binary_view()),
    "lists": lists(int32),
    "large lists": lists(string, pa.large_list),
    "lists of booleans": lists(booleans),
    "lists of nulls": lists(nulls),
    "lists of lists": lists(lists(string)),
    "only empty lists": lists(int16, most=0),
    "lists of views": lists(views(pa.string_view(), 3)),
    "lists of list views": lists(list_views(string)),
    "list views": list_views(int32),
    "large list views": list_views(booleans, pa.large_list_view),
    "list views with garbage": list_views(string, garbage=True),
    "list views of lists": list_views(lists(string)),
    "list views of views": list_views(views(pa.binary_view(), 2)),
    "list views of run ends": list_views(run_ends(int32, pa.int32())),
    **{f"fixed size lists of {size}": fixed_lists(int16, size) for size in (0, 1, 3)},
    "fixed size lists of booleans": fixed_lists(booleans, 5),
    "fixed size lists of strings": fixed_lists(string, 2),
    "fixed size lists of lists": fixed_lists(fixed_lists(lists(int8), 3), 2),
    "lists of fixed size lists of 0": lists(fixed_lists(string, 0)),
    "structs": structs(a=int32, b=string, c=booleans),
    "structs of nothing": structs(),
    "structs of structs": structs(a=structs(b=structs(c=booleans))),
    "structs of views": structs(a=views(pa.string_view(), 2), b=list_views(int64)),
    "maps": maps(string, int32),
    "sorted maps": maps(int16, booleans, True),
    "maps of maps": maps(int64, maps(string, string)),
    "sparse unions": sparse_unions(int32, string, booleans, codes=[5, 0, 127]),
    "sparse unions of lists": sparse_unions(lists(int32), nulls, codes=[1, 2]),
    "dense unions": dense_unions(int32, string, booleans, codes=[7, 3, 100]),
    "dense unions of one": dense_unions(string, codes=[9]),
    "dense unions of lists": dense_unions(lists(int32), structs(a=booleans), nulls, codes=[0, 1, 2]),
    "dense unions of unions": dense_unions(
        dense_unions(int8, string, codes=[1, 2]), sparse_unions(int8, booleans, codes=[1, 2]), codes=[4, 8]
    ),
    **{
        f"dictionaries by {index}": dictionaries(string, index)
        for index in (pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64())
    },
    "ordered dictionaries": dictionaries(int32, pa.int8(), True),
    "dictionaries of lists": dictionaries(lists(string), pa.int16()),
    "dictionaries of dictionaries": dictionaries(structs(a=dictionaries(string, pa.int8()), b=booleans), pa.int8()),
    "dictionaries of views": dictionaries(views(pa.string_view(), 2), pa.int32()),
    "lists of dictionaries": lists(dictionaries(string, pa.int8())),
    "run ends of 16 bits": run_ends(int32, pa.int16()),
    "run ends of 32 bits": run_ends(string, pa.int32()),
    "run ends of 64 bits": run_ends(booleans, pa.int64()),
    "run ends of lists": run_ends(lists(string), pa.int32()),
    "run ends of structs": run_ends(structs(a=int8, b=list_views(booleans)), pa.int16()),
    "structs of run ends": structs(a=run_ends(string, pa.int32()), b=int8),
    "lists of run ends": lists(run_ends(int32, pa.int16())),
    "fixed size lists of run ends": fixed_lists(run_ends(booleans, pa.int32()), 3),
    "uuids": extensions(pa.uuid(), fixed_binary(16)),
    "json": extensions(pa.json_(), texts(pa.string())),
    "bool8": extensions(pa.bool8(), values(pa.int8(), integers(np.int8, 0, 1))),
    "opaque": extensions(pa.opaque(pa.list_(pa.int32()), "shape", "vendor"), lists(int32)),
    "tensors": extensions(pa.fixed_shape_tensor(pa.int16(), [2, 3]), fixed_lists(int16, 6)),
    "an unknown extension": extensions(Celsius(pa.float64()), values(pa.float64(), floats(np.float64))),
    "an extension of dictionaries": extensions(
        Celsius(pa.dictionary(pa.int8(), pa.string())), dictionaries(string, pa.int8())
    ),
    "lists of extensions": lists(extensions(pa.uuid(), fixed_binary(16))),
    "all kinds in one": lists(
        structs(
            a=dictionaries(lists(views(pa.string_view(), 2)), pa.int16()),
            b=maps(string, run_ends(fixed_lists(booleans, 2), pa.int32())),
            c=dense_unions(
                large := lists(sparse_unions(int8, list_views(string), codes=[3, 4]), pa.large_list),
                nulls,
                booleans,
                codes=[1, 0, 9],
            ),
            d=list_views(structs(a=large, b=decimals(pa.decimal256(50, 3)))),
        )
    ),
    "30 levels": deep(structs(a=string, b=booleans), 14),
}

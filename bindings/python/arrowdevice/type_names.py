# SPDX-License-Identifier: Apache-2.0
"""Names of types for people. No code depends on them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .schema import Schema

_PLAIN = {
    "n": "null", "b": "bool", "c": "int8", "C": "uint8", "s": "int16", "S": "uint16", "i": "int32", "I": "uint32",
    "l": "int64", "L": "uint64", "e": "float16", "f": "float", "g": "double", "z": "binary", "Z": "large_binary",
    "vz": "binary_view", "u": "string", "U": "large_string", "vu": "string_view", "tdD": "date32", "tdm": "date64",
    "tts": "time32[s]", "ttm": "time32[ms]", "ttu": "time64[us]", "ttn": "time64[ns]", "tDs": "duration[s]",
    "tDm": "duration[ms]", "tDu": "duration[us]", "tDn": "duration[ns]", "tiM": "month_interval",
    "tiD": "day_time_interval", "tin": "month_day_nano_interval",
}  # fmt: skip
_NESTED = {
    "+l": "list", "+L": "large_list", "+vl": "list_view", "+vL": "large_list_view", "+s": "struct", "+m": "map",
    "+r": "run_end_encoded",
}  # fmt: skip
_TIMESTAMPS = {"tss": "s", "tsm": "ms", "tsu": "us", "tsn": "ns"}


def type_name(schema: Schema) -> str:
    """Returns the type in pyarrow's words. Returns an unknown format unchanged."""
    dictionary = schema.dictionary
    if dictionary is not None:
        return f"dictionary<values={type_name(dictionary)}, indices={_name(schema)}>"
    return _name(schema)


def _name(schema: Schema) -> str:
    spec = schema.format
    if spec in _PLAIN:
        return _PLAIN[spec]
    head, _, rest = spec.partition(":")
    fields = ", ".join(f"{child.name}: {type_name(child)}" for child in schema.children)
    if head in _NESTED:
        return f"{_NESTED[head]}<{fields}>"
    if head == "+w":
        return f"fixed_size_list<{fields}>[{rest}]"
    if head in ("+ud", "+us"):
        return f"{'dense' if head == '+ud' else 'sparse'}_union<{fields}>"
    if head in _TIMESTAMPS:
        return f"timestamp[{_TIMESTAMPS[head]}{', ' + rest if rest else ''}]"
    if head == "w":
        return f"fixed_size_binary[{rest}]"
    if head == "d":
        digits, scale, *bits = rest.split(",")
        return f"decimal{bits[0] if bits else '128'}({digits}, {scale})"
    return spec

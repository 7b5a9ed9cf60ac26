# SPDX-License-Identifier: Apache-2.0
import pyarrow as pa
import pytest

import arrowdevice as ad


def test_a_schema_survives_the_round_trip_to_pyarrow():
    schema = pa.schema([("a", pa.int8()), pa.field("b", pa.list_(pa.string()), nullable=False)], metadata={"k": "v"})
    own = ad.Schema(schema)
    assert own.to_pyarrow().equals(schema, check_metadata=True)
    assert pa.schema(own).equals(schema, check_metadata=True)
    assert ad.Schema(pa.field("x", pa.date32())).to_pyarrow() == pa.field("x", pa.date32())


def test_a_schema_reports_its_fields():
    own = ad.Schema(pa.schema([("a", pa.int8()), pa.field("b", pa.dictionary(pa.int16(), pa.string()), False)]))
    assert (own.format, own.names, len(own), [c.format for c in own]) == ("+s", ["a", "b"], 2, ["c", "s"])
    assert own["a"].nullable and not own["b"].nullable
    assert own["b"].dictionary.format == "u" and own["a"].dictionary is None
    assert repr(own) == "<arrowdevice.Schema struct<a: int8, b: dictionary<values=string, indices=int16>>>"
    assert repr(own[0]) == "<arrowdevice.Schema a: int8>"
    with pytest.raises(KeyError, match="'a', 'b'"):
        own["c"]


def test_a_field_outlives_its_schema():
    field = ad.Schema(pa.schema([("a", pa.struct([("deep", pa.duration("ms"))]))]))["a"]["deep"]
    assert (field.name, field.type) == ("deep", "duration[ms]")


@pytest.mark.parametrize("other", [
    pa.schema([("a", pa.int16())]), pa.schema([("b", pa.int8())]), pa.schema([]),
    pa.schema([pa.field("a", pa.int8(), nullable=False)]), pa.schema([pa.field("a", pa.int8(), metadata={"k": "v"})]),
    pa.schema([("a", pa.dictionary(pa.int8(), pa.string()))]),
])  # fmt: skip
def test_schemas_that_differ_are_not_equal(other):
    schema = ad.Schema(pa.schema([("a", pa.int8())]))
    assert schema == ad.Schema(pa.schema([("a", pa.int8())]))
    assert schema != ad.Schema(other) and schema != "a"


def test_equals_ignores_metadata_when_asked():
    plain, noted = ad.Schema(pa.field("a", pa.int8())), ad.Schema(pa.field("a", pa.int8(), metadata={"k": "v"}))
    assert plain != noted and plain.equals(noted, check_metadata=False)


@pytest.mark.parametrize("type_", [
    pa.int8(), pa.uint64(), pa.float16(), pa.float32(), pa.timestamp("us", "UTC"), pa.timestamp("ns"), pa.time32("ms"),
    pa.duration("s"), pa.decimal128(10, 2), pa.decimal256(50, 3), pa.binary(5), pa.list_(pa.int8()),
    pa.list_(pa.int8(), 3), pa.large_list(pa.utf8()), pa.month_day_nano_interval(), pa.date64(), pa.struct([("a", pa.null())]),
])  # fmt: skip
def test_type_names_match_pyarrow(type_):
    ours = ad.Schema(type_).type
    theirs = str(type_).replace("halffloat", "float16").replace("[day]", "").replace("fixed_size_binary[5]", ours)
    assert ours == theirs.replace("[ms]", "") if pa.types.is_date(type_) else ours == theirs.replace(", tz=", ", ")


def test_schema_refuses_an_object_without_a_schema():
    with pytest.raises(TypeError, match="int has no __arrow_c_schema__"):
        ad.Schema(3)

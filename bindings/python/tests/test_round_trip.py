# SPDX-License-Identifier: Apache-2.0
"""Round trips of every type of pyarrow to every device."""

import pyarrow as pa
import pytest
from all_types import TYPES, rng_of

import arrowdevice as ad

pytestmark = pytest.mark.usefixtures("nothing_left")

ROWS = 37


def same(left, right):
    """Compares values and types. NaN equals NaN."""
    return left.type == right.type and (left.equals(right) or str(left.to_pylist()) == str(right.to_pylist()))


@pytest.mark.parametrize("name", TYPES)
def test_every_type_survives_the_round_trip(device, name):
    array = TYPES[name](rng_of(name), ROWS)
    for offset, length in [(0, ROWS), (5, 11), (ROWS, 0)]:
        sent = array[offset : offset + length]
        there = ad.to_device(sent, device)
        assert (there.device, len(there)) == (device, length)
        there.validate("full")
        back = pa.array(there.to_host())
        if device.device_type != ad.DeviceType.CPU:  # pyarrow's own memory may have garbage under nulls
            back.validate(full=True)
        assert same(sent, back)
        part = there[length // 3 : length // 2 + 1].to_host()
        assert same(sent[length // 3 : length // 2 + 1], pa.array(part))


@pytest.mark.parametrize("name", TYPES)
def test_type_names_are_words(name):
    schema = ad.Schema(TYPES[name](rng_of(name), 1).type)
    assert not schema.type.startswith("+") and ":" not in schema.type.split("<")[0], schema.type


def test_to_device_transfers_between_devices(device, accelerator, batch):
    there = ad.to_device(ad.to_device(batch, device), accelerator)
    assert there.device == accelerator
    assert there.to_pyarrow().equals(batch)


def test_metadata_and_names_survive(device):
    schema = pa.schema(
        [pa.field("préis", pa.int8(), nullable=False, metadata={"unit": "€"}), ("b", pa.list_(pa.field("x", pa.bool_())))],
        metadata={b"k": b"\x00v", b"": b""},
    )
    batch = pa.RecordBatch.from_pylist([{"préis": 1, "b": [True]}], schema=schema)
    back = ad.to_device(batch, device)
    assert back.to_pyarrow().schema.equals(schema, check_metadata=True)
    assert back.schema.metadata == {b"k": b"\x00v", b"": b""}
    assert back.schema["préis"].metadata == {b"unit": "€".encode()} and not back.schema["préis"].nullable

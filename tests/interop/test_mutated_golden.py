# SPDX-License-Identifier: Apache-2.0
"""Changes bytes of golden files. pyarrow still exports some batches of them.

The library copies each batch unchanged, or refuses it with a reason. A crash or other rows are failures.
"""

import ctypes as C
import errno
import io
import os
import random
import re

import c_api as ad
import pyarrow as pa
import pytest
from test_golden import FILES, batches_of, path_of
from trips import export, import_back, problem, same, take_back

pytestmark = pytest.mark.usefixtures("nothing_left")

# At least half of the bytes of these files are offsets, so that some mutations are refused.
FULL_OF_OFFSETS = {"binary_view", "large_binary", "list_view"}

MUTATIONS = int(os.environ.get("ARROWDEVICE_TEST_MUTATIONS", "40"))  # of each file

# Errors of pyarrow that are harmless to readers of the buffers: values outside of their types, list
# views under nulls, and decreasing offsets of unions.
HARMLESS = re.compile(
    "does not represent a whole number of days|does not fit in precision|is not within the acceptable range"
    r"|Offset invariant failure: (size|offset for slot \d+ out of bounds\. Expected)|has non-monotonic offset"
)
# An offset without a row is harmless too. Buffers of arrays without rows may be empty.
HARMLESS_WITHOUT_ROWS = re.compile("Offset invariant failure: array starts at negative offset")


def mutated(data, seed):
    """Returns the bytes with one to four changes. The seed determines the changes."""
    chance = random.Random(seed)
    changed = bytearray(data)
    for _ in range(chance.randint(1, 4)):
        place = chance.randrange(len(changed))
        byte = chance.choice((0, 1, 0x7F, 0x80, 0xFF, chance.randrange(256), changed[place] ^ 1 << chance.randrange(8)))
        changed[place] = byte
    return bytes(changed)


def opened(data):
    """Returns the batches that pyarrow reads and validates, so that their buffers are large enough.

    Returns no batch if pyarrow refuses the file.
    """
    try:
        with pa.ipc.open_stream(io.BytesIO(data)) as reader:
            batches = list(reader)
        for batch in batches:
            batch.validate()
            assert all(field.name is not None for field in batch.schema)
            str(batch.schema)
    except (pa.ArrowException, OSError, MemoryError, UnicodeDecodeError):  # UnicodeDecodeError for an invalid name
        return []
    return batches


def import_fully(machine, array, schema):
    """Imports an array with full validation and detaches it from the view."""
    view, out = C.c_void_p(), ad.DeviceArray(machine.lib)
    options = ad.ImportOptions(struct_size=C.sizeof(ad.ImportOptions), flags=ad.IMPORT_RESOLVE_SIZES)
    options.validate = ad.VALIDATE_FULL
    machine.lib.array_import(C.byref(array.c), C.byref(schema.c), C.byref(options), C.byref(view))
    machine.lib.view_detach(view, C.byref(out.c))
    return out


def rows(batch):
    """Returns text to compare, because NaN is not equal to itself."""
    return repr([column.to_pylist() for column in batch.columns])


def problems(batch):
    """Returns the first error of pyarrow's full validation for each column."""
    try:
        columns = batch.columns
    except KeyError:  # pyarrow has the type only in C++
        columns = [batch]
    return [one for one in map(problem, columns) if one]


def check(machine, batch):
    """Returns whether the library accepted the batch. Raises if pyarrow disagrees or the rows differ."""
    found = problems(batch)
    array, schema = export(machine.lib, batch)
    here = ad.DeviceArray.from_host(array)
    try:
        here = import_fully(machine, here, schema)
    except OSError as error:
        assert (error.errno, here.released) == (errno.EINVAL, False), error
        assert found, error
        return False
    has_rows = batch.num_rows > 0
    assert all(HARMLESS.search(one) or (not has_rows and HARMLESS_WITHOUT_ROWS.search(one)) for one in found), found
    try:
        here.validate(schema, ad.VALIDATE_STRICT)
    except OSError as error:
        assert "null" in error.strerror, error  # the field allows no nulls
    there = here.copy(schema, machine.sim0).copy(schema, machine.sim1)
    there.validate(schema, ad.VALIDATE_FULL)
    received = take_back(there.to_host(schema), schema, pa.RecordBatch)
    expected = import_back(batch)  # a mutation may have shortened a name
    assert same(received, expected) or rows(received) == rows(expected)
    return True


@pytest.mark.parametrize("name", FILES)
def test_a_mutated_golden_file_is_copied_unchanged_or_refused(machine, name):
    has_batches = len(batches_of(name)[1]) > 0  # fails or skips if the files are missing
    with open(path_of(name), "rb") as file:
        data = file.read()
    outcomes = {True: 0, False: 0}
    for seed in range(MUTATIONS):
        for number, batch in enumerate(opened(mutated(data, f"{name} {seed}"))):
            try:
                outcomes[check(machine, batch)] += 1
            except Exception as error:
                # Without a traceback, because pyarrow may crash when it prints the batch.
                pytest.fail(f"mutation {seed}, batch {number}: {error!r}", pytrace=False)
    assert (outcomes[True] > 0) == has_batches, outcomes
    assert outcomes[False] > 0 or name not in FULL_OF_OFFSETS, outcomes
    print(f"{name}: {outcomes[True]} batches passed, {outcomes[False]} refused")

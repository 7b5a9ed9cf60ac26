# SPDX-License-Identifier: Apache-2.0
"""Tests of scripts/demo.py. They need pytest and the Python package."""

import math
import os
import re
import subprocess
import sys

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

SCRIPTS = os.path.join(os.path.dirname(__file__), "..", "..", "scripts")
sys.path.insert(0, SCRIPTS)
import demo  # noqa: E402

NAN = math.nan


def table():
    return pa.table({
        "i": pa.array([1, None, 3], pa.int64()), "f": pa.array([1.5, NAN, None]), "s": ["a", None, "ccc"],
        "b": [True, False, None], "t": pa.array([0, 1, None], pa.timestamp("us", tz="UTC")), "l": [[1, 2], None, []],
        "d": pa.array(["x", "y", "x"]).dictionary_encode()})


def run(*arguments, devices="addresses,handles", **more):
    environment = os.environ | {"ARROWDEVICE_SIM_DEVICES": devices} | more
    return subprocess.run([sys.executable, os.path.join(SCRIPTS, "demo.py"), *arguments], env=environment,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True)


@pytest.mark.parametrize("values", [[1.0, NAN, None], [[NAN], None, [1.0]], [{"a": NAN}, None], [b"x", None]])
def test_same_accepts_equal_values(values):
    assert demo.same(pa.array(values), pa.array(values))


@pytest.mark.parametrize("left, right", [
    ([1, 2], [1, 3]), ([1, None], [1, 2]), ([NAN, 1.0], [NAN, 2.0]), ([NAN], [None]), ([[NAN], [1.0]], [[NAN], [2.0]]),
    ([[NAN, 1.0], []], [[NAN], [1.0]]), ([{"a": NAN}, None], [{"a": NAN}, {"a": NAN}]), ([1], [1.0]), ([1], [1, 1])])
def test_same_refuses_different_values(left, right):
    assert not demo.same(pa.array(left), pa.array(right))


def test_differing_columns_names_a_changed_column():
    sent = table().to_batches()[0]
    assert demo.differing_columns(sent, sent) == []
    for position, name in enumerate(sent.schema.names):
        columns = list(sent.columns)
        columns[position] = columns[position].take(pa.array([1, 0, 2]))
        assert demo.differing_columns(sent, pa.record_batch(columns, schema=sent.schema)) == [name]
    assert demo.differing_columns(sent, sent.slice(1)) != []
    assert demo.differing_columns(sent, sent.rename_columns(list("abcdefg"))) != []


def write_parquet(data, path):
    pa.parquet.write_table(data, path)


def write_ipc_file(data, path):
    with pa.ipc.new_file(path, data.schema) as writer:
        writer.write_table(data)


def write_ipc_stream(data, path):
    with pa.ipc.new_stream(path, data.schema) as writer:
        writer.write_table(data)


def write_csv(data, path):
    pa.csv.write_csv(data.select(["i", "s", "b"]), path)


@pytest.mark.parametrize("write", [write_parquet, write_ipc_file, write_ipc_stream, write_csv])
def test_a_file_of_each_format_survives_the_round_trip_to_every_device(tmp_path, write):
    path = str(tmp_path / "data")
    write(table(), path)
    done = run("--data", path)
    assert done.returncode == 0, done.stdout + done.stderr
    *rows, process, last = done.stdout.splitlines()
    assert re.fullmatch(r"Another process read 3 rows in 1 batch in [\d.]+ ms: 0 bytes copied, \d columns verified\.", process)
    devices = {row.split()[0] for row in rows[1:]}
    assert {"ext_dev:0", "ext_dev:1"} < devices
    assert last == f"demo: {len(devices)} devices verified, 0 failed"
    assert all(re.search(r"\d columns$", row) for row in rows[1:]), done.stdout
    # The CPU shares its own memory, and also copies it in a second trip. The other devices can only copy.
    how = {(row.split()[0].split(":")[0], "shared" in row) for row in rows[1:]}
    others = {(device.split(":")[0], False) for device in devices}
    assert how == {("cpu", True)} | others, done.stdout


def test_the_table_survives_the_round_trip_as_a_stream_and_async(tmp_path):
    path = str(tmp_path / "data")
    write_parquet(table(), path)
    for arguments in ([], ["--batch-rows", "1", "--depth", "1"], ["--batch-rows", "2", "--depth", "5"]):
        done = run("--data", path, *arguments)
        assert done.returncode == 0, done.stdout + done.stderr
        for device in ("cpu:0", "ext_dev:0", "ext_dev:1"):
            for how in ("streamed", "async"):
                assert re.search(rf"^{device} .* {how} +7 columns$", done.stdout, re.M), done.stdout
    assert run("--data", path, "--depth", "0").returncode == 2


def test_a_stream_transfers_a_table_that_is_larger_than_the_device(tmp_path):
    path = str(tmp_path / "data")
    rows = 400_000
    write_parquet(pa.table({"i": range(rows), "t": [str(i) for i in range(rows)]}), path)
    limit = 4 << 20
    done = run("--data", path, "--memory-limit", "4m", "--batch-rows", "20000")
    assert done.returncode == 0, done.stdout + done.stderr
    peaks = [int(peak.replace(",", "")) for peak in re.findall(r"^ext_dev.* peak ([\d,]+) bytes$", done.stdout, re.M)]
    sizes = [int(size.replace(",", "")) for size in re.findall(r"^ext_dev.* 400,000 +([\d,]+) ", done.stdout, re.M)]
    assert len(peaks) == len(sizes) == 4
    assert all(0 < peak <= limit < size for peak, size in zip(peaks, sizes)), done.stdout
    # A batch of all rows exceeds the memory.
    done = run("--data", path, "--memory-limit", "4m", "--batch-rows", str(rows))
    assert done.returncode == 1
    assert "NO: " in done.stdout


def test_an_empty_table_survives_the_round_trip(tmp_path):
    path = str(tmp_path / "data")
    write_parquet(table().slice(0, 0), path)
    assert run("--data", path).returncode == 0


def test_an_unreadable_table_is_reported(tmp_path):
    spoiled = tmp_path / "spoiled"
    spoiled.write_bytes(b"PAR1 and no table")
    for path in (tmp_path / "missing", tmp_path, spoiled):
        done = run("--data", str(path))
        assert done.returncode == 1
        assert done.stderr.splitlines()[-1].startswith("demo: the table cannot be read: ") and "Traceback" not in done.stderr


def test_a_missing_device_is_a_failure(tmp_path):
    path = str(tmp_path / "data")
    write_parquet(table(), path)
    done = run("--data", path, ARROWDEVICE_SIM_FAIL="device_count:1+")
    assert done.returncode == 1
    assert re.fullmatch(r"demo: \d+ devices verified, 2 failed", done.stdout.splitlines()[-1])


def test_read_flights_returns_the_expected_table():
    flights = demo.read_flights()
    assert flights.num_rows == 336_776
    assert flights["late"].null_count == flights["arr_delay"].null_count > 0
    assert flights.schema.field("time_hour").type == pa.timestamp("s", tz="UTC")

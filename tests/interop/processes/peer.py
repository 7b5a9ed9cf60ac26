# SPDX-License-Identifier: Apache-2.0
"""Serves files to other processes, and fetches what they serve. test_processes.py has the manual."""

import pathlib
import sys

import pyarrow as pa

import arrowdevice as ad


def read(path):
    with pa.ipc.open_stream(path) as reader:
        return reader.schema, list(reader)


def name_of(path, device):
    return f"{pathlib.Path(path).stem}.{device.name}"


def serve(uri, devices, paths):
    with ad.Server(uri, copy=False) as server:
        for device in devices:
            pool = ad.Pool(device, shareable=True)
            for path in paths:
                table = ad.Table(pa.RecordBatchReader.from_batches(*read(path)))
                server.add(name_of(path, device), ad.to_device(table, device, copy=True, pool=pool))
        print("serving", flush=True)
        sys.stdin.read()
        print(f"{server.stats.batches} batches were sent, {server.stats.copied_bytes} bytes were copied")


def copies(devices):
    """Returns the number of copies since the process began. Sizes that were read back to be checked do not count."""
    return sum(counters.submissions - counters.readbacks for counters in (device.counters() for device in devices))


def fetch(uri, devices, paths):
    for path in paths:
        schema, expected = read(path)
        for device in devices:
            name, before = name_of(path, device), copies(devices)
            with ad.connect(f"{uri}?name={name}", copy=False) as stream:
                assert pa.schema(stream.schema).equals(schema, check_metadata=True), name
                arrays = list(stream)
            assert copies(devices) == before, f"{name}: bytes were copied"
            assert all(array.device == device for array in arrays), f"{name}: an array is on another device"
            batches = [pa.record_batch(ad.to_device(array, "cpu")) for array in arrays]
            for batch, one in zip(batches, expected, strict=True):
                assert batch.equals(one, check_metadata=True), f"{name}: {batch}\nis not\n{one}"
            print(f"{name}: {sum(batch.num_rows for batch in batches)} rows in {len(batches)} batches")


if __name__ == "__main__":
    _, command, uri, devices, *paths = sys.argv
    {"serve": serve, "fetch": fetch}[command](uri, [ad.device(name) for name in devices.split(",")], paths)

# SPDX-License-Identifier: Apache-2.0
"""Serves files to other processes, and fetches what they serve. test_processes.py has the manual."""

import os
import pathlib
import socket
import stat
import sys

import pyarrow as pa

import arrowdevice as ad

SOCKET = socket.socket(fileno=0) if stat.S_ISSOCK(os.fstat(0).st_mode) else None  # for handles


def read(path):
    with pa.ipc.open_stream(path) as reader:
        return reader.schema, list(reader)


def name_of(path, device):
    return f"{pathlib.Path(path).stem}.{device.name}"


def serve(uri, devices, paths):
    streams, copied_bytes = {}, 0
    with ad.Server(uri, copy=False) as server:
        for device in devices:
            pool = ad.Pool(device, shareable=True)
            for path in paths:
                table = ad.Table(pa.RecordBatchReader.from_batches(*read(path)))
                table = ad.to_device(table, device, copy=True, pool=pool)
                streams[name_of(path, device)] = table.batches
                server.add(name_of(path, device), table)
        print("serving", flush=True)
        while request := SOCKET.recv(512):
            name, batch = request.decode().split()
            with streams[name][int(batch)].ipc_handle(copy=False) as handle:
                socket.send_fds(SOCKET, [handle.data], handle.descriptors)
                copied_bytes += handle.copied_bytes
        print(f"{server.stats.copied_bytes + copied_bytes} bytes were copied")


def copies(devices):
    """Returns the number of copies since the process began. Sizes that were read back to be checked do not count."""
    return sum(counters.submissions - counters.readbacks for counters in (device.counters() for device in devices))


def handles(name, count):
    """Yields the arrays of a stream, which come as handles."""
    for batch in range(count):
        SOCKET.send(f"{name} {batch}".encode())
        data, descriptors, flags, _ = socket.recv_fds(SOCKET, 1 << 20, 32)
        assert flags & (socket.MSG_TRUNC | socket.MSG_CTRUNC) == 0, name
        with ad.IpcHandle(data, descriptors) as handle:
            yield handle.open()


def stream(uri, name, schema):
    with ad.connect(f"{uri}?name={name}", copy=False) as stream:
        assert pa.schema(stream.schema).equals(schema, check_metadata=True), name
        yield from stream


def fetch(uri, devices, paths):
    for path in paths:
        schema, expected = read(path)
        for device in devices:
            name, before = name_of(path, device), copies(devices)
            arrays = list(handles(name, len(expected)) if uri == "-" else stream(uri, name, schema))
            assert copies(devices) == before, f"{name}: bytes were copied"
            assert all(array.device == device for array in arrays), f"{name}: an array is on another device"
            batches = [pa.record_batch(ad.to_device(array, "cpu")) for array in arrays]
            for batch, one in zip(batches, expected, strict=True):
                assert batch.equals(one, check_metadata=True), f"{name}: {batch}\nis not\n{one}"
            print(f"{name}: {sum(batch.num_rows for batch in batches)} rows in {len(batches)} batches")


if __name__ == "__main__":
    _, command, uri, devices, *paths = sys.argv
    {"serve": serve, "fetch": fetch}[command](uri, [ad.device(name) for name in devices.split(",")], paths)

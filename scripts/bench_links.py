# SPDX-License-Identifier: Apache-2.0
"""Compares ways from one process to another: bench_links.py [--quick] [--bench-links PROGRAM]

Another process has a column of integers. This process requests it, and the time ends when it has a pyarrow array or an
array of this library. No value is read. The ways are this library, pyarrow over shared memory and over a Unix socket,
Arrow Flight, and Ray and dora if they are installed. Each way has a process of its own. The ways take turns, so that
other load meets all of them. Prints a table of medians in microseconds. PROGRAM is the benchmark bench-links, which
calls the library from C++.

The program needs pyarrow and the Python package of this library.
"""

import argparse
import contextlib
import json
import multiprocessing
import os
import socket
import statistics
import subprocess
import tempfile
import time
from multiprocessing import shared_memory

import pyarrow as pa
import pyarrow.flight

import arrowdevice as ad

SIZES = {"8 kB": 1000, "64 MB": 8_000_000}
SECONDS = 60


def batch_of(rows):
    return pa.record_batch({"n": pa.array(range(rows), pa.int64())})


def stream_size(batch):
    sink = pa.MockOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return sink.size()


# -- the processes that have the data: each gets a socket, on which a byte is a request

def own_shared_memory(connection, rows):
    batch = batch_of(rows)
    memory = shared_memory.SharedMemory(create=True, size=stream_size(batch))
    try:
        connection.sendall(memory.name.encode().ljust(64))
        while connection.recv(1):
            with pa.ipc.new_stream(pa.FixedSizeBufferWriter(pa.py_buffer(memory.buf)), batch.schema) as writer:
                writer.write_batch(batch)
            connection.sendall(b"x")
    finally:
        memory.unlink()
        os._exit(0)  # pyarrow still refers to the memory


def own_socket(connection, rows):
    batch = batch_of(rows)
    connection.sendall(b" " * 64)
    with connection.makefile("wb", buffering=1 << 20) as file:
        while connection.recv(1):
            with pa.ipc.new_stream(file, batch.schema) as writer:
                writer.write_batch(batch)
            file.flush()


class FlightServer(pa.flight.FlightServerBase):
    def __init__(self, location, batch):
        super().__init__(location)
        self.batch = batch

    def do_get(self, context, ticket):
        return pa.flight.RecordBatchStream(pa.RecordBatchReader.from_batches(self.batch.schema, [self.batch]))


def own_flight(connection, rows):
    location = f"grpc+unix://{tempfile.mktemp()}"
    with FlightServer(location, batch_of(rows)):
        connection.sendall(location.encode().ljust(64))
        connection.recv(1)


def own_links(connection, rows, is_shareable):
    batch = ad.Array(batch_of(rows))
    if is_shareable:
        batch = ad.to_device(batch, "cpu", copy=True, pool=ad.Pool("cpu", shareable=True))
    uri = f"unix:@arrowdevice-bench-{os.getpid()}"
    here = pa.record_batch(batch)

    def requested():
        while connection.recv(1):
            yield here

    with ad.Server(uri, copy=False if is_shareable else None) as server:
        server.add("rows", ad.Stream(pa.RecordBatchReader.from_batches(here.schema, requested())))
        connection.sendall(uri.encode().ljust(64))
        while True:
            time.sleep(SECONDS)


# -- the ways of this process

class Way:
    def __init__(self, owner, *arguments):
        ours, theirs = socket.socketpair()
        self.connection = ours
        self.process = multiprocessing.get_context("spawn").Process(target=owner, args=(theirs, *arguments), daemon=True)
        self.process.start()
        theirs.close()
        self.place = ours.recv(64, socket.MSG_WAITALL).decode().strip()
        self.begin()

    def begin(self):
        pass

    def close(self):
        self.connection.close()
        self.process.kill()
        self.process.join(SECONDS)


class SharedMemory(Way):
    name = "pyarrow: Arrow IPC in shared memory"

    def begin(self):
        self.memory = shared_memory.SharedMemory(self.place)

    def request(self):
        self.connection.sendall(b"x")
        self.connection.recv(1)
        return pa.ipc.open_stream(pa.py_buffer(self.memory.buf)).read_next_batch()

    def close(self):
        super().close()
        with contextlib.suppress(FileNotFoundError):  # the other process has removed it
            self.memory.unlink()


class Socket(Way):
    name = "pyarrow: Arrow IPC over a Unix socket"

    def begin(self):
        self.file = self.connection.makefile("rb", buffering=1 << 20)

    def request(self):
        self.connection.sendall(b"x")
        with pa.ipc.open_stream(self.file) as reader:
            batch = reader.read_next_batch()
            for _ in reader:
                pass
        return batch


class Flight(Way):
    name = "Arrow Flight over a Unix socket"

    def begin(self):
        self.client = pa.flight.connect(self.place)

    def request(self):
        return self.client.do_get(pa.flight.Ticket(b"")).read_all()


class Shared(Way):
    name = "this library, in Python"

    def begin(self):
        self.stream = ad.connect(self.place)

    def request(self):
        self.connection.sendall(b"x")
        return next(self.stream)


class Copied(Shared):
    name = "this library, in Python, memory that is copied"


class Ray:
    name = "Ray: put and get by an actor"

    def __init__(self, rows):
        import ray

        self.ray = ray
        ray.init(num_cpus=2, include_dashboard=False, logging_level="ERROR", ignore_reinit_error=True)

        @ray.remote
        class Owner:
            def __init__(self, rows):
                self.batch = batch_of(rows)

            def get(self):
                return self.batch

        self.owner = Owner.remote(rows)
        self.request()

    def request(self):
        return self.ray.get(self.owner.get.remote())

    def close(self):
        self.ray.kill(self.owner)
        self.ray.shutdown()


DORA_OWNER = """
import sys
import pyarrow
from dora import Node
column = pyarrow.array(range(int(sys.argv[1])), pyarrow.int64())
node = Node()
for event in node:
    if event["type"] == "INPUT":
        node.send_output("rows", column)
    elif event["type"] == "STOP":
        break
"""
DORA_FLOW = """
nodes:
  - {{id: bench, path: dynamic, inputs: {{rows: owner/rows}}, outputs: [request]}}
  - {{id: owner, path: owner.py, args: "{rows}", inputs: {{request: bench/request}}, outputs: [rows]}}
"""


class Dora:
    """A dataflow of two nodes. This process is one of them."""

    name = "dora"

    def __init__(self, rows):
        import dora

        self.folder = tempfile.TemporaryDirectory()
        for name, text in (("owner.py", DORA_OWNER), ("flow.yml", DORA_FLOW.format(rows=rows))):
            with open(os.path.join(self.folder.name, name), "w", encoding="utf-8") as file:
                file.write(text)
        self.tool("up")
        self.tool("start", "flow.yml", "--detach", "--name", "bench-links")
        self.node = dora.Node("bench")
        self.request()

    def tool(self, *arguments):
        subprocess.run(["dora", *arguments], cwd=self.folder.name, check=True, stdout=subprocess.DEVNULL)

    def request(self):
        self.node.send_output("request", pa.array([1]))
        while True:
            event = self.node.next()
            if event["type"] == "INPUT":
                return pa.record_batch({"n": event["value"]})

    def close(self):
        del self.node
        self.tool("stop", "--name", "bench-links")
        self.tool("destroy")
        self.folder.cleanup()


def ways_for(rows):
    made = [Shared(own_links, rows, True), Copied(own_links, rows, False), SharedMemory(own_shared_memory, rows),
            Socket(own_socket, rows), Flight(own_flight, rows)]
    for optional in (Ray, Dora):
        try:
            made.append(optional(rows))
        except ImportError:
            print(f"without {optional.name}, which is not installed")
    return made


def medians(rows, seconds):
    """Returns the median of each way in microseconds. The ways take turns."""
    ways = ways_for(rows)
    times = {way.name: [] for way in ways}
    end = time.monotonic() + seconds
    while time.monotonic() < end or min(map(len, times.values())) < 5:
        for way in ways:
            time.sleep(0.002)  # the work of the way before may go on in the background
            start = time.perf_counter()
            got = way.request()
            times[way.name].append((time.perf_counter() - start) * 1e6)
            assert got.num_rows == rows
            del got
    for way in ways:
        way.close()
    return {name: statistics.median(values) for name, values in times.items()}


def run_program(arguments):
    command = [arguments.bench_links, *(["--quick"] if arguments.quick else [])]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)["benchmarks"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="measures each size for a moment")
    parser.add_argument("--bench-links", metavar="PROGRAM", help="the benchmark of the library in C++")
    arguments = parser.parse_args()
    in_cpp = run_program(arguments) if arguments.bench_links else []  # first, because nothing else runs then
    found = {size: medians(rows, 0.5 if arguments.quick else 10) for size, rows in SIZES.items()}
    print("| way, us | " + " | ".join(found) + " |")
    print("|---|" + "---:|" * len(found))
    for name in next(iter(found.values())):
        print(f"| {name} | " + " | ".join(f"{found[size][name]:,.0f}" for size in found) + " |")
    if in_cpp:
        print("\n| case, in C++, us | p50 | p99 |\n|---|---:|---:|")
    for case in in_cpp:
        print(f"| {case['name']} | {case['real_time']:,.0f} | {case['p99_us']:,.0f} |")


if __name__ == "__main__":
    main()

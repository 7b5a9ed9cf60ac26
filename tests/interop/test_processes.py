# SPDX-License-Identifier: Apache-2.0
"""Processes in C, C++, Python, Rust and Go give each other Arrow's golden files and arrays of every type.

Each language has a program, its *peer*:

    peer serve URI DEVICE,... FILE...
    peer fetch URI DEVICE,... FILE...

`serve` reads files of Arrow's IPC format with the Arrow library of its language, copies them to shareable memory of each
device, and serves them under names such as `generated_map.ext_dev:0`. It prints "serving". Its standard input is a socket
of type SOCK_SEQPACKET. A request there is a name and the number of a batch, and the answer is a handle of that batch. When
the socket ends, the program prints how many bytes were copied.

`fetch` reads the same files. It fetches each stream from the server. If URI is `-`, it requests handles through its
standard input, which is the other end of that socket. It checks that no device copied, and compares schemas and values. It
prints the rows and batches of each stream. The exit code is 1 if anything differs.

The peers in C and C++ read and compare with code of the library's tests.
"""

import fcntl
import functools
import json
import os
import pathlib
import re
import socket
import subprocess
import sys

import pyarrow as pa
import pytest

from all_types import TYPES, rng_of
from test_golden import FILES, FOLDER, batches_of, path_of

ROOT = pathlib.Path(__file__).parents[2]
BUILD = pathlib.Path(os.environ["ARROWDEVICE_LIBRARY"]).parents[1]
DEVICES = ("cpu:0", "ext_dev:0", "ext_dev:1", "opencl:0", "vulkan:0", "cuda:0", "rocm:0", "oneapi:0")
STANDINS = BUILD / "tests" / "drivers"  # for the drivers of the last three
LIBRARIES = f"{STANDINS / 'cuda'}:{STANDINS / 'hip'}"
LANGUAGES = ("C", "C++", "Python", "Rust", "Go")
SECONDS = 60
NOT_INSTALLED = 77  # exit code of a test.sh

# Types that the Arrow library of a language cannot read or import, with the reason.
CANNOT = {
    ("Rust", "list views with garbage"): "it also wants offsets under nulls to be in bounds",
    ("Rust", "lists of fixed size lists of 0"): "it also wants offsets without a row to be in bounds",
    ("Go", "fixed size lists of 0"): "it refuses the size 0 in a file",
    ("Go", "lists of fixed size lists of 0"): "it refuses the size 0 in a file",
    ("Go", "fixed size binary of 0"): "it refuses the width 0 in the C data interface",
    ("Go", "ordered dictionaries"): "it expects the flag at the dictionary, and not at the field",
}


def file_name(name):
    return re.sub(r"\W+", "_", name)


def write(path, names):
    """Writes a file with two batches. The types are its columns."""
    batch = pa.record_batch([TYPES[name](rng_of(name), 67) for name in names], names=names)
    with pa.ipc.new_stream(path, batch.schema) as writer:
        for part in (batch, batch[5:25]):
            writer.write_batch(part)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Returns the paths of the files by their names. A type of CANNOT is a file of its own."""
    folder = tmp_path_factory.mktemp("processes")
    alone = {name for _, name in CANNOT}
    types = {"every_type": [name for name in TYPES if name not in alone]}
    types |= {file_name(name): [name] for name in sorted(alone)}
    paths = {name: str(folder / f"{name}.stream") for name in types}
    for name, path in paths.items():
        write(path, types[name])
    if os.path.isdir(FOLDER):
        paths |= {name: path_of(name) for name in FILES}
    elif os.environ.get("CI"):
        batches_of(FILES[0])  # fails
    return paths


@functools.cache
def environment():
    # Vulkan's validation layer takes a third of the time.
    return os.environ | {
        "ARROWDEVICE_SIM_DEVICES": "addresses,handles",
        "ARROWDEVICE_TEST_VULKAN_VALIDATION": "",
        "LD_LIBRARY_PATH": LIBRARIES,
        "STANDIN_MAY_LEAVE": "1",  # memory that the library keeps for the next copy
        "ZE_ENABLE_ALT_DRIVERS": str(STANDINS / "level_zero" / "libze-standin.so"),
    }


@functools.cache
def devices():
    """Returns the devices whose memory other processes can open."""
    tool = BUILD / "tools" / "arrowdevice" / "arrowdevice"
    output = subprocess.run([tool, "list", "-v", "--json"], env=environment(), check=True, stdout=subprocess.PIPE).stdout
    flags = {f"{one['type']}:{one['id']}": one["flags"] for one in json.loads(output)["devices"]}
    return [name for name in DEVICES if "shareable" in flags[name]]


def build(language, *words):
    """Builds a peer by the test.sh of a binding."""
    script = ROOT / "bindings" / language / "test.sh"
    with open(BUILD / f"peer-{language}.lock", "w", encoding="utf-8") as lock:  # the workers of pytest-xdist use one build
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = subprocess.run([script, BUILD, "--peer", *words], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode == NOT_INSTALLED:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, done.stdout + done.stderr


@functools.cache
def peer(language):
    """Returns the command and the environment of a peer. Skips the test if the language is not installed."""
    if language == "Python":  # with the library and the plugins of the installed package
        own = {name: value for name, value in environment().items() if name != "ARROWDEVICE_BACKEND_PATH"}
        return [sys.executable, pathlib.Path(__file__).parent / "processes" / "peer.py"], own
    if language in ("C", "C++"):
        return [BUILD / "tests" / "interop" / "processes" / {"C": "peer-c", "C++": "peer-cc"}[language]], environment()
    program = {"Rust": BUILD / "rust" / "debug" / "examples" / "peer", "Go": BUILD / "peer-go"}[language]
    build(language.lower(), *([program] if language == "Go" else []))
    # Else a Go program with the race detector sleeps for a second before it ends.
    return [program], environment() | {"LD_LIBRARY_PATH": f"{BUILD / 'src'}:{LIBRARIES}", "GORACE": "atexit_sleep_ms=0"}


def names_for(files, *languages):
    """Returns the names of the files that the languages can read."""
    cannot = {file_name(name) for language, name in CANNOT if language in languages}
    return [name for name in files if name not in cannot]


@pytest.fixture(scope="module")
def server(request, files):
    """Runs a server. Returns its language, its address and the socket for handles. Fails if the server copied bytes."""
    language = request.param
    uri = f"unix:@arrowdevice-{language}-{os.getpid()}"
    program, its_environment = peer(language)
    command = [*program, "serve", uri, ",".join(devices()), *(files[name] for name in names_for(files, language))]
    here, there = socket.socketpair(type=socket.SOCK_SEQPACKET)
    with subprocess.Popen(command, env=its_environment, stdin=there, stdout=subprocess.PIPE, text=True) as process:
        there.close()
        try:
            assert process.stdout.readline() == "serving\n"
            with here:
                yield language, uri, here
            output, _ = process.communicate(timeout=SECONDS)
            assert process.returncode == 0
            assert output == "0 bytes were copied\n"
        finally:
            process.kill()


def fetch(language, uri, paths, handles=subprocess.DEVNULL):
    if handles != subprocess.DEVNULL:
        os.set_blocking(handles.fileno(), True)  # Go has changed that
    program, its_environment = peer(language)
    return subprocess.run([*program, "fetch", uri, ",".join(devices()), *paths], env=its_environment,
                          stdin=handles, capture_output=True, text=True, timeout=SECONDS)  # fmt: skip


@functools.cache
def size_of(path):
    with pa.ipc.open_stream(path) as reader:
        batches = list(reader)
    return f"{sum(batch.num_rows for batch in batches)} rows in {len(batches)} batches"


@pytest.mark.parametrize("way", ["stream", "handles"])
@pytest.mark.parametrize("client", LANGUAGES)
@pytest.mark.parametrize("server", LANGUAGES, indirect=True)
def test_every_file_arrives_without_a_copy(server, client, way, files):
    language, uri, socket_for_handles = server
    paths = [files[name] for name in names_for(files, language, client)]
    done = fetch(client, uri, paths) if way == "stream" else fetch(client, "-", paths, socket_for_handles)
    assert done.returncode == 0 and not done.stderr, done.stderr
    assert done.stdout.splitlines() == [
        f"{pathlib.Path(path).stem}.{device}: {size_of(path)}" for path in paths for device in devices()
    ]


@pytest.mark.parametrize("server", ["C++"], indirect=True)
@pytest.mark.parametrize(("language", "name"), CANNOT)
def test_a_language_refuses_the_types_that_are_listed(server, language, name, files):
    assert fetch(language, server[1], [files[file_name(name)]]).returncode == 1

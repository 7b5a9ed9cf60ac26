# SPDX-License-Identifier: Apache-2.0
"""The wheel's command `arrowdevice` and `python -m arrowdevice` are the tool, with the plugins of the wheel."""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import sysconfig
import time

import pyarrow as pa
import pytest

import arrowdevice

FOLDER = pathlib.Path(arrowdevice.__file__).parent
TOOL = FOLDER / "bin" / "arrowdevice"
COMMANDS = {"command": [os.path.join(sysconfig.get_path("scripts"), "arrowdevice")],
            "module": [sys.executable, "-m", "arrowdevice"]}  # fmt: skip


@pytest.fixture(params=COMMANDS)
def command(request):
    return COMMANDS[request.param]


def run(*words):
    return subprocess.run(words, capture_output=True, text=True, timeout=300)


def test_the_command_runs_the_tool_with_its_arguments(command):
    done = run(*command, "--version")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"arrowdevice {arrowdevice.__version__}\n", "")
    assert run(*command, "list", "--json").stdout == run(TOOL, "list", "--json").stdout


def test_the_exit_status_of_the_tool_is_that_of_the_command(command):
    done = run(*command, "dance")
    assert done.returncode == 2
    assert 'there is no command "dance"' in done.stderr


def test_the_tool_finds_the_plugins_of_the_wheel(command):
    done = run(*command, "explain", "sim")
    assert str(FOLDER / "lib" / "arrowdevice-1" / "libarrowdevice-sim.so") in "".join(done.stdout.split()), done.stdout


def test_the_tool_checks_a_device(command):
    done = run(*command, "check", "--only=a copy", "ext_dev:0")
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.match(r"[1-9]\d* passed, 0 failed", done.stdout.splitlines()[-1]), done.stdout


def test_a_closed_pipe_ends_the_command_as_it_ends_other_programs(command):
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([*command, "list"], stdout=writer, stderr=subprocess.PIPE, timeout=60)
    os.close(writer)
    assert (done.returncode, done.stderr) == (-signal.SIGPIPE, b"")


def test_the_tool_replaces_the_process_and_receives_its_signals(command):
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    while True:  # A full pipe stops the tool before it ends.
        try:
            os.write(writer, bytes(4096))
        except BlockingIOError:
            break
    os.set_blocking(writer, True)
    process = subprocess.Popen([*command, "list"], stdout=writer, start_new_session=True)
    try:
        end = time.monotonic() + 30
        while os.readlink(f"/proc/{process.pid}/exe") != str(TOOL.resolve()):
            assert process.poll() is None and time.monotonic() < end, "the process is not the tool"
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == -signal.SIGTERM
    finally:
        os.close(reader)  # also ends a tool that is another process
        os.close(writer)
        process.kill()
        process.wait()


# -- copy ------------------------------------------------------------------------------------------------------------------

ROWS = pa.table({
    "n": pa.array([1, None, 3], pa.int64()),
    "s": ["a", None, "c" * 40],
    "view": pa.array(["a", "b" * 40, None], pa.string_view()),
    "lists": [[{"x": 1.5}], [], None],
    "words": pa.array(["x", "y", "x"]).dictionary_encode(),
    "runs": pa.RunEndEncodedArray.from_arrays(pa.array([2, 3], pa.int32()), pa.array([7, 8])),
    "nested": pa.array([["u"], ["v"], ["u"]], pa.list_(pa.string())).cast(pa.list_(pa.dictionary(pa.int8(), pa.string()))),
})  # fmt: skip


def written(path, open_writer, table=ROWS, **options):
    with open_writer(path, table.schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
        for batch in (table, table[1:]):
            writer.write_table(batch)
    return path


@pytest.mark.parametrize("form", [pa.ipc.new_stream, pa.ipc.new_file])
def test_copy_reads_files_of_pyarrow(form, device, tmp_path):
    path = written(tmp_path / "rows.arrow", form, unify_dictionaries=form is pa.ipc.new_file)
    done = run(TOOL, "copy", "--json", path, device.name)
    assert (done.returncode, done.stderr) == (0, "")
    answer = json.loads(done.stdout)
    assert {key: answer[key] for key in ("file", "rows", "batches", "columns", "verified")} == {
        "file": str(path), "rows": 5, "batches": 2, "columns": 7, "verified": True}  # fmt: skip
    assert answer["bytes"] > 0 and answer["to_device_us"] > 0 and answer["to_host_us"] > 0
    text = run(TOOL, "copy", path, device.name).stdout
    assert text.startswith(f"{path}: 5 rows in 2 batches, 7 columns, ") and text.endswith("\nAll bytes came back.\n")


def test_copy_reports_a_copy_that_fails(tmp_path, monkeypatch):
    path = written(tmp_path / "rows.arrows", pa.ipc.new_stream)
    monkeypatch.setenv("ARROWDEVICE_SIM_FAIL", "queue_copy:2")
    done = run(TOOL, "copy", path, "ext_dev:0")
    assert (done.returncode, done.stdout) == (1, "") and "queue_copy" in done.stderr


@pytest.mark.parametrize("compression", ["lz4", "zstd"])
def test_copy_refuses_compressed_files(compression, tmp_path):
    path = written(tmp_path / "rows.arrow", pa.ipc.new_file, compression=compression, unify_dictionaries=True)
    done = run(TOOL, "copy", path, "cpu")
    assert (done.returncode, done.stdout) == (1, "")
    assert str(path) in done.stderr and "compressed" in done.stderr


def test_copy_refuses_dictionaries_in_parts(tmp_path):
    grows = pa.table({"w": pa.chunked_array([pa.array(["x"]).dictionary_encode(), pa.array(["x", "y"]).dictionary_encode()])})
    path = tmp_path / "rows.arrows"
    with pa.ipc.new_stream(path, grows.schema, options=pa.ipc.IpcWriteOptions(emit_dictionary_deltas=True)) as writer:
        writer.write_table(grows)
    done = run(TOOL, "copy", path, "cpu")
    assert (done.returncode, done.stdout) == (1, "") and "dictionary 0 is sent in parts" in done.stderr


def test_copy_refuses_invalid_data(tmp_path):
    texts = pa.StringArray.from_buffers(2, pa.py_buffer(b"\0\0\0\0\1\0\0\0\2\0\0\0"), pa.py_buffer(b"a\xff"))
    path = written(tmp_path / "rows.arrows", pa.ipc.new_stream, pa.table({"text": texts}))
    done = run(TOOL, "copy", path, "cpu")
    assert (done.returncode, done.stdout) == (1, "")
    assert re.search(r"rows\.arrows: batch 0: .*text.*UTF-8", done.stderr), done.stderr


# -- serve -----------------------------------------------------------------------------------------------------------------


def test_a_client_in_python_reads_from_the_tool(device, tmp_path):
    path = written(tmp_path / "rows.arrows", pa.ipc.new_stream)
    uri = f"unix:@arrowdevice-tool-{os.getpid()}-{device.name}"
    words = [TOOL, "serve", f"--at={uri}", path, f"--device={device.name}", "--once"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
        try:
            if not device.is_shareable:
                assert server.wait(60) == 1 and "no memory that other processes can open" in server.stderr.read()
                return
            assert server.stdout.readline().startswith(f"{uri}?name=rows: 5 rows in 2 batches, 7 columns, ")
            with arrowdevice.connect(uri, copy=False, timeout=60) as stream:
                batches = [pa.record_batch(arrowdevice.to_device(batch, "cpu")) for batch in stream]
            received = pa.Table.from_batches(batches)
            assert received.combine_chunks() == pa.concat_tables([ROWS, ROWS[1:]]).combine_chunks()
            del batches, received  # on the CPU they are the memory of the server, which waits for its release
            assert server.wait(60) == 0
            assert server.stdout.read().endswith("Copied nothing.\n")
        finally:
            server.kill()

# SPDX-License-Identifier: Apache-2.0
"""The wheel's command `arrowdevice` and `python -m arrowdevice` are the tool, with the plugins of the wheel."""

import os
import pathlib
import re
import signal
import subprocess
import sys
import sysconfig
import time

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

# SPDX-License-Identifier: Apache-2.0
"""A shell completes the words of the tool: completion_test.py SHELL TOOL FOLDER

FOLDER has the scripts that are installed. The words are typed into an interactive shell on a terminal. Exits with 77 if the
shell is not installed, and with 1 if CI is set too.
"""

import os
import pty
import select
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

SHELL, TOOL, FOLDER = sys.argv[1:4]
DEVICE = "ext_dev:0 is there: Simulated accelerator 0 (addresses)"
PROMPT = "ready>"
SECONDS = 30


def environment(home):
    path = os.path.dirname(os.path.abspath(TOOL)) + ":" + os.environ["PATH"]
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "ZDOT", "BASH"))}
    simulated = next(folder for folder in os.environ["ARROWDEVICE_BACKEND_PATH"].split(":")
                     if os.path.exists(os.path.join(folder, "libarrowdevice-sim.so")))
    return plain | {"PATH": path, "ARROWDEVICE_BACKEND_PATH": simulated, "ARROWDEVICE_SIM_DEVICES": "addresses", "HOME": home,
                    "ZDOTDIR": home, "TERM": "dumb", "NO_COLOR": "1"}


class Terminal:
    """An interactive shell on a terminal."""

    def __init__(self, command, home):
        self.ours, theirs = pty.openpty()
        self.process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment(home), cwd=home,
                                        start_new_session=True)
        os.close(theirs)

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.ours)

    def type(self, text):
        os.write(self.ours, text.encode())

    def read_until(self, part):
        """Reads until the output has a part. Fails if it does not come in time."""
        text, end = "", time.monotonic() + SECONDS
        while part not in text:
            ready = select.select([self.ours], [], [], max(0, end - time.monotonic()))[0]
            if not ready:
                raise AssertionError(f"{part!r} is not in {text!r}")
            text += os.read(self.ours, 65536).decode(errors="replace")
        return text


class Typing(unittest.TestCase):
    """Tests that type into a shell. `setup` are the lines that load the script."""

    command, setup = [], ""

    def setUp(self):
        self.home = tempfile.TemporaryDirectory()
        self.terminal = Terminal(self.command, self.home.name)
        # The prompt is spelled in two halves, so that the echo of the line does not contain it.
        self.terminal.type(self.setup)
        self.terminal.read_until(PROMPT)

    def tearDown(self):
        self.terminal.close()
        self.home.cleanup()

    def enter(self, line, expected):
        self.terminal.type(line + "\n")
        self.terminal.read_until(expected)

    def test_commands_are_completed(self):
        self.enter("arrowdevice expl\tEXT_dev:0", DEVICE.replace("ext_dev", "EXT_dev"))

    def test_options_are_completed(self):
        self.enter("arrowdevice list --ver\t--js\t| grep -c numa_node", "\n2\r")

    def test_device_types_are_completed(self):
        self.enter("arrowdevice explain cuda_m\t", "\ncuda_managed cannot be used: ")

    def test_ids_of_devices_are_completed(self):
        self.enter("arrowdevice explain ext_dev:\t", DEVICE)

    def test_values_of_options_follow_without_a_space(self):
        self.enter("arrowdevice check --onl\t'bytes copied' ext_d\t", "\n1 passed, 0 failed")

    def test_files_are_completed(self):
        with open(os.path.join(self.home.name, "limits.txt"), "w", encoding="utf-8") as file:
            file.write("sim | unsupported | bytes copied to a buffer and back are the same | THE REASON\n")
        self.enter("arrowdevice check --only='bytes copied' --known=lim\text_dev:0", "THE REASON")


class Bash(Typing):
    command = ["bash", "--norc", "--noprofile", "-i"]
    setup = f"PS1=rea''dy\\>; source '{FOLDER}/arrowdevice.bash'\n"

    def suggestions(self, line, more=""):
        """Returns what the function suggests for a line."""
        script = (f"source '{FOLDER}/arrowdevice.bash'; compopt() {{ echo \"compopt $*\"; }}; {more} COMP_LINE=$1; COMP_POINT=${{#1}}; "
                  "_arrowdevice; printf '%s\\n' \"${COMPREPLY[@]}\"")
        done = subprocess.run(["bash", "-c", script, "bash", line], env=environment(self.home.name), capture_output=True, text=True,
                              timeout=SECONDS, check=True)
        self.assertEqual(done.stderr, "")
        return done.stdout.split("\n")[:-1]

    def test_the_function_suggests_words(self):
        for line, words in {
            "arrowdevice li": ["list"],
            "arrowdevice ": ["--help", "--version", "bench", "check", "copy", "explain", "fetch", "list", "serve"],
            "arrowdevice bench --b": ["compopt -o nospace", "--bytes="],
            "arrowdevice bench cpu ext_d": ["ext_dev:0"],
            "arrowdevice bench ext_dev:": ["0"],
            "arrowdevice copy ext_d": [""],
            "arrowdevice copy --json file ext_d": ["ext_dev:0"],
            "arrowdevice explain vulk": ["vulkan"],
            "arrowdevice bench -- --b": [""],
            "arrowdevice nothing ": [""],
        }.items():
            with self.subTest(line=line):
                self.assertEqual(self.suggestions(line), words)

    def test_the_function_heeds_the_word_breaks(self):
        self.assertEqual(self.suggestions("arrowdevice bench ext_dev:", more="COMP_WORDBREAKS=' =';"), ["ext_dev:0"])


class Zsh(Typing):
    command = ["zsh", "-f", "-i"]
    setup = f"PS1=rea''dy\\>; fpath=('{FOLDER}' $fpath); autoload -Uz compinit; compinit -u -D\n"

    def test_the_syntax_is_valid(self):
        subprocess.run(["zsh", "-n", os.path.join(FOLDER, "_arrowdevice")], check=True)


class Fish(unittest.TestCase):
    def complete(self, line):
        script = f"source '{FOLDER}/arrowdevice.fish'; complete -C $argv[1]"
        with tempfile.TemporaryDirectory() as home:
            done = subprocess.run(["fish", "--no-config", "-c", script, line], env=environment(home), capture_output=True, text=True,
                                  timeout=SECONDS, check=True)
        self.assertEqual(done.stderr, "")
        return [one.split("\t")[0] for one in done.stdout.splitlines()]

    def test_the_syntax_is_valid(self):
        subprocess.run(["fish", "--no-execute", os.path.join(FOLDER, "arrowdevice.fish")], check=True)

    def test_words_are_completed(self):
        for line, words in {
            "arrowdevice li": ["list"],
            "arrowdevice bench --b": ["--bytes="],
            "arrowdevice list --": ["--help", "--json", "--verbose"],
            "arrowdevice bench cpu ext_d": ["ext_dev:0"],
            "arrowdevice explain ext_dev:": ["ext_dev:0"],
            "arrowdevice explain vulk": ["vulkan"],
            "arrowdevice check --known=/dev/nul": ["--known=/dev/null"],
        }.items():
            with self.subTest(line=line):
                self.assertEqual(self.complete(line), words)


if __name__ == "__main__":
    if shutil.which(SHELL) is None:
        print(f"{SHELL} is not installed (Debian and Ubuntu: {SHELL})")
        sys.exit(1 if os.environ.get("CI") else 77)
    unittest.main(argv=sys.argv[:1], defaultTest=SHELL.capitalize())

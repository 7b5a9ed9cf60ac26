# SPDX-License-Identifier: Apache-2.0
"""Runs a command while its threads starve at random: starve.py COMMAND [ARGUMENT...]

The script keeps every processor busy. At random it gives threads of the command and its children the idle priority.
An error that needs a thread to pause at a rare moment happens often this way. The exit code is that of the command.
The script needs the right to choose the scheduling of threads, as root has it.
"""

import os
import random
import subprocess
import sys

STARVED = 0.4  # share of the threads at any time
CHANGE_EVERY = 0.02  # seconds at most
BUSY = "while True: pass"


def children_of_all():
    """Process ids by the id of their parent."""
    children = {}
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open(f"/proc/{entry}/stat", encoding="utf-8", errors="replace") as file:
                parent = int(file.read().rpartition(") ")[2].split()[1])
        except (FileNotFoundError, ProcessLookupError):
            continue  # it has ended meanwhile
        children.setdefault(parent, []).append(int(entry))
    return children


def family(process):
    """It, and what it has started, and so on."""
    children = children_of_all()
    found = [process]
    for member in found:
        found += children.get(member, [])
    return found


def starve(process):
    """Chooses anew which of its threads starve."""
    for member in family(process):
        try:
            for thread in os.listdir(f"/proc/{member}/task"):
                policy = os.SCHED_IDLE if random.random() < STARVED else os.SCHED_OTHER
                os.sched_setscheduler(int(thread), policy, os.sched_param(0))
        except (FileNotFoundError, ProcessLookupError):
            pass  # it has ended meanwhile


def check_rights():
    try:
        for policy in (os.SCHED_IDLE, os.SCHED_OTHER):  # the return to the normal policy needs the right
            os.sched_setscheduler(0, policy, os.sched_param(0))
    except PermissionError:
        sys.exit("starve.py: it needs the right to choose how threads are scheduled (CAP_SYS_NICE)")


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__.splitlines()[0])
    check_rights()
    busy = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in os.sched_getaffinity(0)]
    try:
        command = subprocess.Popen(sys.argv[1:])
        while True:
            try:
                return command.wait(random.uniform(0, CHANGE_EVERY))
            except subprocess.TimeoutExpired:
                starve(command.pid)
    finally:
        for process in busy:
            process.kill()
            process.wait()


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: Apache-2.0
"""Runs the two processes of the example link: link_test.py PROGRAM"""

import os
import subprocess
import sys
import time

SECONDS = 60


def main():
    program = sys.argv[1]
    uri = f"unix:@arrowdevice-example-{os.getpid()}"
    with subprocess.Popen([program, "serve", uri], stdout=subprocess.PIPE, text=True) as server:
        end = time.monotonic() + SECONDS
        while True:
            done = subprocess.run([program, "fetch", uri], capture_output=True, text=True, timeout=SECONDS)
            is_absent = "Connection refused" in done.stderr or "the server has none" in done.stderr
            if not is_absent or server.poll() is not None or time.monotonic() > end:
                break
        if done.stdout != "the sum is 4499998500000\n":
            server.kill()
            sys.exit(f"fetch: {done.returncode} {done.stdout!r} {done.stderr!r}")
        sent = server.communicate(timeout=SECONDS)[0]
    if (server.returncode, sent) != (0, "3 batches were sent, 0 bytes were copied\n"):
        sys.exit(f"serve: {server.returncode} {sent!r}")


main()

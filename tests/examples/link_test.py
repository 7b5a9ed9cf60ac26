# SPDX-License-Identifier: Apache-2.0
"""Runs the two processes of the example link: link_test.py SERVER [CLIENT]. They may be in different languages."""

import os
import subprocess
import sys
import time

SECONDS = 60


def main():
    program, *clients = sys.argv[1:]
    client = clients[0] if clients else program
    uri = f"unix:@arrowdevice-example-{os.getpid()}"
    server = subprocess.Popen([program, "serve", uri], stdout=subprocess.PIPE, text=True)
    try:
        end = time.monotonic() + SECONDS
        while True:
            done = subprocess.run([client, "fetch", uri], capture_output=True, text=True, timeout=SECONDS)
            is_absent = "Connection refused" in done.stderr or "the server has none" in done.stderr
            if not is_absent or server.poll() is not None or time.monotonic() > end:
                break
        if (done.returncode, done.stdout) != (0, "the sum is 4499998500000\n"):
            sys.exit(f"fetch: {done.returncode} {done.stdout!r} {done.stderr!r}")
        sent = server.communicate(timeout=SECONDS)[0]
    finally:
        server.kill()
    if (server.returncode, sent) != (0, "3 batches were sent, 0 bytes were copied\n"):
        sys.exit(f"serve: {server.returncode} {sent!r}")


main()

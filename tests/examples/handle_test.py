# SPDX-License-Identifier: Apache-2.0
"""Runs the two processes of the example handle: handle_test.py GIVER [TAKER]. They may be in different languages."""

import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

GIVER, *TAKERS = sys.argv[1:]
TAKER = TAKERS[0] if TAKERS else GIVER
SECONDS = 60


class HandleTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.socket = pathlib.Path(folder.name, "socket")

    def start(self, program, action):
        process = subprocess.Popen([program, action, self.socket], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.kill)
        return process

    def take(self):
        """Returns the exit code, the output and the errors of a taker that the giver has accepted."""
        end = time.monotonic() + SECONDS
        while True:
            taker = self.start(TAKER, "take")
            rows, problem = taker.communicate(timeout=SECONDS)
            is_early = "no such file" in problem.lower() or "refused" in problem.lower()
            if not is_early or time.monotonic() > end:
                return taker.returncode, rows, problem
            time.sleep(0.01)

    def test_the_column_arrives_and_its_memory_comes_back(self):
        giver = self.start(GIVER, "give")
        code, rows, problem = self.take()
        self.assertRegex(rows, r'^the sum of "(number)?" is 499999500000\n$')  # an array of Go has no name
        self.assertEqual(problem, "")
        self.assertEqual(code, 0)
        self.assertEqual(giver.communicate(timeout=SECONDS), ("0 bytes were copied\nthe memory is free again\n", ""))
        self.assertEqual(giver.returncode, 0)

    def test_a_process_that_gives_nothing_is_reported(self):
        taker = self.start(TAKER, "take")
        self.assertIn("no such file", taker.communicate(timeout=SECONDS)[1].lower())
        self.assertEqual(taker.returncode, 1)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

# SPDX-License-Identifier: Apache-2.0
"""starve.py ends like its command: starve_test.py SCRIPTS_DIR"""

import os
import subprocess
import sys
import unittest

SCRIPT = os.path.join(sys.argv[1], "starve.py")
# Forks a child that asks for its own policy until it has seen both.
SEES_BOTH = """
import os, sys
child = os.fork()
if child == 0:
    seen = set()
    while len(seen) < 2:
        seen.add(os.sched_getscheduler(0))
    os._exit(0 if seen == {os.SCHED_OTHER, os.SCHED_IDLE} else 1)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


GO_AND_COME_BACK = "import os; [os.sched_setscheduler(0, one, os.sched_param(0)) for one in (os.SCHED_IDLE, os.SCHED_OTHER)]"
MAY_CHOOSE = subprocess.run([sys.executable, "-c", GO_AND_COME_BACK], stderr=subprocess.DEVNULL).returncode == 0


def starve(*command):
    return subprocess.run([sys.executable, SCRIPT, *command], capture_output=True, text=True, timeout=100)


class Starving(unittest.TestCase):
    def starve(self, *command):
        """Its exit code and output; without the right to choose, nothing is run and that is said."""
        done = starve(*command)
        if MAY_CHOOSE:
            return done.returncode, done.stdout
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("CAP_SYS_NICE", done.stderr)
        return None

    def test_the_exit_code_is_that_of_the_command_and_no_load_is_left(self):
        # A leftover process of the load would hold this pipe open.
        self.assertIn(self.starve("sh", "-c", "echo said; exit 3"), ((3, "said\n"), None))

    def test_threads_of_the_command_starve_at_times(self):
        self.assertIn(self.starve(sys.executable, "-c", SEES_BOTH), ((0, ""), None))

    def test_a_missing_command_is_an_error(self):
        self.assertIn("COMMAND", starve().stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

# SPDX-License-Identifier: Apache-2.0
"""`arrowdevice check` finds planted mistakes at normal speed: planted_test.py TOOL PLUGIN

Each is planted on devices with addresses and on devices with handles, unless the library calls the function for one
kind only. The case that finds it is named, so that no mistake is found by chance alone."""
import json
import os
import subprocess
import sys
import unittest

TOOL, PLUGIN = sys.argv.pop(1), sys.argv.pop(1)

LARGE = "bytes of large sizes, and at large offsets, are the same"
MANY = "batches of any number of regions are copied whole"
ORDER = "large batches run in the order of their queue"
BEHIND_A_WAIT = "an event behind a wait alone fires after it"
DESTROYED = "a queue waits for an event that is destroyed meanwhile"
TWO = "a queue waits for two events"
QUESTION = "event queries and short waits do not block"
WAIT = "a wait ends when its event has fired"
PLACES = "published events keep their addresses"
PARTS = "a sub-buffer of a sub-buffer holds the bytes at both offsets"
PART = "a sub-buffer holds the bytes at its offset"
SIZES = "an array above its buffer's size is invalid if the backend reports sizes"
BEYOND = "regions beyond a buffer are refused"
CASES = [LARGE, MANY, ORDER, BEHIND_A_WAIT, DESTROYED, TWO, QUESTION, WAIT, PLACES, PARTS, PART, SIZES, BEYOND]

BOTH, HANDLES = ("addresses", "handles"), ("handles",)
MISTAKES = {
    "cut_at_16_mib": (LARGE, BOTH),
    "cut_at_4_mib": (LARGE, BOTH),
    "tail_beyond_1_mib": (LARGE, BOTH),
    "first_1024_regions": (MANY, BOTH),
    "first_255_regions": (MANY, BOTH),
    "last_of_many": (MANY, BOTH),
    "short_offsets": (LARGE, BOTH),
    "one_offset_for_many": (MANY, BOTH),
    "large_within": (LARGE, BOTH),
    "no_bounds": (BEYOND, BOTH),
    "large_unordered": (ORDER, BOTH),
    "event_without_copy": (BEHIND_A_WAIT, BOTH),
    "wait_lost_with_event": (DESTROYED, BOTH),
    "one_wait": (TWO, BOTH),
    "no_wait": (DESTROYED, BOTH),
    "query_blocks": (QUESTION, BOTH),
    "poll_blocks": (QUESTION, BOTH),
    "wait_gives_up": (WAIT, BOTH),
    "timed_wait_gives_up": (WAIT, BOTH),
    "never_times_out": (QUESTION, BOTH),
    "published_in_a_ring": (PLACES, BOTH),
    "sub_of_the_whole": (PARTS, HANDLES),
    "short_sub": (PART, HANDLES),
    "tells_more": (SIZES, HANDLES),
}


def failures(mistake, kind, cases):
    environment = os.environ | {"ARROWDEVICE_SIM_DEVICES": f"{kind},{kind}", "ARROWDEVICE_TEST_PLANTED": mistake}
    for name in ("LATENCY_US", "BANDWIDTH"):
        environment.pop("ARROWDEVICE_SIM_" + name, None)
    done = subprocess.run([TOOL, "check", "--json", "--timeout=60", *(f"--only={case}" for case in cases), PLUGIN],
                          env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300,
                          check=False)
    found = {result["case"]: result["message"] for device in json.loads(done.stdout)["devices"]
             for result in device["results"] if result["outcome"] not in ("passed", "unsupported")}
    assert done.returncode == (1 if found else 0), done.stdout + done.stderr
    return found


class Planted(unittest.TestCase):
    def test_a_device_without_a_planted_mistake_passes(self):
        for kind in BOTH:
            self.assertEqual(failures("", kind, CASES), {}, kind)

    def test_every_planted_mistake_is_found(self):
        # A mistake in the order of work shows only if threads meet, so the kit may look five times.
        for mistake, (case, kinds) in MISTAKES.items():
            for kind in kinds:
                with self.subTest(mistake=mistake, kind=kind):
                    self.assertTrue(any(case in failures(mistake, kind, [case]) for _ in range(5)))


if __name__ == "__main__":
    unittest.main()

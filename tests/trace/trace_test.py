# SPDX-License-Identifier: Apache-2.0
"""The trace of a program, as viewers of Chrome's format read it: trace_test.py PROGRAM"""

import collections
import glob
import json
import os
import signal
import subprocess
import sys
import tempfile
import unittest

PROGRAM = sys.argv.pop(1)

# Work on the last device takes longer than the waits that the trace leaves out.
DEVICES = "addresses,addresses,addresses:latency_us=300000"


class Trace(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.path = os.path.join(self.folder, "trace.json")

    def run_program(self, *scenario, trace=None, expected=0, **more):
        environment = os.environ | {"ARROWDEVICE_SIM_DEVICES": DEVICES, "ARROWDEVICE_SIM_PEERS": "none",
                                    "ARROWDEVICE_TRACE": trace or self.path} | more
        done = subprocess.run([PROGRAM, *scenario], env=environment, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, expected, done.stderr)
        return done

    def read(self, path=None, end=""):
        with open(path or self.path, encoding="utf-8") as file:
            return json.loads(file.read() + end)

    def spans(self, events, name):
        return [event for event in events if event["ph"] == "X" and event["name"] == name]

    def test_each_copy_names_devices_size_path_and_reason(self):
        self.run_program("everything")
        copies = [event["args"] for event in self.spans(self.read(), "copy")]
        facts = [(one["from"], one["to"], one["path"], one.get("reason")) for one in copies]
        gathered = "its buffers are small, or written by the CPU"
        staged = "there is no direct path between these devices"
        self.assertEqual(facts, [("cpu:0", "ext_dev:0", "directly", None),
                                 ("ext_dev:0", "ext_dev:1", "through host memory", staged),
                                 ("ext_dev:1", "cpu:0", "directly", None), ("cpu:0", "cpu:0", "by the CPU", None),
                                 ("cpu:0", "ext_dev:0", "gathered in staging memory", gathered)])
        self.assertEqual([one["pending"] for one in copies], [False] * 4 + [True])
        for one in copies[:4]:
            self.assertGreaterEqual(one["bytes"], 800_000)
            self.assertGreaterEqual(one["buffers"], 1)

    def test_moves_pools_and_backends_are_in_the_trace(self):
        self.run_program("everything")
        events = self.read()
        self.assertEqual([event["args"] for event in self.spans(events, "move")], [{"from": "cpu:0", "to": "cpu:0"}])
        grown = self.spans(events, "pool growth")
        self.assertEqual({event["args"]["device"] for event in grown}, {"cpu:0", "ext_dev:0", "ext_dev:1"})
        self.assertTrue(all(event["args"]["bytes"] > 0 for event in grown))
        loaded = [event["args"] for event in self.spans(events, "load backend")]
        self.assertIn("ext_dev", [one.get("serves") for one in loaded])

    def test_waits_are_in_the_trace(self):
        self.run_program("waits")
        events = self.read()
        self.assertEqual([event["args"] for event in self.spans(events, "array_wait")], [{"device": "ext_dev:2"}])
        self.assertEqual([event["args"] for event in self.spans(events, "wait_idle")], [{"idle": True}])
        waits = [event["args"] for event in self.spans(events, "wait for an event")]
        self.assertEqual(waits, [{"device": "ext_dev:2", "fired": True}] * 2)

    def test_the_trace_leaves_out_short_waits(self):
        self.run_program("short waits")
        self.assertLess(len(self.spans(self.read(), "wait_idle")), 500)  # of 1000; a busy machine makes some longer

    def test_each_event_has_the_members_of_the_format(self):
        self.run_program("everything")
        events = self.read()
        self.assertEqual((events[0]["ph"], events[0]["name"]), ("M", "process_name"))
        self.assertEqual(events[0]["args"]["name"], os.path.basename(PROGRAM)[:15])
        self.assertEqual(len({event["pid"] for event in events}), 1)
        for event in events[1:]:
            self.assertIsInstance(event["ts"], float)
            self.assertIsInstance(event["tid"], int)
            self.assertIn((event["ph"], event["cat"]), {("X", "copy"), ("X", "wait"), ("X", "memory"), ("X", "backend"),
                                                        ("b", "copy"), ("e", "copy")})
            if event["ph"] == "X":
                self.assertGreaterEqual(event["dur"], 0)

    def test_spans_of_a_thread_are_nested(self):
        self.run_program("waits")
        events = self.read()
        threads = collections.defaultdict(list)
        for event in events:
            if event["ph"] == "X":
                threads[event["tid"]].append((event["ts"], -event["dur"], event["name"]))
        pairs = set()
        for spans in threads.values():
            open_spans = []
            for begin, negative, name in sorted(spans):
                end = round(begin - negative, 3)
                while open_spans and open_spans[-1][0] <= begin:
                    open_spans.pop()
                if open_spans:
                    self.assertLessEqual(end, open_spans[-1][0], name)
                    pairs.add((open_spans[-1][1], name))
                open_spans.append((end, name))
        self.assertLessEqual({("copy", "wait for an event"), ("copy", "pool growth"),
                              ("array_wait", "wait for an event")}, pairs)

    def test_a_pending_copy_ends_later_than_its_call(self):
        self.run_program("waits")
        events = self.read()
        begun = {event["id"]: event for event in events if event["ph"] == "b"}
        ended = {event["id"]: event for event in events if event["ph"] == "e"}
        self.assertEqual(sorted(begun), [1, 2])
        self.assertEqual(begun.keys(), ended.keys())
        for number, begin in begun.items():
            self.assertEqual([(event["name"], event["cat"]) for event in (begin, ended[number])],
                             [("copy in flight", "copy")] * 2)
            self.assertGreater(ended[number]["ts"], begin["ts"])

    def test_a_copy_that_fails_is_in_the_trace(self):
        self.run_program("failure")
        copies = [event["args"] for event in self.spans(self.read(), "copy")]
        self.assertTrue(copies)
        self.assertTrue(all(one == {"failed": True} for one in copies), copies)

    def test_events_of_threads_are_whole(self):
        self.run_program("threads")
        copies = self.spans(self.read(), "copy")
        counts = collections.Counter(event["tid"] for event in copies)
        self.assertEqual(sorted(counts.values()), [50] * 4)

    def test_a_killed_program_leaves_all_its_events_without_the_end(self):
        self.run_program("killed", expected=-signal.SIGABRT)
        with self.assertRaises(json.JSONDecodeError):
            self.read()
        self.assertEqual(len(self.spans(self.read(end="]"), "copy")), 1)

    def test_a_forked_child_does_not_write_to_the_file_of_its_parent(self):
        child = int(self.run_program("fork").stdout)
        events = self.read()
        self.assertEqual(len(self.spans(events, "copy")), 2)
        self.assertNotIn(child, [event["pid"] for event in events])

    def test_a_forked_child_has_its_own_file_if_the_name_has_the_process_id(self):
        child = int(self.run_program("fork", trace=os.path.join(self.folder, "%p-%p.json")).stdout)
        files = glob.glob(os.path.join(self.folder, "*.json"))
        self.assertEqual(len(files), 2)
        for path in files:
            events = self.read(path)
            process, = {event["pid"] for event in events}
            self.assertEqual(os.path.basename(path), f"{process}-{process}.json")
            self.assertEqual(len(self.spans(events, "copy")), 1 if process == child else 2)

    def test_another_program_with_the_same_environment_does_not_write_to_the_file(self):
        done = self.run_program("ended by a child", f"'{PROGRAM}' copy")
        self.assertIn(f"the trace file {self.path} is in use by another process", done.stderr)
        self.assertEqual(len(self.spans(self.read(), "copy")), 1)

    def test_a_file_of_an_earlier_process_is_replaced(self):
        with open(self.path, "w", encoding="utf-8") as file:
            file.write("x" * 100_000)
        self.run_program("copy")
        self.assertEqual(len(self.spans(self.read(), "copy")), 1)

    def test_a_file_that_cannot_be_opened_or_written_is_an_error_in_the_log(self):
        path = os.path.join(self.folder, "absent", "trace.json")
        self.assertEqual(self.run_program("copy", trace=path).stderr,
                         f"arrowdevice: the trace file {path} cannot be opened: No such file or directory\n")
        self.assertEqual(self.run_program("everything", trace="/dev/full").stderr,
                         "arrowdevice: the trace file /dev/full cannot be written: No space left on device\n")

    def test_names_with_any_bytes_are_valid_json(self):
        plugins = os.path.join(self.folder, 'a"b\\c\nd\udcff')
        os.mkdir(plugins)
        with open(os.path.join(plugins, "libarrowdevice-sim.so"), "w", encoding="utf-8"):
            pass
        search = plugins + ":" + os.environ["ARROWDEVICE_BACKEND_PATH"]
        self.run_program("everything", ARROWDEVICE_BACKEND_PATH=search)
        refused = next(event["args"] for event in self.spans(self.read(), "load backend") if "error" in event["args"])
        self.assertIn('a"b\\c\nd?/libarrowdevice-sim.so', refused["path"])

    def test_log_and_trace_name_the_same_reason(self):
        done = self.run_program("everything", ARROWDEVICE_LOG="debug")
        for event in self.spans(self.read(), "copy"):
            if "reason" in event["args"]:
                self.assertIn(f"{event['args']['path']}, because {event['args']['reason']}, ", done.stderr)


if __name__ == "__main__":
    unittest.main()

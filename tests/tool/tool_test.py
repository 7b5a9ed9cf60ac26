# SPDX-License-Identifier: Apache-2.0
"""The command-line tool, as a shell or a script sees it: tool_test.py TOOL VERSION"""

import csv
import io
import json
import os
import pty
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

TOOL, VERSION = sys.argv[1], sys.argv[2]
COLUMNS = 100
SIM_ONLY = next(folder for folder in os.environ["ARROWDEVICE_BACKEND_PATH"].split(":")
                if os.path.exists(os.path.join(folder, "libarrowdevice-sim.so")))
ESCAPE = "\x1b["


def environment(devices="addresses,handles", **more):
    kept = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "TERM")}
    return kept | {"ARROWDEVICE_SIM_DEVICES": devices, "TERM": "xterm"} | more


def run(*arguments, devices="addresses,handles", stdout=subprocess.PIPE, **more):
    return subprocess.run([TOOL, *arguments], env=environment(devices, **more), stdin=subprocess.DEVNULL, stdout=stdout,
                          stderr=subprocess.PIPE, text=True, timeout=60)


def run_on_terminal(*arguments, **more):
    """Returns the exit code and the output of the tool on a terminal."""
    ours, theirs = pty.openpty()
    try:
        code = run(*arguments, stdout=theirs, **more).returncode
    finally:
        os.close(theirs)
    text = b""
    try:
        while piece := os.read(ours, 65536):
            text += piece
    except OSError:  # the other end is closed: a terminal's way to say so
        pass
    os.close(ours)
    return code, text.decode()


class Tool(unittest.TestCase):
    def test_version_shows_the_version_of_the_library(self):
        done = run("--version")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, f"arrowdevice {VERSION}\n", ""))

    def test_the_tool_and_each_command_have_help(self):
        for arguments in (["--help"], ["list", "--help"], ["explain", "--help"], ["bench", "--help"], ["explain", "cuda", "--help"], ["-h"]):
            with self.subTest(arguments=arguments):
                done = run(*arguments)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertIn("Usage: arrowdevice", done.stdout)
                self.assertIn("Exit code:", done.stdout)
                self.assert_fits(done.stdout)

    def test_the_help_names_every_command(self):
        for command in ("list", "explain", "bench", "check", "copy", "serve", "fetch", "--version"):
            self.assertIn(command, run("--help").stdout)

    def test_wrong_usage_is_exit_code_2_without_standard_output(self):
        for arguments in ([], ["lst"], ["--versoin"], ["list", "--jsn"], ["list", "cpu"], ["explain", "a", "b"],
                          ["explain", "--all"], ["explain", ""], ["list", "--json=yes"], ["bench", "--bytes=0"],
                          ["bench", "--samples=0"], ["bench", "--samples=1x"], ["bench", "--bytes"], ["bench", "--json", "--csv"], ["bench", ""], ["bench", "--plot=/tmp/none.svg", "--bytes=64"], ["copy"],
                          ["copy", "file"], ["copy", "file", "cpu", "cpu"], ["serve"], ["fetch"], ["fetch", "unix:@a", "unix:@b"], ["--version", "list"]):
            with self.subTest(arguments=arguments):
                done = run(*arguments)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertNotEqual(done.stderr, "")

    def test_unknown_words_get_the_nearest_suggestion(self):
        for arguments, message in {
            ("lst",): 'there is no command "lst" (did you mean "list"?)',
            ("explian",): 'there is no command "explian" (did you mean "explain"?)',
            ("--versoin",): 'there is no option "--versoin" (did you mean "--version"?)',
            ("list", "--jsn"): 'list: there is no option "--jsn" (did you mean "--json"?)',
            ("check", "--require-devices"): 'check: there is no option "--require-devices" (did you mean "--require-device"?)',
            ("bench", "cdua"): 'there is no device type "cdua" (did you mean "cuda"?)',
            ("toaster",): 'there is no command "toaster"',
        }.items():
            with self.subTest(arguments=arguments):
                self.assertEqual(run(*arguments).stderr.splitlines()[0], f"arrowdevice: {message}")

    def test_words_after_two_dashes_are_no_options(self):
        self.assertIn('device type "--json"', run("bench", "--", "--json").stderr)

    def test_device_names_ignore_case(self):
        self.assertEqual(run("explain", "EXT_DEV:1").returncode, 0)

    def assert_fits(self, text):
        for line in text.splitlines():
            self.assertLessEqual(len(line), COLUMNS, line)

    def test_list_shows_the_cpu_and_each_simulated_device(self):
        done = run("list")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        heading, *rows = done.stdout.splitlines()
        self.assertEqual(heading.split("  ")[0], "TYPE")
        for word in ("TYPE", "ID", "NAME", "MEMORY", "BACKEND", "BUFFERS", "CPU ACCESS"):
            self.assertIn(word, heading)
        cells = {(row.split()[0], row.split()[1]): row.split() for row in rows}
        cpu = [row for (kind, _), row in cells.items() if kind == "cpu"]
        self.assertEqual(len(cpu), 1, rows)
        self.assertEqual(cpu[0][-3:], ["cpu", "addresses", "yes"])
        self.assertEqual(cells["ext_dev", "0"][-3:], ["sim", "addresses", "no"])
        self.assertEqual(cells["ext_dev", "1"][-3:], ["sim", "handles", "no"])
        self.assert_fits(done.stdout)

    def test_list_without_simulated_devices_shows_none(self):
        self.assertNotIn("ext_dev", run("list", devices="").stdout)

    def test_json_has_the_same_content(self):
        done = run("list", "--json")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        answer = json.loads(done.stdout)
        self.assertEqual(answer["version"], VERSION)
        devices = {(device["type"], device["id"]): device for device in answer["devices"]}
        self.assertEqual(len(devices), len(answer["devices"]))
        cpu = next(device for device in answer["devices"] if device["type"] == "cpu")
        self.assertEqual((cpu["device_type"], cpu["backend"], cpu["buffers"], cpu["cpu_access"]),
                         (1, "cpu", "addresses", True))
        simulated = devices["ext_dev", 1]
        self.assertEqual((simulated["device_type"], simulated["backend"], simulated["buffers"], simulated["cpu_access"]),
                         (12, "sim", "handles", False))
        self.assertGreater(simulated["total_memory"], 0)
        self.assertGreater(simulated["buffer_alignment"], 0)
        self.assertTrue(simulated["name"])

    def test_verbose_list_shows_the_properties_and_peer_access(self):
        done = run("list", "-v", ARROWDEVICE_BACKEND_PATH=SIM_ONLY, ARROWDEVICE_SIM_PEERS="none")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        blocks = {lines[0].split()[0]: " ".join(lines[1:]) for lines in map(str.splitlines, done.stdout.strip().split("\n\n"))}
        self.assertRegex(blocks["ext_dev:1"], r"vendor +libarrowdevice +backend +sim +uuid +[0-9a-f]{32} +memory +4.0 GiB, 4.0 GiB free "
                         r"+alignment +buffers 128 B, sub-buffers 128 B +flags +events, shareable +pinned memory +no device type +NUMA node +unknown")
        self.assertRegex(blocks["ext_dev:0"], "flags +addresses, events, shareable ")
        self.assertRegex(blocks["cpu:0"], "flags +addresses, host_readable, shareable ")
        self.assertEqual([line.split("  ")[0] for line in done.stdout.splitlines()[-4:-1]], ["cpu:0", "ext_dev:0", "ext_dev:1"])
        self.assertRegex(blocks["PEERS"], r"ext_dev:0 +copy +access, copy +staged +ext_dev:1 +copy +staged +access, copy")
        self.assert_fits(done.stdout)

    def test_verbose_list_fits_with_many_devices(self):
        done = run("list", "--verbose", devices=",".join(["addresses"] * 12), ARROWDEVICE_BACKEND_PATH=SIM_ONLY)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertGreater(done.stdout.count("\nPEERS "), 1)
        self.assert_fits(done.stdout)

    def test_verbose_json_has_the_same_content(self):
        done = run("list", "-v", "--json", ARROWDEVICE_BACKEND_PATH=SIM_ONLY, ARROWDEVICE_SIM_PEERS="access")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        answer = json.loads(done.stdout)
        devices = {f"{one['type']}:{one['id']}": one for one in answer["devices"]}
        self.assertEqual((devices["ext_dev:0"]["free_memory"], devices["ext_dev:0"]["flags"]), (4 << 30, ["addresses", "events", "shareable"]))
        self.assertEqual((devices["ext_dev:0"]["pinned_memory"], devices["ext_dev:0"]["numa_node"]), (None, None))
        self.assertEqual(len(answer["peers"]), len(devices) ** 2)
        peers = {(one["from"], one["to"]): one["flags"] for one in answer["peers"]}
        self.assertEqual((peers["ext_dev:0", "ext_dev:0"], peers["cpu:0", "ext_dev:0"]), (["access", "copy"], ["copy"]))
        brief = json.loads(run("list", "--json", ARROWDEVICE_BACKEND_PATH=SIM_ONLY).stdout)
        self.assertNotIn("peers", brief)
        self.assertNotIn("free_memory", brief["devices"][0])

    def test_verbose_list_survives_a_driver_without_free_memory(self):
        failure = {"ARROWDEVICE_SIM_FAIL": "device_get_memory_info:1+", "ARROWDEVICE_BACKEND_PATH": SIM_ONLY}
        done = run("list", "-v", **failure)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("free memory unknown: device_get_memory_info: a failure that was asked for", " ".join(done.stdout.split()))
        devices = json.loads(run("list", "-v", "--json", **failure).stdout)["devices"]
        self.assertIsNone(devices[-1]["free_memory"])

    def test_explain_begins_with_each_device_type(self):
        done = run("explain", ARROWDEVICE_BACKEND_PATH=SIM_ONLY)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        lines = done.stdout.splitlines()
        self.assertRegex(lines[0], r"^cpu +1 device \(cpu\): \S")
        self.assertRegex(lines[1], r"^ext_dev +2 devices \(sim\): Simulated accelerator 0 \(addresses\), ")
        types = " ".join(done.stdout.split("\n\n")[0].split())
        self.assertRegex(types, r"cuda none \(cuda\): (its plugin was not found|it is not built: \S+)")
        self.assertIn("cuda_host none, as for cuda", types)
        self.assertTrue(types.endswith("No backend drives these types: metal, vpi, webgpu, hexagon."), types)
        self.assert_fits(done.stdout)

    def test_explain_says_why_a_found_backend_is_not_used(self):
        for devices, reason in (("", "used on request only: set ARROWDEVICE_SIM_DEVICES"), ("nonsense", '"nonsense" is not a kind')):
            with self.subTest(devices=devices):
                types = run("explain", devices=devices, ARROWDEVICE_BACKEND_PATH=SIM_ONLY).stdout.split("\n\n")[0]
                self.assertRegex(" ".join(types.split()), rf"ext_dev none \(sim\): .*{re.escape(reason)}")

    def test_explain_of_a_type_uses_the_reason_of_the_driver(self):
        done = run("explain", ARROWDEVICE_SIM_FAIL="device_count:1+")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(done.stdout, r"ext_dev +none \(sim\): device_count: a failure that was asked for")

    def test_explain_as_json_has_the_types_and_the_places(self):
        done = run("explain", "--json", ARROWDEVICE_BACKEND_PATH=SIM_ONLY)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        answer = json.loads(done.stdout)
        self.assertEqual(answer["version"], VERSION)
        types = {one["type"]: one for one in answer["types"]}
        self.assertEqual(len(types), 14)
        self.assertEqual((types["ext_dev"]["backend"], types["ext_dev"]["reason"]), ("sim", None))
        self.assertEqual([device["id"] for device in types["ext_dev"]["devices"]], [0, 1])
        self.assertEqual((types["cuda_managed"]["device_type"], types["cuda_managed"]["backend"], types["cuda_managed"]["devices"]),
                         (13, "cuda", []))
        self.assertTrue(types["cuda_managed"]["reason"])
        self.assertEqual((types["metal"]["backend"], types["metal"]["reason"]), (None, "no backend drives this type"))
        self.assertIn((0, "sim", os.path.join(SIM_ONLY, "libarrowdevice-sim.so")),
                      [(one["status"], one["backend"], one["path"]) for one in answer["searched"]])

    def test_explain_of_a_name_as_json_has_the_conclusion(self):
        for name, code, part in (("ext_dev:1", 0, "is there"), ("sim", 0, "is loaded"), ("ext_dev:7", 1, "there is no ext_dev:7"),
                                 ("nonsense", 1, "no backend of that name")):
            with self.subTest(name=name):
                done = run("explain", name, "--json")
                self.assertEqual((done.returncode, done.stderr), (code, ""))
                answer = json.loads(done.stdout)
                self.assertEqual((answer["name"], answer["usable"]), (name, code == 0))
                self.assertIn(part, answer["conclusion"])
                self.assertIsInstance(answer["searched"], list)

    def test_explain_suggests_the_nearest_name(self):
        for name, meant in (("cdua", "cuda"), ("simm", "sim"), ("opncl", "opencl")):
            self.assertIn(f'(did you mean "{meant}"?).', " ".join(run("explain", name).stdout.split()))

    def test_explain_names_each_searched_path_and_its_outcome(self):
        done = run("explain")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("loaded    cpu  (no file: linked in)", done.stdout)
        unwrapped = "".join(line.strip() for line in done.stdout.splitlines())
        self.assertIn(os.path.join(os.environ["ARROWDEVICE_BACKEND_PATH"].split(":")[0], "libarrowdevice-sim.so"),
                      unwrapped)
        self.assert_fits(done.stdout)

    def test_explain_of_a_working_device_succeeds(self):
        for name in ("cpu", "ext_dev", "ext_dev:1", "sim"):
            with self.subTest(name=name):
                done = run("explain", name)
                self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
                self.assertIn(name, done.stdout.splitlines()[-1])

    def test_explain_of_a_broken_device_fails_with_the_reason(self):
        for name in ("hexagon", "hexagon:0", "ext_dev:7", "nonsense", "nonsense:0"):
            with self.subTest(name=name):
                done = run("explain", name)
                self.assertEqual((done.returncode, done.stderr), (1, ""), done.stdout)
                self.assertIn(name, done.stdout)
                self.assert_fits(done.stdout)

    def test_explain_of_a_backend_without_devices_fails(self):
        folders = os.environ["ARROWDEVICE_BACKEND_PATH"].split(":")
        if any(os.path.exists(os.path.join(folder, "libarrowdevice-hip.so")) for folder in folders):  # else it is not built
            done = run("explain", "hip", HIP_VISIBLE_DEVICES="-1")
            self.assertEqual((done.returncode, done.stderr), (1, ""), done.stdout)
            self.assertIn("The backend hip is loaded. rocm cannot be used: ", " ".join(done.stdout.split()))

    def test_explain_names_every_folder_without_the_plugin(self):
        folder = "/nowhere/" + "long/" * 40 + "x"
        done = run("explain", "hexagon", ARROWDEVICE_BACKEND_PATH=folder)
        self.assertEqual(done.returncode, 1)
        self.assertIn(folder, "".join(line.strip() for line in done.stdout.splitlines()))
        self.assert_fits(done.stdout)

    def test_bench_measures_each_pair_of_devices_and_each_size(self):
        done = run("bench", "--bytes=1,3K,1M", "--samples=5", "--json", "cpu", "ext_dev:0", "ext_dev:1", ARROWDEVICE_SIM_PEERS="none")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        answer = json.loads(done.stdout)
        self.assertEqual(answer["version"], VERSION)
        names = ["cpu:0", "ext_dev:0", "ext_dev:1"]
        self.assertEqual([(pair["from"], pair["to"]) for pair in answer["pairs"]],
                         [(one, other) for one in names for other in names])
        for pair in answer["pairs"]:
            with self.subTest(pair=pair):
                self.assertEqual(pair["direct"], {pair["from"], pair["to"]} != {"ext_dev:0", "ext_dev:1"})
                self.assertEqual([(one["bytes"], one["samples"], one["verified"], one["error"]) for one in pair["sizes"]],
                                 [(size, 5, True, None) for size in (1, 3 << 10, 1 << 20)])
                for one in pair["sizes"]:
                    self.assertTrue(0 < one["min_us"] <= one["median_us"] <= one["max_us"])
                    self.assertAlmostEqual(one["gb_per_s"] * one["median_us"], one["bytes"] / 1e3, delta=one["bytes"] / 1e6)

    def test_bench_takes_suffixes_of_sizes(self):
        sizes = json.loads(run("bench", "--bytes=7,2k,1M", "--samples=1", "--json", "cpu").stdout)["pairs"][0]["sizes"]
        self.assertEqual([one["bytes"] for one in sizes], [7, 2 << 10, 1 << 20])
        usual = json.loads(run("bench", "--samples=1", "--json", "cpu").stdout)["pairs"][0]["sizes"]
        self.assertEqual([one["bytes"] for one in usual], [64, 64 << 20])

    def test_bench_refuses_other_sizes(self):
        for sizes in ("", "0", "-1", "1x", "M", "1,,2", "1,", "1.5M", "1025G", "99999999999999999999", "8388608T"):
            with self.subTest(sizes=sizes):
                done = run("bench", f"--bytes={sizes}", "cpu")
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertIn("arrowdevice: bench: invalid size", done.stderr)

    def test_bench_prints_csv(self):
        done = run("bench", "--bytes=64,1M", "--samples=3", "--csv", "cpu", "ext_dev:1", devices="addresses,addresses:memory=64k")
        self.assertEqual((done.returncode, done.stderr), (1, ""))
        heading, *rows = csv.reader(io.StringIO(done.stdout))
        self.assertEqual(heading, ["from", "to", "direct", "bytes", "samples", "min_us", "median_us", "max_us", "gb_per_s", "error"])
        self.assertEqual([row[:5] for row in rows[:2]], [["cpu:0", "cpu:0", "1", "64", "3"], ["cpu:0", "cpu:0", "1", "1048576", "3"]])
        self.assertEqual(len(rows), 8)
        for row in rows:
            with self.subTest(row=row):
                has_failed = row[:2] != ["cpu:0", "cpu:0"] and row[3] == "1048576"
                self.assertEqual(["device memory: 1048576 bytes" in row[9], row[5:9] == [""] * 4], [has_failed, has_failed])
                self.assertTrue(has_failed or 0 < float(row[5]) <= float(row[6]) <= float(row[7]), row)
        self.assertTrue(any(row[5] != row[7] for row in rows))

    def test_bench_draws_a_line_for_each_pair(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "speed.svg")
            done = run("bench", "--samples=1", f"--plot={path}", "cpu", "ext_dev:0", "ext_dev:1", ARROWDEVICE_SIM_PEERS="none",
                       devices="addresses,addresses:memory=40m")
            self.assertEqual(done.returncode, 1, done.stderr)  # 64 MiB do not fit
            svg = xml.etree.ElementTree.parse(path).getroot()
        of = "{http://www.w3.org/2000/svg}"
        points = [len(line.get("points").split()) for line in svg.iter(of + "polyline")]
        self.assertEqual(points, [6, 6, 5, 6, 6, 5, 5, 5, 5])
        self.assertEqual([line.get("stroke-dasharray") is None for line in svg.iter(of + "polyline")],
                         [True, True, True, True, True, False, True, False, True])
        texts = [text.text for text in svg.iter(of + "text")]
        for words in ("64 B", "64 MiB", "cpu:0 to ext_dev:0", "ext_dev:1 to cpu:0 (failed)"):
            self.assertIn(words, texts)
        width, height = float(svg.get("width")), float(svg.get("height"))
        for point in svg.iter(of + "circle"):
            self.assertTrue(0 < float(point.get("cx")) < width and 0 < float(point.get("cy")) < height)

    def test_bench_fails_at_once_if_it_cannot_write_the_plot(self):
        done = run("bench", "--plot=/nonexistent/speed.svg", "cpu")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("/nonexistent/speed.svg cannot be written: No such file", done.stderr)

    def test_copy_copies_a_file(self):  # that pyarrow wrote: columns n (int16) and s (utf8) with one null each
        rows = os.path.join(os.path.dirname(os.path.abspath(__file__)), "rows.arrows")
        for device in ("cpu:0", "ext_dev:0", "ext_dev:1"):
            with self.subTest(device=device):
                answer = json.loads(run("copy", "--json", rows, device).stdout)
                self.assertEqual([answer[name] for name in ("device", "rows", "batches", "columns", "bytes", "verified")],
                                 [device, 3, 1, 2, 28, True])
                done = run("copy", rows, device)
                self.assertRegex(done.stdout, r": 3 rows in 1 batch, 2 columns, 28 B\nto " + device + r" .* ms .* GB/s\nto the host ")
                self.assert_fits(done.stdout.partition(": ")[2])

    def test_serve_offers_files_that_fetch_reads(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        rows = os.path.join(os.path.dirname(os.path.abspath(__file__)), "rows.arrows")
        for device in ("cpu", "ext_dev:0", "ext_dev:1"):
            with self.subTest(device=device):
                uri = "unix:" + os.path.join(folder.name, "socket")
                server = subprocess.Popen([TOOL, "serve", "--at=" + uri, "--device=" + device, "--once", rows], env=environment(),
                                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                self.addCleanup(server.kill)
                offered = server.stdout.readline()
                self.assertEqual(offered, uri + "?name=rows: 3 rows in 1 batch, 2 columns, 28 B\n")
                done = run("fetch", "--json", "--no-copy", uri + "?name=rows")
                answer = json.loads(done.stdout)
                self.assertEqual([answer[name] for name in ("rows", "batches", "columns", "bytes")], [3, 1, 2, 28])
                self.assertEqual(server.communicate(timeout=60), ("Sent 1 batch, 28 B. Copied nothing.\n", ""))
                self.assertEqual((server.returncode, os.listdir(folder.name)), (0, []))

    def test_serve_ends_with_a_signal(self):
        rows = os.path.join(os.path.dirname(os.path.abspath(__file__)), "rows.arrows")
        uri = f"unix:@arrowdevice-tool-{os.getpid()}"
        server = subprocess.Popen([TOOL, "serve", "--at=" + uri, rows], env=environment(), stdout=subprocess.PIPE, text=True)
        self.addCleanup(server.kill)
        server.stdout.readline()
        for _ in range(2):
            self.assertRegex(run("fetch", uri).stdout, r"3 rows in 1 batch, 2 columns, 28 B\nAll batches are valid\.")
        server.terminate()
        self.assertEqual(server.communicate(timeout=60)[0], "Sent 2 batches, 56 B. Copied nothing.\n")
        self.assertEqual(server.returncode, 0)

    def test_serve_and_fetch_say_what_is_wrong(self):
        for arguments, message in {
            ("serve", "/nonexistent"): "/nonexistent: No such file or directory",
            ("serve", "--at=prices", __file__): "is none of unix:/PATH, unix:@NAME and fd:NUMBER",
            ("fetch", "unix:@arrowdevice-nobody"): "no server at unix:@arrowdevice-nobody: Connection refused",
        }.items():
            with self.subTest(arguments=arguments):
                done = run(*arguments)
                self.assertEqual((done.returncode, done.stdout), (1, ""))
                self.assertIn(message, done.stderr)

    def test_copy_says_what_is_wrong_with_the_file_or_the_device(self):
        for arguments, message in {
            ("/nonexistent", "cpu"): "/nonexistent: No such file or directory",
            (__file__, "cpu"): f"{__file__}: it is no file of Arrow's IPC format",
            (__file__, "cdua"): 'there is no device type "cdua" (did you mean "cuda"?)',
        }.items():
            with self.subTest(arguments=arguments):
                done = run("copy", *arguments)
                self.assertEqual((done.returncode, done.stdout), (1, ""))
                self.assertIn(message, done.stderr)

    def test_bench_prints_a_table_for_people(self):
        done = run("bench", "--bytes=64,1M", "cpu", "ext_dev:0", "ext_dev:1", ARROWDEVICE_SIM_PEERS="none")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        rows = [line.split() for line in done.stdout.splitlines()]
        for title in (["64", "B,", "us"], ["1", "MiB,", "GB/s"]):
            first = rows.index([*title, "cpu:0", "ext_dev:0", "ext_dev:1"])
            self.assertEqual([row[0] for row in rows[first + 1:first + 4]], ["cpu:0", "ext_dev:0", "ext_dev:1"])
            for row in rows[first + 1:first + 4]:
                self.assertGreater(min(float(cell) for cell in row[1:]), 0, row)
        self.assertIn("Through host memory, because there is no direct path: ext_dev:0 to ext_dev:1, ext_dev:1 to ext_dev:0.",
                      done.stdout.replace("\n", " "))
        self.assert_fits(done.stdout)

    def test_the_debug_log_has_a_line_for_each_copy_and_for_each_growth_of_a_pool(self):
        arguments = ("bench", "--bytes=64,1M", "cpu", "ext_dev:0", "ext_dev:1")
        done = run(*arguments, ARROWDEVICE_SIM_PEERS="none", ARROWDEVICE_LOG="debug")
        size = r": 1048576 bytes in 1 buffers, "
        staged = "through host memory, because there is no direct path between these devices"
        gathered = "gathered in staging memory, because its buffers are small, or written by the CPU"
        for line in ("copy from cpu:0 to cpu:0" + size + "by the CPU", "copy from cpu:0 to ext_dev:0" + size + "directly",
                     "copy from cpu:0 to ext_dev:1: 64 bytes in 1 buffers, " + gathered,
                     "copy from ext_dev:0 to ext_dev:1" + size + staged, "copy from ext_dev:1 to cpu:0" + size + "directly"):
            self.assertRegex(done.stderr, rf"(?m)^arrowdevice: {line}, [0-9.]+ us$")
        self.assertRegex(done.stderr, r"(?m)^arrowdevice: a pool of ext_dev:0 grew by 1048576 bytes to \d+, of which \d+ are used, [0-9.]+ us$")
        self.assertRegex(done.stderr, r"(?m)^arrowdevice: move from cpu:0 to cpu:0 without a copy, [0-9.]+ us$")
        self.assertNotRegex(run(*arguments, ARROWDEVICE_LOG="info").stderr, "copy from|grew|move from")

    def test_bench_of_many_devices_fits(self):
        done = run("bench", "--bytes=64", *["ext_dev:0"] * 9)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assert_fits(done.stdout)
        self.assertEqual(sum(line.startswith("64 B, us ") for line in done.stdout.splitlines()), 2)

    def test_bench_reports_failed_copies(self):
        devices = "addresses,addresses:memory=64k"
        done = run("bench", "--bytes=64,1M", "cpu", "ext_dev:1", devices=devices)
        self.assertEqual((done.returncode, done.stderr), (1, ""))
        self.assertIn("failed", done.stdout)
        self.assertIn("cpu:0 to ext_dev:1 failed with 1 MiB: ", done.stdout)
        self.assert_fits(done.stdout)
        answer = json.loads(run("bench", "--json", "--bytes=64,1M", "cpu", "ext_dev:1", devices=devices).stdout)
        there = next(pair for pair in answer["pairs"] if (pair["from"], pair["to"]) == ("cpu:0", "ext_dev:1"))
        small, large = there["sizes"]
        self.assertEqual((small["verified"], large["verified"], large["median_us"]), (True, False, None))
        self.assertTrue(large["error"])

    def test_bench_of_a_missing_device_fails_with_the_reason(self):
        done = run("bench", "ext_dev:7")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("ext_dev:7", done.stderr)

    def test_only_terminals_get_colour(self):
        for arguments in (["list"], ["explain"], ["bench", "--bytes=1M", "ext_dev:0"]):
            with self.subTest(arguments=arguments):
                self.assertNotIn(ESCAPE, run(*arguments).stdout)
                code, text = run_on_terminal(*arguments)
                self.assertEqual(code, 0)
                self.assertIn(ESCAPE, text)

    def test_the_environment_can_disable_colour(self):
        for wish in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
            with self.subTest(wish=wish):
                code, text = run_on_terminal("list", **wish)
                self.assertEqual(code, 0)
                self.assertIn("ext_dev", text)
                self.assertNotIn(ESCAPE, text)
        self.assertIn(ESCAPE, run_on_terminal("list", NO_COLOR="")[1])  # empty is not set

    def test_a_failed_write_of_the_output_is_a_failure(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            for arguments in (["list"], ["list", "--json"], ["explain"], ["explain", "--json"], ["bench", "--bytes=1M", "cpu"], ["--version"]):
                with self.subTest(arguments=arguments):
                    done = run(*arguments, stdout=full)
                    self.assertEqual(done.returncode, 1)
                    self.assertIn("standard output", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

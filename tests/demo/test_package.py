# SPDX-License-Identifier: Apache-2.0
"""The demo needs only the wheel. The test installs it into an empty folder without the sources and their builds."""

import importlib.metadata
import json
import os
import shutil
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet

DEMO = os.path.join(os.path.dirname(__file__), "..", "..", "scripts", "demo.py")


def test_the_demo_runs_in_an_empty_folder(tmp_path):
    wheel = json.loads(importlib.metadata.distribution("arrowdevice").read_text("direct_url.json"))["url"]
    root = tmp_path / "root"
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith(("ARROWDEVICE_", "LD_LIBRARY_PATH", "PYTHON"))}
    environment |= {"PYTHONPATH": str(root), "ARROWDEVICE_SIM_DEVICES": "addresses,handles"}

    def run(*arguments):
        return subprocess.run([sys.executable, *arguments], cwd=root, env=environment, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True)

    root.mkdir()
    installed = run("-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-index",
                    "--target", str(root), wheel)
    assert installed.returncode == 0, installed.stderr
    shutil.copy(DEMO, root)
    pa.parquet.write_table(pa.table({"n": [1, None, 3], "s": ["a", "", None]}), root / "table.parquet")

    maps = run("-c", "import arrowdevice; arrowdevice.devices(); print(open('/proc/self/maps').read())").stdout
    libraries = {line.split()[-1] for line in maps.splitlines() if "libarrowdevice" in line}
    assert {os.path.basename(path) for path in libraries} >= {"libarrowdevice.so.0", "libarrowdevice-sim.so"}
    assert all(path.startswith(str(root)) for path in libraries), libraries
    done = run("demo.py", "--data", "table.parquet")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "ext_dev:1" in done.stdout and done.stdout.splitlines()[-1].endswith(" devices verified, 0 failed")

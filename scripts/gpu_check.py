# SPDX-License-Identifier: Apache-2.0
"""The hardware check; scripts/gpu-check.sh starts it and describes it."""

import glob
import importlib.util
import json
import os
import platform
import shutil
import signal
import subprocess
import sys

from limited_steps import Steps

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CARRIED = os.path.join(ROOT, "carry-gpu-check")
BUILD = os.path.abspath(os.environ.get("ARROWDEVICE_BUILD") or os.path.join(ROOT, "build-gpu-check"))
RESULTS = os.environ.get("ARROWDEVICE_GPU_CHECK_RESULTS")

SECONDS = 570  # for everything on a GPU; machines are often lent for ten minutes
STAND_IN_SECONDS = 3600
STAND_IN_DIVISOR = 64  # of the large copies

TOOLKIT = os.environ.get("CUDA_HOME") or "/usr/local/cuda"
CUDA_TESTS = os.path.join(ROOT, "tests", "drivers", "cuda")
HARDWARE = "tests/drivers/cuda/hardware/"
OTHERS = ("opencl", "vulkan")  # backends that NVIDIA's driver serves too
PROGRAMS = ["entry-points", "gates", "capture", "fault", "speed"]

# Cases of the conformance suite for compute-sanitizer, which slows the GPU down: parts of their names.
SANITIZED = ["a queue does its work in order", "memory freed behind a queue is reused", "a pool reuses freed memory",
             "memory of an array released before its event", "large batches run in the order",
             "an array is released behind the", "several threads copy to one device"]

TABLE = """
import random, sys
import pyarrow as pa, pyarrow.parquet as pq
random.seed(1)
rows = 100_000
table = pa.table({
    "number": pa.array([random.randrange(1 << 40) if i % 7 else None for i in range(rows)], pa.int64()),
    "fraction": pa.array([random.random() for _ in range(rows)], pa.float64()),
    "text": pa.array(["row %d" % (i * i) if i % 11 else None for i in range(rows)]),
    "late": pa.array([i % 3 == 0 for i in range(rows)]),
})
pq.write_table(table, sys.argv[1])
with pa.ipc.new_stream(sys.argv[2], table.schema) as writer:
    writer.write_table(table)
"""

# The tool offers a file on the GPU, and another process of the tool reads and validates it.
SERVE = """
"$0" serve "--at=$1" --device=cuda:0 --once "$2" >"$2.log" & server=$!
attempts=0
until "$0" fetch "$1"; do
  attempts=$((attempts + 1))
  [ $attempts -lt 100 ] && kill -0 $server || exit 1
  sleep 0.1
done
wait $server
cat "$2.log"
grep -q "Copied nothing" "$2.log"
"""


class Stop(Exception):
    """No later step can run."""


def find_program(name, *folders):
    path = os.pathsep.join([os.environ.get("PATH", ""), *(os.path.join(TOOLKIT, folder) for folder in folders)])
    return shutil.which(name, path=path)


def carry():
    """Puts Meson, Ninja, the headers of flatbuffers and the Python package into CARRIED. Returns the exit code."""
    package = os.path.join(BUILD, "package")
    subprocess.run([os.path.join(ROOT, "bindings", "python", "wheel.sh"), package], check=True)
    folder = os.path.join(CARRIED, "python")
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([os.path.join(package, "build-env", "bin", "python"), "-m", "pip", "install", "--quiet", "--no-deps",
                    "--disable-pip-version-check", "--target", folder, "meson", "ninja",
                    *glob.glob(os.path.join(package, "wheel", "*.whl"))], check=True)
    # The program that pip wrote names the Python of this machine.
    meson = os.path.join(folder, "bin", "meson")
    with open(meson, "w", encoding="utf-8") as file:
        file.write('#!/bin/sh\nexec python3 -m mesonbuild.mesonmain "$@"\n')
    shutil.copytree("/usr/include/flatbuffers", os.path.join(CARRIED, "include", "flatbuffers"), dirs_exist_ok=True)
    with open(os.path.join(CARRIED, "commit"), "w", encoding="utf-8") as file:
        file.write(commit() or "")
    print(f"{CARRIED} has Meson, Ninja, the headers of flatbuffers and the Python package.")
    return 0


def commit():
    """Returns the commit of this copy, or None if it has no history."""
    done = subprocess.run(["git", "-C", ROOT, "describe", "--always", "--dirty"], capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else None


def carried_commit():
    """Returns the commit that the carried package was made of, or None if it is not known."""
    try:
        with open(os.path.join(CARRIED, "commit"), encoding="utf-8") as file:
            return file.read() or None
    except OSError:
        return None


def use_carried():
    """Lets this process and its children find what was carried, after the machine's own programs and packages."""
    folder = os.path.join(CARRIED, "python")
    if not os.path.isdir(folder):
        return
    os.environ["PATH"] = os.pathsep.join([os.environ.get("PATH", ""), os.path.join(folder, "bin")])
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [os.environ.get("PYTHONPATH"), folder]))
    # The compiler searches these folders after those of its arguments, and before those of the system.
    os.environ["CPLUS_INCLUDE_PATH"] = os.path.join(CARRIED, "include")
    sys.path.append(folder)


class Check:
    def __init__(self, is_stand_in):
        self.is_stand_in = is_stand_in
        self.steps = Steps(RESULTS or os.path.join(BUILD, "results"), STAND_IN_SECONDS if is_stand_in else SECONDS)
        self.release = os.path.join(BUILD, "release")
        self.tool = os.path.join(self.release, "tools", "arrowdevice", "arrowdevice")
        self.env = {"ARROWDEVICE_BACKEND_PATH": os.path.join(self.release, "backends", "cuda"),
                    "ARROWDEVICE_LIBRARY": os.path.join(self.release, "src", "libarrowdevice.so"),
                    "STANDIN_VENDOR": "cuda"}
        if is_stand_in:
            # Other tests run every layout on the stand-in.
            self.env |= {"ARROWDEVICE_TEST_CASES": "few", "STANDIN_MAY_LEAVE": "1", "STANDIN_DEVICES": "2",
                         "LD_LIBRARY_PATH": os.path.join(self.release, "tests", "drivers", "cuda")}

    def program(self, name):
        return os.path.join(self.release, HARDWARE + "cuda-" + name)

    def run(self, name, command, limit, env=None, **options):
        return self.steps.run(name, command, limit, {**self.env, **(env or {})}, **options)

    def needs(self, name, reason):
        """Lists a step that cannot run. Returns True if there is no reason."""
        if reason:
            self.steps.skip(name, reason)
        return not reason

    # -- steps

    def print_versions(self):
        commands = {
            "NVIDIA driver": ["nvidia-smi", "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader"],
            "compiler": ["c++", "--version"],
            "nvcc": [find_program("nvcc", "bin") or "nvcc", "--version"],
            "meson": ["meson", "--version"],
        }
        versions = self.steps.facts["versions"]
        versions["kernel"] = f"{platform.system()} {platform.release()} {platform.machine()}"
        versions["Python"] = platform.python_version()
        versions["processors"] = str(os.cpu_count())
        for name, command in commands.items():
            code, output = self.steps.execute(command, 30)
            lines = output.strip().splitlines()
            number = next((line for line in lines if "release" in line), lines[0] if lines else "")
            versions[name] = number.strip() if code == 0 else "not there"
        for name in ("pyarrow", "cupy", "torch"):
            versions[name] = "there" if importlib.util.find_spec(name) else "not there"
        if self.is_stand_in:
            versions["NVIDIA driver"] = "the stand-in"
        self.steps.facts["gpu"] = versions["NVIDIA driver"]
        here, carried = commit(), carried_commit()
        self.steps.facts["commit"] = here or carried or "a copy without history"
        if here and carried and here != carried:
            self.steps.fail("the carried package is of this commit", f"it is of {carried}, and this is {here}: run --carry again")
        for name, text in versions.items():
            print(f"{name}: {text}")

    def build(self):
        for program in ("c++", "ninja", "meson"):
            if shutil.which(program) is None:
                raise Stop(f"there is no {program}; where there is a network, scripts/gpu-check.sh --carry gets Meson and Ninja")
        if not os.path.exists(os.path.join(self.release, "build.ninja")):
            left_out = [f"-D{name}=disabled" for name in
                        ("tests", "bench", "hip", "level_zero", "opencl", "vulkan")]
            command = ["meson", "setup", self.release, ROOT, "--buildtype=release", "-Db_pch=false",
                       f"-Dwerror={str(self.is_stand_in).lower()}", *left_out]
            if not self.run("the build is configured", command, 120, is_single=True):
                raise Stop("the build is not configured")
        targets = ["tools/arrowdevice/arrowdevice", "backends/cuda/libarrowdevice-cuda.so", "examples/wrap_cuda",
                   *(HARDWARE + "cuda-" + name for name in PROGRAMS)]
        if self.is_stand_in:
            targets.append("tests/drivers/cuda/libcuda.so.1")
        if not self.run("the library and the checks are built", ["ninja", "-C", self.release, *targets], 1800 if self.is_stand_in else 420,
                        is_single=True):
            raise Stop("the build failed")

    def ask_driver(self):
        """Asks for the entry points before anything else, then for the devices."""
        self.run("entry points of the driver", [self.program("entry-points")], 60)
        self.devices = self.list_devices()
        if "cuda:0" not in self.devices:
            print(self.steps.execute([self.tool, "explain", "cuda"], 60, self.env)[1])
            raise Stop("there is no CUDA device")
        name = "the comparison of declarations with cuda.h"
        headers = os.path.join(TOOLKIT, "include")
        if self.needs(name, not os.path.exists(os.path.join(headers, "cudaTypedefs.h")) and "there is no cudaTypedefs.h"):
            program = os.path.join(BUILD, "declarations")
            compile_it = ["c++", "-std=c++20", "-O1", *(f"-I{os.path.join(ROOT, one)}" for one in ("tests/drivers", "backends")),
                          "-isystem", headers, "-o", program, os.path.join(CUDA_TESTS, "declarations.cc")]
            self.run("declarations match the toolkit's cuda.h", ["sh", "-c", '"$@" && exec "$0"', program, *compile_it], 60,
                     is_single=True)

    def list_devices(self, backends=("cuda",), env=None):
        env = {**self.env, **(env or {})}
        print(self.steps.execute([self.tool, "list"], 60, env)[1], end="")
        code, output = self.steps.execute([self.tool, "list", "--json"], 60, env)
        if code != 0:
            raise Stop(f"arrowdevice list: {output}")
        return [f"{one['type']}:{one['id']}" for one in json.loads(output)["devices"] if one["backend"] in backends]

    def conform(self):
        for device in self.devices:
            self.run(f"conformance of {device}", [self.tool, "check", "--timeout=30", device], 90)
        self.conform_others()

    def conform_others(self):
        """Checks OpenCL and Vulkan on the GPU, with the plugins of the Python package, because the build may lack headers."""
        plugins = glob.glob(os.path.join(CARRIED, "python", "arrowdevice", "arrowdevice-*"))
        name = "conformance of OpenCL and Vulkan"
        reason = (self.is_stand_in and "a stand-in has neither") or (not plugins and f"{CARRIED} has no Python package")
        if not self.needs(name, reason):
            return
        env = {"ARROWDEVICE_BACKEND_PATH": plugins[0]}
        try:
            devices = self.list_devices(OTHERS, env)
        except Stop as reason:
            self.steps.fail(name, str(reason))
            return
        for backend in OTHERS:
            if not self.needs(f"conformance of {backend}", not any(device.startswith(backend) for device in devices) and
                              f"there is no device of {backend}"):
                print(self.steps.execute([self.tool, "explain", backend], 60, {**self.env, **env})[1])
        for device in devices:
            self.run(f"conformance of {device}", [self.tool, "check", "--timeout=30", device], 90, env)

    def gate(self):
        self.run("a program's own context is wrapped", [os.path.join(self.release, "examples", "wrap_cuda")], 30, is_single=True)
        self.run("work behind gates", [self.program("gates")], 60)
        self.run("captures beside streams of arrays", [self.program("capture")], 60)

    def exchange(self):
        no_kernels = self.is_stand_in and "a stand-in runs no kernels"
        name, nvcc = "a CUDA program's kernels and events", find_program("nvcc", "bin")
        if self.needs(name, no_kernels or (not nvcc and "there is no nvcc")):
            program, library = os.path.join(BUILD, "exchange"), os.path.join(self.release, "src")
            command = [nvcc, "-std=c++17", "-o", program, os.path.join(CUDA_TESTS, "exchange.cu"),
                       f"-I{os.path.join(ROOT, 'include')}", f"-L{library}", "-larrowdevice", "-Xlinker", f"-rpath={library}"]
            if self.run("nvcc compiles the CUDA program", command, 90, is_single=True):
                self.run(name, [program], 60)
        for package, script, *arguments in (("cupy", "cupy_exchange.py"), ("cupy", "graph_capture.py", "cupy"),
                                            ("torch", "graph_capture.py", "torch")):
            name = " ".join([script.removesuffix(".py").replace("_", " "), *arguments])
            missing = [one for one in (package, "pyarrow", "numpy") if importlib.util.find_spec(one) is None]
            if self.needs(name, no_kernels or (missing and f"{', '.join(missing)} is not installed")):
                self.run(name, [sys.executable, os.path.join(CUDA_TESTS, script), *arguments], 90)
        self.run_package("the example with CuPy adds up a column", ("cupy",), [os.path.join(ROOT, "examples", "sum_cuda.py")],
                         no_kernels)
        self.run_package("buffers of a column of texts", ("numpy",), [os.path.join(CUDA_TESTS, "buffers_exchange.py")], no_kernels,
                         is_single=False)
        self.run_demo()

    def run_package(self, name, packages, command, reason=None, is_single=True):
        """Runs a program that uses the Python package, which brings its own library and plugins."""
        missing = [one for one in ("arrowdevice", "pyarrow", *packages) if importlib.util.find_spec(one) is None]
        if self.needs(name, reason or (missing and f"{', '.join(missing)} is not installed")):
            own = {"ARROWDEVICE_BACKEND_PATH": "", "ARROWDEVICE_LIBRARY": ""}
            self.run(name, [sys.executable, *command], 60, own, is_single=is_single)

    def run_demo(self):
        name = "the demo verifies every device"
        table, stream = os.path.join(BUILD, "table.parquet"), os.path.join(BUILD, "table.arrows")
        has_pyarrow = importlib.util.find_spec("pyarrow") is not None
        if has_pyarrow and self.steps.execute([sys.executable, "-c", TABLE, table, stream], 60)[0] != 0:
            return self.steps.skip(name, "pyarrow cannot write the table")
        self.run_package(name, (), [os.path.join(ROOT, "scripts", "demo.py"), "--data", table])
        name = "another process reads a table of the GPU without a copy"
        if self.needs(name, not has_pyarrow and "pyarrow is not installed"):
            uri = f"unix:@arrowdevice-gpu-check-{os.getpid()}"
            self.run(name, ["sh", "-c", SERVE, self.tool, uri, stream], 60, is_single=True)

    def fault(self):
        self.run("a kernel that faults", [self.program("fault")], 60)

    def sanitize(self):
        name = "compute-sanitizer finds no race of stream-ordered memory"
        sanitizer = find_program("compute-sanitizer", "bin", "compute-sanitizer")
        if self.needs(name, (self.is_stand_in and "a stand-in checks its calls itself") or
                      (not sanitizer and "there is no compute-sanitizer")):
            # Not "all": compute-sanitizer of CUDA 13.0 reports a use before the allocation if cuEventQuery told that the
            # allocation was over, or if the stream was created after that.
            self.run(name, [sanitizer, "--tool=memcheck", "--track-stream-ordered-races=use-after-free", "--target-processes=all",
                            "--error-exitcode=99", self.tool, "check", "--timeout=50",
                            *(f"--only={part}" for part in SANITIZED), "cuda:0"], 60)

    def measure(self):
        divisor = [str(STAND_IN_DIVISOR)] if self.is_stand_in else []
        # A driver is known to hang in batches of 50,000 copies, so these come last.
        for section in ("arrays", "mixed", "table", "allocation", "batches"):
            self.run(f"speed: {section}", [self.program("speed"), section, *divisor], 60)

    def run_all(self):
        try:
            self.print_versions()
            self.build()
            self.ask_driver()
            for step in (self.conform, self.gate, self.exchange, self.fault, self.sanitize, self.measure):
                step()
        except Stop as reason:
            print(f"FAILED: {reason}")
            if self.steps.count("failed") == 0:
                self.steps.fail("the check runs to its end", str(reason))
        finally:
            self.steps.finish()


def main(arguments):
    if arguments == ["--carry"]:
        return carry()
    if arguments not in ([], ["--stand-in"]):
        print(f"gpu-check.sh: there is no option {' '.join(arguments)}; see the first lines of scripts/gpu-check.sh",
              file=sys.stderr)
        return 2
    # A signal ends the current step too, and the results remain.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    use_carried()
    check = Check(is_stand_in=bool(arguments))
    check.run_all()
    steps = check.steps
    if not RESULTS and not check.is_stand_in:
        with open(os.path.join(ROOT, "docs", "verification.md"), "a", encoding="utf-8") as page, \
                open(steps.path("verification.md"), encoding="utf-8") as rows:
            page.write("\n" + rows.read())
    print(f"The results are in {steps.folder}")
    print(steps.line())
    return 0 if steps.count("failed") == 0 else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

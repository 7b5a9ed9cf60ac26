# SPDX-License-Identifier: Apache-2.0
"""Events of a real SYCL runtime, by dpctl on the CPU, on arrays over a stand-in for a Level Zero driver.

Uses the Python that ARROWDEVICE_SYCL_PYTHON names, else this one. It needs dpctl with a CPU device of OpenCL
(pip install dpctl intel-opencl-rt), and is skipped otherwise.
"""

import ctypes as C
import errno
import os
import subprocess
import sys
import unittest

SKIPPED = 77


def prepare():
    """Restarts with the Python that has dpctl and an environment in which its libraries find each other."""
    python = os.environ.get("ARROWDEVICE_SYCL_PYTHON") or sys.executable
    where = subprocess.run([python, "-c", "import sys, dpctl; print(sys.prefix)"], capture_output=True, text=True)
    if where.returncode:
        print("dpctl is not installed")
        sys.exit(SKIPPED)
    libraries = os.path.join(where.stdout.strip(), "lib")
    environment = os.environ | {
        "ARROWDEVICE_SYCL_PREPARED": "1",
        "LD_LIBRARY_PATH": libraries,
        # Hides the stand-in from the runtime, because only the backend uses it.
        "ONEAPI_DEVICE_SELECTOR": "opencl:cpu",
    }
    driver = os.path.join(libraries, "libintelocl.so")
    if os.path.exists(driver):
        environment["OCL_ICD_FILENAMES"] = driver
    os.execve(python, [python, *sys.argv], environment)


if "ARROWDEVICE_SYCL_PREPARED" not in os.environ:
    prepare()

import dpctl
import dpctl.memory

if not dpctl.has_cpu_devices():
    print("dpctl has no CPU device")
    sys.exit(SKIPPED)

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), *[os.pardir] * 2, "support"))
import c_api as ffi

BYTES = 64 << 20
COPIES = 20


def ints(lib, values):
    """Returns an array of int32 on the CPU, and the objects that own its memory."""
    data = (C.c_int32 * len(values))(*values)
    buffers = (C.c_void_p * 2)(None, C.cast(data, C.c_void_p))
    array = ffi.HostArray(lib)
    array.c.length, array.c.n_buffers, array.c.buffers = len(values), 2, buffers
    array.c.release = C.cast(RELEASE, C.c_void_p)
    return array, (data, buffers)


@C.CFUNCTYPE(None, C.POINTER(ffi.ArrowArray))
def RELEASE(array):
    array.contents.release = None


@C.CFUNCTYPE(None, C.POINTER(ffi.ArrowSchema))
def RELEASE_SCHEMA(schema):
    schema.contents.release = None


class RealRuntime(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.lib = ffi.Library()
        cls.device = cls.lib.device("oneapi:0")
        cls.queue = dpctl.SyclQueue("opencl:cpu", property="in_order")
        cls.memory = [dpctl.memory.MemoryUSMShared(BYTES, queue=cls.queue) for _ in range(2)]
        cls.schema = ffi.Schema(cls.lib)
        cls.schema.c.format = b"i"
        cls.schema.c.release = C.cast(RELEASE_SCHEMA, C.c_void_p)

    def pending(self):
        """Returns the event of long-running work."""
        for _ in range(COPIES):
            event = self.queue.memcpy_async(self.memory[0], self.memory[1], BYTES)
        return event

    def published(self, event, values):
        host, self.memory_of_ints = ints(self.lib, values)
        array = ffi.DeviceArray.from_host(host).to_device(self.schema, self.device)
        self.assertFalse(array.c.sync_event)
        array.c.sync_event = event.addressof_ref()
        return array

    def assert_complete(self, event):
        self.assertEqual(event.execution_status, dpctl.event_status_type.complete)

    def test_a_wait_returns_when_the_work_has_finished(self):
        event = self.pending()
        array = self.published(event, [1, 2, 3])
        array.wait()
        self.assert_complete(event)

    def test_a_poll_returns_at_once_and_a_limited_wait_when_the_work_has_finished(self):
        event = self.pending()
        array = self.published(event, [1, 2, 3])
        try:
            array.wait(timeout_ns=-1)
            self.assert_complete(event)
        except OSError as error:
            self.assertEqual(error.errno, errno.ETIMEDOUT)
        array.wait(timeout_ns=60_000_000_000)
        self.assert_complete(event)

    def test_a_copy_waits_for_the_work(self):
        event = self.pending()
        back = self.published(event, [4, 5, 6]).to_host(self.schema)
        self.assert_complete(event)
        values = C.cast(back.c.buffers[1], C.POINTER(C.c_int32))
        self.assertEqual([values[i] for i in range(back.c.length)], [4, 5, 6])

    def tearDown(self):
        self.queue.wait()
        self.lib.wait_idle(0)
        pool = C.c_void_p()
        self.lib.device_get_pool(self.device, C.byref(pool))
        self.lib.pool_trim(pool)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

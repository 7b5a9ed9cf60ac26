# SPDX-License-Identifier: Apache-2.0
import errno
import pickle

import pyarrow as pa
import pytest

import arrowdevice as ad
from arrowdevice.errors import from_library

FITS = [
    (errno.EINVAL, ad.InvalidError, ValueError),
    (errno.ENOTSUP, ad.NotSupportedError, NotImplementedError),
    (errno.ENOMEM, ad.OutOfMemoryError, MemoryError),
    (errno.ETIMEDOUT, ad.DeviceTimeoutError, TimeoutError),
    (errno.ENODEV, ad.DeviceNotFoundError, LookupError),
    (errno.EIO, ad.DeviceError, OSError),
    (errno.ECANCELED, ad.CanceledError, OSError),
    (errno.EBUSY, ad.BusyError, OSError),
    (errno.ENOENT, ad.NotFoundError, FileNotFoundError),
    (errno.EEXIST, ad.ExistsError, FileExistsError),
    (errno.EPROTO, ad.Error, OSError),
]


@pytest.mark.parametrize("code, own, builtin", FITS)
def test_a_code_is_an_error_and_the_builtin_that_fits(code, own, builtin):
    error = from_library(code, "no luck", "opencl", -5)
    assert type(error) is own
    assert isinstance(error, ad.Error) and isinstance(error, OSError) and isinstance(error, builtin)
    assert (error.errno, error.strerror, error.backend, error.native_code) == (code, "no luck", "opencl", -5)
    assert str(error) == f"opencl: no luck ({errno.errorcode[code]})"


def test_an_error_survives_pickling():
    error = pickle.loads(pickle.dumps(from_library(errno.EIO, "gone", "cuda", 700)))
    assert (type(error), error.errno, error.strerror, error.backend, error.native_code) == (
        ad.DeviceError, errno.EIO, "gone", "cuda", 700,
    )  # fmt: skip


def test_memory_that_a_device_lacks_is_a_memory_error(run_python):
    out = run_python(
        """
        import arrowdevice as ad, pyarrow as pa
        batch = pa.record_batch({"n": pa.array(range(1_000_000))})
        for kind in (ad.Error, MemoryError):
            try:
                ad.move(batch, "ext_dev:0")
            except kind as error:
                print(type(error).__name__, error.backend, error.code_name)
        """,
        ARROWDEVICE_SIM_DEVICES="addresses:memory=1m",
    )
    assert out.split() == ["OutOfMemoryError", "sim", "ENOMEM"] * 2


def test_a_device_that_fails_is_a_device_error(run_python):
    out = run_python(
        """
        import arrowdevice as ad, pyarrow as pa
        try:
            ad.move(pa.record_batch({"n": [1, 2]}), "ext_dev:0")
        except ad.DeviceError as error:
            print(error.code_name, error.backend)
        """,
        ARROWDEVICE_SIM_DEVICES="addresses",
        ARROWDEVICE_SIM_FAIL="queue_copy:1+",
    )
    assert out.split() == ["EIO", "sim"]


def test_what_cannot_be_shared_is_not_copied_where_that_is_forbidden(accelerator, batch):
    with pytest.raises(ad.NotSupportedError):
        ad.move(batch, accelerator, copy=False)


def test_an_array_that_is_not_of_its_type_is_refused_with_the_name_of_the_field():
    class Mixed:
        def __arrow_c_array__(self, requested_schema=None):
            schema = pa.schema([("prices", pa.list_(pa.int32()))]).__arrow_c_schema__()
            return schema, pa.record_batch({"prices": [1, 2]}).__arrow_c_array__()[1]

    with pytest.raises(ad.InvalidError, match="prices"):
        ad.RecordBatch(Mixed())

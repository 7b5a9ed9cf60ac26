# SPDX-License-Identifier: Apache-2.0
import errno
import pickle

import numpy as np
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
def test_an_error_code_maps_to_its_class_and_builtin_exception(code, own, builtin):
    error = from_library(code, "the message", "opencl", -5)
    assert type(error) is own
    assert isinstance(error, ad.Error) and isinstance(error, OSError) and isinstance(error, builtin)
    assert (error.errno, error.strerror, error.backend, error.native_code) == (code, "the message", "opencl", -5)
    assert str(error) == f"opencl: the message ({errno.errorcode[code]})"


def test_an_error_survives_pickling():
    error = pickle.loads(pickle.dumps(from_library(errno.EIO, "lost device", "cuda", 700)))
    assert (type(error), error.errno, error.strerror, error.backend, error.native_code) == (
        ad.DeviceError, errno.EIO, "lost device", "cuda", 700,
    )  # fmt: skip


def test_to_device_raises_memory_error_when_device_memory_is_exhausted(run_python):
    out = run_python(
        """
        import arrowdevice as ad, pyarrow as pa
        batch = pa.record_batch({"n": pa.array(range(1_000_000))})
        for kind in (ad.Error, MemoryError):
            try:
                ad.to_device(batch, "ext_dev:0")
            except kind as error:
                print(type(error).__name__, error.backend, error.code_name)
        """,
        ARROWDEVICE_SIM_DEVICES="addresses:memory=1m",
    )
    assert out.split() == ["OutOfMemoryError", "sim", "ENOMEM"] * 2


def test_to_device_raises_device_error_when_the_device_fails(run_python):
    out = run_python(
        """
        import arrowdevice as ad, pyarrow as pa
        try:
            ad.to_device(pa.record_batch({"n": [1, 2]}), "ext_dev:0")
        except ad.DeviceError as error:
            print(error.code_name, error.backend)
        """,
        ARROWDEVICE_SIM_DEVICES="addresses",
        ARROWDEVICE_SIM_FAIL="queue_copy:1+",
    )
    assert out.split() == ["EIO", "sim"]


def test_to_device_with_copy_false_raises_when_a_copy_is_needed(accelerator, batch):
    with pytest.raises(ad.NotShareableError) as raised:
        ad.to_device(batch, accelerator, copy=False)
    assert isinstance(raised.value, ad.NotSupportedError) and isinstance(raised.value, BufferError)
    assert raised.value.errno == errno.ENOTSUP
    with pytest.raises(BufferError):
        ad.Array(batch).to_device(accelerator, copy=False)


@pytest.mark.parametrize("interface", ["pull", "async"])
def test_a_stream_with_copy_false_raises_when_a_copy_is_needed(accelerator, batch, interface):
    stream = ad.to_device(pa.Table.from_batches([batch]), accelerator, copy=False, interface=interface)
    with pytest.raises(ad.NotShareableError) as raised:
        next(stream)
    assert isinstance(raised.value, BufferError)


def test_not_supported_is_no_buffer_error_when_a_copy_is_allowed():
    with pytest.raises(ad.NotSupportedError) as raised:
        ad.Array(Unsupported())
    assert not isinstance(raised.value, BufferError)


class Unsupported:
    """A DLPack tensor of booleans, which the library does not import."""

    def __init__(self):
        values = np.array([True])
        self.__dlpack__, self.__dlpack_device__ = values.__dlpack__, values.__dlpack_device__


def test_import_names_the_field_that_does_not_match_its_type():
    class Mixed:
        def __arrow_c_array__(self, requested_schema=None):
            schema = pa.schema([("prices", pa.list_(pa.int32()))]).__arrow_c_schema__()
            return schema, pa.record_batch({"prices": [1, 2]}).__arrow_c_array__()[1]

    with pytest.raises(ad.InvalidError, match="prices"):
        ad.RecordBatch(Mixed())

# SPDX-License-Identifier: Apache-2.0
"""Export and import through the Arrow PyCapsule interface."""

import gc

import nanoarrow
import nanoarrow.device
import pyarrow as pa
import pytest

import arrowdevice as ad

pytestmark = pytest.mark.usefixtures("nothing_left")


class Only:
    """Has some methods of another object and records the calls."""

    def __init__(self, obj, *methods):
        self.called = []
        for method in methods:
            setattr(self, method, self._recording(method, getattr(obj, method)))

    def _recording(self, name, method):
        def call(*args, **kwargs):
            self.called.append(name)
            return method(*args, **kwargs)

        return call


ORDER = ["__arrow_c_device_array__", "__arrow_c_device_stream__", "__arrow_c_array__", "__arrow_c_stream__"]


@pytest.mark.parametrize("first", range(len(ORDER)))
def test_to_device_calls_the_first_method_in_the_documented_order(batch, first):
    offer = Only(ad.RecordBatch(batch), *reversed(ORDER[first:]))
    moved = ad.to_device(offer, "cpu")
    assert offer.called == [ORDER[first]]
    assert isinstance(moved, ad.Stream) == ("stream" in ORDER[first])


def test_to_device_calls_dlpack_last():
    offer = Only(ad.Array(pa.array([1, 2])), "__dlpack__", "__dlpack_device__", "__arrow_c_array__")
    ad.to_device(offer, "cpu")
    assert offer.called == ["__arrow_c_array__"]


@pytest.mark.parametrize("methods, ours", [
    (ORDER, ["__arrow_c_device_array__"]), (ORDER[1:3], ["__arrow_c_array__"]),
])  # fmt: skip
def test_record_batch_calls_an_array_method(batch, methods, ours):
    offer = Only(ad.RecordBatch(batch), *methods)
    assert ad.RecordBatch(offer).to_pyarrow().equals(batch)
    assert offer.called == ours


def test_stream_calls_a_stream_method_first(batch):
    offer = Only(ad.RecordBatch(batch), *ORDER)
    assert len(list(ad.Stream(offer))) == 1
    assert offer.called == ["__arrow_c_device_stream__"]


@pytest.mark.parametrize("use", [ad.Array, ad.RecordBatch, ad.Stream, lambda obj: ad.to_device(obj, "cpu")])
def test_type_error_names_an_object_without_methods(use):
    with pytest.raises(TypeError, match="complex has none of __arrow_c_device_"):
        use(1j)
    with pytest.raises(TypeError, match="RecordBatch is a class"):
        use(pa.RecordBatch)


def test_array_refuses_a_stream(batch):
    for kind in (ad.Array, ad.RecordBatch):
        with pytest.raises(TypeError, match="Table has a stream.*arrowdevice.Stream"):
            kind(pa.Table.from_batches([batch]))


def test_cpu_methods_refuse_data_on_another_device(accelerator, batch):
    moved = ad.to_device(batch, accelerator)
    for method in ("__arrow_c_array__", "__arrow_c_stream__"):
        with pytest.raises(ValueError, match=rf"{method}.*{accelerator.name}.*to_host\(\)"):
            getattr(moved, method)()
    with pytest.raises(ValueError, match=r"to_host\(\)"):
        ad.Stream(moved).__arrow_c_stream__()
    with pytest.raises(ValueError, match=r"to_host\(\)"):
        pa.table(moved)


def test_protocol_methods_refuse_unknown_keyword_arguments(batch):
    own = ad.RecordBatch(batch)
    for method in (own.__arrow_c_device_array__, own.__arrow_c_device_stream__, ad.Stream(own).__arrow_c_device_stream__):
        method(future=None)
        with pytest.raises(NotImplementedError, match="future=1"):
            method(future=1)


def test_protocol_methods_ignore_a_requested_schema(batch):
    other = pa.schema([("n", pa.int64())]).__arrow_c_schema__()
    for own in (batch.schema.__arrow_c_schema__(), other, None):
        schema, _ = ad.RecordBatch(batch).__arrow_c_array__(own)
        assert ad.Schema(Holder(schema)) == ad.Schema(batch.schema)
        ad.RecordBatch(batch).__arrow_c_stream__(requested_schema=own)
        ad.Stream(batch).__arrow_c_stream__(own)
    for wrong in (3, batch.schema):
        with pytest.raises(TypeError, match="arrow_schema"):
            ad.RecordBatch(batch).__arrow_c_array__(wrong)


class Holder:
    def __init__(self, capsule):
        self.__arrow_c_schema__ = lambda: capsule


class Gives:
    def __init__(self, method, what):
        setattr(self, method, lambda *args, **kwargs: what)


def test_import_refuses_a_capsule_of_another_kind(batch):
    schema, array = batch.__arrow_c_array__()
    for method, what in [
        ("__arrow_c_device_array__", (schema, array)), ("__arrow_c_array__", (array, schema)),
        ("__arrow_c_stream__", schema), ("__arrow_c_device_stream__", array), ("__arrow_c_array__", (schema, 1)),
    ]:  # fmt: skip
        with pytest.raises(TypeError, match="expected a capsule"):
            ad.to_device(Gives(method, what), "cpu")


def test_import_refuses_a_consumed_capsule(batch):
    own = ad.RecordBatch(batch)
    for method in ORDER:
        capsules = getattr(own, method)()
        offer = Gives(method, capsules)
        ad.to_device(offer, "cpu")
        with pytest.raises(ValueError):
            ad.to_device(offer, "cpu")


def test_unconsumed_capsules_release_their_content(device, batch):
    own = ad.to_device(batch, device)
    own.__arrow_c_device_array__()
    own.__arrow_c_device_stream__()
    ad.Stream(own).__arrow_c_device_stream__()
    own.schema.__arrow_c_schema__()
    if device.device_type == ad.DeviceType.CPU:
        own.__arrow_c_array__()
        own.__arrow_c_stream__()
    del own
    gc.collect()  # nothing_left then checks the memory


def test_an_export_outlives_its_object(device, batch):
    capsules = ad.to_device(batch, device).__arrow_c_device_array__()
    back = ad.RecordBatch(Gives("__arrow_c_device_array__", capsules))
    assert (back.device, back.to_pyarrow()) == (device, batch)


def test_nanoarrow_imports_a_device_array(accelerator, batch):
    theirs = nanoarrow.device.c_device_array(ad.to_device(batch, accelerator))
    assert (theirs.device_type_id, theirs.device_id) == (accelerator.device_type, accelerator.device_id)
    assert theirs.schema.n_children == 3
    again = ad.RecordBatch(theirs)
    assert (again.device, again.to_pyarrow()) == (accelerator, batch)


def test_pyarrow_refuses_an_unknown_device(accelerator, batch):
    # nothing_left checks that pyarrow releases the schema and the array.
    with pytest.raises((pa.ArrowException, NotImplementedError)):
        pa.RecordBatch._import_from_c_device_capsule(*ad.to_device(batch, accelerator).__arrow_c_device_array__())

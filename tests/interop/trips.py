# SPDX-License-Identifier: Apache-2.0
"""Routes of arrays from pyarrow through the library and back, and checks of the results."""

import ctypes as C
import os

import c_api as ad
import pyarrow as pa


class Machine:
    """The library and the devices of the routes: simulated devices, or the pair in ARROWDEVICE_TEST_PAIR."""

    def __init__(self):
        self.lib = ad.Library()
        self.pair = os.environ.get("ARROWDEVICE_TEST_PAIR", "ext_dev:0,ext_dev:1").split(",")
        self.cpu, self.sim0, self.sim1 = (self.lib.device(name) for name in ("cpu", *self.pair))

    def wait_idle(self):
        self.lib.wait_idle(0)

    def bytes_used(self):
        """Returns the used bytes of each device's pool."""
        used = {}
        for name, device in zip(("cpu", *self.pair), (self.cpu, self.sim0, self.sim1), strict=True):
            pool, stats = C.c_void_p(), ad.PoolStats(struct_size=C.sizeof(ad.PoolStats))
            self.lib.device_get_pool(device, C.byref(pool))
            self.lib.pool_get_stats(pool, C.byref(stats))
            used[name] = stats.used_bytes
        return used


# -- hops: each makes an array and releases or moves its argument ----------------------------------------------------


def copy_to(device, flags=0):
    def hop(machine, array, schema):
        out = array.copy(schema, getattr(machine, device), flags=flags)
        if flags & ad.COPY_ASYNC:  # the caller must keep the source until the copy has finished
            out.wait()
        array.release()
        return out

    return hop


def to_device(device, flags=0):
    def hop(machine, array, schema):
        out = array.to_device(schema, getattr(machine, device), flags=flags)
        assert array.released
        return out

    return hop


def share(machine, array, schema):
    out = array.share()
    array.release()
    return out


def look_at(machine, array, schema):
    """Imports an array, resolves all sizes, and detaches the array from the view."""
    view, out = C.c_void_p(), ad.DeviceArray(machine.lib)
    options = ad.ImportOptions(struct_size=C.sizeof(ad.ImportOptions), flags=ad.IMPORT_RESOLVE_SIZES)
    machine.lib.array_import(C.byref(array.c), C.byref(schema.c), C.byref(options), C.byref(view))
    assert array.released
    machine.lib.view_detach(view, C.byref(out.c))
    return out


class Route:
    """Hops between the export from pyarrow and the import into pyarrow."""

    def __init__(self, *hops, back=0):
        self.hops, self.back = hops, back

    def run(self, machine, array, schema, cut=None):
        """Runs the hops. `cut` is (n, rows) and slices the array after n hops."""
        for number, hop in enumerate((*self.hops, None)):
            if cut and cut[0] == number:
                whole = array
                array = whole.slice(schema, *cut[1])
                whole.release()
            if hop:
                array = hop(machine, array, schema)
        array.validate(schema)
        return array.to_host(schema, flags=self.back)


ROUTES = {
    "moved to the CPU": Route(to_device("cpu")),
    "shared": Route(share),
    "seen through a view": Route(look_at),
    "copied on the CPU": Route(copy_to("cpu")),
    "copied to a device and back": Route(copy_to("sim0")),
    "moved to a device, to another and back": Route(to_device("sim0"), to_device("sim1")),
    "copied whole": Route(copy_to("sim0", ad.COPY_NO_TRIM), back=ad.COPY_NO_TRIM),
    "copied whole on the CPU": Route(copy_to("cpu", ad.COPY_NO_TRIM)),
    "asynchronously": Route(
        to_device("sim0", ad.COPY_ASYNC),
        copy_to("sim1", ad.COPY_ASYNC),
        to_device("sim0", ad.COPY_ASYNC),
        back=ad.COPY_ASYNC,
    ),
    "shared and seen on a device": Route(copy_to("sim0"), share, look_at),
}


# -- trips -----------------------------------------------------------------------------------------------------------


def export(lib, data):
    """Returns a pyarrow array or record batch as structs of the C data interface."""
    array, schema = ad.HostArray(lib), ad.Schema(lib)
    data._export_to_c(array.address, schema.address)
    return array, schema


def take_back(array, schema, kind):
    """Returns the structs as a pyarrow object. `kind` is pa.Array or pa.RecordBatch. Keeps the schema."""
    copied = schema.copy()
    return kind._import_from_c(array.address, copied.address)


def kind_of(data):
    return pa.RecordBatch if isinstance(data, pa.RecordBatch) else pa.Array


def import_back(data):
    """Exports and imports an object through the C data interface without the library."""
    array, schema = ad.ArrowArray(), ad.ArrowSchema()
    data._export_to_c(C.addressof(array), C.addressof(schema))
    return kind_of(data)._import_from_c(C.addressof(array), C.addressof(schema))


def travel(machine, data, route, cut=None):
    array, schema = export(machine.lib, data)
    back = route.run(machine, ad.DeviceArray.from_host(array), schema, cut)
    return take_back(back, schema, kind_of(data))


def problem(data):
    """Returns the message of pyarrow's full validation, or None if the data is valid."""
    try:
        data.validate(full=True)
    except pa.ArrowException as error:
        return str(error)
    return None


def same(left, right):
    if isinstance(left, pa.RecordBatch):
        return left.equals(right, check_metadata=True)
    return left.type == right.type and left.equals(right)


def slices_of(n):
    """Returns slices of n rows that start at a byte or within one, and that have many rows, one row or none."""
    wanted = [
        (0, n),
        (0, n // 2),
        (1, n - 1),
        (3, 5),
        (5, 20),
        (7, 1),
        (8, 8),
        (n - 3, 3),
        (n - 1, 1),
        (n // 3, 0),
        (n, 0),
    ]
    return sorted(
        {(offset, length) for offset, length in wanted if offset >= 0 and length >= 0 and offset + length <= n}
    )


def trips_of(data, route):
    """Yields (exported data, cut on the route, expected data), with slices before, on and both before and on the route.
    """
    yield data, None, data
    for offset, length in slices_of(len_of(data)):
        yield data.slice(offset, length), None, data.slice(offset, length)
        for place in range(len(route.hops) + 1):
            yield data, (place, (offset, length)), data.slice(offset, length)
    part = data.slice(3)
    for offset, length in slices_of(len_of(part))[::2]:
        yield part, (len(route.hops), (offset, length)), part.slice(offset, length)


def len_of(data):
    return data.num_rows if isinstance(data, pa.RecordBatch) else len(data)


def make_trips(machine, data, route, cannot=frozenset()):
    """Runs every trip of `data` on a route.

    `cannot` names steps that pyarrow alone fails: "validate", "validate_no_rows".
    """
    for sent, cut, expected in trips_of(data, route):
        where = f"{len_of(sent)} rows, cut {cut}"
        received = travel(machine, sent, route, cut)
        if "validate" in cannot:
            assert problem(received) in (None, problem(expected)), where
        elif len_of(expected) > 0 or "validate_no_rows" not in cannot:
            assert problem(received) is None, where
        assert same(received, expected), f"{where}: {received}\nis not\n{expected}"

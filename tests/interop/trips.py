# SPDX-License-Identifier: Apache-2.0
"""Ways from pyarrow through the library and back, and what must be true of what comes back."""

import ctypes as C
import os

import arrowdevice_ffi as ad
import pyarrow as pa


class Machine:
    """The library and the devices that every trip may touch: simulated ones, or the pair that the environment names."""

    def __init__(self):
        self.lib = ad.load()
        self.pair = os.environ.get("ARROWDEVICE_TEST_PAIR", "ext_dev:0,ext_dev:1").split(",")
        self.cpu, self.sim0, self.sim1 = (self.lib.device(name) for name in ("cpu", *self.pair))

    def quiesce(self):
        self.lib.wait_idle(0)

    def bytes_used(self):
        """What lives in each device's pool."""
        used = {}
        for name, device in zip(("cpu", *self.pair), (self.cpu, self.sim0, self.sim1), strict=True):
            pool, stats = C.c_void_p(), ad.PoolStats()
            self.lib.device_get_pool(device.handle, C.byref(pool))
            self.lib.pool_get_stats(pool, C.byref(stats))
            used[name] = stats.used_bytes
        return used


# -- hops: from an array that nobody else needs any more to another one ----------------------------------------------


def copy_to(device, flags=0):
    def hop(machine, array, schema):
        out = array.copy(getattr(machine, device), schema, flags)
        if flags & ad.COPY_ASYNC:  # its source is the caller's to keep
            out.wait()
        array.release()
        return out

    return hop


def move_to(device, flags=0):
    def hop(machine, array, schema):
        out = array.move_to(getattr(machine, device), schema, flags)
        assert array.released
        return out

    return hop


def share(machine, array, schema):
    out = array.share()
    array.release()
    return out


def look_at(machine, array, schema):
    """Imports it, learns all its sizes, and lets go of the view but not of the array."""
    view, out = C.c_void_p(), ad.DeviceArray(machine.lib)
    options = ad.ImportOptions(flags=ad.IMPORT_RESOLVE_SIZES)
    machine.lib.array_import(C.byref(array.c), C.byref(schema.c), C.byref(options), C.byref(view))
    assert array.released
    machine.lib.view_detach(view, C.byref(out.c))
    return out


class Route:
    """Hops from host memory to where pyarrow takes the array again."""

    def __init__(self, *hops, back=0):
        self.hops, self.back = hops, back

    def run(self, machine, array, schema, cut=None):
        """`cut` is (n, rows): cut these rows out after n hops."""
        for number, hop in enumerate((*self.hops, None)):
            if cut and cut[0] == number:
                whole = array
                array = whole.slice(schema, *cut[1])
                whole.release()
            if hop:
                array = hop(machine, array, schema)
        array.validate(schema)
        return array.to_host(schema, self.back)


ROUTES = {
    "moved to the CPU": Route(move_to("cpu")),
    "shared": Route(share),
    "seen through a view": Route(look_at),
    "copied on the CPU": Route(copy_to("cpu")),
    "copied to a device and back": Route(copy_to("sim0")),
    "moved to a device, to another and back": Route(move_to("sim0"), move_to("sim1")),
    "copied whole": Route(copy_to("sim0", ad.COPY_NO_TRIM), back=ad.COPY_NO_TRIM),
    "copied whole on the CPU": Route(copy_to("cpu", ad.COPY_NO_TRIM)),
    "asynchronously": Route(
        move_to("sim0", ad.COPY_ASYNC),
        copy_to("sim1", ad.COPY_ASYNC),
        move_to("sim0", ad.COPY_ASYNC),
        back=ad.COPY_ASYNC,
    ),
    "shared and seen on a device": Route(copy_to("sim0"), share, look_at),
}


# -- trips -----------------------------------------------------------------------------------------------------------


def export(lib, data):
    """A pyarrow array or record batch as structs of the C data interface."""
    array, schema = ad.HostArray(lib), ad.Schema(lib)
    data._export_to_c(array.address, schema.address)
    return array, schema


def take_back(array, schema, kind):
    """The structs as a pyarrow object again; `kind` is pa.Array or pa.RecordBatch. The schema stays whole."""
    copied = schema.copy()
    return kind._import_from_c(array.address, copied.address)


def kind_of(data):
    return pa.RecordBatch if isinstance(data, pa.RecordBatch) else pa.Array


def import_back(data):
    """Out through the C data interface and in again, with nobody between."""
    array, schema = ad.ArrowArray(), ad.ArrowSchema()
    data._export_to_c(C.addressof(array), C.addressof(schema))
    return kind_of(data)._import_from_c(C.addressof(array), C.addressof(schema))


def travel(machine, data, route, cut=None):
    array, schema = export(machine.lib, data)
    back = route.run(machine, ad.DeviceArray.from_host(array), schema, cut)
    return take_back(back, schema, kind_of(data))


def problem(data):
    """What pyarrow's full validation says; None if all is well."""
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
    """Rows worth cutting out of n: from the first bit, from within a byte, at a byte, the last ones, one, none."""
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
    """(what leaves pyarrow, the cut on the way, what must come back): whole, and cut before, on the way, and twice."""
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
    """Every trip of `data` on a route. `cannot`: what it does not pass, untravelled: "validate", "validate_no_rows"."""
    for sent, cut, expected in trips_of(data, route):
        where = f"{len_of(sent)} rows, cut {cut}"
        received = travel(machine, sent, route, cut)
        if "validate" in cannot:
            assert problem(received) in (None, problem(expected)), where
        elif len_of(expected) > 0 or "validate_no_rows" not in cannot:
            assert problem(received) is None, where
        assert same(received, expected), f"{where}: {received}\nis not\n{expected}"

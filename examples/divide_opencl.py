# SPDX-License-Identifier: Apache-2.0
"""Divides 60 by a column by a kernel of OpenCL. The result has nulls: where the column is null, and where it is 0.

    python divide_opencl.py     prints "<arrowdevice.Array int32, 5 rows on opencl:0> [60, None, None, 20, 15]"

It needs the package pyopencl.
"""

import arrowdevice
import pyarrow as pa
import pyopencl as cl

# [kernel]
DIVIDE = """
kernel void divide(global const uchar* validity, global const int* data, long offset, long n,
                   global uchar* out_validity, global int* out) {
  uchar bits = 0;
  for (int bit = 0; bit < 8; ++bit) {
    long row = get_global_id(0) * 8 + bit, i = offset + row;
    if (row >= n) break;
    bool valid = (!validity || validity[i / 8] >> (i % 8) & 1) && data[i] != 0;
    out[row] = valid ? 60 / data[i] : 0;
    bits |= valid << bit;
  }
  out_validity[get_global_id(0)] = bits;
}"""
# [end]


def handle(part):
    return cl.Buffer.from_int_ptr(part.address) if part.address else None


def divide(array):
    """Returns an array on the device, which may not be ready yet."""
    device, n = array.device, len(array)
    kernel = cl.Program(cl.Context.from_int_ptr(device.native.context), DIVIDE).build().divide
    with arrowdevice.Queue(device) as queue:
        # [result]
        n_bytes = max((n + 7) // 8, 1)  # a bit for each row
        validity = arrowdevice.Memory(device, n_bytes, queue=queue)
        data = arrowdevice.Memory(device, max(n * 4, 1), queue=queue)
        with queue.use(array):
            inputs = (handle(part) for part in array.buffers())
            numbers = cl.cltypes.long(array.offset), cl.cltypes.long(n)
            native = cl.CommandQueue.from_int_ptr(queue.native.handle)
            kernel(native, (n_bytes,), None, *inputs, *numbers, handle(validity), handle(data))
        return arrowdevice.Array.from_buffers(pa.int32(), n, [validity, data], queue=queue)
        # [end]


def main():
    column = arrowdevice.to_device(pa.array([7, 1, None, 0, 3, 4], pa.int32()), "opencl:0")
    result = divide(column[1:])
    assert result.null_count is None  # the kernel has not counted them
    values = result.to_pyarrow()
    print(result, values.to_pylist())
    assert values.to_pylist() == [60, None, None, 20, 15] and values.null_count == 2


if __name__ == "__main__":
    main()

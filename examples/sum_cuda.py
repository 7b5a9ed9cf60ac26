# SPDX-License-Identifier: Apache-2.0
"""Adds up a slice of a column with nulls by a CUDA kernel. The result is an array on the GPU.

    python sum_cuda.py      prints "<arrowdevice.Array int64, 1 rows on cuda:0> [4]"

It needs CuPy, which compiles and launches the kernel.
"""

import arrowdevice
import cupy
import pyarrow as pa

SUM = r"""
extern "C" __global__ void sum(const unsigned char* validity, const long long* data, long long offset,
                               long long n, long long* out) {
  *out = 0;
  for (long long i = offset; i < offset + n; ++i)
    if (validity == nullptr || (validity[i / 8] >> (i % 8) & 1)) *out += data[i];
}"""


def add_up(array):
    device = array.device
    kernel = cupy.RawKernel(SUM, "sum")
    with arrowdevice.Queue(device) as queue:
        result = arrowdevice.Memory(device, 8, queue=queue)
        with queue.use(array), cupy.cuda.ExternalStream(queue.native.handle):
            validity, data = (cupy.uint64(part.address) for part in array.buffers())
            numbers = cupy.int64(array.offset), cupy.int64(len(array))
            kernel((1,), (1,), (validity, data, *numbers, cupy.uint64(result.address)))
        return arrowdevice.Array.from_buffers(pa.int64(), 1, [None, result], queue=queue)


def main():
    column = arrowdevice.to_device(pa.array([10, 1, None, 3]), "cuda:0")
    total = add_up(column[1:])
    print(total, total.to_pyarrow().to_pylist())
    assert total.to_pyarrow().to_pylist() == [4]


if __name__ == "__main__":
    main()

// SPDX-License-Identifier: Apache-2.0
// Adds up the rows of an int32 column that are not null. Only int32, because 64-bit integers need a feature of the device.
#version 450
layout(local_size_x = 1) in;
layout(std430, binding = 0) readonly buffer Validity { uint validity[]; };
layout(std430, binding = 1) readonly buffer Data { int data[]; };
layout(std430, binding = 2) writeonly buffer Result { int result; };
layout(push_constant) uniform Rows { int offset, length, has_validity; };

void main() {
  int total = 0;
  for (int i = offset; i < offset + length; ++i) {
    if (has_validity == 0 || (validity[i / 32] >> (i % 32) & 1) != 0) total += data[i];
  }
  result = total;
}

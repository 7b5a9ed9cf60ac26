// SPDX-License-Identifier: Apache-2.0
// The form that every device array has that the library hands out, whatever the input looked like.
//
//   REQUIRE(canon_problem(*out, *schema, info) == "");
//
// Asked of the structs alone: buffers are looked into only where they lie in host memory.
#pragma once

#include <arrowdevice/arrowdevice.h>

#include <string>

namespace arrowdevice::testing {

struct Canon {
  // Made by a copy, so that all of it is the library's: the exact number of buffers, NULL for zero bytes, offsets that
  // are never NULL. Functions that copy nothing hand buffers on as they came.
  bool copied = true;
  // Trimmed by way of the CPU: every offset is 0.
  bool offsets_are_zero = false;
};

// "" if `array` is as the output of the library on the device that `info` describes must be, else what is wrong:
// `reserved` zero; the device's type and id, -1 and no event on the CPU; a record batch with root offset 0 and
// null_count 0; null counts as the format's rules say; numbers of buffers; a release of its own in every node.
std::string canon_problem(const ArrowDeviceArray& array, const ArrowSchema& schema, const arrowdevice_device_info& info,
                          const Canon& canon = {});

}  // namespace arrowdevice::testing

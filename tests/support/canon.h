// SPDX-License-Identifier: Apache-2.0
// Checks the form of every device array that the library returns, for any input.
//
//   REQUIRE(canon_problem(*out, *schema, info) == "");
//
// Checks only the structs. Reads a buffer only if it lies in host memory.
#pragma once

#include <arrowdevice/arrowdevice.h>

#include <string>

namespace arrowdevice::testing {

struct Canon {
  // A copy made the array, so the library owns all of it: the exact number of buffers, NULL for zero bytes,
  // and offsets that are never NULL. Functions that do not copy pass buffers on unchanged.
  bool copied = true;
  // The copy was trimmed, so every offset is 0.
  bool offsets_are_zero = false;
};

// Returns "" if `array` has the form that the library's output must have on the device of `info`, else the
// problem. The rules are:
// - `reserved` is zero.
// - The array has the device's type and id. On the CPU the id is -1 and there is no event.
// - A record batch has root offset 0 and null_count 0.
// - Null counts follow the format's rules.
// - Every node has the right number of buffers.
// - Every node has a release callback of its own.
std::string canon_problem(const ArrowDeviceArray& array, const ArrowSchema& schema, const arrowdevice_device_info& info,
                          const Canon& canon = {});

}  // namespace arrowdevice::testing

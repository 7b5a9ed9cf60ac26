/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file arrowdevice.hpp
 * The C++ API: owners over the C functions, for C++17 and newer. It includes all headers in cpp/.
 *
 * The headers contain all code. A program links nothing but the C functions.
 *
 * - An **owner** releases its object in its destructor. It can be moved, but not copied. An owner
 *   is empty if it was made by default, moved from, or handed over. Using an empty owner fails with
 *   EINVAL, as a released struct does in C. If a parameter is a pointer to an owner, NULL selects
 *   the default, and a pointer to an empty owner fails with EINVAL.
 * - A method that can fail throws Exception. The errors, blocking and threads of a method are those
 *   of its C function. Its comment names the function and says only the differences.
 * - If the C function takes an object over (`moved`), the method needs an rvalue or has a parameter
 *   `T&&`. An example is `std::move(array).to_device(schema, device)`. If it throws, the owner
 *   still holds its object. After ETIMEDOUT and EBUSY, the owner must live until
 *   arrowdevice_wait_idle() has succeeded. A program that goes on after such an error must
 *   therefore not call the method on a temporary.
 * - `get()` returns the C object, which the owner keeps. `out()` empties the owner and returns the
 *   struct, which a C function fills. `hand_over(&other)` moves the struct to code that uses the C
 *   interface.
 * - A time-out that is a parameter is a duration: kNoTimeout, the largest duration, waits without
 *   limit. A duration of zero or less, such as kPoll, does not wait. In `timeout_ns` of a struct, 0
 *   waits without limit, as in C.
 * - `make_array` and BatchBuilder make arrays from vectors. A View shows the values of an array.
 *   Streams are ranges:
 *
 *       ad::TypedArray batch =
 *           ad::BatchBuilder().add("id", std::vector<int64_t>{1, 2}).build().to_device(device);
 *       for (ad::DeviceArray& item : stream) {
 *         const ad::View view(std::move(item).to_device(schema, cpu), schema);
 *         for (int64_t id : view.column("id").values<int64_t>()) ...
 *       }
 *
 * The names are in `arrowdevice::cpp`, because the library's own code uses the namespace
 * `arrowdevice`. This avoids name clashes in a test or a backend that links that code.
 * `namespace ad = arrowdevice::cpp;` makes the names short.
 */
#ifndef ARROWDEVICE_ARROWDEVICE_HPP
#define ARROWDEVICE_ARROWDEVICE_HPP

/* IWYU pragma: begin_exports */
#include "arrowdevice.h"
#include "cpp/array.hpp"
#include "cpp/builder.hpp"
#include "cpp/device.hpp"
#include "cpp/library.hpp"
#include "cpp/link.hpp"
#include "cpp/owner.hpp"
#include "cpp/stream.hpp"
#include "cpp/values.hpp"
#include "cpp/view.hpp"
/* IWYU pragma: end_exports */

#endif /* ARROWDEVICE_ARROWDEVICE_HPP */

// SPDX-License-Identifier: Apache-2.0
// Declares the helpers that the tests of arrowdevice.hpp share.
#pragma once

#include <arrowdevice/arrowdevice.hpp>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "support/catch.h"
#include "support/releases.h"

namespace cpp_test {

namespace ad = arrowdevice::cpp;
namespace testing = arrowdevice::testing;

// The CPU, and a simulated device of each kind.
inline constexpr const char* kDevices[] = {"cpu", "ext_dev:0", "ext_dev:1"};

// Fails unless the action throws that code. Returns the message.
template <typename Action>
std::string refused(int code, Action&& action) {
  try {
    action();
  } catch (const ad::Exception& error) {
    CHECK(error.code() == code);
    CHECK(error.error().code == code);
    CHECK(std::strlen(error.what()) > 0);
    return error.what();
  }
  FAIL("it was not refused");
  return {};
}

template <typename T>
std::vector<std::remove_cv_t<T>> list(ad::Span<T> values) {
  return {values.begin(), values.end()};
}

template <typename Owner>
constexpr bool kMovesOnly = std::is_nothrow_move_constructible_v<Owner>&& std::is_nothrow_move_assignable_v<Owner> &&
                            !std::is_copy_constructible_v<Owner> && !std::is_copy_assignable_v<Owner>;

// Returns an array over the same memory, whose release is counted.
inline ad::DeviceArray counted(testing::Releases& releases, ad::DeviceArray array) {
  ArrowDeviceArray moved;
  array.hand_over(&moved);
  auto made = releases.count(testing::Owned<ArrowDeviceArray>(moved));
  return ad::DeviceArray(made.get());
}

}  // namespace cpp_test

// SPDX-License-Identifier: Apache-2.0
// Declares the helpers that the tests of arrowdevice.hpp share.
#pragma once

#include <arrowdevice/arrowdevice.hpp>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "support/catch.h"

namespace cpp_test {

namespace ad = arrowdevice::cpp;

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

// Waits at most ten seconds until the pool's memory is unused, because a thread of the library frees the memory of
// handles. Returns true if it is unused.
inline bool comes_back(const ad::Pool& pool) {
  for (int i = 0; i < 10'000 && pool.stats().used_bytes > 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return pool.stats().used_bytes == 0;
}

}  // namespace cpp_test

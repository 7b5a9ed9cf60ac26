// SPDX-License-Identifier: Apache-2.0
// A backend: its negotiated table, and calls through it that throw.
#pragma once

#include <arrowdevice/backend.h>

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"

namespace arrowdevice::backend {

class Backend {
 public:
  // Checks a table and copies the members that both sides know. Throws Error with the reason of the refusal: ENOTSUP
  // for another table version, EINVAL for a table without a required function.
  Backend(const arrowdevice_backend* table, std::string path);

  const std::string& name() const noexcept { return name_; }
  const std::string& path() const noexcept { return path_; }
  std::span<const ArrowDeviceType> device_types() const noexcept { return device_types_; }
  bool serves(ArrowDeviceType type) const noexcept;

  // Returns the copy of the table. Optional functions are NULL if the plugin has none.
  const arrowdevice_backend& table() const noexcept { return table_; }

  // Calls a function of the table and throws Error for any code but 0. `what` is the function's name.
  template <typename Function, typename... Arguments>
  void call(const char* what, Function* function, Arguments... arguments) const {
    arrowdevice_error error{};
    const int code = function(arguments..., &error);
    if (code != 0) throw_failure(what, code, error);
  }

  // Does the same as call(), but returns true for 0 and false for `expected`.
  template <typename Function, typename... Arguments>
  bool try_call(int expected, const char* what, Function* function, Arguments... arguments) const {
    arrowdevice_error error{};
    const int code = function(arguments..., &error);
    if (code != 0 && code != expected) throw_failure(what, code, error);
    return code == 0;
  }

  // Throws ENOTSUP if an optional function is missing.
  template <typename Function>
  void require(const char* what, Function* function) const {
    if (function == nullptr) throw_missing(what);
  }

 private:
  [[noreturn]] void throw_failure(const char* what, int code, const arrowdevice_error& error) const;
  [[noreturn]] void throw_missing(const char* what) const;

  arrowdevice_backend table_{};
  std::string name_;
  std::string path_;
  std::vector<ArrowDeviceType> device_types_;
};

}  // namespace arrowdevice::backend

// SPDX-License-Identifier: Apache-2.0
// Makes calls of C functions that must succeed or must fail. The caller omits the error argument.
//
//   must(arrowdevice_queue_finish, queue, ARROWDEVICE_NO_TIMEOUT);
//   auto* const queue = output_of(arrowdevice_queue_create, device);       // the last parameter
//   must_fail_saying(EINVAL, "device", arrowdevice_queue_create, nullptr, &queue);
//
// The functions throw Failure, which names the caller's line. They need no test framework.
#pragma once

#include <arrowdevice/arrowdevice.h>

#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>

#include "support/owned.h"

namespace arrowdevice::testing {

class Failure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The line that a failure is reported with. Replaces std::source_location, which some compilers lack.
struct Where {
  const char* file;
  int line;
  static constexpr Where current(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return {file, line};
  }
};

// An expected code. It converts from a number, so that it can hold the caller's line.
struct Expected {
  Expected(int of, Where at = Where::current()) : code(of), where(at) {}  // NOLINT(google-explicit-constructor)
  int code;
  Where where;
};

// Throws the text if the condition does not hold.
void expect(bool holds, const std::string& what, Where where = Where::current());

// Returns an error that holds a pattern, so that a write to it is detectable.
arrowdevice_error untouched_error() noexcept;
void check_success(int code, const arrowdevice_error& error, Where where);
std::string check_failure(const Expected& expected, int code, const arrowdevice_error& error);

// Makes a call that must succeed and must not write to the error. A class, so that the line can follow the
// pack.
template <typename Function, typename... Arguments>
struct must {  // NOLINT(readability-identifier-naming)
  explicit must(Function function, Arguments... arguments, Where where = Where::current()) {
    arrowdevice_error error = untouched_error();
    const int code = function(arguments..., &error);
    check_success(code, error, where);
  }
};
template <typename Function, typename... Arguments>
must(Function, Arguments...) -> must<Function, Arguments...>;

// Makes one call that must fail with that code and a text. Returns the text.
template <typename Function, typename... Arguments>
std::string must_fail_once(Expected expected, const Function& function, Arguments... arguments) {
  arrowdevice_error error = untouched_error();
  const int code = function(arguments..., &error);
  return check_failure(expected, code, error);
}

// Makes a call that must fail with that code and a text, and again without an error struct. Returns the text.
template <typename Function, typename... Arguments>
std::string must_fail(Expected expected, const Function& function, Arguments... arguments) {
  std::string text = must_fail_once(expected, function, arguments...);
  expect(function(arguments..., static_cast<arrowdevice_error*>(nullptr)) == expected.code,
         "it fails in another way without an error struct", expected.where);
  return text;
}

// Makes a call like must_fail. Its text must contain `part`.
template <typename... Call>
void must_fail_saying(Expected expected, const std::string& part, const Call&... call) {
  const std::string text = must_fail(expected, call...);
  expect(text.find(part) != std::string::npos, "\"" + text + "\" does not contain \"" + part + "\"", expected.where);
}

// Returns a struct of the API that is zero except for its size.
template <typename Struct>
Struct sized() noexcept {
  Struct made{};
  made.struct_size = sizeof made;
  return made;
}

// Makes a call that must succeed. Returns the output of its last parameter, which the caller omits too.
template <typename... Parameters, typename... Arguments>
auto output_of(int (*function)(Parameters...), Arguments... arguments) {
  using Out = std::remove_pointer_t<std::tuple_element_t<sizeof...(Arguments), std::tuple<Parameters...>>>;
  if constexpr (requires(Out & out) { call_release(out); }) {
    Owned<Out> out;
    must(function, arguments..., out.out());
    return out;
  } else if constexpr (requires(Out & out) { out.struct_size; }) {
    auto out = sized<Out>();
    must(function, arguments..., &out);
    return out;
  } else {
    Out out{};
    must(function, arguments..., &out);
    return out;
  }
}

}  // namespace arrowdevice::testing

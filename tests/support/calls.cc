// SPDX-License-Identifier: Apache-2.0
#include "support/calls.h"

namespace arrowdevice::testing {

namespace {

constexpr unsigned char kUntouched = 0x5C;

std::string at(const Where& where) {
  const std::string file = where.file;
  return " (" + file.substr(file.rfind('/') + 1) + ":" + std::to_string(where.line) + ")";
}

}  // namespace

void expect(bool holds, const std::string& what, Where where) {
  if (!holds) throw Failure(what + at(where));
}

arrowdevice_error untouched_error() noexcept {
  arrowdevice_error error;
  std::memset(&error, kUntouched, sizeof error);
  return error;
}

void check_success(int code, const arrowdevice_error& error, Where where) {
  if (code != 0) expect(false, "code " + std::to_string(code) + ": " + error.message, where);
  const arrowdevice_error untouched = untouched_error();
  // Makes no text if all is well, because the allocations of a test may fail on purpose.
  if (std::memcmp(&error, &untouched, sizeof error) != 0) {
    expect(false, "the call succeeded and filled the error", where);
  }
}

std::string check_failure(const Expected& expected, int code, const arrowdevice_error& error) {
  if (code != expected.code) {
    expect(false,
           "code " + std::to_string(code) + ", expected " + std::to_string(expected.code) +
               (code == 0 ? "" : std::string(": ") + error.message),
           expected.where);
  }
  expect(error.code == code, "the error holds another code than was returned", expected.where);
  expect(error.message[0] != '\0' && std::memchr(error.message, 0, sizeof error.message) != nullptr,
         "the error has no text", expected.where);
  return error.message;
}

}  // namespace arrowdevice::testing

// SPDX-License-Identifier: Apache-2.0
// Errors: exceptions inside the library and inside plugins, codes at every boundary.
#pragma once

#include <arrowdevice/arrowdevice.h>

#include <exception>
#include <memory>
#include <string>
#include <string_view>

namespace arrowdevice {

// An error with an errno value. Code inside throws it, and guarded() turns it into a code at the boundary.
class Error : public std::exception {
 public:
  Error(int code, std::string message) : Error(code, std::move(message), {}, 0) {}
  Error(int code, std::string message, std::string backend, int native_code)
      : code_(code), native_code_(native_code), backend_(std::move(backend)), message_(std::move(message)) {}

  int code() const noexcept { return code_; }
  int native_code() const noexcept { return native_code_; }
  const std::string& backend() const noexcept { return backend_; }
  const std::string& message() const noexcept { return message_; }
  const char* what() const noexcept override { return message_.c_str(); }

 private:
  int code_;
  int native_code_;
  std::string backend_;
  std::string message_;
};

// Returns text in the manner of printf.
[[gnu::format(printf, 1, 2)]] std::string format(const char* pattern, ...);

// Returns the text with a '?' in place of each byte that is not UTF-8.
std::string utf8(std::string_view text);

// Fills an error that may be NULL. Text that is too long is cut between two characters. Bytes that are not UTF-8 become
// '?'.
void fill_error(arrowdevice_error* out, int code, int native_code, std::string_view backend,
                std::string_view message) noexcept;

// Fills `out` from the exception that is being handled and returns its errno value.
int fill_from_current_exception(arrowdevice_error* out) noexcept;

// A failure that is reported later, perhaps more than once. No function but raise() throws. If memory is exhausted, the
// text is lost and the other members stay. The text is UTF-8, because the format requires it for get_last_error and
// on_error. Each byte that is not UTF-8 becomes '?'.
class Failure {
 public:
  Failure() = default;  // no failure
  Failure(int code, std::string_view text) noexcept : Failure(code, text, {}, 0) {}
  Failure(int code, std::string_view text, std::string_view backend, int native_code) noexcept;

  // Returns the failure of the exception that is being handled.
  static Failure current() noexcept;

  explicit operator bool() const noexcept { return code_ != 0; }
  int code() const noexcept { return code_; }
  int native_code() const noexcept { return native_code_; }
  const char* backend() const noexcept { return backend_; }
  const char* text() const noexcept { return text_ != nullptr && !text_->empty() ? text_->c_str() : nullptr; }

  // Throws the failure as an Error.
  [[noreturn]] void raise() const;

 private:
  int code_ = 0;
  int native_code_ = 0;
  char backend_[sizeof arrowdevice_error::backend] = "";
  std::shared_ptr<const std::string> text_;
};

// Runs `body` at the boundary, and turns any exception into a code and a filled error.
template <typename Body>
int guarded(arrowdevice_error* error, Body&& body) noexcept {
  try {
    body();
    return 0;
  } catch (...) {
    return fill_from_current_exception(error);
  }
}

}  // namespace arrowdevice

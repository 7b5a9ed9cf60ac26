// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <new>

namespace arrowdevice {
namespace {

// Returns the length of the well-formed UTF-8 sequence at the start of `text`, or 0 if there is none.
size_t utf8_sequence(std::string_view text) noexcept {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  const size_t n = lead >= 0xC2 && lead <= 0xDF ? 2 : (lead & 0xF0) == 0xE0 ? 3 : lead >= 0xF0 && lead <= 0xF4 ? 4 : 0;
  if (n == 0 || text.size() < n) return 0;
  for (size_t i = 1; i < n; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  if ((lead == 0xE0 && byte(1) < 0xA0) || (lead == 0xED && byte(1) > 0x9F)) return 0;  // overlong, surrogates
  if ((lead == 0xF0 && byte(1) < 0x90) || (lead == 0xF4 && byte(1) > 0x8F)) return 0;  // overlong, past U+10FFFF
  return n;
}

void copy_text(char* out, size_t capacity, std::string_view text) noexcept {
  size_t used = 0;
  while (!text.empty() && text[0] != '\0') {
    const size_t n = utf8_sequence(text);
    const size_t width = n == 0 ? 1 : n;
    if (used + width >= capacity) break;
    if (n == 0) {
      out[used] = '?';
    } else {
      std::memcpy(out + used, text.data(), n);
    }
    used += width;
    text.remove_prefix(width);
  }
  std::memset(out + used, 0, capacity - used);
}

}  // namespace

std::string format(const char* pattern, ...) {
  va_list arguments;
  va_start(arguments, pattern);
  va_list again;
  va_copy(again, arguments);
  const int length = std::vsnprintf(nullptr, 0, pattern, arguments);
  va_end(arguments);
  std::string text(length > 0 ? static_cast<size_t>(length) : 0, '\0');
  if (length > 0) std::vsnprintf(text.data(), text.size() + 1, pattern, again);
  va_end(again);
  return text;
}

void fill_error(arrowdevice_error* out, int code, int native_code, std::string_view backend,
                std::string_view message) noexcept {
  if (out == nullptr) return;
  out->code = code;
  out->native_code = native_code;
  copy_text(out->backend, sizeof out->backend, backend);
  copy_text(out->message, sizeof out->message, message);
}

namespace {

// Calls tell(code, native_code, backend, message) for the exception that is being handled. The rethrown exception is
// alive only in this function.
template <typename Tell>
int tell_current_exception(Tell&& tell) noexcept {
  try {
    throw;
  } catch (const Error& e) {
    tell(e.code(), e.native_code(), e.backend(), e.message());
    return e.code();
  } catch (const std::bad_alloc&) {
    tell(ENOMEM, 0, {}, "host memory is exhausted");
    return ENOMEM;
  } catch (const std::exception& e) {
    tell(EIO, 0, {}, e.what());
    return EIO;
  } catch (...) {
    tell(EIO, 0, {}, "an exception of unknown type");
    return EIO;
  }
}

}  // namespace

int fill_from_current_exception(arrowdevice_error* out) noexcept {
  return tell_current_exception(
      [&](int code, int native_code, std::string_view backend, std::string_view message) noexcept {
        fill_error(out, code, native_code, backend, message);
      });
}

std::string utf8(std::string_view text) {
  std::string clean;
  clean.reserve(text.size());
  while (!text.empty()) {
    const size_t n = utf8_sequence(text);
    if (n == 0) {
      clean += '?';
    } else {
      clean += text.substr(0, n);
    }
    text.remove_prefix(n == 0 ? 1 : n);
  }
  return clean;
}

Failure::Failure(int code, std::string_view text, std::string_view backend, int native_code) noexcept
    : code_(code), native_code_(native_code) {
  copy_text(backend_, sizeof backend_, backend);
  try {
    text_ = std::make_shared<const std::string>(utf8(text));
  } catch (const std::bad_alloc&) {
    text_ = nullptr;
  }
}

Failure Failure::current() noexcept {
  Failure failure;
  tell_current_exception([&](int code, int native_code, std::string_view backend, std::string_view message) noexcept {
    failure = Failure(code, message, backend, native_code);
  });
  return failure;
}

void Failure::raise() const {
  throw Error(code_, text_ != nullptr ? *text_ : std::strerror(code_), backend_, native_code_);
}

}  // namespace arrowdevice

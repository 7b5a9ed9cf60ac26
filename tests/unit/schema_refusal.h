// SPDX-License-Identifier: Apache-2.0
// Returns the error that a function of the library gives for its input.
#pragma once

#include <string>

#include "base/error.h"
#include "support/catch.h"

namespace arrowdevice::schema {

struct Refusal {
  int code = 0;
  std::string message;
};

template <typename Read>
Refusal refusal_by(const Read& read) {
  try {
    read();
    return {};
  } catch (const Error& error) {
    return {error.code(), error.message()};
  }
}

// Returns true if the code is that of the refusal, whose message contains the text.
inline bool is_refused(const Refusal& refusal, int code, const std::string& text) {
  UNSCOPED_INFO(refusal.code << ": " << refusal.message);
  return refusal.code == code && refusal.message.find(text) != std::string::npos;
}

}  // namespace arrowdevice::schema

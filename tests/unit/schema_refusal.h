// SPDX-License-Identifier: Apache-2.0
// Returns the error that a function of the schema layer gives for its input.
#pragma once

#include <string>

#include "base/error.h"

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

}  // namespace arrowdevice::schema

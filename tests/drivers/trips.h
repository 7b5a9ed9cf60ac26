// SPDX-License-Identifier: Apache-2.0
// Typical call sequences of a program with a backend. Tests run them while a call of the driver fails.
#pragma once

#include <arrowdevice/arrowdevice.h>

#include <functional>
#include <string>
#include <vector>

#include "support/cases.h"
#include "support/handles.h"

namespace drivers {

// Makes a call. The call may fail because of the failure that the test planned, and must then succeed with
// the same input.
using Attempt = std::function<void(const std::function<int(arrowdevice_error*)>& call)>;

// The expected failure of such a call. The message begins with the driver's call, and both codes match.
struct Failure {
  std::string message;  // how it begins
  int code;
  int native_code;
};
void attempt(const std::vector<Failure>& allowed, const std::function<int(arrowdevice_error*)>& call);

arrowdevice_device* get_device(const Attempt& attempt, ArrowDeviceType type, int64_t id);

// Copies bytes through a queue, and frees memory behind the copy.
void move_bytes(const Attempt& attempt, arrowdevice_device* on);

// Copies an array to `there`, then to `further`, and back.
void move_array(const Attempt& attempt, const arrowdevice::testing::HostCase& one, arrowdevice_device* there,
                arrowdevice_device* further);

// Copies a batch of a thousand columns. Throws if a call in `once` was not made exactly once; `calls`
// returns the number of calls.
void copy_thousand_columns(arrowdevice_device* to, const std::vector<std::string>& once,
                           const std::function<int64_t(const std::string&)>& calls);

// Throws if a copy on the device fails the full validation. Checks it with each of these ids, with and
// without a named device.
void check_valid(const arrowdevice::testing::HostCase& one, arrowdevice_device* on, const std::vector<int64_t>& ids);

// Throws if a stream on `type` cannot have a batch in memory of the device `memory`, or loses values on the way to
// `to`.
void check_stream(const arrowdevice::testing::HostCase& one, arrowdevice_device* memory, ArrowDeviceType type,
                  arrowdevice_device* to);

using arrowdevice::testing::trim_all;

}  // namespace drivers

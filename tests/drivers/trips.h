// SPDX-License-Identifier: Apache-2.0
// What a program does with a backend, call by call, for tests in which some call of the driver fails.
#pragma once

#include <arrowdevice/arrowdevice.h>

#include <functional>
#include <string>
#include <vector>

#include "support/cases.h"

namespace drivers {

// Makes a call, which may fail for the reason that the test gave the driver, and must then succeed with the same input.
using Attempt = std::function<void(const std::function<int(arrowdevice_error*)>& call)>;

// How such a call may fail: the message begins with the driver's call, and both codes are as given.
struct Failure {
  std::string message;  // how it begins
  int code;
  int native_code;
};
void attempt(const std::vector<Failure>& allowed, const std::function<int(arrowdevice_error*)>& call);

arrowdevice_device* get_device(const Attempt& attempt, ArrowDeviceType type, int64_t id);

// Bytes by way of a queue, and memory that is given back behind it.
void move_bytes(const Attempt& attempt, arrowdevice_device* on);

// An array to `there`, on to `further`, and back.
void move_array(const Attempt& attempt, const arrowdevice::testing::HostCase& one, arrowdevice_device* there,
                arrowdevice_device* further);

// A batch of a thousand columns, copied once. Throws unless that was one call of each of these: how often one was made,
// `calls` says.
void copy_thousand_columns(arrowdevice_device* to, const std::vector<std::string>& once,
                           const std::function<int64_t(const std::string&)>& calls);

// Throws unless a copy on the device is valid to its data, with each of these ids and whether the device is named or
// not.
void check_valid(const arrowdevice::testing::HostCase& one, arrowdevice_device* on, const std::vector<int64_t>& ids);

// Everything that was opened, memory for staging too, once nothing is deferred any more.
void trim_all();

}  // namespace drivers

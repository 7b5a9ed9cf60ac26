// SPDX-License-Identifier: Apache-2.0
// Plays an operation once, with one planned failure or with none.
#pragma once

#include "faults/operation.h"

namespace faults {

class Injection {
 public:
  virtual ~Injection() = default;
  virtual void prepare() = 0;  // before each run
  // Runs the call with the failure. Returns the call's code.
  virtual int run(const Attempt& attempt, arrowdevice_error& error) = 0;
  virtual bool was_injected() const = 0;
  virtual void check_survived() = 0;                                         // after a success in spite of the failure
  virtual void check_failure(int code, const arrowdevice_error& error) = 0;  // after a failure
  virtual bool may_spoil() const = 0;                                        // the outputs
  virtual void recover() = 0;                                                // before inputs and outputs are checked
  virtual void wait_for_threads() = 0;                                       // after the operation has released all
  virtual void check_end() = 0;                                              // then, when no deferred work is left
};

// Returns true if the failure happened.
bool play_once(const Operation& operation, Injection& injection);

// Checks that a process can still copy arrays on the CPU.
void use_cpu();

}  // namespace faults

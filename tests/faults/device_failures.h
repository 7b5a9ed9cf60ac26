// SPDX-License-Identifier: Apache-2.0
// Failures of devices: a backend call or a driver call that fails, and a simulated device that is lost.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "faults/trial.h"

namespace faults {

// The objects that remain after an operation: memory that was given up on lost devices.
struct Left {
  std::vector<int64_t> on_devices = std::vector<int64_t>(4 * kDevices);
  int64_t host_bytes = 0;
};

// Drops all cached memory and idle queues, so that an operation asks the device for everything.
void begin_from_nothing();

// Returns the objects that are alive on the devices.
std::vector<int64_t> alive_now();

// A run on devices of which the operation gets all memory, queues and events, because nothing is cached.
class DeviceInjection : public Injection {
 public:
  DeviceInjection(const Operation& operation, const Machine& machine, Left& left);

  void prepare() override;
  int run(const Attempt& attempt, arrowdevice_error& error) override;
  bool was_injected() const override { return was_injected_; }
  void recover() override;
  void wait_for_threads() override;
  void check_end() override;

 protected:
  virtual void begin_failure() {}
  virtual bool end_failure() { return false; }
  virtual bool loses_device() const { return false; }
  virtual bool has_steady_threads() const { return !operation_.at_first_use; }
  void check_survived() override {}
  void check_failure(int code, const arrowdevice_error& error) override { check_code(code, 0, error); }
  bool may_spoil() const override { return false; }

  const Operation& operation() const { return operation_; }

 private:
  const Operation& operation_;
  const Machine machine_;
  Left& left_;
  const int64_t threads_before_;
  bool was_injected_ = false;
};

// Return a run in which the nth call of the function or of the driver fails, or in which the device is lost at the nth
// call.
std::unique_ptr<DeviceInjection> make_call_failure(const Operation& operation, Left& left, std::string function,
                                                   int64_t n);
std::unique_ptr<DeviceInjection> make_driver_failure(const Operation& operation, Left& left, std::string call,
                                                     int64_t n);
std::unique_ptr<DeviceInjection> make_loss(const Operation& operation, Left& left, int64_t id, int64_t n);

}  // namespace faults

// SPDX-License-Identifier: Apache-2.0
// A simulated device, or an application's context on it: its memory, its engine and its counters.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "sim/configuration.h"
#include "sim/engine.h"
#include "sim/memory.h"
#include "sim/statistics.h"

namespace arrowdevice::sim {

class Device {
 public:
  // `context` is the application's name for its context, or NULL for a device that the backend opened.
  Device(int64_t id, const DeviceSettings& settings, void* context);

  void apply(const DeviceSettings& settings);  // applies all settings except the kind of buffers

  int64_t id() const { return id_; }
  const std::string& name() const { return name_; }
  void* context() const { return context_; }
  Statistics& statistics() { return statistics_; }
  Memory& memory() { return memory_; }
  Engine& engine() { return *engine_; }
  const std::shared_ptr<SubmissionQueue>& default_queue() const { return default_queue_; }

  // Throws Error(EBUSY) while the device has buffers, queues or work.
  void close();

 private:
  const int64_t id_;
  const std::string name_;
  void* const context_;
  Statistics statistics_;
  Memory memory_;
  const std::shared_ptr<Engine> engine_;  // shared with the engine's thread
  const std::shared_ptr<SubmissionQueue> default_queue_ = std::make_shared<SubmissionQueue>();
};

}  // namespace arrowdevice::sim

// SPDX-License-Identifier: Apache-2.0
#include "sim/device.h"

#include <cerrno>

#include "base/error.h"

namespace arrowdevice::sim {
namespace {

std::string name_of_device(int64_t id, const DeviceSettings& settings, const void* context) {
  return format("Simulated accelerator %lld (%s%s)", static_cast<long long>(id),
                settings.addresses ? "addresses" : "handles", context != nullptr ? ", wrapped" : "");
}

}  // namespace

Device::Device(int64_t id, const DeviceSettings& settings, void* context)
    : id_(id),
      name_(name_of_device(id, settings, context)),
      context_(context),
      memory_(name_, settings.addresses, settings.memory, statistics_),
      engine_(std::make_shared<Engine>(name_)) {
  engine_->set_pace(settings.latency_us, settings.bandwidth);
}

void Device::apply(const DeviceSettings& settings) {
  memory_.set_capacity(settings.memory);
  engine_->set_pace(settings.latency_us, settings.bandwidth);
}

void Device::close() {
  const Counters counters = statistics_.snapshot();
  if (counters.allocations_live != 0 || counters.queues_live != 0) {
    throw Error(
        EBUSY, format("%s has %lld allocations and %lld queues", name_.c_str(),
                      static_cast<long long>(counters.allocations_live), static_cast<long long>(counters.queues_live)));
  }
  if (!engine_->stop()) throw Error(EBUSY, name_ + " has work in flight");
}

}  // namespace arrowdevice::sim

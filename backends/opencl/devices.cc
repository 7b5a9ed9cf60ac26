// SPDX-License-Identifier: Apache-2.0
#include "opencl/devices.h"

#include <algorithm>
#include <cerrno>

#include "opencl/query.h"

namespace arrowdevice::opencl {
namespace {

Owned<cl_context> make_context(const PlatformDevice& of) {
  const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM, reinterpret_cast<cl_context_properties>(of.platform),
                                              0};
  cl_int code = CL_SUCCESS;
  auto context = Owned<cl_context>::wrap(api().clCreateContext(properties, 1, &of.device, nullptr, nullptr, &code));
  check("clCreateContext", code);
  return context;
}

cl_context context_of(cl_mem buffer, cl_event event) {
  return buffer != nullptr ? ask_buffer<cl_context>(buffer, CL_MEM_CONTEXT)
                           : ask_event<cl_context>(event, CL_EVENT_CONTEXT);
}

}  // namespace

Devices& Devices::instance() {
  static auto& devices = *new Devices;
  return devices;
}

const std::vector<PlatformDevice>& Devices::platform_devices() {
  open_api();
  if (platform_devices_.empty()) platform_devices_ = list_platform_devices();
  return platform_devices_;
}

const PlatformDevice* Devices::with_id(int64_t id) {
  const auto& all = platform_devices();
  return id >= 0 && id < static_cast<int64_t>(all.size()) ? &all[static_cast<size_t>(id)] : nullptr;
}

int64_t Devices::count() {
  const std::lock_guard lock(mutex_);
  return static_cast<int64_t>(platform_devices().size());
}

const Properties& Devices::properties_of(cl_device_id native) {
  auto& known = properties_[native];
  if (known == nullptr) known = std::make_unique<const Properties>(native);
  return *known;
}

Device& Devices::instance_of(cl_context context, cl_device_id native) {
  const auto& properties = properties_of(native);
  auto& known = devices_[{context, native}];
  if (known == nullptr) known = std::make_unique<Device>(context, native, properties);
  return *known;
}

Device& Devices::open(int64_t id) {
  const std::lock_guard lock(mutex_);
  if (const auto known = opened_.find(id); known != opened_.end()) return *known->second;
  const auto* listed = with_id(id);
  if (listed == nullptr) throw Error(ENODEV, format("there is no OpenCL device %lld", static_cast<long long>(id)));
  auto context = make_context(*listed);
  auto& device = instance_of(context.get(), listed->device);
  opened_[id] = &device;
  static_cast<void>(context.take());  // kept until the process ends
  return device;
}

// Returns the device of arrays with this id in a context. This is the device with that id, the device of the event's
// queue, or the context's only device.
cl_device_id Devices::choose(cl_context context, int64_t id, cl_event event) {
  const auto candidates = devices_of(context);
  if (candidates.empty()) throw Error(EINVAL, "the OpenCL context has no device");
  const auto* listed = with_id(id);
  if (listed != nullptr && std::ranges::find(candidates, listed->device) != candidates.end()) return listed->device;
  // User events belong to no queue.
  auto* const queue = event != nullptr ? ask_event<cl_command_queue>(event, CL_EVENT_COMMAND_QUEUE) : nullptr;
  return queue != nullptr ? ask_queue<cl_device_id>(queue, CL_QUEUE_DEVICE) : candidates.front();
}

Device& Devices::wrap(int64_t id, const arrowdevice_native_device& native) {
  auto* const context = static_cast<cl_context>(native.context);
  if (context == nullptr) throw Error(EINVAL, "to wrap an OpenCL device takes its cl_context in `context`");
  const std::lock_guard lock(mutex_);
  platform_devices();
  auto* device = static_cast<cl_device_id>(native.device);
  const auto candidates = devices_of(context);
  if (device == nullptr) {
    const auto* listed = with_id(id);
    if (candidates.size() == 1) {
      device = candidates.front();
    } else if (listed != nullptr && std::ranges::find(candidates, listed->device) != candidates.end()) {
      device = listed->device;
    } else {
      throw Error(EINVAL, format("the cl_context has %zu devices: name one of them in `device`", candidates.size()));
    }
  } else if (std::ranges::find(candidates, device) == candidates.end()) {
    throw Error(EINVAL, "the cl_device_id is not of the cl_context");
  }
  auto& wrapped = instance_of(context, device);
  const auto noted = wraps_.emplace(Key{context, device}, id);
  try {
    Counting<cl_context>::retain(context);
  } catch (...) {
    wraps_.erase(noted);
    throw;
  }
  return wrapped;
}

void Devices::unwrap(Device& device) {
  const std::lock_guard lock(mutex_);
  const auto noted = wraps_.find({device.context(), device.native()});
  if (noted == wraps_.end()) throw Error(EINVAL, "the OpenCL context was not wrapped");
  wraps_.erase(noted);
  Counting<cl_context>::release(device.context());
}

bool Devices::is_wrapped(cl_context context, int64_t id) const {
  return std::ranges::any_of(wraps_, [&](const auto& one) { return one.first.first == context && one.second == id; });
}

Device& Devices::locate(int64_t id, cl_mem buffer, cl_event event) {
  const std::lock_guard lock(mutex_);
  platform_devices();
  auto* const context = context_of(buffer, event);
  if (with_id(id) == nullptr && !is_wrapped(context, id)) {
    throw Error(ENODEV, format("there is no OpenCL device %lld", static_cast<long long>(id)));
  }
  return instance_of(context, choose(context, id, event));
}

}  // namespace arrowdevice::opencl

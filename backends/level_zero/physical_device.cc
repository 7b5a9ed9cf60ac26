// SPDX-License-Identifier: Apache-2.0
#include "level_zero/physical_device.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "base/log.h"
#include "level_zero/api.h"

namespace arrowdevice::level_zero {
namespace {

constexpr uint32_t kIntel = 0x8086;

ze_device_properties_t ask(ze_device_handle_t device) {
  ze_device_properties_t answer{};
  answer.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES;
  check("zeDeviceGetProperties", api().zeDeviceGetProperties(device, &answer));
  return answer;
}

int64_t ask_memory(ze_device_handle_t device) {
  uint32_t count = 0;
  check("zeDeviceGetMemoryProperties", api().zeDeviceGetMemoryProperties(device, &count, nullptr));
  ze_device_memory_properties_t unknown{};
  unknown.stype = ZE_STRUCTURE_TYPE_DEVICE_MEMORY_PROPERTIES;
  std::vector<ze_device_memory_properties_t> memories(count, unknown);
  if (count == 0) return -1;
  check("zeDeviceGetMemoryProperties", api().zeDeviceGetMemoryProperties(device, &count, memories.data()));
  uint64_t total = 0;
  for (const auto& memory : memories) total += memory.totalSize;
  return total != 0 ? static_cast<int64_t>(total) : -1;
}

bool ask_system_memory(ze_device_handle_t device) {
  ze_device_memory_access_properties_t answer{};
  answer.stype = ZE_STRUCTURE_TYPE_DEVICE_MEMORY_ACCESS_PROPERTIES;
  check("zeDeviceGetMemoryAccessProperties", api().zeDeviceGetMemoryAccessProperties(device, &answer));
  return (answer.sharedSystemAllocCapabilities & ZE_MEMORY_ACCESS_CAP_FLAG_RW) != 0;
}

bool ask_sharing(ze_device_handle_t device) {
  ze_device_external_memory_properties_t answer{};
  answer.stype = ZE_STRUCTURE_TYPE_DEVICE_EXTERNAL_MEMORY_PROPERTIES;
  const auto result = api().zeDeviceGetExternalMemoryProperties(device, &answer);
  if (result == ZE_RESULT_ERROR_UNSUPPORTED_FEATURE) return false;
  check("zeDeviceGetExternalMemoryProperties", result);
  return (answer.memoryAllocationExportTypes & answer.memoryAllocationImportTypes &
          ZE_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF) != 0;
}

// Prefers engines that compute, which copy within a device faster than the engines that only copy.
QueueGroup ask_queue_group(ze_device_handle_t device) {
  const auto* const call = "zeDeviceGetCommandQueueGroupProperties";
  uint32_t count = 0;
  check(call, api().zeDeviceGetCommandQueueGroupProperties(device, &count, nullptr));
  ze_command_queue_group_properties_t unknown{};
  unknown.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_GROUP_PROPERTIES;
  std::vector<ze_command_queue_group_properties_t> groups(count, unknown);
  if (count > 0) check(call, api().zeDeviceGetCommandQueueGroupProperties(device, &count, groups.data()));
  constexpr auto kCopy = ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY;
  constexpr auto kCompute = ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE;
  const auto with = [&](uint32_t wanted) {
    return std::ranges::find_if(
        groups, [&](const auto& group) { return (group.flags & (kCopy | kCompute)) == wanted && group.numQueues > 0; });
  };
  // Compute engines can copy too, even if the driver does not report it.
  for (const uint32_t wanted : {uint32_t{kCopy} | kCompute, uint32_t{kCompute}, uint32_t{kCopy}}) {
    const auto found = with(wanted);
    if (found != groups.end()) return {static_cast<uint32_t>(found - groups.begin()), (wanted & kCompute) != 0};
  }
  throw Error(ENODEV, std::string(call) + ": the device has no engine that copies");
}

// Drivers before 25.09 offload copies on every device if they are asked to. Later drivers refuse that on GPUs of the
// generation Xe-HPG (Arc A and Flex), and on most integrated GPUs.
bool gains_from_offload(const ze_device_properties_t& device) {
  constexpr uint32_t kSeries = 0xff00;
  constexpr uint32_t kXeHpg = 0x5600;
  const bool is_xe_hpg = device.vendorId == kIntel && (device.deviceId & kSeries) == kXeHpg;
  return (device.flags & ZE_DEVICE_PROPERTY_FLAG_INTEGRATED) == 0 && !is_xe_hpg;
}

}  // namespace

Properties::Properties(ze_device_handle_t device)
    : total_memory(ask_memory(device)),
      reaches_system_memory(ask_system_memory(device)),
      queue_group(ask_queue_group(device)) {
  const auto answer = ask(device);
  name = {answer.name, strnlen(answer.name, sizeof answer.name)};
  vendor = answer.vendorId == kIntel ? "Intel" : format("PCI vendor 0x%04x", answer.vendorId);
  static_assert(sizeof uuid == sizeof answer.uuid.id);
  std::memcpy(uuid.data(), answer.uuid.id, sizeof answer.uuid.id);
  largest_allocation = answer.maxMemAllocSize;
  may_offload = queue_group.computes && gains_from_offload(answer);
  shares_memory = ask_sharing(device);
}

PhysicalDevice::PhysicalDevice(ze_device_handle_t native, const DriverFeatures& features)
    : native_(native),
      properties_(native),
      offload_form_(features.offload_form),
      best_list_(properties_.may_offload ? features.best_list : std::min(features.best_list, ListKind::kInOrder)) {}

bool PhysicalDevice::give_back(const char* call, ze_result_t result) noexcept {
  if (result == ZE_RESULT_SUCCESS) return true;
  try {
    const Error error = failure(call, result);
    remember(error);
    log(LogLevel::kWarning, error.message());
  } catch (const std::exception& e) {
    log(LogLevel::kWarning, e.what());
  }
  return false;
}

}  // namespace arrowdevice::level_zero

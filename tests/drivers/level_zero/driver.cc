// SPDX-License-Identifier: Apache-2.0
// Drivers, devices, contexts, command lists and events.
#include <level_zero/ze_api.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "level_zero/calls.h"
#include "level_zero/engines.h"
#include "machine/control.h"

using namespace standin::level_zero;  // NOLINT: what every line is written with
using standin::violation;

namespace {

constexpr uint32_t kIntel = 0x8086;

bool has_tables_in_handles() { return api_version() >= kFirstWithTablesInHandles; }

ze_driver_handle_t driver() {
  static void* const handle = new_object_handle();
  return static_cast<ze_driver_handle_t>(handle);
}

// Fills a list in the style of Level Zero. If there is no space for elements, it returns their number.
template <typename Get>
ze_result_t list(uint32_t available, uint32_t* count, bool has_room, Get&& get) {
  if (!has_room || *count == 0 || *count > available) *count = available;
  for (uint32_t i = 0; has_room && i < *count; ++i) get(i);
  return ZE_RESULT_SUCCESS;
}

std::vector<const char*> extensions() {
  std::vector<const char*> names;
  if (driver_build() >= kFirstBuildWithCounters) names.push_back(kCounterExtension);
  if (driver_build() >= kFirstBuildWithOffload) names.push_back(kOffloadExtension);
  if (has_tables_in_handles()) names.push_back(kDdiHandlesExtension);
  return names;
}

}  // namespace

// -- drivers and devices

EXPORT ze_result_t zeInit(ze_init_flags_t flags) {
  BEGIN("zeInit");
  if (flags != ZE_INIT_FLAG_GPU_ONLY) violation("zeInit: flags %u", flags);
  start();
  return ZE_RESULT_SUCCESS;
}

ze_result_t standin::level_zero::init_drivers(uint32_t* count, ze_driver_handle_t* drivers,
                                              InitDriverTypeDesc* description) {
  BEGIN("zeInitDrivers");
  if (description == nullptr || description->stype != kInitDriverTypeDesc) {
    violation("%s: the struct does not say what it is", kCall);
  }
  if ((description->flags & kInitGpu) == 0) return ZE_RESULT_ERROR_UNINITIALIZED;
  start();
  return list(1, count, drivers != nullptr, [&](uint32_t i) { drivers[i] = driver(); });
}

EXPORT ze_result_t zeDriverGet(uint32_t* count, ze_driver_handle_t* drivers) {
  BEGIN("zeDriverGet");
  return list(1, count, drivers != nullptr, [&](uint32_t i) { drivers[i] = driver(); });
}

EXPORT ze_result_t zeDriverGetApiVersion(ze_driver_handle_t of, ze_api_version_t* version) {
  BEGIN("zeDriverGetApiVersion");
  if (of != driver()) violation("%s: %p is not a driver", kCall, static_cast<void*>(of));
  *version = static_cast<ze_api_version_t>(api_version());
  return ZE_RESULT_SUCCESS;
}

// Loaders from 1.20 call this too, to sort the drivers. Newer loaders also ask if handles carry entry points.
EXPORT ze_result_t zeDriverGetProperties(ze_driver_handle_t of, ze_driver_properties_t* out) {
  using standin::level_zero::DdiHandlesProperties;
  BEGIN("zeDriverGetProperties");
  if (of != driver()) violation("%s: %p is not a driver", kCall, static_cast<void*>(of));
  check_type(out, ZE_STRUCTURE_TYPE_DRIVER_PROPERTIES, kCall);
  std::memcpy(out->uuid.id, "standin's driver", sizeof out->uuid.id);
  constexpr uint32_t kFirstVersion = 0x01030000;  // Intel's driver adds its build to this number
  out->driverVersion = kFirstVersion + standin::level_zero::driver_build();
  for (void* next = out->pNext; next != nullptr; next = static_cast<ze_base_properties_t*>(next)->pNext) {
    if (static_cast<ze_base_properties_t*>(next)->stype != kDdiHandlesProperties) continue;
    static_cast<DdiHandlesProperties*>(next)->flags = has_tables_in_handles() ? kDdiHandlesSupported : 0;
  }
  return ZE_RESULT_SUCCESS;
}

EXPORT ze_result_t zeDriverGetExtensionProperties(ze_driver_handle_t of, uint32_t* count,
                                                  ze_driver_extension_properties_t* out) {
  BEGIN("zeDriverGetExtensionProperties");
  if (of != driver()) violation("%s: %p is not a driver", kCall, static_cast<void*>(of));
  const auto names = extensions();
  return list(static_cast<uint32_t>(names.size()), count, out != nullptr, [&](uint32_t i) {
    std::snprintf(out[i].name, sizeof out[i].name, "%s", names[i]);
    out[i].version = ZE_MAKE_VERSION(1, 0);
  });
}

EXPORT ze_result_t zeDeviceGet(ze_driver_handle_t of, uint32_t* count, ze_device_handle_t* out) {
  BEGIN("zeDeviceGet");
  if (of != driver()) violation("%s: %p is not a driver", kCall, static_cast<void*>(of));
  return list(static_cast<uint32_t>(devices().size()), count, out != nullptr,
              [&](uint32_t i) { out[i] = devices()[i]; });
}

EXPORT ze_result_t zeDeviceGetProperties(ze_device_handle_t device, ze_device_properties_t* out) {
  BEGIN("zeDeviceGetProperties");
  const int ordinal = ordinal_of(device, kCall);
  check_type(out, ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES, kCall);
  const char* const type = std::getenv("STANDIN_ZE_DEVICE_TYPE");
  out->type = type != nullptr && std::string(type) == "vpu" ? static_cast<ze_device_type_t>(5) : ZE_DEVICE_TYPE_GPU;
  constexpr int64_t kDiscreteWithLinks = 0xbd5;
  out->vendorId = kIntel;
  out->deviceId = static_cast<uint32_t>(number("STANDIN_ZE_DEVICE_ID", kDiscreteWithLinks));
  out->flags = number("STANDIN_ZE_INTEGRATED", 0) != 0 ? uint32_t{ZE_DEVICE_PROPERTY_FLAG_INTEGRATED} : 0;
  out->maxMemAllocSize = gpus.memory() / 2;
  std::snprintf(out->name, sizeof out->name, "Stand-in for an Intel GPU %d", ordinal);
  std::memcpy(out->uuid.id, "standin for zero", sizeof out->uuid.id);
  out->uuid.id[15] = static_cast<uint8_t>(ordinal);
  return ZE_RESULT_SUCCESS;
}

EXPORT ze_result_t zeDeviceGetMemoryProperties(ze_device_handle_t device, uint32_t* count,
                                               ze_device_memory_properties_t* out) {
  BEGIN("zeDeviceGetMemoryProperties");
  ordinal_of(device, kCall);
  return list(1, count, out != nullptr, [&](uint32_t i) {
    check_type(&out[i], ZE_STRUCTURE_TYPE_DEVICE_MEMORY_PROPERTIES, kCall);
    out[i].totalSize = gpus.memory();
  });
}

EXPORT ze_result_t zeDeviceGetMemoryAccessProperties(ze_device_handle_t device,
                                                     ze_device_memory_access_properties_t* out) {
  BEGIN("zeDeviceGetMemoryAccessProperties");
  ordinal_of(device, kCall);
  check_type(out, ZE_STRUCTURE_TYPE_DEVICE_MEMORY_ACCESS_PROPERTIES, kCall);
  out->sharedSystemAllocCapabilities =
      number("STANDIN_ZE_SYSTEM_MEMORY", 0) != 0 ? uint32_t{ZE_MEMORY_ACCESS_CAP_FLAG_RW} : 0;
  return ZE_RESULT_SUCCESS;
}

EXPORT ze_result_t zeDeviceGetCommandQueueGroupProperties(ze_device_handle_t device, uint32_t* count,
                                                          ze_command_queue_group_properties_t* out) {
  BEGIN("zeDeviceGetCommandQueueGroupProperties");
  ordinal_of(device, kCall);
  const auto groups = engine_groups();
  return list(static_cast<uint32_t>(groups.size()), count, out != nullptr, [&](uint32_t i) {
    check_type(&out[i], ZE_STRUCTURE_TYPE_COMMAND_QUEUE_GROUP_PROPERTIES, kCall);
    out[i].flags = groups[i].flags;
    out[i].numQueues = groups[i].numQueues;
  });
}

EXPORT ze_result_t zeDeviceGetExternalMemoryProperties(ze_device_handle_t device,
                                                       ze_device_external_memory_properties_t* out) {
  BEGIN("zeDeviceGetExternalMemoryProperties");
  ordinal_of(device, kCall);
  check_type(out, ZE_STRUCTURE_TYPE_DEVICE_EXTERNAL_MEMORY_PROPERTIES, kCall);
  if (std::getenv("STANDIN_NO_DESCRIPTORS") != nullptr) return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
  out->memoryAllocationExportTypes = ZE_EXTERNAL_MEMORY_TYPE_FLAG_OPAQUE_FD | ZE_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF;
  out->memoryAllocationImportTypes = ZE_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF;
  return ZE_RESULT_SUCCESS;
}

EXPORT ze_result_t zeDeviceCanAccessPeer(ze_device_handle_t device, ze_device_handle_t peer, ze_bool_t* out) {
  BEGIN("zeDeviceCanAccessPeer");
  *out = ordinal_of(device, kCall) == ordinal_of(peer, kCall) || gpus.peers();
  return ZE_RESULT_SUCCESS;
}

// -- contexts

EXPORT ze_result_t zeContextCreate(ze_driver_handle_t of, const ze_context_desc_t* description,
                                   ze_context_handle_t* out) {
  BEGIN("zeContextCreate");
  if (of != driver()) violation("%s: %p is not a driver", kCall, static_cast<void*>(of));
  check_type(description, ZE_STRUCTURE_TYPE_CONTEXT_DESC, kCall);
  *out = objects().create_context();
  return ZE_RESULT_SUCCESS;
}

EXPORT ze_result_t zeContextDestroy(ze_context_handle_t context) {
  BEGIN_GIVING_BACK("zeContextDestroy");
  objects().destroy_context(context);
  return late;
}

// -- command lists

EXPORT ze_result_t zeCommandListCreateImmediate(ze_context_handle_t context, ze_device_handle_t device,
                                                const ze_command_queue_desc_t* description,
                                                ze_command_list_handle_t* out) {
  BEGIN("zeCommandListCreateImmediate");
  check_type(description, ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC, kCall);
  const bool is_in_order = (description->flags & kInOrder) != 0;
  if (is_in_order && !has_in_order_lists()) violation("%s: in order, of a driver that is too old", kCall);
  const auto groups = engine_groups();
  if (description->ordinal >= groups.size() || description->index >= groups[description->ordinal].numQueues) {
    violation("%s: engine %u of group %u", kCall, description->index, description->ordinal);
  }
  if (description->index != 0 && (description->flags & ZE_COMMAND_QUEUE_FLAG_EXPLICIT_ONLY) == 0) {
    violation("%s: an engine is named, and may be another", kCall);
  }
  if (description->mode != ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS) violation("%s: appending to it blocks", kCall);
  *out = objects().create_list(context, ordinal_of(device, kCall), is_in_order, engine_of(*description, kCall));
  return ZE_RESULT_SUCCESS;
}

EXPORT ze_result_t zeCommandListDestroy(ze_command_list_handle_t list) {
  BEGIN_GIVING_BACK("zeCommandListDestroy");
  objects().destroy_list(list);
  return late;
}

EXPORT ze_result_t zeCommandListAppendBarrier(ze_command_list_handle_t list, ze_event_handle_t signal, uint32_t count,
                                              ze_event_handle_t* waits) {
  BEGIN("zeCommandListAppendBarrier");
  objects().append_barrier(list, signal, std::vector<ze_event_handle_t>(waits, waits + count));
  return ZE_RESULT_SUCCESS;
}

EXPORT ze_result_t zeCommandListAppendMemoryCopy(ze_command_list_handle_t list, void* to, const void* from, size_t size,
                                                 ze_event_handle_t signal, uint32_t count, ze_event_handle_t*) {
  BEGIN("zeCommandListAppendMemoryCopy");
  if (signal != nullptr || count != 0) violation("%s: events of copies are not stood in for", kCall);
  objects().append_copy(list, {.to = value_of(to), .from = value_of(from), .size = size});
  return ZE_RESULT_SUCCESS;
}

// -- events

EXPORT ze_result_t zeEventPoolCreate(ze_context_handle_t context, const ze_event_pool_desc_t* description,
                                     uint32_t device_count, ze_device_handle_t*, ze_event_pool_handle_t* out) {
  BEGIN("zeEventPoolCreate");
  check_type(description, ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, kCall);
  if ((description->flags & ZE_EVENT_POOL_FLAG_HOST_VISIBLE) == 0) violation("%s: the host does not see them", kCall);
  if (device_count != 0) violation("%s: some devices do not see them", kCall);
  if (description->count == 0) violation("%s: for no events", kCall);
  *out = objects().create_pool(context, description->count);
  return ZE_RESULT_SUCCESS;
}

EXPORT ze_result_t zeEventPoolDestroy(ze_event_pool_handle_t pool) {
  BEGIN_GIVING_BACK("zeEventPoolDestroy");
  objects().destroy_pool(pool);
  return late;
}

EXPORT ze_result_t zeEventCreate(ze_event_pool_handle_t pool, const ze_event_desc_t* description,
                                 ze_event_handle_t* out) {
  BEGIN("zeEventCreate");
  check_type(description, ZE_STRUCTURE_TYPE_EVENT_DESC, kCall);
  // No command signals an event without a scope for that.
  const bool is_of_host = description->signal == 0;
  if ((!is_of_host && (description->signal & ZE_EVENT_SCOPE_FLAG_HOST) == 0) ||
      (description->wait & ZE_EVENT_SCOPE_FLAG_HOST) == 0) {
    violation("%s: what comes before it need not be seen by the host, or by other devices", kCall);
  }
  *out = objects().create_event(pool, description->index, is_of_host);
  return ZE_RESULT_SUCCESS;
}

EXPORT ze_result_t zeEventDestroy(ze_event_handle_t event) {
  BEGIN_GIVING_BACK("zeEventDestroy");
  objects().destroy_event(event);
  return late;
}

EXPORT ze_result_t zeEventHostSignal(ze_event_handle_t event) {
  BEGIN("zeEventHostSignal");
  objects().signal(event);
  return ZE_RESULT_SUCCESS;
}

EXPORT ze_result_t zeEventHostReset(ze_event_handle_t event) {
  BEGIN("zeEventHostReset");
  objects().reset(event);
  return ZE_RESULT_SUCCESS;
}

EXPORT ze_result_t zeEventQueryStatus(ze_event_handle_t event) {
  BEGIN("zeEventQueryStatus");
  return objects().is_done(event) ? ZE_RESULT_SUCCESS : ZE_RESULT_NOT_READY;
}

EXPORT ze_result_t zeEventHostSynchronize(ze_event_handle_t event, uint64_t timeout) {
  BEGIN("zeEventHostSynchronize");
  // In the machine's functions 0 means no limit, and less than 0 means a poll.
  constexpr int64_t kNoLimit = 0, kPoll = -1;
  const int64_t timeout_ns = timeout > static_cast<uint64_t>(INT64_MAX) ? kNoLimit
                             : timeout == 0                             ? kPoll
                                                                        : static_cast<int64_t>(timeout);
  return objects().wait(event, timeout_ns) ? ZE_RESULT_SUCCESS : ZE_RESULT_NOT_READY;
}

EXPORT const char* standin_entry_point(int64_t index) {
  static constexpr const char* kNames[] = {
#define X(name) #name,
#include "level_zero/symbols.inc"
#undef X
  };
  return index >= 0 && index < static_cast<int64_t>(std::size(kNames)) ? kNames[index] : nullptr;
}

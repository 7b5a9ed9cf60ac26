// SPDX-License-Identifier: Apache-2.0
// A stand-in for a Level Zero driver, which the real loader loads. It has only the entry points that the
// backend and the conformance cases use.
//
//   STANDIN_ZE_API_VERSION     "1.4": the version of Level Zero that the driver reports; default 1.6, as Intel's
//                              drivers from mid-2024 to mid-2025. Version 1.10 added zeInitDrivers, 1.13 entry
//                              points in handles, 1.14 a flag for the offload of copies
//   STANDIN_ZE_DRIVER_BUILD    the build of Intel's driver: 32224, of December 2024. Below version 1.6 it is
//                              26241, which has no in-order lists yet
//   STANDIN_ZE_LACKS           "zeContextCreate": an entry point that is missing
//   STANDIN_ZE_DEVICE_TYPE     "vpu": the type of its devices; default GPU
//   STANDIN_ZE_COMPUTE_ENGINES number of engines that compute and copy: 1
//   STANDIN_ZE_COPY_ENGINES    number of main engines that only copy: 1
//   STANDIN_ZE_LINK_ENGINES    number of link engines that only copy: 7
//   STANDIN_ZE_INTEGRATED      1 if the GPUs are integrated: 0
//   STANDIN_ZE_DEVICE_ID       PCI id of the GPUs: 0xbd5, a discrete GPU with link engines
//   STANDIN_ZE_SYSTEM_MEMORY   1 if devices can access all host memory: 0
//   STANDIN_NO_DESCRIPTORS     set if the driver does not know external memory
//   STANDIN_ZE_OTHER_CONTEXTS  1 if contexts know each other's memory, as in Intel's driver: 0
#include <level_zero/ze_api.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/file_descriptor.h"
#include "level_zero/engines.h"
#include "level_zero/handles.h"
#include "level_zero/objects.h"
#include "machine/control.h"
#include "machine/violation.h"

using standin::Kind;
using standin::Machine;
using standin::violation;

#define EXPORT extern "C" __attribute__((visibility("default")))

// Begins each entry point. It counts the call, returns a planned failure, and defines `gpus`.
#define BEGIN(call)                                                   \
  constexpr const char* kCall = call;                                 \
  int failing = 0;                                                    \
  [[maybe_unused]] Machine& gpus = standin::machine(kCall, &failing); \
  if (const ze_result_t early = begin(kCall, failing)) return early

// Begins each entry point that frees or destroys. Such a call may report a failure of earlier work, but it
// frees the object in any case.
#define BEGIN_GIVING_BACK(call)                                       \
  constexpr const char* kCall = call;                                 \
  int failing = 0;                                                    \
  [[maybe_unused]] Machine& gpus = standin::machine(kCall, &failing); \
  const ze_result_t late = begin(kCall, failing);                     \
  if (is_lost) return late

namespace {

using standin::level_zero::api_version;
using standin::level_zero::compute_engines;
using standin::level_zero::engine_groups;
using standin::level_zero::engine_of;
using standin::level_zero::has_in_order_lists;
using standin::level_zero::number;
using standin::level_zero::Objects;

constexpr uint32_t kIntel = 0x8086;

std::atomic<bool> started{false};
std::atomic<bool> is_lost{false};

// Translates the machine's codes.
ze_result_t result_of(std::string_view call, int failing) {
  constexpr int kOutOfMemory = 2;
  constexpr int kUnknown = 999;
  switch (failing) {
    case 0: return ZE_RESULT_SUCCESS;
    case kOutOfMemory:
      return call.starts_with("zeMemAlloc") ? ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY : ZE_RESULT_ERROR_UNKNOWN;
    case kUnknown: return ZE_RESULT_ERROR_UNKNOWN;
    default: return static_cast<ze_result_t>(failing);
  }
}

// Returns the result of a call. After the device is lost, every later call fails.
ze_result_t begin(const char* call, int failing) {
  if (!started && !std::string_view(call).starts_with("zeInit")) violation("%s is called before zeInit", call);
  const ze_result_t result = result_of(call, failing);
  if (result == ZE_RESULT_ERROR_DEVICE_LOST && !is_lost.exchange(true)) standin::machine().lose();
  return is_lost ? ZE_RESULT_ERROR_DEVICE_LOST : result;
}

bool has_tables_in_handles() { return api_version() >= standin::level_zero::kFirstWithTablesInHandles; }
bool contexts_know_all() { return number("STANDIN_ZE_OTHER_CONTEXTS", 0) != 0; }

uintptr_t address_of(const void* pointer) { return reinterpret_cast<uintptr_t>(pointer); }
void* pointer_to(uintptr_t address) { return reinterpret_cast<void*>(address); }

Objects& objects() {
  static auto* const made = new Objects(standin::machine());
  return *made;
}

ze_driver_handle_t driver() {
  static void* const handle = standin::level_zero::new_object_handle();
  return static_cast<ze_driver_handle_t>(handle);
}

const std::vector<ze_device_handle_t>& devices() {
  static const auto* const made = [] {
    auto* const handles = new std::vector<ze_device_handle_t>;
    for (int i = 0; i < standin::machine().devices(); ++i) {
      handles->push_back(static_cast<ze_device_handle_t>(standin::level_zero::new_object_handle()));
    }
    return handles;
  }();
  return *made;
}

int ordinal_of(ze_device_handle_t device, const char* call) {
  const auto found = std::ranges::find(devices(), device);
  if (found == devices().end()) violation("%s: %p is not a device", call, static_cast<void*>(device));
  return static_cast<int>(found - devices().begin());
}

template <typename Struct>
void check_type(const Struct* description, ze_structure_type_t type, const char* call) {
  if (description == nullptr || description->stype != type) violation("%s: the struct does not say what it is", call);
}

// Fills a list in the style of Level Zero. If there is no space for elements, it returns their number.
template <typename Get>
ze_result_t list(uint32_t available, uint32_t* count, bool has_room, Get&& get) {
  if (!has_room || *count == 0 || *count > available) *count = available;
  for (uint32_t i = 0; has_room && i < *count; ++i) get(i);
  return ZE_RESULT_SUCCESS;
}

std::vector<const char*> extensions() {
  using namespace standin::level_zero;
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
  started = true;
  return ZE_RESULT_SUCCESS;
}

ze_result_t standin::level_zero::init_drivers(uint32_t* count, ze_driver_handle_t* drivers,
                                              InitDriverTypeDesc* description) {
  BEGIN("zeInitDrivers");
  if (description == nullptr || description->stype != kInitDriverTypeDesc) {
    violation("%s: the struct does not say what it is", kCall);
  }
  if ((description->flags & kInitGpu) == 0) return ZE_RESULT_ERROR_UNINITIALIZED;
  started = true;
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
    if (static_cast<ze_base_properties_t*>(next)->stype != standin::level_zero::kDdiHandlesProperties) continue;
    static_cast<DdiHandlesProperties*>(next)->flags =
        has_tables_in_handles() ? standin::level_zero::kDdiHandlesSupported : 0;
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
  const bool is_in_order = (description->flags & standin::level_zero::kInOrder) != 0;
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
  objects().append_copy(list, {.to = address_of(to), .from = address_of(from), .size = size});
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

// -- memory

namespace {

ze_result_t allocate(Kind kind, ze_context_handle_t context, int device, size_t size, size_t alignment, void** out) {
  objects().check_context(context);
  if (size == 0) violation("an allocation of 0 bytes");
  constexpr size_t kPage = 4096;
  if ((alignment & (alignment - 1)) != 0 || alignment > kPage) return ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT;
  const uintptr_t memory = standin::machine().allocate(kind, device, size);
  if (memory == 0) return ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
  objects().keep_memory(context, memory);
  *out = pointer_to(memory);
  return ZE_RESULT_SUCCESS;
}

// Memory that leaves the process, or comes from another one. It is mapped in a range of its own. The driver owns the
// descriptor, which it makes once.
struct External {
  std::shared_ptr<standin::Physical> physical;
  size_t size;
  arrowdevice::FileDescriptor descriptor;
};

std::mutex external_mutex;
auto& externals() {
  static auto* const made = new std::map<uintptr_t, External>;
  return *made;
}

ze_result_t add_external(ze_context_handle_t context, std::shared_ptr<standin::Physical> physical, void** out) {
  objects().check_context(context);
  Machine& gpus = standin::machine();
  if (physical == nullptr) return ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
  const auto size = static_cast<size_t>(physical->pages->size());
  const uintptr_t start = gpus.reserve(size);
  gpus.map(start, size, physical);
  std::set<int> everyone;
  for (int i = 0; i < gpus.devices(); ++i) everyone.insert(i);
  gpus.set_users(start, size, everyone);
  objects().keep_memory(context, start);
  const std::lock_guard lock(external_mutex);
  externals().emplace(start, External{std::move(physical), size, {}});
  *out = pointer_to(start);
  return ZE_RESULT_SUCCESS;
}

// Returns the driver's descriptor of memory, or -1 for memory that cannot leave the process.
int descriptor_of(uintptr_t start) {
  const std::lock_guard lock(external_mutex);
  const auto found = externals().find(start);
  if (found == externals().end() || found->second.physical->is_imported) return -1;
  auto& external = found->second;
  if (!external.descriptor) external.descriptor = external.physical->pages->duplicate();
  return external.descriptor.get();
}

// Returns false for other memory.
bool free_external(uintptr_t start) {
  External gone;
  {
    const std::lock_guard lock(external_mutex);
    const auto found = externals().find(start);
    if (found == externals().end()) return false;
    gone = std::move(found->second);
    externals().erase(found);
  }
  standin::machine().unmap(start, gone.size);
  standin::machine().unreserve(start, gone.size);
  return true;
}

// Finds a struct in a chain.
template <typename Struct>
const Struct* find_in(const void* chain, ze_structure_type_t type) {
  for (const auto* one = static_cast<const ze_base_desc_t*>(chain); one != nullptr;
       one = static_cast<const ze_base_desc_t*>(one->pNext)) {
    if (one->stype == type) return reinterpret_cast<const Struct*>(one);
  }
  return nullptr;
}

// Returns true if the size exceeds the device's limit for an allocation and the request does not relax that
// limit.
bool is_too_large(const Machine& gpus, size_t size, const void* next) {
  const auto* const relaxed =
      find_in<ze_relaxed_allocation_limits_exp_desc_t>(next, ZE_STRUCTURE_TYPE_RELAXED_ALLOCATION_LIMITS_EXP_DESC);
  const bool is_relaxed = relaxed != nullptr && relaxed->flags == ZE_RELAXED_ALLOCATION_LIMITS_EXP_FLAG_MAX_SIZE;
  return size > gpus.memory() / 2 && !is_relaxed;
}

}  // namespace

EXPORT ze_result_t zeMemAllocDevice(ze_context_handle_t context, const ze_device_mem_alloc_desc_t* description,
                                    size_t size, size_t alignment, ze_device_handle_t device, void** out) {
  BEGIN("zeMemAllocDevice");
  check_type(description, ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC, kCall);
  if (is_too_large(gpus, size, description->pNext)) return ZE_RESULT_ERROR_UNSUPPORTED_SIZE;
  const int ordinal = ordinal_of(device, kCall);
  // The size of imported memory is that of the memory. The driver does not look at the size of the request.
  if (const auto* const imported =
          find_in<ze_external_memory_import_fd_t>(description->pNext, ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMPORT_FD)) {
    if (imported->flags != ZE_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF) return ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION;
    try {
      return add_external(context, gpus.import_physical(ordinal, imported->fd), out);
    } catch (const arrowdevice::Error&) {
      return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
  }
  if (const auto* const exported = find_in<ze_external_memory_export_desc_t>(
          description->pNext, ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_DESC)) {
    if (exported->flags != ZE_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF) violation("%s: flags %u", kCall, exported->flags);
    return add_external(context, gpus.create_physical(ordinal, size), out);
  }
  return allocate(Kind::kDevice, context, ordinal, size, alignment, out);
}

EXPORT ze_result_t zeMemAllocHost(ze_context_handle_t context, const ze_host_mem_alloc_desc_t* description, size_t size,
                                  size_t alignment, void** out) {
  BEGIN("zeMemAllocHost");
  check_type(description, ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, kCall);
  if (is_too_large(gpus, size, description->pNext)) return ZE_RESULT_ERROR_UNSUPPORTED_SIZE;
  return allocate(Kind::kPinned, context, 0, size, alignment, out);
}

EXPORT ze_result_t zeMemAllocShared(ze_context_handle_t context, const ze_device_mem_alloc_desc_t* of_device,
                                    const ze_host_mem_alloc_desc_t* of_host, size_t size, size_t alignment,
                                    ze_device_handle_t device, void** out) {
  BEGIN("zeMemAllocShared");
  check_type(of_device, ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC, kCall);
  check_type(of_host, ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, kCall);
  if (is_too_large(gpus, size, of_device->pNext)) return ZE_RESULT_ERROR_UNSUPPORTED_SIZE;
  return allocate(Kind::kManaged, context, ordinal_of(device, kCall), size, alignment, out);
}

EXPORT ze_result_t zeMemFree(ze_context_handle_t context, void* memory) {
  BEGIN_GIVING_BACK("zeMemFree");
  const auto found = gpus.find(address_of(memory));
  objects().forget_memory(context, address_of(memory));
  if (free_external(address_of(memory))) return late;
  gpus.free(found ? found->kind : Kind::kDevice, found ? found->device : 0, address_of(memory));
  return late;
}

EXPORT ze_result_t zeMemGetAllocProperties(ze_context_handle_t context, const void* memory,
                                           ze_memory_allocation_properties_t* out, ze_device_handle_t* device) {
  BEGIN("zeMemGetAllocProperties");
  objects().check_context(context);
  check_type(out, ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES, kCall);
  const auto found = gpus.find(address_of(memory));
  out->type = ZE_MEMORY_TYPE_UNKNOWN;
  if (!found || !(contexts_know_all() || objects().is_of_context(context, found->start))) return ZE_RESULT_SUCCESS;
  out->type = found->kind == Kind::kDevice   ? ZE_MEMORY_TYPE_DEVICE
              : found->kind == Kind::kPinned ? ZE_MEMORY_TYPE_HOST
                                             : ZE_MEMORY_TYPE_SHARED;
  if (out->pNext != nullptr) {
    auto* const exported = static_cast<ze_external_memory_export_fd_t*>(out->pNext);
    if (exported->stype != ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_FD ||
        exported->flags != ZE_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF) {
      violation("%s: the struct does not say what it is", kCall);
    }
    exported->fd = descriptor_of(found->start);
    if (exported->fd < 0) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  }
  if (device != nullptr) {
    *device = found->kind == Kind::kPinned ? nullptr : devices()[static_cast<size_t>(found->device)];
  }
  return ZE_RESULT_SUCCESS;
}

EXPORT ze_result_t zeMemGetAddressRange(ze_context_handle_t context, const void* memory, void** base, size_t* size) {
  BEGIN("zeMemGetAddressRange");
  objects().check_context(context);
  const auto found = gpus.find(address_of(memory));
  if (!found) violation("%s: %p is no memory of the driver", kCall, memory);
  if (base != nullptr) *base = pointer_to(found->start);
  if (size != nullptr) *size = found->size;
  return ZE_RESULT_SUCCESS;
}

EXPORT const char* standin_entry_point(int64_t index) {
  static constexpr const char* kNames[] = {
#define X(name) #name,
#include "level_zero/symbols.inc"
#undef X
  };
  return index >= 0 && index < static_cast<int64_t>(std::size(kNames)) ? kNames[index] : nullptr;
}

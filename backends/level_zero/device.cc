// SPDX-License-Identifier: Apache-2.0
#include "level_zero/device.h"

#include <arrowdevice/arrowdevice.h>

#include <cerrno>
#include <cstdint>

#include "base/environment.h"
#include "level_zero/api.h"

namespace arrowdevice::level_zero {
namespace {

constexpr const char* kVariable = "ARROWDEVICE_LEVEL_ZERO_MEMORY";

struct Request {
  const char* call;
  ze_result_t result;
};

// Allows allocations that old kernels cannot address as a whole. Only the author of a kernel knows its limit, and
// copies have no such limit.
ze_relaxed_allocation_limits_exp_desc_t relaxed_limits(const void* next) {
  ze_relaxed_allocation_limits_exp_desc_t relaxed{};
  relaxed.pNext = next;
  relaxed.stype = ZE_STRUCTURE_TYPE_RELAXED_ALLOCATION_LIMITS_EXP_DESC;
  relaxed.flags = ZE_RELAXED_ALLOCATION_LIMITS_EXP_FLAG_MAX_SIZE;
  return relaxed;
}

Request request(MemoryKind kind, ze_context_handle_t context, const PhysicalDevice& device, size_t size,
                size_t alignment, const void* extension, void** out) {
  const auto relaxed = relaxed_limits(extension);
  const void* const next = size > device.properties().largest_allocation ? &relaxed : extension;
  ze_device_mem_alloc_desc_t of_device{};
  of_device.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC;
  of_device.pNext = next;
  ze_host_mem_alloc_desc_t of_host{};
  of_host.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC;
  of_host.pNext = next;
  switch (kind) {
    case MemoryKind::kDevice:
      return {"zeMemAllocDevice", api().zeMemAllocDevice(context, &of_device, size, alignment, device.native(), out)};
    case MemoryKind::kHost: return {"zeMemAllocHost", api().zeMemAllocHost(context, &of_host, size, alignment, out)};
    case MemoryKind::kShared: break;
  }
  of_host.pNext = nullptr;  // one descriptor for both
  return {"zeMemAllocShared",
          api().zeMemAllocShared(context, &of_device, &of_host, size, alignment, device.native(), out)};
}

}  // namespace

bool Allocation::has(const void* address, size_t size_of_part) const noexcept {
  const auto start = reinterpret_cast<uintptr_t>(base);
  const auto at = reinterpret_cast<uintptr_t>(address);
  return at >= start && at - start <= size && size_of_part <= size - (at - start);
}

std::optional<Allocation> find_allocation(ze_context_handle_t context, const void* address) {
  ze_memory_allocation_properties_t properties{};
  properties.stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES;
  ze_device_handle_t device = nullptr;
  check("zeMemGetAllocProperties", api().zeMemGetAllocProperties(context, address, &properties, &device));
  if (properties.type == ZE_MEMORY_TYPE_UNKNOWN) return std::nullopt;
  Allocation found{.type = properties.type, .device = device, .base = nullptr, .size = 0};
  check("zeMemGetAddressRange", api().zeMemGetAddressRange(context, address, &found.base, &found.size));
  return found;
}

MemoryKind chosen_memory_kind() {
  const auto chosen = environment::text(kVariable);
  if (!chosen || *chosen == "device") return MemoryKind::kDevice;
  if (*chosen == "host") return MemoryKind::kHost;
  if (*chosen == "shared") return MemoryKind::kShared;
  throw Error(EINVAL, std::string(kVariable) + "=" + *chosen + ": none of \"device\", \"host\" and \"shared\"");
}

void* Device::allocate(int64_t size, int64_t alignment) { return allocate(kind_, size, alignment); }

void* Device::allocate_host(int64_t size, int64_t alignment) { return allocate(MemoryKind::kHost, size, alignment); }

void* Device::allocate_extended(int64_t size, int64_t alignment, const void* extension) {
  return allocate(MemoryKind::kDevice, size, alignment, extension);
}

void* Device::allocate(MemoryKind kind, int64_t size, int64_t alignment, const void* extension) {
  context_.unfinished().sweep();
  return physical_.use([&] {
    void* memory = nullptr;
    const auto [call, result] = request(kind, context_.native(), physical_, static_cast<size_t>(size),
                                        static_cast<size_t>(alignment), extension, &memory);
    if (result != ZE_RESULT_SUCCESS) {
      throw failure(call, result, format("%lld bytes on %s", static_cast<long long>(size), properties().name.c_str()));
    }
    return memory;
  });
}

void Device::free(void* memory) noexcept {
  if (!physical_.is_lost()) physical_.give_back("zeMemFree", api().zeMemFree(context_.native(), memory));
}

uint32_t peer_flags(const Device* from, const Device* to) {
  if (from == to) return ARROWDEVICE_PEER_ACCESS | ARROWDEVICE_PEER_COPY;
  if (from == nullptr || to == nullptr) return ARROWDEVICE_PEER_COPY;
  // Memory can be used only in its own context.
  if (&from->context() != &to->context()) return 0;
  // Reports no access, although a peer's kernels could use the memory in place, because an array must be on the device
  // that it names.
  return to->physical().use([&]() -> uint32_t {
    ze_bool_t can = 0;
    check("zeDeviceCanAccessPeer",
          api().zeDeviceCanAccessPeer(to->physical().native(), from->physical().native(), &can));
    return can != 0 ? ARROWDEVICE_PEER_COPY : 0;
  });
}

}  // namespace arrowdevice::level_zero

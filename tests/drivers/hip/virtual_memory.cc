// SPDX-License-Identifier: Apache-2.0
// Virtual memory, which other processes can open. A mapping is an allocation of the machine.
#include <unistd.h>

#include <set>
#include <utility>

#include "base/error.h"
#include "hip/calls.h"

using namespace standin::hip;  // NOLINT: what every line is written with
using standin::Machine;
using standin::violation;

namespace {

constexpr int kFirstWithDescriptors = 70'100'000;

// Ends the process unless the properties are those of a GPU's memory that can leave as a descriptor.
void check_shareable(const Machine& gpus, const hipMemAllocationProp& properties, const char* call) {
  if (properties.type != hipMemAllocationTypePinned || properties.location.type != hipMemLocationTypeDevice ||
      properties.win32HandleMetaData != nullptr) {
    violation("%s: no memory of a GPU", call);
  }
  if (properties.requestedHandleType != hipMemHandleTypePosixFileDescriptor) {
    violation("%s: the memory cannot leave as a descriptor", call);
  }
  check_device(gpus, properties.location.id, call);
}

}  // namespace

EXPORT hipError_t hipMemGetAllocationGranularity(size_t* bytes, const hipMemAllocationProp* properties,
                                                 hipMemAllocationGranularity_flags what) {
  BEGIN("hipMemGetAllocationGranularity");
  check_shareable(gpus, *properties, kCall);
  if (what != hipMemAllocationGranularityMinimum) violation("%s: flags %u", kCall, what);
  *bytes = Machine::kGranularity;
  return hipSuccess;
}

EXPORT hipError_t hipMemCreate(hipMemGenericAllocationHandle_t* memory, size_t size,
                               const hipMemAllocationProp* properties, unsigned long long flags) {
  BEGIN("hipMemCreate");
  check_shareable(gpus, *properties, kCall);
  check_granularity(size, kCall);
  if (flags != 0) violation("%s: flags %llu", kCall, flags);
  auto made = gpus.create_physical(properties->location.id, size);
  if (made == nullptr) return fail(hipErrorOutOfMemory);
  *memory = reinterpret_cast<hipMemGenericAllocationHandle_t>(gpus.add_handle(std::move(made)));
  return hipSuccess;
}

EXPORT hipError_t hipMemRelease(hipMemGenericAllocationHandle_t memory) {
  BEGIN_GIVING_BACK("hipMemRelease");
  gpus.drop_handle(value_of(memory));
  return late;
}

// The descriptor does not close on exec.
EXPORT hipError_t hipMemExportToShareableHandle(void* handle, hipMemGenericAllocationHandle_t memory,
                                                hipMemAllocationHandleType type, unsigned long long flags) {
  BEGIN("hipMemExportToShareableHandle");
  if (type != hipMemHandleTypePosixFileDescriptor || flags != 0) violation("%s: type %u", kCall, type);
  const auto exported = gpus.physical_of(value_of(memory));
  const int made = exported->is_imported ? -1 : ::dup(exported->pages->duplicate().get());
  if (made < 0) return fail(hipErrorInvalidValue);
  *static_cast<int*>(handle) = made;
  return hipSuccess;
}

// Takes a pointer to the descriptor, and from HIP 7.1 on the descriptor itself.
EXPORT hipError_t hipMemImportFromShareableHandle(hipMemGenericAllocationHandle_t* memory, void* handle,
                                                  hipMemAllocationHandleType type) {
  BEGIN("hipMemImportFromShareableHandle");
  if (type != hipMemHandleTypePosixFileDescriptor) violation("%s: type %u", kCall, type);
  const bool is_value = hip_version() >= kFirstWithDescriptors;
  const int descriptor = is_value ? static_cast<int>(value_of(handle)) : *static_cast<const int*>(handle);
  try {
    *memory =
        reinterpret_cast<hipMemGenericAllocationHandle_t>(gpus.add_handle(gpus.import_physical(current(), descriptor)));
    return hipSuccess;
  } catch (const arrowdevice::Error&) {
    return fail(hipErrorInvalidValue);
  }
}

EXPORT hipError_t hipMemAddressReserve(void** range, size_t size, size_t alignment, void* wanted,
                                       unsigned long long flags) {
  BEGIN("hipMemAddressReserve");
  check_granularity(size, kCall);
  if (alignment != 0 || wanted != nullptr || flags != 0) violation("%s: a wish for the address", kCall);
  *range = reinterpret_cast<void*>(gpus.reserve(size));
  return fail(*range != nullptr ? hipSuccess : hipErrorOutOfMemory);
}

EXPORT hipError_t hipMemAddressFree(void* range, size_t size) {
  BEGIN_GIVING_BACK("hipMemAddressFree");
  gpus.unreserve(value_of(range), size);
  return late;
}

// The runtime does not compare the size with that of the memory.
EXPORT hipError_t hipMemMap(void* start, size_t size, size_t offset, hipMemGenericAllocationHandle_t memory,
                            unsigned long long flags) {
  BEGIN("hipMemMap");
  check_granularity(size, kCall);
  check_granularity(value_of(start), kCall);
  if (offset != 0 || flags != 0) violation("%s: an offset or flags", kCall);
  auto mapped = gpus.physical_of(value_of(memory));
  if (size > static_cast<size_t>(mapped->pages->size())) violation("%s: more bytes than there are", kCall);
  gpus.map(value_of(start), size, std::move(mapped));
  return hipSuccess;
}

EXPORT hipError_t hipMemUnmap(void* start, size_t size) {
  BEGIN_GIVING_BACK("hipMemUnmap");
  gpus.unmap(value_of(start), size);
  return late;
}

EXPORT hipError_t hipMemSetAccess(void* start, size_t size, const hipMemAccessDesc* users, size_t count) {
  BEGIN("hipMemSetAccess");
  const int owner = gpus.physical_at(value_of(start))->device;
  std::set<int> granted;
  for (size_t i = 0; i < count; ++i) {
    check_device(gpus, users[i].location.id, kCall);
    if (users[i].location.type != hipMemLocationTypeDevice || users[i].flags != hipMemAccessFlagsProtReadWrite) {
      violation("%s: no access of a GPU", kCall);
    }
    if (users[i].location.id != owner && !gpus.peers()) return fail(hipErrorInvalidValue);
    granted.insert(users[i].location.id);
  }
  gpus.set_users(value_of(start), size, granted);
  return hipSuccess;
}

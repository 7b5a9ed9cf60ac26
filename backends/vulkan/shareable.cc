// SPDX-License-Identifier: Apache-2.0
#include "vulkan/shareable.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/file_descriptor.h"
#include "base/regions.h"
#include "base/shared_memory.h"
#include "vulkan/copy.h"
#include "vulkan/device.h"

namespace arrowdevice::vulkan {
namespace {

constexpr auto kDescriptorType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT;

bool exports_memory(const Setup& setup) {
  if (!setup.external_memory_fd || (*setup.logical)->vkGetMemoryFdKHR == nullptr) return false;
  VkPhysicalDeviceExternalBufferInfo info{};
  info.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_BUFFER_INFO;
  info.usage = kBufferUsage;
  info.handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT;
  VkExternalBufferProperties answer{};
  answer.sType = VK_STRUCTURE_TYPE_EXTERNAL_BUFFER_PROPERTIES;
  setup.instance_functions.vkGetPhysicalDeviceExternalBufferProperties(setup.physical.handle, &info, &answer);
  constexpr VkExternalMemoryFeatureFlags kBothWays =
      VK_EXTERNAL_MEMORY_FEATURE_EXPORTABLE_BIT | VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT;
  const auto features = answer.externalMemoryProperties.externalMemoryFeatures;
  // Memory of a single buffer has no room for sub-buffers.
  return (features & kBothWays) == kBothWays && (features & VK_EXTERNAL_MEMORY_FEATURE_DEDICATED_ONLY_BIT) == 0;
}

// Fills a new buffer with zeros. Frees it if that fails.
void clear(Device& device, VkBuffer buffer, VkDeviceSize size) {
  static const std::vector<std::byte> zeros(kZeroBlockBytes);  // pending copies may read it after a failure
  std::shared_ptr<SubmissionQueue> queue;
  try {
    queue = device.make_queue();
    copy(device, *queue, regions_of_zeros(&device, buffer, static_cast<int64_t>(size), zeros.data()));
    queue->wait(queue->record(), Deadline(ARROWDEVICE_NO_TIMEOUT));
  } catch (...) {
    device.deallocate(buffer, queue.get());
    if (queue != nullptr) device.end_queue(std::move(queue));
    throw;
  }
  device.end_queue(std::move(queue));
}

// Takes host memory that other processes can map.
std::shared_ptr<void> own_pages(void* memory) {
  return {memory, [](void* pages) { SharedMemory::instance().free(pages); }};
}

// Makes a buffer of the first `size` bytes of host memory, which has whole pages.
VkBuffer add_pages(Device& device, std::shared_ptr<void> pages, VkDeviceSize size) {
  constexpr auto kPagesType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT;
  const LogicalDevice& logical = device.logical();
  VkMemoryHostPointerPropertiesEXT pointer{};
  pointer.sType = VK_STRUCTURE_TYPE_MEMORY_HOST_POINTER_PROPERTIES_EXT;
  logical.check("vkGetMemoryHostPointerPropertiesEXT",
                logical->vkGetMemoryHostPointerPropertiesEXT(logical.handle(), kPagesType, pages.get(), &pointer));
  OwnedBuffer made = device.buffers().create(size, kPagesType);
  const auto requirements = requirements_of(logical, made.buffer.get());
  const auto whole = round_up(size, static_cast<VkDeviceSize>(sysconf(_SC_PAGESIZE)));
  if (requirements.size > whole) {
    throw Error(ENOTSUP,
                format("%s needs %llu bytes for a buffer of %llu bytes of host memory", logical.name().c_str(),
                       static_cast<unsigned long long>(requirements.size), static_cast<unsigned long long>(size)));
  }
  const auto type =
      choose_memory_type(device.physical().memory, pointer.memoryTypeBits & requirements.memoryTypeBits, Need::kDevice);
  VkImportMemoryHostPointerInfoEXT import{};
  import.sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT;
  import.handleType = kPagesType;
  import.pHostPointer = pages.get();
  made.pages = std::move(pages);
  made.memory = device.buffers().allocate_memory(type, whole, &import);
  made.is_exportable = true;
  return device.buffers().add(std::move(made));
}

// The size of exported memory is a multiple of this number.
VkDeviceSize granularity_of(Device& device, const VkMemoryRequirements& requirements) {
  return std::max(requirements.alignment, device.buffers().alignment());
}

// Both processes choose the same type, because the driver is the same.
MemoryType exported_type(Device& device, const VkMemoryRequirements& requirements) {
  return choose_memory_type(device.physical().memory, requirements.memoryTypeBits, Need::kDevice);
}

// Allocates a buffer of all bytes that another process can read, which may be more than `size`.
VkBuffer allocate_exported(Device& device, VkDeviceSize size) {
  const OwnedBuffer sample = device.buffers().create(size, kDescriptorType);
  const auto requirements = requirements_of(device.logical(), sample.buffer.get());
  const VkDeviceSize whole = round_up(std::max(requirements.size, size), granularity_of(device, requirements));
  VkExportMemoryAllocateInfo exported{};
  exported.sType = VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO;
  exported.handleTypes = kDescriptorType;
  OwnedBuffer made = device.buffers().create(whole, kDescriptorType);
  made.memory = device.buffers().allocate_memory(exported_type(device, requirements), whole, &exported);
  made.is_exportable = true;
  const VkBuffer buffer = device.buffers().add(std::move(made));
  clear(device, buffer, whole);
  return buffer;
}

[[noreturn]] void refuse(const std::string& why) { throw Error(EINVAL, "the memory cannot be opened: " + why); }

// Vulkan does not tell the size of a descriptor. If the kernel knows it, the kernel's size is compared. A driver may
// read from a descriptor to find out if it is memory, and would wait at a pipe or at a socket.
void check_descriptor(const arrowdevice_memory_record& record) {
  if (record.kind != ARROWDEVICE_MEMORY_DESCRIPTOR || record.descriptor < 0) {
    refuse(format("the record has kind %d and descriptor %d", record.kind, record.descriptor));
  }
  struct stat facts {};
  if (::fstat(record.descriptor, &facts) != 0) {
    refuse(format("descriptor %d: %s", record.descriptor, std::strerror(errno)));
  }
  if (S_ISFIFO(facts.st_mode) || S_ISSOCK(facts.st_mode)) {
    refuse(format("descriptor %d is a pipe or a socket", record.descriptor));
  }
  const int64_t there = ::lseek(record.descriptor, 0, SEEK_END);
  if (there > 0 && there < record.size) {
    refuse(format("descriptor %d has %lld bytes, and the record names %lld", record.descriptor,
                  static_cast<long long>(there), static_cast<long long>(record.size)));
  }
}

// Imports the descriptor, which the caller keeps.
std::unique_ptr<Memory> import_memory(Device& device, const arrowdevice_memory_record& record, const MemoryType& type) {
  auto descriptor = FileDescriptor::duplicate_of(record.descriptor);
  if (!descriptor) throw Error(errno, format("a descriptor of Vulkan memory: %s", std::strerror(errno)));
  VkImportMemoryFdInfoKHR imported{};
  imported.sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_FD_INFO_KHR;
  imported.handleType = kDescriptorType;
  imported.fd = descriptor.get();
  try {
    auto memory = device.buffers().allocate_memory(type, static_cast<VkDeviceSize>(record.size), &imported);
    static_cast<void>(descriptor.release());  // the driver owns it now
    return memory;
  } catch (const Error& error) {
    if (error.native_code() != VK_ERROR_INVALID_EXTERNAL_HANDLE) throw;
    throw Error(EINVAL, format("descriptor %d is no memory of this driver: %s", record.descriptor, error.what()), {},
                error.native_code());
  }
}

// Vulkan requires that the driver, the size and the type are those of the memory.
VkBuffer import_descriptor(Device& device, const arrowdevice_memory_record& record, int64_t& size) {
  if (record.size <= 0) refuse(format("the record names %lld bytes", static_cast<long long>(record.size)));
  check_descriptor(record);
  if (std::memcmp(record.driver_uuid, device.physical().driver_uuid, sizeof record.driver_uuid) != 0) {
    refuse("it is of another driver, or of another version of the driver");
  }
  const auto whole = static_cast<VkDeviceSize>(record.size);
  OwnedBuffer made = device.buffers().create(whole, kDescriptorType);
  const auto requirements = requirements_of(device.logical(), made.buffer.get());
  if (const auto granularity = granularity_of(device, requirements);
      requirements.size > whole || whole % granularity != 0) {
    refuse(format("the record names %lld bytes, and a buffer needs %llu in units of %llu",
                  static_cast<long long>(record.size), static_cast<unsigned long long>(requirements.size),
                  static_cast<unsigned long long>(granularity)));
  }
  const auto type = exported_type(device, requirements);
  if (record.memory_type != type.index) {
    refuse(format("the record names the memory type %u, and this driver uses type %u", record.memory_type, type.index));
  }
  made.memory = import_memory(device, record, type);
  size = record.size;
  return device.buffers().add(std::move(made));
}

}  // namespace

// Host memory is the better choice for a CPU, because the kernel protects it from a hostile process. A GPU would reach
// it over the bus.
Sharing choose_sharing(const Setup& setup) {
  const bool is_cpu = setup.physical.properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU;
  if (!is_cpu) return exports_memory(setup) ? Sharing::kDescriptors : Sharing::kNone;
  const bool imports_pages = setup.external_memory_host &&
                             (*setup.logical)->vkGetMemoryHostPointerPropertiesEXT != nullptr &&
                             setup.physical.host_import_alignment <= static_cast<VkDeviceSize>(sysconf(_SC_PAGESIZE));
  return imports_pages ? Sharing::kHostMemory : Sharing::kNone;
}

VkBuffer allocate_shareable(Device& device, VkDeviceSize size) {
  if (device.sharing() == Sharing::kNone) {
    throw Error(ENOTSUP, device.logical().name() + " has no memory that other processes can open");
  }
  if (device.sharing() == Sharing::kDescriptors) return allocate_exported(device, size);
  const auto whole = static_cast<int64_t>(round_up(size, device.buffers().alignment()));
  return add_pages(device, own_pages(SharedMemory::instance().allocate(whole)), size);
}

void describe_shareable(Device& device, VkBuffer buffer, arrowdevice_memory_record& out) {
  const OwnedBuffer* const whole = device.buffers().find_whole(buffer);
  if (whole == nullptr || !whole->is_exportable) {
    throw Error(EINVAL, format("VkBuffer %p is no memory that other processes can open", static_cast<void*>(buffer)));
  }
  if (whole->pages != nullptr) return SharedMemory::instance().describe(whole->pages.get(), out);
  const LogicalDevice& logical = device.logical();
  VkMemoryGetFdInfoKHR info{};
  info.sType = VK_STRUCTURE_TYPE_MEMORY_GET_FD_INFO_KHR;
  info.memory = whole->memory->handle();
  info.handleType = kDescriptorType;
  int number = -1;
  logical.check("vkGetMemoryFdKHR", logical->vkGetMemoryFdKHR(logical.handle(), &info, &number));
  FileDescriptor descriptor(number);
  descriptor.close_on_exec("a descriptor of Vulkan memory");
  out.kind = ARROWDEVICE_MEMORY_DESCRIPTOR;
  out.descriptor = descriptor.release();
  out.memory_type = whole->memory->type();
  out.size = static_cast<int64_t>(whole->memory->size());
  std::memcpy(out.driver_uuid, device.physical().driver_uuid, sizeof out.driver_uuid);
}

VkBuffer open_shared(Device& device, const arrowdevice_memory_record& record, int64_t& size) {
  if (device.sharing() == Sharing::kNone) {
    throw Error(ENOTSUP, device.logical().name() + " cannot open memory of other processes");
  }
  if (device.sharing() == Sharing::kDescriptors) return import_descriptor(device, record, size);
  auto pages = own_pages(SharedMemory::instance().open(record, SharedMemory::Access::kPrivateWrites, size));
  return add_pages(device, std::move(pages), static_cast<VkDeviceSize>(size));
}

}  // namespace arrowdevice::vulkan

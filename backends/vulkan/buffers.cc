// SPDX-License-Identifier: Apache-2.0
#include "vulkan/buffers.h"

#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "base/file_descriptor.h"
#include "base/shared_memory.h"

namespace arrowdevice::vulkan {
namespace {

VkMemoryRequirements requirements_of(const LogicalDevice& device, VkBuffer buffer) {
  VkMemoryRequirements requirements{};
  device->vkGetBufferMemoryRequirements(device.handle(), buffer, &requirements);
  return requirements;
}

VkDeviceSize round_up(VkDeviceSize size, VkDeviceSize alignment) {
  return (size + alignment - 1) / alignment * alignment;
}

constexpr auto kDescriptorType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT;

// A buffer needs this if its memory is external.
VkExternalMemoryBufferCreateInfo external_info(VkExternalMemoryHandleTypeFlags types) {
  VkExternalMemoryBufferCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO;
  info.handleTypes = types;
  return info;
}

}  // namespace

class SharedPages {
 public:
  explicit SharedPages(void* memory) noexcept : memory_(memory) {}
  ~SharedPages() { SharedMemory::instance().free(memory_); }
  SharedPages(const SharedPages&) = delete;

  void* memory() const noexcept { return memory_; }

 private:
  void* const memory_;
};

Buffers::Buffers(const LogicalDevice& device, const PhysicalDevice& physical, Settings settings)
    : device_(device), physical_(physical), settings_(std::move(settings)) {
  // The types and the alignment are the same for all buffers with the same description.
  const auto sample = make_buffer(device, describe(1, kBufferUsage));
  const auto requirements = requirements_of(device, sample.get());
  alignment_ = requirements.alignment;
  type_ = choose_memory_type(physical.memory, requirements.memoryTypeBits, Need::kDevice);
}

VkDeviceSize Buffers::granule_of(const MemoryType& type) const noexcept {
  const bool is_mapped = settings_.map && type.is_mappable();
  const bool is_flushed = is_mapped && (settings_.noncoherent || !type.is_coherent());
  return is_flushed ? physical_.properties.limits.nonCoherentAtomSize : 0;
}

VkBufferCreateInfo Buffers::describe(VkDeviceSize size, VkBufferUsageFlags usage, const void* next) const noexcept {
  const bool is_shared = settings_.families.size() > 1;
  VkBufferCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
  info.pNext = next;
  info.size = size;
  info.usage = usage;
  info.sharingMode = is_shared ? VK_SHARING_MODE_CONCURRENT : VK_SHARING_MODE_EXCLUSIVE;
  info.queueFamilyIndexCount = is_shared ? static_cast<uint32_t>(settings_.families.size()) : 0;
  info.pQueueFamilyIndices = is_shared ? settings_.families.data() : nullptr;
  return info;
}

VkBuffer Buffers::allocate(VkDeviceSize size) {
  if (size > type_.heap_size) {
    throw Error(ENOMEM, format("%llu bytes on %s, whose heap holds %llu", static_cast<unsigned long long>(size),
                               device_.name().c_str(), static_cast<unsigned long long>(type_.heap_size)));
  }
  Entry entry;
  entry.buffer = make_buffer(device_, describe(size, kBufferUsage));
  const auto requirements = requirements_of(device_, entry.buffer.get());
  // A sub-buffer at the end needs its own required size, which the driver rounds up too.
  const VkDeviceSize needed = std::max(requirements.size, round_up(size, alignment_));
  entry.memory =
      std::make_unique<Memory>(device_, type_, needed, granule_of(type_), settings_.map && type_.is_mappable());
  bind(entry, size);
  return add(std::move(entry));
}

// Binds the buffer of a whole allocation.
void Buffers::bind(Entry& entry, VkDeviceSize size) {
  device_.check("vkBindBufferMemory",
                device_->vkBindBufferMemory(device_.handle(), entry.buffer.get(), entry.memory->handle(), 0));
  entry.place.whole = entry.buffer.get();
  entry.place.size = size;
  entry.place.memory = entry.memory.get();
}

VkBuffer Buffers::allocate_shareable(VkDeviceSize size) {
  if (!has_shareable_memory()) {
    throw Error(ENOTSUP, device_.name() + " has no memory that other processes can open");
  }
  if (settings_.sharing == Sharing::kDescriptors) return allocate_exported(size);
  const auto whole = static_cast<int64_t>(round_up(size, alignment_));
  return add_shared(std::make_shared<SharedPages>(SharedMemory::instance().allocate(whole)), size);
}

VkBuffer Buffers::allocate_exported(VkDeviceSize size) {
  Entry entry;
  entry.place.external = kDescriptorType;
  const auto external = external_info(kDescriptorType);
  entry.buffer = make_buffer(device_, describe(size, kBufferUsage, &external));
  const auto requirements = requirements_of(device_, entry.buffer.get());
  const auto type = choose_memory_type(physical_.memory, requirements.memoryTypeBits, Need::kDevice);
  VkExportMemoryAllocateInfo exported{};
  exported.sType = VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO;
  exported.handleTypes = kDescriptorType;
  // The other process makes one buffer of all bytes, whose required size must not be larger.
  const VkDeviceSize needed = round_up(std::max(requirements.size, size), std::max(requirements.alignment, alignment_));
  entry.memory =
      std::make_unique<Memory>(device_, type, needed, granule_of(type), settings_.map && type.is_mappable(), &exported);
  entry.memory_type = type.index;
  bind(entry, size);
  return add(std::move(entry));
}

void Buffers::describe_shareable(VkBuffer buffer, arrowdevice_memory_record& out) const {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(buffer);
  const bool is_whole = found != entries_.end() && found->second.memory != nullptr;
  if (!is_whole || found->second.place.external == 0) {
    throw Error(EINVAL, format("VkBuffer %p is no memory that other processes can open", static_cast<void*>(buffer)));
  }
  const Entry& entry = found->second;
  if (entry.pages != nullptr) return SharedMemory::instance().describe(entry.pages->memory(), out);
  VkMemoryGetFdInfoKHR info{};
  info.sType = VK_STRUCTURE_TYPE_MEMORY_GET_FD_INFO_KHR;
  info.memory = entry.memory->handle();
  info.handleType = kDescriptorType;
  int number = -1;
  device_.check("vkGetMemoryFdKHR", device_->vkGetMemoryFdKHR(device_.handle(), &info, &number));
  FileDescriptor descriptor(number);
  descriptor.close_on_exec("a descriptor of Vulkan memory");
  out.kind = ARROWDEVICE_MEMORY_DESCRIPTOR;
  out.descriptor = descriptor.release();
  out.memory_type = entry.memory_type;
  out.size = static_cast<int64_t>(entry.memory->size());
  std::memcpy(out.driver_uuid, physical_.driver_uuid, sizeof out.driver_uuid);
}

VkBuffer Buffers::open_shared(const arrowdevice_memory_record& record, int64_t& size) {
  if (!has_shareable_memory()) {
    throw Error(ENOTSUP, device_.name() + " cannot open memory of other processes");
  }
  if (settings_.sharing == Sharing::kDescriptors) return import_descriptor(record, size);
  auto& memory = SharedMemory::instance();
  auto pages = std::make_shared<SharedPages>(memory.open(record, SharedMemory::Access::kPrivateWrites, size));
  return add_shared(std::move(pages), static_cast<VkDeviceSize>(size));
}

// Vulkan requires that the size and the type are those of the memory, and does not tell them. If the kernel knows the
// size of the descriptor, it is compared.
VkBuffer Buffers::import_descriptor(const arrowdevice_memory_record& record, int64_t& size) {
  const auto refuse = [](const std::string& why) { throw Error(EINVAL, "the memory cannot be opened: " + why); };
  if (record.kind != ARROWDEVICE_MEMORY_DESCRIPTOR || record.descriptor < 0) {
    refuse(format("the record has kind %d and no descriptor", record.kind));
  }
  if (std::memcmp(record.driver_uuid, physical_.driver_uuid, sizeof record.driver_uuid) != 0) {
    refuse("it is of another driver, or of another version of the driver");
  }
  if (record.size <= 0 || record.memory_type >= physical_.memory.memoryTypeCount) {
    refuse(format("%lld bytes of the type %u", static_cast<long long>(record.size), record.memory_type));
  }
  const int64_t there = ::lseek(record.descriptor, 0, SEEK_END);
  if (there > 0 && there < record.size) refuse(format("the descriptor has %lld bytes", static_cast<long long>(there)));
  Entry entry;
  entry.place.external = kDescriptorType;
  const auto external = external_info(kDescriptorType);
  const auto whole = static_cast<VkDeviceSize>(record.size);
  entry.buffer = make_buffer(device_, describe(whole, kBufferUsage, &external));
  const auto requirements = requirements_of(device_, entry.buffer.get());
  if (requirements.size > whole || (requirements.memoryTypeBits >> record.memory_type & 1) == 0) {
    refuse(format("a buffer needs %llu bytes of the types 0x%x, and there are %llu of the type %u",
                  static_cast<unsigned long long>(requirements.size), requirements.memoryTypeBits,
                  static_cast<unsigned long long>(whole), record.memory_type));
  }
  auto descriptor = FileDescriptor::duplicate_of(record.descriptor);
  if (!descriptor) throw Error(errno, format("a descriptor of Vulkan memory: %s", std::strerror(errno)));
  VkImportMemoryFdInfoKHR imported{};
  imported.sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_FD_INFO_KHR;
  imported.handleType = kDescriptorType;
  imported.fd = descriptor.get();
  const auto& described = physical_.memory.memoryTypes[record.memory_type];
  const MemoryType type{record.memory_type, described.propertyFlags,
                        physical_.memory.memoryHeaps[described.heapIndex].size};
  try {
    entry.memory = std::make_unique<Memory>(device_, type, whole, granule_of(type), settings_.map && type.is_mappable(),
                                            &imported);
  } catch (const Error& error) {
    if (error.native_code() != VK_ERROR_INVALID_EXTERNAL_HANDLE) throw;
    refuse(error.message());
  }
  static_cast<void>(descriptor.release());  // the driver owns it now
  bind(entry, whole);
  size = record.size;
  return add(std::move(entry));
}

// Makes a buffer of the first `size` bytes of host memory, which has whole pages.
VkBuffer Buffers::add_shared(std::shared_ptr<const SharedPages> pages, VkDeviceSize size) {
  constexpr auto kHandleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT;
  VkMemoryHostPointerPropertiesEXT pointer{};
  pointer.sType = VK_STRUCTURE_TYPE_MEMORY_HOST_POINTER_PROPERTIES_EXT;
  device_.check("vkGetMemoryHostPointerPropertiesEXT",
                device_->vkGetMemoryHostPointerPropertiesEXT(device_.handle(), kHandleType, pages->memory(), &pointer));
  Entry entry;
  const auto external = external_info(kHandleType);
  entry.buffer = make_buffer(device_, describe(size, kBufferUsage, &external));
  const auto requirements = requirements_of(device_, entry.buffer.get());
  const auto whole = round_up(size, static_cast<VkDeviceSize>(sysconf(_SC_PAGESIZE)));
  if (requirements.size > whole) {
    throw Error(ENOTSUP,
                format("%s needs %llu bytes for a buffer of %llu bytes of host memory", device_.name().c_str(),
                       static_cast<unsigned long long>(requirements.size), static_cast<unsigned long long>(size)));
  }
  const auto type =
      choose_memory_type(physical_.memory, pointer.memoryTypeBits & requirements.memoryTypeBits, Need::kDevice);
  VkImportMemoryHostPointerInfoEXT import{};
  import.sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT;
  import.handleType = kHandleType;
  import.pHostPointer = pages->memory();
  entry.pages = std::move(pages);
  entry.memory =
      std::make_unique<Memory>(device_, type, whole, granule_of(type), settings_.map && type.is_mappable(), &import);
  entry.place.external = kHandleType;
  bind(entry, size);
  return add(std::move(entry));
}

VkBuffer Buffers::write_buffer(VkBuffer parent, VkDeviceSize offset, VkDeviceSize size) {
  const auto place = find(parent);
  if (!place) {
    throw Error(EINVAL,
                format("VkBuffer %p was not made by the library: its memory is not known, so that no part of it "
                       "can be a buffer of its own",
                       static_cast<void*>(parent)));
  }
  if (offset > place->size || size > place->size - offset) {
    throw Error(EINVAL, format("a sub-buffer of %llu bytes at offset %llu of a buffer of %llu bytes",
                               static_cast<unsigned long long>(size), static_cast<unsigned long long>(offset),
                               static_cast<unsigned long long>(place->size)));
  }
  const VkDeviceSize start = place->offset + offset;
  if (start % alignment_ != 0) {
    throw Error(EINVAL, format("a part begins at %llu, which is not a multiple of %llu",
                               static_cast<unsigned long long>(offset), static_cast<unsigned long long>(alignment_)));
  }
  Entry entry;
  const auto external = external_info(place->external);
  entry.buffer = make_buffer(device_, describe(size, kBufferUsage, place->external != 0 ? &external : nullptr));
  const auto requirements = requirements_of(device_, entry.buffer.get());
  if (start + requirements.size > place->memory->size()) {
    throw Error(ENOTSUP, format("%s needs %llu bytes for a sub-buffer of %llu bytes at the end of its allocation",
                                device_.name().c_str(), static_cast<unsigned long long>(requirements.size),
                                static_cast<unsigned long long>(size)));
  }
  device_.check("vkBindBufferMemory",
                device_->vkBindBufferMemory(device_.handle(), entry.buffer.get(), place->memory->handle(), start));
  entry.place = {place->whole, start, size, place->memory, place->external};
  return add(std::move(entry));
}

std::optional<Place> Buffers::find(VkBuffer buffer) const {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(buffer);
  return found == entries_.end() ? std::nullopt : std::optional(found->second.place);
}

VkBuffer Buffers::add(Entry entry) {
  const VkBuffer buffer = entry.buffer.get();
  const std::lock_guard lock(mutex_);
  entries_.emplace(buffer, std::move(entry));
  return buffer;
}

Buffers::Entry Buffers::forget(VkBuffer buffer) noexcept {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(buffer);
  assert(found != entries_.end());
  Entry entry = std::move(found->second);
  entries_.erase(found);
  return entry;
}

}  // namespace arrowdevice::vulkan

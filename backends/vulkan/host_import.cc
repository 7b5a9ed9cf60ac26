// SPDX-License-Identifier: Apache-2.0
#include "vulkan/host_import.h"

#include <cerrno>

#include "base/error.h"

namespace arrowdevice::vulkan {
namespace {

constexpr auto kHandleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT;

}  // namespace

HostImporter::HostImporter(const LogicalDevice& device, const PhysicalDevice& physical, const Buffers& buffers,
                           bool is_used)
    : device_(device),
      physical_(physical),
      buffers_(buffers),
      alignment_(is_used && device->vkGetMemoryHostPointerPropertiesEXT != nullptr ? physical.host_import_alignment
                                                                                   : 0) {}

std::shared_ptr<const HostImport> HostImporter::import(uintptr_t begin, uintptr_t end) const {
  auto made = std::make_shared<HostImport>();
  made->base_ = begin / alignment_ * alignment_;
  const uintptr_t size = (end + alignment_ - 1) / alignment_ * alignment_ - made->base_;
  void* const base = reinterpret_cast<void*>(made->base_);
  try {
    VkMemoryHostPointerPropertiesEXT pointer{};
    pointer.sType = VK_STRUCTURE_TYPE_MEMORY_HOST_POINTER_PROPERTIES_EXT;
    device_.check("vkGetMemoryHostPointerPropertiesEXT",
                  device_->vkGetMemoryHostPointerPropertiesEXT(device_.handle(), kHandleType, base, &pointer));

    VkExternalMemoryBufferCreateInfo external{};
    external.sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO;
    external.handleTypes = kHandleType;
    made->buffer_ = make_buffer(
        device_,
        buffers_.describe(size, VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT, &external));
    const auto requirements = requirements_of(device_, made->buffer_.get());
    const uint32_t allowed = pointer.memoryTypeBits & requirements.memoryTypeBits;
    if (allowed == 0 || requirements.size > size) return nullptr;

    VkImportMemoryHostPointerInfoEXT import{};
    import.sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT;
    import.handleType = kHandleType;
    import.pHostPointer = base;
    VkMemoryAllocateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
    info.pNext = &import;
    info.allocationSize = size;
    info.memoryTypeIndex = choose_memory_type(physical_.memory, allowed, Need::kDownload).index;
    made->memory_ = make_memory(device_, info);
    device_.check("vkBindBufferMemory",
                  device_->vkBindBufferMemory(device_.handle(), made->buffer_.get(), made->memory_.get(), 0));
  } catch (const Error&) {
    if (device_.is_lost()) throw;
    return nullptr;
  }
  return made;
}

}  // namespace arrowdevice::vulkan

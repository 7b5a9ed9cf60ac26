// SPDX-License-Identifier: Apache-2.0
// Compares the Vulkan backend with raw calls on the same bytes and the same VkDevice. Run it from the build folder:
//
//   meson devenv -C build bench/bench-vulkan
#include <algorithm>
#include <cstring>

#include "copies.h"
#include "vulkan/functions.h"

namespace arrowdevice::bench {
namespace {

void check(const char* call, VkResult result) {
  if (result < 0) throw std::runtime_error(std::string(call) + ": " + std::to_string(result));
}

// Uses the VkDevice that the library opened, as an application would. Each buffer of the batch has a VkBuffer, and a
// place in mapped staging memory that already has the bytes. A copy is a vkCmdCopyBuffer for each buffer, one
// submission and one wait.
class Raw {
 public:
  explicit Raw(const std::vector<Bytes>& sources) {
    open();
    for (const auto& source : sources) {
      buffers_.push_back({create(source.size), source.size, 0});
      auto& buffer = buffers_.back();
      const auto needed = requirements(buffer.on_device);
      size_ = (size_ + needed.alignment - 1) / needed.alignment * needed.alignment;
      buffer.offset = size_;
      size_ += needed.size;
    }
    staging_ = create(size_);
    size_ = std::max(size_, requirements(staging_).size);
    device_memory_ = allocate();
    staging_memory_ = allocate();
    for (const auto& buffer : buffers_) bind(buffer.on_device, device_memory_, buffer.offset);
    bind(staging_, staging_memory_, 0);
  }

  ~Raw() {
    for (const auto& buffer : buffers_) vk_.vkDestroyBuffer(device_, buffer.on_device, nullptr);
    vk_.vkDestroyBuffer(device_, staging_, nullptr);
    vk_.vkFreeMemory(device_, device_memory_, nullptr);
    vk_.vkFreeMemory(device_, staging_memory_, nullptr);
    vk_.vkDestroyFence(device_, fence_, nullptr);
    vk_.vkDestroyCommandPool(device_, pool_, nullptr);
  }
  Raw(const Raw&) = delete;
  Raw& operator=(const Raw&) = delete;

  void to_device() {
    begin();
    for (const auto& buffer : buffers_) {
      const VkBufferCopy region{buffer.offset, 0, buffer.size};
      vk_.vkCmdCopyBuffer(commands_, staging_, buffer.on_device, 1, &region);
    }
    finish();
  }

  void to_host() {
    begin();
    for (const auto& buffer : buffers_) {
      const VkBufferCopy region{0, buffer.offset, buffer.size};
      vk_.vkCmdCopyBuffer(commands_, buffer.on_device, staging_, 1, &region);
    }
    finish();
  }

 private:
  struct Buffer {
    VkBuffer on_device;
    VkDeviceSize size;
    VkDeviceSize offset;  // in both memories
  };

  void open() {
    arrowdevice_native_device native{};
    native.struct_size = sizeof native;
    arrowdevice_error error{};
    arrowdevice_device* device = nullptr;
    if (arrowdevice_device_find_by_name("vulkan:0", &device, &error) != 0 ||
        arrowdevice_device_get_native(device, &native, &error) != 0) {
      throw std::runtime_error(error.message);
    }
    const auto get = reinterpret_cast<PFN_vkGetInstanceProcAddr>(native.get_proc_addr);
    const auto instance = static_cast<VkInstance>(native.platform);
    const auto get_device = reinterpret_cast<PFN_vkGetDeviceProcAddr>(get(instance, "vkGetDeviceProcAddr"));
    device_ = static_cast<VkDevice>(native.device);
    queue_ = static_cast<VkQueue>(native.queue);
    vk_ = vulkan::device_functions(get_device, device_);
    reset_fences_ = reinterpret_cast<PFN_vkResetFences>(get_device(device_, "vkResetFences"));
    VkCommandPoolCreateInfo pool{};
    pool.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
    pool.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT;
    pool.queueFamilyIndex = native.queue_family;
    check("vkCreateCommandPool", vk_.vkCreateCommandPool(device_, &pool, nullptr, &pool_));
    VkCommandBufferAllocateInfo commands{};
    commands.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
    commands.commandPool = pool_;
    commands.commandBufferCount = 1;
    check("vkAllocateCommandBuffers", vk_.vkAllocateCommandBuffers(device_, &commands, &commands_));
    VkFenceCreateInfo fence{};
    fence.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO;
    check("vkCreateFence", vk_.vkCreateFence(device_, &fence, nullptr, &fence_));
  }

  VkBuffer create(VkDeviceSize size) const {
    VkBufferCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
    info.size = size;
    info.usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;
    VkBuffer made = VK_NULL_HANDLE;
    check("vkCreateBuffer", vk_.vkCreateBuffer(device_, &info, nullptr, &made));
    return made;
  }

  VkMemoryRequirements requirements(VkBuffer buffer) const {
    VkMemoryRequirements needed{};
    vk_.vkGetBufferMemoryRequirements(device_, buffer, &needed);
    return needed;
  }

  // Uses memory type 0, which Vulkan implementations on CPUs have. The pages are touched.
  VkDeviceMemory allocate() const {
    VkMemoryAllocateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
    info.allocationSize = size_;
    VkDeviceMemory memory = VK_NULL_HANDLE;
    check("vkAllocateMemory", vk_.vkAllocateMemory(device_, &info, nullptr, &memory));
    void* mapped = nullptr;
    check("vkMapMemory", vk_.vkMapMemory(device_, memory, 0, VK_WHOLE_SIZE, 0, &mapped));
    std::memset(mapped, 1, size_);
    return memory;
  }

  void bind(VkBuffer buffer, VkDeviceMemory memory, VkDeviceSize offset) const {
    check("vkBindBufferMemory", vk_.vkBindBufferMemory(device_, buffer, memory, offset));
  }

  void begin() const {
    VkCommandBufferBeginInfo info{};
    info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
    check("vkBeginCommandBuffer", vk_.vkBeginCommandBuffer(commands_, &info));
  }

  void finish() const {
    check("vkEndCommandBuffer", vk_.vkEndCommandBuffer(commands_));
    VkSubmitInfo submit{};
    submit.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
    submit.commandBufferCount = 1;
    submit.pCommandBuffers = &commands_;
    check("vkQueueSubmit", vk_.vkQueueSubmit(queue_, 1, &submit, fence_));
    check("vkWaitForFences", vk_.vkWaitForFences(device_, 1, &fence_, VK_TRUE, UINT64_MAX));
    check("vkResetFences", reset_fences_(device_, 1, &fence_));
  }

  VkDevice device_ = VK_NULL_HANDLE;
  VkQueue queue_ = VK_NULL_HANDLE;
  vulkan::DeviceFunctions vk_;
  PFN_vkResetFences reset_fences_ = nullptr;
  VkCommandPool pool_ = VK_NULL_HANDLE;
  VkCommandBuffer commands_ = VK_NULL_HANDLE;
  VkFence fence_ = VK_NULL_HANDLE;
  std::vector<Buffer> buffers_;
  VkBuffer staging_ = VK_NULL_HANDLE;
  VkDeviceSize size_ = 0;  // of both memories
  VkDeviceMemory device_memory_ = VK_NULL_HANDLE;
  VkDeviceMemory staging_memory_ = VK_NULL_HANDLE;
};

}  // namespace
}  // namespace arrowdevice::bench

int main(int argc, char** argv) {
  arrowdevice::bench::register_copies<arrowdevice::bench::Raw>("vulkan:0");
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}

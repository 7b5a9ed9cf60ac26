// SPDX-License-Identifier: Apache-2.0
// A program with its own VkDevice that uses the library. It makes buffers and events and submits to its
// queue.
#pragma once

#include <arrowdevice/arrowdevice.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <vector>

#include "drivers/vulkan/driver_control.h"
#include "support/calls.h"
#include "support/catch.h"
#include "vulkan/functions.h"

namespace vulkan_test {

class Application {
 public:
  Application() {
    const auto get = reinterpret_cast<PFN_vkGetInstanceProcAddr>(dlsym(driver_library(), "vkGetInstanceProcAddr"));
    get_ = get;
    global_ = arrowdevice::vulkan::global_functions(get);
    VkApplicationInfo application{};
    application.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO;
    application.apiVersion = VK_API_VERSION_1_2;
    VkInstanceCreateInfo instance{};
    instance.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
    instance.pApplicationInfo = &application;
    REQUIRE(global_.vkCreateInstance(&instance, nullptr, &instance_) == VK_SUCCESS);
    vki_ = arrowdevice::vulkan::instance_functions(get, instance_);
    uint32_t one = 1;
    REQUIRE(vki_.vkEnumeratePhysicalDevices(instance_, &one, &physical_) >= 0);

    timeline_.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES;
    timeline_.timelineSemaphore = VK_TRUE;
    features_.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
    features_.pNext = &timeline_;
    const float priority = 1;
    VkDeviceQueueCreateInfo queue{};
    queue.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO;
    queue.queueCount = 1;
    queue.pQueuePriorities = &priority;
    VkDeviceCreateInfo device{};
    device.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
    device.pNext = &features_;
    device.queueCreateInfoCount = 1;
    device.pQueueCreateInfos = &queue;
    device.enabledExtensionCount = 1;
    device.ppEnabledExtensionNames = kExtensions;
    REQUIRE(vki_.vkCreateDevice(physical_, &device, nullptr, &device_) == VK_SUCCESS);
    vk_ = arrowdevice::vulkan::device_functions(vki_.vkGetDeviceProcAddr, device_);
    vk_.vkGetDeviceQueue(device_, 0, 0, &queue_);
  }

  ~Application() {
    for (const VkEvent event : events_) vk_.vkDestroyEvent(device_, event, nullptr);
    for (const auto& made : buffers_) {
      vk_.vkDestroyBuffer(device_, made.buffer, nullptr);
      vk_.vkFreeMemory(device_, made.memory, nullptr);
    }
    vk_.vkDestroyDevice(device_, nullptr);
    vki_.vkDestroyInstance(instance_, nullptr);
  }
  Application(const Application&) = delete;
  Application& operator=(const Application&) = delete;

  struct Buffer {
    VkBuffer buffer;
    VkDeviceMemory memory;
    void* mapped;
  };

  Buffer buffer(VkDeviceSize size) {
    Buffer made{};
    VkBufferCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
    info.size = size;
    info.usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;
    REQUIRE(vk_.vkCreateBuffer(device_, &info, nullptr, &made.buffer) == VK_SUCCESS);
    VkMemoryRequirements requirements{};
    vk_.vkGetBufferMemoryRequirements(device_, made.buffer, &requirements);
    VkMemoryAllocateInfo allocation{};
    allocation.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
    allocation.allocationSize = requirements.size;
    REQUIRE(vk_.vkAllocateMemory(device_, &allocation, nullptr, &made.memory) == VK_SUCCESS);
    REQUIRE(vk_.vkBindBufferMemory(device_, made.buffer, made.memory, 0) == VK_SUCCESS);
    REQUIRE(vk_.vkMapMemory(device_, made.memory, 0, VK_WHOLE_SIZE, 0, &made.mapped) == VK_SUCCESS);
    std::memset(made.mapped, 0, size);
    buffers_.push_back(made);
    return made;
  }

  VkEvent* event() {
    VkEventCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_EVENT_CREATE_INFO;
    VkEvent made = VK_NULL_HANDLE;
    REQUIRE(vk_.vkCreateEvent(device_, &info, nullptr, &made) == VK_SUCCESS);
    events_.reserve(16);  // the application gives out pointers to them
    events_.push_back(made);
    return &events_.back();
  }

  // Sets the event on the queue. If the host set it, the set would have to be synchronized with the
  // library's queries.
  void set(VkEvent event) {
    run([&](VkCommandBuffer commands) { vk_.vkCmdSetEvent(commands, event, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT); });
  }

  bool is_set(VkEvent event) const { return vk_.vkGetEventStatus(device_, event) == VK_EVENT_SET; }

  // Reads a buffer like an engine does, with its own commands on its own queue.
  void read(VkBuffer from, Buffer& to, VkDeviceSize size) {
    run([&](VkCommandBuffer commands) {
      const VkBufferCopy region{0, 0, size};
      vk_.vkCmdCopyBuffer(commands, from, to.buffer, 1, &region);
    });
  }

  arrowdevice_native_device native() {
    auto native = arrowdevice::testing::sized<arrowdevice_native_device>();
    native.api_version = VK_API_VERSION_1_2;
    native.platform = instance_;
    native.physical_device = physical_;
    native.device = device_;
    native.queue = queue_;
    native.queue_family = 0;
    native.get_proc_addr = reinterpret_cast<void*>(get_);
    native.extensions = kExtensions;
    native.n_extensions = 1;
    native.features = &features_;
    native.lock = lock;
    native.unlock = unlock;
    native.lock_user = this;
    return native;
  }

  VkQueue queue() const { return queue_; }
  int64_t locks() const { return locks_; }

 private:
  // Records commands, submits them, and waits until they have finished.
  template <typename Record>
  void run(const Record& record) {
    VkCommandPoolCreateInfo pool_info{};
    pool_info.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
    VkCommandPool pool = VK_NULL_HANDLE;
    REQUIRE(vk_.vkCreateCommandPool(device_, &pool_info, nullptr, &pool) == VK_SUCCESS);
    VkCommandBufferAllocateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
    info.commandPool = pool;
    info.commandBufferCount = 1;
    VkCommandBuffer commands = VK_NULL_HANDLE;
    REQUIRE(vk_.vkAllocateCommandBuffers(device_, &info, &commands) == VK_SUCCESS);
    VkCommandBufferBeginInfo begin{};
    begin.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
    REQUIRE(vk_.vkBeginCommandBuffer(commands, &begin) == VK_SUCCESS);
    record(commands);
    REQUIRE(vk_.vkEndCommandBuffer(commands) == VK_SUCCESS);
    VkSubmitInfo submit{};
    submit.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
    submit.commandBufferCount = 1;
    submit.pCommandBuffers = &commands;
    lock(this, queue_);
    REQUIRE(vk_.vkQueueSubmit(queue_, 1, &submit, VK_NULL_HANDLE) == VK_SUCCESS);
    const auto wait = reinterpret_cast<PFN_vkQueueWaitIdle>(vki_.vkGetDeviceProcAddr(device_, "vkQueueWaitIdle"));
    REQUIRE(wait(queue_) == VK_SUCCESS);
    unlock(this, queue_);
    vk_.vkDestroyCommandPool(device_, pool, nullptr);
  }

  static constexpr const char* kExtensions[] = {VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME};

  static void lock(void* user, void* queue) {
    auto* const self = static_cast<Application*>(user);
    self->mutex_.lock();
    ++self->locks_;
    // Threads of the library call this too, so it must not use the test framework.
    if (queue != self->queue_) {
      std::fprintf(stderr, "the library locks a VkQueue that is not the application's\n");
      std::abort();
    }
  }
  static void unlock(void* user, void*) { static_cast<Application*>(user)->mutex_.unlock(); }

  PFN_vkGetInstanceProcAddr get_ = nullptr;
  arrowdevice::vulkan::GlobalFunctions global_;
  arrowdevice::vulkan::InstanceFunctions vki_;
  arrowdevice::vulkan::DeviceFunctions vk_;
  VkInstance instance_ = VK_NULL_HANDLE;
  VkPhysicalDevice physical_ = VK_NULL_HANDLE;
  VkPhysicalDeviceTimelineSemaphoreFeatures timeline_{};
  VkPhysicalDeviceFeatures2 features_{};
  VkDevice device_ = VK_NULL_HANDLE;
  VkQueue queue_ = VK_NULL_HANDLE;
  std::vector<Buffer> buffers_;
  std::vector<VkEvent> events_;
  std::mutex mutex_;
  std::atomic<int64_t> locks_{0};
};

}  // namespace vulkan_test

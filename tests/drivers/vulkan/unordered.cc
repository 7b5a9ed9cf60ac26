// SPDX-License-Identifier: Apache-2.0
#include "drivers/vulkan/unordered.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

namespace unordered {
namespace {

constexpr auto kRelaxed = std::memory_order_relaxed;

PFN_vkGetSemaphoreCounterValue real_get = nullptr;
PFN_vkDestroySemaphore real_destroy = nullptr;

// Orders the destruction of a semaphore after the queries of its value.
std::atomic<uint64_t> answers{0};

// Queries the driver on its own thread. The thread's view of memory stays there, and only the value comes
// back.
class Asker {
 public:
  Asker() : thread_([this] { run(); }) {}
  ~Asker() {
    hand_over(VK_NULL_HANDLE, VK_NULL_HANDLE);
    thread_.join();
  }
  Asker(const Asker&) = delete;
  Asker& operator=(const Asker&) = delete;

  uint64_t ask(VkDevice device, VkSemaphore semaphore) {
    answer_.store(kNone, kRelaxed);
    hand_over(device, semaphore);
    uint64_t answer = kNone;
    while ((answer = answer_.load(kRelaxed)) == kNone) std::this_thread::yield();
    return answer;
  }

 private:
  static constexpr uint64_t kNone = UINT64_MAX;

  void hand_over(VkDevice device, VkSemaphore semaphore) {
    device_.store(device, kRelaxed);
    semaphore_.store(semaphore, kRelaxed);
    is_asked_.store(true, std::memory_order_release);
    is_asked_.notify_one();
  }

  void run() {
    while (true) {
      is_asked_.wait(false, std::memory_order_acquire);
      is_asked_.store(false, kRelaxed);
      const VkDevice device = device_.load(kRelaxed);
      if (device == VK_NULL_HANDLE) return;
      uint64_t number = 0;
      if (real_get(device, semaphore_.load(kRelaxed), &number) != VK_SUCCESS) {
        std::fprintf(stderr, "the driver does not say how far a semaphore is\n");
        std::abort();
      }
      answers.fetch_add(1, std::memory_order_release);
      answer_.store(number, kRelaxed);
    }
  }

  std::atomic<VkDevice> device_{VK_NULL_HANDLE};
  std::atomic<VkSemaphore> semaphore_{VK_NULL_HANDLE};
  std::atomic<bool> is_asked_{false};
  std::atomic<uint64_t> answer_{kNone};
  std::thread thread_;
};

VKAPI_ATTR VkResult VKAPI_CALL get(VkDevice device, VkSemaphore semaphore, uint64_t* number) {
  thread_local Asker asker;
  *number = asker.ask(device, semaphore);
  return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL destroy(VkDevice device, VkSemaphore semaphore, const VkAllocationCallbacks* allocator) {
  answers.load(std::memory_order_acquire);
  real_destroy(device, semaphore, allocator);
}

bool is_on() {
  const char* const value = std::getenv("ARROWDEVICE_TEST_VULKAN_UNORDERED");
  return value != nullptr && std::strcmp(value, "1") == 0;
}

}  // namespace

PFN_vkVoidFunction disguise(const char* name, PFN_vkVoidFunction real) {
  if (!is_on()) return real;
  const std::string asked = name;
  if (asked == "vkGetSemaphoreCounterValue") {
    real_get = reinterpret_cast<PFN_vkGetSemaphoreCounterValue>(real);
    return reinterpret_cast<PFN_vkVoidFunction>(get);
  }
  if (asked == "vkDestroySemaphore") {
    real_destroy = reinterpret_cast<PFN_vkDestroySemaphore>(real);
    return reinterpret_cast<PFN_vkVoidFunction>(destroy);
  }
  return real;
}

}  // namespace unordered

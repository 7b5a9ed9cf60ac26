// SPDX-License-Identifier: Apache-2.0
// The number of calls of the Vulkan driver that copies cost. The layer in this folder counts them.
#include "drivers/budgets.h"

#include "drivers/vulkan/driver_control.h"
#include "support/catch.h"

namespace {

int64_t sum(const std::vector<const char*>& functions) {
  int64_t made = 0;
  for (const char* name : functions) made += vulkan_test::driver().calls(name);
  return made;
}

drivers::Calls calls() {
  return {.copies = sum({"vkCmdCopyBuffer"}),
          .submissions = sum({"vkQueueSubmit"}),
          .waits = sum({"vkWaitSemaphores", "vkWaitForFences"}),
          .objects = sum({"vkAllocateMemory", "vkCreateBuffer", "vkCreateFence", "vkCreateSemaphore", "vkCreateEvent",
                          "vkCreateCommandPool", "vkAllocateCommandBuffers", "vkMapMemory"}),
          .questions = sum({"vkGetBufferMemoryRequirements", "vkGetMemoryHostPointerPropertiesEXT"}),
          .flushes = sum({"vkFlushMappedMemoryRanges", "vkInvalidateMappedMemoryRanges"})};
}

void expect_within_budget(const char* table) {
  const bool stages = vulkan_test::is_without("external_memory_host");
  drivers::expect_within_budget(
      stages ? "Vulkan, staging" : "Vulkan", table,
      arrowdevice::testing::output_of(arrowdevice_device_find_by_id, ARROW_DEVICE_VULKAN, int64_t{0}), calls);
}

TEST_CASE("a thousand columns of 800 bytes cost few calls of Vulkan each way") { expect_within_budget("narrow"); }

TEST_CASE("columns of mixed types and sizes cost few calls of Vulkan each way") { expect_within_budget("mixed"); }

TEST_CASE("fifty columns of 100 kilobytes cost few calls of Vulkan each way") { expect_within_budget("medium"); }

TEST_CASE("a hundred columns of 100 kilobytes cost few calls of Vulkan each way") { expect_within_budget("wide"); }

TEST_CASE("a column of 64 megabytes costs few calls of Vulkan each way") { expect_within_budget("large"); }

}  // namespace

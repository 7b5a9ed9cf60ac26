// SPDX-License-Identifier: Apache-2.0
#include "level_zero/engines.h"

#include <algorithm>
#include <cstdlib>

#include "machine/violation.h"

namespace standin::level_zero {
namespace {

bool computes(const ze_command_queue_group_properties_t& group) {
  return (group.flags & ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE) != 0;
}

// Returns true if the list should offload copies. Ends the process if the driver is too old for the form of the hint.
bool has_offload_hint(const ze_command_queue_desc_t& description, const char* call) {
  bool is_hinted = (description.flags & kOffloadHint) != 0;
  if (is_hinted && api_version() < kFirstWithOffloadFlag) violation("%s: a flag that the driver does not know", call);
  for (const auto* next = static_cast<const ze_base_desc_t*>(description.pNext); next != nullptr;
       next = static_cast<const ze_base_desc_t*>(next->pNext)) {
    if (next->stype != kOffloadHintDesc || driver_build() < kFirstBuildWithOffload) {
      violation("%s: a struct that the driver does not know", call);
    }
    is_hinted |= reinterpret_cast<const OffloadHintDesc*>(next)->is_enabled != 0;
  }
  return is_hinted;
}

}  // namespace

int64_t number(const char* variable, int64_t otherwise) {
  constexpr int kAnyBase = 0;
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoll(text, nullptr, kAnyBase);
}

uint32_t compute_engines() { return static_cast<uint32_t>(number("STANDIN_ZE_COMPUTE_ENGINES", 1)); }

std::vector<ze_command_queue_group_properties_t> engine_groups() {
  constexpr auto kCopy = ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY;
  constexpr auto kCompute = ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE;
  std::vector<ze_command_queue_group_properties_t> groups;
  const auto add = [&](uint32_t flags, uint32_t engines) {
    ze_command_queue_group_properties_t group{};
    group.flags = flags;
    group.numQueues = engines;
    if (engines > 0) groups.push_back(group);
  };
  add(uint32_t{kCompute} | kCopy, compute_engines());
  add(kCopy, static_cast<uint32_t>(number("STANDIN_ZE_COPY_ENGINES", 1)));
  add(kCopy, static_cast<uint32_t>(number("STANDIN_ZE_LINK_ENGINES", 7)));
  return groups;
}

bool has_in_order_lists() { return api_version() >= kFirstWithInOrder || driver_build() >= kFirstBuildWithInOrder; }

Engine engine_of(const ze_command_queue_desc_t& description, const char* call) {
  const auto groups = engine_groups();
  const bool is_hinted = has_offload_hint(description, call);
  if (!computes(groups[description.ordinal])) {
    if (is_hinted) violation("%s: copies are offloaded from an engine that only copies", call);
    return Engine::kCopy;
  }
  const bool is_in_order = (description.flags & kInOrder) != 0;
  const bool has_others = std::ranges::any_of(groups, [](const auto& group) { return !computes(group); });
  return is_hinted && is_in_order && has_others ? Engine::kComputeWithOffload : Engine::kCompute;
}

}  // namespace standin::level_zero

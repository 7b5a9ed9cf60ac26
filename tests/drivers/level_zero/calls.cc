// SPDX-License-Identifier: Apache-2.0
#include "level_zero/calls.h"

#include <algorithm>
#include <atomic>
#include <string_view>

namespace standin::level_zero {
namespace {

std::atomic<bool> started{false};
std::atomic<bool> lost{false};

// Translates the machine's codes.
ze_result_t result_of(std::string_view call, int failing) {
  constexpr int kOutOfMemory = 2;
  constexpr int kUnknown = 999;
  switch (failing) {
    case 0: return ZE_RESULT_SUCCESS;
    case kOutOfMemory:
      return call.starts_with("zeMemAlloc") ? ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY : ZE_RESULT_ERROR_UNKNOWN;
    case kUnknown: return ZE_RESULT_ERROR_UNKNOWN;
    default: return static_cast<ze_result_t>(failing);
  }
}

}  // namespace

void start() { started = true; }

ze_result_t begin(const char* call, int failing) {
  if (!started && !std::string_view(call).starts_with("zeInit")) violation("%s is called before zeInit", call);
  const ze_result_t result = result_of(call, failing);
  if (result == ZE_RESULT_ERROR_DEVICE_LOST && !lost.exchange(true)) machine().lose();
  return lost ? ZE_RESULT_ERROR_DEVICE_LOST : result;
}

bool is_lost() { return lost; }

Objects& objects() {
  static auto* const made = new Objects(machine());
  return *made;
}

const std::vector<ze_device_handle_t>& devices() {
  static const auto* const made = [] {
    auto* const handles = new std::vector<ze_device_handle_t>;
    for (int i = 0; i < machine().devices(); ++i) {
      handles->push_back(static_cast<ze_device_handle_t>(new_object_handle()));
    }
    return handles;
  }();
  return *made;
}

int ordinal_of(ze_device_handle_t device, const char* call) {
  const auto found = std::ranges::find(devices(), device);
  if (found == devices().end()) violation("%s: %p is not a device", call, static_cast<void*>(device));
  return static_cast<int>(found - devices().begin());
}

}  // namespace standin::level_zero

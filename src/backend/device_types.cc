// SPDX-License-Identifier: Apache-2.0
#include "backend/device_types.h"

#include <algorithm>
#include <array>
#include <vector>

namespace arrowdevice::backend {
namespace {

constexpr std::array kDeviceTypes{
    DeviceTypeInfo{ARROW_DEVICE_CPU, "cpu", "cpu", false, true, true},
    DeviceTypeInfo{ARROW_DEVICE_CUDA, "cuda", "cuda", true, false, false},
    DeviceTypeInfo{ARROW_DEVICE_CUDA_HOST, "cuda_host", "cuda", true, true, true},
    DeviceTypeInfo{ARROW_DEVICE_OPENCL, "opencl", "opencl", true, false, false},
    DeviceTypeInfo{ARROW_DEVICE_VULKAN, "vulkan", "vulkan", true, false, false},
    DeviceTypeInfo{ARROW_DEVICE_METAL, "metal", "metal", true, false, true},
    DeviceTypeInfo{ARROW_DEVICE_VPI, "vpi", "vpi", false, false, true},
    DeviceTypeInfo{ARROW_DEVICE_ROCM, "rocm", "hip", true, false, false},
    DeviceTypeInfo{ARROW_DEVICE_ROCM_HOST, "rocm_host", "hip", true, true, true},
    DeviceTypeInfo{ARROW_DEVICE_EXT_DEV, "ext_dev", "sim", true, false, true},
    DeviceTypeInfo{ARROW_DEVICE_CUDA_MANAGED, "cuda_managed", "cuda", true, true, true},
    DeviceTypeInfo{ARROW_DEVICE_ONEAPI, "oneapi", "level_zero", true, false, false},
    DeviceTypeInfo{ARROW_DEVICE_WEBGPU, "webgpu", "webgpu", false, false, false},
    DeviceTypeInfo{ARROW_DEVICE_HEXAGON, "hexagon", "hexagon", false, false, true},
};

struct Access {
  ArrowDeviceType from, memory;
};

constexpr std::array kAccess{
    Access{ARROW_DEVICE_CPU, ARROW_DEVICE_CUDA_HOST},     Access{ARROW_DEVICE_CPU, ARROW_DEVICE_CUDA_MANAGED},
    Access{ARROW_DEVICE_CPU, ARROW_DEVICE_ROCM_HOST},     Access{ARROW_DEVICE_CUDA, ARROW_DEVICE_CUDA_HOST},
    Access{ARROW_DEVICE_CUDA, ARROW_DEVICE_CUDA_MANAGED}, Access{ARROW_DEVICE_ROCM, ARROW_DEVICE_ROCM_HOST},
};

char lower(char letter) noexcept {
  return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

bool is_same(std::string_view one, std::string_view other) noexcept {
  return std::ranges::equal(one, other, {}, lower, lower);
}

// Returns the number of letters to insert, remove, replace or exchange with their neighbour.
size_t distance(std::string_view one, std::string_view other) {
  std::vector<std::vector<size_t>> table(one.size() + 1, std::vector<size_t>(other.size() + 1));
  for (size_t i = 0; i <= one.size(); ++i) table[i][0] = i;
  for (size_t j = 0; j <= other.size(); ++j) table[0][j] = j;
  for (size_t i = 1; i <= one.size(); ++i) {
    for (size_t j = 1; j <= other.size(); ++j) {
      const auto same = [&](size_t x, size_t y) { return lower(one[x - 1]) == other[y - 1]; };
      table[i][j] = std::min({table[i - 1][j] + 1, table[i][j - 1] + 1, table[i - 1][j - 1] + (same(i, j) ? 0 : 1)});
      if (i > 1 && j > 1 && same(i, j - 1) && same(i - 1, j)) {
        table[i][j] = std::min(table[i][j], table[i - 2][j - 2] + 1);
      }
    }
  }
  return table.back().back();
}

}  // namespace

const DeviceTypeInfo* find_device_type(ArrowDeviceType type) noexcept {
  const auto found = std::ranges::find(kDeviceTypes, type, &DeviceTypeInfo::type);
  return found == kDeviceTypes.end() ? nullptr : &*found;
}

const DeviceTypeInfo* find_device_type(std::string_view name) noexcept {
  const auto found = std::ranges::find_if(kDeviceTypes, [&](const auto& type) { return is_same(name, type.name); });
  return found == kDeviceTypes.end() ? nullptr : &*found;
}

const DeviceTypeInfo* nearest_device_type(std::string_view name) {
  constexpr size_t kLongest = 32;
  constexpr size_t kMostMistakes = 2;
  if (name.empty() || name.size() > kLongest) return nullptr;
  const auto of_plugin =
      std::ranges::find_if(kDeviceTypes, [&](const auto& type) { return is_same(name, type.plugin); });
  if (of_plugin != kDeviceTypes.end()) return &*of_plugin;
  const auto mistakes = [&](const auto& type) { return distance(name, type.name); };
  const auto nearest = std::ranges::min_element(kDeviceTypes, {}, mistakes);
  // Few mistakes are in the first letter, and "gpu" does not mean "cpu".
  const bool is_near = mistakes(*nearest) <= kMostMistakes && lower(name.front()) == nearest->name[0];
  return is_near ? &*nearest : nullptr;
}

std::string device_type_text(ArrowDeviceType type) {
  const auto* info = find_device_type(type);
  return info != nullptr ? info->name : "device type " + std::to_string(type);
}

std::string device_text(ArrowDeviceType type, int64_t id) {
  const auto* info = find_device_type(type);
  return info != nullptr ? std::string(info->name) + ":" + std::to_string(id)
                         : "device " + std::to_string(id) + " of device type " + std::to_string(type);
}

int64_t canonical_device_id(ArrowDeviceType type, int64_t id) noexcept {
  const auto* info = find_device_type(type);
  return id == -1 && info != nullptr && info->minus_one_is_0 ? 0 : id;
}

bool can_access(ArrowDeviceType from, ArrowDeviceType memory) noexcept {
  return from == memory ||
         std::ranges::any_of(kAccess, [&](const Access& a) { return a.from == from && a.memory == memory; });
}

const char* plugin_opt_in(std::string_view plugin) noexcept {
  return plugin == "sim" ? "ARROWDEVICE_SIM_DEVICES" : nullptr;
}

}  // namespace arrowdevice::backend

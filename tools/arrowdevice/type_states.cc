// SPDX-License-Identifier: Apache-2.0
#include "type_states.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "names.h"

namespace arrowdevice::tool {
namespace {

using Reports = std::vector<arrowdevice_backend_report>;

// Returns the backends that this build lacks, and the reasons. The build gives them as "NAME=REASON", separated by
// semicolons.
std::map<std::string, std::string> not_built() {
  std::map<std::string, std::string> reasons;
  std::string_view rest = ARROWDEVICE_NOT_BUILT;
  while (!rest.empty()) {
    const std::string_view one = rest.substr(0, rest.find(';'));
    const size_t equals = one.find('=');
    reasons.emplace(one.substr(0, equals), one.substr(equals + 1));
    rest.remove_prefix(std::min(one.size() + 1, rest.size()));
  }
  return reasons;
}

// Returns why no plugin of a backend was loaded.
std::string why_not_loaded(const std::string& backend, const Reports& searched) {
  const auto refused = std::ranges::find_if(searched, [&](const auto& one) { return backend == one.name; });
  if (refused != searched.end()) return refused->reason;
  const std::string reason = why_not_built(backend);
  return reason.empty() ? "its plugin was not found" : "it is not built: " + reason;
}

void add_device(TypeState& state, const arrowdevice_device_info& info) {
  state.backend = info.backend;
  state.devices.push_back(info);
}

// Fills the reason and the backend of a type without listed devices.
void explain(TypeState& state, const Reports& searched) {
  state.backend = backend_of(state.name);
  const bool is_loaded =
      std::ranges::any_of(searched, [&](const auto& one) { return one.status == 0 && state.backend == one.name; });
  try {
    // The list leaves out all devices of a type if one of them fails.
    add_device(state, cpp::Device::find_by_id(state.type, 0).info());
  } catch (const cpp::Exception& error) {
    const std::string reporter = error.backend();
    if (!reporter.empty()) state.backend = reporter;  // a backend of another project may drive the type
    if (!reporter.empty() || is_loaded) {
      state.reason = error.what();
    } else {
      state.reason = state.backend.empty() ? "no backend drives this type" : why_not_loaded(state.backend, searched);
    }
  }
}

}  // namespace

Survey survey() {
  Survey found;
  for (const ArrowDeviceType type : named_types()) {
    found.types.push_back({type, arrowdevice_device_type_get_name(type), "", {}, ""});
  }
  for (const cpp::Device& device : cpp::Device::list()) {
    const auto info = device.info();
    auto state = std::ranges::find(found.types, info.device_type, &TypeState::type);
    if (state == found.types.end()) {  // a type that the format does not name
      state = found.types.insert(state, {info.device_type, type_of(info), "", {}, ""});
    }
    add_device(*state, info);
  }
  found.searched = cpp::backend_reports();  // before the search for single types adds to the reports
  for (TypeState& state : found.types) {
    if (state.devices.empty()) explain(state, found.searched);
  }
  return found;
}

std::vector<ArrowDeviceType> named_types() {
  constexpr ArrowDeviceType kMostTypes = 64;
  std::vector<ArrowDeviceType> types;
  for (ArrowDeviceType type = 1; type <= kMostTypes; ++type) {
    if (arrowdevice_device_type_get_name(type) != nullptr) types.push_back(type);
  }
  return types;
}

std::string backend_of(std::string_view type_name) {
  using Pair = std::pair<std::string_view, const char*>;
  constexpr std::array kPrefixes{Pair{"cpu", "cpu"},       Pair{"cuda", "cuda"},     Pair{"rocm", "hip"},
                                 Pair{"opencl", "opencl"}, Pair{"vulkan", "vulkan"}, Pair{"oneapi", "level_zero"},
                                 Pair{"ext_dev", "sim"}};
  const auto found = std::ranges::find_if(kPrefixes, [&](const Pair& one) { return type_name.starts_with(one.first); });
  return found == kPrefixes.end() ? "" : found->second;
}

std::string why_not_built(const std::string& backend) {
  const auto reasons = not_built();
  const auto found = reasons.find(backend);
  return found == reasons.end() ? "" : found->second;
}

std::vector<std::string> backends_not_built() {
  std::vector<std::string> names;
  for (const auto& [name, reason] : not_built()) names.push_back(name);
  return names;
}

}  // namespace arrowdevice::tool

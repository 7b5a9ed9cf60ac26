// SPDX-License-Identifier: Apache-2.0
// A loader whose zeDriverGet and zeInitDrivers list the drivers in opposite orders, as some loaders do. It forwards all
// other calls to the real loader, which is in another folder of LD_LIBRARY_PATH or at REAL_LOADER.
//
//   LOADER_VERSION   "1.19.1": the version that it reports; default 1.20.0
//   LOADER_LISTS     the number of drivers that zeInitDrivers lists; default: all
//   LOADER_FAILS     1 if zeInitDrivers fails
#include <dlfcn.h>
#include <level_zero/loader/ze_loader.h>
#include <level_zero/ze_api.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "level_zero/handles.h"
#include "machine/violation.h"

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

using standin::violation;

// The path of this library.
std::filesystem::path own_path() {
  Dl_info info{};
  ::dladdr(reinterpret_cast<const void*>(&own_path), &info);
  return info.dli_fname;
}

void* open_real() {
  const char* const folders = std::getenv("LD_LIBRARY_PATH");
  std::stringstream listed(folders != nullptr ? folders : "");
  std::filesystem::path path = REAL_LOADER;
  for (std::string folder; std::getline(listed, folder, ':');) {
    const auto candidate = std::filesystem::path(folder) / "libze_loader.so.1";
    if (!std::filesystem::exists(candidate) || std::filesystem::equivalent(candidate, own_path())) continue;
    path = candidate;
    break;
  }
  void* const real = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (real == nullptr) violation("the real loader cannot be opened: %s", ::dlerror());
  return real;
}

void* find(const char* symbol) {
  static void* const real = open_real();
  return ::dlsym(real, symbol);
}

// Returns the drivers in the real loader's order.
ze_result_t list_all(std::vector<ze_driver_handle_t>& drivers) {
  const auto get = reinterpret_cast<decltype(&zeDriverGet)>(find("zeDriverGet"));
  uint32_t count = 0;
  if (const ze_result_t result = get(&count, nullptr)) return result;
  drivers.resize(count);
  return get(&count, drivers.data());
}

ze_result_t write(const std::vector<ze_driver_handle_t>& drivers, uint32_t* count, ze_driver_handle_t* out) {
  const auto all = static_cast<uint32_t>(drivers.size());
  *count = out == nullptr || *count == 0 ? all : std::min(*count, all);
  if (out != nullptr) std::copy_n(drivers.begin(), *count, out);
  return ZE_RESULT_SUCCESS;
}

ze_result_t get_reversed(uint32_t* count, ze_driver_handle_t* out) {
  std::vector<ze_driver_handle_t> drivers;
  if (const ze_result_t result = list_all(drivers)) return result;
  std::ranges::reverse(drivers);
  return write(drivers, count, out);
}

using Function = void();
Function* resolve(std::string_view symbol) {
  return symbol == "zeDriverGet" ? reinterpret_cast<Function*>(&get_reversed)
                                 : reinterpret_cast<Function*>(find(symbol.data()));
}

}  // namespace

// Each name stands for a function that is found when a caller looks the name up.
#define X(name)                                                                          \
  extern "C" __attribute__((used)) Function* resolve_##name() { return resolve(#name); } \
  EXPORT void forward_##name() __asm__(#name) __attribute__((ifunc("resolve_" #name)));
#include "level_zero/symbols.inc"
#undef X

EXPORT ze_result_t zeInitDrivers(uint32_t* count, ze_driver_handle_t* out,
                                 standin::level_zero::InitDriverTypeDesc* description) {
  if (description == nullptr || description->stype != standin::level_zero::kInitDriverTypeDesc ||
      description->flags != standin::level_zero::kInitGpu || description->next != nullptr) {
    violation("zeInitDrivers: the struct does not ask for GPUs");
  }
  if (std::getenv("LOADER_FAILS") != nullptr) return ZE_RESULT_ERROR_UNINITIALIZED;
  std::vector<ze_driver_handle_t> drivers;
  if (const ze_result_t result = list_all(drivers)) return result;
  if (const char* const listed = std::getenv("LOADER_LISTS")) drivers.resize(std::strtoul(listed, nullptr, 10));
  return write(drivers, count, out);
}

EXPORT ze_result_t zelLoaderGetVersions(size_t* count, zel_component_version_t* out) {
  // The loader lists its layers too.
  const char* const names[] = {"tracing layer", "loader"};
  *count = std::size(names);
  if (out == nullptr) return ZE_RESULT_SUCCESS;
  const char* const given = std::getenv("LOADER_VERSION");
  zel_version_t version{};
  if (std::sscanf(given != nullptr ? given : "1.20.0", "%d.%d.%d", &version.major, &version.minor, &version.patch) !=
      3) {
    violation("LOADER_VERSION is %s", given);
  }
  for (size_t i = 0; i < std::size(names); ++i) {
    out[i] = {};
    std::snprintf(out[i].component_name, sizeof out[i].component_name, "%s", names[i]);
    out[i].component_lib_version = version;
  }
  out[0].component_lib_version = {};
  return ZE_RESULT_SUCCESS;
}

// SPDX-License-Identifier: Apache-2.0
// Tests the entry points of the project's own plugins with a library of another version.
#include <arrowdevice/backend.h>
#include <dlfcn.h>

#include <sstream>

#include "loader.h"

namespace {

using namespace loader_test;  // NOLINT: what every line of these tests is written with

std::vector<std::string> built_plugins() {
  std::vector<std::string> paths;
  std::stringstream folders(ARROWDEVICE_TEST_BUILT_FOLDERS);
  for (std::string folder; std::getline(folders, folder, ':');) {
    paths.push_back(fs::path(folder) / file_of(fs::path(folder).filename().string()));
  }
  return paths;
}

TEST_CASE("each plugin refuses a library of another version and names both versions") {
  const auto paths = built_plugins();
  CHECK(!paths.empty());
  for (const auto& path : paths) {
    void* const plugin = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    const char* const problem = plugin == nullptr ? dlerror() : nullptr;
    INFO(path << (problem != nullptr ? problem : ""));
    REQUIRE(plugin != nullptr);
    const auto entry = reinterpret_cast<arrowdevice_backend_entry_function>(dlsym(plugin, "arrowdevice_backend_entry"));
    REQUIRE(entry != nullptr);
    for (const uint32_t other : {ARROWDEVICE_BACKEND_ABI_VERSION + 1u, 0u}) {
      arrowdevice_error error{};
      CHECK(entry(other, &error) == nullptr);
      CHECK(error.code == ENOTSUP);
      INFO(error.message);
      CHECK(contains(error.message, "the library speaks version " + std::to_string(other) + " of the backend table"));
      CHECK(contains(error.message, " backend " + std::to_string(ARROWDEVICE_BACKEND_ABI_VERSION)));
      CHECK(entry(other, nullptr) == nullptr);
    }
  }
}

}  // namespace

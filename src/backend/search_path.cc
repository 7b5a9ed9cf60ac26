// SPDX-License-Identifier: Apache-2.0
#include "backend/search_path.h"

#include <dlfcn.h>

#include <algorithm>
#include <filesystem>
#include <new>
#include <system_error>

#include "backend/plugin_file.h"
#include "base/environment.h"

namespace arrowdevice::backend {
namespace {

constexpr const char* kVariable = "ARROWDEVICE_BACKEND_PATH";

// That there was no memory to look says nothing of what is there.
void check_memory(const std::error_code& error) {
  if (error == std::errc::not_enough_memory) throw std::bad_alloc();
}

// The folder beside the library itself, wherever it was installed or moved to.
std::string folder_beside_library() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(&search_folders), &info) == 0 || info.dli_fname == nullptr) return {};
  std::error_code error;
  const auto library = std::filesystem::canonical(info.dli_fname, error);
  check_memory(error);
  return error ? std::string() : (library.parent_path() / ARROWDEVICE_PLUGIN_FOLDER_NAME).string();
}

}  // namespace

std::vector<SearchFolder> search_folders() {
  std::vector<SearchFolder> folders;
  const auto add = [&](std::string path, std::string refusal) {
    if (path.empty()) return;
    if (std::ranges::find(folders, path, &SearchFolder::path) != folders.end()) return;
    folders.push_back({std::move(path), std::move(refusal)});
  };
  if (!environment::secure_execution()) {
    for (const auto& path : environment::list(kVariable, ':')) {
      add(path, path.starts_with('/') ? "" : std::string(kVariable) + " takes absolute folders only");
    }
    add(folder_beside_library(), "");
  }
  add(ARROWDEVICE_PLUGIN_FOLDER, "");
  return folders;
}

std::vector<std::string> plugins_in(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  const std::filesystem::directory_iterator entries(folder, error);
  check_memory(error);
  for (const auto& entry : entries) {
    if (auto name = plugin_name(entry.path().string()); !name.empty()) names.push_back(std::move(name));
  }
  std::ranges::sort(names);
  return names;
}

}  // namespace arrowdevice::backend

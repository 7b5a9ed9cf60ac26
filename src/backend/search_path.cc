// SPDX-License-Identifier: Apache-2.0
#include "backend/search_path.h"

#include <dirent.h>
#include <dlfcn.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <new>
#include <system_error>

#include "backend/plugin_file.h"
#include "base/environment.h"

namespace arrowdevice::backend {
namespace {

constexpr const char* kVariable = "ARROWDEVICE_BACKEND_PATH";

// Returns the folder beside the library, in any folder that the library was installed in or moved to.
std::string folder_beside_library() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(&search_folders), &info) == 0 || info.dli_fname == nullptr) return {};
  std::error_code error;
  const auto library = std::filesystem::canonical(info.dli_fname, error);
  if (error == std::errc::not_enough_memory) throw std::bad_alloc();  // not an error of the folder
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
  // std::filesystem is not used, because it ends the process if there is no memory for an entry.
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(opendir(folder.c_str()), closedir);
  if (entries == nullptr && errno == ENOMEM) throw std::bad_alloc();
  if (entries == nullptr) return names;
  while (const dirent* const entry = readdir(entries.get())) {
    if (auto name = plugin_name(entry->d_name); !name.empty()) names.push_back(std::move(name));
  }
  std::ranges::sort(names);
  return names;
}

}  // namespace arrowdevice::backend

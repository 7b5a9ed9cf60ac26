// SPDX-License-Identifier: Apache-2.0
#include "backend/registry.h"

#include <algorithm>
#include <cerrno>

#include "backend/device_types.h"
#include "backend/plugin_file.h"
#include "backend/search_path.h"
#include "base/environment.h"
#include "base/log.h"
#include "base/process.h"
#include "cpu/cpu_backend.h"

namespace arrowdevice::backend {
namespace {

std::string served_types(const Backend& backend) {
  std::string text = "serves";
  for (const auto type : backend.device_types()) text += " " + device_type_text(type);
  return text;
}

std::string file_in(const std::string& folder, const std::string& name) {
  return folder + "/libarrowdevice-" + name + ".so";
}

}  // namespace

Registry& Registry::instance() {
  static auto* const registry = [] {
    auto* const made = new Registry;
    process::keep_usable_across_fork(made->state_mutex_);
    return made;
  }();
  return *registry;
}

Registry::Registry() { add(&cpu_backend()); }

const Backend* Registry::loaded(ArrowDeviceType type) const {
  const std::lock_guard lock(state_mutex_);
  const auto found = std::ranges::find_if(backends_, [&](const auto& backend) { return backend->serves(type); });
  return found == backends_.end() ? nullptr : found->get();
}

void Registry::remember(Look look) {
  log(look.status == 0 ? LogLevel::kInfo : LogLevel::kDebug,
      (look.path.empty() ? look.name : look.path) + ": " + look.reason);
  const std::lock_guard lock(state_mutex_);
  const auto again = std::ranges::find_if(looks_, [&](const Look& before) {
    return !look.path.empty() && before.path == look.path && before.name == look.name;
  });
  if (again == looks_.end()) {
    looks_.push_back(std::move(look));
  } else if (again->status != 0) {
    *again = std::move(look);
  }
}

const Backend* Registry::keep(std::unique_ptr<Backend> backend, std::string reason) {
  {
    const std::lock_guard lock(state_mutex_);
    for (const auto& other : backends_) {
      if (other->name() == backend->name()) {
        throw Error(EEXIST, "a backend named " + backend->name() + " is there already" +
                                (other->path().empty() ? "" : ": " + other->path()));
      }
      for (const auto type : backend->device_types()) {
        if (other->serves(type)) {
          throw Error(EEXIST, device_type_text(type) + " is served by the backend " + other->name() + " already");
        }
      }
    }
    backends_.push_back(std::move(backend));
  }
  const Backend* kept = backends_.back().get();
  remember({0, kept->name(), kept->path(), std::move(reason)});
  return kept;
}

const Backend* Registry::add(const arrowdevice_backend* table) {
  const std::lock_guard loading(loading_mutex_);
  auto backend = std::make_unique<Backend>(table, std::string());
  for (const auto type : backend->device_types()) not_found_.erase(type);
  auto reason = served_types(*backend);
  return keep(std::move(backend), std::move(reason));
}

const Backend* Registry::load(const std::string& absolute_path) {
  if (!absolute_path.starts_with('/')) throw Error(EINVAL, "not an absolute path: " + absolute_path);
  const std::lock_guard loading(loading_mutex_);
  const auto name = plugin_name(absolute_path);
  try {
    auto backend = std::make_unique<Backend>(open_plugin(absolute_path), absolute_path);
    if (backend->name() != name) {
      throw Error(EINVAL, "the table is named " + backend->name() + ", the file is not libarrowdevice-" +
                              backend->name() + ".so");
    }
    tried_.insert(absolute_path);
    for (const auto type : backend->device_types()) not_found_.erase(type);
    auto reason = served_types(*backend);
    return keep(std::move(backend), std::move(reason));
  } catch (const Error& e) {
    remember({e.code(), name, absolute_path, e.message()});
    throw Error(e.code(), absolute_path + ": " + e.message(), name, e.native_code());
  }
}

// Needs loading_mutex_.
const Backend* Registry::try_plugin(const std::string& folder, const std::string& name) {
  const auto path = file_in(folder, name);
  if (tried_.contains(path)) return nullptr;
  const char* const opt_in = plugin_opt_in(name);
  if (opt_in != nullptr && !environment::text(opt_in)) {
    remember({ECANCELED, name, path, std::string("used on request only: set ") + opt_in});
    return nullptr;
  }
  tried_.insert(path);
  try {
    auto backend = std::make_unique<Backend>(open_plugin(path), path);
    if (backend->name() != name) throw Error(EINVAL, "the table in it is named " + backend->name());
    auto reason = served_types(*backend);
    return keep(std::move(backend), std::move(reason));
  } catch (const Error& e) {
    remember({e.code(), name, path, e.message()});
    if (e.code() == ENOENT) tried_.erase(path);  // may be installed later
    return nullptr;
  }
}

// Looks for one plugin in all folders, until it serves the type. Needs loading_mutex_.
void Registry::look_for(const std::string& name, ArrowDeviceType type) {
  for (const auto& folder : search_folders()) {
    if (!folder.refusal.empty()) {
      remember({EINVAL, name, folder.path, folder.refusal});
      continue;
    }
    const auto* backend = try_plugin(folder.path, name);
    if (backend != nullptr && backend->serves(type)) return;
  }
}

// Tries all plugins of all folders, until one serves the type. Needs loading_mutex_.
void Registry::scan(ArrowDeviceType type) {
  for (const auto& folder : search_folders()) {
    if (!folder.refusal.empty()) {
      remember({EINVAL, "", folder.path, folder.refusal});
      continue;
    }
    for (const auto& name : plugins_in(folder.path)) {
      const auto* backend = try_plugin(folder.path, name);
      if (backend != nullptr && backend->serves(type)) return;
    }
  }
}

const Backend* Registry::find(ArrowDeviceType type) {
  if (const auto* backend = loaded(type)) return backend;
  const std::lock_guard loading(loading_mutex_);
  if (const auto* backend = loaded(type)) return backend;
  if (not_found_.contains(type)) return nullptr;
  if (const auto* info = find_device_type(type)) look_for(info->plugin, type);
  if (loaded(type) == nullptr) scan(type);
  const auto* backend = loaded(type);
  if (backend == nullptr) not_found_.insert(type);
  return backend;
}

std::vector<const Backend*> Registry::load_all() {
  {
    constexpr ArrowDeviceType kNoType = 0;
    const std::lock_guard loading(loading_mutex_);
    for (const auto& folder : search_folders()) {
      if (folder.refusal.empty() && plugins_in(folder.path).empty()) {
        remember({ENOENT, "", folder.path, "no plugins there"});
      }
    }
    scan(kNoType);
  }
  const std::lock_guard lock(state_mutex_);
  std::vector<const Backend*> all;
  for (const auto& backend : backends_) all.push_back(backend.get());
  return all;
}

bool Registry::look(size_t index, Look* out) const {
  const std::lock_guard lock(state_mutex_);
  if (index >= looks_.size()) return false;
  *out = looks_[index];
  return true;
}

std::string Registry::refusals(ArrowDeviceType type) const {
  const auto* info = find_device_type(type);
  if (info == nullptr) return {};
  const std::lock_guard lock(state_mutex_);
  std::string text;
  for (const auto& look : looks_) {
    if (look.status == 0 || look.name != info->plugin) continue;
    text += (text.empty() ? "" : "; ") + look.path + ": " + look.reason;
  }
  return text;
}

}  // namespace arrowdevice::backend

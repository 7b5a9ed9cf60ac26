// SPDX-License-Identifier: Apache-2.0
#include "backend/registry.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "backend/device_types.h"
#include "backend/plugin_file.h"
#include "backend/search_path.h"
#include "base/environment.h"
#include "base/log.h"
#include "base/process.h"
#include "base/trace.h"
#include "cpu/cpu_backend.h"

namespace arrowdevice::backend {
namespace {

std::string served_types(const Backend& backend) {
  std::string text;
  for (const auto type : backend.device_types()) text += (text.empty() ? "" : " ") + device_type_text(type);
  return text;
}

std::string line_of(const Look& look) { return (look.path.empty() ? look.name : look.path) + ": " + look.reason; }

std::string file_in(const std::string& folder, const std::string& name) {
  return folder + "/libarrowdevice-" + name + ".so";
}

// Opens a plugin and reports it, also one that is refused.
std::unique_ptr<Backend> open_backend(const std::string& path) {
  trace::Span span("backend", "load backend");
  try {
    auto backend = std::make_unique<Backend>(open_plugin(path), path);
    span.end([&] { return trace::Facts().add("path", path).add("serves", served_types(*backend)); });
    return backend;
  } catch (const Error& error) {
    span.end([&] { return trace::Facts().add("path", path).add("error", error.message()); });
    throw;
  }
}

}  // namespace

Registry& Registry::instance() {
  static auto* const registry = [] {
    std::unique_ptr<Registry> made(new Registry);
    process::keep_usable_across_fork(made->mutex_);
    return made.release();
  }();
  return *registry;
}

Registry::Registry() { add(&cpu_backend()); }

const Backend* Registry::loaded(ArrowDeviceType type) const {
  const std::lock_guard lock(mutex_);
  return serving(type);
}

// Needs the lock.
const Backend* Registry::serving(ArrowDeviceType type) const {
  const auto found = std::ranges::find_if(backends_, [&](const auto& backend) { return backend->serves(type); });
  return found == backends_.end() ? nullptr : found->get();
}

void Registry::remember(Look look) {
  log(look.status == 0 ? LogLevel::kInfo : LogLevel::kDebug, line_of(look));
  const std::lock_guard lock(mutex_);
  add_report(std::move(look));
}

// Needs the lock.
void Registry::add_report(Look look) {
  const auto again = std::ranges::find_if(looks_, [&](const Look& before) {
    return !look.path.empty() && before.path == look.path && before.name == look.name;
  });
  if (again == looks_.end()) {
    looks_.push_back(std::move(look));
  } else if (again->status != 0) {
    *again = std::move(look);
  }
}

const Backend* Registry::keep(std::unique_ptr<Backend> backend) {
  Look look{0, backend->name(), backend->path(), "serves " + served_types(*backend)};
  const std::string line = line_of(look);
  const Backend* const kept = backend.get();
  {
    const std::lock_guard lock(mutex_);
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
    backends_.reserve(backends_.size() + 1);  // so that the backend and its report are both stored, or neither
    add_report(std::move(look));
    for (const auto type : backend->device_types()) not_found_.erase(type);
    backends_.push_back(std::move(backend));
  }
  log(LogLevel::kInfo, line);
  return kept;
}

const Backend* Registry::add(const arrowdevice_backend* table) {
  return keep(std::make_unique<Backend>(table, std::string()));
}

class Registry::Opening {
 public:
  // Waits while another thread opens the file. Throws Error(EBUSY) if this thread opens it already. Throws Error(EBUSY)
  // too if a thread of the parent process was opening it at the fork, because that never ends in the child.
  Opening(Registry& registry, const std::string& path) : registry_(registry) {
    std::unique_lock lock(registry.mutex_);
    file_ = &registry.files_[path];
    while (file_->opener.has_value()) {
      if (file_->opener->process != getpid()) throw Error(EBUSY, "it was being opened when this process was forked");
      if (file_->opener->thread == std::this_thread::get_id()) throw Error(EBUSY, "it asks for itself as it is opened");
      registry.changed_.wait(lock);
    }
    file_->opener = Opener{getpid(), std::this_thread::get_id()};
  }
  ~Opening() {
    const std::lock_guard lock(registry_.mutex_);
    file_->opener.reset();
    registry_.changed_.notify_all();
  }
  Opening(const Opening&) = delete;
  Opening& operator=(const Opening&) = delete;

  // Returns true if the file was opened before, or refused.
  bool is_tried() const {
    const std::lock_guard lock(registry_.mutex_);
    return file_->is_tried;
  }
  void set_tried() const noexcept {
    const std::lock_guard lock(registry_.mutex_);
    file_->is_tried = true;
  }

 private:
  Registry& registry_;
  File* file_;  // its address is stable
};

const Backend* Registry::load(const std::string& absolute_path) {
  if (!absolute_path.starts_with('/')) throw Error(EINVAL, "not an absolute path: " + absolute_path);
  const auto name = plugin_name(absolute_path);
  try {
    const Opening opening(*this, absolute_path);
    auto backend = open_backend(absolute_path);
    if (backend->name() != name) {
      throw Error(EINVAL, "the table is named " + backend->name() + ", the file is not libarrowdevice-" +
                              backend->name() + ".so");
    }
    const auto* const kept = keep(std::move(backend));
    opening.set_tried();
    return kept;
  } catch (const Error& e) {
    remember({e.code(), name, absolute_path, e.message()});
    throw Error(e.code(), absolute_path + ": " + e.message(), name, e.native_code());
  }
}

// Stores the backend, or the reason why it is refused, for other threads to find.
void Registry::try_plugin(const std::string& folder, const std::string& name) {
  const auto path = file_in(folder, name);
  try {
    const Opening opening(*this, path);
    if (opening.is_tried()) return;
    const char* const opt_in = plugin_opt_in(name);
    if (opt_in != nullptr && !environment::text(opt_in)) {
      return remember({ECANCELED, name, path, std::string("used on request only: set ") + opt_in});
    }
    try {
      auto backend = open_backend(path);
      if (backend->name() != name) throw Error(EINVAL, "the table in it is named " + backend->name());
      keep(std::move(backend));
    } catch (const Error& e) {
      if (e.code() == ENOMEM) throw;  // not an error of the plugin
      remember({e.code(), name, path, e.message()});
      if (e.code() == ENOENT) return;  // the file may be installed later
    }
    opening.set_tried();
  } catch (const Error& e) {
    if (e.code() != EBUSY) throw;
    remember({e.code(), name, path, e.message()});
  }
}

// Searches for a plugin in all folders, until the type is served.
void Registry::look_for(const std::string& name, ArrowDeviceType type) {
  for (const auto& folder : search_folders()) {
    if (!folder.refusal.empty()) {
      remember({EINVAL, name, folder.path, folder.refusal});
      continue;
    }
    try_plugin(folder.path, name);
    if (loaded(type) != nullptr) return;
  }
}

// Tries all plugins of all folders, until the type is served.
void Registry::scan(ArrowDeviceType type) {
  for (const auto& folder : search_folders()) {
    if (!folder.refusal.empty()) {
      remember({EINVAL, "", folder.path, folder.refusal});
      continue;
    }
    for (const auto& name : plugins_in(folder.path)) {
      try_plugin(folder.path, name);
      if (loaded(type) != nullptr) return;
    }
  }
}

const Backend* Registry::find(ArrowDeviceType type) {
  if (const auto* backend = loaded(type)) return backend;
  {
    const std::lock_guard lock(mutex_);
    if (not_found_.contains(type)) return nullptr;
  }
  if (const auto* info = find_device_type(type)) look_for(info->plugin, type);
  if (loaded(type) == nullptr) scan(type);
  const std::lock_guard lock(mutex_);
  const auto found = serving(type);
  // A plugin that another thread is opening may serve the type.
  const bool is_opening = std::ranges::any_of(files_, [](const auto& file) { return file.second.opener.has_value(); });
  if (found == nullptr && !is_opening) not_found_.insert(type);
  return found;
}

std::vector<const Backend*> Registry::load_all() {
  constexpr ArrowDeviceType kNoType = 0;
  for (const auto& folder : search_folders()) {
    if (folder.refusal.empty() && plugins_in(folder.path).empty()) {
      remember({ENOENT, "", folder.path, "no plugins there"});
    }
  }
  scan(kNoType);
  const std::lock_guard lock(mutex_);
  std::vector<const Backend*> all;
  for (const auto& backend : backends_) all.push_back(backend.get());
  return all;
}

bool Registry::look(size_t index, Look* out) const {
  const std::lock_guard lock(mutex_);
  if (index >= looks_.size()) return false;
  *out = looks_[index];
  return true;
}

std::string Registry::refusals(ArrowDeviceType type) const {
  const auto* info = find_device_type(type);
  if (info == nullptr) return {};
  const std::lock_guard lock(mutex_);
  std::string text;
  for (const auto& look : looks_) {
    if (look.status == 0 || look.name != info->plugin) continue;
    text += (text.empty() ? "" : "; ") + look.path + ": " + look.reason;
  }
  return text;
}

}  // namespace arrowdevice::backend

// SPDX-License-Identifier: Apache-2.0
// All backends of the process: found, loaded at first need, kept for ever.
#pragma once

#include <sys/types.h>

#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "backend/backend.h"

namespace arrowdevice::backend {

// One place looked at, and what came of it.
struct Look {
  int status;  // 0: loaded
  std::string name;
  std::string path;
  std::string reason;
};

class Registry {
 public:
  // Made at first use and never destroyed: arrays may outlive everything else.
  static Registry& instance();

  // The backend that serves a type, loaded if need be; NULL where there is none. A plugin whose entry blocks holds up
  // those that need it, and nobody else.
  const Backend* find(ArrowDeviceType type);

  // Every backend that can be found.
  std::vector<const Backend*> load_all();

  const Backend* load(const std::string& absolute_path);
  const Backend* add(const arrowdevice_backend* table);

  // The outcome of a look, in the order of looking; false past the last.
  bool look(size_t index, Look* out) const;

  // What was said when the backend of a type was looked for: for messages. Empty where nothing was.
  std::string refusals(ArrowDeviceType type) const;

 private:
  Registry();

  // The right to open one plugin file, which ends with it.
  class Opening;

  const Backend* loaded(ArrowDeviceType type) const;
  const Backend* serving(ArrowDeviceType type) const;
  const Backend* keep(std::unique_ptr<Backend> backend);
  void try_plugin(const std::string& folder, const std::string& name);
  void look_for(const std::string& name, ArrowDeviceType type);
  void scan(ArrowDeviceType type);
  void remember(Look look);
  void add_report(Look look);

  mutable std::mutex mutex_;  // guards all below; not held while a plugin is opened
  std::condition_variable changed_;
  std::vector<std::unique_ptr<Backend>> backends_;
  std::deque<Look> looks_;
  std::set<ArrowDeviceType> not_found_;
  // Who opens a plugin file: its entry may block, or call the library.
  struct Opener {
    pid_t process;
    std::thread::id thread;
  };
  struct File {
    std::optional<Opener> opener;
    bool is_tried = false;  // it was opened before, or refused
  };
  std::map<std::string, File> files_;  // plugins, by path
};

}  // namespace arrowdevice::backend

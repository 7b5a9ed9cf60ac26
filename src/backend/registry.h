// SPDX-License-Identifier: Apache-2.0
// All backends of the process. They are found and loaded when they are first needed, and never unloaded.
#pragma once

#include <sys/types.h>

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
#include "base/condition_variable.h"

namespace arrowdevice::backend {

// A location that was searched, and the result.
struct Look {
  int status;  // 0: loaded
  std::string name;
  std::string path;
  std::string reason;
};

class Registry {
 public:
  // Returns the instance, which is created at first use and never destroyed, because arrays may outlive all other
  // objects.
  static Registry& instance();

  // Returns the backend that serves a type, or NULL if there is none. Loads the backend if necessary. A plugin whose
  // entry blocks delays only the callers that need it.
  const Backend* find(ArrowDeviceType type);

  // Loads every backend that can be found.
  std::vector<const Backend*> load_all();

  const Backend* load(const std::string& absolute_path);
  const Backend* add(const arrowdevice_backend* table);

  // Returns the report with this index, in the order of the search. Returns false after the last.
  bool look(size_t index, Look* out) const;

  // Returns the reports of the search for a type's backend, for messages. Returns an empty text if there are none.
  std::string refusals(ArrowDeviceType type) const;

 private:
  Registry();

  // The right to open a plugin file, held as long as this object.
  class Opening;

  const Backend* loaded(ArrowDeviceType type) const;
  const Backend* serving(ArrowDeviceType type) const;
  const Backend* keep(std::unique_ptr<Backend> backend);
  void try_plugin(const std::string& folder, const std::string& name);
  void look_for(const std::string& name, ArrowDeviceType type);
  void scan(ArrowDeviceType type);
  void remember(Look look);
  void add_report(Look look);

  mutable std::mutex mutex_;  // guards all members below; not held while a plugin is opened
  ConditionVariable changed_;
  std::vector<std::unique_ptr<Backend>> backends_;
  std::deque<Look> looks_;
  std::set<ArrowDeviceType> not_found_;
  // The thread that opens a plugin file. The entry of the plugin may block or call the library.
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

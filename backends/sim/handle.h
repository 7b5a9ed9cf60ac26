// SPDX-License-Identifier: Apache-2.0
// Handles by which the program names the simulation's objects. They look like pointers to memory without access rights,
// so that no program reads behind them. A handle is never reused, so that a stale handle is recognized.
#pragma once

#include <cerrno>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "base/error.h"

namespace arrowdevice::sim {

void* new_handle();

// Returns true if the pointer is in the range of handles, used or not.
bool is_handle(const void* pointer);

// The live handles of one kind of object. Several handles may name one object. All functions are thread-safe.
template <typename T>
class Handles {
 public:
  explicit Handles(const char* noun) : noun_(noun) {}

  void* add(std::shared_ptr<T> object) {
    void* handle = new_handle();
    const std::lock_guard lock(mutex_);
    entries_.emplace(handle, Entry{handle, std::move(object)});
    return handle;
  }

  // Returns NULL if the handle is not live.
  std::shared_ptr<T> find(const void* handle) const {
    const std::lock_guard lock(mutex_);
    const auto entry = entries_.find(handle);
    return entry == entries_.end() ? nullptr : entry->second.object;
  }

  std::shared_ptr<T> get(const void* handle) const {
    auto object = find(handle);
    if (!object) refuse(handle);
    return object;
  }

  // Removes the handle. The object lives while other references exist.
  std::shared_ptr<T> take(const void* handle) {
    const std::lock_guard lock(mutex_);
    const auto entry = entries_.find(handle);
    if (entry == entries_.end()) refuse(handle);
    auto object = std::move(entry->second.object);
    entries_.erase(entry);
    return object;
  }

  // Returns the address of a pointer that holds the handle while the handle is live.
  void** cell(const void* handle) {
    const std::lock_guard lock(mutex_);
    const auto entry = entries_.find(handle);
    if (entry == entries_.end()) refuse(handle);
    return &entry->second.self;
  }

  // Returns all objects in the order in which they were added.
  std::vector<std::pair<void*, std::shared_ptr<T>>> all() const {
    const std::lock_guard lock(mutex_);
    std::vector<std::pair<void*, std::shared_ptr<T>>> objects;
    for (const auto& [handle, entry] : entries_) objects.emplace_back(entry.self, entry.object);
    return objects;
  }

 private:
  struct Entry {
    void* self;
    std::shared_ptr<T> object;
  };

  [[noreturn]] void refuse(const void* handle) const {
    throw Error(EINVAL, format("%p is not a live %s of the simulated backend", handle, noun_));
  }

  const char* const noun_;
  mutable std::mutex mutex_;
  std::map<const void*, Entry> entries_;
};

}  // namespace arrowdevice::sim

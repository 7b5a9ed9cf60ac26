// SPDX-License-Identifier: Apache-2.0
// Pipes that tell when no process uses an array of a handle any more. A handle has the write end of a pipe. Handles,
// messages and opened arrays have copies of that end. The kernel closes the copies of a process that ends. When the
// last copy is closed, no process uses the memory.
#pragma once

#include <atomic>
#include <cstdint>
#include <forward_list>
#include <map>
#include <memory>
#include <mutex>

#include "array/output.h"
#include "base/closed_in_children.h"
#include "base/file_descriptor.h"
#include "base/process.h"

namespace arrowdevice::link {

// Any thread may call this class.
class ReleasePipes {
 public:
  // Returns the instance, which is created at first use and never destroyed.
  static ReleasePipes& instance();

  // Opens a pipe, and keeps `owner` until all copies of its write end are closed. A thread of the library then destroys
  // the owner, or run() in manual mode. A forked child closes its copy of the write end, because it would otherwise
  // keep the memory in use. `number` shows the number of the write end. Throws EMFILE, ENFILE or ENOMEM.
  void open(std::shared_ptr<array::BufferOwner> owner, ClosedInChildren& write_end, int& number);

  // Destroys the owners of closed pipes, without waiting: at most `max`, or all if `max` is negative. Returns their
  // number. Returns 0 if the process has made no handle.
  static int64_t run(int64_t max) noexcept;

 private:
  struct Watched {
    std::shared_ptr<array::BufferOwner> owner;
    FileDescriptor read_end;  // closed before the memory is free
  };
  using Pipes = std::map<uint64_t, Watched>;  // by a number that is never reused

  void watch(FileDescriptor read_end, std::shared_ptr<array::BufferOwner> owner);
  void prepare();
  void run_thread() noexcept;
  int64_t destroy(int most, int timeout_ms) noexcept;
  Watched take(uint64_t pipe) noexcept;
  void forget_parent() noexcept;

  static inline std::atomic<ReleasePipes*> published_{nullptr};  // the instance

  std::mutex mutex_;  // guards all members below
  process::UsableAcrossFork usable_across_fork_{mutex_};
  FileDescriptor epoll_;
  uint64_t next_pipe_ = 0;
  Pipes pipes_;
  std::forward_list<Pipes> of_parents_;  // in a forked child; they stay reachable
  bool has_thread_ = false;
};

}  // namespace arrowdevice::link

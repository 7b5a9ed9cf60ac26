// SPDX-License-Identifier: Apache-2.0
// Sets user events when other events end. An OpenCL queue can wait only for events of its own context, and not for work
// of the CPU. User events carry both.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>

#include "opencl/handles.h"

namespace arrowdevice::opencl {

// All functions are thread-safe, except that a relay follows one source.
class Relay : public std::enable_shared_from_this<Relay> {
 public:
  // Gets the status of the source, and returns the status for the target. Both are CL_COMPLETE or negative. The
  // function must not throw. It may be called again if the driver refuses to set the target.
  using End = std::function<cl_int(cl_int)>;

  // Creates the target in `context`. The caller must call follow() or drop(). The relay holds `end` until the source
  // has ended, and some time longer if it failed. If that many queries of the source have failed, the target fails
  // without a call of `end`.
  static std::shared_ptr<Relay> create(cl_context context, int failed_queries, End end);

  Relay(Owned<cl_event> target, int failed_queries, End end)
      : target_(std::move(target)), end_(std::move(end)), queries_left_(failed_queries) {}

  cl_event target() const noexcept { return target_.get(); }

  // Sets the target when the source ends. Does not wait. If the function throws, the target is set nevertheless.
  void follow(Owned<cl_event> source);

  // Drops the relay. There is no source, and the target has no users.
  void drop() noexcept { is_done_.store(true, std::memory_order_release); }

 private:
  void finish(cl_int status) noexcept;
  void set_target(cl_int status) noexcept;
  bool look() noexcept;
  bool is_over() noexcept;

  Owned<cl_event> source_;  // set before is_following_
  const Owned<cl_event> target_;
  const End end_;
  std::atomic<bool> is_following_{false};
  std::atomic<bool> has_failed_{false};
  std::atomic_flag is_being_set_;  // stays set when the relay is done
  std::atomic<bool> is_done_{false};
  // only the watch uses these
  int queries_left_;
  std::optional<std::chrono::steady_clock::time_point> over_at_;
};

// Returns an event in `context` that fires or fails with `source`. Does not wait.
Owned<cl_event> relay(cl_event source, cl_context context);

}  // namespace arrowdevice::opencl

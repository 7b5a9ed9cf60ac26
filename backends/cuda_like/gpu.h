// SPDX-License-Identifier: Apache-2.0
// A GPU in its primary context or in a context of the application, and the fatal error if it is lost.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <vector>

#include "base/error.h"
#include "cuda_like/driver.h"
#include "cuda_like/lost_state.h"

namespace arrowdevice::cuda_like {

// Lives as long as the process. All functions are thread-safe.
class Gpu {
 public:
  // `wrapped` is an application's context, or NULL for the primary context.
  Gpu(Driver& driver, int ordinal, Context wrapped);

  Driver& driver() const noexcept { return driver_; }
  int ordinal() const noexcept { return ordinal_; }
  // Returns the context. Creates the primary context lazily, because this costs time and GPU memory and enumeration
  // does not need it.
  Context context();
  bool is_wrapped() const noexcept { return wrapped_ != nullptr; }
  const Properties& properties() const noexcept { return properties_; }
  // Returns a name for messages: "GPU 1".
  std::string text() const;

  bool is_lost() const noexcept { return lost_.is_lost(); }
  // Clears the fatal error when the application wraps a new context that has the same handle as a lost one.
  void forget_loss() noexcept;

  // Runs `body` while the GPU is current, and then restores the caller's state, also if `body` throws. Records a fatal
  // error, which every later call then throws.
  template <typename Body>
  auto use(Body&& body) {
    check_not_lost();
    try {
      const Current current(*this);
      return body(driver_);
    } catch (const Error& e) {
      remember(e);
      throw;
    }
  }

  // Runs `body`, which frees or destroys something, and never fails. Logs an error of the driver, unless the driver has
  // freed the object already. Tries a second time if the GPU cannot be made current, because `body` has not run yet.
  template <typename Body>
  void give_back(Body&& body) noexcept {
    bool is_current = false;
    for (int attempt = 0; attempt < 2 && !is_current && !is_lost(); ++attempt) {
      try {
        use([&](Driver& driver) {
          is_current = true;
          body(driver);
        });
      } catch (...) {
        if (is_current || attempt > 0) report_unreturned();
      }
    }
  }

  // Returns the stream that orders allocations and frees that name no queue. No other work is enqueued there, so the
  // stream never waits for long.
  Stream memory_stream();

  // Returns true if memory of this GPU comes from a pool that the library owns. A wrapped context has none: memory of a
  // pool belongs to a GPU and not to a context, so locate() could not find it again.
  bool has_pool() const noexcept { return !is_wrapped() && properties_.has_memory_pools; }

  // Returns the pool. Requires has_pool(). The GPU is current.
  MemoryPool pool();

  // Lets another GPU use the memory of the pool in place, and returns true if it can. The caller's GPU is current.
  // Returns false for now while another thread holds grants(), because a call of the driver may block there.
  bool shares_pool_with(const Gpu& user);

  // Returns true if another GPU may use the memory of the pool. The answer stays valid while the caller holds grants().
  bool has_shared_pool();
  std::shared_lock<std::shared_mutex> grants() { return std::shared_lock(grants_); }

  // Lets the context of this GPU, which is current, use another's memory in place, if the application asked for that.
  void enable_peer_access(Gpu& peer);

  // Returns an event to record. Until then, the driver may report an earlier recording.
  NativeEvent take_event();

  // Keeps the event for take_event(). It may be pending, because a wait for an event does not change when the event is
  // recorded again.
  void return_event(NativeEvent event) noexcept;

  // Gives back what the library keeps for reuse: events, and unused memory of the pool.
  void trim();

 private:
  // Lets the thread call the driver beside captures of streams, until the end of a scope.
  class Relaxed {
   public:
    explicit Relaxed(Driver& driver) noexcept : driver_(driver), former_(driver.relax_captures()) {}
    ~Relaxed() { driver_.restore_captures(former_); }
    Relaxed(const Relaxed&) = delete;
    Relaxed& operator=(const Relaxed&) = delete;

   private:
    Driver& driver_;
    const int former_;
  };

  // Makes the GPU current until the end of a scope.
  class Current {
   public:
    explicit Current(Gpu& gpu) : relaxed_(gpu.driver_), driver_(gpu.driver_), former_(enter(gpu)) {}
    ~Current() { driver_.leave(former_); }
    Current(const Current&) = delete;
    Current& operator=(const Current&) = delete;

   private:
    // An application may destroy its context. The context's work and memory are gone then.
    static int enter(Gpu& gpu) {
      try {
        return gpu.driver_.enter(gpu.ordinal_, gpu.context());
      } catch (const Error& e) {
        if (gpu.driver_.is_context_gone(e.native_code())) gpu.lost_.set(e);
        throw;
      }
    }

    const Relaxed relaxed_;
    Driver& driver_;
    const int former_;
  };

  void check_not_lost() const {
    if (is_lost()) lost_.fail(text());
  }
  void remember(const Error& error) noexcept {
    if (driver_.is_fatal(error.native_code())) lost_.set(error);
  }
  bool grant_pool(int user);
  bool keep(NativeEvent event) noexcept;
  void report_unreturned() const noexcept;

  Driver& driver_;
  const int ordinal_;
  const Context wrapped_;
  const Properties properties_;
  std::once_flag retained_;
  Context context_;

  LostState lost_;
  std::atomic<int64_t> contexts_{0};  // that the application wrapped after another with the same handle
  std::shared_mutex grants_;          // held while another GPU gets access to the pool; taken before `mutex_`
  std::mutex mutex_;                  // guards all members below
  Stream memory_stream_ = nullptr;
  MemoryPool pool_ = nullptr;                 // created at first use
  std::map<int, bool> pool_users_;            // the other GPUs that asked for the pool, and if they may use it
  std::map<const Gpu*, int64_t> accessible_;  // peers whose access the driver was asked for, with their `contexts_`
  std::vector<NativeEvent> free_events_;
};

}  // namespace arrowdevice::cuda_like

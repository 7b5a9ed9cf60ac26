// SPDX-License-Identifier: Apache-2.0
#include "transfer/host_copies.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "array/locate.h"
#include "array/owners.h"
#include "base/background.h"
#include "base/condition_variable.h"
#include "base/error.h"
#include "base/process.h"
#include "device/deferred.h"
#include "device/devices.h"
#include "device/event.h"
#include "schema/copy.h"

namespace arrowdevice::transfer {
namespace {

// The longest time that a thread waits for one array before it checks the others again.
constexpr int64_t kLongestWaitNs = 1'000'000;
// The time that a thread waits for the next copy.
constexpr auto kIdleTime = std::chrono::milliseconds(200);

// A copy that has not begun, with everything that it needs.
class HostCopy {
 public:
  HostCopy(device::Device& source, void* sync_event, const ArrowSchema& schema, const CopyOptions& options,
           HostCopyDone done, void* user)
      : use_(source), options_(options), done_(done), user_(user) {
    schema::copy(schema, &schema_);
    if (auto event = device::ForeignEvent(source, sync_event).take()) events_.push_back(std::move(event));
    if (options.queue != nullptr) events_.push_back(options.queue->record());
    options_.queue = nullptr;
  }
  ~HostCopy() {
    if (schema_.release != nullptr) schema_.release(&schema_);
  }
  HostCopy(const HostCopy&) = delete;
  HostCopy& operator=(const HostCopy&) = delete;

  void take(ArrowDeviceArray& moved) noexcept {
    source_->array = moved;
    moved.array.release = nullptr;
  }

  // Returns true if the copy need not wait for an event any more.
  bool is_due() const noexcept {
    return failure_ != nullptr || options_.deadline.left() < 0 || pending_event() == nullptr;
  }

  // Waits for an event of a copy that is not due. If the wait fails, so does the copy, which is due then.
  void wait() noexcept {
    const auto* const event = pending_event();
    const int64_t left = options_.deadline.left();
    if (event == nullptr || left < 0) return;
    try {
      event->wait_idly(left == ARROWDEVICE_NO_TIMEOUT ? kLongestWaitNs : std::min(left, kLongestWaitNs));
    } catch (...) {
      failure_ = std::current_exception();
    }
  }

  // Calls the program, which may call the library again.
  void run() noexcept {
    arrowdevice_error error{};
    ArrowArray out{};
    const int code = guarded(&error, [&] {
      if (failure_ != nullptr) std::rethrow_exception(failure_);
      for (const auto& event : events_) wait_for(*event);
      to_host(source_->array, schema_, options_, &out);
    });
    done_(user_, code == 0 ? &out : nullptr, code == 0 ? nullptr : &source_->array, code == 0 ? nullptr : &error);
    if (out.release != nullptr) out.release(&out);
  }

 private:
  const device::Event* pending_event() const noexcept {
    const auto found = std::ranges::find_if(events_, [](const auto& event) { return !event->has_ended(); });
    return found == events_.end() ? nullptr : found->get();
  }

  void wait_for(const device::Event& event) const {
    if (!event.wait(options_.deadline.left())) throw Error(ETIMEDOUT, "the array is not ready in time");
  }

  const device::OutsideWork counted_;
  const device::DeviceUse use_;
  CopyOptions options_;
  const HostCopyDone done_;
  void* const user_;
  ArrowSchema schema_{};
  std::vector<std::shared_ptr<device::Event>> events_;
  std::exception_ptr failure_;  // of a wait
  std::unique_ptr<array::OwnedArray> source_ = std::make_unique<array::OwnedArray>();
};

// The copies of all devices. A device has a thread while it has copies, so that no device waits for another.
class HostCopies {
 public:
  static HostCopies& instance() {
    static std::atomic<HostCopies*> published{nullptr};
    static auto* const created = [] {
      auto made = std::make_unique<HostCopies>();
      process::keep_usable_across_fork(made->mutex_);
      process::run_in_children([] {
        if (auto* const copies = published.load()) copies->forget_parent();
      });
      published = made.get();
      return made.release();
    }();
    return *created;
  }

  // Takes ownership of `moved` unless it throws. `copy` has one element.
  void add(const device::Device& source, std::list<HostCopy> copy, ArrowDeviceArray& moved) {
    const std::lock_guard lock(mutex_);
    const auto [added, is_new] = added_.try_emplace(&source);
    if (is_new) start_thread(added);
    copy.front().take(moved);
    added->second.splice(added->second.end(), copy);
    changed_.notify_all();
  }

 private:
  using Added = std::map<const device::Device*, std::list<HostCopy>>;

  // Needs the mutex.
  void start_thread(Added::iterator of_device) {
    try {
      background::start([this, device = of_device->first] { run_thread(device); });
    } catch (...) {
      added_.erase(of_device);
      throw;
    }
  }

  // A forked child has none of the threads, and does not finish copies of its parent.
  void forget_parent() noexcept {
    new (&changed_) ConditionVariable();  // the old one has waiters that do not exist
    for (auto& [source, copies] : added_) abandoned_.splice(abandoned_.end(), copies);
    added_.clear();
  }

  void run_thread(const device::Device* source) noexcept {
    std::list<HostCopy> copies;
    while (take_added(source, copies)) {
      const background::DriverCallGuard busy;
      if (!busy.is_allowed()) return abandon(copies);
      const auto due = std::ranges::find_if(copies, [](const HostCopy& copy) { return copy.is_due(); });
      if (due == copies.end()) {
        copies.front().wait();
      } else {
        // The end of a copy may release its array, which calls the program too.
        const device::CompletingWork here;
        due->run();
        copies.erase(due);
      }
    }
  }

  // Takes what was added. Waits for it if the thread has no copies. Returns false if nothing has come.
  bool take_added(const device::Device* source, std::list<HostCopy>& copies) noexcept {
    std::unique_lock lock(mutex_);
    const auto added = added_.find(source);
    const auto has_copies = [&] { return !added->second.empty() || !copies.empty(); };
    if (!changed_.wait_for(lock, kIdleTime, has_copies)) {
      added_.erase(added);
      return false;
    }
    copies.splice(copies.end(), added->second);
    return true;
  }

  // After `exit` has begun, the library calls no driver.
  void abandon(std::list<HostCopy>& copies) noexcept {
    const std::lock_guard lock(mutex_);
    abandoned_.splice(abandoned_.end(), copies);
  }

  std::mutex mutex_;  // guards all members below
  ConditionVariable changed_;
  Added added_;
  std::list<HostCopy> abandoned_;
};

}  // namespace

void to_host_async(ArrowDeviceArray& moved, const ArrowSchema& schema, const CopyOptions& options, HostCopyDone done,
                   void* user) {
  array::check_alive(&moved);
  auto& source = array::device_of(moved, options.source);
  source.check_usable();
  CopyOptions known = options;
  known.source = &source;
  check_queue_and_pool(known, source.type(), device::Devices::instance().cpu());
  std::list<HostCopy> copy;
  copy.emplace_back(source, moved.sync_event, schema, known, done, user);
  HostCopies::instance().add(source, std::move(copy), moved);
}

}  // namespace arrowdevice::transfer

// SPDX-License-Identifier: Apache-2.0
#include "link/release_pipes.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "base/background.h"
#include "base/error.h"
#include "base/log.h"
#include "device/deferred.h"

namespace arrowdevice::link {
namespace {

constexpr int kEventsAtOnce = 64;
constexpr int kWithoutLimit = -1;
constexpr int kSmallestPipe = 4096;  // bytes; the kernel limits the memory of all pipes of a user

[[noreturn]] void refuse(const char* what) {
  const int code = errno;
  throw Error(code, std::string(what) + " for a handle: " + std::strerror(code));
}

struct Pipe {
  Pipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) refuse("no pipe");
    read_end = FileDescriptor(ends[0]);
    write_end = FileDescriptor(ends[1]);
    // A pipe of the usual size works too.
    [[maybe_unused]] const int size = fcntl(ends[0], F_SETPIPE_SZ, kSmallestPipe);
  }

  FileDescriptor read_end, write_end;
};

}  // namespace

ReleasePipes& ReleasePipes::instance() {
  static auto* const created = [] {
    auto made = std::make_unique<ReleasePipes>();
    process::run_in_children([] {
      if (auto* const pipes = published_.load()) pipes->forget_parent();
    });
    published_ = made.get();
    return made.release();
  }();
  return *created;
}

void ReleasePipes::open(std::shared_ptr<array::BufferOwner> owner, ClosedInChildren& write_end, int& number) {
  prepare();
  FileDescriptor read_end;
  const auto open_pipe = [&] {
    Pipe pipe;
    read_end = std::move(pipe.read_end);
    return std::move(pipe.write_end);
  };
  write_end.open(open_pipe, &number);
  const auto kept = owner;  // destroyed without the lock if the pipe cannot be watched
  const std::lock_guard lock(mutex_);
  watch(std::move(read_end), std::move(owner));
}

// Needs the lock. The end of the last writer is always reported. It is reported once, although a child without the
// handlers of `fork` may have the read end too.
void ReleasePipes::watch(FileDescriptor read_end, std::shared_ptr<array::BufferOwner> owner) {
  const uint64_t pipe = next_pipe_++;
  const int number = read_end.get();
  const auto added = pipes_.emplace(pipe, Watched{std::move(owner), std::move(read_end)}).first;
  epoll_event event{};
  event.events = EPOLLONESHOT;
  event.data.u64 = pipe;
  if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, number, &event) == 0) return;
  const int code = errno;
  pipes_.erase(added);
  errno = code;
  refuse("epoll_ctl");
}

// Starts the thread, without the lock, if there is none yet.
void ReleasePipes::prepare() {
  const bool is_manual = device::DeferredWork::instance().fix_mode();
  {
    const std::lock_guard lock(mutex_);
    if (!epoll_) epoll_ = FileDescriptor(epoll_create1(EPOLL_CLOEXEC));
    if (!epoll_) refuse("no epoll descriptor");
    if (is_manual || std::exchange(has_thread_, true)) return;
  }
  try {
    background::start([this] { run_thread(); });
  } catch (...) {
    const std::lock_guard lock(mutex_);
    has_thread_ = false;  // the next handle tries again
    throw;
  }
}

void ReleasePipes::run_thread() noexcept {
  while (destroy(kEventsAtOnce, kWithoutLimit) >= 0) {
  }
}

int64_t ReleasePipes::run(int64_t max) noexcept {
  auto* const pipes = published_.load();
  if (pipes == nullptr) return 0;
  int64_t done = 0;
  for (;;) {
    const int64_t left = max < 0 ? kEventsAtOnce : std::min<int64_t>(max - done, kEventsAtOnce);
    const int64_t n = left > 0 ? pipes->destroy(static_cast<int>(left), 0) : 0;
    if (n <= 0) return done;
    done += n;
  }
}

// Waits for closed pipes and destroys their owners. Returns their number, or -1 if no later call can do more.
int64_t ReleasePipes::destroy(int most, int timeout_ms) noexcept {
  int epoll = -1;
  {
    const std::lock_guard lock(mutex_);
    epoll = epoll_.get();
  }
  if (epoll < 0) return 0;
  epoll_event events[kEventsAtOnce];
  const int n = epoll_wait(epoll, events, most, timeout_ms);
  if (n < 0 && errno != EINTR) {  // a program that closes all descriptors closes this one too
    log(LogLevel::kError,
        std::string("arrays of handles are not released any more: epoll_wait: ") + std::strerror(errno));
    return -1;
  }
  if (n <= 0) return 0;
  const background::DriverCallGuard busy;
  if (!busy.is_allowed()) return -1;
  const device::CompletingWork completing;
  int64_t destroyed = 0;
  for (int i = 0; i < n; ++i) destroyed += take(events[i].data.u64).owner != nullptr;
  return destroyed;
}

// Returns nothing if another thread has taken the pipe. A closed descriptor is not watched any more.
ReleasePipes::Watched ReleasePipes::take(uint64_t pipe) noexcept {
  const std::lock_guard lock(mutex_);
  const auto found = pipes_.find(pipe);
  if (found == pipes_.end()) return {};
  Watched watched = std::move(found->second);
  pipes_.erase(found);
  return watched;
}

// A child has none of the threads, and its epoll descriptor would be the parent's. The memory belongs to the parent.
void ReleasePipes::forget_parent() noexcept {
  for (auto& pipe : pipes_) pipe.second.read_end.reset();
  epoll_.reset();
  has_thread_ = false;
  if (pipes_.empty()) return;
  try {
    of_parents_.emplace_front().swap(pipes_);
  } catch (const std::bad_alloc&) {
    new (&pipes_) Pipes();  // in a child without memory, the rest of the list is not reachable
  }
}

}  // namespace arrowdevice::link

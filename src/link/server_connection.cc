// SPDX-License-Identifier: Apache-2.0
#include "link/server_connection.h"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <span>
#include <string>
#include <thread>
#include <utility>

#include "array/owners.h"
#include "base/background.h"
#include "base/log.h"
#include "device/deferred.h"
#include "device/devices.h"
#include "link/shareable_array.h"
#include "schema/build.h"

namespace arrowdevice::link {
namespace {

constexpr int64_t kHandshakeNs = 10'000'000'000;
constexpr uint64_t kMostAhead = 4;            // batches are held back if the client has that many others
constexpr size_t kMostHeldBytes = 16 * 1024;  // of descriptions
constexpr size_t kMostHeldDescriptors = 128;
constexpr int kLongestWaitMs = 100;
constexpr auto kSendAgain = std::chrono::milliseconds(10);

constexpr const char* kStopped = "the server was stopped";

bool nothing_to_send() noexcept { return false; }

// Destroys owners of arrays, unless no driver may be called any more.
template <typename Owners>
void destroy(Owners owners) noexcept {
  if (owners.empty()) return;
  const background::DriverCallGuard busy;
  if (!busy.is_allowed()) return device::DeferredWork::abandon_object(std::move(owners));
  const device::CompletingWork completing;
  owners.clear();
}

Frame expect(std::optional<Frame> frame, FrameKind kind) {
  if (!frame) throw Error(ECONNRESET, "the client has ended the connection");
  if (frame->kind != kind) {
    throw Error(EINVAL, "the client sent a frame of kind " + std::to_string(static_cast<uint32_t>(frame->kind)) +
                            " (expected " + std::to_string(static_cast<uint32_t>(kind)) + ")");
  }
  return std::move(*frame);
}

}  // namespace

void Connection::start() {
  background::start([self = shared_from_this()] { self->run(); });
}

void Connection::refuse(const Failure& failure) noexcept {
  if (socket_) send_last(FrameKind::kError, &failure, true);
  close();
}

void Connection::stop() noexcept {
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
    changed_.notify_all();
    if (phase_ == Phase::kHandshake) ::shutdown(socket_.get(), SHUT_RD);
    if (!is_producing_) return;
    ++n_cancelling_;
  }
  stream::cancel(*upstream_);  // ends the wait of a stream of the library; any other is waited for
  const std::lock_guard lock(mutex_);
  --n_cancelling_;
  changed_.notify_all();
}

void Connection::release_producer() noexcept {
  const background::DriverCallGuard busy;
  if (!busy.is_allowed()) return device::DeferredWork::abandon_object(shared_from_this());
  upstream_.release();
  batches_.reset();
  source_.reset();
}

// Releases what the client uses, because the client has ended.
void Connection::release_used() noexcept {
  decltype(used_) used;
  {
    const std::lock_guard lock(mutex_);
    used.swap(used_);
  }
  destroy(std::move(used));
  destroy_released();  // a wrong update may have left some
}

void Connection::work(Duty duty) noexcept {
  while (duty != Duty::kNone) duty = duty == Duty::kReceive ? receive() : produce();
}

// -- the handshake ---------------------------------------------------------------------------------------------------

void Connection::run() noexcept {
  is_counted_ = server_->begin_calls();
  try {
    if (!is_counted_) throw Error(ECANCELED, kStopped);
    begin();
  } catch (...) {
    const auto failure = Failure::current();
    {
      const std::lock_guard lock(mutex_);
      phase_ = Phase::kRefused;
      changed_.notify_all();
    }
    if (source_ != nullptr) source_->put_back(*upstream_);
    fail(failure);
    end_receiving();
    return;
  }
  work(Duty::kSend);
}

// The second thread starts during the handshake, so that the first batch does not wait for it.
void Connection::begin_second() noexcept {
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return phase_ != Phase::kHandshake; });
    if (phase_ == Phase::kRefused) return;
  }
  work(Duty::kReceive);
}

// Agrees with the client on the stream, and starts the second thread. The calling thread then sends, and the second one
// receives.
void Connection::begin() {
  if (trust_ == Trust::kSameUser) check_same_user(socket_.get(), "the client");
  const auto from_client = [this](FrameKind kind) {
    return expect(receiver_.receive(socket_.get(), Deadline(kHandshakeNs), nothing_to_send), kind);
  };
  open_stream(read_hello(from_client(FrameKind::kHello)));
  background::start([self = shared_from_this()] { self->begin_second(); });
  const auto start = read_start(from_client(FrameKind::kStart));
  if (upstream_->device_type != ARROW_DEVICE_CPU && (start.on_cpu != 0 || !is_openable())) {
    log(LogLevel::kDebug, is_openable() ? "a client gets copies on the CPU: it wants them there, or has no such device"
                                        : "a client gets copies on the CPU: it cannot open memory of the device");
    batches_->copy_to_cpu(upstream_);
  }
  source_.reset();
  const std::lock_guard lock(mutex_);
  if (is_stopping_) throw Error(ECANCELED, kStopped);
  window_ = start;
  is_producing_ = true;
  has_sending_thread_ = true;
  is_counted_ = false;  // produce() counts from now on
  phase_ = Phase::kStream;
  changed_.notify_all();
}

void Connection::open_stream(const Hello& hello) {
  const auto& options = server_->options;
  auto copying = options.copy;
  copying.never = copying.never || hello.never_copies;
  // Memory that a client has seen is not used for data of another user.
  const bool is_isolated = options.is_isolated || (trust_ == Trust::kAnyUser && !is_same_user(socket_.get()));
  source_ = server_->find(hello.name);
  ArrowDeviceArrayStream opened{};
  source_->open(&opened);
  upstream_.take(opened);
  begin_producing();
  ArrowSchema schema{};
  try {
    stream::get_schema(*upstream_, &schema);
  } catch (...) {
    end_producing();
    throw;
  }
  end_producing();
  schema::UniqueSchema type(schema);
  auto type_message = write_type(type.get());
  batches_.emplace(std::move(type), copying, is_isolated, options.max_client_bytes);
  if (!is_openable()) batches_->check_copying(upstream_->device_type);
  const auto body =
      write(StreamFacts{is_openable() ? upstream_->device_type : ARROW_DEVICE_CPU, std::move(type_message)});
  {
    const std::lock_guard lock(mutex_);
    sender_.add(FrameKind::kStream, body);
  }
  flush_fully();
}

// A library's stream can be cancelled from now on. Throws ECANCELED if the connection is to end.
void Connection::begin_producing() {
  const std::lock_guard lock(mutex_);
  if (is_stopping_) throw Error(ECANCELED, kStopped);
  is_producing_ = true;
}

// Waits for threads that cancel the stream.
void Connection::end_producing() noexcept {
  std::unique_lock lock(mutex_);
  is_producing_ = false;
  changed_.wait(lock, [this] { return n_cancelling_ == 0; });
}

// Returns true if clients can open memory of the stream's devices.
bool Connection::is_openable() { return device::Devices::instance().has_shareable_memory(upstream_->device_type); }

// -- the thread that receives ----------------------------------------------------------------------------------------

Connection::Duty Connection::receive() noexcept {
  destroy_released();
  try {
    const Deadline unlimited(ARROWDEVICE_NO_TIMEOUT);
    const auto flush = [this] { return !flush_some(); };
    while (auto frame = receiver_.receive(socket_.get(), unlimited, flush)) {
      switch (frame->kind) {
        case FrameKind::kUpdate:
          if (takes_over(read_update(*frame))) return Duty::kSend;
          destroy_released();
          break;
        case FrameKind::kCancel: stop(); break;
        default: throw Error(EINVAL, "the client sent an unknown frame");
      }
    }
    close();
  } catch (...) {
    fail(Failure::current());
  }
  end_receiving();
  return Duty::kNone;
}

// Tells the client what has failed, and ends the connection.
void Connection::fail(const Failure& failure) noexcept {
  bool is_stopped = false;
  {
    const std::lock_guard lock(mutex_);
    is_stopped = is_stopping_;
  }
  refuse(is_stopped ? Failure(ECANCELED, kStopped) : failure);
}

void Connection::end_receiving() noexcept {
  release_used();
  server_->leave(shared_from_this());  // a producer that waits does not keep the place of the client
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !has_sending_thread_ && n_cancelling_ == 0; });
  }
  release_used();
  release_producer();
  if (is_counted_) server_->end_calls();
}

// Notes what the client has taken and released. Returns true if the sending thread waits for room and there is some:
// this thread then sends. The released batches are destroyed by the thread that receives next.
bool Connection::takes_over(const Update& update) {
  const std::lock_guard lock(mutex_);
  if (update.n_taken < n_taken_ || update.n_taken > n_sent_) throw Error(EINVAL, "the client took unknown batches");
  for (; n_taken_ < update.n_taken; ++n_taken_) {
    untaken_bytes_ -= sizes_.front();
    sizes_.pop_front();
  }
  for (const uint64_t number : update.released) {
    const auto found = used_.find(number);
    if (found == used_.end()) throw Error(EINVAL, "the client released an unknown batch");
    released_.push_back(std::move(found->second));
    used_.erase(found);
  }
  // The client waits for the batches that were held back.
  if (n_taken_ + n_held_ == n_sent_) n_held_ = 0;
  if (n_waiting_ == 0 || !has_room()) return false;
  needs_receiver_ = true;
  changed_.notify_all();
  return true;
}

void Connection::destroy_released() noexcept {
  decltype(released_) released;  // destroyed without the lock
  {
    const std::lock_guard lock(mutex_);
    released.swap(released_);
  }
  destroy(std::move(released));
}

// Sends what is not held back, without waiting. Returns false if the socket takes no more.
bool Connection::flush_some() noexcept {
  const std::lock_guard lock(mutex_);
  if (n_held_ > 0) return true;
  return sender_.send(socket_.get()) != 0 || sender_.empty();
}

// Wakes both threads. The client notices the end of the connection.
void Connection::close() noexcept {
  stop();
  ::shutdown(socket_.get(), SHUT_RDWR);
}

// -- the thread that sends -------------------------------------------------------------------------------------------

Connection::Duty Connection::produce() noexcept {
  Failure failure(ECANCELED, kStopped);
  try {
    for (;;) {
      const auto duty = wait_for_room();
      if (duty == Duty::kReceive) return duty;
      if (duty == Duty::kNone) break;
      array::OwnedArray batch;
      stream::get_next(*upstream_, &batch.array);
      if (batch.array.array.release == nullptr) {
        failure = {};
        break;
      }
      const background::DriverCallGuard busy;
      if (!busy.is_allowed()) break;
      send_batch(batch.array);
    }
  } catch (...) {
    failure = Failure::current();
  }
  if (!failure) {
    send_last(FrameKind::kEnd, nullptr, false);
  } else {
    send_last(FrameKind::kError, &failure, false);
  }
  end_producing();
  release_producer();
  server_->end_calls();
  const std::lock_guard lock(mutex_);
  has_sending_thread_ = false;
  changed_.notify_all();
  return Duty::kNone;
}

// Needs the mutex.
bool Connection::has_room() const noexcept {
  return n_sent_ == n_taken_ ||
         (n_sent_ - n_taken_ < static_cast<uint64_t>(window_.batches) && untaken_bytes_ < window_.bytes);
}

// Waits until the client has room for a batch. Returns kSend if there is room, kReceive if the other thread sends in
// place of this one, and kNone if the stream is over. If the other thread waits here too, because it has sent before
// this one woke, either of them receives.
Connection::Duty Connection::wait_for_room() {
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      if (is_stopping_) return Duty::kNone;
      if (has_room()) return Duty::kSend;
      if (sender_.empty()) {
        ++n_waiting_;
        changed_.wait(lock, [this] { return is_stopping_ || needs_receiver_; });
        --n_waiting_;
        return std::exchange(needs_receiver_, false) ? Duty::kReceive : Duty::kNone;
      }
    }
    flush_fully();
  }
}

void Connection::send_batch(ArrowDeviceArray& array) {
  auto batch = batches_->make(array);
  server_->count_batch(batch.bytes);
  server_->count_copied(batch.copied_bytes);
  bool is_held = false;
  {
    const std::lock_guard lock(mutex_);
    if (!batch.forgotten.empty()) {
      const auto* const first = reinterpret_cast<const uint8_t*>(batch.forgotten.data());
      sender_.add(FrameKind::kForget, std::span(first, batch.forgotten.size() * sizeof(int64_t)));
    }
    // Others are already on their way to the client, which may wait for them.
    const bool must_flush = n_held_ == 0 && !sender_.empty();
    used_.emplace(n_sent_, std::move(batch.owner));
    sizes_.push_back(batch.bytes);
    untaken_bytes_ += batch.bytes;
    sender_.add(FrameKind::kBatch, batch.message, std::move(batch.descriptors));
    ++n_sent_;
    ++n_held_;
    is_held = !must_flush && n_sent_ - n_taken_ > kMostAhead && sender_.size() < kMostHeldBytes &&
              sender_.n_descriptors() < kMostHeldDescriptors;
    if (!is_held) n_held_ = 0;
  }
  if (!is_held) flush_fully();
}

// Sends everything. Waits as long as the socket takes no more.
void Connection::flush_fully() {
  for (;;) {
    int code = 0;
    {
      const std::lock_guard lock(mutex_);
      n_held_ = 0;
      code = sender_.send(socket_.get());
      if (code != 0 && code != ETOOMANYREFS) {
        throw Error(code, std::string("the client has ended the connection: ") + std::strerror(code));
      }
      if (sender_.empty()) return;
      // A client that does not read would hold up the end of the server.
      if (is_stopping_) throw Error(ECANCELED, kStopped);
    }
    // The user has too many descriptors on their way to processes that do not read. The socket itself has room.
    if (code == ETOOMANYREFS) {
      std::this_thread::sleep_for(kSendAgain);
      continue;
    }
    pollfd waited{socket_.get(), POLLOUT, 0};
    if (::poll(&waited, 1, kLongestWaitMs) < 0 && errno != EINTR) {
      throw Error(errno, std::string("poll: ") + std::strerror(errno));
    }
  }
}

// Sends the last frame of the stream, if the connection still exists. If `stops` is true, does not wait for a client
// that does not read.
void Connection::send_last(FrameKind kind, const Failure* failure, bool stops) noexcept {
  try {
    const auto body = failure != nullptr ? write(*failure) : std::vector<uint8_t>();
    {
      const std::lock_guard lock(mutex_);
      sender_.add(kind, body);
      is_stopping_ = is_stopping_ || stops;
    }
    flush_fully();
  } catch (...) {
    const auto why = Failure::current();
    if (why.text() != nullptr) log(LogLevel::kDebug, why.text());
  }
  ::shutdown(socket_.get(), SHUT_WR);  // the client sees the end, and may still release arrays
}

}  // namespace arrowdevice::link

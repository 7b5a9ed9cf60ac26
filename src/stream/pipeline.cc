// SPDX-License-Identifier: Apache-2.0
#include "stream/pipeline.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <string>

#include "array/locate.h"
#include "base/background.h"
#include "base/error.h"
#include "base/interrupt.h"
#include "base/process.h"
#include "device/deferred.h"
#include "schema/copy.h"
#include "stream/device_stream.h"
#include "transfer/move.h"

namespace arrowdevice::stream {
namespace {

MoveOptions with_queue(MoveOptions options) {
  options.copy.queue = options.queue.get();
  options.copy.async = true;
  return options;
}

}  // namespace

Pipeline::Pipeline(device::Device& to, const MoveOptions& options)
    : to_(to),
      use_(to),
      queue_use_(options.queue != nullptr ? std::make_optional<device::DeviceUse>(options.queue->device())
                                          : std::nullopt),
      options_(with_queue(options)),
      process_(getpid()) {}

Pipeline::~Pipeline() {
  if (schema_.release != nullptr) schema_.release(&schema_);
}

// Returns true in a forked child that lacks the stream's threads. Locks that these threads held stay locked there.
bool Pipeline::lacks_threads() const noexcept { return (has_reader_ || has_mover_) && getpid() != process_; }

void Pipeline::check_threads() const {
  if (lacks_threads()) throw Error(ENODEV, "the stream was begun before this process was forked");
}

void Pipeline::schema(ArrowSchema* out) {
  check_threads();
  {
    Lock lock(mutex_);
    if (!has_schema_ && options_.reads_ahead) {
      start_reading_ahead();
      const Deadline deadline(options_.timeout_ns);
      const auto is_over = [&] { return has_schema_ || schema_failure_ || is_cancelled_; };
      if (!interrupt::wait(changed_, lock, deadline, is_over))
        throw Error(ETIMEDOUT, "the schema has not come in time");
      if (schema_failure_) schema_failure_.raise();
      if (!has_schema_) throw Error(ECANCELED, "the stream was cancelled");
    } else if (!has_schema_) {
      lock.unlock();
      load_schema();
    }
  }
  schema::copy(schema_, out);
}

// Loads the schema. The reading thread calls this.
void Pipeline::load_schema() {
  if (tree_.has_value()) return;
  get_schema(*upstream_, &schema_);
  try {
    metadata_ = copy_metadata(metadata_of(*upstream_, ARROWDEVICE_METADATA_STREAM));
    tree_.emplace(schema_);
  } catch (...) {
    if (schema_.release != nullptr) schema_.release(&schema_);
    schema_ = {};
    throw;
  }
  const Lock lock(mutex_);
  has_schema_ = true;
  changed_.notify_all();
}

bool Pipeline::next(ArrowDeviceArray* out, Metadata& metadata) {
  check_threads();
  Deadline deadline(options_.timeout_ns);
  Batches dropped;  // released after the unlock
  Lock lock(mutex_);
  if (options_.reads_ahead) start_reading_ahead();
  for (;;) {
    while (!has_reader_ && may_read() && (batches_.empty() || deadline.left() >= 0)) {
      read(lock, Reader::kConsumer, deadline);
    }
    if (is_cancelled_) throw Error(ECANCELED, "the stream was cancelled");
    if (batches_.empty() && reading_failure_) reading_failure_.raise();
    if (batches_.empty() && has_ended_) {
      metadata = std::move(end_metadata_);
      return false;
    }
    if (!batches_.empty() && batches_.front()->state == Batch::State::kSettled) break;
    const auto has_result = [&] {
      if (is_cancelled_) return true;
      return batches_.empty() ? has_ended_ || reading_failure_ : batches_.front()->state == Batch::State::kSettled;
    };
    if (!interrupt::wait(changed_, lock, deadline, has_result)) throw Error(ETIMEDOUT, "no array has come in time");
  }
  const auto batch = std::move(batches_.front());
  batches_.pop_front();
  if (batch->failure) {
    has_ended_ = true;
    dropped.swap(batches_);
  }
  changed_.notify_all();
  lock.unlock();
  metadata = std::move(batch->metadata);
  if (batch->failure) batch->failure.raise();
  *out = batch->array;
  batch->array.array.release = nullptr;
  return true;
}

// Needs the lock.
bool Pipeline::may_read() const noexcept {
  return !has_ended_ && !is_reading_ && !is_cancelled_ && !is_closed_ &&
         batches_.size() < static_cast<size_t>(options_.depth);
}

// Reads a batch, moves it if the move only submits, and stores it for the consumer. The lock is not held meanwhile. The
// time of the producer's call does not count.
void Pipeline::read(Lock& lock, Reader reader, Deadline& deadline) {
  Batches place;  // allocated before the read, so that the batch can be stored
  place.push_back(std::make_shared<Batch>());
  const auto& batch = place.front();
  is_reading_ = true;
  const bool has_mover = has_mover_;
  lock.unlock();
  const int64_t left = deadline.left();
  pull(*batch);
  deadline = Deadline(left);
  std::optional<background::DriverCallGuard> busy;
  if (reader == Reader::kThread) busy.emplace();
  const bool is_allowed = !busy.has_value() || busy->is_allowed();
  const bool is_end = !batch->failure && batch->array.array.release == nullptr;
  bool needs_mover = false;
  if (!is_end && !batch->failure && is_allowed) {
    needs_mover = has_mover || occupies_thread(*batch);
    if (!needs_mover) move(*batch, deadline);
  }
  if (!needs_mover) batch->state = Batch::State::kSettled;
  lock.lock();
  is_reading_ = false;
  if (is_closed_) {
    lock.unlock();
    if (is_allowed) {
      place.clear();
      upstream_.release();
    }
    lock.lock();
    return;
  }
  if (is_end || batch->failure) has_ended_ = true;
  if (is_end) end_metadata_ = std::move(batch->metadata);
  if (!is_end) batches_.splice(batches_.end(), place);
  if (needs_mover) hand_to_mover(*batch);
  changed_.notify_all();
}

// Reads a batch from the producer. Stores a failure in the batch.
void Pipeline::pull(Batch& batch) {
  try {
    load_schema();
    get_next(*upstream_, &batch.array);
    batch.metadata = copy_metadata(metadata_of(*upstream_, ARROWDEVICE_METADATA_ITEM));
    if (batch.array.array.release == nullptr) return;
    const int64_t number = batches_read_++;
    try {
      array::check_accessible(batch.array, upstream_->device_type);
    } catch (const Error& e) {
      throw Error(e.code(), "array " + std::to_string(number) + " of the stream: " + e.message());
    }
  } catch (...) {
    batch.failure = Failure::current();
    const bool is_producers = batch.array.array.release == nullptr;  // the failure is the producer's
    batch.metadata.reset();
    if (is_producers) batch.metadata = copy_error_metadata(metadata_of(*upstream_, ARROWDEVICE_METADATA_ITEM));
    if (tree_.has_value()) return;
    const Lock lock(mutex_);
    schema_failure_ = batch.failure;
    changed_.notify_all();
  }
}

// Returns true if the move of the batch blocks its thread. Leaves errors to move(), which reports them.
bool Pipeline::occupies_thread(const Batch& batch) {
  try {
    return transfer::move_blocks(batch.array, to_, options_.copy);
  } catch (...) {
    return false;
  }
}

void Pipeline::move(Batch& batch, const Deadline& deadline) noexcept {
  try {
    ArrowDeviceArray moved{};
    auto options = options_.copy;
    options.deadline = deadline;
    options.holder = device::Holder::kStreams;
    transfer::to_device(batch.array, *tree_, to_, options, &moved);
    batch.array = moved;
  } catch (...) {
    batch.failure = Failure::current();
    batch.metadata.reset();  // metadata of the array, not of the failure
  }
}

// Needs the lock. If no second thread can start, the batch fails, and the stream ends with the batch.
void Pipeline::hand_to_mover(Batch& batch) {
  if (has_mover_) return;
  try {
    background::start([pipeline = shared_from_this()] { pipeline->move_batches(); });
    has_mover_ = true;
  } catch (...) {
    batch.failure = Failure::current();
    batch.state = Batch::State::kSettled;
  }
}

// Needs the lock.
void Pipeline::start_reading_ahead() {
  if (has_reader_ || has_ended_) return;
  background::start([pipeline = shared_from_this()] { pipeline->read_ahead(); });
  has_reader_ = true;
}

void Pipeline::read_ahead() noexcept {
  Lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return may_read() || has_ended_ || is_cancelled_ || is_closed_; });
    if (!may_read()) return;
    try {
      Deadline deadline(options_.timeout_ns);
      read(lock, Reader::kThread, deadline);
    } catch (...) {  // no memory for the batch
      reading_failure_ = Failure::current();
      if (!has_schema_) schema_failure_ = reading_failure_;  // a caller that asks for the schema waits for either
      has_ended_ = true;
      changed_.notify_all();
    }
  }
}

std::shared_ptr<Pipeline::Batch> Pipeline::find_unmoved() const {
  const auto found =
      std::ranges::find_if(batches_, [](const auto& batch) { return batch->state == Batch::State::kRead; });
  return found != batches_.end() ? *found : nullptr;
}

void Pipeline::move_batches() noexcept {
  // The release of this batch may call a producer that waits for a lock of its own, such as Python's. A thread that
  // holds that lock may wait for mutex_, so the batch is never released under mutex_.
  std::shared_ptr<Batch> batch;
  Lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] {
      batch = find_unmoved();
      return batch != nullptr || is_closed_ || is_cancelled_ || (has_ended_ && !is_reading_);
    });
    if (batch == nullptr || is_closed_ || is_cancelled_) return;
    batch->state = Batch::State::kMoving;
    is_moving_ = true;
    lock.unlock();
    {
      const background::DriverCallGuard busy;
      if (!busy.is_allowed()) return;
      move(*batch, Deadline(options_.timeout_ns));
    }
    lock.lock();
    batch->state = Batch::State::kSettled;
    if (batch->failure) has_ended_ = true;
    changed_.notify_all();
    lock.unlock();
    batch.reset();
    lock.lock();
    is_moving_ = false;
    if (counts_as_work_) device::DeferredWork::instance().end_outside();
    counts_as_work_ = false;
  }
}

void Pipeline::cancel() noexcept {
  if (lacks_threads()) return;
  {
    const Lock lock(mutex_);
    if (is_cancelled_ || is_closed_) return;
    is_cancelled_ = true;
    changed_.notify_all();
  }
  if (upstream_->release != nullptr) stream::cancel(*upstream_);
}

// Abandons the pipeline without any call. A global list keeps it reachable for leak checkers.
void Pipeline::forget() noexcept {
  static std::atomic<Pipeline*> forgotten{nullptr};
  keep_alive_ = shared_from_this();
  forgotten_before_ = forgotten.exchange(this);
}

void Pipeline::close() noexcept {
  if (lacks_threads() || process::is_forked_child()) return forget();
  Batches dropped;  // released after the unlock
  bool is_reading;
  {
    const Lock lock(mutex_);
    is_closed_ = true;
    is_reading = is_reading_;
    counts_as_work_ = is_moving_;
    if (counts_as_work_) device::DeferredWork::instance().begin_outside();
    dropped.swap(batches_);
    changed_.notify_all();
  }
  if (!is_reading) upstream_.release();
}

}  // namespace arrowdevice::stream

// SPDX-License-Identifier: Apache-2.0
// The path of batches from a producer's stream to another device: read, move, return. Several batches are in the
// pipeline at once, so that the producer, the link and the consumer work at the same time.
//
//   producer --read--> [ batch | batch | ... at most `depth` ] --next--> consumer
//                         moved while they wait here
//
// The consumer's thread reads, unless a thread of the stream reads ahead. The thread that has read a batch also moves
// it if the move only submits. Moves that occupy their thread (staged copies, targets without events) run on a second
// thread of the stream. The first such batch starts that thread.
#pragma once

#include <arrowdevice/abi.h>

#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>

#include "base/condition_variable.h"
#include "base/error.h"
#include "device/device.h"
#include "schema/tree.h"
#include "stream/device_stream.h"
#include "stream/to_device.h"
#include "stream/upstream.h"

namespace arrowdevice::stream {

// The returned stream and the threads hold references. close() comes last, from the stream's release.
class Pipeline : public std::enable_shared_from_this<Pipeline> {
 public:
  Pipeline(device::Device& to, const MoveOptions& options);
  ~Pipeline();
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  void take(ArrowDeviceArrayStream& moved) noexcept { upstream_.take(moved); }

  void schema(ArrowSchema* out);
  // Returns the producer's metadata, after schema() has returned.
  const char* metadata() const noexcept { return encoded(metadata_); }
  bool next(ArrowDeviceArray* out, Metadata& metadata);
  void cancel() noexcept;

  // Ends reading, and releases the waiting batches. A thread that is inside the producer releases the stream when the
  // call returns.
  void close() noexcept;

 private:
  using Lock = std::unique_lock<std::mutex>;

  struct Batch {
    enum class State { kRead, kMoving, kSettled };

    ~Batch() {
      if (array.array.release != nullptr) array.array.release(&array.array);
    }

    ArrowDeviceArray array{};
    Metadata metadata;
    Failure failure;
    State state = State::kRead;
  };
  using Batches = std::list<std::shared_ptr<Batch>>;  // an empty list needs no memory

  enum class Reader { kConsumer, kThread };

  bool lacks_threads() const noexcept;
  void check_threads() const;
  void start_reading_ahead();
  bool may_read() const noexcept;
  void read(Lock& lock, Reader reader, Deadline& deadline);
  void pull(Batch& batch);
  void load_schema();
  void forget() noexcept;
  void move(Batch& batch, const Deadline& deadline) noexcept;
  bool occupies_thread(const Batch& batch);
  void hand_to_mover(Batch& batch);
  void read_ahead() noexcept;
  void move_batches() noexcept;
  std::shared_ptr<Batch> find_unmoved() const;

  device::Device& to_;
  const device::DeviceUse use_;
  const std::optional<device::DeviceUse> queue_use_;  // outlives the queue in the options
  const MoveOptions options_;
  const int process_;  // a forked child does not have the threads

  // Belongs to the reading thread. Other threads do not use it while is_reading_ is true.
  Upstream<ArrowDeviceArrayStream> upstream_;
  int64_t batches_read_ = 0;

  // The reading thread writes them once, before it sets has_schema_.
  ArrowSchema schema_{};
  std::optional<schema::Tree> tree_;
  Metadata metadata_;

  std::mutex mutex_;  // guards all members below
  ConditionVariable changed_;
  Batches batches_;
  Failure schema_failure_;   // failure of a thread that reads ahead
  Failure reading_failure_;  // the same, if there was no memory for a batch
  Metadata end_metadata_;
  bool has_schema_ = false;
  bool is_reading_ = false;
  std::atomic<bool> has_reader_{false};  // a thread reads; a forked child reads this without the lock
  std::atomic<bool> has_mover_{false};   // a thread moves; a forked child reads this without the lock
  bool has_ended_ = false;               // the producer has no more arrays
  bool is_cancelled_ = false;
  bool is_closed_ = false;
  bool is_moving_ = false;       // the mover is at work
  bool counts_as_work_ = false;  // since close(), because the program may wait for the end of the move
  // For an abandoned pipeline: its own reference, and the pipeline that was abandoned before it.
  std::shared_ptr<Pipeline> keep_alive_;
  Pipeline* forgotten_before_ = nullptr;
};

}  // namespace arrowdevice::stream

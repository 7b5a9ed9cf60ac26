// SPDX-License-Identifier: Apache-2.0
// The way of batches from a producer's stream to another device: read, moved, handed out. Several are on the way at
// once, so that the producer, the link and the consumer work at the same time.
//
//   producer --read--> [ batch | batch | ... at most `depth` ] --next--> consumer
//                         moved while they wait here
//
// Who does what: the consumer's thread reads, unless a thread of the stream reads ahead. Moves that only submit are
// made by whoever has read the batch; those that occupy their thread (staged copies, targets without events) by a
// second thread of the stream, started with the first such batch.
#pragma once

#include <arrowdevice/abi.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>

#include "base/error.h"
#include "device/device.h"
#include "schema/tree.h"
#include "stream/to_device.h"
#include "stream/upstream.h"

namespace arrowdevice::stream {

// Held by the stream that is handed out and by the threads. close() comes last, from the stream's release.
class Pipeline : public std::enable_shared_from_this<Pipeline> {
 public:
  Pipeline(device::Device& to, const MoveOptions& options);
  ~Pipeline();
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  void take(ArrowDeviceArrayStream& moved) noexcept { upstream_.take(moved); }

  void schema(ArrowSchema* out);
  bool next(ArrowDeviceArray* out);
  void cancel() noexcept;

  // Nothing is read any more, what waits here is released. A thread that is inside the producer releases that when it
  // comes back.
  void close() noexcept;

 private:
  using Lock = std::unique_lock<std::mutex>;

  struct Batch {
    enum class State { kRead, kMoving, kSettled };

    ~Batch() {
      if (array.array.release != nullptr) array.array.release(&array.array);
    }

    ArrowDeviceArray array{};
    Failure failure;
    State state = State::kRead;
  };
  using Batches = std::list<std::shared_ptr<Batch>>;  // an empty one needs no memory

  enum class Reader { kConsumer, kThread };

  bool lacks_threads() const noexcept;
  void check_threads() const;
  void start_reading_ahead();
  bool may_read() const noexcept;
  void read(Lock& lock, Reader reader);
  void pull(Batch& batch);
  void load_schema();
  void forget() noexcept;
  void move(Batch& batch) noexcept;
  bool occupies_thread(const Batch& batch);
  void hand_to_mover(Batch& batch);
  void read_ahead() noexcept;
  void move_batches() noexcept;
  std::shared_ptr<Batch> find_unmoved() const;

  device::Device& to_;
  const device::DeviceUse use_;
  const std::optional<device::DeviceUse> queue_use_;  // outlives the queue, which is among the options
  const MoveOptions options_;
  const int process_;  // threads are not in a child

  // Of whoever reads: nobody else looks while is_reading_.
  Upstream<ArrowDeviceArrayStream> upstream_;
  int64_t batches_read_ = 0;

  // Written once by whoever reads, before has_schema_.
  ArrowSchema schema_{};
  std::optional<schema::Tree> tree_;

  std::mutex mutex_;  // guards all below
  std::condition_variable changed_;
  Batches batches_;
  Failure schema_failure_;   // of a thread that reads ahead
  Failure reading_failure_;  // the same, where not even a batch could be made of it
  bool has_schema_ = false;
  bool is_reading_ = false;
  std::atomic<bool> has_reader_{false};  // a thread reads; asked without the lock in a child
  std::atomic<bool> has_mover_{false};   // a thread moves; the same
  bool has_ended_ = false;               // nothing more to read
  bool is_cancelled_ = false;
  bool is_closed_ = false;
  // Once it is forgotten: what keeps it, and the one that was forgotten before it.
  std::shared_ptr<Pipeline> keep_alive_;
  Pipeline* forgotten_before_ = nullptr;
};

}  // namespace arrowdevice::stream

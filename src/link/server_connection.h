// SPDX-License-Identifier: Apache-2.0
// A server's end of a connection. One thread receives from the client. Another thread calls the producer and sends its
// batches, so that a producer that waits does not keep the arrays that the client has released. If the sending thread
// waits for room and the client reports some, the threads change places. The batch does not wait until the other thread
// is awake. A wait for the client stays awake for a moment, if the last answer was quick (FrameReceiver).
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "array/output.h"
#include "base/closed_in_children.h"
#include "base/condition_variable.h"
#include "base/error.h"
#include "link/client_batches.h"
#include "link/frames.h"
#include "link/server.h"
#include "stream/upstream.h"

namespace arrowdevice::link {

// The server's knowledge of the process at the other end.
enum class Trust {
  kSameUser,    // a process of another user is refused
  kAnyUser,     // a process of another user gets copies in memory of its own
  kOwnChannel,  // the program made the connection
};

class Connection final : public std::enable_shared_from_this<Connection> {
 public:
  Connection(std::shared_ptr<ServerState> server, Trust trust) : server_(std::move(server)), trust_(trust) {}

  // Sets the socket. `open` returns a new descriptor, or none with `errno` set.
  template <typename Open>
  bool open(const Open& open) {
    socket_.open(open);
    return static_cast<bool>(socket_);
  }

  // Starts the first thread.
  void start();

  // Refuses the client.
  void refuse(const Failure& failure) noexcept;

  // Ends the stream. The client keeps its arrays. Does not wait.
  void stop() noexcept;

 private:
  // The work that a thread does next.
  enum class Duty { kReceive, kSend, kNone };

  enum class Phase { kHandshake, kStream, kRefused };

  void run() noexcept;
  void begin();
  void begin_second() noexcept;
  void work(Duty duty) noexcept;
  Duty receive() noexcept;
  void fail(const Failure& failure) noexcept;
  void end_receiving() noexcept;
  void open_stream(const Hello& hello);
  void begin_producing();
  void end_producing() noexcept;
  bool is_openable();
  void release_producer() noexcept;
  void release_used() noexcept;
  void destroy_released() noexcept;
  bool takes_over(const Update& update);
  void close() noexcept;

  Duty produce() noexcept;
  bool has_room() const noexcept;
  Duty wait_for_room();
  void send_batch(ArrowDeviceArray& array);
  void flush_fully();
  bool flush_some() noexcept;
  void send_last(FrameKind kind, const Failure* failure, bool stops) noexcept;

  const std::shared_ptr<ServerState> server_;
  const Trust trust_;
  ClosedInChildren socket_;
  // The thread that receives uses it, and the first one during the handshake.
  FrameReceiver receiver_{FrameReceiver::From::kClient};
  bool is_counted_ = false;  // among the threads that call the program

  std::shared_ptr<Source> source_;  // until the end of the handshake

  // The thread that sends uses these. The first thread uses them during the handshake.
  stream::Upstream<ArrowDeviceArrayStream> upstream_;
  std::optional<ClientBatches> batches_;

  std::mutex mutex_;  // guards all members below
  ConditionVariable changed_;
  FrameSender sender_;
  Start window_;
  uint64_t n_sent_ = 0;
  uint64_t n_held_ = 0;  // of n_sent_; they wait in sender_
  uint64_t n_taken_ = 0;
  int64_t untaken_bytes_ = 0;
  std::deque<int64_t> sizes_;                                               // of the batches that were not taken
  std::unordered_map<uint64_t, std::shared_ptr<array::BufferOwner>> used_;  // by the client
  std::vector<std::shared_ptr<array::BufferOwner>> released_;               // by the client, not destroyed yet
  bool is_stopping_ = false;
  Phase phase_ = Phase::kHandshake;
  bool is_producing_ = false;  // the stream may be cancelled
  int n_cancelling_ = 0;       // threads that cancel it
  bool has_sending_thread_ = false;
  int n_waiting_ = 0;            // threads in wait_for_room()
  bool needs_receiver_ = false;  // no thread receives, because that one sends now
};

}  // namespace arrowdevice::link

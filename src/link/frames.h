// SPDX-License-Identifier: Apache-2.0
// Frames that the two ends of a connection send to each other, over a stream socket. Descriptors travel beside them.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/deadline.h"
#include "base/error.h"
#include "base/file_descriptor.h"

namespace arrowdevice::link {

enum class FrameKind : uint32_t {
  // From the client.
  kHello = 1,
  kStart = 2,
  kUpdate = 3,
  kCancel = 4,
  // From the server.
  kStream = 16,
  kBatch = 17,
  kForget = 18,
  kEnd = 19,
  kError = 20,
};

struct Frame {
  FrameKind kind{};
  std::vector<uint8_t> body;
  std::vector<FileDescriptor> descriptors;
};

// Frames that are to be sent. Not thread-safe.
class FrameSender {
 public:
  void add(FrameKind kind, std::span<const uint8_t> body, std::vector<FileDescriptor> descriptors = {});

  bool empty() const noexcept { return bytes_.empty(); }
  size_t size() const noexcept { return bytes_.size(); }
  size_t n_descriptors() const noexcept { return descriptors_.size(); }

  // Sends what the socket takes now. The rest stays for a later call. Returns an errno value if the connection has
  // ended, and ETOOMANYREFS if the user has too many descriptors on their way.
  int send(int socket) noexcept;

 private:
  std::vector<uint8_t> bytes_;
  size_t sent_ = 0;
  std::vector<FileDescriptor> descriptors_;  // they go with the next byte
};

// Frames that arrive. Not thread-safe.
class FrameReceiver {
 public:
  // From the client come small frames without descriptors. Any other frame is refused.
  enum class From { kServer, kClient };

  explicit FrameReceiver(From from) : from_(from) {}

  // Returns the next frame, or nullopt if the other end has closed the connection. Calls `before_wait` before each
  // wait, which returns true if the thread has more to send when the socket takes more. Throws ETIMEDOUT, EINVAL for
  // bytes that are no frames, and EMFILE if descriptors were lost.
  template <typename BeforeWait>
  std::optional<Frame> receive(int socket, const Deadline& deadline, const BeforeWait& before_wait) {
    for (bool is_late = false;;) {
      if (auto frame = take()) return frame;
      if (is_late) refuse_late();
      Read what = read(socket);
      if (what == Read::kNothing) what = wait(socket, deadline, before_wait());
      if (what == Read::kEnd) return std::nullopt;
      is_late = what == Read::kBytes && deadline.left() < 0;
    }
  }

  // Returns true if a whole frame is here.
  bool has_frame() const noexcept;

 private:
  enum class Read { kBytes, kEnd, kNothing };

  std::optional<Frame> take();
  Read read(int socket);
  Read wait(int socket, const Deadline& deadline, bool may_send);
  static void sleep(int socket, const Deadline& deadline, bool may_send);
  [[noreturn]] static void refuse_late();

  const From from_;
  std::vector<uint8_t> bytes_;
  size_t first_ = 0;  // of the bytes that were not taken
  size_t end_ = 0;    // of the bytes that were read
  std::deque<FileDescriptor> descriptors_;
  std::chrono::nanoseconds last_wait_{0};
  int sleeps_ = 0;  // waits that do not stay awake
};

// -- bodies of frames ------------------------------------------------------------------------------------------------

struct Hello {
  bool never_copies = false;  // the stream fails if a copy is necessary
  std::string name;           // of the stream; empty if the client names none
};

struct StreamFacts {
  int32_t device_type = 0;
  std::vector<uint8_t> type;  // a schema message
};

struct Start {
  int64_t batches = 0;  // limit of those that the consumer has not taken yet
  int64_t bytes = 0;    // limit of their bytes; one batch is always sent
  uint32_t on_cpu = 0;  // 1: the server copies the arrays to the CPU
  uint32_t reserved = 0;
};

struct Update {
  uint64_t n_taken = 0;            // batches that the consumer took, in all
  std::vector<uint64_t> released;  // numbers of batches that are not used any more
};

std::vector<uint8_t> write(const Hello& hello);
std::vector<uint8_t> write(const StreamFacts& facts);
std::vector<uint8_t> write(const Start& start);
std::vector<uint8_t> write(const Update& update);
std::vector<uint8_t> write(const Failure& failure);

// Each throws EINVAL for a body of another form.
Hello read_hello(const Frame& frame);
StreamFacts read_stream(const Frame& frame);
Start read_start(const Frame& frame);
Update read_update(const Frame& frame);
Error read_error(const Frame& frame);

}  // namespace arrowdevice::link

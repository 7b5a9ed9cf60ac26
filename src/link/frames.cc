// SPDX-License-Identifier: Apache-2.0
#include "link/frames.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <iterator>
#include <utility>

#include "base/checked.h"
#include "base/interrupt.h"
#include "link/parts.h"

namespace arrowdevice::link {
namespace {

constexpr char kMagic[8] = {'A', 'R', 'R', 'O', 'W', 'L', 'N', 'K'};
constexpr uint32_t kVersion = 1;
constexpr size_t kMostDescriptorsAtOnce = 253;  // the kernel's SCM_MAX_FD
constexpr size_t kMostDescriptorsWaiting = 2 * kMostDescriptorsAtOnce;
constexpr size_t kLargestFrame = size_t{256} << 20;
constexpr size_t kLargestOfClient = size_t{1} << 20;
constexpr int64_t kLongestWaitNs = 1'000'000'000;
constexpr size_t kReadSize = 64 * 1024;
constexpr std::chrono::microseconds kAwake(50);         // before a thread sleeps
constexpr std::chrono::microseconds kQuickAnswer(100);  // with the time until a thread is awake
constexpr int kSleepsAfterFailure = 63;                 // waits

struct Header {
  uint32_t kind;
  uint32_t size;  // of the body
  uint32_t n_descriptors;
  uint32_t reserved;
};
static_assert(sizeof(Header) == 16);

struct HelloPart {
  char magic[sizeof kMagic];
  uint32_t version;
  uint32_t flags;
};
struct StreamPart {
  int32_t device_type;
  uint32_t reserved;
};
struct ErrorPart {
  int32_t code;
  int32_t native_code;
  char backend[sizeof arrowdevice_error::backend];
};
static_assert(std::is_trivially_copyable_v<Start> && sizeof(Start) == 24);
constexpr uint32_t kNeverCopies = 1;

using Control = char[CMSG_SPACE(kMostDescriptorsAtOnce * sizeof(int))];

// Returns the number of bytes that were sent, or -1 with `errno` set.
ssize_t send_once(int socket, std::span<const uint8_t> bytes, std::span<const FileDescriptor> descriptors) {
  iovec vector{const_cast<uint8_t*>(bytes.data()), bytes.size()};
  msghdr message{};
  message.msg_iov = &vector;
  message.msg_iovlen = 1;
  alignas(cmsghdr) Control control;
  if (!descriptors.empty()) {
    message.msg_control = control;
    message.msg_controllen = CMSG_SPACE(descriptors.size() * sizeof(int));
    std::memset(control, 0, message.msg_controllen);
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(descriptors.size() * sizeof(int));
    auto* place = CMSG_DATA(header);
    for (const auto& descriptor : descriptors) {
      const int number = descriptor.get();
      std::memcpy(place, &number, sizeof number);
      place += sizeof number;
    }
  }
  return ::sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
}

void check_left(const PartReader& reader) {
  if (!reader.left().empty()) refuse_size("a frame is longer than its content");
}

template <typename Part>
Part take_one(PartReader& reader) {
  return reader.take<Part>(1, "parts of that kind").front();
}

PartReader reader_of(const Frame& frame) { return PartReader(frame.body, "a frame of the other process"); }

std::vector<uint8_t> rest_of(const PartReader& reader) {
  return std::vector<uint8_t>(reader.left().begin(), reader.left().end());
}

}  // namespace

void FrameSender::add(FrameKind kind, std::span<const uint8_t> body, std::vector<FileDescriptor> descriptors) {
  if (body.size() > kLargestFrame) {
    throw Error(E2BIG, "a batch is described by " + std::to_string(body.size()) + " bytes (at most " +
                           std::to_string(kLargestFrame) + ")");
  }
  const Header header{static_cast<uint32_t>(kind), static_cast<uint32_t>(body.size()),
                      static_cast<uint32_t>(descriptors.size()), 0};
  bytes_.reserve(bytes_.size() + sizeof header + body.size());
  descriptors_.reserve(descriptors_.size() + descriptors.size());
  const auto* const first = reinterpret_cast<const uint8_t*>(&header);
  bytes_.insert(bytes_.end(), first, first + sizeof header);
  bytes_.insert(bytes_.end(), body.begin(), body.end());
  std::move(descriptors.begin(), descriptors.end(), std::back_inserter(descriptors_));
}

int FrameSender::send(int socket) noexcept {
  while (sent_ < bytes_.size()) {
    const size_t n_descriptors = std::min(descriptors_.size(), kMostDescriptorsAtOnce);
    // More descriptors follow with the rest of the bytes, of which there must be some.
    const size_t most = n_descriptors < descriptors_.size() ? 1 : bytes_.size() - sent_;
    const ssize_t n =
        send_once(socket, std::span(bytes_).subspan(sent_, most), std::span(descriptors_).first(n_descriptors));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return 0;
    if (n < 0) return errno;
    descriptors_.erase(descriptors_.begin(), descriptors_.begin() + static_cast<ptrdiff_t>(n_descriptors));
    sent_ += static_cast<size_t>(n);
  }
  bytes_.clear();
  sent_ = 0;
  return 0;
}

bool FrameReceiver::has_frame() const noexcept {
  Header header{};
  if (end_ - first_ < sizeof header) return false;
  std::memcpy(&header, bytes_.data() + first_, sizeof header);
  return end_ - first_ - sizeof header >= header.size;
}

std::optional<Frame> FrameReceiver::take() {
  Header header{};
  if (end_ - first_ < sizeof header) return std::nullopt;
  std::memcpy(&header, bytes_.data() + first_, sizeof header);
  const size_t largest = from_ == From::kClient ? kLargestOfClient : kLargestFrame;
  if (header.size > largest) {
    throw Error(EINVAL, "the other process sends a frame of " + std::to_string(header.size) + " bytes (at most " +
                            std::to_string(largest) + ")");
  }
  if (end_ - first_ - sizeof header < header.size) return std::nullopt;
  if (header.n_descriptors > descriptors_.size()) {
    throw Error(EINVAL, "a frame of the other process lacks descriptors: it has " +
                            std::to_string(descriptors_.size()) + " of " + std::to_string(header.n_descriptors));
  }
  Frame frame;
  frame.kind = static_cast<FrameKind>(header.kind);
  const auto* const body = bytes_.data() + first_ + sizeof header;
  frame.body.assign(body, body + header.size);
  for (uint32_t i = 0; i < header.n_descriptors; ++i) {
    frame.descriptors.push_back(std::move(descriptors_.front()));
    descriptors_.pop_front();
  }
  first_ += sizeof header + header.size;
  if (first_ == end_) first_ = end_ = 0;
  return frame;
}

// The buffer grows with the bytes that have arrived, not with those that a header announces.
FrameReceiver::Read FrameReceiver::read(int socket) {
  if (first_ > 0) {
    std::memmove(bytes_.data(), bytes_.data() + first_, end_ - first_);
    end_ -= first_;
    first_ = 0;
  }
  if (bytes_.size() - end_ < kReadSize / 2) bytes_.resize(std::max(kReadSize, 2 * bytes_.size()));
  iovec vector{bytes_.data() + end_, bytes_.size() - end_};
  msghdr message{};
  message.msg_iov = &vector;
  message.msg_iovlen = 1;
  alignas(cmsghdr) Control control;
  if (from_ == From::kServer) {
    message.msg_control = control;
    message.msg_controllen = sizeof control;
  }
  ssize_t n = 0;
  do {
    n = ::recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  } while (n < 0 && errno == EINTR);
  if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return Read::kNothing;
  if (n < 0 && errno == ECONNRESET) return Read::kEnd;
  if (n < 0) throw Error(errno, std::string("recvmsg: ") + std::strerror(errno));
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr; header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    const size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; ++i) {
      int number = -1;
      std::memcpy(&number, CMSG_DATA(header) + i * sizeof number, sizeof number);
      descriptors_.emplace_back(number);
    }
  }
  if ((message.msg_flags & MSG_CTRUNC) != 0) {
    if (from_ == From::kClient) throw Error(EINVAL, "the client sends descriptors");
    throw Error(EMFILE, "descriptors of the other process were lost: this process has no room for more");
  }
  if (descriptors_.size() > kMostDescriptorsWaiting)
    throw Error(EINVAL, "the other process sends descriptors that no frame has");
  if (n == 0) return Read::kEnd;
  end_ += static_cast<size_t>(n);
  return Read::kBytes;
}

// The kernel needs tens of microseconds to wake a thread, which is longer than a quick answer takes. So the thread
// stays awake for a moment, unless the last answer was slow. If the answer then comes just after that moment, the next
// waits do not stay awake. The thread does not yield: on a busy machine it would get the processor back too late.
FrameReceiver::Read FrameReceiver::wait(int socket, const Deadline& deadline, bool may_send) {
  const auto begin = std::chrono::steady_clock::now();
  const auto waited = [&] { return std::chrono::steady_clock::now() - begin; };
  const bool stays_awake = !may_send && last_wait_ <= kQuickAnswer && sleeps_ == 0 && deadline.left() >= 0;
  if (sleeps_ > 0) --sleeps_;
  if (stays_awake) {
    do {
      const Read what = read(socket);
      last_wait_ = waited();
      if (what != Read::kNothing) return what;
    } while (last_wait_ < kAwake);
  }
  sleep(socket, deadline, may_send);
  last_wait_ = waited();
  if (stays_awake && last_wait_ <= kQuickAnswer) sleeps_ = kSleepsAfterFailure;
  return Read::kNothing;
}

void FrameReceiver::sleep(int socket, const Deadline& deadline, bool may_send) {
  constexpr int64_t kNsInMs = 1'000'000;
  // Another thread may leave something to send meanwhile, so the caller looks again.
  const int64_t rest = deadline.left();
  const bool is_last = rest < 0 || (rest != ARROWDEVICE_NO_TIMEOUT && rest <= kLongestWaitNs);
  const bool is_ready = interrupt::wait_in_slices(is_last ? rest : kLongestWaitNs, [&](int64_t timeout_ns) {
    const Deadline slice(timeout_ns);
    for (;;) {
      const int64_t left = slice.left();
      pollfd waited{socket, static_cast<short>(may_send ? POLLIN | POLLOUT : POLLIN), 0};
      const int64_t ms = left == ARROWDEVICE_NO_TIMEOUT ? -1 : left < 0 ? 0 : (left + kNsInMs - 1) / kNsInMs;
      const int n = ::poll(&waited, 1, static_cast<int>(std::min<int64_t>(ms, INT32_MAX)));
      if (n > 0) return true;
      if (n < 0 && errno != EINTR) throw Error(errno, std::string("poll: ") + std::strerror(errno));
      if (n == 0 && ms >= 0 && slice.left() < 0) return false;
    }
  });
  if (!is_ready && is_last) refuse_late();
}

void FrameReceiver::refuse_late() { throw Error(ETIMEDOUT, "the other process sent nothing in time"); }

std::vector<uint8_t> write(const Hello& hello) {
  PartWriter writer(sizeof(HelloPart) + hello.name.size());
  HelloPart part{};
  std::memcpy(part.magic, kMagic, sizeof kMagic);
  part.version = kVersion;
  part.flags = hello.never_copies ? kNeverCopies : 0;
  writer.add(&part, 1);
  writer.add(hello.name.data(), hello.name.size());
  return writer.take();
}

Hello read_hello(const Frame& frame) {
  auto reader = reader_of(frame);
  const auto part = take_one<HelloPart>(reader);
  if (std::memcmp(part.magic, kMagic, sizeof kMagic) != 0) throw Error(EINVAL, "the other process is no client");
  if (part.version != kVersion) {
    throw Error(ENOTSUP, "the client has version " + std::to_string(part.version) + ", and the server has " +
                             std::to_string(kVersion));
  }
  const auto name = rest_of(reader);
  return {(part.flags & kNeverCopies) != 0, std::string(name.begin(), name.end())};
}

std::vector<uint8_t> write(const StreamFacts& facts) {
  PartWriter writer(sizeof(StreamPart) + facts.type.size());
  const StreamPart part{facts.device_type, 0};
  writer.add(&part, 1);
  writer.add(facts.type.data(), facts.type.size());
  return writer.take();
}

StreamFacts read_stream(const Frame& frame) {
  auto reader = reader_of(frame);
  const auto part = take_one<StreamPart>(reader);
  return {part.device_type, rest_of(reader)};
}

std::vector<uint8_t> write(const Start& start) {
  PartWriter writer(sizeof start);
  writer.add(&start, 1);
  return writer.take();
}

Start read_start(const Frame& frame) {
  auto reader = reader_of(frame);
  const auto start = take_one<Start>(reader);
  check_left(reader);
  if (start.batches <= 0 || start.bytes <= 0) throw Error(EINVAL, "the client takes no batches");
  return start;
}

std::vector<uint8_t> write(const Update& update) {
  PartWriter writer((1 + update.released.size()) * sizeof(uint64_t));
  writer.add(&update.n_taken, 1);
  writer.add(update.released.data(), update.released.size());
  return writer.take();
}

Update read_update(const Frame& frame) {
  auto reader = reader_of(frame);
  Update update;
  update.n_taken = take_one<uint64_t>(reader);
  update.released = reader.take<uint64_t>(static_cast<int64_t>(reader.left().size() / sizeof(uint64_t)), "numbers");
  check_left(reader);
  return update;
}

std::vector<uint8_t> write(const Failure& failure) {
  const std::string_view text = failure.text() != nullptr ? failure.text() : "";
  PartWriter writer(sizeof(ErrorPart) + text.size());
  ErrorPart part{};
  part.code = failure.code();
  part.native_code = failure.native_code();
  std::memcpy(part.backend, failure.backend(), sizeof part.backend);
  writer.add(&part, 1);
  writer.add(text.data(), text.size());
  return writer.take();
}

Error read_error(const Frame& frame) {
  auto reader = reader_of(frame);
  auto part = take_one<ErrorPart>(reader);
  const auto text = rest_of(reader);
  part.backend[sizeof part.backend - 1] = '\0';
  return Error(part.code > 0 ? part.code : EIO, std::string(text.begin(), text.end()), part.backend, part.native_code);
}

}  // namespace arrowdevice::link

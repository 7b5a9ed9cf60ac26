// SPDX-License-Identifier: Apache-2.0
#include "link/client_stream.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backend/device_types.h"
#include "base/error.h"
#include "base/process.h"
#include "device/devices.h"
#include "link/frames.h"
#include "link/handle_message.h"
#include "link/opened_array.h"
#include "link/parts.h"
#include "link/shareable_array.h"
#include "schema/copy.h"
#include "schema/tree.h"
#include "stream/device_stream.h"
#include "stream/to_device.h"

namespace arrowdevice::link {
namespace {

constexpr size_t kMostOpen = 65536;     // allocations
constexpr size_t kMostInFrame = 65536;  // releases
constexpr size_t kMostUnreported = 16;  // releases
constexpr const char* kEnded = "the server has ended the connection";

// The connection, which the stream and its arrays share. Any thread may call this class. A forked child does nothing
// with its parent's connection: the parent still uses it.
class Client {
 public:
  explicit Client(FileDescriptor socket) : socket_(std::move(socket)), generation_(process::generation()) {}

  int socket() const noexcept { return socket_.get(); }
  bool is_here() const noexcept { return generation_ == process::generation(); }

  void send(FrameKind kind, std::span<const uint8_t> body) {
    const std::lock_guard lock(mutex_);
    sender_.add(kind, body);
    send_now();
  }

  // Notes that the consumer takes a batch, and returns its number. `has_more` is true if others have arrived.
  uint64_t take(bool has_more) noexcept {
    const std::lock_guard lock(mutex_);
    const uint64_t number = n_taken_++;
    has_more_ = has_more;
    if (n_taken_ - n_reported_ >= most_unreported_) report();
    return number;
  }

  void set_window(int64_t batches) noexcept { most_unreported_ = static_cast<uint64_t>(batches / 2 + 1); }

  // Notes that a batch is not used any more.
  void release(uint64_t number) noexcept {
    if (!is_here()) return;
    const std::lock_guard lock(mutex_);
    try {
      released_.push_back(number);
    } catch (const std::bad_alloc&) {  // the memory comes back with the end of the connection
      return;
    }
    // If others have arrived, the consumer will soon take one, and the releases are sent together.
    if (!has_more_ || released_.size() >= kMostUnreported) report();
  }

  // Reports what was not reported, because the consumer waits. Returns true if the socket takes no more.
  bool report_all() noexcept {
    const std::lock_guard lock(mutex_);
    has_more_ = false;
    if (!sender_.empty()) send_now();
    report();
    return !sender_.empty();
  }

  // The consumer takes no more batches.
  void end() noexcept {
    if (!is_here()) return;
    const std::lock_guard lock(mutex_);
    has_more_ = false;
    report();
    try {
      sender_.add(FrameKind::kCancel, {});
      send_now();
      // The server sees that the stream is not read. The releases that it does not get come with the end of the
      // connection.
      if (!sender_.empty()) ::shutdown(socket_.get(), SHUT_RD);
    } catch (const std::bad_alloc&) {
      ::shutdown(socket_.get(), SHUT_RD);  // the server sees that the stream is not read
    }
  }

  // Wakes the consumer.
  void cancel() noexcept {
    if (is_here()) ::shutdown(socket_.get(), SHUT_RD);
  }

 private:
  // Needs the mutex, as does send_now().
  void report() noexcept {
    // As long as the socket takes no more, releases gather for one frame.
    while (sender_.empty() && (n_taken_ != n_reported_ || !released_.empty())) {
      try {
        Update update{n_taken_, {}};
        const auto first = released_.end() - std::min(std::ssize(released_), static_cast<ptrdiff_t>(kMostInFrame));
        update.released.assign(first, released_.end());
        sender_.add(FrameKind::kUpdate, write(update));
        released_.erase(first, released_.end());
        n_reported_ = n_taken_;
      } catch (const std::bad_alloc&) {  // a later call tries again
        return;
      }
      send_now();
    }
  }

  // A server that has ended does not need the rest.
  void send_now() noexcept {
    if (sender_.send(socket_.get()) != 0) sender_ = {};
  }

  const FileDescriptor socket_;
  const int generation_;
  std::mutex mutex_;  // guards all members below
  FrameSender sender_;
  std::vector<uint64_t> released_;
  uint64_t n_taken_ = 0;
  uint64_t n_reported_ = 0;
  uint64_t most_unreported_ = 1;
  bool has_more_ = false;
};

// Tells the server that it may reuse the memory of a batch.
struct Lease {
  Lease(std::shared_ptr<Client> its_client, uint64_t its_number) : client(std::move(its_client)), number(its_number) {}
  ~Lease() { client->release(number); }
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;

  const std::shared_ptr<Client> client;
  const uint64_t number;
};

class ClientStream final : public stream::DeviceStream {
 public:
  ClientStream(std::shared_ptr<Client> client, const ConnectOptions& options)
      : client_(std::move(client)), options_(options) {}
  ~ClientStream() override { client_->end(); }

  // Agrees with the server on the stream. Returns the type of its devices.
  ArrowDeviceType begin(const Hello& hello, bool wants_cpu, const Deadline& deadline) {
    client_->send(FrameKind::kHello, write(hello));
    const auto frame = receive(deadline);
    if (frame.kind != FrameKind::kStream) refuse_kind(frame);
    const auto facts = read_stream(frame);
    schema_ = read_type(facts.type);
    tree_.emplace(schema_.get());
    Start start{options_.batches, options_.bytes};
    start.on_cpu = wants_cpu || !is_visible(facts.device_type, hello.never_copies) ? 1 : 0;
    if (start.on_cpu != 0 && facts.device_type != ARROW_DEVICE_CPU && hello.never_copies) {
      throw Error(ENOTSUP, "the server has the stream on " + backend::device_type_text(facts.device_type) +
                               " devices, and copying is ruled out");
    }
    client_->set_window(options_.batches);
    client_->send(FrameKind::kStart, write(start));
    type_ = start.on_cpu != 0 ? ARROW_DEVICE_CPU : facts.device_type;
    return type_;
  }

  void schema(ArrowSchema* out) override { schema::copy(schema_.get(), out); }

  bool next(ArrowDeviceArray* out, stream::Metadata&) override {
    if (!client_->is_here()) throw Error(ENODEV, "the stream is that of the parent process, which may still use it");
    const Deadline deadline(options_.timeout_ns);
    for (;;) {
      const auto frame = receive(deadline);
      switch (frame.kind) {
        case FrameKind::kBatch: open(frame, deadline, out); return true;
        case FrameKind::kForget: forget(frame); break;
        case FrameKind::kEnd:
          opened_.clear();
          client_->report_all();  // no later wait does it
          return false;
        default: refuse_kind(frame);
      }
    }
  }

  void cancel() noexcept override { client_->cancel(); }

 private:
  Frame receive(const Deadline& deadline) {
    auto frame = receiver_.receive(client_->socket(), deadline, [this] { return client_->report_all(); });
    if (!frame) throw Error(ECONNRESET, kEnded);
    if (frame->kind == FrameKind::kError) {
      client_->report_all();
      throw read_error(*frame);
    }
    return std::move(*frame);
  }

  [[noreturn]] static void refuse_kind(const Frame& frame) {
    throw Error(EINVAL,
                "the server sent an unknown frame of kind " + std::to_string(static_cast<uint32_t>(frame.kind)));
  }

  // Returns true if this process has devices of that type.
  static bool is_visible(ArrowDeviceType type, bool never_copies) {
    try {
      if (device::Devices::instance().count(type) > 0) return true;
    } catch (const Error&) {
      if (never_copies) throw;
      return false;
    }
    if (!never_copies) return false;
    throw Error(ENODEV,
                "this process sees no " + backend::device_type_text(type) + " device, and copying is ruled out");
  }

  void open(const Frame& frame, const Deadline& deadline, ArrowDeviceArray* out) {
    auto lease = std::make_shared<Lease>(client_, client_->take(receiver_.has_frame()));
    auto message = read_handle(frame.body);
    auto& device = device_of(message);
    if (device.type() != type_) {
      throw Error(EINVAL, "the server sent a batch on " + device.text() + " in a stream of " +
                              backend::device_type_text(type_) + " devices");
    }
    for (auto record : message.allocations) {
      if (record.kind == ARROWDEVICE_MEMORY_DESCRIPTOR) {
        if (record.descriptor < 0 || record.descriptor >= std::ssize(frame.descriptors)) {
          throw Error(EINVAL, "the batch refers to descriptor " + std::to_string(record.descriptor) +
                                  ", and there are " + std::to_string(frame.descriptors.size()));
        }
        record.descriptor = frame.descriptors[static_cast<size_t>(record.descriptor)].get();
      }
      if (opened_.size() >= kMostOpen) throw Error(EINVAL, "the server keeps too many allocations open");
      opened_.emplace(next_id_++, open_memory(device, record));
    }
    auto opened = std::make_shared<OpenedAllocations>(device, std::move(lease));
    find_allocations(message, *opened);
    auto copying = options_.copy;
    copying.deadline = deadline;
    open_array(*tree_, message, std::move(opened), copying, out);
  }

  // Replaces the ids of allocations by their positions among those of the batch.
  void find_allocations(HandleMessage& message, OpenedAllocations& used) const {
    std::map<int64_t, int64_t> positions;
    for (auto& buffer : message.buffers) {
      if (buffer.allocation == MessageBuffer::kNone) continue;
      const auto [entry, is_new] = positions.try_emplace(buffer.allocation, std::ssize(used.allocations));
      if (is_new) {
        const auto found = opened_.find(buffer.allocation);
        if (found == opened_.end()) {
          throw Error(EINVAL,
                      "the batch refers to allocation " + std::to_string(buffer.allocation) + ", which is not open");
        }
        used.allocations.push_back(found->second);
      }
      buffer.allocation = entry->second;
    }
  }

  device::Device& device_of(const HandleMessage& message) {
    const bool is_same = device_ != nullptr && device_->type() == message.device_type &&
                         device_id_ == message.device_id &&
                         std::memcmp(device_->info().uuid, message.device_uuid, sizeof message.device_uuid) == 0;
    if (!is_same) device_ = &find_device(message);
    device_id_ = message.device_id;
    return *device_;
  }

  void forget(const Frame& frame) {
    PartReader reader(frame.body, "a frame of the server");
    const auto count = static_cast<int64_t>(frame.body.size() / sizeof(int64_t));
    for (const auto id : reader.take<int64_t>(count, "ids")) opened_.erase(id);
  }

  const std::shared_ptr<Client> client_;
  const ConnectOptions options_;
  FrameReceiver receiver_{FrameReceiver::From::kServer};
  ArrowDeviceType type_ = 0;  // of the devices of all batches
  schema::UniqueSchema schema_;
  std::optional<schema::Tree> tree_;
  std::map<int64_t, std::shared_ptr<OpenedMemory>> opened_;  // by the ids of the server
  int64_t next_id_ = 0;
  device::Device* device_ = nullptr;  // of the last batch
  int64_t device_id_ = 0;             // of that device in the server's process
};

}  // namespace

void connect_stream(const Address& address, device::Device* to, const ConnectOptions& options,
                    ArrowDeviceArrayStream* out) {
  const Deadline deadline(options.timeout_ns);
  auto client = std::make_shared<Client>(connect_to(address, deadline));
  const bool is_own_channel = address.kind == Address::Kind::kDescriptor;
  if (!options.any_user && !is_own_channel) check_same_user(client->socket(), "the server");
  auto stream = std::make_unique<ClientStream>(std::move(client), options);
  auto& begun = *stream;
  stream::Publication<ArrowDeviceArrayStream> publication(std::move(stream));
  const bool wants_cpu = to != nullptr && to->is_cpu();
  const auto type = begun.begin({options.copy.never, address.name}, wants_cpu, deadline);
  ArrowDeviceArrayStream published{};
  stream::publish_on(type, publication, &published);
  if (to == nullptr || wants_cpu) {
    *out = published;
    return;
  }
  stream::MoveOptions moving;
  moving.copy.never = options.copy.never;
  moving.timeout_ns = options.timeout_ns;
  try {
    stream::to_device(published, *to, moving, out);
  } catch (...) {
    published.release(&published);
    throw;
  }
}

}  // namespace arrowdevice::link

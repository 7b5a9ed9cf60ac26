// SPDX-License-Identifier: Apache-2.0
// Fuzzes the frames of servers and of clients. A client reads from a server whose frames are changed, doubled or
// missing. It must refuse them, or get arrays without a crash. Valid arrays can be copied. Frames of clients are read
// as a server reads them.
#include <sys/socket.h>

#include <cerrno>
#include <string>

#include "link/frames.h"
#include "link/handle_message.h"
#include "link/shareable_array.h"
#include "sample.h"
#include "spoil.h"
#include "support/reader.h"

namespace {

using namespace fuzz;  // NOLINT: what every line of this file is written with
namespace link = arrowdevice::link;
using arrowdevice::Deadline;
using arrowdevice::FileDescriptor;

constexpr int64_t kMostFrames = 4;

struct Ends {
  Ends() {
    int numbers[2];
    check(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, numbers) == 0, "there is no socket");
    ours = FileDescriptor(numbers[0]);
    theirs = FileDescriptor(numbers[1]);
  }
  // Sends all frames, which fit into the socket, and ends them.
  void send(link::FrameSender& frames) const {
    check(frames.send(ours.get()) == 0 && frames.empty(), "the frames do not fit");
    shutdown(ours.get(), SHUT_WR);
  }
  FileDescriptor ours, theirs;
};

// The frame of a batch whose allocations are those of a handle.
struct BatchFrame {
  explicit BatchFrame(const arrowdevice_ipc_handle& handle) {
    auto message = link::read_handle({handle.bytes, static_cast<size_t>(handle.size)});
    message.schema.clear();
    for (auto& record : message.allocations) {
      descriptors.push_back(FileDescriptor::duplicate_of(handle.descriptors[record.descriptor]));
      record.descriptor = static_cast<int32_t>(descriptors.size()) - 1;
    }
    body = link::write_handle(message);
  }
  std::vector<uint8_t> body;
  std::vector<FileDescriptor> descriptors;
};

link::FrameKind any_kind(Input& input) { return static_cast<link::FrameKind>(input.below(24)); }

void add_batch(Input& input, const arrowdevice_ipc_handle& handle, link::FrameSender& frames) {
  BatchFrame batch(handle);
  auto kind = link::FrameKind::kBatch;
  if (input.flag()) spoil_message(input, batch.body);
  if (input.below(8) == 0) kind = any_kind(input);
  if (input.below(8) == 0) batch.descriptors.clear();
  frames.add(kind, batch.body, std::move(batch.descriptors));
}

void read_as_client(const FileDescriptor& socket) {
  const std::string uri = "fd:" + std::to_string(socket.get());
  arrowdevice_connect_options options{};
  options.struct_size = sizeof options;
  options.timeout_ns = 1'000'000'000;
  Owned<ArrowDeviceArrayStream> stream;
  arrowdevice_error error{};
  if (arrowdevice_stream_connect(uri.c_str(), nullptr, &options, stream.out(), &error) != 0) {
    check(error.message[0] != '\0', "refused without a reason");
    return;
  }
  Schema schema;
  must(arrowdevice_stream_get_schema, stream.get(), schema.out());
  for (;;) {
    Array array;
    if (stream->get_next(stream.get(), array.out()) != 0) {
      check(stream->get_last_error(stream.get()) != nullptr, "the stream failed without a reason");
      return;
    }
    if (array->array.release == nullptr) return;
    if (!is_short(array->array)) continue;
    if (!accepts(arrowdevice_array_validate, array.get(), schema.get(), static_cast<arrowdevice_device*>(nullptr),
                 ARROWDEVICE_VALIDATE_FULL)) {
      continue;
    }
    Array copied;
    must(arrowdevice_array_copy, static_cast<const ArrowDeviceArray*>(array.get()),
         static_cast<const ArrowSchema*>(schema.get()), cpu(), static_cast<const arrowdevice_copy_options*>(nullptr),
         copied.out());
    const std::string found = problem(*schema, copied->array);
    if (!found.empty()) fail("a copy of a valid array is not valid: " + found);
  }
}

// Reads frames as a server does.
void read_as_server(const FileDescriptor& socket) {
  link::FrameReceiver receiver(link::FrameReceiver::From::kClient);
  try {
    while (const auto frame = receiver.receive(socket.get(), Deadline(1'000'000'000), [] { return false; })) {
      switch (frame->kind) {
        case link::FrameKind::kHello: link::read_hello(*frame); break;
        case link::FrameKind::kStart: link::read_start(*frame); break;
        case link::FrameKind::kUpdate: link::read_update(*frame); break;
        default: break;
      }
    }
  } catch (const arrowdevice::Error& error) {
    check(error.code() == EINVAL || error.code() == ENOTSUP, "refused with another code");
    check(!error.message().empty(), "refused without a reason");
  }
}

void fuzz_server(Input& input) {
  std::vector<uint8_t> bodies[] = {link::write(link::Hello{false, "rows"}), link::write(link::Start{4, 1 << 20}),
                                   link::write(link::Update{3, {0, 1, 2}})};
  link::FrameSender frames;
  for (int64_t i = input.below(kMostFrames); i >= 0; --i) {
    const auto which = static_cast<size_t>(input.below(3));
    auto body = bodies[which];
    if (input.flag()) spoil_message(input, body);
    frames.add(input.below(8) == 0 ? any_kind(input) : static_cast<link::FrameKind>(which + 1), body);
  }
  const Ends ends;
  ends.send(frames);
  read_as_server(ends.theirs);
}

void fuzz_client(Input& input) {
  const Field type = type_of(input);
  const Schema schema = make_schema(type);
  Array host(on_cpu(make_array(generate(type, knobs_of(input)), Ledger())));
  arrowdevice_ipc_handle handle{};
  if (!accepts(arrowdevice_array_get_ipc_handle, host.get(), schema.get(),
               static_cast<const arrowdevice_copy_options*>(nullptr), &handle)) {
    return;
  }
  link::FrameSender frames;
  auto facts = link::write(link::StreamFacts{ARROW_DEVICE_CPU, link::write_type(*schema)});
  if (input.below(8) == 0) spoil_message(input, facts);
  frames.add(link::FrameKind::kStream, facts);
  for (int64_t i = input.below(kMostFrames); i > 0; --i) add_batch(input, handle, frames);
  if (input.flag()) frames.add(link::FrameKind::kEnd, {});
  arrowdevice_ipc_handle_release(&handle);
  if (frames.size() > 100'000) return;  // a socket has no room for more
  const Ends ends;
  ends.send(frames);
  read_as_client(ends.theirs);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  Input input(bytes, size);
  if (input.below(4) == 0) {
    fuzz_server(input);
  } else {
    fuzz_client(input);
  }
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
// Messages between a server and its clients: deadlines.
#include "link/frames.h"

#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "link_peer.h"

namespace {

using namespace link_test;          // NOLINT: what every line of these tests is written with
using namespace arrowdevice::link;  // NOLINT: the same
using arrowdevice::Deadline;
using arrowdevice::Error;

struct Sockets {
  Sockets() {
    int both[2];
    expect(socketpair(AF_UNIX, SOCK_STREAM, 0, both) == 0, "no sockets");
    here = FileDescriptor(both[0]);
    there = FileDescriptor(both[1]);
  }
  FileDescriptor here, there;
};

const std::vector<uint8_t> kBody = {1, 2, 3, 4, 5, 6, 7, 8};

// Returns the body of the next message, or the text of the failure.
std::string receive(FrameReceiver& receiver, const Sockets& sockets, const Deadline& deadline) try {
  const auto frame = receiver.receive(sockets.there.get(), deadline, [] { return false; });
  return frame ? std::string(frame->body.begin(), frame->body.end()) : "the end";
} catch (const Error& error) {
  CHECK(error.code() == ETIMEDOUT);
  return error.what();
}

TEST_CASE("a message that is here in time is received, however late the thread is") {
  const std::string body(kBody.begin(), kBody.end());
  const Sockets sockets;
  FrameReceiver receiver(FrameReceiver::From::kServer);
  FrameSender sender;
  sender.add(FrameKind::kBatch, kBody);
  sender.add(FrameKind::kBatch, kBody);
  CHECK(sender.send(sockets.here.get()) == 0);
  const Deadline passed(1);
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
  CHECK(receive(receiver, sockets, passed) == body);
  CHECK(receive(receiver, sockets, Deadline(ARROWDEVICE_POLL)) == body);
  CHECK(contains(receive(receiver, sockets, Deadline(ARROWDEVICE_POLL)), "sent nothing in time"));
}

TEST_CASE("a message that is not whole in time is refused") {
  const Sockets sockets;
  FrameReceiver receiver(FrameReceiver::From::kServer);
  const uint32_t header[] = {static_cast<uint32_t>(FrameKind::kBatch), 100, 0, 0};
  REQUIRE(send(sockets.here.get(), header, sizeof header, 0) == sizeof header);
  CHECK(contains(receive(receiver, sockets, Deadline(ARROWDEVICE_POLL)), "sent nothing in time"));
  // Each byte comes in time, and the whole does not.
  std::thread slow([&] {
    for (int i = 0; i < 20; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      static_cast<void>(send(sockets.here.get(), "x", 1, 0));
    }
  });
  CHECK(contains(receive(receiver, sockets, Deadline(20'000'000)), "sent nothing in time"));
  slow.join();
}

}  // namespace

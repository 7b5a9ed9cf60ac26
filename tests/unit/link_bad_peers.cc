// SPDX-License-Identifier: Apache-2.0
// Clients and servers that break the protocol get an error, and cost nothing.
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <random>
#include <thread>

#include "link/address.h"
#include "link/frames.h"
#include "link_streams.h"

namespace {

using namespace link_test;  // NOLINT: what every line of these tests is written with
namespace link = arrowdevice::link;
using arrowdevice::Deadline;
using arrowdevice::FileDescriptor;

// A client or a server of which the test writes every byte.
class RawPeer {
 public:
  explicit RawPeer(FileDescriptor socket) : socket_(std::move(socket)) {}
  explicit RawPeer(const std::string& uri) : RawPeer(link::connect_to(link::parse_address(uri), Deadline(0))) {}

  void write(const void* bytes, size_t size) const {
    REQUIRE(send(socket_.get(), bytes, size, MSG_NOSIGNAL) == static_cast<ssize_t>(size));
  }
  void send_frame(link::FrameKind kind, const std::vector<uint8_t>& body) {
    link::FrameSender sender;
    sender.add(kind, body);
    REQUIRE(sender.send(socket_.get()) == 0);
  }
  std::optional<link::Frame> receive() {
    return receiver_.receive(socket_.get(), Deadline(10'000'000'000), [] { return false; });
  }
  // Returns the text of the error that the other side sends before it ends the connection.
  std::string error() {
    const auto frame = receive();
    if (!frame) return "the end";
    if (frame->kind != link::FrameKind::kError) return "another frame";
    return link::read_error(*frame).message();
  }
  int socket() const noexcept { return socket_.get(); }

 private:
  FileDescriptor socket_;
  link::FrameReceiver receiver_{link::FrameReceiver::From::kServer};
};

struct Rows {
  Rows() : sample(field("l"), {.rows = 70}) { source.add("rows", stream_of(batches_of(sample, stream_test::kRows))); }
  // Begins a stream as a client does.
  void begin(RawPeer& client, int64_t batches = 4) const {
    client.send_frame(link::FrameKind::kHello, link::write(link::Hello{false, "rows"}));
    const auto facts = client.receive();
    REQUIRE(facts);
    REQUIRE(facts->kind == link::FrameKind::kStream);
    client.send_frame(link::FrameKind::kStart, link::write(link::Start{batches, 1 << 20}));
  }

  Sample sample;
  Server source;
};

void goes_on(Server& server) {
  until([&] { return server.stats().clients == 0; });
  const Sample sample(field("u"), kPlain);
  server.add("more", stream_of(batches_of(sample, stream_test::kRows)));
  DeviceStream stream = connect(server.at("more"));
  CHECK(difference_of_rest(sample, stream_test::kRows, stream) == "");
}

TEST_CASE("clients that say nothing known are refused") {
  begin();
  Rows rows;
  {
    RawPeer client(rows.source.uri());
    client.send_frame(link::FrameKind::kHello, {1, 2, 3});
    CHECK(contains(client.error(), "a frame of the other process has 1 parts of that kind (at most 0 fit its bytes)"));
  }
  {
    RawPeer client(rows.source.uri());
    auto hello = link::write(link::Hello{false, "rows"});
    hello[0] = 'X';
    client.send_frame(link::FrameKind::kHello, hello);
    CHECK(contains(client.error(), "is no client"));
  }
  {
    RawPeer client(rows.source.uri());
    auto hello = link::write(link::Hello{false, "rows"});
    hello[8] = 7;
    client.send_frame(link::FrameKind::kHello, hello);
    CHECK(contains(client.error(), "the client has version 7, and the server has 1"));
  }
  {
    RawPeer client(rows.source.uri());
    client.send_frame(link::FrameKind::kUpdate, link::write(link::Update{}));
    CHECK(contains(client.error(), "the client sent a frame of kind 3 (expected 1)"));
  }
  {
    RawPeer client(rows.source.uri());
    const uint32_t header[4] = {1, UINT32_MAX, 0, 0};
    client.write(header, sizeof header);
    CHECK(contains(client.error(), "sends a frame of 4294967295 bytes"));
  }
  {
    RawPeer client(rows.source.uri());
    const uint32_t header[4] = {1, 0, 3, 0};
    client.write(header, sizeof header);
    CHECK(contains(client.error(), "lacks descriptors: it has 0 of 3"));
  }
  {
    RawPeer client(rows.source.uri());
    link::FrameSender sender;
    std::vector<FileDescriptor> descriptors;
    descriptors.push_back(FileDescriptor::duplicate_of(0));
    sender.add(link::FrameKind::kHello, link::write(link::Hello{false, "rows"}), std::move(descriptors));
    REQUIRE(sender.send(client.socket()) == 0);
    CHECK(contains(client.error(), "the client sends descriptors"));
  }
  goes_on(rows.source);
}

TEST_CASE("a server ends although a client has not begun its stream") {
  begin();
  const Sample sample(field("l"), kPlain);
  const auto producer = batches_of(sample, stream_test::kRows);
  auto server = std::make_unique<Server>();
  server->add("rows", stream_of(producer));
  RawPeer client(server->uri());
  client.send_frame(link::FrameKind::kHello, link::write(link::Hello{false, "rows"}));
  REQUIRE(client.receive()->kind == link::FrameKind::kStream);
  server.reset();
  CHECK(producer->releases == 1);
  CHECK(client.error() == "the server was stopped");
}

TEST_CASE("clients that lie about batches lose the connection") {
  begin();
  const auto lie = [](const link::Update& update, const std::string& expected) {
    Rows rows;
    RawPeer client(rows.source.uri());
    rows.begin(client);
    REQUIRE(client.receive()->kind == link::FrameKind::kBatch);
    client.send_frame(link::FrameKind::kUpdate, link::write(update));
    std::string found;
    while (auto frame = client.receive()) {
      if (frame->kind == link::FrameKind::kError && found.empty()) found = link::read_error(*frame).message();
    }
    CHECK(contains(found, expected));
    goes_on(rows.source);
  };
  lie({100, {}}, "the client took unknown batches");
  lie({0, {77}}, "the client released an unknown batch");
  lie({0, {0, 0}}, "the client released an unknown batch");
}

TEST_CASE("bytes at random cost a server nothing") {
  begin();
  Rows rows;
  std::minstd_rand random(1);  // NOLINT: the same numbers in every run
  {
    const int64_t before = open_descriptors();
    for (int i = 0; i < 300; ++i) {
      RawPeer client(rows.source.uri());
      std::vector<uint8_t> bytes(random() % 200);
      for (auto& byte : bytes) byte = static_cast<uint8_t>(random() % 8 == 0 ? random() : random() % 4);
      static_cast<void>(send(client.socket(), bytes.data(), bytes.size(), MSG_NOSIGNAL));
    }
    until([&] { return open_descriptors() <= before; });
  }
  goes_on(rows.source);
}

// Sends the frames of a real server, of which one was changed, to a client.
class Forwarder {
 public:
  using Change = std::function<void(link::Frame&)>;

  explicit Forwarder(const Change& change) {
    int ends[2];
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
    client_ = FileDescriptor(ends[0]);
    thread_ = std::thread([this, change, end = ends[1]] { run(FileDescriptor(end), change); });
  }
  ~Forwarder() {
    client_.reset();
    thread_.join();
  }
  Forwarder(const Forwarder&) = delete;
  Forwarder& operator=(const Forwarder&) = delete;

  std::string uri() const { return "fd:" + std::to_string(client_.get()); }
  const Rows& rows() const noexcept { return rows_; }

 private:
  void run(FileDescriptor client, const Change& change) {
    try {
      RawPeer server(rows_.source.uri());
      link::FrameReceiver from_client(link::FrameReceiver::From::kClient);
      for (const auto expected : {link::FrameKind::kHello, link::FrameKind::kStart}) {
        const auto frame = from_client.receive(client.get(), Deadline(10'000'000'000), [] { return false; });
        if (!frame || frame->kind != expected) return;
        link::FrameSender to_server;
        to_server.add(frame->kind, frame->body);
        if (to_server.send(server.socket()) != 0) return;
        if (expected == link::FrameKind::kHello) pass(server, client, change);
      }
      while (pass(server, client, change)) {
      }
    } catch (const std::exception&) {  // the client ends the connection
    }
  }

  static bool pass(RawPeer& server, const FileDescriptor& client, const Change& change) {
    auto frame = server.receive();
    if (!frame) return false;
    change(*frame);
    link::FrameSender to_client;
    to_client.add(frame->kind, frame->body, std::move(frame->descriptors));
    return to_client.send(client.get()) == 0;
  }

  Rows rows_;
  FileDescriptor client_;
  std::thread thread_;
};

// Returns the error of the stream that a client gets from a changed server, or "".
std::string error_of_client(const Forwarder::Change& change) {
  const Forwarder forwarder(change);
  DeviceStream stream;
  arrowdevice_error error{};
  const auto options = connect_options(0, 10'000'000'000);
  if (arrowdevice_stream_connect(forwarder.uri().c_str(), nullptr, &options, stream.out(), &error) != 0) {
    return error.message;
  }
  for (;;) {
    Array array;
    if (stream->get_next(stream.get(), array.out()) != 0) return stream->get_last_error(stream.get());
    if (array->array.release == nullptr) return "";
    static_cast<void>(arrowdevice_array_validate(array.get(), forwarder.rows().sample.schema.get(), nullptr,
                                                 ARROWDEVICE_VALIDATE_FULL, nullptr));
  }
}

TEST_CASE("a client refuses frames that are no batches of its stream") {
  begin();
  using Kind = link::FrameKind;
  const auto in_batch = [](const std::function<void(link::Frame&)>& change) {
    return error_of_client([change](link::Frame& frame) {
      if (frame.kind == Kind::kBatch) change(frame);
    });
  };
  CHECK(error_of_client([](link::Frame&) {}) == "");
  CHECK(
      contains(in_batch([](auto& frame) { frame.kind = Kind::kHello; }), "the server sent an unknown frame of kind 1"));
  CHECK(contains(in_batch([](auto& frame) { frame.descriptors.clear(); }), "refers to descriptor 0, and there are 0"));
  CHECK(contains(in_batch([](auto& frame) { frame.body.resize(10); }), "a handle has at least 72 bytes"));
  CHECK(contains(in_batch([](auto& frame) { frame.body.push_back(0); }), "1 bytes too many"));
  CHECK(contains(in_batch([](auto& frame) { frame.body[40] = 0; }), "too many"));  // without allocations
  CHECK(contains(error_of_client([](link::Frame& frame) {
                   if (frame.kind == Kind::kStream) frame.body.resize(20);
                 }),
                 "message"));
  CHECK(contains(error_of_client([](link::Frame& frame) {
                   if (frame.kind == Kind::kEnd) frame.kind = Kind::kForget;
                 }),
                 "the server has ended the connection"));
}

TEST_CASE("changed bytes of a server are refused or harmless") {
  begin();
  std::minstd_rand random(2);  // NOLINT: the same numbers in every run
  const int64_t before = open_descriptors();
  for (int i = 0; i < 200; ++i) {
    const auto which = random() % 4;
    const auto at = random();
    const auto value = static_cast<uint8_t>(random());
    size_t number = 0;
    static_cast<void>(error_of_client([&](link::Frame& frame) {
      if (number++ == which && !frame.body.empty()) frame.body[at % frame.body.size()] ^= value;
    }));
  }
  until([&] { return open_descriptors() <= before; });
}

}  // namespace

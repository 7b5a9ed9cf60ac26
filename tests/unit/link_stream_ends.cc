// SPDX-License-Identifier: Apache-2.0
// Streams between processes: errors, and ends of either side.
#include <unistd.h>

#include <atomic>
#include <ctime>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "link_streams.h"

namespace {

using namespace link_test;  // NOLINT: what every line of these tests is written with

// Releases no batch. Returns those that came before the server had no memory for more.
std::vector<Array> keep_all(DeviceStream& stream, size_t sent) {
  std::vector<Array> kept;
  int code = 0;
  while (code == 0 && kept.size() < sent) {
    kept.emplace_back();
    code = arrowdevice_stream_get_next(stream.get(), kept.back().out(), nullptr);
  }
  CHECK(code == ENOMEM);
  CHECK(contains(stream->get_last_error(stream.get()), "limit is reached"));
  CHECK(kept.size() > 2);
  kept.pop_back();
  return kept;
}

TEST_CASE("errors of a producer reach the consumer with their text") {
  begin();
  const Sample sample(field("l"), kPlain);
  Server server;
  const auto failing = batches_of(sample, stream_test::kRows);
  failing->steps[2].code = EDOM;
  failing->steps[2].text = "the tape broke";
  server.add("tape", stream_of(failing));
  DeviceStream stream = connect(server.at("tape"));
  const Array first = next(stream);
  const Array second = next(stream);
  CHECK(next_fails(EDOM, stream) == "the tape broke");
  CHECK(next_fails(EDOM, stream) == "the tape broke");
  const auto without_schema = batches_of(sample, stream_test::kRows);
  without_schema->schema_code = ERANGE;
  server.add("blank", stream_of(without_schema));
  CHECK(refused_connect(ERANGE, server.at("blank")) != "");
}

TEST_CASE("a consumer may cancel, wait for a limited time, and release early") {
  begin();
  const Sample sample(field("l"), kPlain);
  Server server;
  const auto producer = batches_of(sample, stream_test::kRows);
  Gate gate(1);
  producer->on_next = gate.callback();
  server.add("slow", stream_of(producer));
  {
    DeviceStream stream = connect(server.at("slow"), nullptr, connect_options(0, 300'000'000));
    const Array first = next(stream);
    const std::clock_t before = std::clock();
    CHECK(contains(next_fails(ETIMEDOUT, stream), "sent nothing in time"));
    CHECK(std::clock() - before < CLOCKS_PER_SEC / 10);  // both sides slept
    CHECK(contains(next_fails(ETIMEDOUT, stream), "sent nothing in time"));
  }
  gate.let(100);
  until([&] { return producer->releases == 1; });
  const auto blocked = batches_of(sample, stream_test::kRows);
  Gate closed(0);
  blocked->on_next = closed.callback();
  server.add("blocked", stream_of(blocked));
  DeviceStream stream = connect(server.at("blocked"));
  // The library calls the check while the consumer waits.
  struct Waiting {
    DeviceStream& stream;
    std::thread canceller;
  } waiting{stream, {}};
  const auto check = [](void* user) {
    auto& here = *static_cast<Waiting*>(user);
    if (!here.canceller.joinable()) {
      here.canceller = std::thread([&here] { arrowdevice_stream_cancel(here.stream.get(), nullptr); });
    }
    return 0;
  };
  arrowdevice_interrupt_set_check(+check, &waiting);
  CHECK(contains(next_fails(ECANCELED, stream), "cancelled"));
  arrowdevice_interrupt_set_check(nullptr, nullptr);
  REQUIRE(waiting.canceller.joinable());
  waiting.canceller.join();
  closed.let(100);
  stream.reset();
  until([&] { return blocked->releases == 1; });
}

TEST_CASE("a server that ends leaves the batches of its clients") {
  begin();
  const Sample sample(field("u"), {.rows = 70});
  const Pool pool = make_shareable_pool();
  Releases releases;
  auto server = std::make_unique<Server>();
  Array array = releases.count(copy(*sample.host, *sample.schema, cpu(), 0, nullptr, pool.get()));
  server->add("shared", sample.schema, array);
  array.reset();
  const auto producer = batches_of(sample, 1);
  server->add("rows", stream_of(producer));
  auto options = connect_options();
  options.max_batches = 3;
  DeviceStream shared = connect(server->at("shared"));
  DeviceStream rows = connect(server->at("rows"), nullptr, options);
  Array kept = next(shared);
  const Array row = next(rows);
  server.reset();
  CHECK(producer->releases == 1);
  CHECK(releases.released() == 0);
  CHECK(difference(sample, *kept) == "");
  for (int i = 0; i < 3; ++i) static_cast<void>(rows->get_next(rows.get(), Array().out()));
  CHECK(contains(next_fails(ECANCELED, rows), "the server was stopped"));
  kept.reset();
  CHECK(releases.reach(1));
  until([&] { return used_bytes(pool) == 0; });
}

TEST_CASE("a server ends although a client does not read") {
  begin();
  std::vector<Field> columns;
  for (int i = 0; i < 2000; ++i) columns.push_back(field("l"));  // whose description fills the socket
  const Sample sample(struct_of(columns).not_null(), {.rows = 64});
  auto server = std::make_unique<Server>();
  const auto producer = batches_of(sample, 1);
  server->add("rows", stream_of(producer));
  const DeviceStream stream = connect(server->uri());
  until([&] { return producer->calls >= 2; });  // the second description does not fit into the socket
  server.reset();
  CHECK(producer->releases == 1);
}

TEST_CASE("a server ends although a stream of the library waits for its schema") {
  begin();
  ArrowAsyncDeviceStreamHandler* handler = nullptr;
  DeviceStream waiting;
  const arrowdevice_async_options* const usual = nullptr;
  must(arrowdevice_async_collect, ArrowDeviceType{ARROW_DEVICE_CPU}, usual, &handler, waiting.out());
  auto server = std::make_unique<Server>();
  server->add("rows", std::move(waiting));
  const std::string uri = server->uri();
  std::string refusal;
  std::thread client([&] {
    DeviceStream none;
    arrowdevice_error error{};
    static_cast<void>(arrowdevice_stream_connect(uri.c_str(), nullptr, nullptr, none.out(), &error));
    refusal = error.message;
  });
  until([&] { return server->stats().clients == 1; });
  server.reset();
  client.join();
  CHECK(refusal == "the server was stopped");
  handler->release(handler);
}

TEST_CASE("an owner that is killed leaves whole batches, and a plain error") {
  begin();
  const Sample sample(mixed_batch(), {.rows = 70});
  const std::string uri = new_address();
  Peer peer([&](int socket) {
    Server server(server_options(), uri);
    server.add("rows", stream_of(batches_of(sample, 35)));
    say(socket, "ready");
    pause();
  });
  REQUIRE(peer.answer() == "ready");
  auto options = connect_options();
  options.max_batches = 1;
  DeviceStream stream = connect(uri, nullptr, options);
  const Array first = next(stream);
  peer.kill();
  Array second;
  int code = stream->get_next(stream.get(), second.out());
  if (code == 0) code = stream->get_next(stream.get(), Array().out());
  CHECK(code == ECONNRESET);
  CHECK(std::string(stream->get_last_error(stream.get())) == "the server has ended the connection");
  CHECK(difference(sample, *first) == "");
  CHECK(contains(refused_connect(ECONNREFUSED, uri), "no server at " + uri));
}

TEST_CASE("a client that is killed gives its batches back") {
  begin();
  const Sample sample(field("l"), {.rows = 60'000});
  const Pool pool = make_shareable_pool();
  const std::string uri = new_address();
  Peer peer([&](int socket) {
    DeviceStream stream;
    while (!stream->release) {
      const auto options = connect_options();
      static_cast<void>(arrowdevice_stream_connect(uri.c_str(), nullptr, &options, stream.out(), nullptr));
    }
    const Array array = next(stream);
    say(socket, difference(sample, *array));
    pause();
  });
  Releases releases;
  Server server(server_options(), uri);
  const auto producer = std::make_shared<Producer>(field("l"));
  Gate gate(1);
  producer->steps.push_back({releases.count(copy(*sample.host, *sample.schema, cpu(), 0, nullptr, pool.get()))});
  // The memory comes back although the producer waits.
  producer->on_next = gate.callback();
  server.add("rows", stream_of(producer));
  CHECK(peer.answer() == "");
  CHECK(releases.released() == 0);
  peer.kill();
  CHECK(releases.reach(1));
  CHECK(used_bytes(pool) == 0);
  gate.let(100);
}

TEST_CASE("a child of a client uses a batch no longer than its parent") {
  begin();
  const Sample sample(field("l"), {.rows = 60'000});
  const Pool pool = make_shareable_pool();
  Releases releases;
  Server server;
  const auto producer = std::make_shared<Producer>(field("l"));
  producer->steps.push_back({releases.count(copy(*sample.host, *sample.schema, cpu(), 0, nullptr, pool.get()))});
  server.add("rows", stream_of(producer));
  DeviceStream stream = connect(server.uri());
  Array batch = next(stream);
  const Peer child([&](int socket) {
    say(socket, difference(sample, *batch));
    pause();
  });
  CHECK(child.answer() == "");
  CHECK(releases.released() == 0);
  batch.reset();
  CHECK(releases.reach(1));
  CHECK(used_bytes(pool) == 0);
}

// In the namespace, all users of others have the same number, so the client cannot tell who the server is.
TEST_CASE("a stream crosses namespaces if the client trusts any user") {
  begin();
  const std::string uri = new_address();
  const Peer peer([&](int socket) {
    in_namespaces(socket, [&] {
      hear(socket);
      auto options = connect_options(ARROWDEVICE_COPY_NEVER);
      DeviceStream none;
      arrowdevice_error error{};
      if (arrowdevice_stream_connect(uri.c_str(), nullptr, &options, none.out(), &error) != EACCES) {
        return say(socket, std::string("not refused: ") + error.message);
      }
      options.flags = ARROWDEVICE_LINK_ANY_USER;
      const Sample sample(mixed_batch(), kPlain);
      DeviceStream stream = connect(uri, nullptr, options);
      say(socket, difference(sample, *next(stream)));
    });
  });
  const Sample sample(mixed_batch(), kPlain);
  const Pool pool = make_shareable_pool();
  Server server(server_options(), uri);
  Array array = copy(*sample.host, *sample.schema, cpu(), 0, nullptr, pool.get());
  server.add("rows", sample.schema, array);
  say(peer.socket(), "connect");
  check_answer(peer.answer());
}

TEST_CASE("a client that calls exec gives its batches back") {
  begin();
  const std::string uri = new_address();
  const Peer peer([&](int socket) {
    hear(socket);
    DeviceStream stream = connect(uri);
    const Array array = next(stream);
    say(socket, "");
    hear(socket);
    execlp("sleep", "sleep", "60", nullptr);
    throw arrowdevice::testing::Failure("exec failed");
  });
  const Sample sample(field("l"), {.rows = 60'000});
  const Pool pool = make_shareable_pool();
  Releases releases;
  Server server(server_options(), uri);
  const auto producer = std::make_shared<Producer>(field("l"));
  producer->steps.push_back({releases.count(copy(*sample.host, *sample.schema, cpu(), 0, nullptr, pool.get()))});
  server.add("rows", stream_of(producer));
  say(peer.socket(), "connect");
  CHECK(peer.answer() == "");
  CHECK(releases.released() == 0);
  say(peer.socket(), "exec");
  CHECK(releases.reach(1));
  until([&] { return server.stats().clients == 0 && used_bytes(pool) == 0; });
}

TEST_CASE("a client that never releases meets the limit of the server's pool") {
  begin();
  const Sample sample(field("l"), {.rows = 60'000});
  auto options = sized<arrowdevice_pool_options>();
  options.flags = ARROWDEVICE_POOL_SHAREABLE;
  options.max_bytes = 2 << 20;
  const Pool pool = make_pool(cpu(), &options);
  must(arrowdevice_device_set_pool, cpu(), pool.get());
  Server server;
  const auto producer = std::make_shared<Producer>(field("l"));
  constexpr size_t kSteps = 20;
  for (size_t i = 0; i < kSteps; ++i) producer->steps.push_back({sample.array()});
  server.add("rows", stream_of(producer));
  {
    DeviceStream stream = connect(server.uri());
    const std::vector<Array> kept = keep_all(stream, kSteps);
    must(arrowdevice_device_set_pool, cpu(), static_cast<arrowdevice_pool*>(nullptr));
    for (const Array& one : kept) CHECK(difference(sample, *one) == "");
  }
  until([&] { return used_bytes(pool) == 0; });
}

TEST_CASE("an isolated client gets ENOMEM at its limit, and other clients do not") {
  begin();
  const Sample sample(field("l"), {.rows = 60'000});
  auto options = server_options(ARROWDEVICE_LINK_ISOLATED);
  options.max_client_bytes = 2 << 20;
  Server server(options);
  const auto producer = std::make_shared<Producer>(field("l"));
  constexpr size_t kSteps = 20;
  for (size_t i = 0; i < kSteps; ++i) producer->steps.push_back({sample.array()});
  server.add("rows", stream_of(producer));
  server.add("others", stream_of(batches_of(sample, stream_test::kRows)));
  DeviceStream stream = connect(server.at("rows"));
  const std::vector<Array> kept = keep_all(stream, kSteps);
  for (const Array& one : kept) CHECK(difference(sample, *one) == "");
  DeviceStream other = connect(server.at("others"));
  CHECK(difference_of_rest(sample, stream_test::kRows, other) == "");
}

TEST_CASE("a forked child keeps nothing of its parent's server") {
  begin();
  const Sample sample(field("l"), kPlain);
  auto server = std::make_unique<Server>();
  server->add("rows", stream_of(batches_of(sample, stream_test::kRows)));
  DeviceStream stream = connect(server->uri());
  const Array first = next(stream);
  const Peer child([&](int socket) {
    const Array& inherited = first;
    std::string found = difference(sample, *inherited);
    if (stream->get_next(stream.get(), Array().out()) != ENODEV) found += "the child reads the stream of its parent";
    server->destroy();  // has no effect
    say(socket, found);
    pause();
  });
  CHECK(child.answer() == "");
  CHECK(difference_of_rest(sample, stream_test::kRows, stream, stream_test::kRows) == "");
  const std::string uri = server->uri();
  server.reset();
  CHECK(contains(refused_connect(ECONNREFUSED, uri), "no server"));
  const Server again(server_options(), uri);
}

}  // namespace

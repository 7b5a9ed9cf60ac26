// SPDX-License-Identifier: Apache-2.0
// Streams between processes: values, memory, limits, errors, and ends of either side.
#include "link_streams.h"

#include <unistd.h>

#include <atomic>
#include <thread>

#include "ipc_batches.h"

namespace link_test {

std::string new_address() {
  static int last = 0;
  return "unix:@arrowdevice-test-" + std::to_string(getpid()) + "-" + std::to_string(++last);
}

arrowdevice_server_options server_options(uint32_t flags, uint32_t copy_flags) {
  arrowdevice_server_options options{};
  options.struct_size = sizeof options;
  options.flags = flags;
  options.copy_flags = copy_flags;
  return options;
}

arrowdevice_connect_options connect_options(uint32_t copy_flags, int64_t timeout_ns) {
  arrowdevice_connect_options options{};
  options.struct_size = sizeof options;
  options.copy_flags = copy_flags;
  options.timeout_ns = timeout_ns;
  return options;
}

Server::Server(const arrowdevice_server_options& options, std::string uri) : uri_(std::move(uri)) {
  arrowdevice_server* made = nullptr;
  must(arrowdevice_server_create, uri_.c_str(), &options, &made);
  server_.reset(made);
}

struct arrowdevice_server_stats Server::stats() const {
  struct arrowdevice_server_stats stats {};
  stats.struct_size = sizeof stats;
  must(arrowdevice_server_get_stats, static_cast<const arrowdevice_server*>(get()), &stats);
  return stats;
}

void Server::add(const std::string& name, DeviceStream stream) {
  must(arrowdevice_server_add_stream, get(), name.c_str(), stream.get());
}

void Server::add(const std::string& name, const Schema& schema, Array& array) {
  must(arrowdevice_server_add_arrays, get(), name.c_str(), schema.get(), array.get(), int64_t{1});
}

DeviceStream connect(const std::string& uri, arrowdevice_device* to, const arrowdevice_connect_options& options) {
  DeviceStream stream;
  must(arrowdevice_stream_connect, uri.c_str(), to, &options, stream.out());
  return stream;
}

std::string refused_connect(Expected expected, const std::string& uri, arrowdevice_device* to,
                            const arrowdevice_connect_options& options) {
  DeviceStream none;
  auto text = refused(expected, arrowdevice_stream_connect, uri.c_str(), to, &options, none.out());
  CHECK(none->release == nullptr);
  return text;
}

}  // namespace link_test

namespace {

using namespace link_test;  // NOLINT: what every line of these tests is written with
using ipc_test::is_writable;

std::string rest_of(DeviceStream& stream) {
  Array end;
  if (stream->get_next(stream.get(), end.out()) != 0) return stream->get_last_error(stream.get());
  return end->array.release == nullptr ? "" : "another batch";
}

TEST_CASE("arrays of every type go to a client without a copy") {
  begin();
  const std::string uri = new_address();
  const Peer peer([&](int socket) {
    for (int64_t number = 0; hear(socket) == "next"; ++number) {
      const HostCase& one = asked_cases()[static_cast<size_t>(number)];
      if (!is_writable(one.type)) continue;
      DeviceStream stream = connect(uri + "?name=" + std::to_string(number));
      Schema schema;
      must(arrowdevice_stream_get_schema, stream.get(), schema.out());
      std::string found;
      for (int i = 0; i < 2; ++i) {
        const Array array = next(stream);
        const Array expected = from_host(one.array(Ledger()));
        found += difference(*one.schema(), expected->array, *schema, array->array);
        if (found.empty()) found = problem(*schema, array->array);
      }
      say(socket, found + rest_of(stream));
    }
  });
  const Server server(server_options(0, ARROWDEVICE_COPY_NEVER), uri);
  const Pool pool = make_shareable_pool();
  Releases releases;
  int64_t number = 0;
  int64_t sent = 0;
  for (const HostCase& one : asked_cases()) {
    INFO(one.name);
    const std::string name = std::to_string(number++);
    if (is_writable(one.type)) {
      const Schema schema = one.schema();
      const Array host = from_host(one.array(Ledger()));
      Array arrays[2];
      for (auto& array : arrays) array = releases.count(copy(*host, *schema, cpu(), 0, nullptr, pool.get()));
      ArrowDeviceArray both[2] = {*arrays[0], *arrays[1]};
      for (auto& array : arrays) array->array.release = nullptr;
      must(arrowdevice_server_add_arrays, server.get(), name.c_str(), schema.get(), both, int64_t{2});
      for (auto& array : both) array.array.release(&array.array);
      sent += 2;
    }
    say(peer.socket(), "next");
    if (!is_writable(one.type)) continue;
    REQUIRE(peer.answer() == "");
    must(arrowdevice_server_remove, server.get(), name.c_str());
  }
  CHECK(server.stats().batches == sent);
  CHECK(server.stats().bytes > 0);
  CHECK(server.stats().copied_bytes == 0);
  CHECK(releases.reach(sent));
  until([&] { return used_bytes(pool) == 0; });
}

TEST_CASE("a stream ends as its producer ends, and its batches come back") {
  begin();
  const Sample sample(mixed_batch(), {.rows = 70});
  const auto producer = batches_of(sample, stream_test::kRows);
  Server server;
  server.add("rows", stream_of(producer));
  CHECK(contains(refused_connect(ENOENT, server.at("other")), "there is no stream other; the server has: rows"));
  {
    DeviceStream stream = connect(server.at("rows"));
    CHECK(stream->device_type == ARROW_DEVICE_CPU);
    CHECK(difference_of_rest(sample, stream_test::kRows, stream) == "");
    CHECK(rest_of(stream) == "");
  }
  CHECK(server.stats().copied_bytes == server.stats().bytes);
  CHECK(contains(refused_connect(EBUSY, server.at("rows")), "another client has taken the stream"));
  until([&] { return producer->releases == 1 && server.stats().clients == 0; });
}

TEST_CASE("the only stream of a server needs no name") {
  begin();
  const Sample sample(field("l"), kPlain);
  Server server;
  CHECK(contains(refused_connect(ENOENT, server.uri()), "the address names no stream; the server has none"));
  server.add("one", stream_of(batches_of(sample, stream_test::kRows)));
  DeviceStream stream = connect(server.uri());
  CHECK(difference_of_rest(sample, stream_test::kRows, stream) == "");
  server.add("two", stream_of(batches_of(sample, stream_test::kRows)));
  CHECK(contains(refused_connect(ENOENT, server.uri()), "the server has: one, two"));
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

TEST_CASE("a server sends no more than the client has room for") {
  begin();
  const Sample sample(field("l"), {.rows = 100});
  constexpr int64_t kWindow = 5;
  Server server;
  const auto producer = batches_of(sample, 1);
  server.add("rows", stream_of(producer));
  auto options = connect_options();
  options.most_batches = kWindow;
  DeviceStream stream = connect(server.uri(), nullptr, options);
  until([&] { return producer->calls == kWindow; });
  for (int64_t taken = 1; taken < 20; ++taken) {
    const Array array = next(stream);
    CHECK(producer->calls <= kWindow + taken);
  }
  stream.reset();
  const auto large = batches_of(sample, 50);
  server.add("large", stream_of(large));
  options.most_batches = 0;
  options.most_bytes = 8;  // less than one batch
  DeviceStream bounded = connect(server.at("large"), nullptr, options);
  until([&] { return large->calls == 1; });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  CHECK(large->calls == 1);
  CHECK(difference_of_rest(sample, 50, bounded) == "");
}

TEST_CASE("a consumer that keeps batches gets the others") {
  begin();
  const Sample sample(field("u"), {.rows = 500});
  Server server;
  server.add("rows", stream_of(batches_of(sample, 1)));
  DeviceStream stream = connect(server.uri());
  std::vector<Array> kept;
  for (int i = 0; i < 500; ++i) kept.push_back(next(stream));
  CHECK(rest_of(stream) == "");
  stream.reset();
  for (int64_t i = 0; i < 500; ++i) CHECK(difference(sample, *kept[static_cast<size_t>(i)], i) == "");
  CHECK(server.stats().clients == 1);
  for (auto& array : kept) array.reset();
  until([&] { return server.stats().clients == 0; });
}

TEST_CASE("batches that are released after the end come back at once") {
  begin();
  const Sample sample(field("l"), {.rows = 100});
  const Pool pool = make_shareable_pool();
  Server server(server_options(0, ARROWDEVICE_COPY_NEVER));
  const auto producer = std::make_shared<Producer>(field("l"));
  Releases releases;
  for (int i = 0; i < 5; ++i) {
    producer->steps.push_back({releases.count(copy(*sample.host, *sample.schema, cpu(), 0, nullptr, pool.get()))});
  }
  server.add("rows", stream_of(producer));
  DeviceStream stream = connect(server.uri());
  std::vector<Array> kept;
  for (int i = 0; i < 5; ++i) kept.push_back(next(stream));
  CHECK(rest_of(stream) == "");
  kept.clear();
  CHECK(releases.reach(5));  // although the stream is not released
}

TEST_CASE("memory that the server has freed does not stay open in the client") {
  begin();
  const Sample sample(field("l"), {.rows = 100'000});
  const Pool pool = make_shareable_pool();
  must(arrowdevice_pool_trim, pool.get());  // what earlier tests left
  Server server(server_options(0, ARROWDEVICE_COPY_NEVER));
  const auto producer = std::make_shared<Producer>(field("l"));
  for (int i = 0; i < 3; ++i) {
    producer->steps.push_back({copy(*sample.host, *sample.schema, cpu(), 0, nullptr, pool.get())});
  }
  Gate gate(2);
  producer->on_next = gate.callback();
  server.add("rows", stream_of(producer));
  DeviceStream stream = connect(server.uri());
  const int64_t before = shared_mappings();
  {
    const Array first = next(stream);
    const Array second = next(stream);
    CHECK(shared_mappings() == before + 2);
  }
  // The owner's two go, and the client's two stay open.
  until([&] {
    must(arrowdevice_pool_trim, pool.get());
    return shared_mappings() == before;
  });
  gate.let(100);
  const Array third = next(stream);
  CHECK(shared_mappings() == before - 1);  // of the third: the owner's, and the client's instead of the two
  CHECK(difference(sample, *third) == "");
}

TEST_CASE("copies are ruled out by either side, or made") {
  begin();
  const Sample sample(field("l").named("n"), kPlain);
  const auto rows = [&] { return stream_of(batches_of(sample, stream_test::kRows)); };
  Server never(server_options(0, ARROWDEVICE_COPY_NEVER));
  never.add("rows", rows());
  DeviceStream first = connect(never.uri());
  CHECK(
      contains(next_fails(ENOTSUP, first), "is not in memory that other processes can open, and copying is ruled out"));
  Server server;
  server.add("rows", rows());
  DeviceStream second = connect(server.uri(), nullptr, connect_options(ARROWDEVICE_COPY_NEVER));
  CHECK(contains(next_fails(ENOTSUP, second), "copying is ruled out"));
  const Pool pool = make_shareable_pool();
  Releases releases;
  Array shareable = releases.count(copy(*sample.host, *sample.schema, cpu(), 0, nullptr, pool.get()));
  const auto producer = std::make_shared<Producer>(field("l"));
  producer->steps.push_back({std::move(shareable)});
  server.add("copied", stream_of(producer));
  DeviceStream third = connect(server.at("copied"), nullptr, connect_options(ARROWDEVICE_COPY_ALWAYS));
  const Array array = next(third);
  CHECK(rest_of(third) == "");
  CHECK(releases.reach(1));  // although the client has the array
  CHECK(difference(sample, *array) == "");
  CHECK(difference(sample, *array) == "");
}

TEST_CASE("streams of devices are sent as they are, or copied to the CPU") {
  begin();
  const Sample sample(mixed_batch(), {.rows = 70});
  for (const int64_t id : {kAddresses[0], kHandles[0]}) {
    Server server;
    const Pool pool = make_shareable_pool(sim(id));
    Array array = copy(*sample.host, *sample.schema, sim(id), 0, nullptr, pool.get());
    server.add("shared", sample.schema, array);
    DeviceStream stream = connect(server.at("shared"));
    CHECK(stream->device_type == ARROW_DEVICE_EXT_DEV);
    const Array there = next(stream);
    CHECK(there->device_id == id);
    CHECK(difference(sample, *there) == "");
    CHECK(server.stats().copied_bytes == 0);
    DeviceStream home = connect(server.at("shared"), cpu());
    CHECK(home->device_type == ARROW_DEVICE_CPU);
    CHECK(difference(sample, *next(home)) == "");
    CHECK(server.stats().copied_bytes > 0);
    DeviceStream other = connect(server.at("shared"), sim(kAddresses[1]));
    const Array moved = next(other);
    CHECK(moved->device_id == kAddresses[1]);
    CHECK(difference(sample, *moved) == "");
    CHECK(contains(refused_connect(ENOTSUP, server.at("shared"), cpu(), connect_options(ARROWDEVICE_COPY_NEVER)),
                   "copying is ruled out"));
  }
}

TEST_CASE("a source opens a stream for each client") {
  begin();
  const Sample sample(field("l"), kPlain);
  struct User {
    const Sample& sample;
    std::atomic<int> opened{0};
    std::atomic<int> released{0};
  } user{sample};
  const auto open = [](void* data, ArrowDeviceArrayStream* out, arrowdevice_error* error) {
    auto& here = *static_cast<User*>(data);
    if (++here.opened >= 3) {
      std::snprintf(error->message, sizeof error->message, "no more than two");
      return EAGAIN;
    }
    *out = stream_of(batches_of(here.sample, stream_test::kRows)).take();
    return 0;
  };
  const auto release = [](void* data) { ++static_cast<User*>(data)->released; };
  Server server;
  must(arrowdevice_server_add_source, server.get(), "rows", +open, static_cast<void*>(&user), +release);
  CHECK(contains(
      refused(EEXIST, arrowdevice_server_add_source, server.get(), "rows", +open, static_cast<void*>(&user), +release),
      "the server has a stream rows"));
  CHECK(user.released == 0);
  DeviceStream first = connect(server.uri());
  DeviceStream second = connect(server.uri());
  CHECK(difference_of_rest(sample, stream_test::kRows, first) == "");
  CHECK(difference_of_rest(sample, stream_test::kRows, second) == "");
  CHECK(refused_connect(EAGAIN, server.uri()) == "no more than two");
  must(arrowdevice_server_remove, server.get(), "rows");
  until([&] { return user.released == 1; });
  CHECK(contains(refused(ENOENT, arrowdevice_server_remove, server.get(), "rows"), "has no stream rows"));
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
    DeviceStream stream = connect(server.at("slow"), nullptr, connect_options(0, 30'000'000));
    const Array first = next(stream);
    CHECK(contains(next_fails(ETIMEDOUT, stream), "sent nothing in time"));
    CHECK(contains(next_fails(ETIMEDOUT, stream), "sent nothing in time"));
  }
  gate.let(100);
  until([&] { return producer->releases == 1; });
  const auto blocked = batches_of(sample, stream_test::kRows);
  Gate closed(0);
  blocked->on_next = closed.callback();
  server.add("blocked", stream_of(blocked));
  DeviceStream stream = connect(server.at("blocked"));
  std::thread canceller([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    must(arrowdevice_stream_cancel, stream.get());
  });
  CHECK(contains(next_fails(ECANCELED, stream), "cancelled"));
  canceller.join();
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
  options.most_batches = 3;
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
  until([&] { return producer->calls >= 2; });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  server.reset();
  CHECK(producer->releases == 1);
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
  options.most_batches = 1;
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

TEST_CASE("batches that are released early and late leave the numbers right") {
  begin();
  const Sample sample(field("l"), {.rows = 3000});
  const Pool pool = make_shareable_pool();
  Server server;
  const auto producer = std::make_shared<Producer>(field("l"));
  Array all = copy(*sample.host, *sample.schema, cpu(), 0, nullptr, pool.get());
  for (int64_t i = 0; i < 3000; ++i) producer->steps.push_back({slice(*all, *sample.schema, i, 1)});
  server.add("rows", stream_of(producer));
  DeviceStream stream = connect(server.uri());
  std::vector<Array> kept;
  for (int64_t i = 0; i < 3000; ++i) {
    Array array = next(stream);
    if (static_cast<const int64_t*>(array->array.buffers[1])[array->array.offset] !=
        static_cast<const int64_t*>(all->array.buffers[1])[i]) {
      FAIL("row " << i << " is another one");
    }
    if (i % 3 != 0) kept.push_back(std::move(array));
    if (i % 100 == 99) kept.clear();
  }
  CHECK(rest_of(stream) == "");
}

TEST_CASE("64 clients read at once") {
  begin();
  const Sample sample(mixed_batch(), {.rows = 200});
  Server server;
  Array array = copy(sample, cpu());
  server.add("shared", sample.schema, array);
  std::atomic<int> good{0};
  std::vector<std::thread> clients;
  std::vector<DeviceStream> streams;
  for (int i = 0; i < 64; ++i) streams.push_back(connect(server.uri()));
  CHECK(contains(refused_connect(EBUSY, server.uri()), "the server has 64 clients, which is its limit"));
  for (auto& stream : streams) {
    clients.emplace_back([&] {  // no assertion, because only one thread may make them
      Array there;
      good += stream->get_next(stream.get(), there.out()) == 0 && difference(sample, *there) == "";
    });
  }
  for (auto& client : clients) client.join();
  CHECK(good == 64);
}

}  // namespace

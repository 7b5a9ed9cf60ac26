// SPDX-License-Identifier: Apache-2.0
// Streams between processes: values, memory and limits.
#include <atomic>
#include <thread>

#include "ipc_batches.h"
#include "link_streams.h"

namespace {

using namespace link_test;  // NOLINT: what every line of these tests is written with
using ipc_test::is_writable;

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

TEST_CASE("a server sends no more than the client has room for") {
  begin();
  const Sample sample(field("l"), {.rows = 100});
  constexpr int64_t kWindow = 5;
  Server server;
  const auto producer = batches_of(sample, 1);
  server.add("rows", stream_of(producer));
  auto options = connect_options();
  options.max_batches = kWindow;
  DeviceStream stream = connect(server.uri(), nullptr, options);
  until([&] { return producer->calls == kWindow; });
  for (int64_t taken = 1; taken < 20; ++taken) {
    const Array array = next(stream);
    CHECK(producer->calls <= kWindow + taken);
  }
  stream.reset();
  const auto bytes = batches_of(sample, 1);
  server.add("bytes", stream_of(bytes));
  options.max_batches = 0;
  options.max_bytes = 3 * 8;
  DeviceStream bounded = connect(server.at("bytes"), nullptr, options);
  for (int64_t taken = 1; taken < 20; ++taken) {
    const Array array = next(bounded);
    CHECK(bytes->calls <= 3 + taken);
  }
  const auto large = batches_of(sample, 50);  // each is more than the limit
  server.add("large", stream_of(large));
  DeviceStream one_by_one = connect(server.at("large"), nullptr, options);
  CHECK(difference_of_rest(sample, 50, one_by_one) == "");
}

TEST_CASE("a consumer gets thousands of batches one at a time") {
  begin();
  const Sample sample(field("l"), {.rows = 5000});
  Server server;
  server.add("rows", stream_of(batches_of(sample, 1)));
  auto options = connect_options();
  options.max_batches = 1;
  DeviceStream stream = connect(server.uri(), nullptr, options);
  CHECK(difference_of_rest(sample, 1, stream) == "");
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
  Server server(server_options(0, ARROWDEVICE_COPY_NEVER));
  const auto producer = std::make_shared<Producer>(field("l"));
  for (int i = 0; i < 3; ++i) {
    producer->steps.push_back({copy(*sample.host, *sample.schema, cpu(), 0, nullptr, pool.get())});
  }
  Gate gate(2);
  producer->on_next = gate.callback();
  server.add("rows", stream_of(producer));
  DeviceStream stream = connect(server.uri());
  uint64_t files[2] = {};
  {
    const Array first = next(stream);
    const Array second = next(stream);
    files[0] = file_at(first->array.buffers[1]);
    files[1] = file_at(second->array.buffers[1]);
    REQUIRE(files[0] != files[1]);
    for (const auto file : files) CHECK(mappings_of(file) == 2);  // of the owner and of the client
  }
  for (const auto file : files) {
    until([&] {
      must(arrowdevice_pool_trim, pool.get());
      return mappings_of(file) == 1;  // the client keeps it open for other batches
    });
  }
  gate.let(100);
  const Array third = next(stream);
  for (const auto file : files) CHECK(mappings_of(file) == 0);
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

TEST_CASE("a stream stays for others if a client cannot get it without a copy") {
  begin();
  const Sample sample(field("l"), {.rows = 70});
  const Pool pool = make_shareable_pool(sim(kAddresses[0]));
  Server server(server_options(0, ARROWDEVICE_COPY_NEVER));
  const auto producer = std::make_shared<Producer>(field("l"));
  producer->steps.push_back({copy(*sample.host, *sample.schema, sim(kAddresses[0]), 0, nullptr, pool.get())});
  server.add("rows", stream_of(producer, ARROW_DEVICE_EXT_DEV));
  DeviceStream refused = connect(server.uri(), cpu());
  CHECK(contains(next_fails(ENOTSUP, refused), "copying is ruled out"));
  DeviceStream stream = connect(server.uri());
  CHECK(difference(sample, *next(stream)) == "");
}

// A forked child cannot use the devices of its parent, as a process without the driver.
TEST_CASE("a client without the server's device gets the batches on the CPU") {
  begin();
  const Sample sample(mixed_batch(), {.rows = 70});
  const Pool pool = make_shareable_pool(sim(kAddresses[0]));
  Server server;
  Array array = copy(*sample.host, *sample.schema, sim(kAddresses[0]), 0, nullptr, pool.get());
  server.add("rows", sample.schema, array);
  const Peer peer([&](int socket) {
    const auto never = connect_options(ARROWDEVICE_COPY_NEVER);
    DeviceStream none;
    const int code = arrowdevice_stream_connect(server.uri().c_str(), nullptr, &never, none.out(), nullptr);
    say(socket, std::to_string(code));
    DeviceStream stream = connect(server.uri());
    expect(stream->device_type == ARROW_DEVICE_CPU, "the stream is not on the CPU");
    say(socket, difference(sample, *next(stream)));
  });
  CHECK(peer.answer() == std::to_string(ENODEV));
  CHECK(peer.answer() == "");
  CHECK(server.stats().copied_bytes == server.stats().bytes);
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

// SPDX-License-Identifier: Apache-2.0
// Arrays go to other processes by handles, and their memory comes back.
#include "ipc_batches.h"
#include "link_peer.h"

namespace {

using namespace link_test;  // NOLINT: what every line of these tests is written with
using ipc_test::is_writable;

Array in_pool(const Array& array, const Schema& schema, const Pool& pool) {
  return copy(*array, *schema, cpu(), 0, nullptr, pool.get());
}

Array host_array(const HostCase& one) { return from_host(one.array(Ledger())); }

TEST_CASE("arrays of every type go to another process without a copy") {
  begin();
  const Pool pool = make_shareable_pool();
  Releases releases;
  int64_t sent = 0;
  const Peer peer([](int socket) {
    for (const HostCase& one : asked_cases()) {
      if (!is_writable(one.type)) continue;
      const Schema schema = one.schema();
      const Array expected = host_array(one);
      const Received handle = receive_handle(socket);
      std::string found;
      for (const uint32_t flags : {uint32_t{0}, uint32_t{ARROWDEVICE_COPY_ALWAYS}}) {
        const auto options = copy_options(flags);
        const Opened opened = open_received(handle, &options);
        found += difference(*schema, expected->array, *opened.schema, opened.array->array);
        if (found.empty()) found = problem(*opened.schema, opened.array->array);
      }
      say(socket, found);
    }
  });
  for (const HostCase& one : asked_cases()) {
    if (!is_writable(one.type)) continue;
    INFO(one.name);
    const Schema schema = one.schema();
    Array array = releases.count(in_pool(host_array(one), schema, pool));
    const Handle handle = get_handle(array, schema, ARROWDEVICE_COPY_NEVER);
    CHECK(handle->copied_bytes == 0);
    send_handle(peer.socket(), *handle);
    REQUIRE(peer.answer() == "");
    ++sent;
  }
  CHECK(releases.reach(sent));
  CHECK(used_bytes(pool) == 0);
}

TEST_CASE("slices and arrays with a name, flags and metadata keep them") {
  begin();
  const Pool pool = make_shareable_pool();
  Sample sample(mixed_batch(), {.rows = 60});
  Array array = in_pool(sample.host, sample.schema, pool);
  Array part = slice(*array, *sample.schema, 13, 30);
  sample.schema->name = "rows";
  sample.schema->flags = ARROW_FLAG_NULLABLE;
  const Handle handle = get_handle(part, sample.schema, ARROWDEVICE_COPY_NEVER);
  const Opened opened = open_received(received(*handle));
  CHECK(difference(sample, *opened.array, 13) == "");
  CHECK(std::string(opened.schema->name) == "rows");
  CHECK(opened.schema->flags == ARROW_FLAG_NULLABLE);
  CHECK(opened.array->device_type == ARROW_DEVICE_CPU);
  CHECK(opened.array->device_id == -1);
}

TEST_CASE("arrays in other memory are copied once, or refused with the reason") {
  begin();
  Sample sample(struct_of({field("l").not_null().named("prices"), field("u").named("names")}).not_null(), kPlain);
  const auto never = copy_options(ARROWDEVICE_COPY_NEVER);
  Handle refused_handle;
  CHECK(contains(refused(ENOTSUP, arrowdevice_array_get_ipc_handle, sample.host.get(), sample.schema.get(), &never,
                         refused_handle.out()),
                 "batch.prices: the data buffer is not in memory that other processes can open"));
  CHECK(refused_handle->release == nullptr);
  const Handle handle = get_handle(sample.host, sample.schema);
  CHECK(handle->copied_bytes > kPlain.rows * 8);
  sample.host.reset();
  CHECK(sample.ledger.live() == 0);  // the handle has the copy
  const Opened opened = open_received(received(*handle));
  CHECK(difference(sample, *opened.array) == "");
}

TEST_CASE("a copy is made if the caller asks for it, in the caller's pool") {
  begin();
  const Pool pool = make_shareable_pool();
  Sample sample(field("u"), kPlain);
  Array array = in_pool(sample.host, sample.schema, pool);
  const int64_t before = used_bytes(pool);
  const Handle handle = get_handle(array, sample.schema, ARROWDEVICE_COPY_ALWAYS, pool.get());
  CHECK(handle->copied_bytes > 0);
  CHECK(used_bytes(pool) > before);
  const Pool other = make_pool(cpu());
  const auto options = copy_options(0, nullptr, other.get());
  Handle none;
  CHECK(contains(
      refused(EINVAL, arrowdevice_array_get_ipc_handle, array.get(), sample.schema.get(), &options, none.out()),
      "POOL_SHAREABLE"));
}

TEST_CASE("an array over more allocations than a handle has descriptors for is copied") {
  begin();
  const Pool pool = make_shareable_pool();
  std::vector<Field> columns;
  for (int i = 0; i < 40; ++i) columns.push_back(field("l").named("c" + std::to_string(i)));
  const Sample sample(struct_of(columns).not_null(), {.rows = 50'000});
  std::vector<Array> parts;
  Owned<ArrowArray> whole(sample.array().take().array);
  for (int64_t i = 0; i < whole->n_children; ++i) {
    Array column(ArrowDeviceArray{.array = *whole->children[i],
                                  .device_id = -1,
                                  .device_type = ARROW_DEVICE_CPU,
                                  .sync_event = nullptr,
                                  .reserved = {}});
    whole->children[i]->release = nullptr;
    const Schema schema = make_schema(columns[static_cast<size_t>(i)]);
    *whole->children[i] = in_pool(column, schema, pool).take().array;
  }
  Array array = from_host(std::move(whole));
  const auto never = copy_options(ARROWDEVICE_COPY_NEVER);
  Handle none;
  CHECK(
      contains(refused(ENOTSUP, arrowdevice_array_get_ipc_handle, array.get(), sample.schema.get(), &never, none.out()),
               "in more than 31 allocations"));
  const Handle handle = get_handle(array, sample.schema);
  CHECK(handle->n_descriptors == 2);
  CHECK(difference(sample, *open_received(received(*handle)).array) == "");
}

TEST_CASE("the memory comes back when the last copy of the handle is closed") {
  begin();
  const Pool pool = make_shareable_pool();
  const Sample sample(mixed_batch(), kPlain);
  Releases releases;
  Array array = releases.count(in_pool(sample.host, sample.schema, pool));
  Handle handle = get_handle(array, sample.schema, ARROWDEVICE_COPY_NEVER);
  array.reset();
  Received unread = received(*handle);
  std::vector<Opened> opened;
  for (int i = 0; i < 3; ++i) opened.push_back(open_received(unread));
  handle.reset();
  CHECK(used_bytes(pool) > 0);
  unread = {};
  opened.resize(1);
  CHECK(used_bytes(pool) > 0);
  CHECK(difference(sample, *opened.front().array) == "");
  CHECK(releases.released() == 0);
  opened.clear();
  CHECK(releases.reach(1));
  CHECK(used_bytes(pool) == 0);
}

TEST_CASE("the array of a producer is released when the last copy of the handle is closed") {
  begin();
  const Pool pool = make_shareable_pool();
  auto* const values = static_cast<int64_t*>(output_of(arrowdevice_buffer_allocate, cpu(), pool.get(), nullptr, 800));
  for (int64_t i = 0; i < 100; ++i) values[i] = i;
  const void* buffers[] = {nullptr, values};
  Owned<ArrowArray> host;
  *host = {.length = 100,
           .null_count = 0,
           .offset = 0,
           .n_buffers = 2,
           .n_children = 0,
           .buffers = buffers,
           .children = nullptr,
           .dictionary = nullptr,
           .release = [](ArrowArray* array) { array->release = nullptr; },
           .private_data = nullptr};
  Releases releases;
  Array array = releases.count(from_host(std::move(host)));
  const Schema schema = make_schema(field("l"));
  Handle handle = get_handle(array, schema, ARROWDEVICE_COPY_NEVER);
  array.reset();
  CHECK(releases.released() == 0);
  handle.reset();
  CHECK(releases.reach(1));
  arrowdevice_buffer_free(cpu(), nullptr, values);
}

TEST_CASE("the memory comes back from a process that is killed") {
  begin();
  const Pool pool = make_shareable_pool();
  const Sample sample(mixed_batch(), kPlain);
  Peer holder([](int socket) {
    const Opened opened = open_received(receive_handle(socket));
    say(socket, "opened");
    hear(socket);
  });
  Peer idle([](int) { pause(); });  // never reads
  Releases releases;
  for (Peer* const peer : {&holder, &idle}) {
    Array array = releases.count(in_pool(sample.host, sample.schema, pool));
    send_handle(peer->socket(), *get_handle(array, sample.schema, ARROWDEVICE_COPY_NEVER));
  }
  CHECK(holder.answer() == "opened");
  CHECK(releases.released() == 0);
  holder.kill();
  CHECK(releases.reach(1));
  idle.kill();  // with its message unread
  CHECK(releases.reach(2));
  CHECK(used_bytes(pool) == 0);
}

TEST_CASE("an array that is copied when it is opened does not depend on its owner") {
  begin();
  const Pool pool = make_shareable_pool();
  const Pool own = make_pool(cpu());
  const Sample sample(field("u"), kPlain);
  for (auto* const copies : {static_cast<arrowdevice_pool*>(nullptr), own.get()}) {
    Releases releases;
    Array array = releases.count(in_pool(sample.host, sample.schema, pool));
    Handle handle = get_handle(array, sample.schema, ARROWDEVICE_COPY_NEVER);
    auto options = copy_options(ARROWDEVICE_COPY_ALWAYS);
    options.pool = copies;
    Opened opened = open_received(received(*handle), &options);
    CHECK((used_bytes(own) > 0) == (copies != nullptr));
    auto* const offsets = static_cast<int32_t*>(const_cast<void*>(array->array.buffers[1]));
    offsets[array->array.length] = INT32_MAX;  // the owner can still write its memory
    CHECK(problem(*opened.schema, opened.array->array) == "");
    CHECK(difference(sample, *opened.array) == "");
    array.reset();
    handle.reset();
    CHECK(releases.reach(1));
    CHECK(used_bytes(pool) == 0);
    CHECK(difference(sample, *opened.array) == "");
    // It is not in memory that other processes can open.
    CHECK(get_handle(opened.array, opened.schema)->copied_bytes > 0);
    opened.array.reset();
    CHECK(used_bytes(own) == 0);
  }
}

TEST_CASE("options that do not fit the array of a handle are refused") {
  begin();
  Sample sample(field("l"), kPlain);
  const Received handle = received(*get_handle(sample.host, sample.schema));
  const auto refusal = [&](const std::function<void(arrowdevice_copy_options&)>& spoil) {
    auto options = copy_options(ARROWDEVICE_COPY_ALWAYS);
    spoil(options);
    int code = 0;
    const std::string why = refused_open(handle.bytes, handle.numbers(), &code, &options);
    CHECK(code == EINVAL);
    return why;
  };
  const Pool elsewhere = make_pool(sim(0));
  const Queue queue = make_queue(cpu());
  CHECK(contains(refusal([&](auto& options) { options.queue = queue.get(); }), "options.queue is set"));
  CHECK(contains(refusal([&](auto& options) { options.pool = elsewhere.get(); }), "pool"));
  CHECK(contains(refusal([&](auto& options) { options.source_device = sim(0); }),
                 "options.source_device is ext_dev:0, and the array is on a cpu device"));
  CHECK(contains(refusal([&](auto& options) { options.flags |= 1U << 20; }), "flags"));
}

TEST_CASE("an array stays readable after its owner was killed") {
  begin();
  const Sample sample(mixed_batch(), kPlain);
  Peer owner([&](int socket) {
    Array array = share(const_cast<Array&>(sample.host));
    send_handle(socket, *get_handle(array, sample.schema));
    hear(socket);
  });
  const Received handle = receive_handle(owner.socket());
  owner.kill();
  const Opened opened = open_received(handle);
  CHECK(difference(sample, *opened.array) == "");
  const Array copied = copy(*opened.array, *opened.schema, cpu(), ARROWDEVICE_COPY_ALWAYS);
  CHECK(difference(sample, *copied) == "");
}

TEST_CASE("a forked child does not keep the handles of its parent") {
  begin();
  const Pool pool = make_shareable_pool();
  const Sample sample(field("u"), kPlain);
  Releases releases;
  Array array = releases.count(in_pool(sample.host, sample.schema, pool));
  Handle handle = get_handle(array, sample.schema, ARROWDEVICE_COPY_NEVER);
  array.reset();
  const Peer child([&](int socket) {
    // The child has handles of its own meanwhile, with the same numbers.
    Array own = copy(*sample.host, *sample.schema, cpu());
    const Handle own_handle = get_handle(own, sample.schema);
    expect(handle->descriptors[0] == -1, "the parent's handle has a descriptor");
    handle.reset();
    const Opened opened = open_received(received(*own_handle));
    say(socket, difference(sample, *opened.array));
    hear(socket);
  });
  CHECK(child.answer() == "");
  CHECK(releases.released() == 0);
  handle.reset();
  CHECK(releases.reach(1));
  CHECK(used_bytes(pool) == 0);
}

TEST_CASE("a child of a process that has opened an array keeps it") {
  begin();
  const Pool pool = make_shareable_pool();
  const Sample sample(field("u"), kPlain);
  Releases releases;
  Array array = releases.count(in_pool(sample.host, sample.schema, pool));
  Opened opened = open_received(received(*get_handle(array, sample.schema, ARROWDEVICE_COPY_NEVER)));
  array.reset();
  {
    const Peer child([&](int socket) {
      hear(socket);
      say(socket, difference(sample, *opened.array));
      hear(socket);
    });
    opened.array.reset();
    say(child.socket(), "read");
    CHECK(child.answer() == "");
    CHECK(releases.released() == 0);
  }
  CHECK(releases.reach(1));
  CHECK(used_bytes(pool) == 0);
}

TEST_CASE("an allocation that is open is not mapped again") {
  begin();
  const Pool pool = make_shareable_pool();
  const Sample sample(field("l"), {.rows = 1000});
  Array first = in_pool(sample.host, sample.schema, pool);
  Array second = in_pool(sample.host, sample.schema, pool);
  const Opened one = open_received(received(*get_handle(first, sample.schema)));
  const Opened other = open_received(received(*get_handle(second, sample.schema)));
  const auto distance = [](const Array& from, const Array& to) {
    return static_cast<const char*>(to->array.buffers[1]) - static_cast<const char*>(from->array.buffers[1]);
  };
  CHECK(distance(one.array, other.array) == distance(first, second));
}

// Runs with ARROWDEVICE_SHAREABLE_POOLS=cpu.
TEST_CASE("the environment makes default pools shareable", "[.shareable pools]") {
  begin();
  const Sample sample(mixed_batch(), kPlain);
  Array array = copy(*sample.host, *sample.schema, cpu());
  const Handle handle = get_handle(array, sample.schema, ARROWDEVICE_COPY_NEVER);
  CHECK(handle->copied_bytes == 0);
  const Opened opened = open_received(received(*handle));
  CHECK(difference(sample, *opened.array) == "");
  must(arrowdevice_device_set_pool, cpu(), nullptr);
  const int64_t before = stats(default_pool(cpu())).allocations;
  std::vector<Array> there;
  for (const int64_t id : {kAddresses[0], kHandles[0]}) there.push_back(copy(*sample.host, *sample.schema, sim(id)));
  CHECK(stats(default_pool(cpu())).allocations == before);  // staging memory is not shareable
  for (const Array& one : there) CHECK(difference(sample, *one) == "");
  Array again = copy(*sample.host, *sample.schema, cpu());
  CHECK(get_handle(again, sample.schema, ARROWDEVICE_COPY_NEVER)->copied_bytes == 0);
}

}  // namespace

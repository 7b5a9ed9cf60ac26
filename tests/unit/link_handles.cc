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
  const Peer peer([](int socket) {
    for (const HostCase& one : asked_cases()) {
      if (!is_writable(one.type)) continue;
      const Schema schema = one.schema();
      const Array expected = host_array(one);
      const Opened opened = open_received(receive_handle(socket));
      const auto found = difference(*schema, expected->array, *opened.schema, opened.array->array);
      say(socket, found.empty() ? problem(*opened.schema, opened.array->array) : found);
    }
  });
  for (const HostCase& one : asked_cases()) {
    if (!is_writable(one.type)) continue;
    INFO(one.name);
    const Schema schema = one.schema();
    Array array = in_pool(host_array(one), schema, pool);
    const Handle handle = get_handle(array, schema, ARROWDEVICE_COPY_NEVER);
    CHECK(handle->copied_bytes == 0);
    send_handle(peer.socket(), *handle);
    REQUIRE(peer.answer() == "");
  }
  CHECK(becomes_true([&] { return used_bytes(pool) == 0; }));
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
  Array array = in_pool(sample.host, sample.schema, pool);
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
  opened.clear();
  CHECK(becomes_true([&] { return used_bytes(pool) == 0; }));
}

TEST_CASE("the array of a producer is released when the last copy of the handle is closed") {
  begin();
  const Pool pool = make_shareable_pool();
  auto* const values = static_cast<int64_t*>(output_of(arrowdevice_buffer_allocate, cpu(), pool.get(), nullptr, 800));
  for (int64_t i = 0; i < 100; ++i) values[i] = i;
  struct Foreign {
    const void* buffers[2];
    std::atomic<bool> is_released{false};
  } foreign{{nullptr, values}, {}};
  Owned<ArrowArray> host;
  *host = {.length = 100,
           .null_count = 0,
           .offset = 0,
           .n_buffers = 2,
           .n_children = 0,
           .buffers = foreign.buffers,
           .children = nullptr,
           .dictionary = nullptr,
           .release =
               [](ArrowArray* array) {
                 static_cast<Foreign*>(array->private_data)->is_released = true;
                 array->release = nullptr;
               },
           .private_data = &foreign};
  Array array = from_host(std::move(host));
  const Schema schema = make_schema(field("l"));
  Handle handle = get_handle(array, schema, ARROWDEVICE_COPY_NEVER);
  array.reset();
  CHECK(!foreign.is_released);
  handle.reset();
  CHECK(becomes_true([&] { return foreign.is_released.load(); }));
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
  Peer idle([](int socket) { hear(socket); });
  for (Peer* const peer : {&holder, &idle}) {
    Array array = in_pool(sample.host, sample.schema, pool);
    send_handle(peer->socket(), *get_handle(array, sample.schema, ARROWDEVICE_COPY_NEVER));
  }
  CHECK(holder.answer() == "opened");
  CHECK(used_bytes(pool) > 0);
  holder.kill();
  idle.kill();  // with its message unread
  CHECK(becomes_true([&] { return used_bytes(pool) == 0; }));
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
  Array array = in_pool(sample.host, sample.schema, pool);
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
  CHECK(used_bytes(pool) > 0);
  handle.reset();
  CHECK(becomes_true([&] { return used_bytes(pool) == 0; }));
}

TEST_CASE("a child of a process that has opened an array keeps it") {
  begin();
  const Pool pool = make_shareable_pool();
  const Sample sample(field("u"), kPlain);
  Array array = in_pool(sample.host, sample.schema, pool);
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
    CHECK(used_bytes(pool) > 0);
  }
  CHECK(becomes_true([&] { return used_bytes(pool) == 0; }));
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

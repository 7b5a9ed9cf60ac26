// SPDX-License-Identifier: Apache-2.0
// Tests arrowdevice.hpp: owners release once, keep their struct if a call fails, and throw the library's
// message.
#include "cpp/cpp.h"

#include <poll.h>
#include <unistd.h>

#include <functional>
#include <future>

namespace {

using namespace cpp_test;  // NOLINT: what every line of these tests is written with

// An array {value: int32}. It counts its releases.
struct Made {
  std::vector<int32_t> values;
  std::vector<const void*> column_buffers, root_buffers{nullptr};
  ArrowArray column{}, *columns[1] = {&column};
  int releases = 0;

  explicit Made(int32_t rows) {
    for (int32_t i = 0; i < rows; ++i) values.push_back(i * i);
    column_buffers = {nullptr, values.data()};
  }

  ad::Array array() {
    column.length = static_cast<int64_t>(values.size());
    column.n_buffers = 2;
    column.buffers = column_buffers.data();
    column.release = [](ArrowArray* self) { self->release = nullptr; };
    ArrowArray root{};
    root.length = column.length;
    root.n_buffers = 1;
    root.buffers = root_buffers.data();
    root.n_children = 1;
    root.children = columns;
    root.private_data = this;
    root.release = [](ArrowArray* self) {
      ++static_cast<Made*>(self->private_data)->releases;
      if (self->children[0]->release != nullptr) self->children[0]->release(self->children[0]);
      self->release = nullptr;
    };
    return ad::Array(&root);
  }
};

ad::Schema schema_of(const char* column_format) {
  ArrowSchema column{}, *columns[1] = {&column}, root{};
  column.format = column_format;
  column.name = "value";
  column.release = [](ArrowSchema* self) { self->release = nullptr; };
  root.format = "+s";
  root.n_children = 1;
  root.children = columns;
  root.release = [](ArrowSchema* self) { self->release = nullptr; };
  return ad::Schema::copy_of(root);
}

int code_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const ad::Exception& error) {
    CHECK(std::strlen(error.what()) > 0);
    return error.code();
  }
  return 0;
}

std::vector<int32_t> values_of(const ArrowArray& batch) {
  const ArrowArray& column = *batch.children[0];
  const auto* values = static_cast<const int32_t*>(column.buffers[1]) + column.offset;
  return std::vector<int32_t>(values, values + column.length);
}

static_assert(kMovesOnly<ad::Schema> && kMovesOnly<ad::Array> && kMovesOnly<ad::ArrayStream> &&
              kMovesOnly<ad::DeviceArray> && kMovesOnly<ad::DeviceArrayStream> && kMovesOnly<ad::Queue> &&
              kMovesOnly<ad::Pool> && kMovesOnly<ad::View> && kMovesOnly<ad::Buffer> && kMovesOnly<ad::SubBuffer>);
static_assert(std::is_trivially_copyable_v<ad::Device>);

}  // namespace

TEST_CASE("an owner releases its struct once") {
  Made made(3);
  {
    ad::Array array = made.array();
    CHECK(array);
    ad::Array other = std::move(array);
    CHECK_FALSE(array);  // NOLINT(bugprone-use-after-move): what is left behind is the point
    CHECK(other);
    CHECK(made.releases == 0);
  }
  CHECK(made.releases == 1);
}

TEST_CASE("an assignment to an owner releases its former struct") {
  Made first(1), second(2);
  ad::Array array = first.array();
  array = second.array();
  CHECK(first.releases == 1);
  CHECK(second.releases == 0);
  array.reset();
  CHECK(second.releases == 1);
  CHECK_FALSE(array);
}

TEST_CASE("hand_over() moves a struct to the caller") {
  Made made(3);
  ArrowArray taken{};
  {
    ad::Array array = made.array();
    array.hand_over(&taken);
    CHECK_FALSE(array);
  }
  CHECK(made.releases == 0);
  taken.release(&taken);
  CHECK(made.releases == 1);
}

TEST_CASE("out() empties an owner for a C function to fill") {
  Made made(1);
  ad::Array array = made.array();
  CHECK(array.out() == array.get());
  CHECK(made.releases == 1);
}

TEST_CASE("a failed call leaves a struct with its owner") {
  Made made(3);
  {
    ad::DeviceArray array = ad::DeviceArray::from_host(made.array());
    const ad::Schema wrong = schema_of("u");  // utf8 arrays have three buffers
    CHECK(code_of([&] { std::move(array).to_device(wrong, ad::Device::find_by_name("ext_dev:0")); }) == EINVAL);
    CHECK(array);
    CHECK(made.releases == 0);
  }
  CHECK(made.releases == 1);
}

TEST_CASE("an exception has the code and the message of the library") {
  CHECK(code_of([] { ad::Device::find_by_name("no such device"); }) == EINVAL);
  CHECK(code_of([] { ad::Device::find_by_id(ARROW_DEVICE_EXT_DEV, 1000); }) == ENODEV);
  ad::Array empty;
  CHECK(code_of([&] { ad::DeviceArray::from_host(std::move(empty)); }) == EINVAL);
}

TEST_CASE("devices are values that compare by identity") {
  const ad::Device cpu = ad::Device::find_by_name("cpu");
  CHECK(cpu == ad::Device::find_by_id(ARROW_DEVICE_CPU, -1));
  CHECK(cpu != ad::Device::find_by_name("ext_dev:0"));
  CHECK(cpu.info().device_type == ARROW_DEVICE_CPU);
  CHECK(cpu.peer_flags(cpu) == (ARROWDEVICE_PEER_ACCESS | ARROWDEVICE_PEER_COPY));
  CHECK(ad::Device::count(ARROW_DEVICE_EXT_DEV) == 2);
  int found = 0;
  for (const ad::Device device : ad::Device::list())
    found += device == cpu || device == ad::Device::find_by_name("ext_dev:1");
  CHECK(found == 2);
  CHECK_FALSE(ad::Device());
}

TEST_CASE("a batch survives the round trip to a device") {
  for (const char* name : {"cpu", "ext_dev:0", "ext_dev:1"}) {
    INFO(name);
    const ad::Device device = ad::Device::find_by_name(name);
    const ad::Schema schema = schema_of("i");
    Made made(1000);
    const std::vector<int32_t> expected = made.values;
    ad::DeviceArray there = ad::DeviceArray::from_host(made.array()).to_device(schema, device);
    CHECK(there.device() == device);
    there.wait();
    CHECK(there.is_ready());
    there.validate(schema);

    ad::DeviceArray copied = there.copy(schema, device, ad::copy_options(ARROWDEVICE_COPY_ASYNC));
    ad::DeviceArray slice = there.slice(schema, 10, 5);
    auto [column, column_schema] = there.select(schema, {0});
    ad::DeviceArray shared = there.share();
    CHECK(std::string(column_schema->format) == "+s");

    CHECK(values_of(*std::move(shared).to_host(schema)) == expected);
    CHECK(values_of(*std::move(copied).to_host(schema, ad::copy_options(ARROWDEVICE_COPY_ALWAYS))) == expected);
    std::future<ad::Array> later = there.share().to_host_async(schema);
    CHECK(values_of(*later.get()) == expected);
    CHECK(values_of(*std::move(slice).to_host(schema)) == std::vector<int32_t>(&expected[10], &expected[15]));
    CHECK(values_of(*std::move(column).to_host(column_schema)) == expected);
    there.reset();
    ad::wait_idle();
    CHECK(made.releases == 1);
  }
}

TEST_CASE("the future of a copy to the host throws if the copy fails") {
  Made made(20);
  std::future<ad::Array> later = ad::DeviceArray::from_host(made.array()).to_host_async(schema_of("u"));
  refused(EINVAL, [&] { later.get(); });
  ad::wait_idle();
  CHECK(made.releases == 1);
  refused(EINVAL, [&] { ad::DeviceArray().to_host_async(schema_of("i")); });
}

TEST_CASE("the descriptor of an array that is ready is readable") {
  Made made(20);
  const ad::DeviceArray array = ad::DeviceArray::from_host(made.array());
  pollfd entry{array.open_eventfd(), POLLIN, 0};
  CHECK(poll(&entry, 1, 0) == 1);
  close(entry.fd);
}

TEST_CASE("a view shows an array's buffers and returns the array") {
  const ad::Schema schema = schema_of("i");
  Made made(7);
  ad::View view(ad::DeviceArray::from_host(made.array()), schema);
  CHECK(view.root().n_children == 1);
  CHECK(std::string(view.root().children[0]->name) == "value");
  CHECK(view.root().children[0]->buffers[1].data == made.values.data());
  CHECK(view.device() == ad::Device::find_by_name("cpu"));
  CHECK(view.array().array.length == 7);
  ad::DeviceArray shared = view.share();
  ad::DeviceArray back = std::move(view).detach();
  CHECK_FALSE(view);  // NOLINT(bugprone-use-after-move)
  CHECK(back->array.length == 7);
  back.reset();
  CHECK(made.releases == 0);
  shared.reset();
  CHECK(made.releases == 1);
}

TEST_CASE("release_after empties the owner at once and releases behind the queue") {
  const ad::Schema schema = schema_of("i");
  ad::Queue queue(ad::Device::find_by_name("ext_dev:0"));
  Made first(1), second(2);
  ad::DeviceArray array = ad::DeviceArray::from_host(first.array());
  std::move(array).release_after(queue);
  CHECK_FALSE(array);  // NOLINT(bugprone-use-after-move)
  ad::View view(ad::DeviceArray::from_host(second.array()), schema);
  std::move(view).release_after(queue);
  CHECK_FALSE(view);  // NOLINT(bugprone-use-after-move)
  queue.finish();
  ad::wait_idle();
  CHECK(first.releases == 1);
  CHECK(second.releases == 1);
}

TEST_CASE("a queue waits for an array on the CPU and on a device") {
  const ad::Schema schema = schema_of("i");
  for (const char* const name : kDevices) {
    const ad::Device device = ad::Device::find_by_name(name);
    ad::Queue queue(ad::Device::find_by_name("ext_dev:0"));
    Made made(1);
    {
      const ad::DeviceArray array =
          ad::DeviceArray::from_host(made.array()).to_device(schema, device, ad::copy_options(ARROWDEVICE_COPY_ASYNC));
      queue.wait_array(array);
      queue.wait_array(array, device);
      queue.finish();
      CHECK(array.is_ready());
      array.wait(ad::kPoll);
      CHECK(code_of([&] { queue.wait_array(ad::DeviceArray()); }) == EINVAL);
      CHECK(code_of([&] { ad::Queue().wait_array(array); }) == EINVAL);
    }
    ad::wait_idle();  // the source may be released some time after the copy
    CHECK(made.releases == 1);
  }
}

TEST_CASE("a buffer uses its pool's memory until its owner is destroyed") {
  const ad::Device device = ad::Device::find_by_name("ext_dev:1");
  ad::Pool pool(device, ad::pool_options());
  ad::Queue queue(device);
  {
    ad::Buffer buffer(device, 4096, &pool, &queue);
    CHECK(pool.stats().used_bytes >= 4096);
    ad::Buffer moved = std::move(buffer);
    CHECK_FALSE(buffer);  // NOLINT(bugprone-use-after-move)
    ad::SubBuffer part(moved, 1024, 128);
    CHECK(part);
  }
  CHECK(pool.stats().used_bytes == 0);
  ad::Buffer late(device, 4096, &pool, &queue);
  late.free_after(queue);
  CHECK_FALSE(late);
  queue.finish();
  ad::wait_idle();
  CHECK(pool.stats().used_bytes == 0);
  CHECK(pool.stats().allocations == 2);
}

TEST_CASE("an empty owner is refused if NULL would mean a default, and nothing is lost") {
  const ad::Device device = ad::Device::find_by_name("ext_dev:1");
  ad::Queue queue(device);
  ad::Pool pool(device);
  ad::Buffer buffer(device, 4096, &pool, &queue);
  ad::Queue moved_queue(device);
  ad::Pool moved_pool(device);
  [[maybe_unused]] const ad::Queue other_queue = std::move(moved_queue);
  [[maybe_unused]] const ad::Pool other_pool = std::move(moved_pool);

  CHECK(code_of([&] { buffer.free_after(moved_queue); }) == EINVAL);  // NOLINT(bugprone-use-after-move)
  CHECK(buffer);
  CHECK(pool.stats().used_bytes >= 4096);
  CHECK(code_of([&] { ad::Buffer(device, 64, &moved_pool, nullptr); }) == EINVAL);  // NOLINT(bugprone-use-after-move)
  CHECK(code_of([&] { ad::Buffer(device, 64, nullptr, &moved_queue); }) == EINVAL);
  CHECK(code_of([&] { moved_pool.make_default_of(device); }) == EINVAL);

  Made made(3);
  ad::Array array = made.array();
  const ad::Device cpu = ad::Device::find_by_name("cpu");
  CHECK(code_of([&] { ad::DeviceArray::from_device(cpu, std::move(array), &moved_queue); }) == EINVAL);
  CHECK(array);  // NOLINT(bugprone-use-after-move)
  CHECK(made.releases == 0);
}

TEST_CASE("a device's default pool can be replaced and reset") {
  const ad::Device device = ad::Device::find_by_name("ext_dev:1");
  ad::Pool pool(device);
  pool.make_default_of(device);
  const ad::Buffer first(device, 4096);
  CHECK(pool.stats().allocations == 1);
  device.reset_default_pool();
  const ad::Buffer second(device, 4096);
  CHECK(pool.stats().allocations == 1);
}

TEST_CASE("bytes survive the round trip through a queue to a device") {
  const ad::Device device = ad::Device::find_by_name("ext_dev:0");
  ad::Queue queue(device);
  ad::Buffer buffer(device, 64);
  const std::string sent = "sixteen bytes...";
  std::string received(sent.size(), '\0');
  const auto size = static_cast<int64_t>(sent.size());
  const int64_t before = device.counters().bytes_in;
  queue.copy({{device.get(), buffer.get(), 8, nullptr, sent.data(), 0, size, 0}});
  queue.copy({{nullptr, received.data(), 0, device.get(), buffer.get(), 8, size, 0}});
  queue.finish();
  CHECK(received == sent);
  CHECK(device.counters().bytes_in == before + size);
}

TEST_CASE("the reports list every path that was searched for backends") {
  ad::Device::list();
  bool cpu = false, sim = false;
  for (const auto& report : ad::backend_reports()) {
    cpu = cpu || (std::string(report.name) == "cpu" && report.status == 0);
    sim = sim || (std::string(report.name) == "sim" && report.status == 0);
  }
  CHECK(cpu);
  CHECK(sim);
  CHECK(code_of([] { ad::backend_load("relative.so"); }) == EINVAL);
}

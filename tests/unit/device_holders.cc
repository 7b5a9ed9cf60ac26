// SPDX-License-Identifier: Apache-2.0
// Tests the message of a request for memory that a pool cannot give.
#include "device/holders.h"

#include "stream_handler.h"

namespace {

using namespace stream_test;  // NOLINT: what every line of these tests is written with
using arrowdevice::device::Holder;
using arrowdevice::device::Holders;

constexpr int64_t kKiB = 1 << 10;
constexpr int64_t kLimit = 1 << 20;

Pool limited_pool(arrowdevice_device* device) {
  auto options = pool_options();
  options.max_bytes = kLimit;
  return make_pool(device, &options);
}

std::string refused_request(arrowdevice_device* device, arrowdevice_pool* pool, int64_t size) {
  void* buffer = nullptr;
  return must_fail(ENOMEM, arrowdevice_buffer_allocate, device, pool, nullptr, size, &buffer);
}

// Rows of which each takes eight bytes of one buffer.
Sample rows_of_kib(int64_t kib) { return Sample(field("l"), {.rows = kib * kKiB / 8, .nulls = Nulls::kNone}); }

TEST_CASE("a request above a pool's limit names the pool's holders, the largest first") {
  begin();
  const Pool pool = limited_pool(sim(0));
  const Sample sample = rows_of_kib(128);
  const auto copying = copy_options(0, nullptr, pool.get());
  Array first = copy(*sample.host, *sample.schema, sim(0), copying);
  const Array second = copy(*sample.host, *sample.schema, sim(0), copying);
  auto options = stream_options();
  options.pool = pool.get();
  DeviceStream stream = to_device(stream_of(batches_of(sample, 64 * kKiB / 8)), sim(0), options);
  const Array batches[] = {next(stream), next(stream)};
  void* const buffer = output_of(arrowdevice_buffer_allocate, sim(0), pool.get(), nullptr, 300 * kKiB);

  const std::string start = "the pool's limit is reached; pool of ext_dev:0: ";
  CHECK(refused_request(sim(0), pool.get(), 512 * kKiB) ==
        start +
            "524288 bytes requested, limit 1.0 MiB, 704.0 KiB used (application 320.0 KiB in 1 allocation, "
            "copies 256.0 KiB in 2, streams 128.0 KiB in 2), 0 B cached");
  first.reset();
  CHECK(refused_request(sim(0), pool.get(), 1000 * kKiB) ==
        start +
            "1048576 bytes requested, limit 1.0 MiB, 576.0 KiB used (application 320.0 KiB in 1 allocation, "
            "copies 128.0 KiB in 1, streams 128.0 KiB in 2), 0 B cached");
  arrowdevice_buffer_free(sim(0), nullptr, buffer);
  CHECK(
      contains(refused_request(sim(0), pool.get(), 1000 * kKiB), "256.0 KiB used (copies 128.0 KiB in 1 allocation, "));
}

TEST_CASE("arrays of an async stream are held by streams") {
  begin();
  const Pool pool = limited_pool(sim(0));
  const Sample sample = rows_of_kib(128);
  auto options = async_options();
  options.pool = pool.get();
  ArrowAsyncDeviceStreamHandler* collector = nullptr;
  DeviceStream stream;
  must(arrowdevice_async_collect, ArrowDeviceType{ARROW_DEVICE_EXT_DEV}, nullptr, &collector, stream.out());
  auto* const mover = output_of(arrowdevice_async_to_device, collector, sim(0), &options);
  auto producer = batches_of(sample, 128 * kKiB / 8);
  DeviceStream produced = stream_of(producer);
  must(arrowdevice_async_produce, produced.get(), mover, nullptr);
  const Array there = next(stream);
  CHECK(contains(refused_request(sim(0), pool.get(), kLimit), "(streams 128.0 KiB in 1 allocation)"));
  stream.reset();
  until([&] { return producer->releases == 1; });
}

TEST_CASE("a pool without holders names none") {
  begin();
  const Pool pool = limited_pool(sim(0));
  CHECK(refused_request(sim(0), pool.get(), 2 * kLimit) ==
        "the pool's limit is reached; pool of ext_dev:0: 2097152 bytes requested, limit 1.0 MiB, 0 B used, 0 B cached");
}

TEST_CASE("staging memory of unfinished copies is a holder in the CPU's pool") {
  begin();
  Pool pool = limited_pool(cpu());
  must(arrowdevice_device_set_pool, cpu(), pool.get());
  {
    Held engine(0);
    const Sample sample(field("l"), {.rows = 40});
    const Array there = copy(sample, sim(0), ARROWDEVICE_COPY_ASYNC);
    CHECK(contains(refused_request(cpu(), pool.get(), 2 * kLimit), "512 B used (staging 512 B in 1 allocation), "));
    engine.resume();
    must(arrowdevice_wait_idle, ARROWDEVICE_NO_TIMEOUT);
    CHECK(contains(refused_request(cpu(), pool.get(), 2 * kLimit), " 0 B used, "));
  }
  must(arrowdevice_device_set_pool, cpu(), nullptr);
}

TEST_CASE("a full device names the holders after the driver's text") {
  auto configured = configuration();
  configured.devices[0].memory = kLimit;
  begin(configured);
  const Pool pool = make_pool(sim(0));
  const Sample sample = rows_of_kib(128);
  const Array there = copy(*sample.host, *sample.schema, sim(0), copy_options(0, nullptr, pool.get()));
  arrowdevice_error error{};
  void* buffer = nullptr;
  CHECK(arrowdevice_buffer_allocate(sim(0), pool.get(), nullptr, 2 * kLimit, &buffer, &error) == ENOMEM);
  const std::string text = error.message;
  CHECK(contains(text, "device memory: "));
  CHECK(
      text.ends_with("; pool of ext_dev:0: 2097152 bytes requested, no limit, 128.0 KiB used (copies 128.0 KiB in 1 "
                     "allocation), 0 B cached"));
  CHECK(std::string(error.backend) == "sim");
}

TEST_CASE("memory that waits for its last use is the last of the holders") {
  Holders holders;
  CHECK(holders.text(0) == "");
  CHECK(holders.text(512) == "released but in use by the device 512 B");
  holders.add(Holder::kStaging, 512);
  holders.add(Holder::kStaging, 512);
  holders.remove(Holder::kStaging, 512);
  holders.add(Holder::kStreams, 4096);
  CHECK(holders.text(1024) ==
        "streams 4.0 KiB in 1 allocation, staging 512 B in 1, released but in use by the device 1.0 KiB");
}

}  // namespace

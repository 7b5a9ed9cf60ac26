// SPDX-License-Identifier: Apache-2.0
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim_table.h"

using namespace sim_test;

namespace {

// Returns the signal that ends a child that reads the first byte at `address`, or 0 if the child is not
// ended.
int signal_of_reading(const void* address) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGSEGV, SIG_DFL);  // bypasses the handlers of the test framework and of the sanitizers
    [[maybe_unused]] const char seen = *static_cast<const volatile char*>(address);
    ::_exit(0);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

}  // namespace

TEST_CASE("simulated device: a read of memory or handles by the CPU crashes", "[sim]") {
  control::reset(devices("ah"));
  const Buffer address(open(0), 64), handle(open(1), 64);
  const char readable = 0;
  CHECK(signal_of_reading(&readable) == 0);
  CHECK(signal_of_reading(address.get()) == SIGSEGV);
  CHECK(signal_of_reading(handle.get()) == SIGSEGV);
  CHECK(signal_of_reading(open(0)) == SIGSEGV);
}

TEST_CASE("simulated device: new memory has neither zeros nor former content", "[sim]") {
  control::reset(devices("a"));
  const Buffer buffer(open(0), 100);
  for (const std::byte byte : content(0, buffer)) CHECK(byte == std::byte{0xA5});
}

TEST_CASE("simulated device: buffers of other devices are refused", "[sim]") {
  const std::string kinds = GENERATE("aa", "hh");
  control::reset(devices(kinds));
  void* device = open(0);
  const Queue queue(device);
  const Buffer own(device, 256), other(open(1), 256);
  auto bytes = sample(256);

  auto region = to_device(own, bytes.data());
  SECTION("host memory as device memory") {
    region.dst = bytes.data();
    CHECK(contains(message(table().queue_copy, queue.get(), &region, int64_t{1}), "is not a live"));
  }
  SECTION("another device's memory") {
    region.dst = other.get();
    CHECK(queue.try_copy(region) == EINVAL);
  }
  SECTION("device memory as host memory") {
    region.src = other.get();
    CHECK(queue.try_copy(region) == EINVAL);
  }
  SECTION("a buffer that was given back") {
    {
      const Buffer gone(device, 256);
      region.dst = gone.get();
    }
    CHECK(queue.try_copy(region) == EINVAL);
  }
  SECTION("a device that is none") {
    region.dst_device = bytes.data();
    CHECK(queue.try_copy(region) == EINVAL);
  }
  SECTION("bytes past the end") {
    region.dst_offset = 1;
    CHECK(contains(message(table().queue_copy, queue.get(), &region, int64_t{1}),
                   "256 bytes at byte 1 lie outside of a buffer of 256"));
    const arrowdevice_backend_region batch[] = {{device, region.dst, 0, nullptr, region.src, 0, 256, 0}, region};
    CHECK(contains(control::refusals().front(), "region 0: "));
    CHECK(contains(message(table().queue_copy, queue.get(), batch, int64_t{2}), "region 1: "));
    CHECK(control::refused() == 2);
    return;
  }
  SECTION("bytes before the start") {
    region.dst_offset = -1;
    CHECK(queue.try_copy(region) == EINVAL);
  }
  SECTION("a position that would wrap around") {
    region.dst_offset = INT64_MAX;
    CHECK(queue.try_copy(region) == EINVAL);
  }
  SECTION("no bytes") {
    region.size = 0;
    CHECK(queue.try_copy(region) == EINVAL);
  }
  SECTION("source and target overlap") {
    region = between(own, own);
    CHECK(queue.try_copy(region) == EINVAL);
  }
  CHECK(control::refused() == 1);
  CHECK(control::refusals().size() == 1);
  CHECK(control::counters(0).copies == 0);
}

TEST_CASE("simulated device: memory is bounded and is reused", "[sim]") {
  auto configuration = devices("a");
  configuration.devices[0].memory = 1000;
  control::reset(configuration);
  void* device = open(0);
  void* out = nullptr;
  {
    const Buffer buffer(device, 600);
    int64_t free_bytes = 0, total_bytes = 0;
    must(table().device_get_memory_info, device, &free_bytes, &total_bytes);
    CHECK(free_bytes == 400);
    CHECK(total_bytes == 1000);
    CHECK(contains(message(table().buffer_allocate, device, nullptr, int64_t{401}, int64_t{64}, &out),
                   "401 bytes on Simulated accelerator 0 (addresses), where 400 of 1000"));
    CHECK(code(table().buffer_allocate, device, nullptr, int64_t{401}, int64_t{64}, &out) == ENOMEM);
  }
  const Buffer all(device, 1000);
  CHECK(control::counters(0).bytes_peak == 1000);
  CHECK(control::refused() == 0);
}

TEST_CASE("simulated device: odd sizes and alignments are allocated or refused", "[sim]") {
  control::reset(devices("ah"));
  void* device = open(0);
  void* out = nullptr;
  CHECK(code(table().buffer_allocate, device, nullptr, int64_t{0}, int64_t{64}, &out) == EINVAL);
  CHECK(code(table().buffer_allocate, device, nullptr, int64_t{-1}, int64_t{64}, &out) == EINVAL);
  CHECK(code(table().buffer_allocate, device, nullptr, int64_t{8}, int64_t{3}, &out) == EINVAL);
  CHECK(code(table().buffer_allocate, device, nullptr, int64_t{8}, int64_t{1} << 30, &out) == ENOTSUP);
  must(table().buffer_allocate, device, nullptr, int64_t{8}, int64_t{4096}, &out);
  CHECK(reinterpret_cast<uintptr_t>(out) % 4096 == 0);
  table().buffer_free(device, nullptr, out);
  CHECK(control::counters(0).allocations_live == 0);
}

TEST_CASE("simulated device: memory in use is freed only behind its queue", "[sim]") {
  control::reset(devices("a"));
  void* device = open(0);
  const Queue queue(device);
  const auto source = sample(4096);
  void* with_queue = nullptr;
  void* without = nullptr;
  must(table().buffer_allocate, device, queue.get(), int64_t{4096}, int64_t{64}, &with_queue);
  must(table().buffer_allocate, device, nullptr, int64_t{4096}, int64_t{64}, &without);

  control::hold(0);
  for (void* buffer : {with_queue, without}) {
    queue.copy({.dst_device = device,
                .dst = buffer,
                .dst_offset = 0,
                .src_device = nullptr,
                .src = source.data(),
                .src_offset = 0,
                .size = 4096,
                .reserved = 0});
  }
  table().buffer_free(device, queue.get(), with_queue);
  CHECK(control::refused() == 0);
  table().buffer_free(device, nullptr, without);
  CHECK(control::refused() == 1);
  control::resume(0);
  CHECK(queue.finish() == 0);
  CHECK(control::counters(0).allocations_live == 0);
}

TEST_CASE("simulated device: a copy no longer uses its memory when its event fires", "[sim]") {
  control::reset(devices("a"));
  void* device = open(0);
  const Queue queue(device);
  const auto source = sample(64);
  for (int i = 0; i < 200; ++i) {
    const Buffer buffer(device, 64);  // each buffer is freed without a queue
    queue.copy(to_device(buffer, source.data()));
    REQUIRE(queue.finish() == 0);
  }
  CHECK(control::refused() == 0);
}

TEST_CASE("simulated device: sub-buffers of handles have their own handles", "[sim]") {
  control::reset(devices("h"));
  void* device = open(0);
  const Queue queue(device);
  const Buffer whole(device, 1024);
  const auto source = sample(100);
  auto* sub = output_of(table().sub_buffer_create, device, whole.get(), int64_t{256}, int64_t{100});
  auto* inner = output_of(table().sub_buffer_create, device, sub, int64_t{0}, int64_t{10});
  CHECK(control::counters(0).sub_buffers_live == 2);

  arrowdevice_backend_region region{.dst_device = device,
                                    .dst = sub,
                                    .dst_offset = 0,
                                    .src_device = nullptr,
                                    .src = source.data(),
                                    .src_offset = 0,
                                    .size = 100,
                                    .reserved = 0};
  queue.copy(region);
  CHECK(queue.finish() == 0);
  std::vector<std::byte> seen(100);
  control::peek(0, whole.get(), 256, seen.data(), 100);
  CHECK(seen == source);

  region.dst_offset = 1;  // past the end of the sub-buffer, not of the whole buffer
  CHECK(queue.try_copy(region) == EINVAL);
  region.dst = static_cast<char*>(whole.get()) + 1;  // arithmetic on a handle
  CHECK(queue.try_copy(region) == EINVAL);

  void* out = nullptr;
  CHECK(code(table().sub_buffer_create, device, whole.get(), int64_t{64}, int64_t{64}, &out) == EINVAL);  // not aligned
  CHECK(code(table().sub_buffer_create, device, whole.get(), int64_t{1024}, int64_t{1}, &out) == EINVAL);
  CHECK(control::refused() == 4);

  table().sub_buffer_destroy(device, sub);  // before its own sub-buffer
  table().buffer_free(device, nullptr, whole.get());
  CHECK(control::refused() == 6);
  CHECK(control::counters(0).sub_buffers_live == 2);
  table().sub_buffer_destroy(device, inner);
  table().sub_buffer_destroy(device, sub);
  table().sub_buffer_destroy(device, sub);  // destroyed twice
  CHECK(control::refused() == 7);
  CHECK(control::counters(0).sub_buffers_live == 0);
}

TEST_CASE("simulated device: sub-buffers of addresses are addresses", "[sim]") {
  control::reset(devices("a"));
  void* device = open(0);
  const Buffer whole(device, 1024);
  auto* sub = output_of(table().sub_buffer_create, device, whole.get(), int64_t{64}, int64_t{100});
  CHECK(sub == static_cast<char*>(whole.get()) + 64);
  auto* inner = output_of(table().sub_buffer_create, device, sub, int64_t{64}, int64_t{10});
  CHECK(inner == static_cast<char*>(whole.get()) + 128);
  CHECK(code(table().sub_buffer_create, device, whole.get(), int64_t{1}, int64_t{1}, &inner) == EINVAL);
  table().sub_buffer_destroy(device, sub);
  CHECK(control::refused() == 1);
}

TEST_CASE("simulated device: pointers are described", "[sim]") {
  control::reset(devices("ah"));
  void* device = open(0);
  const Buffer address(device, 100), handle(open(1), 200);
  auto info = sized<arrowdevice_pointer_info>();

  must(table().pointer_get_info, device, static_cast<char*>(address.get()) + 99, &info);
  CHECK(info.flags == ARROWDEVICE_POINTER_KNOWN);
  CHECK(info.device_type == ARROW_DEVICE_EXT_DEV);
  CHECK(info.device_id == 0);
  CHECK(info.base == address.get());
  CHECK(info.size == 100);

  must(table().pointer_get_info, device, static_cast<char*>(address.get()) + 100, &info);
  CHECK(info.flags == 0);
  CHECK(info.base == nullptr);
  CHECK(info.size == -1);

  must(table().pointer_get_info, device, handle.get(), &info);
  CHECK(info.device_id == 1);
  CHECK(info.size == 200);

  std::vector<char> host(64);
  must(table().pointer_get_info, device, host.data(), &info);
  CHECK(info.flags == 0);
}

// SPDX-License-Identifier: Apache-2.0
// Checks what the library does while work of the GPU is really pending: a gate in a stream stays shut until the program
// opens it. A call that must not wait for the work but does is unblocked after a while, and fails.
#include <algorithm>
#include <cerrno>
#include <memory>
#include <thread>
#include <vector>

#include "cuda/hardware/application.h"
#include "cuda/hardware/report.h"
#include "support/fixture.h"

namespace {

using namespace hardware;  // NOLINT: what every line of this program is written with
using arrowdevice::testing::Array;
using arrowdevice::testing::copy;
using arrowdevice::testing::copy_options;
using arrowdevice::testing::expect;
using arrowdevice::testing::must;
using arrowdevice::testing::must_fail_once;
using arrowdevice::testing::output_of;

constexpr int64_t kSize = 1 << 20;
constexpr unsigned char kOld = 0x11;
constexpr unsigned char kNew = 0x22;
constexpr double kPatience = 5;             // seconds until a blocked call is unblocked
constexpr int64_t kDeadline = 100'000'000;  // ns

// Memory that a stream fills with new bytes behind a gate, and an array over it with an event.
class Gated {
 public:
  explicit Gated(Gate::Kind kind, int64_t size = kSize)
      : memory_(size, kOld), event_(drivers::create_event(0)), gate_(std::make_unique<Gate>(kind)) {
    gate_->stream().fill(memory_.address(), kNew, size);
    drivers::record(0, event_, gate_->stream().get());
    array_ = array_over(memory_.pointer(), size, &event_);
  }
  ~Gated() {
    gate_.reset();
    arrowdevice_array_release(&array_);
    drivers::destroy_event(0, event_);
  }
  Gated(const Gated&) = delete;
  Gated& operator=(const Gated&) = delete;

  ArrowDeviceArray& array() { return array_; }
  Gate& gate() { return *gate_; }
  void while_shut(const std::function<void()>& body) {
    must_not_block(
        kPatience, [this] { gate_->open(); }, body);
  }

 private:
  Memory memory_;
  void* event_;
  std::unique_ptr<Gate> gate_;
  ArrowDeviceArray array_{};
};

bool is_ready(const ArrowDeviceArray& array) { return output_of(arrowdevice_array_is_ready, &array, nullptr) != 0; }

void expect_new(const ArrowDeviceArray& array) {
  const Array host = copy(array, bytes_schema(), arrowdevice::testing::cpu());
  const auto* const bytes = static_cast<const unsigned char*>(host->array.buffers[1]);
  expect(std::all_of(bytes, bytes + host->array.length, [](unsigned char byte) { return byte == kNew; }),
         "the bytes were read before the gate opened");
}

void waits_keep_deadlines(Gate::Kind kind) {
  Gated gated(kind);
  gated.while_shut([&] {
    expect(!is_ready(gated.array()), "the array is ready");
    must_fail_once(ETIMEDOUT, arrowdevice_array_wait, &gated.array(), nullptr, kDeadline);
    must_fail_once(ETIMEDOUT, arrowdevice_array_wait, &gated.array(), nullptr, int64_t{ARROWDEVICE_POLL});
  });
  gated.gate().open();
  must(arrowdevice_array_wait, &gated.array(), nullptr, int64_t{ARROWDEVICE_NO_TIMEOUT});
  expect(is_ready(gated.array()), "the array is not ready");
  expect_new(gated.array());
}

void copies_within_the_gpu_return(Gate::Kind kind) {
  Gated gated(kind);
  Array copied;
  gated.while_shut([&] {
    copied = copy(gated.array(), bytes_schema(), gpu(), ARROWDEVICE_COPY_ASYNC | ARROWDEVICE_COPY_ALWAYS);
    expect(!is_ready(*copied), "the copy is ready");
  });
  gated.gate().open();
  expect_new(*copied);
}

void copies_to_pinned_memory_return(Gate::Kind kind) {
  Gated gated(kind);
  auto* const pinned = output_of(arrowdevice_device_find_by_id, ARROW_DEVICE_CUDA_HOST, int64_t{0});
  Array copied;
  gated.while_shut([&] { copied = copy(gated.array(), bytes_schema(), pinned, ARROWDEVICE_COPY_ASYNC); });
  gated.gate().open();
  expect_new(*copied);
}

void copies_of_pageable_memory_return(Gate::Kind kind) {
  Gate gate(kind);
  std::vector<unsigned char> bytes(kSize, kNew);
  ArrowDeviceArray host = array_over(bytes.data(), kSize, nullptr);
  host.device_type = ARROW_DEVICE_CPU;
  host.device_id = -1;
  Array there;
  must_not_block(
      kPatience, [&] { gate.open(); },
      [&] {
        there = copy(host, bytes_schema(), gpu(), ARROWDEVICE_COPY_ASYNC, gate.stream().queue());
        expect(!is_ready(*there), "the copy is ready");
      });
  gate.open();
  expect_new(*there);
  arrowdevice_array_release(&host);
}

void queues_wait(Gate::Kind kind) {
  const Memory target(kSize, kOld);
  Gated gated(kind);
  const auto queue = arrowdevice::testing::make_queue(gpu());
  gated.while_shut([&] {
    must(arrowdevice_queue_wait_array, queue.get(), &gated.array(), nullptr);
    arrowdevice_copy_region region{};
    region.dst_device = region.src_device = gpu();
    region.dst = target.pointer();
    region.src = gated.array().array.buffers[1];
    region.size = kSize;
    must(arrowdevice_queue_copy, queue.get(), &region, 1);
    must_fail_once(ETIMEDOUT, arrowdevice_queue_finish, queue.get(), kDeadline);
  });
  gated.gate().open();
  must(arrowdevice_queue_finish, queue.get(), int64_t{ARROWDEVICE_NO_TIMEOUT});
  expect(target.is_filled_with(kNew), "a queue did not wait");
}

// Frees memory that a gated stream reads, and writes the next allocations on another stream.
void freed_memory_is_not_reused(Gate::Kind kind) {
  const Memory target(kSize, kOld);
  void* const freed = output_of(arrowdevice_buffer_allocate, gpu(), nullptr, nullptr, kSize);
  const Stream other;
  other.fill(reinterpret_cast<uint64_t>(freed), kNew, kSize);
  other.finish();
  Gate gate(kind);
  gate.stream().copy(target.address(), reinterpret_cast<uint64_t>(freed), kSize);
  must_not_block(
      kPatience, [&] { gate.open(); },
      [&] {
        arrowdevice_buffer_free(gpu(), gate.stream().queue(), freed);
        for (int i = 0; i < 8; ++i) {
          void* const next = output_of(arrowdevice_buffer_allocate, gpu(), nullptr, other.queue(), kSize);
          expect(next != freed, "the memory was given out again while work on it was pending");
          other.fill(reinterpret_cast<uint64_t>(next), kOld, kSize);
          other.finish();
          arrowdevice_buffer_free(gpu(), nullptr, next);
        }
      });
  gate.open();
  gate.stream().finish();
  expect(target.is_filled_with(kNew), "the memory was written while work on it was pending");
}

void queues_are_destroyed(Gate::Kind kind) {
  Gated gated(kind);
  gated.while_shut([&] {
    const auto queue = arrowdevice::testing::make_queue(gpu());
    must(arrowdevice_queue_wait_array, queue.get(), &gated.array(), nullptr);
  });
}

void check_all(Report& report, Gate::Kind kind, const std::string& gate) {
  const std::string behind = " behind " + gate;
  report.check("waits keep their deadlines" + behind, [&] { waits_keep_deadlines(kind); });
  report.check("asynchronous copies within the GPU return" + behind, [&] { copies_within_the_gpu_return(kind); });
  report.check("asynchronous copies to pinned memory return" + behind, [&] { copies_to_pinned_memory_return(kind); });
  report.check("asynchronous copies of pageable memory return" + behind,
               [&] { copies_of_pageable_memory_return(kind); });
  report.check("queues wait and keep deadlines" + behind, [&] { queues_wait(kind); });
  report.check("freed memory is not reused" + behind, [&] { freed_memory_is_not_reused(kind); });
  report.check("queues are destroyed at once" + behind, [&] { queues_are_destroyed(kind); });
}

// Lets the library allocate and pin memory before a gate is shut, because a driver may wait for all work then.
void warm_up() {
  std::vector<unsigned char> bytes(kSize, kNew);
  ArrowDeviceArray host = array_over(bytes.data(), kSize, nullptr);
  host.device_type = ARROW_DEVICE_CPU;
  host.device_id = -1;
  auto* const pinned = output_of(arrowdevice_device_find_by_id, ARROW_DEVICE_CUDA_HOST, int64_t{0});
  const Array there = copy(host, bytes_schema(), gpu());
  const Array second = copy(*there, bytes_schema(), gpu(), ARROWDEVICE_COPY_ALWAYS);
  expect_new(*copy(*second, bytes_schema(), pinned));
  arrowdevice_array_release(&host);
}

}  // namespace

int main() {
  return hardware::run([](Report& report) {
    warm_up();
    if (has("cuStreamWaitValue32_v2")) {
      check_all(report, Gate::Kind::kValue, "cuStreamWaitValue32");
    } else {
      report.not_run("gates of cuStreamWaitValue32", "the driver is older than CUDA 11.7");
    }
    check_all(report, Gate::Kind::kHostFunction, "cuLaunchHostFunc");
    return_memory();
  });
}

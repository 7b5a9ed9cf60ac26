// SPDX-License-Identifier: Apache-2.0
// Measures how fast bytes get to a GPU and back: speed [MIB]. It prints ratios to the driver's own call on
// the same bytes in the same run. This is a benchmark, so it checks no results.
#include <arrowdevice/arrowdevice.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <stdexcept>
#include <vector>

#include "drivers/vendor.h"

namespace {

constexpr int kRuns = 7;
constexpr double kGiga = 1e9;

void must(int code, const arrowdevice_error& error) {
  if (code != 0) throw std::runtime_error(error.message);
}

double median_seconds(const std::function<void()>& run) {
  std::vector<double> seconds;
  run();  // the first run warms up
  for (int i = 0; i < kRuns; ++i) {
    const auto start = std::chrono::steady_clock::now();
    run();
    seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  std::ranges::sort(seconds);
  return seconds[kRuns / 2];
}

class Bench {
 public:
  explicit Bench(int64_t size) : size_(size), pageable_(static_cast<size_t>(size), 'x') {
    arrowdevice_error error{};
    must(arrowdevice_device_find_by_id(drivers::vendor().device, 0, &gpu_, &error), error);
    must(arrowdevice_device_find_by_id(drivers::vendor().pinned, 0, &pinned_device_, &error), error);
    must(arrowdevice_queue_create(gpu_, &queue_, &error), error);
    must(arrowdevice_buffer_allocate(gpu_, nullptr, nullptr, size, &there_, &error), error);
    must(arrowdevice_buffer_allocate(pinned_device_, nullptr, nullptr, size, &pinned_, &error), error);
    arrowdevice_native_queue native{};
    native.struct_size = sizeof native;
    must(arrowdevice_queue_get_native(queue_, &native, &error), error);
    stream_ = native.queue;
  }
  ~Bench() {
    arrowdevice_buffer_free(gpu_, nullptr, there_);
    arrowdevice_buffer_free(pinned_device_, nullptr, pinned_);
    arrowdevice_queue_destroy(queue_);
    for (arrowdevice_device* const device : {gpu_, pinned_device_}) {
      arrowdevice_pool* pool = nullptr;
      if (arrowdevice_device_get_pool(device, &pool, nullptr) == 0) arrowdevice_pool_trim(pool, nullptr);
    }
  }
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

  void compare(const char* what, bool to_device, bool is_pinned) {
    void* const host = is_pinned ? pinned_ : pageable_.data();
    report(what, median_seconds([&] { ours_once(host, to_device); }),
           median_seconds([&] { theirs_once(host, to_device); }));
  }

  // Copies an Arrow array of these bytes from pageable memory, and back into warm memory of the library.
  void compare_arrays() {
    const double theirs_to = median_seconds([&] { theirs_once(pageable_.data(), true); });
    const double theirs_from = median_seconds([&] { theirs_once(pageable_.data(), false); });
    ArrowSchema schema{};
    schema.format = "C";
    schema.release = [](ArrowSchema*) {};
    const void* buffers[] = {nullptr, pageable_.data()};
    ArrowDeviceArray host{};
    host.device_type = ARROW_DEVICE_CPU;
    host.device_id = -1;
    host.array.length = size_;
    host.array.n_buffers = 2;
    host.array.buffers = buffers;
    host.array.release = [](ArrowArray*) {};
    arrowdevice_device* cpu = nullptr;
    arrowdevice_error error{};
    must(arrowdevice_device_find_by_id(ARROW_DEVICE_CPU, -1, &cpu, &error), error);
    const auto copy_once = [&](const ArrowDeviceArray& from, arrowdevice_device* to) {
      ArrowDeviceArray out{};
      must(arrowdevice_array_copy(&from, &schema, to, nullptr, &out, &error), error);
      return out;
    };
    const auto copy_and_release = [&](const ArrowDeviceArray& from, arrowdevice_device* to) {
      ArrowDeviceArray out = copy_once(from, to);
      arrowdevice_array_release(&out);
    };
    report("array to device, pageable", median_seconds([&] { copy_and_release(host, gpu_); }), theirs_to);
    ArrowDeviceArray there = copy_once(host, gpu_);
    report("array from device, pageable", median_seconds([&] { copy_and_release(there, cpu); }), theirs_from);
    arrowdevice_array_release(&there);
  }

 private:
  void report(const char* what, double ours, double theirs) const {
    const double bytes = static_cast<double>(size_);
    std::printf("%-28s %6.2f GB/s, %5.2f times the driver's own %6.2f GB/s\n", what, bytes / ours / kGiga,
                theirs / ours, bytes / theirs / kGiga);
  }

  void finish() const {
    arrowdevice_error error{};
    must(arrowdevice_queue_finish(queue_, ARROWDEVICE_NO_TIMEOUT, &error), error);
  }

  void ours_once(void* host, bool to_device) const {
    arrowdevice_copy_region region{};
    region.dst_device = to_device ? gpu_ : nullptr;
    region.src_device = to_device ? nullptr : gpu_;
    region.dst = to_device ? there_ : host;
    region.src = to_device ? host : there_;
    region.size = size_;
    arrowdevice_error error{};
    must(arrowdevice_queue_copy(queue_, &region, 1, &error), error);
    finish();
  }

  void theirs_once(void* host, bool to_device) const {
    drivers::make_current(0);
    const int result = drivers::call(drivers::vendor().copy, to_device ? there_ : host, to_device ? host : there_,
                                     static_cast<size_t>(size_), stream_);
    drivers::undo_make_current();
    if (result != 0) throw std::runtime_error("the driver's copy failed");
    finish();
  }

  const int64_t size_;
  std::vector<char> pageable_;
  arrowdevice_device* gpu_ = nullptr;
  arrowdevice_device* pinned_device_ = nullptr;
  arrowdevice_queue* queue_ = nullptr;
  void* there_ = nullptr;
  void* pinned_ = nullptr;
  void* stream_ = nullptr;
};

}  // namespace

int main(int argc, char** argv) try {
  constexpr int64_t kDefaultMiB = 256;
  const int64_t mib = argc > 1 ? std::atoll(argv[1]) : kDefaultMiB;
  Bench bench(mib << 20);
  std::printf("%lld MiB, median of %d runs\n", static_cast<long long>(mib), kRuns);
  bench.compare("to device, pinned", true, true);
  bench.compare("from device, pinned", false, true);
  bench.compare("to device, pageable", true, false);
  bench.compare("from device, pageable", false, false);
  bench.compare_arrays();
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}

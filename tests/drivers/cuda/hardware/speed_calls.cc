// SPDX-License-Identifier: Apache-2.0
// Measures single calls of the library, without arrays: copies of many regions, and allocations.
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "cuda/api.h"
#include "cuda/hardware/application.h"
#include "cuda/hardware/speed.h"
#include "support/fixture.h"

namespace {

using namespace hardware;              // NOLINT: what every line of this file is written with
using namespace arrowdevice::testing;  // NOLINT: likewise

constexpr int64_t kPiece = 256;
constexpr int64_t kStep = 512;  // no two pieces are adjacent on the GPU

// Copies in chunks of the size that all drivers accept.
void copy_in_chunks(const Stream& stream, uint64_t to, uint64_t from, int64_t n) {
  using namespace arrowdevice::cuda;  // NOLINT: the vendor's types
  constexpr int64_t kChunk = 1'000;
  const Current current;
  for (int64_t done = 0; done < n; done += kChunk) {
    const auto count = static_cast<size_t>(std::min(kChunk, n - done));
    std::vector<CUdeviceptr> targets, sources;
    std::vector<size_t> sizes(count, kPiece);
    for (size_t i = 0; i < count; ++i) {
      const auto at = static_cast<CUdeviceptr>(done) + i;
      targets.push_back(to + at * kStep);
      sources.push_back(from + at * kPiece);
    }
    CUmemcpyAttributes attributes{};
    attributes.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
    size_t first = 0;
    size_t failed = 0;
    must_call("cuMemcpyBatchAsync", targets.data(), sources.data(), sizes.data(), count, &attributes, &first, size_t{1},
              &failed, stream.get());
  }
  must_call("cuStreamSynchronize", stream.get());
}

void measure_batch(Report& report, int64_t n) {
  const std::string name = std::to_string(n) + " copies of 256 B in one call";
  report.check("the bytes of " + name + " arrive", [&] {
    const HostMemory source(n * kPiece, true);
    const HostMemory back(n * kStep, true);
    fill(source.bytes(), n * kPiece);
    const Memory device(n * kStep);
    const Stream stream;
    std::vector<arrowdevice_copy_region> regions(static_cast<size_t>(n));
    for (int64_t i = 0; i < n; ++i) {
      auto& region = regions[static_cast<size_t>(i)];
      region.dst_device = gpu();
      region.dst = device.pointer();
      region.dst_offset = i * kStep;
      region.src = source.bytes();
      region.src_offset = i * kPiece;
      region.size = kPiece;
    }
    const auto copy_by_library = [&] {
      must(arrowdevice_queue_copy, stream.queue(), regions.data(), n);
      must(arrowdevice_queue_finish, stream.queue(), int64_t{ARROWDEVICE_NO_TIMEOUT});
    };
    copy_by_library();
    stream.copy(back.address(), device.address(), n * kStep);
    stream.finish();
    for (int64_t i = 0; i < n; ++i) {
      const bool is_same = std::memcmp(back.bytes() + i * kStep, source.bytes() + i * kPiece, kPiece) == 0;
      if (!is_same) throw Failure("copy " + std::to_string(i) + " has other bytes");
    }
    const auto copy_one_by_one = [&] {
      const Current current;
      for (int64_t i = 0; i < n; ++i) {
        must_call("cuMemcpyAsync", device.address() + static_cast<uint64_t>(i * kStep),
                  source.address() + static_cast<uint64_t>(i * kPiece), size_t{kPiece}, stream.get());
      }
      must_call("cuStreamSynchronize", stream.get());
    };
    const auto [beside_single, single] = medians(copy_by_library, copy_one_by_one);
    report.measured(name + ", plain single copies", beside_single, single, n * kPiece);
    if (!has("cuMemcpyBatchAsync")) {
      return report.not_run(name + ", plain batches of 1000", "the driver is older than CUDA 12.8");
    }
    const auto [beside_batches, batches] =
        medians(copy_by_library, [&] { copy_in_chunks(stream, device.address(), source.address(), n); });
    report.measured(name + ", plain batches of 1000", beside_batches, batches, n * kPiece);
  });
}

// The default pool of GPU 0 with another release threshold for a scope.
class Threshold {
 public:
  explicit Threshold(uint64_t bytes) {
    must_call("cuDeviceGetDefaultMemPool", &pool_, 0);
    must_call("cuMemPoolGetAttribute", pool_, kReleaseThreshold, static_cast<void*>(&former_));
    must_call("cuMemPoolSetAttribute", pool_, kReleaseThreshold, static_cast<void*>(&bytes));
    uint64_t now = 0;
    must_call("cuMemPoolGetAttribute", pool_, kReleaseThreshold, static_cast<void*>(&now));
    expect(now == bytes, "the driver has another threshold");
  }
  ~Threshold() { drivers::call("cuMemPoolSetAttribute", pool_, kReleaseThreshold, static_cast<void*>(&former_)); }
  Threshold(const Threshold&) = delete;
  Threshold& operator=(const Threshold&) = delete;

 private:
  static constexpr unsigned kReleaseThreshold = 4;
  void* pool_ = nullptr;
  uint64_t former_ = 0;
};

void measure_allocation(Report& report, uint64_t threshold, int64_t size) {
  const std::string name = "allocate " + size_text(size) + ", threshold " + (threshold == 0 ? "0" : "maximum");
  report.check(name + " gives memory that holds bytes", [&] {
    const Threshold set(threshold);
    const Stream stream;
    auto options = sized<arrowdevice_pool_options>();
    options.max_cached_bytes = -1;
    const Pool uncached = make_pool(gpu(), &options);
    const auto allocate_from = [&](arrowdevice_pool* pool) {
      void* const memory = output_of(arrowdevice_buffer_allocate, gpu(), pool, stream.queue(), size);
      stream.fill(reinterpret_cast<uint64_t>(memory), 1, size);
      arrowdevice_buffer_free(gpu(), stream.queue(), memory);
      stream.finish();
    };
    const auto [driver, unordered, ours, pooled] = medians(
        [&] {
          const Current current;
          uint64_t memory = 0;
          must_call("cuMemAllocAsync", &memory, static_cast<size_t>(size), stream.get());
          stream.fill(memory, 1, size);
          must_call("cuMemFreeAsync", memory, stream.get());
          stream.finish();
        },
        [&] { Memory(size, 1); }, [&] { allocate_from(uncached.get()); }, [&] { allocate_from(nullptr); });
    report.measured(name + ", no cache, cuMemAllocAsync", ours, driver, 0);
    report.measured(name + ", no cache, cuMemAlloc", ours, unordered, 0);
    report.measured(name + ", default pool, cuMemAllocAsync", pooled, driver, 0);
    const Memory target(size);
    void* const memory = output_of(arrowdevice_buffer_allocate, gpu(), uncached.get(), stream.queue(), size);
    stream.fill(reinterpret_cast<uint64_t>(memory), 7, size);
    stream.copy(target.address(), reinterpret_cast<uint64_t>(memory), size);
    arrowdevice_buffer_free(gpu(), stream.queue(), memory);
    stream.finish();
    expect(target.is_filled_with(7), "it holds other bytes");
  });
}

}  // namespace

void hardware::batches(Report& report, int64_t) {
  for (const int64_t n : {1'000, 10'000, 50'000}) measure_batch(report, n);
}

void hardware::allocation(Report& report, int64_t divisor) {
  if (!has("cuDeviceGetDefaultMemPool")) return report.not_run("allocation", "the driver is older than CUDA 11.2");
  for (const uint64_t threshold : {uint64_t{0}, UINT64_MAX}) {
    measure_allocation(report, threshold, kMega);
    measure_allocation(report, threshold, 256 * kMega / divisor);
  }
}

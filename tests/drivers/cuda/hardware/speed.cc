// SPDX-License-Identifier: Apache-2.0
// Measures the library beside plain driver calls that move the same bytes in the same run: speed SECTION [DIVISOR]. The
// divisor makes large copies smaller. A time is neither right nor wrong; the checks are of the bytes.
//
//   arrays      1000 columns of 800 bytes, 50 and 100 of 100 kB, and 8 of 64 MB, to the GPU, within it and back
//   mixed       600 columns of mixed types with 1000 rows, to the GPU and back
//   table       10 columns of 1 GB to the host
//   batches     1,000 to 50,000 copies in one call
//   allocation  allocations while the driver's pool gives freed memory back at once, and never
#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <fstream>
#include <memory>
#include <string_view>
#include <vector>

#include "cuda/api.h"
#include "cuda/hardware/application.h"
#include "cuda/hardware/report.h"
#include "drivers/budgets.h"
#include "support/fixture.h"

namespace {

using namespace hardware;              // NOLINT: what every line of this program is written with
using namespace arrowdevice::testing;  // NOLINT: likewise

constexpr int kRuns = 5;
constexpr int64_t kKilo = 1'000;
constexpr int64_t kMega = 1'000'000;
constexpr int64_t kGiga = 1'000'000'000;

using Clock = std::chrono::steady_clock;

template <typename Body>
double seconds_of(Body&& body) {
  const auto start = Clock::now();
  body();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Returns the medians of some runs of each body. The bodies take turns, because the driver is slower at first. The
// first runs do not count.
template <typename... Body>
std::array<double, sizeof...(Body)> medians(Body&&... body) {
  (body(), ...);
  std::array<std::vector<double>, sizeof...(Body)> seconds;
  for (int i = 0; i < kRuns; ++i) {
    size_t next = 0;
    (seconds[next++].push_back(seconds_of(body)), ...);
  }
  std::array<double, sizeof...(Body)> all{};
  for (size_t i = 0; i < all.size(); ++i) {
    std::ranges::sort(seconds[i]);
    all[i] = seconds[i][kRuns / 2];
  }
  return all;
}

// Writes bytes that are never 0, with a prime period, so that no piece of a copy equals its neighbour or fresh memory.
void fill(unsigned char* bytes, int64_t size) {
  constexpr int64_t kPeriod = 251;
  for (int64_t i = 0; i < size; ++i) bytes[i] = static_cast<unsigned char>(1 + i % kPeriod);
}

struct Shape {
  int64_t columns;
  int64_t bytes;  // of a column
  int64_t total() const { return columns * bytes; }
};

std::string size_text(int64_t bytes) {
  if (bytes % kGiga == 0) return std::to_string(bytes / kGiga) + " GB";
  if (bytes % kMega == 0) return std::to_string(bytes / kMega) + " MB";
  if (bytes % kKilo == 0) return std::to_string(bytes / kKilo) + " kB";
  return std::to_string(bytes) + " B";
}

std::string text(const Shape& shape) { return std::to_string(shape.columns) + " x " + size_text(shape.bytes); }

// A schema of uint8 columns, and arrays over memory that the caller keeps.
class Table {
 public:
  explicit Table(const Shape& shape) : shape_(shape) {
    std::vector<Field> columns(static_cast<size_t>(shape.columns), field("C"));
    schema_ = make_schema(struct_of(std::move(columns)).not_null());
  }

  const ArrowSchema& schema() const { return *schema_; }

  // Returns an array whose columns lie at `first`, `step` bytes apart.
  ArrowDeviceArray over(unsigned char* first, int64_t step, ArrowDeviceType type) const {
    struct Node {
      ArrowArray array{};
      const void* buffers[2] = {};
    };
    struct Root {
      const void* buffers[1] = {};
      std::vector<Node> columns;
      std::vector<ArrowArray*> children;
    };
    auto* const root = new Root;
    root->columns.resize(static_cast<size_t>(shape_.columns));
    for (Node& column : root->columns) {
      column.buffers[1] = first;
      column.array.length = shape_.bytes;
      column.array.n_buffers = 2;
      column.array.buffers = column.buffers;
      column.array.release = [](ArrowArray* released) { released->release = nullptr; };
      root->children.push_back(&column.array);
      first += step;
    }
    ArrowDeviceArray array{};
    array.device_type = type;
    array.device_id = type == ARROW_DEVICE_CPU ? -1 : 0;
    array.array.length = shape_.bytes;
    array.array.n_buffers = 1;
    array.array.buffers = root->buffers;
    array.array.n_children = shape_.columns;
    array.array.children = root->children.data();
    array.array.private_data = root;
    array.array.release = [](ArrowArray* released) {
      delete static_cast<Root*>(released->private_data);
      released->release = nullptr;
    };
    return array;
  }

  // Fails unless each column holds the bytes at `first`, `step` bytes apart.
  void expect_bytes(const ArrowDeviceArray& array, const unsigned char* first, int64_t step) const {
    for (int64_t i = 0; i < shape_.columns; ++i, first += step) {
      const void* const bytes = array.array.children[i]->buffers[1];
      expect(std::memcmp(bytes, first, static_cast<size_t>(shape_.bytes)) == 0,
             "column " + std::to_string(i) + " has other bytes");
    }
  }

 private:
  const Shape shape_;
  Schema schema_;
};

arrowdevice_device* device_of(ArrowDeviceType type) {
  return output_of(arrowdevice_device_find_by_id, type, type == ARROW_DEVICE_CPU ? int64_t{-1} : int64_t{0});
}

// Copies column by column, as a program without the library does.
void copy_columns(const Stream& stream, uint64_t to, uint64_t from, const Shape& shape) {
  const Current current;
  for (int64_t i = 0; i < shape.columns; ++i) {
    const auto at = static_cast<uint64_t>(i * shape.bytes);
    must_call("cuMemcpyAsync", to + at, from + at, static_cast<size_t>(shape.bytes), stream.get());
  }
  must_call("cuStreamSynchronize", stream.get());
}

void measure_arrays(Report& report, const Shape& shape, bool is_pinned) {
  const std::string name = text(shape) + (is_pinned ? ", pinned" : ", pageable");
  report.check("the bytes of " + name + " come back", [&] {
    const Table table(shape);
    const HostMemory source(shape.total(), is_pinned);
    fill(source.bytes(), shape.total());
    const ArrowDeviceType type = is_pinned ? ARROW_DEVICE_CUDA_HOST : ARROW_DEVICE_CPU;
    const Array host(table.over(source.bytes(), shape.bytes, type));
    Array there = copy(*host, table.schema(), gpu());
    table.expect_bytes(*copy(*there, table.schema(), cpu()), source.bytes(), shape.bytes);

    const Memory device(shape.total());
    const HostMemory target(shape.total(), is_pinned);
    const Stream stream;
    const auto [in, driver_in] = medians([&] { there = copy(*host, table.schema(), gpu()); },
                                         [&] { copy_columns(stream, device.address(), source.address(), shape); });
    report.measured(name + ", to the GPU", in, driver_in, shape.total());
    arrowdevice_device* const back = device_of(type);
    const auto [out, driver_out] = medians([&] { copy(*there, table.schema(), back, ARROWDEVICE_COPY_ALWAYS); },
                                           [&] { copy_columns(stream, target.address(), device.address(), shape); });
    report.measured(name + ", to the host", out, driver_out, shape.total());
    expect(std::memcmp(source.bytes(), target.bytes(), static_cast<size_t>(shape.total())) == 0,
           "the driver's copies have other bytes");
  });
}

// Copies memory of the library, which is one block, and columns of the program in turns.
void measure_within(Report& report, const Shape& shape) {
  const std::string name = text(shape) + ", within the GPU";
  report.check("the bytes of " + name + " stay the same", [&] {
    const Table table(shape);
    const HostMemory source(shape.total(), false);
    fill(source.bytes(), shape.total());
    const Array host(table.over(source.bytes(), shape.bytes, ARROW_DEVICE_CPU));
    const Array first = copy(*host, table.schema(), gpu());
    const Memory from(shape.total());
    const Memory to(shape.total());
    const Array foreign(table.over(static_cast<unsigned char*>(from.pointer()), shape.bytes, ARROW_DEVICE_CUDA));
    const Stream stream;
    stream.copy(from.address(), source.address(), shape.total());
    stream.finish();
    Array second;
    Array third;
    const auto [own, of_program, driver] =
        medians([&] { second = copy(*first, table.schema(), gpu(), ARROWDEVICE_COPY_ALWAYS); },
                [&] { third = copy(*foreign, table.schema(), gpu(), ARROWDEVICE_COPY_ALWAYS); },
                [&] { copy_columns(stream, to.address(), from.address(), shape); });
    report.measured(name + ", array of the library", own, driver, shape.total());
    report.measured(name + ", array of the program", of_program, driver, shape.total());
    for (const Array* const array : {&second, &third}) {
      table.expect_bytes(*copy(**array, table.schema(), cpu()), source.bytes(), shape.bytes);
    }
  });
}

void arrays(Report& report, int64_t divisor) {
  for (const bool is_pinned : {false, true}) {
    measure_arrays(report, {1'000, 800}, is_pinned);
    measure_arrays(report, {50, 100 * kKilo}, is_pinned);
    measure_arrays(report, {100, 100 * kKilo}, is_pinned);
    measure_arrays(report, {8, 64 * kMega / divisor}, is_pinned);
  }
  measure_within(report, {1'000, 800});
  measure_within(report, {50, 100 * kKilo});
  measure_within(report, {8, 64 * kMega / divisor});
}

// A buffer of an array on the GPU, and host memory with the same bytes.
struct Buffer {
  uint64_t on_gpu;
  uint64_t on_host;
  int64_t size;
};

// Returns the buffers that a copy of flat columns has made. `host` has the same values and offsets.
std::vector<Buffer> buffers_of(const ArrowSchema& schema, const ArrowArray& on_gpu, const ArrowArray& host) {
  std::vector<Buffer> all;
  const auto add = [&](const void* there, const void* here, int64_t size) {
    if (there != nullptr) all.push_back({reinterpret_cast<uint64_t>(there), reinterpret_cast<uint64_t>(here), size});
  };
  for (int64_t i = 0; i < schema.n_children; ++i) {
    const ArrowArray& column = *host.children[i];
    const void* const* const there = on_gpu.children[i]->buffers;
    const int64_t rows = column.length;
    const int64_t bits = (rows + 7) / 8;
    add(there[0], column.buffers[0], bits);
    switch (schema.children[i]->format[0]) {
      case 'b': add(there[1], column.buffers[1], bits); break;
      case 'i': add(there[1], column.buffers[1], 4 * rows); break;
      case 'u':
        add(there[1], column.buffers[1], 4 * (rows + 1));
        add(there[2], column.buffers[2], static_cast<const int32_t*>(column.buffers[1])[rows]);
        break;
      default: add(there[1], column.buffers[1], 8 * rows);
    }
  }
  return all;
}

// Copies buffer by buffer, as a program without the library does.
void copy_buffers(const Stream& stream, const std::vector<Buffer>& buffers, bool is_to_gpu) {
  const Current current;
  for (const Buffer& one : buffers) {
    must_call("cuMemcpyAsync", is_to_gpu ? one.on_gpu : one.on_host, is_to_gpu ? one.on_host : one.on_gpu,
              static_cast<size_t>(one.size), stream.get());
  }
  must_call("cuStreamSynchronize", stream.get());
}

void mixed(Report& report, int64_t) {
  report.check("the values of 600 mixed columns come back", [&] {
    const auto table = drivers::budgeted_table("mixed");
    const auto schema = table.schema();
    const Array host = from_host(table.array(Ledger()));
    Array there = copy(*host, *schema, gpu());
    Array back = copy(*there, *schema, cpu());
    const Array target = copy(*there, *schema, gpu(), ARROWDEVICE_COPY_ALWAYS);
    const auto in_buffers = buffers_of(*schema, target->array, host->array);
    int64_t bytes = 0;
    for (const Buffer& one : in_buffers) bytes += one.size;
    const Stream stream;
    const auto [in, driver_in] =
        medians([&] { there = copy(*host, *schema, gpu()); }, [&] { copy_buffers(stream, in_buffers, true); });
    report.measured("600 mixed columns, pageable, to the GPU", in, driver_in, bytes);
    drivers::expect_values(table, *copy(*target, *schema, cpu()));
    const Array plain = from_host(table.array(Ledger()));
    const auto out_buffers = buffers_of(*schema, target->array, plain->array);
    const auto [out, driver_out] =
        medians([&] { back = copy(*there, *schema, cpu()); }, [&] { copy_buffers(stream, out_buffers, false); });
    report.measured("600 mixed columns, pageable, to the host", out, driver_out, bytes);
    drivers::expect_values(table, *back);
    drivers::expect_values(table, *plain);
  });
}

int64_t available_host_memory() {
  std::ifstream file("/proc/meminfo");
  for (std::string word; file >> word;) {
    int64_t kib = 0;
    if (word == "MemAvailable:" && file >> kib) return kib << 10;
  }
  throw Failure("/proc/meminfo has no MemAvailable");
}

// Returns the size of a column of `columns` that the memory of the GPU and of the host allows, at most `wanted`.
int64_t affordable(int64_t columns, int64_t wanted) {
  int64_t free = 0;
  int64_t total = 0;
  must(arrowdevice_device_get_memory_info, gpu(), &free, &total);
  const int64_t most = std::min(free / (columns + 2), available_host_memory() / (2 * columns + 2));
  return most >= wanted ? wanted : std::max(kMega, most / kMega * kMega);
}

void measure_table(Report& report, int64_t divisor) {
  constexpr int64_t kColumns = 10;
  const Shape shape{kColumns, affordable(kColumns, kGiga / divisor)};
  const std::string name = text(shape) + " to new memory of the host";
  report.check("the bytes of " + name + " come back", [&] {
    const Table table(shape);
    const HostMemory source(shape.bytes, false);  // all columns have these bytes
    fill(source.bytes(), shape.bytes);
    const Array host(table.over(source.bytes(), 0, ARROW_DEVICE_CPU));
    const Array there = copy(*host, table.schema(), gpu());
    Array back;
    const double ours = seconds_of([&] { back = copy(*there, table.schema(), cpu()); });
    table.expect_bytes(*back, source.bytes(), 0);
    back.reset();
    const Stream stream;
    const auto copy_all = [&](const std::function<unsigned char*(int64_t)>& target) {
      const Current current;
      for (int64_t i = 0; i < kColumns; ++i) {
        must_call("cuMemcpyAsync", reinterpret_cast<uint64_t>(target(i)),
                  reinterpret_cast<uint64_t>(there->array.children[i]->buffers[1]), static_cast<size_t>(shape.bytes),
                  stream.get());
      }
      must_call("cuStreamSynchronize", stream.get());
    };
    report.measured(name + ", plain copies into new memory", ours, seconds_of([&] {
                      const HostMemory target(shape.total(), false);
                      copy_all([&](int64_t i) { return target.bytes() + i * shape.bytes; });
                    }),
                    shape.total());
    const HostMemory pinned(shape.bytes, true);
    report.measured(name + ", plain copies into pinned memory", ours,
                    seconds_of([&] { copy_all([&](int64_t) { return pinned.bytes(); }); }), shape.total());
  });
}

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

void batches(Report& report, int64_t) {
  for (const int64_t n : {1'000, 10'000, 50'000}) measure_batch(report, n);
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

void allocation(Report& report, int64_t divisor) {
  if (!has("cuDeviceGetDefaultMemPool")) return report.not_run("allocation", "the driver is older than CUDA 11.2");
  for (const uint64_t threshold : {uint64_t{0}, UINT64_MAX}) {
    measure_allocation(report, threshold, kMega);
    measure_allocation(report, threshold, 256 * kMega / divisor);
  }
}

struct Section {
  std::string_view name;
  void (*run)(Report& report, int64_t divisor);
};
constexpr Section kSections[] = {
    {"arrays", arrays}, {"mixed", mixed}, {"table", measure_table}, {"batches", batches}, {"allocation", allocation}};

}  // namespace

int main(int argc, char** argv) {
  const std::string_view asked = argc > 1 ? argv[1] : "";
  const int64_t divisor = argc > 2 ? std::atoll(argv[2]) : 1;
  const auto* const section = std::ranges::find(kSections, asked, &Section::name);
  if (section == std::end(kSections) || divisor < 1) {
    std::fprintf(stderr, "usage: %s arrays|mixed|table|batches|allocation [DIVISOR]\n", argv[0]);
    return 2;
  }
  return hardware::run([&](Report& report) {
    gpu();
    section->run(report, divisor);
    return_memory();
  });
}

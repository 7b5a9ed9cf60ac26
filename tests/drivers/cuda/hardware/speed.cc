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
#include <cstring>
#include <fstream>
#include <memory>
#include <string_view>
#include <vector>

#include "cuda/hardware/application.h"
#include "cuda/hardware/speed.h"
#include "drivers/budgets.h"
#include "support/fixture.h"

namespace {

using namespace hardware;              // NOLINT: what every line of this program is written with
using namespace arrowdevice::testing;  // NOLINT: likewise

struct Shape {
  int64_t columns;
  int64_t bytes;  // of a column
  int64_t total() const { return columns * bytes; }
};

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

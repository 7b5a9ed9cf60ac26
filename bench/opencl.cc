// SPDX-License-Identifier: Apache-2.0
// Compares the OpenCL backend with the driver's own calls on the same bytes. Run it from the build folder:
//
//   meson devenv -C build bench/bench-opencl
#include <arrowdevice/arrowdevice.hpp>

#include "batch.h"
#include "opencl/handles.h"
#include "opencl/platforms.h"
#include "ratio.h"

namespace arrowdevice::bench {
namespace {

using opencl::api;
using opencl::check;

constexpr int kIterations = 60;

// Device 0 without the library: a separate context, a queue, and one buffer that is allocated in advance.
class Raw {
 public:
  explicit Raw(int64_t bytes) : bytes_(static_cast<size_t>(bytes)) {
    const auto device = opencl::list_platform_devices().front().device;
    cl_int code = CL_SUCCESS;
    context_ = opencl::Owned<cl_context>::wrap(api().clCreateContext(nullptr, 1, &device, nullptr, nullptr, &code));
    check("clCreateContext", code);
    queue_ = opencl::Owned<cl_command_queue>::wrap(api().clCreateCommandQueue(context_.get(), device, 0, &code));
    check("clCreateCommandQueue", code);
    buffer_ = make_buffer(bytes_);
  }

  opencl::Owned<cl_mem> make_buffer(size_t bytes) {
    cl_int code = CL_SUCCESS;
    auto buffer =
        opencl::Owned<cl_mem>::wrap(api().clCreateBuffer(context_.get(), CL_MEM_READ_WRITE, bytes, nullptr, &code));
    check("clCreateBuffer", code);
    return buffer;
  }

  void write(const void* from) {
    check("clEnqueueWriteBuffer",
          api().clEnqueueWriteBuffer(queue_.get(), buffer_.get(), CL_TRUE, 0, bytes_, from, 0, nullptr, nullptr));
  }
  void read(void* to) {
    check("clEnqueueReadBuffer",
          api().clEnqueueReadBuffer(queue_.get(), buffer_.get(), CL_TRUE, 0, bytes_, to, 0, nullptr, nullptr));
  }
  void write(cl_mem buffer, cl_bool blocking, size_t bytes, const void* from) {
    check("clEnqueueWriteBuffer",
          api().clEnqueueWriteBuffer(queue_.get(), buffer, blocking, 0, bytes, from, 0, nullptr, nullptr));
  }
  void finish() {
    cl_event end = nullptr;
    check("clEnqueueMarkerWithWaitList", api().clEnqueueMarkerWithWaitList(queue_.get(), 0, nullptr, &end));
    const auto owner = opencl::Owned<cl_event>::wrap(end);
    check("clWaitForEvents", api().clWaitForEvents(1, &end));
  }

 private:
  const size_t bytes_;
  opencl::Owned<cl_context> context_;
  opencl::Owned<cl_command_queue> queue_;
  opencl::Owned<cl_mem> buffer_;
};

arrowdevice_device* device(const char* name) {
  arrowdevice_device* found = nullptr;
  arrowdevice_error error{};
  if (arrowdevice_device_find_by_name(name, &found, &error) != 0) throw Error(error.code, error.message);
  return found;
}

ArrowDeviceArray copy(const ArrowDeviceArray& array, const ArrowSchema& schema, const char* to) {
  ArrowDeviceArray out{};
  arrowdevice_error error{};
  if (arrowdevice_array_copy(&array, &schema, device(to), nullptr, &out, &error) != 0) {
    throw Error(error.code, error.message);
  }
  return out;
}

constexpr int64_t kColumns = 8;
constexpr int64_t kRowsOf64Megabytes = (int64_t{64} << 20) / kColumns / int64_t{sizeof(int64_t)};

void write_64_megabytes(benchmark::State& state) {
  constexpr double kBound = 1.15;
  Batch batch(kColumns, kRowsOf64Megabytes);
  Raw raw(batch.bytes());
  compare(
      state, kBound,
      [&] {
        auto there = copy(batch.array(), batch.schema(), "opencl:0");
        arrowdevice_array_release(&there);
      },
      [&] { raw.write(batch.data()); });
}

void read_64_megabytes(benchmark::State& state) {
  constexpr double kBound = 1.15;
  Batch batch(kColumns, kRowsOf64Megabytes);
  Batch target(kColumns, kRowsOf64Megabytes);
  Raw raw(batch.bytes());
  raw.write(batch.data());
  auto there = copy(batch.array(), batch.schema(), "opencl:0");
  compare(
      state, kBound,
      [&] {
        auto back = copy(there, batch.schema(), "cpu");
        arrowdevice_array_release(&back);
      },
      [&] { raw.read(target.data()); });
  arrowdevice_array_release(&there);
}

constexpr int64_t kManyColumns = 1'000;
constexpr int64_t kFewRows = 100;

void write_1000_columns(benchmark::State& state, cl_bool blocking, double bound) {
  Batch batch(kManyColumns, kFewRows);
  Raw raw(batch.bytes());
  constexpr size_t kBytes = kFewRows * sizeof(int64_t);
  std::vector<opencl::Owned<cl_mem>> buffers;
  for (int64_t i = 0; i < kManyColumns; ++i) buffers.push_back(raw.make_buffer(kBytes));
  compare(
      state, bound,
      [&] {
        auto there = copy(batch.array(), batch.schema(), "opencl:0");
        arrowdevice_array_release(&there);
      },
      [&] {
        for (int64_t i = 0; i < kManyColumns; ++i) {
          raw.write(buffers[static_cast<size_t>(i)].get(), blocking, kBytes, batch.column(i));
        }
        raw.finish();
      });
}

BENCHMARK(write_64_megabytes)->UseManualTime()->Iterations(kIterations)->Unit(benchmark::kMicrosecond);
BENCHMARK(read_64_megabytes)->UseManualTime()->Iterations(kIterations)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(write_1000_columns, against_non_blocking_writes, CL_FALSE, 1.0 / 4)
    ->UseManualTime()
    ->Iterations(kIterations)
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(write_1000_columns, against_blocking_writes, CL_TRUE, 1.0 / 50)
    ->UseManualTime()
    ->Iterations(kIterations)
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace arrowdevice::bench

BENCHMARK_MAIN();

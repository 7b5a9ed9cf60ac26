// SPDX-License-Identifier: Apache-2.0
// Compares the OpenCL backend with the driver's own calls on the same bytes. Run it from the build folder:
//
//   meson devenv -C build bench/bench-opencl
#include "copies.h"
#include "opencl/handles.h"
#include "opencl/platforms.h"

namespace arrowdevice::bench {
namespace {

using opencl::api;
using opencl::check;

// Device 0 without the library: a separate context, a queue, and a buffer for each buffer of the batch, allocated in
// advance. Each buffer is a non-blocking command, and one wait follows.
class Raw {
 public:
  explicit Raw(std::vector<Bytes> sources) : sources_(std::move(sources)) {
    const auto device = opencl::list_platform_devices().front().device;
    cl_int code = CL_SUCCESS;
    context_ = opencl::Owned<cl_context>::wrap(api().clCreateContext(nullptr, 1, &device, nullptr, nullptr, &code));
    check("clCreateContext", code);
    queue_ = opencl::Owned<cl_command_queue>::wrap(api().clCreateCommandQueue(context_.get(), device, 0, &code));
    check("clCreateCommandQueue", code);
    for (const auto& source : sources_) {
      buffers_.push_back(opencl::Owned<cl_mem>::wrap(
          api().clCreateBuffer(context_.get(), CL_MEM_READ_WRITE, source.size, nullptr, &code)));
      check("clCreateBuffer", code);
      targets_.emplace_back(source.size);
    }
  }

  void to_device() {
    for (size_t i = 0; i < sources_.size(); ++i) {
      check("clEnqueueWriteBuffer",
            api().clEnqueueWriteBuffer(queue_.get(), buffers_[i].get(), CL_FALSE, 0, sources_[i].size, sources_[i].data,
                                       0, nullptr, nullptr));
    }
    finish();
  }

  void to_host() {
    for (size_t i = 0; i < sources_.size(); ++i) {
      check("clEnqueueReadBuffer",
            api().clEnqueueReadBuffer(queue_.get(), buffers_[i].get(), CL_FALSE, 0, sources_[i].size,
                                      targets_[i].data(), 0, nullptr, nullptr));
    }
    finish();
  }

 private:
  void finish() {
    cl_event end = nullptr;
    check("clEnqueueMarkerWithWaitList", api().clEnqueueMarkerWithWaitList(queue_.get(), 0, nullptr, &end));
    const auto owner = opencl::Owned<cl_event>::wrap(end);
    check("clWaitForEvents", api().clWaitForEvents(1, &end));
  }

  const std::vector<Bytes> sources_;
  std::vector<AlignedVector<char>> targets_;
  opencl::Owned<cl_context> context_;
  opencl::Owned<cl_command_queue> queue_;
  std::vector<opencl::Owned<cl_mem>> buffers_;
};

}  // namespace
}  // namespace arrowdevice::bench

int main(int argc, char** argv) {
  arrowdevice::bench::register_copies<arrowdevice::bench::Raw>("opencl:0");
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}

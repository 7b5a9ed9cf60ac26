// SPDX-License-Identifier: Apache-2.0
#include "opencl/submission.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "base/environment.h"
#include "opencl/native_kernel.h"
#include "opencl/query.h"

namespace arrowdevice::opencl {
namespace {

constexpr const char* kVariable = "ARROWDEVICE_OPENCL_SUBMISSION";

// A batch of small columns. It runs a few times, because the first run warms the driver up.
constexpr size_t kPieces = 64;
constexpr size_t kPieceBytes = 1024;
constexpr int kTrials = 4;

// A scratch buffer and a queue that no other code uses.
class Trial {
 public:
  explicit Trial(cl_device_id device) : host_(kPieces * kPieceBytes) {
    cl_int code = CL_SUCCESS;
    context_ = Owned<cl_context>::wrap(api().clCreateContext(nullptr, 1, &device, nullptr, nullptr, &code));
    check("clCreateContext", code);
    queue_ = Owned<cl_command_queue>::wrap(api().clCreateCommandQueue(context_.get(), device, 0, &code));
    check("clCreateCommandQueue", code);
    buffer_ =
        Owned<cl_mem>::wrap(api().clCreateBuffer(context_.get(), CL_MEM_READ_WRITE, host_.size(), nullptr, &code));
    check("clCreateBuffer", code);
  }

  Submission fastest() {
    auto commands = Clock::duration::max();
    auto kernel = Clock::duration::max();
    try {
      for (int i = 0; i < kTrials; ++i) {
        commands = std::min(commands, time([this] { return enqueue_commands(); }));
        kernel = std::min(kernel, time([this] { return enqueue_kernel(); }));
      }
    } catch (...) {
      drain();
      throw;
    }
    return kernel < commands ? Submission::kNativeKernel : Submission::kCommands;
  }

 private:
  using Clock = std::chrono::steady_clock;

  // Commands enqueued before a failed call still read the host memory. If the library cannot wait for them, it keeps
  // the memory.
  void drain() {
    constexpr int kAttempts = 2;
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      if (finish()) return;
    }
    [[maybe_unused]] const auto* kept = new std::vector<std::byte>(std::move(host_));
  }  // NOLINT: kept for good

  bool finish() noexcept {
    cl_event last = nullptr;
    if (api().clEnqueueMarkerWithWaitList(queue_.get(), 0, nullptr, &last) != CL_SUCCESS) return false;
    const auto end = Owned<cl_event>::wrap(last);
    const auto code = api().clWaitForEvents(1, &last);
    return code == CL_SUCCESS || code == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
  }

  template <typename Enqueue>
  static Clock::duration time(Enqueue&& enqueue) {
    const auto start = Clock::now();
    const Owned<cl_event> last = enqueue();
    auto* const handle = last.get();
    check("clWaitForEvents", api().clWaitForEvents(1, &handle));
    return Clock::now() - start;
  }

  Owned<cl_event> enqueue_commands() {
    cl_event last = nullptr;
    for (size_t i = 0; i < kPieces; ++i) {
      check("clEnqueueWriteBuffer",
            api().clEnqueueWriteBuffer(queue_.get(), buffer_.get(), CL_FALSE, i * kPieceBytes, kPieceBytes,
                                       host_.data() + i * kPieceBytes, 0, nullptr, i + 1 == kPieces ? &last : nullptr));
    }
    return Owned<cl_event>::wrap(last);
  }

  Owned<cl_event> enqueue_kernel() {
    NativeCopy kernel(kPieces);
    for (size_t i = 0; i < kPieces; ++i) {
      kernel.add(i * kPieceBytes, host_.data() + i * kPieceBytes, kPieceBytes, false);
    }
    return kernel.enqueue(queue_.get(), buffer_.get());
  }

  std::vector<std::byte> host_;
  Owned<cl_context> context_;
  Owned<cl_command_queue> queue_;
  Owned<cl_mem> buffer_;
};

}  // namespace

Submission choose_submission(cl_device_id device) {
  const bool has_native_kernels =
      (ask_device<cl_device_exec_capabilities>(device, CL_DEVICE_EXECUTION_CAPABILITIES) & CL_EXEC_NATIVE_KERNEL) != 0;
  const auto chosen = environment::text(kVariable);
  if (chosen && *chosen != "commands" && *chosen != "kernel") {
    throw Error(EINVAL, std::string(kVariable) + "=" + *chosen + ": neither \"commands\" nor \"kernel\"");
  }
  if (!has_native_kernels || chosen == "commands") return Submission::kCommands;
  return chosen == "kernel" ? Submission::kNativeKernel : Trial(device).fastest();
}

}  // namespace arrowdevice::opencl

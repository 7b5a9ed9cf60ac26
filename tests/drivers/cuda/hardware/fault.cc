// SPDX-License-Identifier: Apache-2.0
// Lets a kernel of the application write to an illegal address, which loses the context, and checks that the library
// reports EIO and loses nothing. A child process does it. A stand-in runs no kernels, and fails a call instead.
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "cuda/hardware/application.h"
#include "cuda/hardware/report.h"
#include "support/fixture.h"
#include "support/in_child.h"

namespace {

using namespace hardware;              // NOLINT: what every line of this program is written with
using namespace arrowdevice::testing;  // NOLINT: likewise

constexpr int kIllegalAddress = 700;
constexpr int64_t kSize = 1 << 20;
constexpr double kPatience = 5;            // seconds
constexpr int64_t kIdle = 10'000'000'000;  // ns

// Writes to the address 16. The driver compiles the text for its GPU.
std::string kernel_for(const std::string& target) {
  return ".version 6.4\n.target " + target + R"(
.address_size 64
.visible .entry fault()
{
  .reg .b64 %address;
  .reg .b32 %value;
  mov.u64 %address, 16;
  mov.u32 %value, 1;
  st.global.u32 [%address], %value;
  ret;
}
)";
}

// A kernel that faults, loaded at once.
class Kernel {
 public:
  Kernel() {
    if (is_stand_in()) return;
    const Current current;
    void* module = nullptr;
    int result = 1;
    for (const char* const target : {"sm_75", "sm_50"}) {  // the newest drivers may refuse the older one
      if (result != 0) result = drivers::call("cuModuleLoadData", &module, kernel_for(target).c_str());
    }
    if (result != 0) throw Failure("cuModuleLoadData gave " + std::to_string(result));
    must_call("cuModuleGetFunction", &function_, module, "fault");
  }

  void launch(const Stream& stream) const {
    if (is_stand_in()) return;
    const Current current;
    void** const none = nullptr;
    must_call("cuLaunchKernel", function_, 1u, 1u, 1u, 1u, 1u, 1u, 0u, stream.get(), none, none);
  }

 private:
  void* function_ = nullptr;
};

// Runs into the fault that was launched behind the gate. A stand-in loses its GPUs while the gate is shut.
void lose_the_gpu(Gate& gate) {
  const Current current;
  if (is_stand_in()) {
    drivers::fail_nth("cuStreamSynchronize", 1, kIllegalAddress);
  } else {
    gate.open();
  }
  expect(drivers::call("cuStreamSynchronize", gate.stream().get()) != 0, "the kernel did not fail");
  gate.open();
}

// An array over pinned memory that counts its releases.
ArrowDeviceArray counted(const HostMemory& memory, std::atomic<int>& releases) {
  ArrowDeviceArray array = array_over(memory.bytes(), kSize, nullptr, &releases);
  array.device_type = ARROW_DEVICE_CUDA_HOST;
  return array;
}

void expect_eio(const Sample& sample, arrowdevice_device* on) {
  Array out;
  const std::string said =
      must_fail_once(EIO, arrowdevice_array_copy, sample.host.get(), sample.schema.get(), on, nullptr, out.out());
  expect(out.released(), "a failed copy gave an array");
  const std::string again =
      must_fail_once(EIO, arrowdevice_array_copy, sample.host.get(), sample.schema.get(), on, nullptr, out.out());
  expect(contains(again, "failed for good"), again);
}

void the_library_survives() {
  const Sample sample(list_of(field("u")), {.rows = 1'000});
  std::atomic<int> releases{0};
  arrowdevice_device* const device = gpu();
  const HostMemory memory(kSize, true);
  std::memset(memory.bytes(), 1, kSize);
  const Kernel kernel;
  Array there = copy(sample, device);
  {
    Gate gate(Gate::Kind::kHostFunction);
    Array source(counted(memory, releases));
    kernel.launch(gate.stream());
    Array pending;
    must_not_block(
        kPatience, [&] { gate.open(); },
        [&] { pending = copy(*source, bytes_schema(), device, ARROWDEVICE_COPY_ASYNC, gate.stream().queue()); });
    lose_the_gpu(gate);
    expect_eio(sample, device);
    must_fail_once(EIO, arrowdevice_array_wait, pending.get(), nullptr, int64_t{ARROWDEVICE_NO_TIMEOUT});
    must_fail_once(EIO, arrowdevice_queue_finish, gate.stream().queue(), int64_t{ARROWDEVICE_NO_TIMEOUT});
  }
  there.reset();
  must(arrowdevice_wait_idle, kIdle);
  expect(releases == 1, "the source was released " + std::to_string(releases.load()) + " times");
  const Array copied = copy(sample, cpu(), ARROWDEVICE_COPY_ALWAYS);
  expect(difference(sample, *copied).empty(), "the CPU gives other values");
}

void round_trip(arrowdevice_device* device) {
  const Sample sample(list_of(field("u")), {.rows = 1'000});
  const Array there = copy(sample, device);
  const Array back = copy(*there, *sample.schema, cpu());
  expect(difference(sample, *back).empty(), "other values came back");
}

void another_gpu_goes_on() {
  auto* const other = output_of(arrowdevice_device_find_by_id, ARROW_DEVICE_CUDA, int64_t{1});
  const Sample sample(list_of(field("u")), {.rows = 1'000});
  round_trip(other);
  const Kernel kernel;
  Gate gate(Gate::Kind::kHostFunction);
  kernel.launch(gate.stream());
  lose_the_gpu(gate);
  expect_eio(sample, gpu());
  round_trip(other);
}

void another_process_goes_on() {
  round_trip(gpu());
  return_memory();
}

void expect_success(const std::string& problem) { expect(problem.empty(), problem); }

}  // namespace

int main() {
  // A kernel that is loaded at its launch may wait for all work, also for work behind a gate.
  ::setenv("CUDA_MODULE_LOADING", "EAGER", 1);
  return hardware::run([](Report& report) {
    report.check("after a fault of a kernel calls give EIO, and nothing is lost",
                 [] { expect_success(in_child(the_library_survives)); });
    const std::string other = "after a fault of a kernel another GPU goes on";
    if (is_stand_in()) {
      report.not_run(other, "the stand-in loses all of its GPUs at once");
    } else if (in_child([] { expect(output_of(arrowdevice_device_count, ARROW_DEVICE_CUDA) > 1, ""); }).empty()) {
      report.check(other, [] { expect_success(in_child(another_gpu_goes_on)); });
    } else {
      report.not_run(other, "there is one GPU only");
    }
    report.check("another process uses the GPU afterwards", [] { expect_success(in_child(another_process_goes_on)); });
  });
}

// SPDX-License-Identifier: Apache-2.0
// Eight threads copy ten thousand batches in all, each on its own queue of the same device.
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "drivers/opencl/application.h"

using namespace opencl_test;  // NOLINT

namespace {

constexpr int kThreads = 8;
constexpr int kBatches = 10'000;

// The first failure on any thread. The test framework's checks, and functions that use them, work on a
// single thread only.
class Problem {
 public:
  void report(const std::string& text) {
    if (!is_there_.exchange(true)) text_ = text;
  }
  bool is_there() const { return is_there_.load(); }
  const std::string& text() const { return text_; }  // after the threads have ended

 private:
  std::atomic<bool> is_there_{false};
  std::string text_;
};

void copy_there_and_back(arrowdevice_device* host, arrowdevice_device* device, const Sample& sample, int batches,
                         Problem& problem) {
  arrowdevice_error error{};
  arrowdevice_queue* queue = nullptr;
  if (arrowdevice_queue_create(device, &queue, &error) != 0) return problem.report(error.message);
  const Queue owner(queue);
  auto options = copy_options(ARROWDEVICE_COPY_ASYNC);
  options.queue = queue;
  for (int i = 0; i < batches && !problem.is_there(); ++i) {
    Array there;
    Array back;
    int code = arrowdevice_array_copy(sample.host.get(), sample.schema.get(), device, &options, there.out(), &error);
    if (code == 0) {
      code = arrowdevice_array_copy(there.get(), sample.schema.get(), host, &options, back.out(), &error);
    }
    if (code != 0) return problem.report(error.message);
    const auto differs = arrowdevice::testing::difference(*sample.schema, *sample.twin, 0, *sample.schema, back->array,
                                                          0, back->array.length);
    if (!differs.empty()) return problem.report(differs);
  }
}

}  // namespace

TEST_CASE("eight threads copy ten thousand batches on queues of their own") {
  begin_opencl();
  Problem problem;
  auto* const host = cpu();
  auto* const device = opencl();
  std::vector<std::unique_ptr<Sample>> samples;
  for (int i = 0; i < kThreads; ++i) {
    samples.push_back(
        std::make_unique<Sample>(struct_of({field("l"), field("b"), field("u")}).not_null(), Knobs{.rows = 20}));
  }
  std::vector<std::thread> threads;
  for (const auto& sample : samples) {
    threads.emplace_back([&] { copy_there_and_back(host, device, *sample, kBatches / kThreads, problem); });
  }
  for (auto& thread : threads) thread.join();
  INFO(problem.text());
  CHECK_FALSE(problem.is_there());
  settle();
  CHECK(stats(default_pool(opencl())).used_bytes == 0);
}

TEST_CASE("eight threads make queues of one device wait for events of another context") {
  begin_opencl();
  constexpr int kScaled = 250;
  const ClContext context = make_context();
  const ClBuffer buffer = make_buffer(context.get(), 64);
  auto* const device = opencl();
  Problem problem;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      arrowdevice_error error{};
      for (int time = 0; time < kScaled && !problem.is_there(); ++time) {
        cl_int code = CL_SUCCESS;
        ClEvent event = ClEvent::wrap(api().clCreateUserEvent(context.get(), &code));
        if (code != CL_SUCCESS) return problem.report("no event could be made");
        const Array array = array_over(buffer.get(), 64, event.place());
        arrowdevice_queue* queue = nullptr;
        if (arrowdevice_queue_create(device, &queue, &error) != 0) return problem.report(error.message);
        const Queue owner(queue);
        if (arrowdevice_queue_wait_array(queue, array.get(), nullptr, &error) != 0)
          return problem.report(error.message);
        api().clSetUserEventStatus(event.get(), CL_COMPLETE);
        if (arrowdevice_queue_finish(queue, ARROWDEVICE_NO_TIMEOUT, &error) != 0) return problem.report(error.message);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  INFO(problem.text());
  CHECK_FALSE(problem.is_there());
}

// SPDX-License-Identifier: Apache-2.0
// Eight threads copy to a device and back, each on its own queue. Together they copy ten thousand batches.
#include <arrowdevice/arrowdevice.h>

#include <atomic>
#include <thread>
#include <vector>

#include "support/cases.h"
#include "support/catch.h"
#include "support/owned.h"
#include "support/reader.h"

namespace {

using namespace arrowdevice::testing;  // NOLINT: what every line of this test is written with

constexpr int kThreads = 8;
constexpr int kBatches = 1250;

// The first failure, for the thread that may report it.
class Verdict {
 public:
  bool fine() const { return !failed_.load(); }
  void fail(const std::string& why) {
    if (!failed_.exchange(true)) why_ = why;
  }
  const std::string& why() const { return why_; }

 private:
  std::atomic<bool> failed_{false};
  std::string why_;
};

void copy_batches(arrowdevice_device* device, arrowdevice_device* cpu, uint64_t seed, Verdict& verdict) {
  const HostCase made{"batch",
                      struct_of({field("i"), field("g"), field("u"), list_of(field("s"))}).not_null(),
                      {.rows = 50 + static_cast<int64_t>(seed), .seed = seed}};
  const auto schema = made.schema();
  Owned<ArrowArray> twin = made.array(Ledger());
  arrowdevice_queue* queue = nullptr;
  arrowdevice_error error{};
  if (arrowdevice_queue_create(device, &queue, &error) != 0) return verdict.fail(error.message);
  arrowdevice_copy_options options{};
  options.struct_size = sizeof options;
  options.flags = ARROWDEVICE_COPY_ASYNC;
  options.queue = queue;
  for (int i = 0; i < kBatches && verdict.fine(); ++i) {
    Owned<ArrowArray> array = made.array(Ledger());
    Owned<ArrowDeviceArray> host;
    Owned<ArrowDeviceArray> there;
    Owned<ArrowDeviceArray> back;
    int code = arrowdevice_array_from_host(array.get(), host.out(), &error);
    if (code == 0) code = arrowdevice_array_copy(host.get(), schema.get(), device, &options, there.out(), &error);
    if (code == 0) code = arrowdevice_array_copy(there.get(), schema.get(), cpu, &options, back.out(), &error);
    if (code != 0) {
      verdict.fail(error.message);
      break;
    }
    const auto problem = difference(*schema, *twin, 0, *schema, back->array, 0, twin->length);
    if (!problem.empty()) verdict.fail("batch " + std::to_string(i) + ": " + problem);
  }
  arrowdevice_queue_destroy(queue);
}

TEST_CASE("eight threads copy ten thousand batches on queues of their own") {
  arrowdevice_device* device = nullptr;
  arrowdevice_device* cpu = nullptr;
  arrowdevice_error error{};
  const int code = arrowdevice_device_find_by_id(ARROW_DEVICE_VULKAN, 0, &device, &error);
  INFO(error.message);
  REQUIRE(code == 0);
  REQUIRE(arrowdevice_device_find_by_id(ARROW_DEVICE_CPU, -1, &cpu, nullptr) == 0);
  Verdict verdict;
  std::vector<std::thread> threads;
  for (uint64_t i = 1; i <= kThreads; ++i) {
    threads.emplace_back([&, i] { copy_batches(device, cpu, i, verdict); });
  }
  for (auto& thread : threads) thread.join();
  INFO(verdict.why());
  CHECK(verdict.fine());
  CHECK(arrowdevice_wait_idle(ARROWDEVICE_NO_TIMEOUT, nullptr) == 0);
}

}  // namespace

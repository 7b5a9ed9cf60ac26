// SPDX-License-Identifier: Apache-2.0
// Tests mistake 17: an object is published before it is complete. This is a separate program, because that
// can happen only once per process.
#include <atomic>
#include <thread>

#include "library.h"

namespace {

using namespace library_test;  // NOLINT: what every line of these tests is written with

// The results of a thread. Many threads use a device for the first time at the same moment.
struct Seen {
  arrowdevice_device* device = nullptr;
  arrowdevice_device_info info{};
  arrowdevice_pool* pool = nullptr;
  int code = 0;
};

std::vector<Seen> first_use(const char* name) {
  constexpr size_t kThreads = 16;
  std::vector<Seen> seen(kThreads);
  std::vector<std::thread> threads;
  std::atomic<size_t> waiting{0};
  for (auto& mine : seen) {
    threads.emplace_back([&] {
      ++waiting;
      while (waiting < kThreads) std::this_thread::yield();
      mine.code = arrowdevice_device_find_by_name(name, &mine.device, nullptr);
      if (mine.code != 0) return;
      mine.info.struct_size = sizeof mine.info;
      mine.code = arrowdevice_device_get_info(mine.device, &mine.info, nullptr);
      if (mine.code == 0) mine.code = arrowdevice_device_get_pool(mine.device, &mine.pool, nullptr);
      if (mine.code != 0) return;
      arrowdevice_queue* queue = nullptr;
      mine.code = arrowdevice_queue_create(mine.device, &queue, nullptr);
      arrowdevice_queue_destroy(queue);
    });
  }
  for (auto& thread : threads) thread.join();
  return seen;
}

TEST_CASE("mistake 17: threads see a device only after it is complete") {
  control::reset(configuration());
  must(arrowdevice_backend_register, control::table());
  for (const char* name : {"cpu", "ext_dev:0", "ext_dev:1", "ext_dev:2", "ext_dev:3"}) {
    INFO(name);
    const auto seen = first_use(name);
    for (const Seen& one : seen) {
      CHECK(one.code == 0);
      CHECK(one.device == seen[0].device);
      CHECK(one.pool == seen[0].pool);
      CHECK(one.info.name[0] != '\0');
      CHECK(one.info.buffer_alignment > 1);
      CHECK(std::memcmp(&one.info, &seen[0].info, sizeof one.info) == 0);
    }
  }
  CHECK(control::calls("device_open") == kSims);  // once for each device
}

}  // namespace

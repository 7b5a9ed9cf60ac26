// SPDX-License-Identifier: Apache-2.0
#include "support/fixture.h"

#include <barrier>
#include <exception>
#include <mutex>
#include <thread>

namespace arrowdevice::testing {

SampleRows::SampleRows(Field of, Knobs with)
    : type(std::move(of)), knobs(with), schema(make_schema(type)), twin(make_array(generate(type, with), Ledger())) {}

Array SampleRows::array() const { return from_host(make_array(generate(type, knobs), ledger)); }

arrowdevice_device* cpu() { return output_of(arrowdevice_device_find_by_id, ARROW_DEVICE_CPU, -1); }

arrowdevice_device* sim(int64_t id) { return output_of(arrowdevice_device_find_by_id, ARROW_DEVICE_EXT_DEV, id); }

arrowdevice_pool* default_pool(arrowdevice_device* device) { return output_of(arrowdevice_device_get_pool, device); }

Queue make_queue(arrowdevice_device* device) { return Queue(output_of(arrowdevice_queue_create, device)); }

Pool make_pool(arrowdevice_device* device, const arrowdevice_pool_options* options) {
  return Pool(output_of(arrowdevice_pool_create, device, options));
}

arrowdevice_copy_options copy_options(uint32_t flags, arrowdevice_queue* queue, arrowdevice_pool* pool) {
  auto options = sized<arrowdevice_copy_options>();
  options.flags = flags;
  options.queue = queue;
  options.pool = pool;
  return options;
}

Array from_host(Owned<ArrowArray> array) {
  Array out = output_of(arrowdevice_array_from_host, array.get());
  expect(array.released(), "from_host left its input unreleased");
  return out;
}

Array copy(const ArrowDeviceArray& array, const ArrowSchema& schema, arrowdevice_device* to,
           const arrowdevice_copy_options& options) {
  return output_of(arrowdevice_array_copy, &array, &schema, to, &options);
}

Array copy(const ArrowDeviceArray& array, const ArrowSchema& schema, arrowdevice_device* to, uint32_t flags,
           arrowdevice_queue* queue, arrowdevice_pool* pool) {
  return copy(array, schema, to, copy_options(flags, queue, pool));
}

Array copy(const Sample& sample, arrowdevice_device* to, uint32_t flags) {
  return copy(*sample.host, *sample.schema, to, flags);
}

Array share(Array& array) { return output_of(arrowdevice_array_share, array.get()); }

Array slice(ArrowDeviceArray& array, const ArrowSchema& schema, int64_t offset, int64_t length) {
  return output_of(arrowdevice_array_slice, &array, &schema, offset, length);
}

std::string difference(const SampleRows& sample, const ArrowDeviceArray& array, int64_t first) {
  const Array here = copy(array, *sample.schema, cpu());
  const std::string malformed = problem(*sample.schema, here->array);
  if (!malformed.empty()) return "malformed: " + malformed;
  return difference(*sample.schema, *sample.twin, first, *sample.schema, here->array, 0, here->array.length);
}

void on_threads(int n, const std::function<void(int)>& body) {
  std::barrier start(n);
  std::mutex mutex;
  std::exception_ptr problem;
  std::vector<std::thread> threads;
  for (int i = 0; i < n; ++i) {
    threads.emplace_back([&, i] {
      start.arrive_and_wait();
      try {
        body(i);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (problem == nullptr) problem = std::current_exception();
      }
    });
  }
  for (auto& thread : threads) thread.join();
  if (problem != nullptr) std::rethrow_exception(problem);
}

void copy_on_threads(arrowdevice_device* device) {
  constexpr int kThreads = 8;
  constexpr int kBatches = 10'000;
  auto* const host = cpu();
  on_threads(kThreads, [&](int thread) {
    const Field type = struct_of({field("l"), field("b"), field("g"), field("u"), list_of(field("s"))}).not_null();
    const Sample sample(type, {.rows = 20 + thread, .seed = static_cast<uint64_t>(thread)});
    const Queue queue = make_queue(device);
    for (int i = 0; i < kBatches / kThreads; ++i) {
      const Array there = copy(*sample.host, *sample.schema, device, ARROWDEVICE_COPY_ASYNC, queue.get());
      const Array back = copy(*there, *sample.schema, host, ARROWDEVICE_COPY_ASYNC, queue.get());
      const std::string changed =
          difference(*sample.schema, *sample.twin, 0, *sample.schema, back->array, 0, sample.twin->length);
      expect(changed.empty(), "batch " + std::to_string(i) + ": " + changed);
    }
  });
}

}  // namespace arrowdevice::testing

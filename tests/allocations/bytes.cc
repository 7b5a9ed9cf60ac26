// SPDX-License-Identifier: Apache-2.0
// Scenarios of queues, pools and buffers.
#include "allocations/log.h"
#include "allocations/scene.h"

namespace allocations {
namespace {

constexpr int64_t kPlaces[] = {-1, kAddresses[0], kHandles[0]};
constexpr int64_t kBytes = 4096;

struct Bytes {
  explicit Bytes(int64_t id) : on(device(id)), queue(queue_on(on)) {}
  ~Bytes() {
    other_queue.reset();
    for (void* one : {whole, out}) arrowdevice_buffer_free(on, nullptr, one);
  }
  Bytes(const Bytes&) = delete;

  void allocate() { must(arrowdevice_buffer_allocate, on, pool.get(), nullptr, kBytes, &whole); }

  arrowdevice_device* on;
  Queue queue, other_queue;
  Pool pool;
  void* whole = nullptr;
  void* out = nullptr;
  std::array<int64_t, 8> sent{1, 2, 3, 4, 5, 6, 7, 8};
  std::array<int64_t, 8> came{};
};

using Body = std::function<int(Bytes& bytes, arrowdevice_error* error)>;
using Check = std::function<void(Bytes& bytes)>;

struct Steps {
  Check prepare = [](Bytes&) {};
  Body call;
  Check refused = [](Bytes&) {};
  Check done = [](Bytes&) {};
};

Scenario on(int64_t id, const char* function, const char* variant, Steps steps, bool allocates = true) {
  return {.function = function,
          .variant = std::string("on ") + kind_of(id) + variant,
          .make =
              [id, steps] {
                const auto bytes = std::make_shared<Bytes>(id);
                steps.prepare(*bytes);
                Attempt attempt;
                attempt.run = [bytes, call = steps.call](auto* error) { return call(*bytes, error); };
                attempt.check_refused = [bytes, refused = steps.refused] { refused(*bytes); };
                attempt.check_done = [bytes, done = steps.done] { done(*bytes); };
                return attempt;
              },
          .allocates = allocates};
}

// -- queues

void check_queue(Bytes& bytes) {
  check(bytes.other_queue != nullptr, "no queue was made");
  must(arrowdevice_queue_finish, bytes.other_queue.get(), int64_t{ARROWDEVICE_NO_TIMEOUT});
}
void check_no_queue(Bytes& bytes) { check(bytes.other_queue == nullptr, "a call that failed has made a queue"); }

int create_queue(Bytes& bytes, arrowdevice_error* error) {
  auto* queue = poisoned_pointer<arrowdevice_queue>();
  const int code = arrowdevice_queue_create(bytes.on, &queue, error);
  bytes.other_queue.reset(queue);
  return code;
}

int wrap_queue(Bytes& bytes, arrowdevice_error* error) {
  arrowdevice_native_queue native{};
  native.struct_size = sizeof native;
  auto* queue = poisoned_pointer<arrowdevice_queue>();
  const int code = arrowdevice_queue_wrap(bytes.on, &native, &queue, error);  // the device's default queue
  bytes.other_queue.reset(queue);
  return code;
}

int name_queue(Bytes& bytes, arrowdevice_error* error) {
  arrowdevice_native_queue native{};
  native.struct_size = sizeof native;
  return arrowdevice_queue_get_native(bytes.queue.get(), &native, error);
}

int finish_queue(Bytes& bytes, arrowdevice_error* error) {
  return arrowdevice_queue_finish(bytes.queue.get(), ARROWDEVICE_NO_TIMEOUT, error);
}

void queue_work(Bytes& bytes) {
  arrowdevice_copy_region region{};
  region.dst_device = bytes.on;
  region.dst = bytes.whole;
  region.src = bytes.sent.data();
  region.size = sizeof bytes.sent;
  must(arrowdevice_queue_copy, bytes.queue.get(), &region, int64_t{1});
}

int copy_there_and_back(Bytes& bytes, arrowdevice_error* error) {
  const auto size = static_cast<int64_t>(sizeof bytes.sent);
  const arrowdevice_copy_region there{bytes.on, bytes.whole, 0, nullptr, bytes.sent.data(), 0, size, 0};
  const arrowdevice_copy_region back{nullptr, bytes.came.data(), 0, bytes.on, bytes.whole, 0, size, 0};
  if (const int code = arrowdevice_queue_copy(bytes.queue.get(), &there, 1, error); code != 0) return code;
  return arrowdevice_queue_copy(bytes.queue.get(), &back, 1, error);
}

void check_copied(Bytes& bytes) {
  must(arrowdevice_queue_finish, bytes.queue.get(), int64_t{ARROWDEVICE_NO_TIMEOUT});
  check(bytes.came == bytes.sent, "other bytes came back");
}

void add_queues(Scenarios& scenarios, int64_t id) {
  const bool is_device = id >= 0;
  const auto allocate = [](Bytes& bytes) { bytes.allocate(); };
  const auto allocate_and_work = [](Bytes& bytes) {
    bytes.allocate();
    queue_work(bytes);
  };
  scenarios.push_back(
      on(id, "queue_create", "", {.call = create_queue, .refused = check_no_queue, .done = check_queue}));
  if (is_device) {
    scenarios.push_back(on(id, "queue_wrap", "", {.call = wrap_queue, .refused = check_no_queue, .done = check_queue}));
    scenarios.push_back(on(id, "queue_get_native", "", {.call = name_queue}, false));
  }
  scenarios.push_back(on(id, "queue_finish", "", {.prepare = allocate_and_work, .call = finish_queue}));
  scenarios.push_back(on(id, "queue_destroy", "",
                         {.prepare =
                              [](Bytes& bytes) {
                                bytes.allocate();
                                queue_work(bytes);
                                must(arrowdevice_queue_finish, bytes.queue.get(), int64_t{ARROWDEVICE_NO_TIMEOUT});
                              },
                          .call =
                              [](Bytes& bytes, auto*) {
                                bytes.queue.reset();
                                return 0;
                              }},
                         false));
  scenarios.push_back(on(id, "queue_copy", "",
                         {.prepare = allocate,
                          .call = copy_there_and_back,
                          .refused = [](Bytes& bytes) { finish_queue(bytes, nullptr); },
                          .done = check_copied}));
}

// -- buffers

void check_no_buffer(Bytes& bytes) { check(bytes.out == nullptr, "a call that failed has put a buffer out"); }
void check_buffer(Bytes& bytes) { check(bytes.out != nullptr, "no buffer was put out"); }

// Checks that the memory is freed after the work has finished, in spite of failed allocations. The library
// may give up memory if it cannot know when the work has finished.
void check_given_back(Bytes& bytes) {
  must(arrowdevice_wait_idle, int64_t{ARROWDEVICE_NO_TIMEOUT});
  if (has_given_memory_up()) return;
  PoolStats stats{};
  stats.struct_size = sizeof stats;
  must(arrowdevice_pool_get_stats, static_cast<const arrowdevice_pool*>(bytes.pool.get()), &stats);
  check_equal(stats.used_bytes, 0, "bytes in use after all was given back");
}

Pool new_pool(arrowdevice_device* device, const arrowdevice_pool_options* options = nullptr) {
  arrowdevice_pool* pool = nullptr;
  must(arrowdevice_pool_create, device, options, &pool);
  return Pool(pool);
}

void allocate_from_pool(Bytes& bytes) {
  bytes.pool = new_pool(bytes.on);
  bytes.allocate();
}

int allocate_out(Bytes& bytes, arrowdevice_error* error) {
  bytes.out = poisoned_pointer<void>();
  return arrowdevice_buffer_allocate(bytes.on, bytes.pool.get(), bytes.queue.get(), kBytes, &bytes.out, error);
}

int free_after(Bytes& bytes, arrowdevice_queue* queue) {
  arrowdevice_buffer_free(bytes.on, queue, std::exchange(bytes.whole, nullptr));
  return 0;
}

int cut(Bytes& bytes, arrowdevice_error* error) {
  void* sub = poisoned_pointer<void>();
  const int code = arrowdevice_sub_buffer_create(bytes.on, bytes.whole, 0, 512, &sub, error);
  check_now((code == 0) == (sub != nullptr), "another part than NULL on failure");
  arrowdevice_sub_buffer_destroy(bytes.on, sub);
  return code;
}

void add_buffers(Scenarios& scenarios, int64_t id) {
  scenarios.push_back(
      on(id, "buffer_allocate", "", {.call = allocate_out, .refused = check_no_buffer, .done = check_buffer}));
  scenarios.push_back(on(id, "buffer_allocate", ", from a pool",
                         {.prepare = [](Bytes& bytes) { bytes.pool = new_pool(bytes.on); },
                          .call = allocate_out,
                          .refused = check_no_buffer,
                          .done =
                              [](Bytes& bytes) {
                                check_buffer(bytes);
                                arrowdevice_buffer_free(bytes.on, nullptr, std::exchange(bytes.out, nullptr));
                                check_given_back(bytes);
                              }}));
  scenarios.push_back(on(id, "buffer_free", "",
                         {.prepare = allocate_from_pool,
                          .call = [](Bytes& bytes, auto*) { return free_after(bytes, nullptr); },
                          .done = check_given_back}));
  scenarios.push_back(on(id, "buffer_free", ", after work",
                         {.prepare =
                              [](Bytes& bytes) {
                                allocate_from_pool(bytes);
                                queue_work(bytes);
                              },
                          .call = [](Bytes& bytes, auto*) { return free_after(bytes, bytes.queue.get()); },
                          .done = check_given_back}));
  scenarios.push_back(on(id, "buffer_free", ", of what is no such memory", {.call = [](Bytes& bytes, auto*) {
                           arrowdevice_buffer_free(bytes.on, nullptr, &bytes);
                           return 0;
                         }}));
  scenarios.push_back(on(id, "sub_buffer_create", "", {.prepare = allocate_from_pool, .call = cut}, id == kHandles[0]));
  scenarios.push_back(on(id, "sub_buffer_destroy", "",
                         {.prepare =
                              [](Bytes& bytes) {
                                allocate_from_pool(bytes);
                                must(arrowdevice_sub_buffer_create, bytes.on, static_cast<const void*>(bytes.whole),
                                     int64_t{0}, int64_t{512}, &bytes.out);
                              },
                          .call =
                              [](Bytes& bytes, auto*) {
                                arrowdevice_sub_buffer_destroy(bytes.on, std::exchange(bytes.out, nullptr));
                                return 0;
                              }},
                         false));
}

// -- pools

int make_and_use_pool(Bytes& bytes, arrowdevice_error* error) {
  auto* pool = poisoned_pointer<arrowdevice_pool>();
  const int code = arrowdevice_pool_create(bytes.on, nullptr, &pool, error);
  bytes.pool.reset(pool);
  return code;
}

// Adds a cached buffer to the pool.
void fill_pool(Bytes& bytes) {
  allocate_from_pool(bytes);
  free_after(bytes, nullptr);
}

void add_pools(Scenarios& scenarios, int64_t id) {
  scenarios.push_back(
      on(id, "pool_create", "",
         {.call = make_and_use_pool,
          .refused = [](Bytes& bytes) { check(bytes.pool == nullptr, "a call that failed has made a pool"); },
          .done = fill_pool}));
  scenarios.push_back(on(id, "pool_get_stats", "",
                         {.prepare = fill_pool,
                          .call =
                              [](Bytes& bytes, auto* error) {
                                PoolStats stats{};
                                stats.struct_size = sizeof stats;
                                return arrowdevice_pool_get_stats(bytes.pool.get(), &stats, error);
                              }},
                         false));
  scenarios.push_back(
      on(id, "pool_trim", "",
         {.prepare = fill_pool,
          .call = [](Bytes& bytes, auto* error) { return arrowdevice_pool_trim(bytes.pool.get(), error); }},
         false));
  scenarios.push_back(on(id, "pool_destroy", "",
                         {.prepare = fill_pool,
                          .call =
                              [](Bytes& bytes, auto*) {
                                bytes.pool.reset();
                                return 0;
                              }},
                         false));
  scenarios.push_back(
      on(id, "pool_destroy", ", with a buffer", {.prepare = allocate_from_pool, .call = [](Bytes& bytes, auto*) {
                                                   bytes.pool.reset();
                                                   return free_after(bytes, nullptr);
                                                 }}));
  scenarios.push_back(on(id, "device_set_pool", "",
                         {.prepare = fill_pool,
                          .call =
                              [](Bytes& bytes, auto* error) {
                                const int code = arrowdevice_device_set_pool(bytes.on, bytes.pool.get(), error);
                                return code != 0 ? code : arrowdevice_device_set_pool(bytes.on, nullptr, error);
                              }},
                         false));
  scenarios.push_back(on(id, "device_get_pool", "",
                         {.call =
                              [](Bytes& bytes, auto* error) {
                                auto* pool = poisoned_pointer<arrowdevice_pool>();
                                const int code = arrowdevice_device_get_pool(bytes.on, &pool, error);
                                check_now((code == 0) == (pool != nullptr), "another pool than NULL on failure");
                                return code;
                              }},
                         false));
}

}  // namespace

void add_bytes(Scenarios& scenarios) {
  for (const int64_t id : kPlaces) {
    add_queues(scenarios, id);
    add_buffers(scenarios, id);
    add_pools(scenarios, id);
  }
}

}  // namespace allocations

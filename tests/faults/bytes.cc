// SPDX-License-Identifier: Apache-2.0
// Operations of queues, pools and buffers.
#include "faults/scene.h"

namespace faults {
namespace {

constexpr int64_t kBytes = 4096;
using Numbers = std::array<int64_t, kBytes / 8>;

Pool pool_without_cache(arrowdevice_device* device) {
  auto options = sized<arrowdevice_pool_options>();
  options.max_cached_bytes = -1;
  return make_pool(device, &options);
}

struct Bytes {
  explicit Bytes(int64_t id) : on(device(id)), queue(make_queue(on)) {
    for (size_t i = 0; i < sent.size(); ++i) sent[i] = static_cast<int64_t>(i + 1);
  }
  ~Bytes() {
    finish(nullptr);
    other_queue.reset();
    for (void* one : {whole, out}) arrowdevice_buffer_free(on, nullptr, one);
    if (elsewhere != nullptr) arrowdevice_buffer_free(other, nullptr, elsewhere);
  }
  Bytes(const Bytes&) = delete;

  void allocate() { must(arrowdevice_buffer_allocate, on, pool.get(), nullptr, kBytes, &whole); }
  int finish(arrowdevice_error* error) {
    return queue == nullptr ? 0 : arrowdevice_queue_finish(queue.get(), ARROWDEVICE_NO_TIMEOUT, error);
  }
  int settle(arrowdevice_error* error) { return finish(error); }
  void copy_in(const Numbers& numbers) {
    const arrowdevice_copy_region region{on, whole, 0, nullptr, numbers.data(), 0, kBytes, 0};
    must(arrowdevice_queue_copy, queue.get(), &region, int64_t{1});
  }
  void check_refused() { finish(nullptr); }

  arrowdevice_device* on;
  arrowdevice_device* other = nullptr;  // has the buffer `elsewhere`
  Queue queue, other_queue;
  Pool pool;
  void* whole = nullptr;
  void* out = nullptr;
  void* elsewhere = nullptr;
  Numbers sent{};
  Numbers came{};
  bool is_spoiled = false;
};

struct BytesSteps {
  std::function<void(Bytes&)> begin = [](Bytes&) {};    // once
  std::function<void(Bytes&)> prepare = [](Bytes&) {};  // before each call
  std::function<int(Bytes&, arrowdevice_error*)> run = {};
  std::function<void(Bytes&)> refused = [](Bytes&) {};
  std::function<void(Bytes&)> done = [](Bytes&) {};
};

Operation on(int64_t id, Operation operation, BytesSteps steps) {
  operation.variant = std::string("on ") + kind_of(id) + operation.variant;
  return of<Bytes>(std::move(operation), {.make =
                                              [id, begin = steps.begin] {
                                                auto bytes = std::make_shared<Bytes>(id);
                                                begin(*bytes);
                                                return bytes;
                                              },
                                          .prepare = steps.prepare,
                                          .run = steps.run,
                                          .refused =
                                              [refused = steps.refused](Bytes& bytes) {
                                                bytes.finish(nullptr);
                                                refused(bytes);
                                              },
                                          .done = steps.done});
}

void allocate(Bytes& bytes) { bytes.allocate(); }
void queue_work(Bytes& bytes) { bytes.copy_in(bytes.sent); }

// -- queues

void check_queue(Bytes& bytes) {
  check(bytes.other_queue != nullptr, "no queue was made");
  if (!bytes.is_spoiled) must(arrowdevice_queue_finish, bytes.other_queue.get(), int64_t{ARROWDEVICE_NO_TIMEOUT});
}
void check_no_queue(Bytes& bytes) { check(bytes.other_queue == nullptr, "a call that failed has made a queue"); }

int create_queue(Bytes& bytes, arrowdevice_error* error) {
  auto* queue = poisoned_pointer<arrowdevice_queue>();
  const int code = arrowdevice_queue_create(bytes.on, &queue, error);
  bytes.other_queue.reset(queue);
  return code;
}

// Wraps the native queue. NULL names the device's default queue.
int wrap_native(Bytes& bytes, const arrowdevice_native_queue& native, arrowdevice_error* error) {
  auto* queue = poisoned_pointer<arrowdevice_queue>();
  const int code = arrowdevice_queue_wrap(bytes.on, &native, &queue, error);
  bytes.other_queue.reset(queue);
  return code;
}

int wrap_queue(Bytes& bytes, arrowdevice_error* error) {
  return wrap_native(bytes, sized<arrowdevice_native_queue>(), error);
}

int get_native_and_wrap(Bytes& bytes, arrowdevice_error* error) {
  auto native = sized<arrowdevice_native_queue>();
  const int code = arrowdevice_queue_get_native(bytes.queue.get(), &native, error);
  check_now((code == 0) == (native.queue != nullptr), "a native queue on failure");
  return code != 0 ? code : wrap_native(bytes, native, error);
}

int get_native(Bytes& bytes, arrowdevice_error* error) {
  auto native = sized<arrowdevice_native_queue>();
  return arrowdevice_queue_get_native(bytes.queue.get(), &native, error);
}

int finish_queue(Bytes& bytes, arrowdevice_error* error) { return bytes.finish(error); }

int destroy_queue(Bytes& bytes, arrowdevice_error*) {
  bytes.queue.reset();
  return 0;
}

int copy_there_and_back(Bytes& bytes, arrowdevice_error* error) {
  const arrowdevice_copy_region there{bytes.on, bytes.whole, 0, nullptr, bytes.sent.data(), 0, kBytes, 0};
  const arrowdevice_copy_region back{nullptr, bytes.came.data(), 0, bytes.on, bytes.whole, 0, kBytes, 0};
  bytes.came = {};
  if (const int code = arrowdevice_queue_copy(bytes.queue.get(), &there, 1, error); code != 0) return code;
  return arrowdevice_queue_copy(bytes.queue.get(), &back, 1, error);
}

int copy_and_finish(Bytes& bytes, arrowdevice_error* error) {
  const int code = copy_there_and_back(bytes, error);
  return code != 0 ? code : bytes.finish(error);
}

// Copies by way of the buffer on another device, and waits.
int copy_around(Bytes& bytes, arrowdevice_error* error) {
  bytes.came = {};
  const arrowdevice_copy_region regions[] = {
      {bytes.on, bytes.whole, 0, nullptr, bytes.sent.data(), 0, kBytes, 0},
      {bytes.other, bytes.elsewhere, 0, bytes.on, bytes.whole, 0, kBytes, 0},
      {nullptr, bytes.came.data(), 0, bytes.other, bytes.elsewhere, 0, kBytes, 0},
  };
  for (const auto& region : regions) {
    if (const int code = arrowdevice_queue_copy(bytes.queue.get(), &region, 1, error); code != 0) return code;
  }
  return bytes.finish(error);
}

void check_copied(Bytes& bytes) { check(bytes.is_spoiled || bytes.came == bytes.sent, "other bytes came back"); }

void add_queues(Operations& operations, int64_t id) {
  const bool is_device = id >= 0;
  operations.push_back(
      on(id, {.function = "queue_create"}, {.run = create_queue, .refused = check_no_queue, .done = check_queue}));
  if (is_device) {
    operations.push_back(
        on(id, {.function = "queue_wrap"}, {.run = wrap_queue, .refused = check_no_queue, .done = check_queue}));
    operations.push_back(on(id, {.function = "queue_wrap", .variant = ", of a queue"},
                            {.run = get_native_and_wrap, .refused = check_no_queue, .done = check_queue}));
    operations.push_back(on(id, {.function = "queue_get_native", .allocates = false}, {.run = get_native}));
  }
  operations.push_back(
      on(id, {.function = "queue_finish"}, {.begin = allocate, .prepare = queue_work, .run = finish_queue}));
  operations.push_back(on(id, {.function = "queue_destroy", .allocates = false, .is_final = true},
                          {.begin =
                               [](Bytes& bytes) {
                                 bytes.allocate();
                                 queue_work(bytes);
                                 must(arrowdevice_queue_finish, bytes.queue.get(), int64_t{ARROWDEVICE_NO_TIMEOUT});
                               },
                           .run = destroy_queue}));
  operations.push_back(
      on(id, {.function = "queue_copy"}, {.begin = allocate, .run = copy_and_finish, .done = check_copied}));
  operations.push_back(on(id, {.function = "queue_copy", .variant = ", and finish, with another device"},
                          {.begin =
                               [id](Bytes& bytes) {
                                 bytes.allocate();
                                 bytes.other = device(id == kHost ? kHandles[0] : id ^ 3);
                                 must(arrowdevice_buffer_allocate, bytes.other, nullptr, nullptr, kBytes,
                                      &bytes.elsewhere);
                                 if (id == kHost) bytes.queue = make_queue(bytes.other);
                               },
                           .run = copy_around,
                           .done = check_copied}));
}

// -- buffers

void check_no_buffer(Bytes& bytes) { check(bytes.out == nullptr, "a call that failed has put a buffer out"); }
void free_out(Bytes& bytes) {
  check(bytes.out != nullptr, "no buffer was put out");
  arrowdevice_buffer_free(bytes.on, nullptr, std::exchange(bytes.out, nullptr));
}

// Checks that the memory is freed after the work has finished, in spite of failures. The library may give up
// memory if it cannot know when the work has finished.
void check_given_back(Bytes& bytes) {
  must(arrowdevice_wait_idle, int64_t{ARROWDEVICE_NO_TIMEOUT});
  if (has_given_memory_up()) return;
  const auto stats = output_of(arrowdevice_pool_get_stats, static_cast<const arrowdevice_pool*>(bytes.pool.get()));
  check_equal(stats.used_bytes, 0, "bytes in use after all was given back");
}

void use_pool(Bytes& bytes) { bytes.pool = make_pool(bytes.on); }
void use_pool_without_cache(Bytes& bytes) { bytes.pool = pool_without_cache(bytes.on); }

void allocate_from_pool(Bytes& bytes) {
  if (bytes.pool == nullptr) use_pool(bytes);
  bytes.allocate();
}

// Adds a cached buffer to the pool, too large for later ones.
void fill_pool(Bytes& bytes) {
  if (bytes.pool == nullptr) use_pool(bytes);
  void* large = nullptr;
  must(arrowdevice_buffer_allocate, bytes.on, bytes.pool.get(), nullptr, 4 * kBytes, &large);
  arrowdevice_buffer_free(bytes.on, nullptr, large);
}

int allocate_for(Bytes& bytes, arrowdevice_queue* queue, arrowdevice_error* error) {
  bytes.out = poisoned_pointer<void>();
  return arrowdevice_buffer_allocate(bytes.on, bytes.pool.get(), queue, kBytes, &bytes.out, error);
}
int allocate_out(Bytes& bytes, arrowdevice_error* error) { return allocate_for(bytes, bytes.queue.get(), error); }
int allocate_plain(Bytes& bytes, arrowdevice_error* error) { return allocate_for(bytes, nullptr, error); }

int free_after(Bytes& bytes, arrowdevice_queue* queue) {
  arrowdevice_buffer_free(bytes.on, queue, std::exchange(bytes.whole, nullptr));
  return 0;
}
int free_at_once(Bytes& bytes, arrowdevice_error*) { return free_after(bytes, nullptr); }
int free_after_work(Bytes& bytes, arrowdevice_error*) { return free_after(bytes, bytes.queue.get()); }

// Allocates memory, copies to it and back, and frees it after the queue.
int use_memory(Bytes& bytes, arrowdevice_error* error) {
  bytes.whole = poisoned_pointer<void>();
  int code = arrowdevice_buffer_allocate(bytes.on, bytes.pool.get(), bytes.queue.get(), kBytes, &bytes.whole, error);
  check_now((code == 0) == (bytes.whole != nullptr), "another buffer than NULL on failure");
  if (code == 0) code = copy_there_and_back(bytes, error);
  // The host memory is needed until all work has finished, even after a failure.
  const int finished = bytes.finish(code == 0 ? error : nullptr);
  free_after_work(bytes, nullptr);
  return code != 0 ? code : finished;
}

int cut(Bytes& bytes, arrowdevice_error* error) {
  void* sub = poisoned_pointer<void>();
  const int code = arrowdevice_sub_buffer_create(bytes.on, bytes.whole, 1024, 512, &sub, error);
  check_now((code == 0) == (sub != nullptr), "another part than NULL on failure");
  arrowdevice_sub_buffer_destroy(bytes.on, sub);
  return code;
}

void add_buffers(Operations& operations, int64_t id) {
  const auto allocating = [&](std::string variant, auto begin, auto run, std::vector<std::string> may_survive = {}) {
    operations.push_back(
        on(id, {.function = "buffer_allocate", .variant = std::move(variant), .may_survive = std::move(may_survive)},
           {.begin = begin, .run = run, .refused = check_no_buffer, .done = [](Bytes& bytes) {
              free_out(bytes);
              if (bytes.pool != nullptr) check_given_back(bytes);
            }}));
  };
  allocating(
      "", [](Bytes&) {}, allocate_plain);
  allocating(
      ", for a queue", [](Bytes&) {}, allocate_out);
  allocating(", for a queue, from a pool", use_pool_without_cache, allocate_out);
  // The pool frees its cached memory, and the device is asked again.
  allocating(", from a pool with cached memory", fill_pool, allocate_plain, {"buffer_allocate"});
  operations.push_back(on(id, {.function = "buffer_free"},
                          {.prepare = allocate_from_pool, .run = free_at_once, .done = check_given_back}));
  for (const bool has_cache : {false, true}) {
    operations.push_back(on(id,
                            {.function = "buffer_free",
                             .variant = has_cache ? ", after work" : ", after work, without a cache",
                             .may_survive = {"event_record", "lost", "event_query"}},
                            {.begin = has_cache ? use_pool : use_pool_without_cache,
                             .prepare =
                                 [](Bytes& bytes) {
                                   bytes.allocate();
                                   queue_work(bytes);
                                 },
                             .run = free_after_work,
                             .done = check_given_back}));
  }
  operations.push_back(
      on(id, {.function = "buffer_free", .variant = ", of what is no such memory"}, {.run = [](Bytes& bytes, auto*) {
           arrowdevice_buffer_free(bytes.on, nullptr, &bytes);
           return 0;
         }}));
  operations.push_back(on(id,
                          {.function = "buffer_allocate",
                           .variant = ", copies and buffer_free",
                           .may_survive = {"event_record", "lost", "event_query"}},
                          {.begin = use_pool, .run = use_memory, .done = [](Bytes& bytes) {
                             check_copied(bytes);
                             check_given_back(bytes);
                           }}));
  operations.push_back(on(id, {.function = "sub_buffer_create", .allocates = id == kHandles[0]},
                          {.begin = allocate_from_pool, .run = cut}));
  operations.push_back(on(id, {.function = "sub_buffer_destroy", .allocates = false},
                          {.begin = allocate_from_pool,
                           .prepare =
                               [](Bytes& bytes) {
                                 must(arrowdevice_sub_buffer_create, bytes.on, static_cast<const void*>(bytes.whole),
                                      int64_t{0}, int64_t{512}, &bytes.out);
                               },
                           .run =
                               [](Bytes& bytes, auto*) {
                                 arrowdevice_sub_buffer_destroy(bytes.on, std::exchange(bytes.out, nullptr));
                                 return 0;
                               }}));
}

// -- pools

int create_pool(Bytes& bytes, arrowdevice_error* error) {
  auto* pool = poisoned_pointer<arrowdevice_pool>();
  const int code = arrowdevice_pool_create(bytes.on, nullptr, &pool, error);
  bytes.pool.reset(pool);
  return code;
}

int create_and_use_pool(Bytes& bytes, arrowdevice_error* error) {
  bytes.pool.reset();
  if (const int code = create_pool(bytes, error); code != 0) return code;
  const int code = allocate_plain(bytes, error);
  if (code == 0) free_out(bytes);
  return code;
}

void check_trimmed(Bytes& bytes) {
  const arrowdevice_pool* const pool = bytes.pool.get();
  check(output_of(arrowdevice_pool_get_stats, pool).cached_bytes >= kBytes, "a pool has cached nothing");
  must(arrowdevice_pool_trim, bytes.pool.get());
  check_equal(output_of(arrowdevice_pool_get_stats, pool).cached_bytes, 0, "bytes that a trimmed pool caches");
}

int get_stats(Bytes& bytes, arrowdevice_error* error) {
  auto stats = sized<struct arrowdevice_pool_stats>();
  return arrowdevice_pool_get_stats(bytes.pool.get(), &stats, error);
}

int trim(Bytes& bytes, arrowdevice_error* error) { return arrowdevice_pool_trim(bytes.pool.get(), error); }

int destroy_pool(Bytes& bytes, arrowdevice_error*) {
  bytes.pool.reset();
  return free_after(bytes, nullptr);
}

int set_pool(Bytes& bytes, arrowdevice_error* error) {
  const int code = arrowdevice_device_set_pool(bytes.on, bytes.pool.get(), error);
  return code != 0 ? code : arrowdevice_device_set_pool(bytes.on, nullptr, error);
}

int get_pool(Bytes& bytes, arrowdevice_error* error) {
  auto* pool = poisoned_pointer<arrowdevice_pool>();
  const int code = arrowdevice_device_get_pool(bytes.on, &pool, error);
  check_now((code == 0) == (pool != nullptr), "another pool than NULL on failure");
  return code;
}

void add_pools(Operations& operations, int64_t id) {
  operations.push_back(
      on(id, {.function = "pool_create"},
         {.run = create_pool,
          .refused = [](Bytes& bytes) { check(bytes.pool == nullptr, "a call that failed has made a pool"); },
          .done = fill_pool}));
  // A pool without memory to record a buffer frees it.
  operations.push_back(on(id, {.function = "pool_create", .variant = ", and use", .injectors = kCalls | kLosses},
                          {.run = create_and_use_pool, .refused = check_no_buffer, .done = check_trimmed}));
  operations.push_back(
      on(id, {.function = "pool_get_stats", .allocates = false}, {.begin = fill_pool, .run = get_stats}));
  operations.push_back(on(id, {.function = "pool_trim", .allocates = false}, {.prepare = fill_pool, .run = trim}));
  operations.push_back(
      on(id, {.function = "pool_destroy", .allocates = false}, {.prepare = fill_pool, .run = destroy_pool}));
  operations.push_back(on(id, {.function = "pool_destroy", .variant = ", with a buffer"},
                          {.prepare = allocate_from_pool, .run = destroy_pool}));
  operations.push_back(
      on(id, {.function = "device_set_pool", .allocates = false}, {.begin = fill_pool, .run = set_pool}));
  operations.push_back(on(id, {.function = "device_get_pool", .allocates = false}, {.run = get_pool}));
}

}  // namespace

void add_bytes(Operations& operations) {
  for (const int64_t id : kPlaces) {
    add_queues(operations, id);
    add_buffers(operations, id);
    add_pools(operations, id);
  }
}

}  // namespace faults

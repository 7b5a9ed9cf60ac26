// SPDX-License-Identifier: Apache-2.0
// Each backend call of the functions about buffers, queues, pools and devices fails in turn; see trial.h.
#include <array>

#include "faults/trial.h"

namespace {

using namespace faults;  // NOLINT: what every line of these tests is written with

constexpr int64_t kBytes = 4096;
using Bytes4k = std::array<unsigned char, kBytes>;

const char* kind_of(int64_t id) { return id < kHandles[0] ? "on addresses" : "on handles"; }

// Device memory that is freed in the end.
using Memory = std::shared_ptr<void>;

Memory keep(int64_t id, void* buffer) {
  return {buffer, [id](void* memory) { arrowdevice_buffer_free(sim(id), nullptr, memory); }};
}

Memory allocate(int64_t id, arrowdevice_pool* pool = nullptr, int64_t size = kBytes) {
  void* buffer = nullptr;
  must(arrowdevice_buffer_allocate, sim(id), pool, nullptr, size, &buffer);
  return keep(id, buffer);
}

struct Scene {
  Queue queue;
  Queue other_queue;
  Pool pool;
  Memory first, second;
  Bytes4k sent{};
  Bytes4k came{};
  void* out = nullptr;

  int finish(arrowdevice_error* error) { return arrowdevice_queue_finish(queue.get(), ARROWDEVICE_NO_TIMEOUT, error); }
};

void* untouched() {
  static char place;
  return &place;
}

arrowdevice_copy_region region(arrowdevice_device* to, void* dst, arrowdevice_device* from, const void* src) {
  return {to, dst, 0, from, src, 0, kBytes, 0};
}

Operation on(int64_t id, const char* name, const char* what, Trial (*finish)(int64_t, std::shared_ptr<Scene>),
             std::vector<std::string> may_survive = {}) {
  return {.name = name,
          .variant = std::string(what) + kind_of(id),
          .make =
              [id, finish] {
                const auto scene = std::make_shared<Scene>();
                scene->queue = make_queue(sim(id));
                return finish(id, scene);
              },
          .may_survive = std::move(may_survive)};
}

void check_all_reached(const std::string& operation, std::initializer_list<const char*> functions) {
  for (const char* function : functions) {
    INFO(operation << ": " << function);
    CHECK(was_reached(operation, function));
  }
}

// Returns a trial of a function that allocates a buffer.
template <typename Allocate>
Trial allocating(int64_t id, std::shared_ptr<Scene> scene, Allocate allocate_into) {
  Trial trial;
  trial.run = [id, scene, allocate_into](auto* error) {
    scene->out = untouched();
    const int code = allocate_into(id, *scene, error);
    scene->first = code == 0 ? keep(id, scene->out) : nullptr;
    return code;
  };
  trial.check_refused = [scene] { CHECK(scene->out == nullptr); };
  trial.check_done = [scene](bool) { CHECK(scene->out != nullptr); };
  return trial;
}

TEST_CASE("allocating survives the failure of any backend call", "[faults]") {
  for (const int64_t id : {kAddresses[0], kHandles[0]}) {
    exercise(on(id, "buffer_allocate", "", [](int64_t of, std::shared_ptr<Scene> scene) {
      return allocating(of, scene, [](int64_t device, Scene& s, arrowdevice_error* error) {
        return arrowdevice_buffer_allocate(sim(device), nullptr, nullptr, kBytes, &s.out, error);
      });
    }));
    exercise(on(id, "buffer_allocate", "for a queue, from a pool ", [](int64_t of, std::shared_ptr<Scene> scene) {
      scene->pool = make_pool(sim(of));
      return allocating(of, scene, [](int64_t device, Scene& s, arrowdevice_error* error) {
        return arrowdevice_buffer_allocate(sim(device), s.pool.get(), s.queue.get(), kBytes, &s.out, error);
      });
    }));
    // The pool frees its cached memory, and the device is asked again.
    exercise(on(id, "buffer_allocate", "from a pool that keeps something ",
                [](int64_t of, std::shared_ptr<Scene> scene) {
                  scene->pool = make_pool(sim(of));
                  auto trial = allocating(of, scene, [](int64_t device, Scene& s, arrowdevice_error* error) {
                    return arrowdevice_buffer_allocate(sim(device), s.pool.get(), nullptr, kBytes, &s.out, error);
                  });
                  trial.prepare = [of, scene] { allocate(of, scene->pool.get(), 4 * kBytes); };
                  return trial;
                },
                {"buffer_allocate"}));
  }
  check_all_reached("buffer_allocate", {"buffer_allocate"});
}

TEST_CASE("memory is given back after a queue's work whatever call fails", "[faults]") {
  for (const int64_t id : {kAddresses[0], kHandles[0]}) {
    exercise(on(id, "buffer_free", "after a queue, ",
                [](int64_t of, std::shared_ptr<Scene> scene) {
                  auto keeping_nothing = pool_options();
                  keeping_nothing.max_cached_bytes = -1;
                  scene->pool = make_pool(sim(of), &keeping_nothing);
                  must(arrowdevice_buffer_allocate, sim(of), scene->pool.get(), nullptr, kBytes, &scene->out);
                  Trial trial;
                  trial.prepare = [of, scene] {
                    const auto work = region(sim(of), scene->out, nullptr, scene->sent.data());
                    must(arrowdevice_queue_copy, scene->queue.get(), &work, 1);
                  };
                  trial.run = [of, scene](auto*) {
                    arrowdevice_buffer_free(sim(of), scene->queue.get(), scene->out);
                    return 0;
                  };
                  trial.settle = [scene](auto* error) { return scene->finish(error); };
                  return trial;
                },
                {"event_record", "lost", "event_query"}));
  }
  check_all_reached("buffer_free", {"event_record", "event", "lost"});
}

// Returns a trial that copies bytes to the first buffer, from there to the second, and back.
Trial copying(int64_t to, int64_t from, std::shared_ptr<Scene> scene) {
  scene->first = allocate(from);
  scene->second = allocate(to);
  for (size_t i = 0; i < scene->sent.size(); ++i) scene->sent[i] = static_cast<unsigned char>(i % 251 + 1);
  Trial trial;
  trial.run = [to, from, scene](auto* error) {
    scene->came = {};
    const arrowdevice_copy_region regions[] = {
        region(sim(from), scene->first.get(), nullptr, scene->sent.data()),
        region(sim(to), scene->second.get(), sim(from), scene->first.get()),
        region(nullptr, scene->came.data(), sim(to), scene->second.get()),
    };
    for (const auto& one : regions) {
      if (const int code = arrowdevice_queue_copy(scene->queue.get(), &one, 1, error); code != 0) return code;
    }
    return scene->finish(error);
  };
  trial.check_refused = [scene] { scene->finish(nullptr); };
  trial.check_done = [scene](bool) { CHECK(scene->came == scene->sent); };
  return trial;
}

TEST_CASE("copying bytes and waiting for them survives the failure of any backend call", "[faults]") {
  for (const int64_t id : {kAddresses[0], kHandles[0]}) {
    exercise(on(id, "queue_copy", "and queue_finish, ",
                [](int64_t of, std::shared_ptr<Scene> scene) { return copying(of, of, scene); }));
    exercise(on(id, "queue_copy", "and queue_finish, to another device ", [](int64_t of, std::shared_ptr<Scene> scene) {
      return copying(of, of == kHandles[0] ? kAddresses[1] : kHandles[1], scene);
    }));
  }
  check_all_reached("queue_copy", {"queue_copy", "event_record", "event_wait", "event", "lost"});
}

TEST_CASE("a part of a buffer survives the failure of any backend call", "[faults]") {
  for (const int64_t id : {kAddresses[0], kHandles[0]}) {
    exercise(on(id, "sub_buffer_create", "", [](int64_t of, std::shared_ptr<Scene> scene) {
      scene->first = allocate(of);
      Trial trial;
      trial.run = [of, scene](auto* error) {
        scene->out = untouched();
        return arrowdevice_sub_buffer_create(sim(of), scene->first.get(), 1024, 512, &scene->out, error);
      };
      trial.check_refused = [scene] { CHECK(scene->out == nullptr); };
      trial.check_done = [of, scene](bool) {
        CHECK(scene->out != nullptr);
        arrowdevice_sub_buffer_destroy(sim(of), scene->out);
      };
      return trial;
    }));
  }
  check_all_reached("sub_buffer_create", {"sub_buffer_create"});
}

TEST_CASE("making and naming queues survives the failure of any backend call", "[faults]") {
  for (const int64_t id : {kAddresses[0], kHandles[0]}) {
    exercise(on(id, "queue_create", "", [](int64_t of, std::shared_ptr<Scene> scene) {
      Trial trial;
      trial.run = [of, scene](auto* error) {
        auto* queue = static_cast<arrowdevice_queue*>(untouched());
        const int code = arrowdevice_queue_create(sim(of), &queue, error);
        scene->other_queue.reset(queue);
        return code;
      };
      trial.check_refused = [scene] { CHECK(scene->other_queue == nullptr); };
      trial.check_done = [scene](bool) {
        must(arrowdevice_queue_finish, scene->other_queue.get(), ARROWDEVICE_NO_TIMEOUT);
      };
      return trial;
    }));
    exercise(on(id, "queue_get_native", "and queue_wrap, ", [](int64_t of, std::shared_ptr<Scene> scene) {
      Trial trial;
      trial.run = [of, scene](auto* error) {
        arrowdevice_native_queue native{};
        native.struct_size = sizeof native;
        if (const int code = arrowdevice_queue_get_native(scene->queue.get(), &native, error); code != 0) {
          CHECK(native.queue == nullptr);
          return code;
        }
        auto* queue = static_cast<arrowdevice_queue*>(untouched());
        const int code = arrowdevice_queue_wrap(sim(of), &native, &queue, error);
        scene->other_queue.reset(queue);
        return code;
      };
      trial.check_refused = [scene] { CHECK(scene->other_queue == nullptr); };
      trial.check_done = [scene](bool) {
        must(arrowdevice_queue_finish, scene->other_queue.get(), ARROWDEVICE_NO_TIMEOUT);
        scene->other_queue.reset();
      };
      return trial;
    }));
  }
  check_all_reached("queue_create", {"queue_create"});
  check_all_reached("queue_get_native", {"queue_get_native", "queue_wrap"});
}

TEST_CASE("a pool serves, keeps and trims whatever backend call fails", "[faults]") {
  for (const int64_t id : {kAddresses[0], kHandles[0]}) {
    exercise(on(id, "pool_create", "and use, ", [](int64_t of, std::shared_ptr<Scene> scene) {
      Trial trial;
      trial.run = [of, scene](auto* error) {
        scene->out = untouched();
        scene->pool.reset();
        auto* pool = static_cast<arrowdevice_pool*>(untouched());
        int code = arrowdevice_pool_create(sim(of), nullptr, &pool, error);
        scene->pool.reset(pool);
        if (code == 0) code = arrowdevice_buffer_allocate(sim(of), pool, nullptr, kBytes, &scene->out, error);
        if (code == 0) arrowdevice_buffer_free(sim(of), nullptr, scene->out);
        return code;
      };
      trial.check_refused = [scene] {
        REQUIRE(scene->pool != nullptr);
        CHECK(scene->out == nullptr);
        CHECK(stats(scene->pool.get()).used_bytes == 0);
      };
      trial.check_done = [scene](bool) {
        CHECK(stats(scene->pool.get()).cached_bytes >= kBytes);
        must(arrowdevice_pool_trim, scene->pool.get());
        CHECK(stats(scene->pool.get()).cached_bytes == 0);
      };
      return trial;
    }));
  }
  check_all_reached("pool_create", {"device_get_memory_info", "buffer_allocate"});
}

// Tries a query of a device. The query has no state except its result.
template <typename Ask>
void exercise_question(const char* name, Ask ask) {
  for (const int64_t id : {kAddresses[0], kHandles[0]}) {
    exercise({.name = name, .variant = kind_of(id), .make = [id, ask] {
                Trial trial;
                trial.run = [id, ask](auto* error) { return ask(sim(id), error); };
                return trial;
              }});
  }
}

TEST_CASE("questions to a device survive the failure of any backend call", "[faults]") {
  exercise_question("device_get_native", [](arrowdevice_device* device, arrowdevice_error* error) {
    arrowdevice_native_device native{};
    native.struct_size = sizeof native;
    const int code = arrowdevice_device_get_native(device, &native, error);
    CHECK((native.context != nullptr) == (code == 0));
    return code;
  });
  exercise_question("device_get_peer_flags", [](arrowdevice_device* device, arrowdevice_error* error) {
    uint32_t out = 0xFFFF;
    const int code = arrowdevice_device_get_peer_flags(device, sim(kAddresses[1]), &out, error);
    CHECK(out == (code == 0 ? uint32_t{ARROWDEVICE_PEER_COPY} : 0));
    return code;
  });
  check_all_reached("device_get_native", {"device_get_native"});
  check_all_reached("device_get_peer_flags", {"device_get_peer_flags"});
}

// The device info omits the memory if the backend fails, but a call that asks for the memory fails.
TEST_CASE("asking for a device's memory tells of the call that failed", "[faults]") {
  exercise_question("device_get_memory_info", [](arrowdevice_device* device, arrowdevice_error* error) {
    int64_t free_bytes = -1;
    int64_t in_all = -1;
    const int code = arrowdevice_device_get_memory_info(device, &free_bytes, &in_all, error);
    CHECK((free_bytes > 0) == (code == 0));
    return code;
  });
  check_all_reached("device_get_memory_info", {"device_get_memory_info"});
}

// Returns the number of devices of the simulation, including wrapped contexts.
int64_t contexts() {
  const std::string text = control::statistics();
  int64_t n = 0;
  for (size_t at = text.find("\"id\":"); at != text.npos; at = text.find("\"id\":", at + 1)) ++n;
  return n;
}

TEST_CASE("wrapping and unwrapping a context survives the failure of any backend call", "[faults]") {
  for (const int64_t id : {kAddresses[0], kHandles[0]}) {
    exercise({.name = "device_wrap", .variant = std::string("and device_unwrap, ") + kind_of(id), .make = [id] {
                struct State {
                  int context = 0;
                  arrowdevice_device* device = nullptr;
                };
                Trial trial;
                const auto state = std::make_shared<State>();
                trial.run = [id, state](auto* error) {
                  arrowdevice_native_device native{};
                  native.struct_size = sizeof native;
                  native.context = &state->context;
                  if (state->device == nullptr) {
                    state->device = static_cast<arrowdevice_device*>(untouched());
                    const int code = arrowdevice_device_wrap(ARROW_DEVICE_EXT_DEV, id, &native, &state->device, error);
                    if (code != 0) return code;
                  }
                  // If the unwrap fails, the device is unchanged and can be unwrapped later.
                  const int code = arrowdevice_device_unwrap(state->device, ARROWDEVICE_NO_TIMEOUT, error);
                  if (code == 0) state->device = nullptr;
                  return code;
                };
                trial.check_refused = [state] {
                  if (state->device == nullptr) return;
                  Array there = Rows::flat().on(state->device, Ledger());
                  CHECK(Rows::flat().difference(*there) == "");
                };
                trial.check_done = [state, before = contexts()](bool) {
                  CHECK(state->device == nullptr);
                  CHECK(contexts() == before);  // every wrapped context was unwrapped
                };
                return trial;
              }});
  }
  check_all_reached("device_wrap", {"device_wrap", "device_get_info", "device_unwrap"});
}

TEST_CASE("a backend that cannot count is an error, a backend without a driver is not", "[faults]") {
  begin_from_the_start();
  int64_t count = 77;
  control::fail_next("device_count", EIO);
  arrowdevice_error error{};
  CHECK(arrowdevice_device_count(ARROW_DEVICE_EXT_DEV, &count, &error) == EIO);
  CHECK(contains(error.message, "device_count: "));
  CHECK(count == 0);
  control::fail_next("device_count", ENODEV);
  count = 77;
  must(arrowdevice_device_count, ARROW_DEVICE_EXT_DEV, &count);
  CHECK(count == 0);
  must(arrowdevice_device_count, ARROW_DEVICE_EXT_DEV, &count);
  CHECK(count == kSims);
}

TEST_CASE("a device that could not be opened is opened later", "[faults]") {
  begin_from_the_start();
  auto more = configuration();
  more.devices.push_back({.addresses = true});
  arrowdevice_device* device = nullptr;
  for (const char* function : {"device_count", "device_open", "device_get_info"}) {
    INFO(function);
    control::reset(more);
    control::fail_next(function);
    arrowdevice_error error{};
    device = static_cast<arrowdevice_device*>(untouched());
    CHECK(arrowdevice_device_find_by_id(ARROW_DEVICE_EXT_DEV, kSims, &device, &error) != 0);
    CHECK(device == nullptr);
    CHECK(contains(error.message, std::string(function) + ": "));
    CHECK(control::failures_injected() == 1);
  }
  control::reset(more);
  must(arrowdevice_device_find_by_id, ARROW_DEVICE_EXT_DEV, kSims, &device);
  CHECK(describe(device).device_id == kSims);
  CHECK(control::calls("device_open") == 0);  // these calls succeeded before
  control::reset(configuration());
}

}  // namespace

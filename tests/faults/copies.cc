// SPDX-License-Identifier: Apache-2.0
// Operations that copy arrays: array_copy, array_to_device, array_to_host and array_to_host_async.
#include <condition_variable>
#include <mutex>

#include "faults/scene.h"

namespace faults {
namespace {

using arrowdevice::sim::Peers;

constexpr uint32_t kAsync = ARROWDEVICE_COPY_ASYNC;
constexpr uint32_t kWhole = ARROWDEVICE_COPY_NO_TRIM;

struct Way {
  int64_t from, to;
  Machine machine = {};

  std::string text() const {
    const bool is_staged = machine.peers == Peers::kNone && from >= 0 && to >= 0;
    return std::string(kind_of(from)) + " to " + (from == to && from >= 0 ? "the same " : "") + kind_of(to) +
           (is_staged ? ", staged" : "") + (machine.peers == Peers::kAccess ? ", shared" : "") +
           (machine.has_pinned ? ", through pinned memory" : "") + (machine.latency_us != 0 ? ", slow" : "");
  }
};

constexpr Machine kStaged{.peers = Peers::kNone};
const Way kHostWays[] = {{kHost, kAddresses[0]}, {kHost, kHandles[0]}, {kAddresses[0], kHost}, {kHandles[0], kHost}};
const Way kDirectWays[] = {{kAddresses[0], kAddresses[1]}, {kAddresses[0], kHandles[0]},   {kHandles[0], kAddresses[0]},
                           {kHandles[0], kHandles[1]},     {kAddresses[0], kAddresses[0]}, {kHandles[0], kHandles[0]}};
const Way kStagedWays[] = {{kAddresses[0], kAddresses[1], kStaged},
                           {kAddresses[0], kHandles[0], kStaged},
                           {kHandles[0], kAddresses[0], kStaged},
                           {kHandles[0], kHandles[1], kStaged}};

struct Options {
  const Rows& (*rows)() = Rows::nested;
  uint32_t flags = 0;
  bool own_queue = false;  // a queue of the application
  bool own_pool = false;   // a pool of the application without cached memory
  unsigned injectors = kAll;

  std::string text() const {
    const char* const what = rows == Rows::nested       ? ", nested"
                             : rows == Rows::flat       ? ", flat"
                             : rows == Rows::long_index ? ", 80 KB of offsets"
                             : rows == Rows::pieces     ? ", 1.25 MiB"
                                                        : ", 9 MiB";
    return std::string(what) + ((flags & kAsync) != 0 ? ", async" : "") + ((flags & kWhole) != 0 ? ", whole" : "") +
           ((flags & ARROWDEVICE_COPY_ALWAYS) != 0 ? ", always" : "") + (own_queue ? ", on a queue" : "") +
           (own_pool ? ", from a pool" : "");
  }
};

struct Copying : Scene {
  Copying(const Way& way, const Options& with)
      : Scene(with.rows(), way.from), to(device(way.to)), options(copy_options(with.flags)) {
    if (with.own_queue) queue = make_queue(way.to < 0 ? device(way.from) : to);
    if (with.own_pool) {
      auto keeping_nothing = sized<arrowdevice_pool_options>();
      keeping_nothing.max_cached_bytes = -1;
      pool = make_pool(to, &keeping_nothing);
    }
    options.queue = queue.get();
    options.pool = pool.get();
  }

  arrowdevice_device* to;
  arrowdevice_copy_options options;
};

int copy_array(Copying& scene, arrowdevice_error* error) {
  poison(*scene.out.out());
  return arrowdevice_array_copy(scene.in.get(), scene.rows.schema(), scene.to, &scene.options, scene.out.get(), error);
}

int move_array(Copying& scene, arrowdevice_error* error) {
  poison(*scene.out.out());
  return arrowdevice_array_to_device(scene.in.get(), scene.rows.schema(), scene.to, &scene.options, scene.out.get(),
                                     error);
}

int move_to_host(Copying& scene, arrowdevice_error* error) {
  poison(*scene.host_out.out());
  return arrowdevice_array_to_host(scene.in.get(), scene.rows.schema(), &scene.options, scene.host_out.get(), error);
}

// Receives the result of a copy that runs while the caller goes on.
struct Arrival {
  static void came(void* user, ArrowArray* array, ArrowDeviceArray* source, const arrowdevice_error* error) {
    auto& self = *static_cast<Arrival*>(user);
    const std::lock_guard lock(self.mutex);
    if (error != nullptr) self.error = *error;
    if (array != nullptr) self.array = std::exchange(*array, ArrowArray{});
    if (source != nullptr) self.source = std::exchange(*source, ArrowDeviceArray{});
    self.has_come = true;
    self.changed.notify_one();
  }

  void wait() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [this] { return has_come; });
  }

  std::mutex mutex;
  std::condition_variable changed;
  bool has_come = false;
  ArrowArray array{};
  ArrowDeviceArray source{};
  arrowdevice_error error{};
};

int copy_meanwhile(Copying& scene, arrowdevice_error* error) {
  poison(*scene.host_out.out());
  scene.host_out->release = nullptr;
  Arrival arrival;
  const int code = arrowdevice_array_to_host_async(scene.in.get(), scene.rows.schema(), &scene.options, &Arrival::came,
                                                   &arrival, error);
  if (code != 0) return code;
  arrival.wait();
  if (arrival.error.code == 0) {
    scene.host_out = Owned<ArrowArray>(arrival.array);
    return 0;
  }
  scene.in = Array(arrival.source);
  *error = arrival.error;
  return error->code;
}

Operation copying(const char* function, const Way& way, const Options& with, int (*body)(Copying&, arrowdevice_error*),
                  void (*done)(Copying&)) {
  return of<Copying>(
      {.function = function,
       .variant = way.text() + with.text(),
       .machine = way.machine,
       .injectors = with.injectors,
       .has_threads = way.machine.has_pinned,
       .drains = way.machine.latency_us != 0,
       // If an event query fails, the copy counts as finished and its memory is freed at once, because a
       // failed query means a failed event. pointer_get_info only tells if host memory is pinned.
       .may_survive = way.machine.has_pinned ? std::vector<std::string>{"event_query", "pointer_get_info"}
                                             : std::vector<std::string>{"event_query"}},
      {.make = [way, with] { return std::make_shared<Copying>(way, with); }, .run = body, .done = done});
}

Operation copying(const Way& way, const Options& with) {
  return copying("array_copy", way, with, copy_array, [](Copying& scene) {
    scene.check_input();
    scene.check_output();
  });
}

Operation moving(const Way& way, const Options& with) {
  return copying("array_to_device", way, with, move_array, [](Copying& scene) {
    scene.check_taken();
    scene.check_output();
  });
}

void check_on_host(Copying& scene) {
  scene.check_taken();
  must(arrowdevice_array_from_host, scene.host_out.get(), scene.out.out());
  scene.check_output();
}

Operation moving_to_host(const Way& way, const Options& with) {
  return copying("array_to_host", way, with, move_to_host, check_on_host);
}

Operation copying_meanwhile(const Way& way, const Options& with) {
  Operation operation = copying("array_to_host_async", way, with, copy_meanwhile, check_on_host);
  operation.has_threads = true;
  return operation;
}

// Each kind of path meets all failures, in one direction between two devices. The flags and the queue matter to the
// backend's calls.
void add_ways(Operations& operations, std::span<const Way> ways) {
  for (const Way& way : ways) {
    const bool is_host = way.from < 0 || way.to < 0;
    const bool refuses = is_host || (way.from == kAddresses[0] && way.to == kHandles[0]);
    const bool refuses_async = way.from != kAddresses[0] && way.to == (is_host ? kHandles[0] : kAddresses[0]);
    for (const uint32_t flags : {uint32_t{0}, kAsync}) {
      const bool has_refusals = flags == 0 ? refuses : refuses_async;
      const unsigned injectors = kCalls | kLosses | (has_refusals ? unsigned{kAllocations} : 0);
      operations.push_back(copying(way, {.flags = flags, .injectors = injectors}));
      operations.push_back(moving(way, {.flags = flags, .injectors = injectors}));
      operations.push_back(copying(way, {.flags = flags | kWhole, .injectors = kCalls}));
      // The copy engine does not make these copies from the host to a device.
      const unsigned of_flat = way.from < 0 ? unsigned{kAll} : unsigned{kCalls};
      operations.push_back(copying(way, {.rows = Rows::flat, .flags = flags, .injectors = of_flat}));
      if (way.from < 0) operations.push_back(moving(way, {.rows = Rows::flat, .flags = flags}));
    }
    operations.push_back(
        copying(way, {.rows = Rows::flat, .flags = kAsync, .own_queue = true, .own_pool = true, .injectors = kCalls}));
  }
  operations.push_back(copying(ways[2], {.rows = Rows::flat, .flags = kWhole}));
  operations.push_back(moving(ways[2], {.rows = Rows::flat, .flags = kWhole}));
}

}  // namespace

void add_copies(Operations& operations) {
  const unsigned injectors = kCalls;
  add_ways(operations, kHostWays);
  add_ways(operations, kDirectWays);
  add_ways(operations, kStagedWays);
  for (const uint32_t flags : {uint32_t{0}, kAsync}) {
    for (const Way& way : {kStagedWays[0], kStagedWays[2]}) {
      operations.push_back(copying(way, {.rows = Rows::pieces, .flags = flags, .injectors = injectors}));
    }
    for (const Way& way :
         {kDirectWays[0], kDirectWays[2], kStagedWays[0], kStagedWays[2], kHostWays[0], kHostWays[3]}) {
      operations.push_back(copying(way, {.rows = Rows::long_index, .flags = flags, .injectors = injectors}));
    }
  }
  const Way within{kHost, kHost};
  operations.push_back(copying(within, {}));
  operations.push_back(moving(within, {.flags = ARROWDEVICE_COPY_ALWAYS}));
  operations.push_back(moving_to_host(within, {.flags = ARROWDEVICE_COPY_ALWAYS}));
  const Way shared{kAddresses[0], kAddresses[1], {.peers = Peers::kAccess}};
  operations.push_back(copying(shared, {}));
  operations.push_back(moving(shared, {}));
  operations.push_back(moving(shared, {.flags = kAsync | ARROWDEVICE_COPY_ALWAYS}));
  for (const Way& way : {kHostWays[2], kHostWays[3]}) {
    operations.push_back(moving_to_host(way, {}));
    operations.push_back(moving_to_host(way, {.flags = kWhole}));
    operations.push_back(moving_to_host(way, {.own_queue = true}));
    operations.push_back(copying_meanwhile(way, {}));
    operations.push_back(copying_meanwhile(way, {.own_queue = true}));
  }
  const Machine pinned{.has_pinned = true};
  operations.push_back(copying({kHost, kAddresses[0], pinned}, {.rows = Rows::large}));
  operations.push_back(copying({kAddresses[0], kHost, pinned}, {.rows = Rows::large}));
  // A call that fails on a slow device must wait for what it has submitted.
  for (Way way : {kHostWays[0], kHostWays[3], kDirectWays[1], kStagedWays[2]}) {
    way.machine.latency_us = 300;
    operations.push_back(copying(way, {.injectors = injectors}));
    if (way.from < 0) operations.push_back(copying(way, {.rows = Rows::flat, .injectors = injectors}));
  }
}

}  // namespace faults

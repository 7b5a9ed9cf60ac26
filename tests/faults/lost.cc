// SPDX-License-Identifier: Apache-2.0
// A device is lost in the middle of each operation: at its first call of the driver, at its second, and so
// on. This ends when the operation makes no more calls. See trial.h for failures of single calls.
//
// In each case the following must hold:
//
// - The operation succeeds, or it fails with EIO and a message that the device was lost.
// - After a failure the caller has its inputs unchanged.
// - Other devices work meanwhile. The device itself works when it is available again.
// - In the end everything is freed, except memory that a lost device may still use. The library cannot know
//   when that memory is free, so it logs that it never uses it again.
#include <array>
#include <atomic>
#include <filesystem>
#include <shared_mutex>
#include <thread>

#include "sim/functions.h"
#include "unit/library.h"

namespace {

using namespace library_test;  // NOLINT: what every line of these tests is written with
using arrowdevice::sim::Configuration;
using Table = arrowdevice_backend;
using Stream = Owned<ArrowDeviceArrayStream>;

// -- the device that is lost

Table inner;
std::atomic<int64_t> calls_to_loss{0};
int64_t doomed = 0;
std::shared_mutex resetting;  // threads of streams may still end, in calls of the table

template <auto kMember>
struct Counted;

template <typename Result, typename... Parameters, Result (*Table::*kMember)(Parameters...)>
struct Counted<kMember> {
  static Result call(Parameters... parameters) {
    const std::shared_lock lock(resetting);
    if (--calls_to_loss == 0) control::lose(doomed);
    return (inner.*kMember)(parameters...);
  }
};

Table counted_table() {
  Table table = inner;
#define X(name, pair) table.name = Counted<&Table::name>::call;
  ARROWDEVICE_SIM_REQUIRED_FUNCTIONS(X)
  ARROWDEVICE_SIM_OPTIONAL_FUNCTIONS(X)
#undef X
  return table;
}

void check_nothing_refused() {
  for (const auto& refusal : control::refusals()) {
    const bool is_answer = refusal.starts_with("device_locate: it belongs to");
    if (!is_answer) FAIL_CHECK("refused by the device: " << refusal);
  }
}

// Resets the devices with a latency, so that work is in flight when the device is lost.
void reset(Peers peers) {
  const std::unique_lock lock(resetting);
  check_nothing_refused();
  auto slow = configuration(peers);
  for (auto& device : slow.devices) device.latency_us = 50;
  calls_to_loss = 0;
  control::reset(std::move(slow));
}

std::atomic<bool> has_given_up{false};  // memory, according to the log

void begin_once() {
  static const bool begun = [] {
    REQUIRE(arrowdevice_deferred_set_manual(1, nullptr) == 0);
    arrowdevice_log_set_handler(
        [](void*, int, const char* message) {
          if (std::string(message).find("its memory is not used again") != std::string::npos) has_given_up = true;
        },
        nullptr);
    control::reset(configuration());
    inner = *control::table();
    const Table table = counted_table();
    if (arrowdevice_backend_register(&table, nullptr) != 0) return false;
    // Each device has a thread from here on.
    const Sample sample(field("l"));
    for (int64_t id = 0; id < kSims; ++id) copy(sample, sim(id));
    return true;
  }();
  REQUIRE(begun);
}

// -- leftovers

int64_t threads() {
  const std::filesystem::directory_iterator all("/proc/self/task");
  return std::distance(begin(all), end(all));
}

struct Left {
  int64_t allocations = 0, sub_buffers = 0, events = 0;
};

// The memory that was given up. No other object may remain.
struct GivenUp {
  std::array<Left, kSims> on_devices{};
  int64_t host_bytes = 0;
};

GivenUp& given_up() {
  static GivenUp all;
  return all;
}

Left left_on(int64_t id) {
  must(arrowdevice_pool_trim, default_pool(sim(id)));
  const auto counted = control::counters(id);
  CHECK(counted.queues_live <= 8);
  CHECK(counted.host_registrations_live == 0);
  // Queues may be idle for reuse, each with its last event.
  return {counted.allocations_live, counted.sub_buffers_live,
          std::max<int64_t>(counted.events_live - counted.queues_live, 0)};
}

void check_left(bool may_give_up) {
  CHECK((may_give_up || !has_given_up));
  GivenUp& before = given_up();
  const int64_t host_bytes = stats(default_pool(cpu())).used_bytes;
  bool is_more = host_bytes > before.host_bytes;
  if (has_given_up) before.host_bytes = host_bytes;
  CHECK(host_bytes == before.host_bytes);
  for (int64_t id = 0; id < kSims; ++id) {
    INFO("left on device " << id);
    const Left now = left_on(id);
    Left& then = before.on_devices[static_cast<size_t>(id)];
    is_more = is_more || now.allocations > then.allocations;
    if (has_given_up) then = now;
    CHECK(now.allocations == then.allocations);
    CHECK(now.sub_buffers == then.sub_buffers);
    CHECK(now.events <= then.events);
  }
  CHECK(is_more == has_given_up);  // memory that the library has given up is not used again
}

// -- operations

// The place of an operation. Its inputs are on the host, on the device that is lost, or on the device
// beside it.
struct Scene {
  explicit Scene(int64_t id) : lost(sim(id)), beside(sim(id + 1)), queue(make_queue(lost)) {}

  Sample sample{mixed_batch(), {.rows = 17}};
  arrowdevice_device* lost;
  arrowdevice_device* beside;
  Queue queue;
  Array in;
  Array out;
  Owned<ArrowArray> host_out;

  const ArrowSchema& type() const { return *sample.schema; }
};

enum class Input {
  kKept,      // unchanged after a failure; usable while the device is lost if it is elsewhere
  kPending,   // likewise, but its own data was in flight
  kHandedOn,  // likewise, except after a failure that comes after it has become the output
  kConsumed,  // taken by a stream that has parts of it, or released
};

struct Operation {
  const char* name;
  Array (*input)(Scene&);
  int (*run)(Scene&, arrowdevice_error*);
  Input becomes = Input::kKept;
  Peers peers = Peers::kCopy;
};

Array on_host(Scene& scene) { return copy(scene.sample, cpu()); }
Array on_lost(Scene& scene) { return copy(scene.sample, scene.lost); }
Array on_beside(Scene& scene) { return copy(scene.sample, scene.beside); }
Array pending(Scene& scene) { return copy(scene.sample, scene.lost, ARROWDEVICE_COPY_ASYNC); }

// Returns an array whose copy is in flight until the device's engine resumes.
Array held(Scene& scene) {
  control::hold(describe(scene.lost).device_id);
  return pending(scene);
}

int copy_to(Scene& scene, arrowdevice_device* to, uint32_t flags, arrowdevice_error* error) {
  const auto options = copy_options(flags);
  const int code = arrowdevice_array_copy(scene.in.get(), &scene.type(), to, &options, scene.out.out(), error);
  CHECK(scene.out.released() == (code != 0));
  return code != 0 ? code : arrowdevice_array_wait(scene.out.get(), nullptr, ARROWDEVICE_NO_TIMEOUT, error);
}

int copy_to_lost(Scene& scene, arrowdevice_error* error) { return copy_to(scene, scene.lost, 0, error); }
int copy_to_lost_async(Scene& scene, arrowdevice_error* error) {
  return copy_to(scene, scene.lost, ARROWDEVICE_COPY_ASYNC, error);
}
int copy_to_host(Scene& scene, arrowdevice_error* error) { return copy_to(scene, cpu(), 0, error); }
int copy_beside(Scene& scene, arrowdevice_error* error) { return copy_to(scene, scene.beside, 0, error); }
int copy_beside_async(Scene& scene, arrowdevice_error* error) {
  return copy_to(scene, scene.beside, ARROWDEVICE_COPY_ASYNC, error);
}

int to_device(Scene& scene, arrowdevice_device* to, arrowdevice_error* error) {
  const int code = arrowdevice_array_to_device(scene.in.get(), &scene.type(), to, nullptr, scene.out.out(), error);
  CHECK(scene.out.released() == (code != 0));
  return code;
}
int move_to_lost(Scene& scene, arrowdevice_error* error) { return to_device(scene, scene.lost, error); }
int move_beside(Scene& scene, arrowdevice_error* error) { return to_device(scene, scene.beside, error); }

int to_host(Scene& scene, arrowdevice_error* error) {
  return arrowdevice_array_to_host(scene.in.get(), &scene.type(), nullptr, scene.host_out.out(), error);
}

int wait(Scene& scene, arrowdevice_error* error) {
  return arrowdevice_array_wait(scene.in.get(), nullptr, ARROWDEVICE_NO_TIMEOUT, error);
}

int wait_on(Scene& scene, arrowdevice_error* error) {
  const int code = arrowdevice_queue_wait_array(scene.queue.get(), scene.in.get(), nullptr, error);
  return code != 0 ? code : arrowdevice_queue_finish(scene.queue.get(), ARROWDEVICE_NO_TIMEOUT, error);
}

int release_held(Scene& scene, arrowdevice_error* error) {
  scene.in.reset();
  control::resume(describe(scene.lost).device_id);
  return arrowdevice_wait_idle(ARROWDEVICE_NO_TIMEOUT, error);
}

int release_after(Scene& scene, arrowdevice_error* error) {
  const int code = arrowdevice_array_release_after(scene.in.get(), scene.queue.get(), error);
  CHECK(scene.in.released() == (code == 0));
  return code;
}

int validate(Scene& scene, arrowdevice_error* error) {
  return arrowdevice_array_validate(scene.in.get(), &scene.type(), nullptr, ARROWDEVICE_VALIDATE_FULL, error);
}

int import_for_queue(Scene& scene, arrowdevice_error* error) {
  auto options = import_options(ARROWDEVICE_IMPORT_RESOLVE_SIZES);
  options.queue = scene.queue.get();
  arrowdevice_view* view = nullptr;
  const int code = arrowdevice_array_import(scene.in.get(), &scene.type(), &options, &view, error);
  CHECK((view == nullptr) == (code != 0));
  if (code != 0) return code;
  const int after = arrowdevice_view_release_after(view, scene.queue.get(), error);
  if (after != 0) arrowdevice_view_detach(view, scene.in.out());  // the array is unchanged
  return after;
}

int export_after_queue(Scene& scene, arrowdevice_error* error) {
  const int code = arrowdevice_array_export(scene.lost, &scene.in->array, scene.queue.get(), scene.out.out(), error);
  CHECK(scene.in.released() == (code == 0));
  return code != 0 ? code : arrowdevice_array_wait(scene.out.get(), nullptr, ARROWDEVICE_NO_TIMEOUT, error);
}

// Copies bytes to the device and back.
int bytes(Scene& scene, arrowdevice_error* error) {
  constexpr int64_t kBytes = 4096;
  const std::vector<unsigned char> sent(kBytes, 'x');
  std::vector<unsigned char> came(kBytes);
  void* buffer = nullptr;
  int code = arrowdevice_buffer_allocate(scene.lost, nullptr, scene.queue.get(), kBytes, &buffer, error);
  CHECK((buffer == nullptr) == (code != 0));
  if (code != 0) return code;
  const arrowdevice_copy_region in{scene.lost, buffer, 0, nullptr, sent.data(), 0, kBytes, 0};
  const arrowdevice_copy_region out{nullptr, came.data(), 0, scene.lost, buffer, 0, kBytes, 0};
  code = arrowdevice_queue_copy(scene.queue.get(), &in, 1, error);
  if (code == 0) code = arrowdevice_queue_copy(scene.queue.get(), &out, 1, error);
  // The host memory is needed until all work has finished, even after a failure.
  const int finished = arrowdevice_queue_finish(scene.queue.get(), ARROWDEVICE_NO_TIMEOUT, code == 0 ? error : nullptr);
  if (code == 0 && finished == 0) CHECK(came == sent);
  arrowdevice_buffer_free(scene.lost, scene.queue.get(), buffer);
  return code != 0 ? code : finished;
}

// -- streams of batches that share the input

Stream batches(Scene& scene) {
  constexpr size_t kBatches = 3;
  std::array<Array, kBatches> shared;
  std::array<ArrowDeviceArray, kBatches> given{};
  for (size_t i = 0; i < kBatches; ++i) {
    must(arrowdevice_array_share, scene.in.get(), shared[i].out());
    given[i] = shared[i].take();
  }
  Owned<ArrowSchema> schema;
  must(arrowdevice_schema_copy, &scene.type(), schema.out());
  Stream stream;
  must(arrowdevice_stream_from_arrays, schema.get(), given.data(), int64_t{kBatches}, scene.in->device_type,
       stream.out());
  return stream;
}

int read_all(Scene& scene, Stream& stream, arrowdevice_error* error) {
  for (;;) {
    int code = arrowdevice_stream_get_next(stream.get(), scene.out.out(), error);
    if (code == 0 && scene.out.released()) return 0;
    if (code == 0) code = arrowdevice_array_wait(scene.out.get(), nullptr, ARROWDEVICE_NO_TIMEOUT, error);
    if (code != 0) return code;
  }
}

int pull(Scene& scene, arrowdevice_device* to, uint32_t flags, arrowdevice_error* error) {
  arrowdevice_stream_options options{};
  options.struct_size = sizeof options;
  options.flags = flags;
  Stream from = batches(scene);
  Stream stream;
  must(arrowdevice_stream_to_device, from.get(), to, &options, stream.out());
  return read_all(scene, stream, error);
}
int pull_to_lost(Scene& scene, arrowdevice_error* error) { return pull(scene, scene.lost, 0, error); }
int pull_beside(Scene& scene, arrowdevice_error* error) { return pull(scene, scene.beside, 0, error); }
int pull_ahead(Scene& scene, arrowdevice_error* error) {
  return pull(scene, scene.lost, ARROWDEVICE_STREAM_READ_AHEAD, error);
}

int push(Scene& scene, arrowdevice_device* to, arrowdevice_error* error) {
  Stream from = batches(scene);
  Stream stream;
  ArrowAsyncDeviceStreamHandler* handler = nullptr;
  must(arrowdevice_async_collect, describe(to).device_type, nullptr, &handler, stream.out());
  must(arrowdevice_async_to_device, handler, to, nullptr, &handler);
  must(arrowdevice_async_produce, from.get(), handler, nullptr);
  return read_all(scene, stream, error);
}
int push_to_lost(Scene& scene, arrowdevice_error* error) { return push(scene, scene.lost, error); }
int push_to_host(Scene& scene, arrowdevice_error* error) { return push(scene, cpu(), error); }

// -- the loss

bool is_message_of_loss(int code, const arrowdevice_error& error) {
  INFO("code " << code);
  CHECK(code == EIO);
  CHECK(error.code == code);
  return contains(error.message, "was lost");
}

// Checks the scene while the device is lost.
void check_loss(Scene& scene) {
  CHECK(difference(scene.sample, *copy(scene.sample, scene.beside)) == "");
  arrowdevice_error error{};
  Array out;
  const int code =
      arrowdevice_array_copy(scene.sample.host.get(), &scene.type(), scene.lost, nullptr, out.out(), &error);
  CHECK(is_message_of_loss(code, error));
}

// Loses the device at this call. Returns false if the operation made fewer calls.
bool lose_at_call(const Operation& operation, int64_t id, int64_t call) {
  INFO(operation.name << ", device " << id << " is lost at call " << call);
  reset(operation.peers);
  has_given_up = false;
  const int64_t threads_before = threads();
  auto scene = std::make_unique<Scene>(id);
  scene->in = operation.input(*scene);
  const bool is_elsewhere = scene->in->device_type == ARROW_DEVICE_CPU || scene->in->device_id != id;
  const ArrowDeviceArray before = *scene->in;
  doomed = id;
  calls_to_loss = call;
  arrowdevice_error error{};
  const int code = operation.run(*scene, &error);
  const bool is_lost = calls_to_loss <= 0;
  calls_to_loss = 0;
  const bool is_handed_on = operation.becomes == Input::kHandedOn && !scene->out.released();
  const bool is_kept = code != 0 && operation.becomes != Input::kConsumed && !is_handed_on;
  if (code != 0) {
    CHECK(is_lost);
    CHECK(is_message_of_loss(code, error));
  }
  if (is_kept) CHECK(std::memcmp(&before, scene->in.get(), sizeof before) == 0);
  if (is_kept && is_elsewhere) CHECK(difference(scene->sample, *scene->in) == "");
  if (is_lost) check_loss(*scene);
  // The device is available again and has no work, because all work in flight has failed.
  reset(operation.peers);
  if (is_kept && operation.becomes != Input::kPending) CHECK(difference(scene->sample, *scene->in) == "");
  CHECK(difference(scene->sample, *copy(scene->sample, scene->lost)) == "");
  const Ledger ledger = scene->sample.ledger;
  scene.reset();
  while (threads() > threads_before) std::this_thread::yield();  // threads of a stream release their objects
  must(arrowdevice_wait_idle, ARROWDEVICE_NO_TIMEOUT);
  CHECK(ledger.live() == 0);
  CHECK(Ledger::mistakes() == 0);
  check_left(is_lost);
  return is_lost;
}

void lose_in(const Operation& operation) {
  begin_once();
  constexpr int64_t kFarTooMany = 2000;
  for (const int64_t id : {kAddresses[0], kHandles[0]}) {
    int64_t call = 1;
    while (call < kFarTooMany && lose_at_call(operation, id, call)) ++call;
    INFO(operation.name);
    CHECK(call > 1);
    CHECK(call < kFarTooMany);
  }
}

TEST_CASE("a device is lost in the middle of a copy") {
  lose_in({"to it", on_host, copy_to_lost});
  lose_in({"to it, async", on_host, copy_to_lost_async});
  lose_in({"from it", on_lost, copy_to_host});
  lose_in({"from it to another", on_lost, copy_beside});
  lose_in({"from it to another, async", on_lost, copy_beside_async});
  lose_in({"from another", on_beside, copy_to_lost});
  for (const auto& staged : {Operation{"from it to another, by way of the host", on_lost, copy_beside},
                             Operation{"from another, by way of the host", on_beside, copy_to_lost}}) {
    auto operation = staged;
    operation.peers = Peers::kNone;
    lose_in(operation);
  }
}

TEST_CASE("a device is lost in the middle of a move") {
  lose_in({"to it", on_host, move_to_lost});
  lose_in({"from it to another", on_lost, move_beside});
  lose_in({"from another", on_beside, move_to_lost});
  lose_in({"to the host", on_lost, to_host});
}

TEST_CASE("a device is lost in the middle of a wait") {
  lose_in({"by the CPU", pending, wait, Input::kPending});
  lose_in({"by a queue", pending, wait_on, Input::kPending});
}

TEST_CASE("a device is lost in the middle of a release") {
  lose_in({"of what is in flight", held, release_held, Input::kConsumed});
  lose_in({"after a queue", on_lost, release_after});
}

TEST_CASE("a device is lost in the middle of an import") {
  lose_in({"for a queue, with sizes", on_lost, import_for_queue});
  lose_in({"validation", on_lost, validate});
}

TEST_CASE("a device is lost in the middle of an export") {
  lose_in({"after a queue", on_lost, export_after_queue, Input::kHandedOn});
}

TEST_CASE("a device is lost while bytes are copied") { lose_in({"in and out", on_host, bytes}); }

TEST_CASE("a device is lost in the middle of a stream") {
  lose_in({"to it", on_host, pull_to_lost, Input::kConsumed});
  lose_in({"to it, read ahead", on_host, pull_ahead, Input::kConsumed});
  lose_in({"from it to another", on_lost, pull_beside, Input::kConsumed});
}

TEST_CASE("a device is lost in the middle of an async stream") {
  lose_in({"to it", on_host, push_to_lost, Input::kConsumed});
  lose_in({"from it to the host", on_lost, push_to_host, Input::kConsumed});
}

}  // namespace

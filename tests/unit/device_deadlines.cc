// SPDX-License-Identifier: Apache-2.0
// Tests time-outs: a call that waits for a stuck device returns at its time-out, and no array is lost.
#include <algorithm>
#include <array>
#include <functional>
#include <optional>

#include "stream_producer.h"

namespace {

using namespace stream_test;  // NOLINT: what every line of these tests is written with

constexpr int64_t kShort = 2'000'000;

arrowdevice_copy_options in_time(int64_t timeout_ns, uint32_t flags = 0) {
  auto options = copy_options(flags);
  options.timeout_ns = timeout_ns;
  return options;
}

TEST_CASE("a copy to the host times out on a pending array, and a later copy succeeds") {
  begin();
  Sample sample(field("u"), {.rows = 30});
  const Array there = copy(sample, sim(0));
  control::UserEvent written;
  Array pending;
  Owned<ArrowArray> plain(copy(*there, *sample.schema, sim(0)).take().array);
  must(arrowdevice_array_export_event, sim(0), plain.get(), written.sync_event(), nullptr, nullptr, pending.out());
  auto options = copy_options();
  options.timeout_ns = kShort;
  Array out;
  // The library must read the sizes of strings before it submits a copy.
  must_fail_saying(ETIMEDOUT, "ext_dev:0", arrowdevice_array_copy, pending.get(), sample.schema.get(), cpu(), &options,
                   out.out());
  CHECK(out.released());
  Owned<ArrowArray> host;
  must_fail(ETIMEDOUT, arrowdevice_array_to_host, pending.get(), sample.schema.get(), &options, host.out());
  CHECK_FALSE(pending.released());
  written.set();
  options.timeout_ns = ARROWDEVICE_NO_TIMEOUT;
  must(arrowdevice_array_to_host, pending.get(), sample.schema.get(), &options, host.out());
  CHECK(arrowdevice::testing::difference(*sample.schema, *sample.twin, *sample.schema, *host) == "");
}

TEST_CASE("a copy within a backend times out if it must read a pending array first") {
  begin();
  Sample sample(list_of(field("u")), {.rows = 30});
  for (const Peers peers : {Peers::kCopy, Peers::kNone}) {
    begin(configuration(peers));
    Held engine(0);
    const Array pending = copy(sample, sim(0), ARROWDEVICE_COPY_ASYNC);
    auto options = copy_options(ARROWDEVICE_COPY_ASYNC);
    options.timeout_ns = kShort;
    Array out;
    must_fail(ETIMEDOUT, arrowdevice_array_copy, pending.get(), sample.schema.get(), sim(1), &options, out.out());
    CHECK(out.released());
    engine.resume();
    must(arrowdevice_array_wait, pending.get(), nullptr, ARROWDEVICE_NO_TIMEOUT);
    options.timeout_ns = ARROWDEVICE_NO_TIMEOUT;
    const Array moved = copy(*pending, *sample.schema, sim(1), options);
    CHECK(difference(sample, *moved) == "");
  }
}

TEST_CASE("a copy without a wait before its submission ignores the time-out") {
  begin();
  Sample sample(field("l"), {.rows = 30});
  Held engine(0);
  auto options = copy_options(ARROWDEVICE_COPY_ASYNC);
  options.timeout_ns = 1;
  const Array pending = copy(*sample.host, *sample.schema, sim(0), options);
  const Array moved = copy(*pending, *sample.schema, sim(1), options);
  CHECK(is_ready(*moved) == 0);
  engine.resume();
  CHECK(difference(sample, *moved) == "");
}

TEST_CASE("an import times out, and does not wait without sizes to resolve") {
  begin();
  Sample sample(field("u"), {.rows = 30});
  Held engine(0);
  Array pending = copy(sample, sim(0), ARROWDEVICE_COPY_ASYNC);
  auto options = import_options(ARROWDEVICE_IMPORT_RESOLVE_SIZES);
  options.timeout_ns = kShort;
  arrowdevice_view* view = nullptr;
  must_fail(ETIMEDOUT, arrowdevice_array_import, pending.get(), sample.schema.get(), &options, &view);
  CHECK_FALSE(pending.released());
  options.flags = 0;
  must(arrowdevice_array_import, pending.get(), sample.schema.get(), &options, &view);
  arrowdevice_view_detach(view, pending.out());
  engine.resume();
  CHECK(difference(sample, *pending) == "");
}

TEST_CASE("a CPU queue that waits for a device's array times out") {
  begin();
  Sample sample(field("u"), {.rows = 30});
  Held engine(0);
  Array pending = copy(sample, sim(0), ARROWDEVICE_COPY_ASYNC);
  const Queue queue = make_queue(cpu());
  auto options = import_options();
  options.queue = queue.get();
  options.timeout_ns = kShort;
  arrowdevice_view* view = nullptr;
  must_fail(ETIMEDOUT, arrowdevice_array_import, pending.get(), sample.schema.get(), &options, &view);
  CHECK_FALSE(pending.released());
}

// A copy that one held device keeps from ending. -1 is the CPU.
struct Unfinished {
  int64_t from;
  int64_t to;
  int64_t held;
  Peers peers = Peers::kCopy;
};

constexpr Unfinished kUnfinished[] = {
    {-1, 0, 0}, {0, -1, 0}, {0, 1, 1}, {0, 1, 0, Peers::kNone}, {0, 1, 1, Peers::kNone},
    {-1, 2, 2}, {2, -1, 2}, {2, 3, 3}};

arrowdevice_device* device(int64_t id) { return id < 0 ? cpu() : sim(id); }

Array source_of(const Unfinished& copied, const Sample& sample) {
  return copied.from < 0 ? sample.array() : copy(sample, sim(copied.from));
}

bool is_memory_free(const Unfinished& copied) {
  return std::ranges::all_of(std::array{copied.from, copied.to},
                             [](int64_t id) { return id < 0 || stats(default_pool(sim(id))).used_bytes == 0; });
}

TEST_CASE("a moved array may be released as soon as its call has timed out") {
  begin();
  for (const auto& type : {field("l"), list_of(field("u"))}) {
    for (const auto& one : kUnfinished) {
      INFO(one.from << " to " << one.to << ", held " << one.held);
      begin(configuration(one.peers));
      const Sample sample(type, {.rows = 300});
      const int64_t before = sample.ledger.live();
      Array source = source_of(one, sample);
      Held engine(one.held);
      const auto options = in_time(kShort);
      Array out;
      must_fail_saying(ETIMEDOUT, "in time", arrowdevice_array_to_device, source.get(), sample.schema.get(),
                       device(one.to), &options, out.out());
      CHECK(out.released());
      CHECK_FALSE(source.released());
      source.reset();
      // The library still holds the source.
      if (one.from < 0) CHECK(sample.ledger.live() > before);
      if (one.from >= 0) CHECK(stats(default_pool(sim(one.from))).used_bytes > 0);
      must_fail(ETIMEDOUT, arrowdevice_wait_idle, kShort);
      engine.resume();
      must(arrowdevice_wait_idle, ARROWDEVICE_NO_TIMEOUT);
      CHECK(sample.ledger.live() == before);
      CHECK(is_memory_free(one));
    }
  }
}

TEST_CASE("after a time-out of a copy, its source is needed until the library is idle") {
  begin();
  for (const auto& type : {field("l"), list_of(field("u"))}) {
    for (const auto& one : kUnfinished) {
      INFO(one.from << " to " << one.to << ", held " << one.held);
      begin(configuration(one.peers));
      const Sample sample(type, {.rows = 300});
      Array source = source_of(one, sample);
      Held engine(one.held);
      const auto options = in_time(kShort);
      Array out;
      must_fail(ETIMEDOUT, arrowdevice_array_copy, source.get(), sample.schema.get(), device(one.to), &options,
                out.out());
      CHECK(out.released());
      engine.resume();
      CHECK(difference(sample, *copy(*source, *sample.schema, device(one.to))) == "");
      must(arrowdevice_wait_idle, ARROWDEVICE_NO_TIMEOUT);
      source.reset();
      CHECK(is_memory_free(one));
    }
  }
}

TEST_CASE("an import that is not done in time leaves an array that may be released at once") {
  begin();
  const Sample sample(list_of(field("u")), {.rows = 300});
  for (const bool validates : {false, true}) {
    Array source = copy(sample, sim(0));
    Held engine(0);
    auto options = import_options(ARROWDEVICE_IMPORT_RESOLVE_SIZES);
    options.validate = validates ? ARROWDEVICE_VALIDATE_FULL : ARROWDEVICE_VALIDATE_STRUCTURE;
    options.timeout_ns = kShort;
    arrowdevice_view* view = nullptr;
    must_fail(ETIMEDOUT, arrowdevice_array_import, source.get(), sample.schema.get(), &options, &view);
    CHECK(view == nullptr);
    source.reset();
    CHECK(stats(default_pool(sim(0))).used_bytes > 0);
    engine.resume();
    must(arrowdevice_wait_idle, ARROWDEVICE_NO_TIMEOUT);
    CHECK(stats(default_pool(sim(0))).used_bytes == 0);
  }
}

TEST_CASE("get_next of a stream ends in time on every path") {
  const Sample sample(mixed_batch(), {.rows = 60});
  for (const uint32_t flags : {0u, uint32_t{ARROWDEVICE_STREAM_READ_AHEAD}}) {
    for (const auto& one : kUnfinished) {
      if (one.to >= 0 && one.held != one.from) continue;  // its array carries an event
      INFO(one.from << " to " << one.to << ", held " << one.held << ", flags " << flags);
      begin(configuration(one.peers));
      auto producer = batches_of(sample, kRows);
      DeviceStream stream = to_device(stream_of(producer), sim(one.from), stream_options());
      auto options = stream_options(flags, 2);
      options.timeout_ns = 10 * kShort;
      stream = to_device(std::move(stream), device(one.to), options);
      Held engine(one.held);
      Owned<ArrowSchema> schema;
      REQUIRE(stream->get_schema(stream.get(), schema.out()) == 0);
      Array out;
      CHECK(stream->get_next(stream.get(), out.out()) == ETIMEDOUT);
      CHECK(out.released());
      stream.reset();
      engine.resume();
      // A thread of the stream may still hold a batch.
      until([&] { return producer->releases == 1 && is_memory_free(one); });
      must(arrowdevice_wait_idle, ARROWDEVICE_NO_TIMEOUT);
    }
  }
}

// The check of this thread. It ends the wait at the second call, or lets the device go on.
class Check {
 public:
  explicit Check(Held* resumed = nullptr) : resumed_(resumed) { arrowdevice_interrupt_set_check(called, this); }
  ~Check() { arrowdevice_interrupt_set_check(nullptr, nullptr); }
  Check(const Check&) = delete;
  Check& operator=(const Check&) = delete;

  int calls() const { return calls_; }

 private:
  static int called(void* user) {
    auto& self = *static_cast<Check*>(user);
    if (++self.calls_ < 2) return 0;
    if (self.resumed_ == nullptr) return 1;
    self.resumed_->resume();
    return 0;
  }

  Held* resumed_;
  int calls_ = 0;
};

// Opens a handle and releases the array. Returns the code.
int open_handle(const arrowdevice_ipc_handle& handle, const arrowdevice_copy_options& options,
                arrowdevice_error* error) {
  Array out;
  Schema type;
  const int code = arrowdevice_array_open_ipc_handle(handle.bytes, handle.size, handle.descriptors,
                                                     handle.n_descriptors, &options, out.out(), type.out(), error);
  CHECK(out.released() == (code != 0));
  return code;
}

TEST_CASE("the thread's check ends every wait, or lets it go on") {
  begin();
  const Sample sample(list_of(field("u")), {.rows = 300});
  const Sample flat(field("l"), {.rows = 3});
  const auto* const schema = sample.schema.get();
  using Call = std::function<int(Array&, arrowdevice_error*)>;
  const Queue queue = make_queue(sim(0));
  Array shared = copy(sample, sim(0));
  arrowdevice_ipc_handle handle{};
  must(arrowdevice_array_get_ipc_handle, shared.get(), schema, nullptr, &handle);
  const std::pair<const char*, Call> calls[] = {
      {"array_to_device",
       [&](Array& array, arrowdevice_error* error) {
         const auto options = copy_options(ARROWDEVICE_COPY_ALWAYS);
         Array out;
         return arrowdevice_array_to_device(array.get(), schema, sim(0), &options, out.out(), error);
       }},
      {"array_to_host",
       [&](Array& array, arrowdevice_error* error) {
         Owned<ArrowArray> out;
         return arrowdevice_array_to_host(array.get(), schema, nullptr, out.out(), error);
       }},
      {"array_get_ipc_handle",
       [&](Array& array, arrowdevice_error* error) {
         arrowdevice_ipc_handle out{};
         const int code = arrowdevice_array_get_ipc_handle(array.get(), schema, nullptr, &out, error);
         arrowdevice_ipc_handle_release(&out);
         return code;
       }},
      {"array_open_ipc_handle",
       [&](Array&, arrowdevice_error* error) { return open_handle(handle, copy_options(), error); }},
      {"array_open_ipc_handle with a copy",
       [&](Array&, arrowdevice_error* error) {
         return open_handle(handle, copy_options(ARROWDEVICE_COPY_ALWAYS), error);
       }},
      {"array_import",
       [&](Array& array, arrowdevice_error* error) {
         const auto options = import_options(ARROWDEVICE_IMPORT_RESOLVE_SIZES);
         arrowdevice_view* view = nullptr;
         const int code = arrowdevice_array_import(array.get(), schema, &options, &view, error);
         arrowdevice_view_release(view);
         return code;
       }},
      {"array_validate",
       [&](Array& array, arrowdevice_error* error) {
         // The caller keeps the array until the library is idle.
         return arrowdevice_array_validate(array.get(), schema, nullptr, ARROWDEVICE_VALIDATE_FULL, error);
       }},
      {"array_wait",
       [&](Array&, arrowdevice_error* error) {
         const Array there = copy(flat, sim(0), ARROWDEVICE_COPY_ASYNC);
         return arrowdevice_array_wait(there.get(), nullptr, ARROWDEVICE_NO_TIMEOUT, error);
       }},
      {"queue_finish",
       [&](Array&, arrowdevice_error* error) {
         const Array there = copy(*flat.host, *flat.schema, sim(0), ARROWDEVICE_COPY_ASYNC, queue.get());
         const int code = arrowdevice_queue_finish(queue.get(), ARROWDEVICE_NO_TIMEOUT, error);
         control::resume(0);
         must(arrowdevice_array_wait, there.get(), nullptr, ARROWDEVICE_NO_TIMEOUT);
         return code;
       }},
      {"wait_idle",
       [&](Array&, arrowdevice_error* error) {
         Array array = flat.array();
         const auto options = copy_options(ARROWDEVICE_COPY_ASYNC);
         Array out;
         must(arrowdevice_array_to_device, array.get(), flat.schema.get(), sim(0), &options, out.out());
         return arrowdevice_wait_idle(ARROWDEVICE_NO_TIMEOUT, error);
       }},
      {"get_next",
       [&](Array& array, arrowdevice_error* error) {
         Owned<ArrowSchema> type;
         must(arrowdevice_schema_copy, schema, type.out());
         DeviceStream stream;
         must(arrowdevice_stream_from_arrays, type.get(), array.get(), 1, ArrowDeviceType{ARROW_DEVICE_EXT_DEV},
              stream.out());
         const auto options = stream_options(ARROWDEVICE_STREAM_READ_AHEAD, 1);
         DeviceStream home = to_device(std::move(stream), cpu(), options);
         Array out;
         return arrowdevice_stream_get_next(home.get(), out.out(), error);
       }},
  };
  for (const auto& [name, call] : calls) {
    INFO(name);
    for (const bool ends : {true, false}) {
      Array array = copy(sample, sim(0));
      Held engine(0);
      std::optional<Check> check(std::in_place, ends ? nullptr : &engine);
      arrowdevice_error error{};
      const int code = call(array, &error);
      INFO(error.message);
      CHECK(code == (ends ? ECANCELED : 0));
      if (ends) CHECK(std::string(error.message) == "the call was interrupted");
      CHECK(check->calls() >= 2);
      check.reset();
      engine.resume();
      must(arrowdevice_wait_idle, ARROWDEVICE_NO_TIMEOUT);
    }
  }
  arrowdevice_ipc_handle_release(&handle);
}

TEST_CASE("an IPC handle times out while the device is stuck, and no memory is lost") {
  for (const int64_t id : {int64_t{0}, int64_t{2}}) {
    begin();
    const Sample sample(list_of(field("u")), {.rows = 300});
    Array array = copy(sample, sim(id));
    arrowdevice_ipc_handle handle{};
    must(arrowdevice_array_get_ipc_handle, array.get(), sample.schema.get(), nullptr, &handle);
    Held engine(id);
    const auto options = in_time(kShort);
    arrowdevice_ipc_handle none{};
    must_fail(ETIMEDOUT, arrowdevice_array_get_ipc_handle, array.get(), sample.schema.get(), &options, &none);
    CHECK(none.release == nullptr);
    CHECK_FALSE(array.released());
    for (const uint32_t flags : {uint32_t{0}, uint32_t{ARROWDEVICE_COPY_ALWAYS}}) {
      arrowdevice_error error{};
      CHECK(open_handle(handle, in_time(kShort, flags), &error) == ETIMEDOUT);
    }
    engine.resume();
    must(arrowdevice_wait_idle, ARROWDEVICE_NO_TIMEOUT);
    arrowdevice_error error{};
    CHECK(open_handle(handle, in_time(ARROWDEVICE_NO_TIMEOUT), &error) == 0);
    arrowdevice_ipc_handle_release(&handle);
    array.reset();
    CHECK(stats(default_pool(sim(id))).used_bytes == 0);
  }
}

TEST_CASE("wait_idle waits for the move of a stream that was released") {
  const Sample sample(mixed_batch(), {.rows = 60});
  begin();
  auto producer = batches_of(sample, kRows);
  DeviceStream stream = to_device(to_device(stream_of(producer), sim(0), stream_options()), cpu(), stream_options());
  Held engine(0);
  Array out;
  {
    const Check check;
    CHECK(stream->get_next(stream.get(), out.out()) == ECANCELED);
  }
  stream.reset();
  must_fail(ETIMEDOUT, arrowdevice_wait_idle, kShort);
  engine.resume();
  must(arrowdevice_wait_idle, ARROWDEVICE_NO_TIMEOUT);
  CHECK(stats(default_pool(sim(0))).used_bytes == 0);
}

TEST_CASE("a time-out of 0 waits without limit and a negative one does not wait") {
  begin();
  Sample sample(field("l"), {.rows = 30});
  Held engine(0);
  const Array pending = copy(sample, sim(0), ARROWDEVICE_COPY_ASYNC);
  must_fail(ETIMEDOUT, arrowdevice_array_wait, pending.get(), nullptr, ARROWDEVICE_POLL);
  must_fail(ETIMEDOUT, arrowdevice_array_wait, pending.get(), nullptr, INT64_MIN);
  must_fail(ETIMEDOUT, arrowdevice_wait_idle, ARROWDEVICE_POLL);
  engine.resume();
  must(arrowdevice_array_wait, pending.get(), nullptr, ARROWDEVICE_NO_TIMEOUT);
  auto options = copy_options();
  options.timeout_ns = ARROWDEVICE_NO_TIMEOUT;
  CHECK(difference(sample, *copy(*pending, *sample.schema, cpu(), options)) == "");
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// Tests mistakes that existing implementations make when they should wait. Each test is named after the
// mistake that it rules out. The engine is held, or the producer's event is pending, so that a missing wait
// is visible in the data.
#include <atomic>
#include <thread>

#include "library.h"

namespace {

using namespace library_test;  // NOLINT: what every line of these tests is written with

constexpr Knobs kWithoutNulls{.rows = 50, .nulls = Nulls::kNone};

// An array of one-byte values or strings. Its values or offsets are 0xA5 until the producer's event fires.
class Unwritten {
 public:
  Unwritten(const Sample& sample, int64_t id) : id_(id), array_(copy(sample, sim(id))) {
    take_away(array_->array, *sample.schema);
    array_->sync_event = event_.sync_event();
  }
  ~Unwritten() {
    if (!array_.released()) array_->sync_event = nullptr;
  }
  Unwritten(const Unwritten&) = delete;
  Unwritten& operator=(const Unwritten&) = delete;

  ArrowDeviceArray* get() { return array_.get(); }

  // Does the work of the producer's queue: writes the bytes, then fires the event.
  void write() {
    for (const Bytes& one : taken_) {
      control::poke(id_, one.buffer, 0, one.bytes.data(), static_cast<int64_t>(one.bytes.size()));
    }
    event_.set();
  }

 private:
  struct Bytes {
    void* buffer;
    std::vector<unsigned char> bytes;
  };

  void take_away(ArrowArray& array, const ArrowSchema& schema) {
    const bool is_text = schema.format[0] == 'u';
    for (int64_t i = 0; i < array.n_buffers; ++i) {
      if (array.buffers[i] == nullptr || (is_text && i != 1)) continue;
      const int64_t size = is_text ? (array.length + 1) * 4 : array.length;
      Bytes& one = taken_.emplace_back(
          Bytes{const_cast<void*>(array.buffers[i]), std::vector<unsigned char>(static_cast<size_t>(size))});
      control::peek(id_, one.buffer, 0, one.bytes.data(), size);
      const std::vector<unsigned char> garbage(one.bytes.size(), 0xA5);
      control::poke(id_, one.buffer, 0, garbage.data(), size);
    }
    for (int64_t i = 0; i < array.n_children; ++i) take_away(*array.children[i], *schema.children[i]);
  }

  int64_t id_;
  control::UserEvent event_;
  Array array_;
  std::vector<Bytes> taken_;
};

// Runs a call that must wait for the array in that function of the driver. Writes the array during the wait.
// A call that does not wait returns before the array is written.
void check_waits(Unwritten& array, const char* function, const std::function<void()>& call) {
  std::atomic<bool> returned = false;
  std::thread producer([&] {
    while (control::calls(function) == 0 && !returned) std::this_thread::yield();
    array.write();
  });
  call();
  returned = true;
  producer.join();
}

TEST_CASE("mistake 1: a copy of fixed-width values waits for the producer's event") {
  for (const int64_t to : {int64_t{-1}, int64_t{1}, kHandles[0]}) {
    begin();
    INFO("to " << to);
    Sample sample(struct_of({field("C", "a"), field("c", "b")}).not_null(), kWithoutNulls);
    Unwritten array(sample, 0);
    Array out;
    int code = -1;
    arrowdevice_device* const target = to < 0 ? cpu() : sim(to);
    control::reset(configuration());
    check_waits(array, "queue_wait_event", [&] {
      code = arrowdevice_array_copy(array.get(), sample.schema.get(), target, nullptr, out.out(), nullptr);
    });
    REQUIRE(code == 0);
    CHECK(difference(sample, *out) == "");
  }
}

TEST_CASE("mistake 1: a staged copy of fixed-width values waits for the producer's event") {
  begin(configuration(Peers::kNone));
  Sample sample(field("C"), kWithoutNulls);
  Unwritten array(sample, 0);
  Array out;
  int code = -1;
  control::reset(configuration(Peers::kNone));
  check_waits(array, "queue_wait_event", [&] {
    code = arrowdevice_array_copy(array.get(), sample.schema.get(), sim(1), nullptr, out.out(), nullptr);
  });
  REQUIRE(code == 0);
  CHECK(difference(sample, *out) == "");
}

TEST_CASE("mistake 2: a copy reads the last offset only after the event has fired") {
  for (const int64_t to : {int64_t{-1}, int64_t{1}}) {
    begin();
    INFO("to " << to);
    Sample sample(field("u"), {.rows = 50, .nulls = Nulls::kNone, .longest_text = 20});
    Unwritten array(sample, 0);
    Array out;
    int code = -1;
    arrowdevice_device* const target = to < 0 ? cpu() : sim(to);
    control::reset(configuration());
    check_waits(array, "queue_wait_event", [&] {
      code = arrowdevice_array_copy(array.get(), sample.schema.get(), target, nullptr, out.out(), nullptr);
    });
    REQUIRE(code == 0);  // 0xA5A5A5A5, if read too early, is an invalid offset
    CHECK(difference(sample, *out) == "");
  }
}

TEST_CASE("mistake 2: an import reads sizes only after the event has fired") {
  begin();
  Sample sample(field("u"), {.rows = 50, .nulls = Nulls::kNone, .longest_text = 20});
  Unwritten array(sample, 0);
  auto options = import_options(ARROWDEVICE_IMPORT_RESOLVE_SIZES);
  arrowdevice_view* view = nullptr;
  int code = -1;
  control::reset(configuration());
  check_waits(array, "event_wait",
              [&] { code = arrowdevice_array_import(array.get(), sample.schema.get(), &options, &view, nullptr); });
  REQUIRE(code == 0);
  const auto* offsets = static_cast<const int32_t*>(sample.twin->buffers[1]);
  CHECK(arrowdevice_view_get_root(view)->buffers[2].size == offsets[50]);
  arrowdevice_view_detach(view, array.get());
}

TEST_CASE("mistake 6: each wait function has one meaning, and each one waits") {
  begin();
  Sample sample(field("l"), kWithoutNulls);
  const Queue queue = make_queue(sim(1));
  const Array there = copy(sample, sim(0));
  Held engine(0);
  const Array pending = copy(*there, *sample.schema, sim(0), ARROWDEVICE_COPY_ASYNC);

  // The three functions check readiness, make the CPU wait, and make a queue wait. None of them may succeed
  // without its effect.
  CHECK(is_ready(*pending) == 0);
  must_fail(ETIMEDOUT, arrowdevice_array_wait, pending.get(), nullptr, ARROWDEVICE_POLL);
  must_fail(EINVAL, arrowdevice_queue_wait_array, nullptr, pending.get(), nullptr);
  must(arrowdevice_queue_wait_array, queue.get(), pending.get(), nullptr);
  must_fail(ETIMEDOUT, arrowdevice_queue_finish, queue.get(), ARROWDEVICE_POLL);
  engine.resume();
  must(arrowdevice_array_wait, pending.get(), nullptr, ARROWDEVICE_NO_TIMEOUT);
  CHECK(is_ready(*pending) == 1);
  must(arrowdevice_queue_finish, queue.get(), ARROWDEVICE_NO_TIMEOUT);
}

TEST_CASE("mistake 10: a pending array keeps its event when it is passed on") {
  begin(configuration(Peers::kAccess));
  Sample sample(mixed_batch(), {.rows = 30});
  Held engine(0);
  Array pending = copy(sample, sim(0), ARROWDEVICE_COPY_ASYNC);
  Array shared = output_of(arrowdevice_array_share, pending.get());
  CHECK(is_ready(*shared) == 0);
  CHECK(is_ready(*slice(*pending, *sample.schema, 3, 9)) == 0);
  const int64_t first = 0;
  Array selected;
  must(arrowdevice_array_select, pending.get(), sample.schema.get(), &first, 1, selected.out(), nullptr);
  CHECK(is_ready(*selected) == 0);
  auto* view = output_of(arrowdevice_array_import, shared.get(), sample.schema.get(), nullptr);
  Array of_view = output_of(arrowdevice_view_share, view);
  CHECK(is_ready(*of_view) == 0);
  arrowdevice_view_detach(view, shared.out());
  CHECK(is_ready(*shared) == 0);
  Array moved = output_of(arrowdevice_array_to_device, shared.get(), sample.schema.get(), sim(1), nullptr);
  CHECK(is_ready(*moved) == 0);
  engine.resume();
  must(arrowdevice_array_wait, moved.get(), nullptr, ARROWDEVICE_NO_TIMEOUT);
}

}  // namespace

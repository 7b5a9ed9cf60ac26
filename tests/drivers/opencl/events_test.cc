// SPDX-License-Identifier: Apache-2.0
// Tests events of the application. They are pending until the application sets them to complete or failed.
#include "drivers/opencl/application.h"
#include "opencl/event.h"

using namespace opencl_test;  // NOLINT

namespace {

constexpr int64_t kPatience = 30'000'000'000;  // nanoseconds; only a hang takes this long
constexpr size_t kBytes = 10'000;
constexpr cl_int kFailure = -4711;

// A filled array on the device. The test controls its event.
struct Promised {
  explicit Promised(const ClContext& context)
      : sent(pattern(kBytes)), buffer(make_buffer(context.get(), kBytes)), event(make_user_event(context.get())) {
    const ClQueue queue = make_command_queue(context.get());
    REQUIRE(api().clEnqueueWriteBuffer(queue.get(), buffer.get(), CL_TRUE, 0, kBytes, sent.data(), 0, nullptr,
                                       nullptr) == CL_SUCCESS);
    array = array_over(buffer.get(), kBytes, event.place());
  }

  Bytes sent;
  ClBuffer buffer;
  ClEvent event;
  Array array;
};

// Returns the library's own context of a device.
ClContext own_context() {
  auto native = output_of(arrowdevice_device_get_native, opencl());
  return ClContext::share(static_cast<cl_context>(native.context));
}

// Sets the event without checks, because the test framework works on a single thread. The waiting thread
// sees the result.
void set_from_thread(const ClEvent& event, cl_int status = CL_COMPLETE) {
  api().clSetUserEventStatus(event.get(), status);
}

struct Elsewhere {
  const char* name;
  ClContext context;
};

std::vector<Elsewhere> contexts() {
  std::vector<Elsewhere> both;
  both.push_back({"in the library's context", own_context()});
  both.push_back({"in another context", make_context()});
  return both;
}

// A copy to device 0 on a queue, and its result.
class CopyBehind {
 public:
  explicit CopyBehind(arrowdevice_queue* queue) : queue_(queue), sent_(pattern(kBytes, 2)), received_(kBytes) {
    must(arrowdevice_buffer_allocate, opencl(), nullptr, nullptr, int64_t{kBytes}, &buffer_);
    const auto in = region_in(opencl(), buffer_, sent_);
    const auto out = region_out(received_, opencl(), buffer_);
    must(arrowdevice_queue_copy, queue_, &in, 1);
    must(arrowdevice_queue_copy, queue_, &out, 1);
  }
  ~CopyBehind() { arrowdevice_buffer_free(opencl(), nullptr, buffer_); }

  bool is_done() const { return received_ == sent_; }

 private:
  arrowdevice_queue* queue_;
  Bytes sent_;
  Bytes received_;
  void* buffer_ = nullptr;
};

}  // namespace

TEST_CASE("an event of the application is pending until it is set") {
  begin_opencl();
  for (const auto& [name, context] : contexts()) {
    INFO(name);
    Promised promised(context);
    CHECK(is_ready(*promised.array) == 0);
    CHECK(must_fail(ETIMEDOUT, arrowdevice_array_wait, promised.array.get(), nullptr, 1'000'000) != "");
    std::thread setter([&] { set_from_thread(promised.event); });
    must(arrowdevice_array_wait, promised.array.get(), nullptr, kPatience);
    setter.join();
    CHECK(is_ready(*promised.array) == 1);
    must(arrowdevice_array_wait, promised.array.get(), nullptr, ARROWDEVICE_NO_TIMEOUT);
  }
}

TEST_CASE("a wait without an end is woken by the application's event, fired or failed") {
  begin_opencl();
  for (const auto& [name, context] : contexts()) {
    INFO(name);
    for (const cl_int status : {CL_COMPLETE, kFailure}) {
      Promised promised(context);
      std::thread setter([&] { set_from_thread(promised.event, status); });
      arrowdevice_error error{};
      CHECK(arrowdevice_array_wait(promised.array.get(), nullptr, ARROWDEVICE_NO_TIMEOUT, &error) ==
            (status == CL_COMPLETE ? 0 : EIO));
      CHECK(error.native_code == status);
      setter.join();
    }
  }
}

TEST_CASE("a copy waits for the application's event on the device") {
  begin_opencl();
  for (const auto& [name, context] : contexts()) {
    INFO(name);
    Promised promised(context);
    std::thread setter([&] { set_from_thread(promised.event); });
    const Array back = copy(*promised.array, byte_schema(), cpu());
    setter.join();
    CHECK((bytes_of(back->array) == promised.sent));
  }
}

TEST_CASE("a queue that is made to wait for the application's event does nothing before") {
  begin_opencl();
  for (const auto& [name, context] : contexts()) {
    INFO(name);
    Promised promised(context);
    const Queue queue = make_queue(opencl());
    must(arrowdevice_queue_wait_array, queue.get(), promised.array.get(), nullptr);
    const CopyBehind behind(queue.get());
    CHECK(must_fail(ETIMEDOUT, arrowdevice_queue_finish, queue.get(), 2'000'000) != "");
    CHECK_FALSE(behind.is_done());
    set(promised.event);
    must(arrowdevice_queue_finish, queue.get(), kPatience);
    CHECK(behind.is_done());
  }
}

TEST_CASE("every query of a failed event fails with EIO and its code, without a wait") {
  begin_opencl();
  for (const auto& [name, context] : contexts()) {
    INFO(name);
    Promised promised(context);
    set(promised.event, kFailure);
    const Queue queue = make_queue(opencl());
    int ready = 0;
    arrowdevice_error error{};
    CHECK(arrowdevice_array_is_ready(promised.array.get(), nullptr, &ready, &error) == EIO);
    CHECK(error.native_code == kFailure);
    CHECK(error.backend == std::string("opencl"));
    CHECK(contains(error.message, "-4711"));
    must_fail(EIO, arrowdevice_array_wait, promised.array.get(), nullptr, ARROWDEVICE_NO_TIMEOUT);
    must_fail(EIO, arrowdevice_queue_wait_array, queue.get(), promised.array.get(), nullptr);
    Array out;
    must_fail(EIO, arrowdevice_array_copy, promised.array.get(), &byte_schema(), cpu(), nullptr, out.out());
    must_fail(EIO, arrowdevice_array_copy, promised.array.get(), &byte_schema(), opencl(), nullptr, out.out());
    CHECK(out.released());
    // The queue did not wait for the event, so its work continues.
    const CopyBehind behind(queue.get());
    must(arrowdevice_queue_finish, queue.get(), kPatience);
    CHECK(behind.is_done());
  }
}

TEST_CASE("an event of a failed queue is pending until the rest of its work has ended") {
  begin_opencl();
  const ClContext context = make_context();
  const ClEvent rest = make_user_event(context.get());
  std::vector<ClEvent> work;
  work.push_back(ClEvent::share(rest.get()));
  const arrowdevice::opencl::Event event(arrowdevice::Error(EIO, "the queue has failed"), std::move(work));
  CHECK_FALSE(event.is_ready());
  CHECK_THROWS_WITH(event.wait(1'000'000), "the event has not fired in time");
  set(rest);
  CHECK_THROWS_WITH(event.is_ready(), "the queue has failed");
  CHECK_THROWS_WITH(event.wait(ARROWDEVICE_NO_TIMEOUT), "the queue has failed");
}

TEST_CASE("an event with failed work is pending until the rest of its work has ended") {
  begin_opencl();
  const ClContext context = make_context();
  const ClEvent failed = make_user_event(context.get());
  const ClEvent rest = make_user_event(context.get());
  std::vector<ClEvent> work;
  work.push_back(ClEvent::share(failed.get()));
  work.push_back(ClEvent::share(rest.get()));
  const arrowdevice::opencl::Event event(make_user_event(context.get()), std::move(work));
  set(failed, kFailure);
  CHECK_FALSE(event.is_ready());
  CHECK_FALSE(event.has_failed());
  CHECK_THROWS_WITH(event.wait(1'000'000), "the event has not fired in time");
  set(rest);
  // The event itself stays pending, as on a driver that does not continue after a failure.
  CHECK(event.has_failed());
  const std::string message = "the event's work failed with execution status unknown code (-4711)";
  CHECK_THROWS_WITH(event.is_ready(), message);
  CHECK_THROWS_WITH(event.wait(ARROWDEVICE_NO_TIMEOUT), message);
}

TEST_CASE("an event that fails while a queue waits for it fails what is behind it") {
  begin_opencl();
  for (const auto& [name, context] : contexts()) {
    INFO(name);
    Promised promised(context);
    Queue queue = make_queue(opencl());
    must(arrowdevice_queue_wait_array, queue.get(), promised.array.get(), nullptr);
    const CopyBehind behind(queue.get());
    set(promised.event, kFailure);
    arrowdevice_error error{};
    CHECK(arrowdevice_queue_finish(queue.get(), kPatience, &error) == EIO);
    CHECK(error.native_code < 0);
    CHECK_FALSE(behind.is_done());
    // The queue stays failed. OpenCL itself would continue with the next command as if no event had failed.
    CHECK(arrowdevice_queue_finish(queue.get(), ARROWDEVICE_NO_TIMEOUT, nullptr) == EIO);
    // Other queues are not affected.
    const Queue other = make_queue(opencl());
    const CopyBehind next(other.get());
    must(arrowdevice_queue_finish, other.get(), kPatience);
    CHECK(next.is_done());
  }
}

TEST_CASE("an asynchronous copy behind an event that fails carries an event that fails") {
  begin_opencl();
  Promised promised(own_context());
  const Array there = copy(*promised.array, byte_schema(), opencl(), ARROWDEVICE_COPY_ASYNC);
  REQUIRE(there->sync_event != nullptr);
  CHECK(is_ready(*there) == 0);
  set(promised.event, kFailure);
  must_fail(EIO, arrowdevice_array_wait, there.get(), nullptr, ARROWDEVICE_NO_TIMEOUT);
  // Other programs than the library see the failure too.
  CHECK(arrowdevice::opencl::status_of(*static_cast<cl_event*>(there->sync_event)) < 0);
}

TEST_CASE("an event that is set in the same moment that it is waited for is not lost") {
  begin_opencl();
  constexpr int kScaled = 300;
  for (const auto& [name, context] : contexts()) {
    INFO(name);
    for (int i = 0; i < kScaled; ++i) {
      const ClEvent event = make_user_event(context.get());
      const ClBuffer buffer = make_buffer(context.get(), 64);
      cl_event handle = event.get();
      const Array array = array_over(buffer.get(), 64, &handle);
      const Queue queue = make_queue(opencl());
      std::thread setter([&] { api().clSetUserEventStatus(handle, CL_COMPLETE); });
      must(arrowdevice_queue_wait_array, queue.get(), array.get(), nullptr);
      must(arrowdevice_queue_finish, queue.get(), kPatience);
      setter.join();
    }
  }
}

TEST_CASE("what is not a cl_event is refused") {
  begin_opencl();
  const ClBuffer buffer = make_buffer(own_context().get(), 64);
  cl_event none = nullptr;
  const Array array = array_over(buffer.get(), 64, &none);
  int ready = 0;
  must_fail(EINVAL, arrowdevice_array_is_ready, array.get(), nullptr, &ready);
}

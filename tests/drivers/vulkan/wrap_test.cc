// SPDX-License-Identifier: Apache-2.0
// Tests arrays of an application with its own VkDevice. A VkBuffer does not name its device, so the
// application wraps the device first.
#include <cerrno>
#include <numeric>
#include <thread>

#include "drivers/vulkan/application.h"
#include "support/cases.h"

namespace {

using namespace arrowdevice::testing;  // NOLINT: what every line of this test is written with
using vulkan_test::Application;
using vulkan_test::driver;

constexpr int64_t kId = 7;
constexpr int64_t kRows = 1000;

std::vector<int32_t> values() {
  std::vector<int32_t> all(kRows);
  std::iota(all.begin(), all.end(), 1);
  return all;
}

Owned<ArrowSchema> int32_schema() { return make_schema(field("i")); }

// An array of the application: int32 in a buffer of the application.
class Produced {
 public:
  Produced(Application& application, int64_t id) : buffer_(application.buffer(kRows * 4)) {
    buffers_[1] = buffer_.buffer;
    array_->array.length = kRows;
    array_->array.n_buffers = 2;
    array_->array.buffers = buffers_;
    array_->array.release = [](ArrowArray* array) { array->release = nullptr; };
    array_->device_type = ARROW_DEVICE_VULKAN;
    array_->device_id = id;
  }

  void write() { std::memcpy(buffer_.mapped, values().data(), kRows * 4); }
  ArrowDeviceArray* get() { return array_.get(); }

 private:
  Application::Buffer buffer_;
  const void* buffers_[2] = {};
  Owned<ArrowDeviceArray> array_;
};

class Wrapped {
 public:
  explicit Wrapped(Application& application, int64_t id = kId) {
    const auto native = application.native();
    must(arrowdevice_device_wrap, ARROW_DEVICE_VULKAN, id, &native, &device_);
  }
  ~Wrapped() {
    arrowdevice_error error{};
    CHECK(arrowdevice_wait_idle(ARROWDEVICE_NO_TIMEOUT, nullptr) == 0);
    CHECK(arrowdevice_device_unwrap(device_, ARROWDEVICE_NO_TIMEOUT, &error) == 0);
    INFO(error.message);
  }
  Wrapped(const Wrapped&) = delete;
  Wrapped& operator=(const Wrapped&) = delete;

  arrowdevice_device* get() const { return device_; }

 private:
  arrowdevice_device* device_ = nullptr;
};

arrowdevice_device* cpu() { return output_of(arrowdevice_device_find_by_id, ARROW_DEVICE_CPU, -1); }

struct Refusal {
  int code;
  std::string message;
};

Refusal to_host(ArrowDeviceArray* array, arrowdevice_device* source = nullptr) {
  auto options = sized<arrowdevice_copy_options>();
  options.source_device = source;
  arrowdevice_error error{};
  Owned<ArrowDeviceArray> out;
  const int code = arrowdevice_array_copy(array, int32_schema().get(), cpu(), &options, out.out(), &error);
  if (code == 0) CHECK(std::memcmp(out->array.buffers[1], values().data(), kRows * 4) == 0);
  return {code, error.message};
}

bool contains(const std::string& text, const std::string& part) {
  UNSCOPED_INFO(text);
  return text.find(part) != std::string::npos;
}

Owned<ArrowDeviceArray> host_array() {
  static const std::vector<int32_t> kept = values();
  static const void* buffers[2] = {nullptr, kept.data()};
  Owned<ArrowDeviceArray> array;
  array->array.length = kRows;
  array->array.n_buffers = 2;
  array->array.buffers = buffers;
  array->array.release = [](ArrowArray* one) { one->release = nullptr; };
  array->device_type = ARROW_DEVICE_CPU;
  array->device_id = -1;
  return array;
}

TEST_CASE("a VkBuffer of an application is accepted only while its VkDevice is wrapped") {
  Application application;
  for (const int64_t id : {kId, int64_t{0}}) {  // an id without a device, and the id of the library's own device
    Produced array(application, id);
    array.write();
    const auto before = to_host(array.get());
    CHECK(before.code == ENODEV);
    CHECK(contains(before.message, "arrowdevice_device_wrap(ARROW_DEVICE_VULKAN, " + std::to_string(id) + ", ...)"));
    {
      const Wrapped wrapped(application, id);
      CHECK(to_host(array.get()).code == 0);
    }
    CHECK(to_host(array.get()).code == ENODEV);
  }
}

TEST_CASE("options select one of several devices that are wrapped with one id") {
  Application first;
  Application second;
  const Wrapped one(first);
  const Wrapped two(second);
  CHECK(one.get() != two.get());
  Produced array(second, kId);
  array.write();
  const auto refused = to_host(array.get());
  CHECK(refused.code == ENODEV);
  CHECK(contains(refused.message, "several wrapped devices"));
  CHECK(to_host(array.get(), two.get()).code == 0);
}

TEST_CASE("wrapping counts equal handles and refuses different ones of the same VkDevice") {
  Application application;
  const Wrapped first(application);
  {
    const Wrapped again(application);
    CHECK(again.get() == first.get());
  }
  const auto info = output_of(arrowdevice_device_get_info, first.get());
  CHECK((info.flags & ARROWDEVICE_DEVICE_WRAPPED) != 0);
  Produced array(application, kId);
  array.write();
  CHECK(to_host(array.get()).code == 0);

  arrowdevice_error error{};
  arrowdevice_device* out = nullptr;
  auto native = application.native();
  CHECK(arrowdevice_device_wrap(ARROW_DEVICE_VULKAN, kId + 1, &native, &out, &error) == EINVAL);
  native.queue = nullptr;
  CHECK(arrowdevice_device_wrap(ARROW_DEVICE_VULKAN, kId, &native, &out, &error) == EINVAL);
  native = application.native();
  native.unlock = nullptr;
  Application other;
  native.device = other.native().device;
  CHECK(arrowdevice_device_wrap(ARROW_DEVICE_VULKAN, kId, &native, &out, &error) == EINVAL);
  CHECK(contains(error.message, "lock and unlock"));

  auto queue = sized<arrowdevice_native_queue>();
  queue.queue = &queue;  // of another family, so that the library does not query the queue
  queue.family = 5;
  arrowdevice_queue* wrapped = nullptr;
  CHECK(arrowdevice_queue_wrap(first.get(), &queue, &wrapped, &error) == EINVAL);
  CHECK(contains(error.message, "family 5"));
}

TEST_CASE("a pending VkEvent of an application is waited for") {
  Application application;
  const Wrapped wrapped(application);
  for (int i = 0; i < 3; ++i) {
    Produced array(application, kId);
    VkEvent* const event = application.event();
    array.get()->sync_event = event;
    int ready = -1;
    REQUIRE(arrowdevice_array_is_ready(array.get(), nullptr, &ready, nullptr) == 0);
    CHECK(ready == 0);
    CHECK(arrowdevice_array_wait(array.get(), nullptr, 2'000'000, nullptr) == ETIMEDOUT);
    Refusal copied{-1, ""};
    std::atomic<bool> done{false};
    const int64_t polls = driver().calls("vkGetEventStatus");
    std::thread consumer([&] {
      copied = to_host(array.get());
      done = true;
    });
    // The consumer has queried the event several times, so it is waiting now.
    while (driver().calls("vkGetEventStatus") < polls + 5 && !done) std::this_thread::yield();
    CHECK(!done);
    array.write();
    application.set(*event);
    consumer.join();
    INFO(copied.message);
    CHECK(copied.code == 0);
    REQUIRE(arrowdevice_array_is_ready(array.get(), nullptr, &ready, nullptr) == 0);
    CHECK(ready == 1);
  }
}

TEST_CASE("an application polls a copy's VkEvent, then reads the copy on its own queue") {
  Application application;
  const Wrapped wrapped(application);
  auto options = sized<arrowdevice_copy_options>();
  options.flags = ARROWDEVICE_COPY_ASYNC;
  for (int i = 0; i < 8; ++i) {
    const auto host = host_array();
    Owned<ArrowDeviceArray> there;
    REQUIRE(arrowdevice_array_copy(host.get(), int32_schema().get(), wrapped.get(), &options, there.out(), nullptr) ==
            0);
    CHECK(there->device_id == kId);
    REQUIRE(there->sync_event != nullptr);
    while (!application.is_set(*static_cast<VkEvent*>(there->sync_event))) std::this_thread::yield();
    auto received = application.buffer(kRows * 4);
    application.read(static_cast<VkBuffer>(const_cast<void*>(there->array.buffers[1])), received, kRows * 4);
    CHECK(std::memcmp(received.mapped, values().data(), kRows * 4) == 0);
    if (i % 2 == 0) continue;
    // The array is released before the event may be set. The event outlives its submission.
    Owned<ArrowDeviceArray> pending;
    REQUIRE(arrowdevice_array_copy(host.get(), int32_schema().get(), wrapped.get(), &options, pending.out(), nullptr) ==
            0);
  }
}

TEST_CASE("a queue waits on the device for a VkEvent that comes back") {
  Application application;
  const Wrapped wrapped(application);
  auto options = sized<arrowdevice_copy_options>();
  options.flags = ARROWDEVICE_COPY_ASYNC;
  const auto host = host_array();
  auto there = output_of(arrowdevice_array_copy, host.get(), int32_schema().get(), wrapped.get(), &options);
  const int64_t polls = driver().calls("vkGetEventStatus");
  CHECK(to_host(there.get()).code == 0);
  CHECK(driver().calls("vkGetEventStatus") == polls);
}

TEST_CASE("the application's lock is held around every submission to its queue") {
  Application application;
  const Wrapped wrapped(application);
  const int64_t locks = application.locks();
  const int64_t submissions = driver().calls("vkQueueSubmit");
  auto options = sized<arrowdevice_copy_options>();
  options.flags = ARROWDEVICE_COPY_ASYNC;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < 10; ++n) {
        const auto host = host_array();
        Owned<ArrowDeviceArray> there;
        if (arrowdevice_array_copy(host.get(), int32_schema().get(), wrapped.get(), &options, there.out(), nullptr) !=
            0) {
          std::terminate();
        }
        Owned<ArrowDeviceArray> back;
        if (arrowdevice_array_copy(there.get(), int32_schema().get(), cpu(), nullptr, back.out(), nullptr) != 0) {
          std::terminate();
        }
      }
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(driver().calls("vkQueueSubmit") - submissions >= 40);
  CHECK(application.locks() - locks == driver().calls("vkQueueSubmit") - submissions);
}

TEST_CASE("a device with arrays on it is not unwrapped") {
  Application application;
  const Wrapped wrapped(application);
  const auto host = host_array();
  auto there = output_of(arrowdevice_array_copy, host.get(), int32_schema().get(), wrapped.get(), nullptr);
  CHECK(arrowdevice_device_unwrap(wrapped.get(), ARROWDEVICE_NO_TIMEOUT, nullptr) == EBUSY);
  there.reset();
}

TEST_CASE("an application wraps the library's device and shares its queue under its lock") {
  auto* own = output_of(arrowdevice_device_find_by_id, ARROW_DEVICE_VULKAN, 0);
  auto native = output_of(arrowdevice_device_get_native, own);
  for (const void* handle :
       {native.platform, native.physical_device, native.device, native.queue, native.get_proc_addr}) {
    CHECK(handle != nullptr);
  }
  native.lock(native.lock_user, native.queue);
  native.unlock(native.lock_user, native.queue);
  auto* again = output_of(arrowdevice_device_wrap, ARROW_DEVICE_VULKAN, 0, &native);
  CHECK(again == own);
  CHECK(arrowdevice_device_unwrap(again, ARROWDEVICE_NO_TIMEOUT, nullptr) == 0);
  const auto host = host_array();
  Owned<ArrowDeviceArray> there;
  CHECK(arrowdevice_array_copy(host.get(), int32_schema().get(), own, nullptr, there.out(), nullptr) == 0);
}

}  // namespace

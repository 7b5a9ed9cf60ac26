// SPDX-License-Identifier: Apache-2.0
// Every Vulkan call fails in turn while arrays go to a device and back. No object may leak or be lost, the
// message must name the call, and the next operation must work.
#include <arrowdevice/arrowdevice.h>

#include <cerrno>
#include <functional>

#include "drivers/vulkan/application.h"
#include "support/cases.h"
#include "support/reader.h"

namespace {

using namespace arrowdevice::testing;  // NOLINT: what every line of this test is written with
using vulkan_test::Application;
using vulkan_test::driver;

constexpr int32_t kOutOfHostMemory = -1;
constexpr int32_t kOutOfDeviceMemory = -2;

// Opens the device. The library does not remember a failure to open, so the test can repeat this.
int open_own(arrowdevice_device** out, arrowdevice_error* error) {
  return arrowdevice_device_find_by_id(ARROW_DEVICE_VULKAN, 0, out, error);
}

// A wrapped device for a few trips. After the unwrap it has freed everything, so the test can count all
// live objects. This holds for objects that were in flight, idle or pooled.
class Wrapped {
 public:
  explicit Wrapped(Application& application) : application_(application) {}
  ~Wrapped() {
    if (device_ == nullptr) return;
    arrowdevice_error error{};
    const int code = arrowdevice_device_unwrap(device_, ARROWDEVICE_NO_TIMEOUT, &error);
    INFO(error.message);
    CHECK(code == 0);
  }
  Wrapped(const Wrapped&) = delete;
  Wrapped& operator=(const Wrapped&) = delete;

  int open(arrowdevice_device** out, arrowdevice_error* error) {
    if (device_ == nullptr) {
      const auto native = application_.native();
      const int code = arrowdevice_device_wrap(ARROW_DEVICE_VULKAN, kId, &native, &device_, error);
      if (code != 0) {
        CHECK(device_ == nullptr);
        return code;
      }
    }
    *out = device_;
    return 0;
  }

 private:
  static constexpr int64_t kId = 7;

  Application& application_;
  arrowdevice_device* device_ = nullptr;
};

using Open = std::function<int(arrowdevice_device**, arrowdevice_error*)>;

// A trip of a batch: it is copied asynchronously to the device, read, moved, and copied back. Returns the
// first failure.
class Trip {
 public:
  explicit Trip(Open open) : open_(std::move(open)), schema_(case_().schema()) {
    Owned<ArrowArray> array = case_().array(Ledger());
    REQUIRE(arrowdevice_array_from_host(array.get(), host_.out(), nullptr) == 0);
  }

  int run(arrowdevice_error* error) {
    auto options = sized<arrowdevice_copy_options>();
    options.flags = ARROWDEVICE_COPY_ASYNC;
    arrowdevice_device* device = nullptr;
    int code = open_(&device, error);
    if (code != 0) return code;
    Owned<ArrowDeviceArray> there;
    code = arrowdevice_array_copy(host_.get(), schema_.get(), device, &options, there.out(), error);
    if (code != 0) {
      CHECK(there.released());
      return code;
    }
    arrowdevice_view* view = nullptr;
    auto import = sized<arrowdevice_import_options>();
    import.flags = ARROWDEVICE_IMPORT_RESOLVE_SIZES;
    code = arrowdevice_array_import(there.get(), schema_.get(), &import, &view, error);
    if (code != 0) {
      CHECK(view == nullptr);
      CHECK(!there.released());
      return code;
    }
    arrowdevice_view_detach(view, there.out());
    code = arrowdevice_array_wait(there.get(), nullptr, ARROWDEVICE_NO_TIMEOUT, error);
    if (code != 0) return code;
    Owned<ArrowArray> back;
    code = arrowdevice_array_to_host(there.get(), schema_.get(), nullptr, back.out(), error);
    if (code != 0) {
      CHECK(back.released());
      CHECK(!there.released());
      return code;
    }
    CHECK(there.released());
    Owned<ArrowArray> twin = case_().array(Ledger());
    CHECK(difference(*schema_, *twin, 0, *schema_, *back, 0, back->length) == "");
    return 0;
  }

  bool input_is_kept() const { return !host_.released(); }

 private:
  static const HostCase& case_() { return find_case("record batch"); }

  const Open open_;
  Owned<ArrowSchema> schema_;
  Owned<ArrowDeviceArray> host_;
};

void must_succeed(const Open& open) {
  arrowdevice_error error{};
  const int code = Trip(open).run(&error);
  INFO(error.message);
  REQUIRE(code == 0);
}

// This test runs first, because a device is opened only once. The list of functions ends with the last call
// that can fail before the device is open.
TEST_CASE("opening a device fails with the call that failed, and works the next time") {
  for (const char* name : {"vkEnumerateInstanceVersion", "vkCreateInstance", "vkEnumeratePhysicalDevices",
                           "vkEnumerateDeviceExtensionProperties", "vkCreateDevice", "vkCreateBuffer"}) {
    arrowdevice_device* opened = nullptr;
    arrowdevice_error error{};
    driver().fail(name, 1, kOutOfHostMemory);
    const int code = open_own(&opened, &error);
    driver().fail(nullptr, 0, 0);
    INFO(name << ": " << error.message);
    CHECK(code == ENOMEM);
    CHECK(error.native_code == kOutOfHostMemory);
    CHECK(std::string(error.message).rfind(std::string(name) + ": VK_ERROR_OUT_OF_HOST_MEMORY (-1)", 0) == 0);
    CHECK(opened == nullptr);
  }
  CHECK(driver().live() == 0);
  must_succeed(open_own);
}

TEST_CASE("each failed call is reported, leaks nothing and does not harm the next one") {
  Application application;
  const int64_t live = driver().live();
  int failures = 0;
  for (const int32_t result : {kOutOfHostMemory, kOutOfDeviceMemory}) {
    for (const char* const* name = driver().fallible(); *name != nullptr; ++name) {
      for (int64_t nth = 1; nth > 0; ++nth) {
        {
          Wrapped wrapped(application);
          const Open open = [&](auto** out, auto* error) { return wrapped.open(out, error); };
          const int64_t before = driver().calls(*name);
          driver().fail(*name, nth, result);
          arrowdevice_error error{};
          Trip trip(open);
          const int code = trip.run(&error);
          const bool reached = driver().calls(*name) - before >= nth;
          driver().fail(nullptr, 0, 0);
          INFO(*name << ", call " << nth << ": " << error.message);
          CHECK(trip.input_is_kept());
          if (code != 0) {
            ++failures;
            CHECK(reached);
            CHECK(code == ENOMEM);
            CHECK(error.native_code == result);
            CHECK(std::string(error.message).find(std::string(*name) + ": VK_ERROR_OUT_OF_") == 0);
          }
          if (reached) {
            must_succeed(open);
          } else {
            nth = -1;  // the last call
          }
        }
        INFO(*name << ", call " << nth);
        REQUIRE(driver().live() == live);
      }
    }
  }
  INFO(failures << " calls failed");
  CHECK(failures >= 20);
}

// This test runs last, because a lost device stays lost.
TEST_CASE("a lost device is EIO, and everything after it fails cleanly") {
  must_succeed(open_own);
  arrowdevice_device* device = nullptr;
  REQUIRE(open_own(&device, nullptr) == 0);
  REQUIRE(arrowdevice_wait_idle(ARROWDEVICE_NO_TIMEOUT, nullptr) == 0);
  driver().lose("vkQueueSubmit", 1);
  arrowdevice_error error{};
  {
    Trip trip(open_own);
    CHECK(trip.run(&error) == EIO);
    CHECK(std::string(error.message).find("vkQueueSubmit: VK_ERROR_DEVICE_LOST (-4)") == 0);
    CHECK(error.native_code == -4);
    CHECK(trip.input_is_kept());
    for (int i = 0; i < 3; ++i) {
      CHECK(trip.run(&error) == EIO);
      CHECK(std::string(error.message).find("VK_ERROR_DEVICE_LOST") != std::string::npos);
      CHECK(trip.input_is_kept());
    }
  }
  void* buffer = nullptr;
  CHECK(arrowdevice_buffer_allocate(device, nullptr, nullptr, 1 << 20, &buffer, &error) == EIO);
  CHECK(buffer == nullptr);
  arrowdevice_queue* queue = nullptr;
  CHECK(arrowdevice_queue_create(device, &queue, &error) == EIO);
  CHECK(queue == nullptr);
  CHECK(arrowdevice_wait_idle(ARROWDEVICE_NO_TIMEOUT, nullptr) == 0);
}

}  // namespace

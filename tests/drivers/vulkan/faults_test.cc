// SPDX-License-Identifier: Apache-2.0
// Every Vulkan call fails in turn while arrays go to a device and back. No object may leak or be lost, the
// message must name the call, and the next operation must work.
#include <arrowdevice/arrowdevice.h>

#include <cerrno>
#include <cstdio>
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

// A wrapped device. After the unwrap it has freed everything, so the test can count all live objects.
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

// Copies a batch to the device and back. Returns the first failure.
int copy_there_and_back(const Open& open, arrowdevice_error* error) {
  const HostCase& batch = find_case("record batch");
  const auto schema = batch.schema();
  Owned<ArrowArray> array = batch.array(Ledger());
  const auto host = output_of(arrowdevice_array_from_host, array.get());
  arrowdevice_device* device = nullptr;
  if (const int code = open(&device, error); code != 0) return code;
  auto options = sized<arrowdevice_copy_options>();
  options.flags = ARROWDEVICE_COPY_ASYNC;
  Owned<ArrowDeviceArray> there;
  int code = arrowdevice_array_copy(host.get(), schema.get(), device, &options, there.out(), error);
  CHECK(!host.released());
  CHECK(there.released() == (code != 0));
  if (code != 0) return code;
  Owned<ArrowArray> back;
  code = arrowdevice_array_to_host(there.get(), schema.get(), nullptr, back.out(), error);
  if (code != 0) return code;
  const Owned<ArrowArray> twin = batch.array(Ledger());
  CHECK(difference(*schema, *twin, 0, *schema, *back, 0, back->length) == "");
  return 0;
}

void must_succeed(const Open& open) {
  arrowdevice_error error{};
  const int code = copy_there_and_back(open, &error);
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

TEST_CASE("each failed call of a wrap is reported, leaks nothing, and the next succeeds") {
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
          arrowdevice_device* device = nullptr;
          const int code = open(&device, &error);
          const bool reached = driver().calls(*name) - before >= nth;
          driver().fail(nullptr, 0, 0);
          INFO(*name << ", call " << nth << ": " << error.message);
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
  std::printf("%d calls failed\n", failures);
  CHECK(failures >= 6);
}

// This test runs last, because a lost device stays lost.
TEST_CASE("a lost device is EIO, and everything after it fails cleanly") {
  must_succeed(open_own);
  arrowdevice_device* device = nullptr;
  REQUIRE(open_own(&device, nullptr) == 0);
  REQUIRE(arrowdevice_wait_idle(ARROWDEVICE_NO_TIMEOUT, nullptr) == 0);
  driver().lose("vkQueueSubmit", 1);
  arrowdevice_error error{};
  CHECK(copy_there_and_back(open_own, &error) == EIO);
  CHECK(std::string(error.message).find("vkQueueSubmit: VK_ERROR_DEVICE_LOST (-4)") == 0);
  CHECK(error.native_code == -4);
  for (int i = 0; i < 3; ++i) {
    CHECK(copy_there_and_back(open_own, &error) == EIO);
    CHECK(std::string(error.message).find("VK_ERROR_DEVICE_LOST") != std::string::npos);
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

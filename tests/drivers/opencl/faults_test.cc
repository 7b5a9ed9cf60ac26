// SPDX-License-Identifier: Apache-2.0
// Each call of the driver fails in turn while a device is opened or wrapped, and while a queue waits for an event of
// another context. The layer in this folder stands before the real loader. tests/faults has the other operations.
//
// After a failure the following must hold:
//
// - The caller still has the unchanged input, and the output is released.
// - The message names the call.
// - No object is left in the driver.
// - The same operation succeeds.
#include <cstdio>
#include <map>
#include <set>

#include "drivers/opencl/application.h"
#include "drivers/opencl/faults.h"

using namespace opencl_test;  // NOLINT
namespace faults = opencl_faults;

namespace {

constexpr int kCode = CL_OUT_OF_RESOURCES;
const char* const kObjects[] = {"Context", "CommandQueue", "MemObject", "Event"};

// The library calls these to find the context of a buffer. If they fail, it trusts the device id of the
// array. If that names the wrong context, that context loses an idle queue and refuses a call.
const std::set<std::string> kHints = {"clGetMemObjectInfo", "clGetEventInfo", "clGetCommandQueueInfo",
                                      "clGetContextInfo"};
// Returns true if the library ignores a failure of the function. The driver keeps the object if its release
// fails. An event that could not be set is set a little later.
bool is_survived(const std::string& function) {
  return function.rfind("clRelease", 0) == 0 || function == "clSetUserEventStatus";
}

std::map<std::string, long> live_objects() {
  std::map<std::string, long> all;
  for (const char* object : kObjects) all[object] = faults::live(object);
  return all;
}

// Compares the live objects. It waits, because a thread releases an event between contexts a little later.
void expect_live(const std::map<std::string, long>& expected) {
  settle();
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(2);
  auto live = live_objects();
  while (live != expected && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::yield();
    live = live_objects();
  }
  for (const char* object : kObjects) {
    INFO(object);
    CHECK(live.at(object) == expected.at(object));
  }
}

// Two wrapped contexts. After the unwrap the library has no cached objects of them, so every remaining
// object is a leak.
class Devices {
 public:
  Devices() {
    for (const int64_t id : {0, 1}) {
      contexts_[id] = make_context(id);
      auto native = sized<arrowdevice_native_device>();
      native.context = contexts_[id].get();
      must(arrowdevice_device_wrap, ARROW_DEVICE_OPENCL, id, &native, &devices_[id]);
    }
  }
  ~Devices() {
    faults::reset();
    for (auto* device : devices_) must(arrowdevice_device_unwrap, device, ARROWDEVICE_NO_TIMEOUT);
  }
  Devices(const Devices&) = delete;

  arrowdevice_device* operator[](int64_t id) const { return devices_[id]; }

 private:
  ClContext contexts_[2];
  arrowdevice_device* devices_[2] = {};
};

// Runs the operation, checks the outcome, and returns the code. Destroying it releases its objects.
using Run = std::function<int(arrowdevice_error*)>;

struct Operation {
  const char* name;
  std::function<Run(const Devices&)> prepare;
};

// Returns an operation in which a queue of device 0 waits for an array of another context. The array's
// event is pending or has fired.
Run importing(const Devices& on, bool pending) {
  struct Foreign {
    ClContext context = make_context();
    ClBuffer buffer = make_buffer(context.get(), 64);
    ClEvent event = make_user_event(context.get());
    Queue queue;
    Array array;
  };
  const auto foreign = std::make_shared<Foreign>();
  foreign->queue = make_queue(on[0]);
  foreign->array = array_over(foreign->buffer.get(), 64, foreign->event.place());
  if (!pending) set(foreign->event);
  return [=](arrowdevice_error* error) {
    auto options = sized<arrowdevice_import_options>();
    options.queue = foreign->queue.get();
    arrowdevice_view* view = nullptr;
    int code = arrowdevice_array_import(foreign->array.get(), &byte_schema(), &options, &view, error);
    CHECK(foreign->array.released() == (code == 0));
    // The application's own call may fail too, so it tries again.
    while (pending && api().clSetUserEventStatus(foreign->event.get(), CL_COMPLETE) != CL_SUCCESS) {
    }
    if (code == 0) code = arrowdevice_queue_finish(foreign->queue.get(), ARROWDEVICE_NO_TIMEOUT, error);
    arrowdevice_view_release(view);
    foreign->queue.reset();
    return code;
  };
}

Run wrapping(const Devices&) {
  struct Mine {
    ClContext context = make_context();
    ClQueue queue = make_command_queue(context.get());
  };
  const auto mine = std::make_shared<Mine>();
  return [=](arrowdevice_error* error) {
    auto native = sized<arrowdevice_native_device>();
    native.context = mine->context.get();
    arrowdevice_device* device = nullptr;
    int code = arrowdevice_device_wrap(ARROW_DEVICE_OPENCL, 0, &native, &device, error);
    if (code != 0) return code;
    auto native_queue = sized<arrowdevice_native_queue>();
    native_queue.queue = mine->queue.get();
    arrowdevice_queue* queue = nullptr;
    code = arrowdevice_queue_wrap(device, &native_queue, &queue, error);
    if (code == 0) code = arrowdevice_queue_finish(queue, ARROWDEVICE_NO_TIMEOUT, error);
    if (code == 0) code = arrowdevice_device_get_native(device, &native, error);
    arrowdevice_queue_destroy(queue);
    must(arrowdevice_device_unwrap, device, ARROWDEVICE_NO_TIMEOUT);
    return code;
  };
}

const Operation kOperations[] = {
    {"import behind an event that has fired", [](auto& on) { return importing(on, false); }},
    {"import behind a pending event", [](auto& on) { return importing(on, true); }},
    {"wrap, wrap, unwrap", wrapping},
};

}  // namespace

// This test runs first, because a device is opened only once.
TEST_CASE("opening a device fails if any driver call fails, and succeeds otherwise") {
  register_opencl();
  std::set<std::string> failed;
  arrowdevice_device* device = nullptr;
  faults::reset();
  faults::plan("clGetDeviceIDs", 1, CL_DEVICE_NOT_FOUND);
  arrowdevice_error none{};
  CHECK(arrowdevice_device_find_by_id(ARROW_DEVICE_OPENCL, 0, &device, &none) == ENODEV);
  CHECK(contains(none.message, "the OpenCL drivers here have no device"));
  for (long nth = 1; device == nullptr; ++nth) {
    REQUIRE(nth < 2'000);
    faults::reset();
    faults::plan_any(nth, kCode);
    arrowdevice_error error{};
    const int code = arrowdevice_device_find_by_id(ARROW_DEVICE_OPENCL, 0, &device, &error);
    const std::string function = faults::failed();
    if (function.empty()) {
      CHECK(code == 0);
      break;
    }
    INFO(function << ", call " << nth);
    CHECK(code != 0);
    CHECK(device == nullptr);
    CHECK(error.native_code == kCode);
    CHECK(contains(error.message, function + ": CL_OUT_OF_RESOURCES (-5)"));
    for (const char* object : kObjects) {
      INFO(object);
      CHECK(faults::live(object) == 0);
    }
    failed.insert(function);
  }
  faults::reset();
  for (const char* function : {"clGetPlatformIDs", "clGetDeviceIDs", "clGetDeviceInfo", "clCreateContext"}) {
    INFO(function);
    CHECK(failed.count(function) == 1);
  }
}

// A call that fails says nothing about the work of the event. A failed event does.
TEST_CASE("a query that fails is EIO only if the work of the event has failed") {
  begin_opencl();
  faults::reset();
  const auto& table = arrowdevice::opencl::table();
  arrowdevice_error error{};
  void* device = nullptr;
  REQUIRE(table.device_open(ARROW_DEVICE_OPENCL, 0, &device, &error) == 0);
  const auto at_rest = live_objects();
  {
    const ClContext context = make_context(0);
    const ClEvent event = make_user_event(context.get());
    cl_event handle = event.get();
    void* imported = nullptr;
    int ready = 0;
    REQUIRE(table.event_import(device, &handle, &imported, &error) == 0);
    faults::plan("clGetEventInfo", 1, kCode);
    CHECK(table.event_query(imported, &ready, &error) == EBUSY);
    CHECK(contains(error.message, "not known"));
    faults::reset();
    set(event, -1);
    CHECK(table.event_query(imported, &ready, &error) == EIO);
    table.event_destroy(imported);
  }
  expect_live(at_rest);
}

TEST_CASE("each call of the driver fails in turn, for each operation") {
  begin_opencl();
  // Fills the caches of the library's own devices. The library falls back to them if it cannot find the
  // context of a buffer.
  for (const int64_t id : {0, 1}) {
    Sample sample(field("i"));
    CHECK(difference(sample, *copy(sample, opencl(id))) == "");
  }
  settle();
  const auto at_rest = live_objects();
  long trials = 0;
  std::set<std::string> failed;
  for (const auto& operation : kOperations) {
    for (const auto& function : faults::functions()) {
      for (long nth = 1;; ++nth) {
        INFO(operation.name << ", " << function << " fails, call " << nth);
        faults::reset();
        const long failures = faults::failures();
        bool can_tell = false;
        int code = 0;
        arrowdevice_error error{};
        {
          const Devices devices;
          const auto run = operation.prepare(devices);
          must(arrowdevice_wait_idle, ARROWDEVICE_NO_TIMEOUT);
          faults::reset();
          faults::plan(function, nth, kCode);
          code = run(&error);
          can_tell = faults::failures() > failures;
        }
        expect_live(at_rest);
        INFO(error.message);
        if (faults::failures() == failures) {
          CHECK(code == 0);
          break;
        }
        ++trials;
        failed.insert(function);
        if (!can_tell || is_survived(function)) {
          CHECK(code == 0);
          continue;
        }
        if (code == 0) {
          CHECK(kHints.count(function) == 1);
          continue;
        }
        const bool asks_event = function == "clGetEventInfo" || function == "clWaitForEvents";
        CHECK((code == EIO || code == ENOMEM || (code == EBUSY && asks_event)));
        // If the library's query of a foreign event fails, it reports that as a failure of the event. PoCL
        // returns -1 for work that waited for such an event, independent of the event's own status.
        const bool is_passed_on = function == "clGetEventInfo" && contains(error.message, "execution status");
        CHECK((error.native_code == kCode || (is_passed_on && error.native_code < 0)));
        CHECK(contains(error.message,
                       is_passed_on ? "failed with execution status CL_" : function + ": CL_OUT_OF_RESOURCES (-5)"));
        // Runs again without the failure.
        {
          const Devices devices;
          const auto run = operation.prepare(devices);
          arrowdevice_error again{};
          const int repeated = run(&again);
          INFO(again.message);
          CHECK(repeated == 0);
        }
        REQUIRE(nth < 1'000);
      }
    }
  }
  std::printf("%ld calls of the driver failed in turn\n", trials);
  CHECK(trials > 50);
  for (const char* function : {"clEnqueueBarrierWithWaitList", "clGetEventInfo", "clRetainEvent", "clCreateUserEvent",
                               "clSetEventCallback", "clRetainContext", "clRetainCommandQueue", "clGetDeviceInfo",
                               "clReleaseContext", "clReleaseCommandQueue", "clReleaseEvent", "clSetUserEventStatus"}) {
    INFO(function);
    CHECK(failed.count(function) == 1);
  }
}

// SPDX-License-Identifier: Apache-2.0
// Scenarios that find, query, wrap and unwrap devices.
#include <fstream>
#include <iterator>

#include "allocations/log.h"
#include "allocations/scene.h"

namespace allocations {
namespace {

constexpr int64_t kPlaces[] = {-1, kAddresses[0], kHandles[0]};

// Makes a call from a function that finds a device and returns NULL on failure.
template <typename Find>
Call finding(Find find) {
  return [find](arrowdevice_error* error) {
    auto* found = poisoned_pointer<arrowdevice_device>();
    const int code = find(&found, error);
    check_now((code == 0) == (found != nullptr), "another device than NULL on failure");
    return code;
  };
}

// The library reads the CPU's name only once.
void check_name_of_cpu() {
  arrowdevice_device_info info{};
  info.struct_size = sizeof info;
  must(arrowdevice_device_get_info, static_cast<const arrowdevice_device*>(cpu()), &info);
  std::ifstream file("/proc/cpuinfo");
  const std::string text(std::istreambuf_iterator<char>(file), {});
  if (text.find("model name") == text.npos) return;
  check(text.find(std::string(": ") + info.name) != text.npos, "the CPU has another name");
}

void add_finding(Scenarios& scenarios) {
  scenarios.push_back(calling("device_find_by_id", "the CPU", false, finding([](auto** out, auto* error) {
                                return arrowdevice_device_find_by_id(ARROW_DEVICE_CPU, -1, out, error);
                              }),
                              {}, check_name_of_cpu));
  scenarios.push_back(calling("device_find_by_id", "addresses", false, finding([](auto** out, auto* error) {
                                return arrowdevice_device_find_by_id(ARROW_DEVICE_EXT_DEV, 0, out, error);
                              })));
  scenarios.push_back(calling("device_find_by_id", "of a plugin", false, finding([](auto** out, auto* error) {
                                return arrowdevice_device_find_by_id(ARROW_DEVICE_EXT_DEV, 0, out, error);
                              }),
                              {.is_registered = false, .has_plugin = true}));
  scenarios.push_back(calling("device_find_by_name", "the CPU", false, finding([](auto** out, auto* error) {
                                return arrowdevice_device_find_by_name("cpu", out, error);
                              })));
  scenarios.push_back(calling("device_find_by_name", "handles", false, finding([](auto** out, auto* error) {
                                return arrowdevice_device_find_by_name("ext_dev:2", out, error);
                              })));
  const auto count = [](auto* error) {
    int64_t n = -1;
    const int code = arrowdevice_device_count(ARROW_DEVICE_EXT_DEV, &n, error);
    check_now((code == 0) == (n > 0), "another number of devices");
    return code;
  };
  scenarios.push_back(calling("device_count", "", false, count));
  scenarios.push_back(
      calling("device_count", "of a plugin", false, count, {.is_registered = false, .has_plugin = true}));
}

// Lists the devices. A backend without memory is left out, like a backend that fails for another reason.
Scenario listing(Machine machine, int64_t expected, const char* variant) {
  const auto list = [expected](arrowdevice_error* error) {
    std::array<arrowdevice_device*, 16> all{};
    int64_t n = -1;
    const int code = arrowdevice_device_list(all.data(), std::ssize(all), &n, error);
    if (code != 0) {
      check_now(n == 0, "devices that a call that failed has listed");
    } else {
      check_now(n == expected || has_left_devices_out(), "another number of devices is listed");
    }
    return code;
  };
  return calling("device_list", variant, true, list, machine);
}

// Returns a scenario that queries an open device.
Scenario asking_of(int64_t id, const char* function, bool allocates,
                   std::function<int(arrowdevice_device* asked, arrowdevice_error* error)> call) {
  auto scenario = calling(function, kind_of(id), allocates, {});
  scenario.make = [id, call] {
    Attempt attempt;
    attempt.run = [asked = device(id), call](auto* error) { return call(asked, error); };
    return attempt;
  };
  return scenario;
}

int describe(arrowdevice_device* asked, arrowdevice_error* error) {
  arrowdevice_device_info info{};
  info.struct_size = sizeof info;
  return arrowdevice_device_get_info(asked, &info, error);
}

int ask_memory(arrowdevice_device* asked, arrowdevice_error* error) {
  int64_t now_free = -1;
  const int code = arrowdevice_device_get_memory_info(asked, &now_free, nullptr, error);
  check_now((code == 0) == (now_free > 0), "another size of the memory");
  return code;
}

int ask_counters(arrowdevice_device* asked, arrowdevice_error* error) {
  struct arrowdevice_device_counters counters {};
  counters.struct_size = sizeof counters;
  return arrowdevice_device_get_counters(asked, &counters, error);
}

int ask_reach(arrowdevice_device* asked, arrowdevice_error* error) {
  uint32_t reach = 77;
  const int code = arrowdevice_device_get_peer_flags(asked, asked, &reach, error);
  check_now((code == 0) == (reach != 0), "another reach");
  return code;
}

int ask_native(arrowdevice_device* asked, arrowdevice_error* error) {
  arrowdevice_native_device native{};
  native.struct_size = sizeof native;
  const int code = arrowdevice_device_get_native(asked, &native, error);
  check_now((code == 0) == (native.context != nullptr), "a handle on failure");
  return code;
}

void add_asking(Scenarios& scenarios) {
  for (const int64_t id : kPlaces) {
    scenarios.push_back(asking_of(id, "device_get_info", false, describe));
    scenarios.push_back(asking_of(id, "device_get_memory_info", id < 0, ask_memory));
    scenarios.push_back(asking_of(id, "device_get_counters", false, ask_counters));
    scenarios.push_back(asking_of(id, "device_get_peer_flags", false, ask_reach));
  }
  scenarios.push_back(asking_of(kAddresses[0], "device_get_native", false, ask_native));
  scenarios.push_back(calling("device_type_get_name", "", false, [](auto*) {
    return std::string_view(arrowdevice_device_type_get_name(ARROW_DEVICE_OPENCL)) == "opencl" ? 0 : EIO;
  }));
}

// -- wrapped contexts

struct Context {
  int context = 0;
  arrowdevice_device* device = nullptr;

  int wrap(arrowdevice_error* error) {
    arrowdevice_native_device native{};
    native.struct_size = sizeof native;
    native.context = &context;
    device = poisoned_pointer<arrowdevice_device>();
    return arrowdevice_device_wrap(ARROW_DEVICE_EXT_DEV, kHandles[0], &native, &device, error);
  }

  void use() const {
    const Array host = Rows::flat().host();
    check_same(Rows::flat().difference(*copy(*host, *Rows::flat().schema(), device)));
  }
};

// An unwrapped device remains, so that calls with it fail with ENODEV.
void add_wrapping(Scenarios& scenarios) {
  scenarios.push_back({.function = "device_wrap",
                       .variant = "",
                       .make =
                           [] {
                             const auto context = std::make_shared<Context>();
                             Attempt attempt;
                             attempt.run = [context](auto* error) { return context->wrap(error); };
                             attempt.check_refused = [context] {
                               check(context->device == nullptr, "a call that failed has put a device out");
                             };
                             attempt.check_done = [context] {
                               context->use();
                               must(arrowdevice_device_unwrap, context->device, int64_t{ARROWDEVICE_NO_TIMEOUT});
                             };
                             return attempt;
                           },
                       .keeps_blocks = true});
  scenarios.push_back({.function = "device_unwrap",
                       .variant = "",
                       .make =
                           [] {
                             const auto context = std::make_shared<Context>();
                             arrowdevice_error unseen{};
                             check_code(context->wrap(&unseen), 0, unseen);
                             context->use();
                             Attempt attempt;
                             attempt.run = [context](auto* error) {
                               return arrowdevice_device_unwrap(context->device, ARROWDEVICE_NO_TIMEOUT, error);
                             };
                             attempt.check_refused = [context] { context->use(); };
                             return attempt;
                           },
                       .keeps_blocks = true});
}

}  // namespace

void add_devices(Scenarios& scenarios) {
  add_finding(scenarios);
  scenarios.push_back(listing({}, kDevices + 1, "registered"));
  scenarios.push_back(listing({.is_registered = false, .has_plugin = true}, 3, "of a plugin"));
  add_asking(scenarios);
  add_wrapping(scenarios);
}

}  // namespace allocations

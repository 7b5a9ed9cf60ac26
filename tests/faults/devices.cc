// SPDX-License-Identifier: Apache-2.0
// Operations that find, query, wrap and unwrap devices.
#include <fstream>
#include <iterator>

#include "faults/scene.h"

namespace faults {
namespace {

// Makes a call from a function that finds a device and returns NULL on failure.
template <typename Find>
auto finding(Find find) {
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

const Machine kPlugin{.is_registered = false, .has_plugin = true};

Operation finding_by_id(
    const char* what, ArrowDeviceType type, int64_t id, Machine machine = {}, std::function<void()> done = [] {}) {
  const bool has_plugin = machine.has_plugin;
  return calling(
      {.function = "device_find_by_id",
       .variant = what,
       .machine = machine,
       .injectors = has_plugin ? unsigned{kAllocations} : kAll,
       .allocates = false},
      finding([type, id](auto** out, auto* error) { return arrowdevice_device_find_by_id(type, id, out, error); }),
      std::move(done));
}

Operation finding_by_name(const char* what, const char* name) {
  return calling(
      {.function = "device_find_by_name", .variant = what, .allocates = false},
      finding([name](auto** out, auto* error) { return arrowdevice_device_find_by_name(name, out, error); }));
}

Operation counting(const char* what, Machine machine, unsigned injectors) {
  return calling(
      {.function = "device_count", .variant = what, .machine = machine, .injectors = injectors, .allocates = false},
      [](auto* error) {
        int64_t n = -1;
        const int code = arrowdevice_device_count(ARROW_DEVICE_EXT_DEV, &n, error);
        check_now((code == 0) == (n > 0), "another number of devices");
        return code;
      });
}

// Returns the operation in a process that has not used a device yet.
Operation at_first_use(Operation operation) {
  operation.variant += ", at first use";
  operation.injectors = kCalls;
  operation.at_first_use = true;
  return operation;
}

// Lists the devices. A backend without memory is left out, like a backend that fails for another reason.
Operation listing(Machine machine, int64_t expected, const char* variant) {
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
  return calling({.function = "device_list",
                  .variant = variant,
                  .machine = machine,
                  .injectors = machine.has_plugin ? unsigned{kAllocations} : kAll,
                  .may_survive = {"device_count", "device_open", "device_get_info"}},
                 list);
}

// -- questions to an open device

struct Asked {
  arrowdevice_device* device;
  arrowdevice_device* other;
};

using Ask = int (*)(const Asked& asked, arrowdevice_error* error);

Operation asking(int64_t id, const char* function, bool allocates, Ask ask) {
  return of<Asked>({.function = function, .variant = kind_of(id), .allocates = allocates},
                   {.make =
                        [id] {
                          return std::make_shared<Asked>(Asked{device(id), device(kAddresses[1])});
                        },
                    .run = [ask](Asked& asked, auto* error) { return ask(asked, error); }});
}

int describe(const Asked& asked, arrowdevice_error* error) {
  auto info = sized<arrowdevice_device_info>();
  return arrowdevice_device_get_info(asked.device, &info, error);
}

int ask_memory(const Asked& asked, arrowdevice_error* error) {
  int64_t now_free = -1;
  const int code = arrowdevice_device_get_memory_info(asked.device, &now_free, nullptr, error);
  check_now((code == 0) == (now_free > 0), "another size of the memory");
  return code;
}

int ask_counters(const Asked& asked, arrowdevice_error* error) {
  auto counters = sized<struct arrowdevice_device_counters>();
  return arrowdevice_device_get_counters(asked.device, &counters, error);
}

int ask_peer(const Asked& asked, arrowdevice_error* error) {
  uint32_t flags = 77;
  const int code = arrowdevice_device_get_peer_flags(asked.device, asked.device, &flags, error);
  check_now((code == 0) == (flags != 0), "other peer flags");
  return code;
}

int ask_native(const Asked& asked, arrowdevice_error* error) {
  auto native = sized<arrowdevice_native_device>();
  const int code = arrowdevice_device_get_native(asked.device, &native, error);
  check_now((code == 0) == (native.context != nullptr), "a handle on failure");
  return code;
}

int ask_other_peer(const Asked& asked, arrowdevice_error* error) {
  uint32_t flags = 77;
  const int code = arrowdevice_device_get_peer_flags(asked.device, asked.other, &flags, error);
  check_now(flags == (code == 0 ? uint32_t{ARROWDEVICE_PEER_COPY} : 0), "other peer flags");
  return code;
}

// -- wrapped contexts

// Counts the devices of the simulation, with wrapped contexts.
int64_t contexts() {
  const std::string text = control::statistics();
  int64_t n = 0;
  for (size_t at = text.find("\"id\":"); at != text.npos; at = text.find("\"id\":", at + 1)) ++n;
  return n;
}

struct Context {
  explicit Context(int64_t of) : id(of) {}
  ~Context() {
    if (device != nullptr) must(arrowdevice_device_unwrap, device, int64_t{ARROWDEVICE_NO_TIMEOUT});
    if (before > 0) check_equal(contexts(), before, "contexts that remain");
  }
  Context(const Context&) = delete;

  const int64_t id;
  const int64_t before = were_devices_opened() ? contexts() : 0;
  int context = 0;
  arrowdevice_device* device = nullptr;

  int wrap(arrowdevice_error* error) {
    auto native = sized<arrowdevice_native_device>();
    native.context = &context;
    device = poisoned_pointer<arrowdevice_device>();
    return arrowdevice_device_wrap(ARROW_DEVICE_EXT_DEV, id, &native, &device, error);
  }

  int unwrap(arrowdevice_error* error) {
    const int code = arrowdevice_device_unwrap(device, ARROWDEVICE_NO_TIMEOUT, error);
    if (code == 0) device = nullptr;
    return code;
  }

  void use() const {
    const Array host = Rows::flat().host();
    check_same(Rows::flat().difference(*copy(*host, *Rows::flat().schema(), device)));
  }
};

// An unwrapped device remains, so that calls with it fail with ENODEV.
void add_wrapping(Operations& operations, int64_t id) {
  const auto make = [id] { return std::make_shared<Context>(id); };
  operations.push_back(of<Context>(
      {.function = "device_wrap", .variant = kind_of(id), .keeps_blocks = true},
      {.make = make,
       .run = [](Context& context, auto* error) { return context.wrap(error); },
       .refused = [](Context& context) { check(context.device == nullptr, "a call that failed has put a device out"); },
       .done = [](Context& context) { context.use(); }}));
  operations.push_back(of<Context>({.function = "device_unwrap", .variant = kind_of(id), .keeps_blocks = true},
                                   {.make = make,
                                    .prepare =
                                        [](Context& context) {
                                          if (context.device != nullptr) return;
                                          arrowdevice_error error{};
                                          check_code(context.wrap(&error), 0, error);
                                          context.use();
                                        },
                                    .run = [](Context& context, auto* error) { return context.unwrap(error); },
                                    .refused = [](Context& context) { context.use(); }}));
}

}  // namespace

void add_devices(Operations& operations) {
  const auto cpu_by_id = finding_by_id("the CPU", ARROW_DEVICE_CPU, -1, {}, check_name_of_cpu);
  const auto by_id = finding_by_id("addresses", ARROW_DEVICE_EXT_DEV, 0);
  const auto by_name = finding_by_name("handles", "ext_dev:2");
  const auto all = listing({}, kDevices + 1, "registered");
  const auto count = counting("", {}, kAll);
  for (const auto& operation : {cpu_by_id, by_id, by_name, all, count, finding_by_name("the CPU", "cpu"),
                                finding_by_id("of a plugin", ARROW_DEVICE_EXT_DEV, 0, kPlugin),
                                counting("of a plugin", kPlugin, kAllocations), listing(kPlugin, 3, "of a plugin")}) {
    operations.push_back(operation);
  }
  for (const auto& operation : {by_id, by_name, all, count}) operations.push_back(at_first_use(operation));
  for (const int64_t id : kPlaces) {
    operations.push_back(asking(id, "device_get_info", false, describe));
    operations.push_back(asking(id, "device_get_memory_info", id < 0, ask_memory));
    operations.push_back(asking(id, "device_get_counters", false, ask_counters));
    operations.push_back(asking(id, "device_get_peer_flags", false, ask_peer));
    if (id < 0) continue;
    operations.push_back(asking(id, "device_get_native", false, ask_native));
    operations.push_back(asking(id, "device_get_peer_flags", false, ask_other_peer));
    add_wrapping(operations, id);
  }
  operations.push_back(calling({.function = "device_type_get_name", .allocates = false}, [](auto*) {
    return std::string_view(arrowdevice_device_type_get_name(ARROW_DEVICE_OPENCL)) == "opencl" ? 0 : EIO;
  }));
}

}  // namespace faults

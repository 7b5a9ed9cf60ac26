// SPDX-License-Identifier: Apache-2.0
#include "faults/device_failures.h"

#include <chrono>
#include <cstring>
#include <filesystem>
#include <thread>

#include "faults/driver.h"
#include "faults/scene.h"

namespace faults {
namespace {

constexpr auto kPatience = std::chrono::seconds(2);
constexpr int64_t kLatencyOfLosses = 50;  // microseconds, so that work is in flight when a device is lost

int64_t threads() {
  const std::filesystem::directory_iterator all("/proc/self/task");
  return std::distance(begin(all), end(all));
}

// A result, not an error of the caller: memory of a device that another device uses in place.
bool is_answer(const std::string& refusal) { return refusal.starts_with("device_locate: it belongs to"); }

void check_nothing_refused() {
  for (const auto& refusal : control::refusals()) {
    if (!is_answer(refusal)) fail("refused by the device: " + refusal);
  }
}

// Drops an idle queue of the library, because a copy that fails destroys its queue. If there is none, the
// copy makes one.
void drop_one_queue(int64_t id) {
  const Array host = Rows::flat().host();
  control::fail_next("queue_copy");
  Array out;
  const int code = arrowdevice_array_copy(host.get(), Rows::flat().schema(), sim(id), nullptr, out.get(), nullptr);
  check_equal(code, EIO, "the code of a copy that fails");
}

void begin_from_nothing_of_simulation() {
  for (int64_t id = 0; id < kDevices; ++id) {
    for (bool made_one = control::counters(id).queues_live == 0; !made_one;) {
      const int64_t before = control::calls("queue_create");
      drop_one_queue(id);
      made_one = control::calls("queue_create") != before;
    }
    must(arrowdevice_pool_trim, default_pool(sim(id)));
  }
}

// Does the same on a driver under test.
void begin_from_nothing_of_driver() {
  driver::drop_idle_queues();
  must(arrowdevice_wait_idle, int64_t{ARROWDEVICE_NO_TIMEOUT});
  std::array<arrowdevice_device*, 16> all{};
  int64_t n = 0;
  must(arrowdevice_device_list, all.data(), std::ssize(all), &n);
  for (auto* const one : std::span(all).first(static_cast<size_t>(n))) must(arrowdevice_pool_trim, default_pool(one));
}

// Returns true if more objects of any kind are alive than before.
bool has_more(const std::vector<int64_t>& now, const std::vector<int64_t>& before) {
  for (size_t i = 0; i < now.size(); ++i) {
    if (now[i] > before[i]) return true;
  }
  return false;
}

int64_t used_host_bytes() {
  return output_of(arrowdevice_pool_get_stats, static_cast<const arrowdevice_pool*>(default_pool(cpu()))).used_bytes;
}

}  // namespace

void begin_from_nothing() {
  return driver::is_used() ? begin_from_nothing_of_driver() : begin_from_nothing_of_simulation();
}

std::vector<int64_t> alive_now() { return driver::is_used() ? driver::alive() : alive_on_devices(); }

DeviceInjection::DeviceInjection(const Operation& operation, const Machine& machine, Left& left)
    : operation_(operation), machine_(machine), left_(left), threads_before_(threads()) {
  check_nothing_refused();
  reset_devices(machine_);
}

void DeviceInjection::prepare() {
  if (!operation_.at_first_use) begin_from_nothing();
}

int DeviceInjection::run(const Attempt& attempt, arrowdevice_error& error) {
  begin_failure();
  const int code = attempt.run(&error);
  was_injected_ = end_failure();
  return code;
}

void DeviceInjection::recover() {
  check_nothing_refused();
  reset_devices(machine_);
}

// Threads of streams end, and release their objects. A driver has threads of its own.
void DeviceInjection::wait_for_threads() {
  while (!driver::is_used() && has_steady_threads() && threads() > threads_before_) std::this_thread::yield();
}

void DeviceInjection::check_end() {
  begin_from_nothing();
  check_nothing_refused();
  // A thread of a driver or of the library may hold the last objects a moment longer.
  const auto patience = std::chrono::steady_clock::now() + kPatience;
  while (driver::is_used() && has_more(alive_now(), left_.on_devices) && std::chrono::steady_clock::now() < patience) {
    begin_from_nothing();
  }
  const Left now{alive_now(), used_host_bytes()};
  if (has_given_memory_up()) {
    check(loses_device(), "memory was given up on a device that works");
    left_ = now;
    return;
  }
  const bool is_same =
      driver::is_used() ? !has_more(now.on_devices, left_.on_devices) : now.on_devices == left_.on_devices;
  if (!is_same) {
    fail("left: " + text_of_alive(now.on_devices) + "; given up before: " + text_of_alive(left_.on_devices));
  }
  check_equal(now.host_bytes, left_.host_bytes, "bytes of the CPU's pool that remain");
}

namespace {

void check_says(const arrowdevice_error& error, const std::string& text) {
  if (std::strstr(error.message, text.c_str()) == nullptr) {
    fail("the message does not contain \"" + text + "\": " + error.message);
  }
}

template <typename Item>
bool has(const std::vector<Item>& all, const Item& item) {
  return std::ranges::find(all, item) != all.end();
}

// -- one call fails

class CallFailure : public DeviceInjection {
 public:
  CallFailure(const Operation& operation, Left& left, std::string function, int64_t n)
      : DeviceInjection(operation, operation.machine, left), function_(std::move(function)), n_(n) {}

 private:
  void begin_failure() override {
    before_ = control::failures_injected();
    // ENODEV would say that there is no driver, which is no error.
    control::fail_nth(function_, n_, function_ == "device_count" ? EIO : 0);
  }
  bool end_failure() override {
    control::fail_no_more();
    return control::failures_injected() != before_;
  }
  bool loses_device() const override { return function_ == "lost"; }
  bool may_spoil() const override { return function_ == "lost" || function_ == "event"; }

  // A pool only asks how much memory it may cache, and a wait tells of an event.
  void check_survived() override {
    const bool may =
        function_ == "event" || function_ == "device_get_memory_info" || has(operation().may_survive, function_);
    if (!may) fail("the call has succeeded without " + function_);
  }

  void check_failure(int code, const arrowdevice_error& error) override {
    const int planned = function_ == "buffer_allocate" ? ENOMEM : function_ == "device_open" ? ENODEV : EIO;
    if (!has(operation().codes, code)) check_code(code, planned, error);
    check_says(error, function_ == "event" ? "an event failed" : function_ == "lost" ? "was lost" : function_ + ": ");
    check(error.backend[0] == '\0' || std::strcmp(error.backend, "sim") == 0, "the error names another backend");
    if (!operation().drains || function_ == "lost") return;
    for (int64_t id = 0; id < kDevices; ++id) {
      check_equal(control::copies_in_flight(id), 0, "copies in flight after a call that failed");
    }
  }

  const std::string function_;
  const int64_t n_;
  int64_t before_ = 0;
};

// -- one call of a driver fails

class DriverFailure : public DeviceInjection {
 public:
  DriverFailure(const Operation& operation, Left& left, std::string call, int64_t n)
      : DeviceInjection(operation, operation.machine, left), call_(std::move(call)), n_(n) {}

  void prepare() override {
    if (before_ < 0) DeviceInjection::prepare();
  }

 private:
  void begin_failure() override {
    before_ = driver::failures();
    driver::fail_nth(call_, n_);
  }
  bool end_failure() override {
    const bool has_failed = driver::failures() != before_;
    driver::fail_no_more();
    return has_failed;
  }

  void check_survived() override {
    if (!driver::may_survive(operation(), call_)) fail("the call has succeeded without " + call_);
  }
  void check_failure(int code, const arrowdevice_error& error) override {
    if (has(operation().codes, code) || driver::is_told(call_, code, error)) return;
    fail("code " + std::to_string(code) + ", native code " + std::to_string(error.native_code) + ": " + error.message);
  }

  const std::string call_;
  const int64_t n_;
  int64_t before_ = -1;  // failures before the call, or -1
};

// -- a device is lost

Machine with_latency(Machine machine) {
  machine.latency_us = kLatencyOfLosses;
  return machine;
}

class Loss : public DeviceInjection {
 public:
  Loss(const Operation& operation, Left& left, int64_t id, int64_t n)
      : DeviceInjection(operation, with_latency(operation.machine), left), id_(id), n_(n) {}

  void recover() override {
    if (was_injected()) check_loss();
    DeviceInjection::recover();
  }

 private:
  void begin_failure() override { lose_at_call(id_, n_); }
  bool end_failure() override { return was_lost(); }
  bool loses_device() const override { return true; }
  bool may_spoil() const override { return true; }
  void check_failure(int code, const arrowdevice_error& error) override {
    if (!has(operation().codes, code)) check_code(code, EIO, error);
    check_says(error, "was lost");
  }

  // Checks that the other devices work while the device is lost, and that a copy to it fails.
  void check_loss() const {
    const Array host = Rows::flat().host();
    const Array there = copy(*host, *Rows::flat().schema(), sim(id_ ^ 1));
    check_same(Rows::flat().difference(*there));
    Array out;
    arrowdevice_error error{};
    const int code = arrowdevice_array_copy(host.get(), Rows::flat().schema(), sim(id_), nullptr, out.get(), &error);
    check_code(code, EIO, error);
    check_says(error, "was lost");
  }

  const int64_t id_;
  const int64_t n_;
};

}  // namespace

std::unique_ptr<DeviceInjection> make_call_failure(const Operation& operation, Left& left, std::string function,
                                                   int64_t n) {
  return std::make_unique<CallFailure>(operation, left, std::move(function), n);
}

std::unique_ptr<DeviceInjection> make_driver_failure(const Operation& operation, Left& left, std::string call,
                                                     int64_t n) {
  return std::make_unique<DriverFailure>(operation, left, std::move(call), n);
}

std::unique_ptr<DeviceInjection> make_loss(const Operation& operation, Left& left, int64_t id, int64_t n) {
  return std::make_unique<Loss>(operation, left, id, n);
}

}  // namespace faults

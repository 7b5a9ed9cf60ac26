// SPDX-License-Identifier: Apache-2.0
#include "sim/control.h"

#include <cerrno>
#include <cstring>
#include <deque>
#include <utility>

#include "base/error.h"
#include "sim/published.h"
#include "sim/simulation.h"
#include "sim/table.h"

namespace arrowdevice::sim::control {
namespace {

// All tables that table() has returned. The newest is last.
std::deque<arrowdevice_backend>& tables() {
  static auto& all = *new std::deque<arrowdevice_backend>(1, make_table({}));
  return all;
}

Function function_or_throw(std::string_view name) {
  const auto function = function_named(name);
  if (!function) throw Error(EINVAL, "the backend table has no function " + std::string(name));
  return *function;
}

std::shared_ptr<Device> device(int64_t id) { return simulation().devices.open(id).second; }

Range range(int64_t id, const void* buffer, int64_t offset, int64_t size) {
  return simulation().devices.range(*device(id), buffer, offset, size);
}

}  // namespace

const arrowdevice_backend* table() { return &tables().back(); }

void reset(Configuration configuration) {
  tables().push_back(make_table(configuration.without));
  simulation().configure(std::move(configuration));
}

void hold(int64_t id) { device(id)->engine().hold(); }

void resume(int64_t id) { device(id)->engine().resume(); }

void lose(int64_t id) { device(id)->engine().lose(); }

void fail_nth(std::string_view function, int64_t n, int code) {
  const Function failing = function_or_throw(function);
  if (!can_fail(failing)) throw Error(EINVAL, std::string(function) + " has no way to fail");
  simulation().failures.add({.function = failing, .call = n, .onwards = false, .code = code});
}

void fail_next(std::string_view function, int code) { fail_nth(function, 1, code); }

void fail_no_more() { simulation().failures.forget_planned(); }

int64_t copies_in_flight(int64_t id) { return device(id)->engine().copies_in_flight(); }

Counters counters(int64_t id) { return device(id)->statistics().snapshot(); }

int64_t calls(std::string_view function) { return simulation().failures.calls(function_or_throw(function)); }

int64_t failures_injected() { return simulation().failures.injected(); }

int64_t refused() { return simulation().refusals.count(); }

std::vector<std::string> refusals() { return simulation().refusals.messages(); }

std::string statistics() { return simulation().statistics(); }

void peek(int64_t id, const void* buffer, int64_t offset, void* out, int64_t size) {
  std::memcpy(out, range(id, buffer, offset, size).bytes, static_cast<size_t>(size));
}

void poke(int64_t id, void* buffer, int64_t offset, const void* bytes, int64_t size) {
  std::memcpy(range(id, buffer, offset, size).bytes, bytes, static_cast<size_t>(size));
}

UserEvent::UserEvent() : fence_(std::make_shared<Fence>()) {
  Simulation& sim = simulation();
  handle_ = sim.events.add(std::make_shared<Event>(nullptr, fence_));
  sync_event_ = publish_event(sim, handle_);
}

UserEvent::~UserEvent() { simulation().events.take(handle_); }

}  // namespace arrowdevice::sim::control

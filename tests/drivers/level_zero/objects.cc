// SPDX-License-Identifier: Apache-2.0
#include "level_zero/objects.h"

#include "level_zero/handles.h"
#include "machine/violation.h"

namespace standin::level_zero {
namespace {

template <typename Handle>
Handle new_handle() {
  return static_cast<Handle>(new_object_handle());
}

template <typename Map, typename Handle>
auto find(Map& map, Handle handle, const char* noun) {
  const auto found = map.find(handle);
  if (found == map.end()) violation("%p is not a live %s", static_cast<void*>(handle), noun);
  return found;
}

}  // namespace

// -- contexts

ze_context_handle_t Objects::create_context() {
  const std::lock_guard lock(mutex_);
  auto* const handle = new_handle<ze_context_handle_t>();
  contexts_.emplace(handle, std::make_unique<Context>(Context{handle}));
  return handle;
}

Context& Objects::context(ze_context_handle_t handle) { return *find(contexts_, handle, "context")->second; }

void Objects::check_context(ze_context_handle_t handle) {
  const std::lock_guard lock(mutex_);
  context(handle);
}

void Objects::destroy_context(ze_context_handle_t handle) {
  const std::lock_guard lock(mutex_);
  const Context& gone = context(handle);
  const auto has = [&](const auto& objects) {
    return std::ranges::any_of(objects, [&](const auto& entry) { return entry.second->context == &gone; });
  };
  if (has(lists_) || has(pools_)) violation("a context is destroyed that still has command lists or event pools");
  if (std::ranges::any_of(memory_, [&](const auto& entry) { return entry.second == &gone; })) {
    violation("a context is destroyed that still has memory");
  }
  contexts_.erase(handle);
}

// -- command lists

ze_command_list_handle_t Objects::create_list(ze_context_handle_t of, int device, bool is_in_order, Engine engine) {
  const std::lock_guard lock(mutex_);
  auto made = std::make_shared<List>();
  made->context = &context(of);
  made->device = device;
  made->is_in_order = is_in_order;
  made->engine = engine;
  made->stream = machine_.create_stream(device);
  made->side = is_in_order ? nullptr : machine_.create_stream(device);
  auto* const handle = new_handle<ze_command_list_handle_t>();
  lists_.emplace(handle, std::move(made));
  return handle;
}

std::shared_ptr<List> Objects::list(ze_command_list_handle_t handle) {
  return find(lists_, handle, "command list")->second;
}

void Objects::destroy_list(ze_command_list_handle_t handle) {
  const std::lock_guard lock(mutex_);
  const auto gone = list(handle);
  for (uint64_t command = 1; command <= gone->appended; ++command) {
    if (!gone->knows(command)) violation("a command list is destroyed while work on it is pending");
  }
  machine_.destroy_stream(gone->device, gone->stream);
  if (gone->side != nullptr) machine_.destroy_stream(gone->device, gone->side);
  lists_.erase(handle);
}

// Intel's driver copies a small piece of memory that is not USM by the CPU, in the call, after all work so far (in
// compute-runtime, performCpuMemcpy() and getCpuCopyThreshold()).
bool Objects::is_copied_by_cpu(const Copy& copy) const {
  constexpr size_t kMostToDevice = 4 << 20;
  constexpr size_t kMostFromDevice = 1 << 10;
  const bool is_to_device = machine_.find(copy.to).has_value();
  const bool is_from_device = machine_.find(copy.from).has_value();
  return is_to_device != is_from_device && copy.size <= (is_to_device ? kMostToDevice : kMostFromDevice);
}

bool Objects::is_on_device(uintptr_t address) const {
  const auto found = machine_.find(address);
  return found.has_value() && found->kind == Kind::kDevice;
}

// Counts a copy under the name of the engine that runs it.
void Objects::count_engine(const List& on, const Copy& copy) const {
  const bool is_within_devices = is_on_device(copy.to) && is_on_device(copy.from);
  const bool is_offloaded =
      on.engine == Engine::kCopy || (on.engine == Engine::kComputeWithOffload && !is_within_devices);
  machine_.calls().enter(is_offloaded ? "copy by a copy engine" : "copy by a compute engine");
}

void Objects::append_copy(ze_command_list_handle_t handle, Copy copy) {
  std::unique_lock lock(mutex_);
  const auto on = list(handle);
  for (const auto& [address, device] : {std::pair{copy.to, &copy.to_device}, {copy.from, &copy.from_device}}) {
    const auto found = machine_.find(address);
    if (!found) continue;
    const auto owner = memory_.find(found->start);
    if (owner != memory_.end() && owner->second != on->context) {
      violation("memory at %#zx is used in another context than its own", address);
    }
    if (found->kind == Kind::kDevice && found->device != on->device && machine_.peers()) *device = found->device;
  }
  ++on->appended;
  const bool is_by_cpu = is_copied_by_cpu(copy);
  if (!is_by_cpu) count_engine(*on, copy);
  const bool is_pageable = !machine_.find(copy.to) || !machine_.find(copy.from);
  if (is_pageable && !is_by_cpu) machine_.calls().enter("pageable copy");
  if (is_by_cpu) {
    lock.unlock();  // other lists go on meanwhile
    machine_.copy(on->stream, {copy}, Blocking::kUntilCopied);
  } else if (on->is_in_order) {
    machine_.copy(on->stream, {copy}, Blocking::kNone);
  } else {
    on->held.push_back(copy);
  }
}

void Objects::submit_held(List& on) {
  if (on.held.empty()) return;
  std::ranges::reverse(on.held);
  machine_.copy(on.stream, on.held, Blocking::kNone);
  on.held.clear();
}

void Objects::append_barrier(ze_command_list_handle_t handle, ze_event_handle_t signal,
                             const std::vector<ze_event_handle_t>& waits) {
  const std::lock_guard lock(mutex_);
  const auto on = list(handle);
  const uint64_t command = ++on->appended;
  submit_held(*on);
  const bool is_aside = !waits.empty() && !on->is_in_order;
  for (auto* const waited : waits) {
    const auto before = event(waited);
    if (before->pool->context != on->context) violation("a command list waits for an event of another context");
    if (before->is_of_host) expect_signal(*before, on->device);
    if (before->signal == nullptr) violation("a command list waits for an event that nothing signals");
    machine_.wait_on(on->stream, before->signal);
    if (is_aside) machine_.wait_on(on->side, before->signal);
    before->waits.emplace_back(on, command);
  }
  if (signal == nullptr) return;
  const auto signalled = event(signal);
  if (signalled->pool->context != on->context) violation("a command list signals an event of another context");
  if (signalled->is_of_host) violation("a command signals an event without a scope for that");
  if (signalled->signal != nullptr) violation("an event is signalled again that was not reset");
  signalled->signal = machine_.create_event(on->device);
  signalled->device = on->device;
  signalled->signalled_by = on;
  signalled->command = command;
  signalled->covers_all_before = !is_aside;
  machine_.record(signalled->signal, is_aside ? on->side : on->stream);
}

// -- events

ze_event_pool_handle_t Objects::create_pool(ze_context_handle_t of, uint32_t count) {
  const std::lock_guard lock(mutex_);
  auto made = std::make_unique<Pool>();
  made->context = &context(of);
  for (uint32_t i = 0; i < count; ++i) made->free_indices.insert(i);
  auto* const handle = new_handle<ze_event_pool_handle_t>();
  pools_.emplace(handle, std::move(made));
  return handle;
}

void Objects::destroy_pool(ze_event_pool_handle_t handle) {
  const std::lock_guard lock(mutex_);
  const auto gone = find(pools_, handle, "event pool");
  for (const auto& [live, one] : events_) {
    if (one->pool == gone->second.get()) violation("an event pool is destroyed that still has events");
  }
  pools_.erase(gone);
}

ze_event_handle_t Objects::create_event(ze_event_pool_handle_t pool, uint32_t index, bool is_of_host) {
  const std::lock_guard lock(mutex_);
  Pool& from = *find(pools_, pool, "event pool")->second;
  if (from.free_indices.erase(index) == 0) violation("an event with the index %u, which is taken or not there", index);
  auto* const handle = new_handle<ze_event_handle_t>();
  auto made = std::make_shared<Event>();
  made->pool = &from;
  made->index = index;
  made->is_of_host = is_of_host;
  events_.emplace(handle, std::move(made));
  return handle;
}

std::shared_ptr<Event> Objects::event(ze_event_handle_t handle) { return find(events_, handle, "event")->second; }

void Objects::check_idle(const Event& one, const char* what) const {
  if (one.signal != nullptr && !one.is_known) violation("an event is %s while it is pending", what);
  for (const auto& [waiter, command] : one.waits) {
    if (!waiter->knows(command)) violation("an event is %s while a command list waits for it", what);
  }
}

// Makes the event fire when the host signals it.
void Objects::expect_signal(Event& one, int device) {
  if (one.signal != nullptr) return;
  one.signal = machine_.create_event(device);
  one.device = device;
  machine_.expect_fire(one.signal);
}

void Objects::signal(ze_event_handle_t handle) {
  const std::lock_guard lock(mutex_);
  const auto one = event(handle);
  if (!one->is_of_host) violation("the host signals an event of a command");
  expect_signal(*one, 0);
  machine_.fire(one->signal);
  one->is_known = true;
}

void Objects::unsignal(Event& one) {
  if (one.signal != nullptr) machine_.destroy_event(one.device, one.signal);
  one.signal = nullptr;
  one.is_known = false;
  one.signalled_by = nullptr;
  one.waits.clear();
}

void Objects::destroy_event(ze_event_handle_t handle) {
  const std::lock_guard lock(mutex_);
  const auto gone = event(handle);
  check_idle(*gone, "destroyed");
  unsignal(*gone);
  gone->pool->free_indices.insert(gone->index);
  events_.erase(handle);
}

void Objects::reset(ze_event_handle_t handle) {
  const std::lock_guard lock(mutex_);
  const auto one = event(handle);
  check_idle(*one, "reset");
  unsignal(*one);
}

bool Objects::is_done(ze_event_handle_t handle) {
  const std::lock_guard lock(mutex_);
  const auto asked = event(handle);
  if (asked->signal == nullptr || !machine_.is_done(asked->signal)) return false;
  asked->is_known = true;
  if (asked->is_of_host) return true;
  List& by = *asked->signalled_by;
  if (asked->covers_all_before) {
    by.known_through = std::max(by.known_through, asked->command);
  } else {
    by.known.insert(asked->command);
  }
  return true;
}

bool Objects::wait(ze_event_handle_t handle, int64_t timeout_ns) {
  void* signal = nullptr;
  {
    const std::lock_guard lock(mutex_);
    signal = event(handle)->signal;
  }
  if (signal == nullptr) {
    if (timeout_ns == 0) violation("the program waits for ever for an event that nothing signals");
    return false;
  }
  return machine_.wait(signal, timeout_ns) && is_done(handle);
}

// -- memory

void Objects::keep_memory(ze_context_handle_t of, uintptr_t start) {
  const std::lock_guard lock(mutex_);
  memory_[start] = &context(of);
}

void Objects::forget_memory(ze_context_handle_t of, uintptr_t start) {
  const std::lock_guard lock(mutex_);
  const auto found = memory_.find(start);
  if (found != memory_.end() && found->second != &context(of)) {
    violation("memory at %#zx is freed in another context than its own", start);
  }
  if (found != memory_.end()) memory_.erase(found);
}

bool Objects::is_of_context(ze_context_handle_t of, uintptr_t start) {
  const std::lock_guard lock(mutex_);
  const auto found = memory_.find(start);
  return found != memory_.end() && found->second == &context(of);
}

}  // namespace standin::level_zero

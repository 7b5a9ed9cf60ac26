// SPDX-License-Identifier: Apache-2.0
#include "cuda/contexts.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "machine/violation.h"
#include "sim/handle.h"

namespace standin::cuda {
namespace {

// The context stack of a thread. Each push needs a pop before the thread ends.
struct Stack {
  std::vector<void*> contexts;
  ~Stack() {
    if (!contexts.empty()) violation("a thread ends with %zu contexts on its stack", contexts.size());
  }
};

Stack& stack() {
  thread_local Stack contexts;
  return contexts;
}

struct Primary {
  void* context = nullptr;
  int64_t count = 0;
};

struct Contexts {
  std::mutex mutex;
  std::map<int, Primary> primary;
  std::map<void*, int> devices;
  std::map<void*, void*> green;  // with their primary contexts
  std::map<uintptr_t, void*> owners;
  std::set<std::pair<void*, void*>> peers;  // contexts, and contexts whose memory they may use
};

Contexts& contexts() {
  static auto* const made = new Contexts;
  return *made;
}

// Destroys a context. The caller holds the mutex.
void destroy(Contexts& all, void* context, const char* call) {
  const auto left = std::ranges::count(all.owners, context, [](const auto& entry) { return entry.second; });
  if (left > 0) {
    violation("%s: %lld streams, events and pieces of memory are left in %p", call, static_cast<long long>(left),
              context);
  }
  all.devices.erase(context);
}

}  // namespace

void* retain_primary_context(int device) {
  auto& all = contexts();
  const std::lock_guard lock(all.mutex);
  auto& [context, count] = all.primary[device];
  if (count++ == 0) {
    context = arrowdevice::sim::new_handle();
    all.devices.emplace(context, device);
  }
  return context;
}

void release_primary_context(int device, const char* call) {
  auto& all = contexts();
  const std::lock_guard lock(all.mutex);
  auto& [context, count] = all.primary[device];
  if (count == 0) violation("%s: the primary context of GPU %d is not retained", call, device);
  if (--count == 0) destroy(all, context, call);
}

bool has_primary_context(int device) {
  auto& all = contexts();
  const std::lock_guard lock(all.mutex);
  return all.primary[device].count > 0;
}

void* create_green_context(int device) {
  void* const primary = retain_primary_context(device);
  void* const green = create_context(device);
  auto& all = contexts();
  const std::lock_guard lock(all.mutex);
  all.green.emplace(green, primary);
  return green;
}

void destroy_green_context(void* green, const char* call) {
  const int device = device_of(green, call);
  destroy_context(green, call);
  {
    auto& all = contexts();
    const std::lock_guard lock(all.mutex);
    if (all.green.erase(green) == 0) violation("%s: %p is not a green context", call, green);
  }
  release_primary_context(device, call);
}

void* without_green(void* context) {
  auto& all = contexts();
  const std::lock_guard lock(all.mutex);
  const auto found = all.green.find(context);
  return found != all.green.end() ? found->second : context;
}

void* create_context(int device) {
  auto& all = contexts();
  const std::lock_guard lock(all.mutex);
  void* const context = arrowdevice::sim::new_handle();
  all.devices.emplace(context, device);
  return context;
}

void destroy_context(void* context, const char* call) {
  auto& all = contexts();
  const std::lock_guard lock(all.mutex);
  destroy(all, context, call);
}

bool is_context(void* handle) {
  auto& all = contexts();
  const std::lock_guard lock(all.mutex);
  return all.devices.contains(handle);
}

int device_of(void* context, const char* call) {
  auto& all = contexts();
  const std::lock_guard lock(all.mutex);
  const auto found = all.devices.find(context);
  if (found == all.devices.end()) violation("%s: %p is not a live context", call, context);
  return found->second;
}

void push(void* context) { stack().contexts.push_back(context); }

void* pop(const char* call) {
  auto& pushed = stack().contexts;
  if (pushed.empty()) violation("%s: no context is current", call);
  void* const context = pushed.back();
  pushed.pop_back();
  return context;
}

void* current() { return stack().contexts.empty() ? nullptr : stack().contexts.back(); }

bool enable_peer(void* peer) {
  auto& all = contexts();
  const std::lock_guard lock(all.mutex);
  return all.peers.emplace(current(), peer).second;
}

bool may_use_peer(void* context, void* peer) {
  auto& all = contexts();
  const std::lock_guard lock(all.mutex);
  return all.peers.contains({context, peer});
}

int current_device(const char* call) {
  if (current() == nullptr) violation("%s: no context is current", call);
  return device_of(current(), call);
}

void made_here(uintptr_t thing) {
  auto& all = contexts();
  const std::lock_guard lock(all.mutex);
  all.owners[thing] = current();
}

void gone(uintptr_t thing) {
  auto& all = contexts();
  const std::lock_guard lock(all.mutex);
  all.owners.erase(thing);
}

void* context_of(uintptr_t thing) {
  auto& all = contexts();
  const std::lock_guard lock(all.mutex);
  const auto found = all.owners.find(thing);
  return found != all.owners.end() ? found->second : nullptr;
}

void check_context(uintptr_t thing, void* context, const char* call) {
  void* const owner = without_green(context_of(thing));
  if (owner == nullptr || owner == context || device_of(owner, call) != device_of(context, call)) return;
  violation("%s: %#zx is of the context %p, where %p was to be", call, thing, owner, context);
}

}  // namespace standin::cuda

// SPDX-License-Identifier: Apache-2.0
#include "cuda/contexts.h"

#include <map>
#include <mutex>
#include <vector>

#include "machine/violation.h"
#include "sim/handle.h"

namespace standin::cuda {
namespace {

// Whoever pushes pops, at the latest when the thread ends.
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

struct Contexts {
  std::mutex mutex;
  std::map<int, void*> of_device;
  std::map<void*, int> devices;
};

Contexts& contexts() {
  static auto* const made = new Contexts;
  return *made;
}

}  // namespace

void* primary_context(int device) {
  auto& all = contexts();
  const std::lock_guard lock(all.mutex);
  void*& context = all.of_device[device];
  if (context == nullptr) {
    context = arrowdevice::sim::new_handle();
    all.devices.emplace(context, device);
  }
  return context;
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

int current_device(const char* call) {
  if (current() == nullptr) violation("%s: no context is current", call);
  return device_of(current(), call);
}

}  // namespace standin::cuda

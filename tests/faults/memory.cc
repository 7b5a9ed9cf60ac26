// SPDX-License-Identifier: Apache-2.0
#include "faults/memory.h"

#include <unwind.h>

#include <atomic>
#include <cerrno>

namespace faults::memory {
namespace {

// Constant initialization is needed, because memory is allocated before dynamic initialization.
constinit std::atomic<bool> is_on{false};
constinit std::atomic<int64_t> first{0};
constinit std::atomic<bool> onwards{false};
constinit std::atomic<bool> on_any_thread{false};
constinit std::atomic<bool> spares_backend{false};
constinit std::atomic<int64_t> counted{0};
constinit std::atomic<int64_t> failed{0};
constinit std::atomic<int64_t> live{0};
constinit std::atomic<uint64_t*> recorded{nullptr};
constinit std::atomic<int64_t> most_recorded{0};
constinit std::atomic<const void*> recorder{nullptr};  // the function that started the recording
constinit thread_local bool is_on_here = false;
constinit thread_local int spared_here = 0;
constinit thread_local int backend_here = 0;

bool is_meant() noexcept {
  if (!is_on.load(std::memory_order_acquire) || (!on_any_thread && !is_on_here)) return false;
  return spared_here == 0 && (backend_here == 0 || !spares_backend);
}

// Returns a hash of the call stack without allocating memory.
uint64_t number_of_stack() noexcept {
  uint64_t number = 0xCBF29CE484222325;  // FNV-1a over whole addresses
  const auto add = [](_Unwind_Context* frame, void* sum) {
    const auto place = _Unwind_GetIP(frame);
    if (_Unwind_FindEnclosingFunction(reinterpret_cast<void*>(place)) == recorder) return _URC_NORMAL_STOP;
    auto& so_far = *static_cast<uint64_t*>(sum);
    so_far = (so_far ^ place) * 0x100000001B3;
    return _URC_NO_REASON;
  };
  _Unwind_Backtrace(add, &number);
  return number;
}

}  // namespace

bool fails() noexcept {
  if (!is_meant()) return false;
  const int64_t number = ++counted;
  uint64_t* const stacks = recorded;
  if (stacks != nullptr && number <= most_recorded) stacks[number - 1] = number_of_stack();
  const int64_t from = first;
  const bool is_due = from > 0 && (number == from || (onwards && number > from));
  if (!is_due) return false;
  ++failed;
  errno = ENOMEM;
  return true;
}

void begin(const Plan& plan) noexcept {
  first = plan.first;
  onwards = plan.onwards;
  on_any_thread = plan.on_any_thread;
  spares_backend = plan.spares_backend;
  counted = 0;
  failed = 0;
  is_on_here = true;
  is_on.store(true, std::memory_order_release);
}

void begin_recording(const Plan& plan, std::span<uint64_t> stacks) noexcept {
  recorder = _Unwind_FindEnclosingFunction(__builtin_return_address(0));
  most_recorded = std::ssize(stacks);
  recorded = stacks.data();
  begin(plan);
}

Figures end() noexcept {
  is_on.store(false, std::memory_order_release);
  is_on_here = false;
  recorded = nullptr;
  return {counted, failed};
}

int64_t live_blocks() noexcept { return live; }
void count_blocks(int64_t more) noexcept { live += more; }

Spared::Spared() noexcept { ++spared_here; }
Spared::~Spared() { --spared_here; }
InBackend::InBackend() noexcept { ++backend_here; }
InBackend::~InBackend() { --backend_here; }

}  // namespace faults::memory

// SPDX-License-Identifier: Apache-2.0
#include "machine/capture.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <mutex>
#include <set>
#include <string_view>
#include <thread>
#include <utility>

#include "machine/violation.h"

namespace standin::captures {
namespace {

struct Capture {
  Mode mode;
  std::thread::id thread;
  bool is_valid = true;
};

// The calls that the vendors name as unsafe: they wait, or may wait, for work that a capture does not run.
constexpr std::string_view kUnsafe[] = {
    "cuMemAlloc_v2", "cuMemFree_v2",       "cuMemHostAlloc",      "cuMemFreeHost",       "cuMemAllocManaged",
    "cuEventQuery",  "cuEventSynchronize", "cuStreamSynchronize", "hipMalloc",           "hipFree",
    "hipHostMalloc", "hipHostFree",        "hipEventQuery",       "hipEventSynchronize", "hipStreamSynchronize"};

std::mutex mutex;
std::map<void*, Capture> captures;
std::set<void*> captured_events;
thread_local Mode thread_mode = kGlobal;

bool forbids(const Capture& capture) {
  if (thread_mode == kRelaxed) return false;
  const bool is_of_this_thread = capture.thread == std::this_thread::get_id();
  return is_of_this_thread ? capture.mode != kRelaxed : thread_mode == kGlobal && capture.mode == kGlobal;
}

}  // namespace

Mode exchange(Mode mode) { return std::exchange(thread_mode, mode); }

void begin(void* stream, Mode mode) {
  const std::lock_guard lock(mutex);
  if (!captures.try_emplace(stream, Capture{mode, std::this_thread::get_id()}).second) {
    violation("the stream %p is captured already", stream);
  }
}

bool end(void* stream) {
  const std::lock_guard lock(mutex);
  const auto found = captures.find(stream);
  if (found == captures.end()) violation("the stream %p is not being captured", stream);
  const bool is_valid = found->second.is_valid;
  captures.erase(found);
  return is_valid;
}

Status status(void* stream) {
  const std::lock_guard lock(mutex);
  const auto found = captures.find(stream);
  return found == captures.end() ? kNone : found->second.is_valid ? kActive : kInvalidated;
}

bool allows(const char* call) {
  if (std::ranges::find(kUnsafe, std::string_view(call)) == std::end(kUnsafe)) return true;
  const std::lock_guard lock(mutex);
  bool is_allowed = true;
  for (auto& [stream, capture] : captures) {
    if (!forbids(capture)) continue;
    capture.is_valid = false;
    is_allowed = false;
  }
  return is_allowed;
}

bool invalidate_all() {
  const std::lock_guard lock(mutex);
  for (auto& [stream, capture] : captures) capture.is_valid = false;
  return !captures.empty();
}

void check_no_capture(void* stream, const char* call) {
  if (status(stream) != kNone) violation("%s: the stream %p is being captured into a graph", call, stream);
}

void record(void* event, void* stream) {
  const bool is_captured = status(stream) != kNone;
  const std::lock_guard lock(mutex);
  if (is_captured) {
    captured_events.insert(event);
  } else {
    captured_events.erase(event);
  }
}

void forget(void* event) {
  const std::lock_guard lock(mutex);
  captured_events.erase(event);
}

bool was_captured(void* event) {
  const std::lock_guard lock(mutex);
  return captured_events.contains(event);
}

}  // namespace standin::captures

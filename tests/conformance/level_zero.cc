// SPDX-License-Identifier: Apache-2.0
#include "conformance/level_zero.h"

#include <string>

#include "conformance/loaded.h"
#include "support/calls.h"

namespace arrowdevice::conformance {
namespace {

// The descriptions of Level Zero 1.0, with the values of their `stype`.
constexpr uint32_t kEventPoolDescription = 0x10;
constexpr uint32_t kEventDescription = 0x11;
constexpr uint32_t kHostMemoryDescription = 0x16;
constexpr uint32_t kHostVisible = 1;
constexpr uint32_t kHostScope = 4;

struct EventPoolDescription {
  uint32_t stype;
  const void* next;
  uint32_t flags;
  uint32_t count;
};
struct EventDescription {
  uint32_t stype;
  const void* next;
  uint32_t index;
  uint32_t signal;
  uint32_t wait;
};
struct HostMemoryDescription {
  uint32_t stype;
  const void* next;
  uint32_t flags;
};

void check(const char* call, int result) {
  testing::expect(result == 0, std::string(call) + " gave " + std::to_string(result));
}

}  // namespace

LevelZero::LevelZero() {
  constexpr const char* kLoader = "libze_loader.so.1";
  find_loaded(kLoader, "zeEventPoolCreate", create_pool_);
  find_loaded(kLoader, "zeEventPoolDestroy", destroy_pool_);
  find_loaded(kLoader, "zeEventCreate", create_event_);
  find_loaded(kLoader, "zeEventDestroy", destroy_event_);
  find_loaded(kLoader, "zeEventHostSignal", signal_);
  find_loaded(kLoader, "zeEventHostSynchronize", wait_);
  find_loaded(kLoader, "zeCommandListAppendBarrier", append_barrier_);
  find_loaded(kLoader, "zeMemAllocHost", allocate_host_);
  find_loaded(kLoader, "zeMemFree", free_);
}

bool LevelZero::is_complete() const {
  return create_pool_ != nullptr && destroy_pool_ != nullptr && create_event_ != nullptr && destroy_event_ != nullptr &&
         signal_ != nullptr && wait_ != nullptr && append_barrier_ != nullptr && allocate_host_ != nullptr &&
         free_ != nullptr;
}

LevelZero::Events LevelZero::create_events(void* context) const {
  Events made{};
  const EventPoolDescription pool{kEventPoolDescription, nullptr, kHostVisible, 2};
  check("zeEventPoolCreate", create_pool_(context, &pool, 0, nullptr, &made.pool));
  // A device writes nothing before the host signals the event, so that the event has no scope for that.
  const EventDescription opens{kEventDescription, nullptr, 0, 0, kHostScope};
  const EventDescription ends{kEventDescription, nullptr, 1, kHostScope, kHostScope};
  check("zeEventCreate", create_event_(made.pool, &opens, &made.opens));
  check("zeEventCreate", create_event_(made.pool, &ends, &made.ends));
  return made;
}

void LevelZero::destroy(const Events& events) const {
  check("zeEventDestroy", destroy_event_(events.opens));
  check("zeEventDestroy", destroy_event_(events.ends));
  check("zeEventPoolDestroy", destroy_pool_(events.pool));
}

void LevelZero::signal(void* event) const { check("zeEventHostSignal", signal_(event)); }

void LevelZero::wait(void* event) const { check("zeEventHostSynchronize", wait_(event, UINT64_MAX)); }

void LevelZero::append_wait(void* list, void* event) const {
  check("zeCommandListAppendBarrier", append_barrier_(list, nullptr, 1, &event));
}

void LevelZero::append_signal(void* list, void* event) const {
  check("zeCommandListAppendBarrier", append_barrier_(list, event, 0, nullptr));
}

void* LevelZero::allocate_host(void* context, int64_t size) const {
  const HostMemoryDescription description{kHostMemoryDescription, nullptr, 0};
  void* memory = nullptr;
  check("zeMemAllocHost", allocate_host_(context, &description, static_cast<size_t>(size), 0, &memory));
  return memory;
}

void LevelZero::free(void* context, void* memory) const { check("zeMemFree", free_(context, memory)); }

}  // namespace arrowdevice::conformance

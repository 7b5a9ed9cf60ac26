// SPDX-License-Identifier: Apache-2.0
#include "machine/machine.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>

#include "machine/violation.h"

namespace standin {
namespace {

namespace sim = arrowdevice::sim;

constexpr size_t kDefaultMemory = size_t{8} << 30;

// The number of freed allocations whose addresses stay unused. Each of them takes an entry in the process's
// table of mappings.
constexpr size_t kMostDead = 8192;

std::atomic<bool> exited{false};
pid_t process = 0;

int64_t number(const char* variable, int64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr || text[0] == '\0' ? otherwise : std::atoll(text);
}

}  // namespace

const char* name_of(Kind kind) {
  switch (kind) {
    case Kind::kDevice: return "device memory";
    case Kind::kPinned: return "pinned memory";
    case Kind::kManaged: return "managed memory";
    case Kind::kRegistered: return "registered memory";
  }
  return "";
}

Machine& machine() {
  static Machine* const made = [] {
    process = ::getpid();
    auto* const one = new Machine;
    std::atexit([] {
      if (::getpid() != process) return;
      machine().check_nothing_is_left();
      exited = true;
    });
    return one;
  }();
  return *made;
}

Machine& machine(const char* call, int* code) {
  Machine& one = machine();
  if (exited) violation("%s is called after the process has begun to exit", call);
  if (::getpid() != process) violation("%s is called in a forked child", call);
  if (Machine::is_in_callback_) violation("%s is called in a host function", call);
  *code = one.calls().enter(call);
  return one;
}

thread_local bool Machine::is_in_callback_ = false;

Machine::Machine()
    : peers_(number("STANDIN_PEERS", 1) != 0),
      may_leave_(number("STANDIN_MAY_LEAVE", 0) != 0),
      memory_pools_(number("STANDIN_MEMORY_POOLS", 1) != 0),
      managed_(static_cast<int>(number("STANDIN_MANAGED", 2))),
      memory_(static_cast<size_t>(number("STANDIN_MEMORY", static_cast<int64_t>(kDefaultMemory)))) {
  const auto devices = static_cast<size_t>(number("STANDIN_DEVICES", 2));
  used_.resize(devices);
  for (size_t i = 0; i < devices; ++i) {
    auto engine = std::make_shared<sim::Engine>("GPU " + std::to_string(i));
    engine->set_pace(number("STANDIN_LATENCY_US", 0), 0);
    engines_.push_back(std::move(engine));
  }
}

void Machine::lose() {
  lost_ = true;
  for (const auto& engine : engines_) engine->recover();  // waits for the work that is being done
}

void Machine::hold() {
  for (const auto& engine : engines_) engine->hold();
}

void Machine::resume() {
  for (const auto& engine : engines_) engine->resume();
}

Live Machine::live() const {
  const std::lock_guard lock(mutex_);
  Live live{};
  for (const auto& [start, allocation] : allocations_) {
    ++live.allocations[static_cast<int>(allocation.kind)];
    live.bytes += static_cast<int64_t>(allocation.size);
  }
  live.streams = static_cast<int64_t>(streams_.size() - default_streams_.size());
  live.events = static_cast<int64_t>(events_.size());
  return live;
}

// Ends the process if objects are left. Streams may be left, because the backend keeps them for reuse, like
// contexts. Each stream may have an event that tells if it is idle.
void Machine::check_nothing_is_left() const {
  if (lost_) return;
  if (callbacks_ != 0)
    violation("%lld waits and host functions are pending at exit", static_cast<long long>(callbacks_));
  if (may_leave_) return;
  const Live left = live();
  for (const Kind kind : {Kind::kDevice, Kind::kPinned, Kind::kManaged, Kind::kRegistered}) {
    const auto n = static_cast<long long>(left.allocations[static_cast<int>(kind)]);
    if (n != 0) violation("%lld pieces of %s are left at exit", n, name_of(kind));
  }
  if (!handles_.empty()) violation("%zu handles of memory are left at exit", handles_.size());
  if (!ranges_.empty()) violation("%zu ranges of virtual memory are left at exit", ranges_.size());
  if (left.events > left.streams) {
    violation("%lld events are left at exit, of %lld streams", static_cast<long long>(left.events),
              static_cast<long long>(left.streams));
  }
}

// -- memory

size_t Machine::free_memory(int device) const {
  const std::lock_guard lock(mutex_);
  return memory_ - used_[static_cast<size_t>(device)];
}

uintptr_t Machine::keep(Allocation allocation) {
  const uintptr_t start = allocation.start;
  if (allocation.kind == Kind::kDevice) used_[static_cast<size_t>(allocation.device)] += allocation.size;
  allocations_.emplace(start, std::move(allocation));
  return start;
}

// Allocates memory. Device memory is returned through a mapping that faults on CPU access, other memory
// through a mapping that does not.
uintptr_t Machine::allocate(Kind kind, int device, size_t size) {
  if (size == 0) violation("an allocation of 0 bytes of %s", name_of(kind));
  const std::lock_guard lock(mutex_);
  if (size > memory_ - (kind == Kind::kDevice ? used_[static_cast<size_t>(device)] : 0)) return 0;
  auto pages = std::make_shared<sim::Pages>(static_cast<int64_t>(size));
  const auto start = reinterpret_cast<uintptr_t>(kind == Kind::kDevice ? pages->address() : pages->bytes());
  return keep({.kind = kind,
               .device = device,
               .start = start,
               .size = size,
               .pages = std::move(pages),
               .pool = nullptr,
               .made = {},
               .used = {}});
}

// Frees memory, but keeps its address reserved.
void Machine::bury(Allocations::iterator place) {
  Allocation& allocation = place->second;
  if (allocation.kind == Kind::kDevice) used_[static_cast<size_t>(allocation.device)] -= allocation.size;
  if (allocation.kind != Kind::kRegistered) {
    const auto size = static_cast<size_t>(allocation.pages->size());
    // Work that is ordered before the free still uses the bytes.
    if (allocation.pages.use_count() == 1) ::madvise(allocation.pages->bytes(), size, MADV_REMOVE);
    if (allocation.kind != Kind::kDevice) ::mprotect(allocation.pages->bytes(), size, PROT_NONE);
    dead_.insert_or_assign(place->first, std::move(allocation));
    if (dead_.size() > kMostDead) dead_.erase(dead_.begin());
  }
  allocations_.erase(place);
}

Machine::Allocations::iterator Machine::start_of(Kind kind, uintptr_t memory) {
  const auto place = allocations_.find(memory);
  if (place == allocations_.end()) {
    violation("%#zx is freed, and is %s", memory,
              dead_.contains(memory) ? "freed already" : "not the start of an allocation");
  }
  if (place->second.kind != kind) {
    violation("%s at %#zx is freed as %s", name_of(place->second.kind), memory, name_of(kind));
  }
  return place;
}

void Machine::free(Kind kind, int device, uintptr_t memory) {
  const std::lock_guard lock(mutex_);
  const auto place = start_of(kind, memory);
  const Allocation& allocation = place->second;
  if (allocation.is_mapping) violation("the mapping %#zx is freed as an allocation", memory);
  // The vendor's call would wait for all work, and it also frees stream-ordered memory.
  if (allocation.pool != nullptr) violation("stream-ordered memory at %#zx is freed by the call that waits", memory);
  if (kind != Kind::kPinned && allocation.device != device) {
    violation("memory of GPU %d is freed while GPU %d is current", allocation.device, device);
  }
  if (!host_.covers(allocation.used, host_)) {
    violation("%s at %#zx is freed while work on it is pending", name_of(kind), memory);
  }
  bury(place);
}

void Machine::register_host(int device, uintptr_t memory, size_t size) {
  const std::lock_guard lock(mutex_);
  keep({.kind = Kind::kRegistered,
        .device = device,
        .start = memory,
        .size = size,
        .pages = nullptr,
        .pool = nullptr,
        .made = {},
        .used = {}});
}

void Machine::unregister_host(uintptr_t memory) {
  const std::lock_guard lock(mutex_);
  const auto place = start_of(Kind::kRegistered, memory);
  if (!host_.covers(place->second.used, host_)) {
    violation("host memory at %#zx is unregistered while work on it is pending", memory);
  }
  bury(place);
}

std::optional<Allocation> Machine::find(uintptr_t address) const {
  const std::lock_guard lock(mutex_);
  const auto next = allocations_.upper_bound(address);
  if (next == allocations_.begin()) return std::nullopt;
  const auto& allocation = std::prev(next)->second;
  if (address - allocation.start >= allocation.size) return std::nullopt;
  return allocation;
}

}  // namespace standin

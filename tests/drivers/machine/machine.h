// SPDX-License-Identifier: Apache-2.0
// A machine with GPUs, as a stand-in for a vendor's driver has it: over the engine of the simulated device, and with no
// patience for mistakes. Every function ends the process on a handle that is dead, memory that is not there, and work
// that is not ordered behind what it needs.
//
//   STANDIN_DEVICES          how many GPUs: 2
//   STANDIN_PEERS            whether they reach one another's memory: 1
//   STANDIN_MEMORY           bytes of each: 8 GiB
//   STANDIN_LATENCY_US       how long work is pending at least: 0
//   STANDIN_MEMORY_POOLS     whether there is stream-ordered memory: 1
//   STANDIN_MANAGED          2: managed memory that the CPU and the GPU share, 1: one at a time, 0: none
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "machine/calls.h"
#include "machine/order.h"
#include "sim/engine.h"

namespace standin {

enum class Kind { kDevice, kPinned, kManaged, kRegistered };

const char* name_of(Kind kind);

// Registered memory is the program's own. `order` is that of its allocation and of its uses.
struct Allocation {
  Kind kind;
  int device;
  uintptr_t start;
  size_t size;
  std::shared_ptr<arrowdevice::sim::Pages> pages;
  bool is_stream_ordered;
  Order made;
  Order used;
};

struct Stream {
  uint64_t id;
  int device;
  std::shared_ptr<arrowdevice::sim::SubmissionQueue> lane;
  uint64_t work;
  Order knows;
};

struct Event {
  int device;
  std::shared_ptr<arrowdevice::sim::Fence> fence;  // NULL: not recorded
  Order at;
};

struct Live {
  int64_t allocations[4];  // by kind
  int64_t bytes;
  int64_t streams;
  int64_t events;
};

// A piece of a copy, and which GPU each end must be of: -1 where the address says it.
struct Copy {
  uintptr_t to, from;
  size_t size;
  int to_device = -1, from_device = -1;
};

// Thread-safety: free.
class Machine {
 public:
  Machine();

  Calls& calls() { return calls_; }
  int devices() const { return static_cast<int>(engines_.size()); }
  bool peers() const { return peers_; }
  bool memory_pools() const { return memory_pools_; }
  int managed() const { return managed_; }
  size_t memory() const { return memory_; }
  size_t free_memory(int device) const;

  // 0 where there is not so much.
  uintptr_t allocate(Kind kind, int device, size_t size);
  uintptr_t allocate_on(void* stream, size_t size);
  void free(Kind kind, int device, uintptr_t memory);
  void free_on(void* stream, uintptr_t memory);
  bool register_host(int device, uintptr_t memory, size_t size);  // false if it is already
  void unregister_host(uintptr_t memory);
  // A copy of what is known of the memory at an address.
  std::optional<Allocation> find(uintptr_t address) const;

  void* create_stream(int device);
  void destroy_stream(int device, void* stream);
  void* default_stream(int device, void* context = nullptr);  // not to be destroyed but with its context
  void destroy_default_stream(int device, void* context);
  int device_of_stream(void* stream) const;
  void synchronize(void* stream);
  void copy(void* stream, const std::vector<Copy>& copies);
  void wait_on(void* stream, void* event);

  void* create_event(int device);
  void destroy_event(int device, void* event);
  int device_of_event(void* event) const;
  void record(void* event, void* stream);
  bool is_done(void* event);
  // False when the time is over first. 0: no limit; below 0: a poll.
  bool wait(void* event, int64_t timeout_ns = 0);

  // Nothing can be given back any more, and what is left at exit is nobody's fault.
  void lose() { lost_ = true; }

  void hold();
  void resume();

  Live live() const;
  // What must not be left when the process ends.
  void check_nothing_is_left() const;

 private:
  using Allocations = std::map<uintptr_t, Allocation>;

  Allocation& at(uintptr_t address, size_t size, const char* what);  // these need mutex_
  Allocations::iterator start_of(Kind kind, uintptr_t memory);
  std::shared_ptr<Stream> stream(void* handle) const;
  std::shared_ptr<Event> event(void* handle) const;
  uintptr_t keep(Allocation allocation);
  void bury(Allocations::iterator place);
  arrowdevice::sim::Transfer transfer(Stream& on, const Copy& copy);
  Allocation* check_end(uintptr_t address, size_t size, int device, const char* what);
  void use(Stream& on, Allocation& allocation);
  void* add_stream(int device);

  Calls calls_;
  std::atomic<bool> lost_{false};
  bool peers_;
  bool memory_pools_;
  int managed_;
  size_t memory_;

  mutable std::mutex mutex_;  // guards all below; not held while somebody waits
  std::vector<std::shared_ptr<arrowdevice::sim::Engine>> engines_;
  std::vector<size_t> used_;
  Allocations allocations_;
  std::map<uintptr_t, Allocation> dead_;  // their addresses are not given out again
  std::map<void*, std::shared_ptr<Stream>> streams_;
  std::map<void*, std::shared_ptr<Event>> events_;
  std::map<std::pair<int, void*>, void*> default_streams_;
  uint64_t next_stream_ = 1;
  Order host_;  // what the program has been told is over
};

// Never destroyed. Checks at exit what is left, and that nobody calls after it or in a forked child.
Machine& machine();
// As machine(), and the call is counted: `code` is what it is to fail with, or 0.
Machine& machine(const char* call, int* code);

}  // namespace standin

// SPDX-License-Identifier: Apache-2.0
// A machine with GPUs, as the core of a stand-in for a vendor's driver. It runs on the engine of the
// simulated device and checks every call. A function ends the process if a handle is invalid, if memory
// does not exist, or if work is not ordered after its dependencies.
//
//   STANDIN_DEVICES          number of GPUs: 2
//   STANDIN_PEERS            1 if GPUs can access each other's memory: 1
//   STANDIN_MEMORY           bytes of memory of each GPU: 8 GiB
//   STANDIN_LATENCY_US       minimum time that work stays pending: 0
//   STANDIN_MEMORY_POOLS     1 if there is stream-ordered memory: 1
//   STANDIN_MAY_LEAVE        1 if the program may leave memory at exit: 0
//   STANDIN_MANAGED          managed memory, 2: CPU and GPU share it, 1: one of them at a time, 0: none
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "machine/calls.h"
#include "machine/order.h"
#include "sim/engine.h"

namespace standin {

enum class Kind { kDevice, kPinned, kManaged, kRegistered };

const char* name_of(Kind kind);

struct Stream;

// A pool of stream-ordered memory. `users` are the other GPUs that may use its memory in place.
struct MemoryPool {
  explicit MemoryPool(int its_device) : device(its_device) {}

  const int device;
  bool waits_for_others = true;  // an allocation may wait for another stream's work before a free
  uint64_t threshold = 0;
  std::set<int> users;
  std::vector<std::shared_ptr<Stream>> freed_on;
};

// Registered memory belongs to the program. `order` is the order of the allocation and its uses.
struct Allocation {
  Kind kind;
  int device;
  uintptr_t start;
  size_t size;
  std::shared_ptr<arrowdevice::sim::Pages> pages;
  std::shared_ptr<MemoryPool> pool;  // NULL: plain memory
  Order made;
  Order used;
  bool is_mapping = false;   // of virtual memory
  std::set<int> users = {};  // the GPUs that may use a mapping
};

// Memory of a GPU that other processes can open, or memory of another process.
struct Physical {
  int device;
  std::shared_ptr<arrowdevice::sim::Pages> pages;
  bool is_imported = false;
};

// A submission that had not finished when it was made.
struct Unfinished {
  std::shared_ptr<arrowdevice::sim::Fence> end;
  size_t copies;
};

struct Stream {
  uint64_t id;
  int device;
  std::shared_ptr<arrowdevice::sim::SubmissionQueue> submissions;
  uint64_t work;
  Order knows;
  std::shared_ptr<arrowdevice::sim::Fence> end;  // of the last submission; NULL: there was none
  std::deque<Unfinished> unfinished;             // oldest first; some may have finished meanwhile
};

struct Event {
  int device;
  bool blocks;                                     // a thread that waits for it sleeps
  std::shared_ptr<arrowdevice::sim::Fence> fence;  // NULL: not recorded
  Order at;
};

struct Live {
  int64_t allocations[4];  // by kind
  int64_t bytes;
  int64_t streams;
  int64_t events;
};

// A piece of a copy, with the GPU that each end must belong to. If that is -1, the address determines the GPU.
struct Copy {
  uintptr_t to, from;
  size_t size;
  int to_device = -1, from_device = -1;
  bool may_stage = false;  // the driver stages the bytes in host memory if it must
};

// How a copy with pageable memory, which the driver does not know, or between two ends in host memory blocks its
// caller.
enum class Blocking {
  kNone,
  kUntilRead,    // a copy from pageable memory to a GPU waits for the stream's work so far, other copies for themselves
  kUntilCopied,  // all copies wait for themselves
};

// Thread-safety: any thread.
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

  // Return 0 if there is not enough memory.
  uintptr_t allocate(Kind kind, int device, size_t size);
  // NULL means the GPU's default pool, which all libraries of the process use.
  uintptr_t allocate_on(void* stream, size_t size, void* pool = nullptr);
  void free(Kind kind, int device, uintptr_t memory);
  void free_on(void* stream, uintptr_t memory);

  // Virtual memory. A range has no memory until physical memory is mapped in it. It is aligned as the ranges of the
  // drivers are, and its size is a multiple of the same number.
  static constexpr size_t kGranularity = 2 << 20;
  uintptr_t reserve(size_t size);
  void unreserve(uintptr_t range, size_t size);
  // Returns the range that an address is in: its start and size.
  std::optional<std::pair<uintptr_t, size_t>> range_of(uintptr_t address) const;
  std::shared_ptr<Physical> create_physical(int device, size_t size);     // NULL if there is not enough memory
  std::shared_ptr<Physical> import_physical(int device, int descriptor);  // throws arrowdevice::Error
  // A handle is a reference to physical memory. These end the process if it is no handle.
  uintptr_t add_handle(std::shared_ptr<Physical> physical);
  std::shared_ptr<Physical> physical_of(uintptr_t handle) const;
  void drop_handle(uintptr_t handle);
  void map(uintptr_t start, size_t size, std::shared_ptr<Physical> physical);
  void unmap(uintptr_t start, size_t size);
  void set_users(uintptr_t start, size_t size, const std::set<int>& users);
  std::shared_ptr<Physical> physical_at(uintptr_t start) const;  // ends the process if there is none

  void* create_pool(int device);
  void* default_pool(int device);
  void destroy_pool(void* pool);
  MemoryPool& pool(void* handle);
  // Returns the largest release threshold of the pools that the program created on a GPU, or -1 without such pools.
  int64_t pool_threshold(int device) const;
  // Returns true if work of the GPU reaches the memory in place, as far as the pool tells.
  bool is_shared_with(uintptr_t address, int device) const;

  void register_host(int device, uintptr_t memory, size_t size);
  void unregister_host(uintptr_t memory);
  // Returns a copy of the entry for the memory at an address.
  std::optional<Allocation> find(uintptr_t address) const;

  void* create_stream(int device);
  void destroy_stream(int device, void* stream);
  void* default_stream(int device, void* context = nullptr);  // destroyed only with its context
  void destroy_default_stream(int device, void* context);
  int device_of_stream(void* stream) const;
  void synchronize(void* stream);
  // Waits until the stream has room for as many copies.
  void wait_for_room(void* stream, size_t copies);
  void copy(void* stream, const std::vector<Copy>& copies, Blocking blocking);
  void wait_on(void* stream, void* event);
  void fill(void* stream, uintptr_t to, unsigned char value, size_t size);
  // Runs the body on a thread of its own when the earlier work of the stream has finished. Later work waits until the
  // body returns. The body must not call the driver. Memory at `word` stays in use until then, if it is not 0.
  void call_back(void* stream, std::function<void()> body, uintptr_t word = 0);

  void* create_event(int device, bool blocks = false);
  void destroy_event(int device, void* event);
  int device_of_event(void* event) const;
  void record(void* event, void* stream);
  // Records the event after the work of all streams of its GPU that are included.
  void record_all(void* event, const std::function<bool(void* stream)>& is_included);
  // Makes the event fire when the program calls fire(), not behind work.
  void expect_fire(void* event);
  void fire(void* event);
  bool is_done(void* event);
  // Waits for the event. Returns false if the time runs out first, or if the machine is lost. 0 means no limit, below 0
  // a poll.
  bool wait(void* event, int64_t timeout_ns = 0);

  // Loses the machine. All pending work fails, and the GPUs touch no memory any more. No object can be freed
  // afterwards, so leftovers at exit are no violation.
  void lose();

  void hold();
  void resume();

  Live live() const;
  // Ends the process with a violation if objects are left that the program must have freed.
  void check_nothing_is_left() const;

 private:
  using Allocations = std::map<uintptr_t, Allocation>;

  Allocation& at(uintptr_t address, size_t size, const char* what);  // these need mutex_
  Allocations::iterator start_of(Kind kind, uintptr_t memory);
  std::shared_ptr<Stream> stream(void* handle) const;
  std::shared_ptr<Event> event(void* handle) const;
  uintptr_t keep(Allocation allocation);
  void bury(Allocations::iterator place);
  bool is_unknown(uintptr_t address) const;
  bool is_of_host(uintptr_t address) const;  // needs mutex_
  void submit(Stream& on, arrowdevice::sim::Work work);
  arrowdevice::sim::Transfer transfer(Stream& on, const Copy& copy);
  Allocation* check_end(uintptr_t address, size_t size, int device, const char* what);
  void use(Stream& on, Allocation& allocation);
  void* add_stream(int device);
  std::shared_ptr<MemoryPool> pool_for(int device, void* handle) const;
  void wait_for_frees(Stream& on, MemoryPool& pool);

  friend Machine& machine(const char* call, int* code);

  Calls calls_;
  std::atomic<bool> lost_{false};
  std::atomic<int64_t> callbacks_{0};  // that have not returned
  static thread_local bool is_in_callback_;
  bool peers_;
  bool may_leave_;
  bool memory_pools_;
  int managed_;
  size_t memory_;

  mutable std::mutex mutex_;  // guards all members below; released while a thread waits
  std::vector<std::shared_ptr<arrowdevice::sim::Engine>> engines_;
  std::vector<size_t> used_;
  Allocations allocations_;
  std::map<uintptr_t, Allocation> dead_;  // their addresses are not reused
  std::map<uintptr_t, size_t> ranges_;    // of virtual memory
  std::map<uintptr_t, std::shared_ptr<Physical>> mapped_;
  std::map<uintptr_t, std::shared_ptr<Physical>> handles_;
  uintptr_t next_handle_ = 0x1000;
  std::map<void*, std::shared_ptr<Stream>> streams_;
  std::map<void*, std::shared_ptr<Event>> events_;
  std::map<void*, std::shared_ptr<MemoryPool>> pools_;
  std::map<int, void*> default_pools_;
  std::map<std::pair<int, void*>, void*> default_streams_;
  uint64_t next_stream_ = 1;
  Order host_;  // work that the program knows has finished
};

// Returns the machine, which is never destroyed. It checks for leftovers at exit, and for calls after exit
// or in a forked child.
Machine& machine();
// Returns the machine and counts the call. `code` is set to the code that the call fails with, or 0.
Machine& machine(const char* call, int* code);

}  // namespace standin

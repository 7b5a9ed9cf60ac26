// SPDX-License-Identifier: Apache-2.0
// Contexts, command lists and events of the stand-in, and the program's knowledge of them. The program
// knows that a command has finished only from an event that it queried. This does not depend on the speed
// of the machine.
#pragma once

#include <level_zero/ze_api.h>

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "machine/machine.h"

namespace standin::level_zero {

struct Context {
  ze_context_handle_t handle;
};

// The engine that runs the copies of a list. With offload, copies run on an engine that only copies, except those
// within device memory.
enum class Engine { kCompute, kComputeWithOffload, kCopy };

// An immediate command list. Without the in-order flag, the commands between two barriers run in reverse
// order.
struct List {
  Context* context;
  int device;
  bool is_in_order;
  Engine engine;
  void* stream;
  void* side;  // for commands that only wait for an event, independent of the list's other work
  uint64_t appended = 0;
  std::vector<Copy> held;

  // Commands that the program knows have finished.
  uint64_t known_through = 0;
  std::set<uint64_t> known;
  bool knows(uint64_t command) const { return command <= known_through || known.contains(command); }
};

struct Pool {
  Context* context;
  std::set<uint32_t> free_indices;
};

struct Event {
  Pool* pool;
  uint32_t index;
  bool is_of_host;         // the host signals it, and no command may
  int device = 0;          // of `signal`
  void* signal = nullptr;  // the machine's event, set by the signaling command until the reset
  bool is_known = false;   // the program knows that it has fired
  std::shared_ptr<List> signalled_by;
  uint64_t command = 0;
  bool covers_all_before = false;
  std::vector<std::pair<std::shared_ptr<List>, uint64_t>> waits;  // commands that wait for it
};

// All objects of the process. An invalid handle ends the process. Thread-safety: any thread.
class Objects {
 public:
  explicit Objects(Machine& machine) : machine_(machine) {}

  ze_context_handle_t create_context();
  void destroy_context(ze_context_handle_t handle);
  // Checks the handle only.
  void check_context(ze_context_handle_t handle);

  ze_command_list_handle_t create_list(ze_context_handle_t context, int device, bool is_in_order, Engine engine);
  void destroy_list(ze_command_list_handle_t handle);
  void append_copy(ze_command_list_handle_t list, Copy copy);
  // Appends a barrier; `signal` may be NULL. Without `waits` the barrier runs after all earlier commands,
  // otherwise only after those events.
  void append_barrier(ze_command_list_handle_t list, ze_event_handle_t signal,
                      const std::vector<ze_event_handle_t>& waits);

  ze_event_pool_handle_t create_pool(ze_context_handle_t context, uint32_t count);
  void destroy_pool(ze_event_pool_handle_t handle);
  ze_event_handle_t create_event(ze_event_pool_handle_t pool, uint32_t index, bool is_of_host);
  void destroy_event(ze_event_handle_t handle);
  void signal(ze_event_handle_t handle);
  void reset(ze_event_handle_t handle);
  bool is_done(ze_event_handle_t handle);
  // Waits for the event, without limit if `timeout_ns` is negative. Returns false if the time runs out
  // first.
  bool wait(ze_event_handle_t handle, int64_t timeout_ns);

  void keep_memory(ze_context_handle_t context, uintptr_t start);
  void forget_memory(ze_context_handle_t context, uintptr_t start);
  // Returns true if the memory belongs to that context. Some drivers check only that.
  bool is_of_context(ze_context_handle_t context, uintptr_t start);

 private:
  // Find objects by handle. The caller holds mutex_.
  Context& context(ze_context_handle_t handle);
  std::shared_ptr<List> list(ze_command_list_handle_t handle);
  std::shared_ptr<Event> event(ze_event_handle_t handle);
  void submit_held(List& on);
  bool is_copied_by_cpu(const Copy& copy) const;
  bool is_on_device(uintptr_t address) const;
  void count_engine(const List& on, const Copy& copy) const;
  void check_idle(const Event& one, const char* what) const;
  void expect_signal(Event& one, int device);
  void unsignal(Event& one);

  Machine& machine_;
  std::mutex mutex_;  // guards all members below; released while a thread waits
  std::map<ze_context_handle_t, std::unique_ptr<Context>> contexts_;
  std::map<ze_command_list_handle_t, std::shared_ptr<List>> lists_;
  std::map<ze_event_pool_handle_t, std::unique_ptr<Pool>> pools_;
  std::map<ze_event_handle_t, std::shared_ptr<Event>> events_;
  std::map<uintptr_t, Context*> memory_;
};

}  // namespace standin::level_zero

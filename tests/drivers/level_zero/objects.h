// SPDX-License-Identifier: Apache-2.0
// Contexts, command lists and events as the stand-in has them, and what the program can know of them: that a list has
// got past a command it knows only from an event that it asked about, however fast the machine is.
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

// An immediate one. Without the flag that says so it is not in order: what is appended between two barriers runs in the
// reverse order then.
struct List {
  Context* context;
  int device;
  bool is_in_order;
  void* stream;
  void* side;  // for what comes after an event only, whatever else the list does
  uint64_t appended = 0;
  std::vector<Copy> held;

  // Commands that the program knows are over.
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
  void* signal = nullptr;  // the machine's event, from the command that signals it until it is reset
  bool is_known = false;   // that it has fired
  std::shared_ptr<List> signalled_by;
  uint64_t command = 0;
  bool covers_all_before = false;
  std::vector<std::pair<std::shared_ptr<List>, uint64_t>> waits;  // commands that wait for it
};

// All objects of the process. Handles that are not live end it. Thread-safety: free.
class Objects {
 public:
  explicit Objects(Machine& machine) : machine_(machine) {}

  ze_context_handle_t create_context();
  void destroy_context(ze_context_handle_t handle);
  // Only checked.
  void check_context(ze_context_handle_t handle);

  ze_command_list_handle_t create_list(ze_context_handle_t context, int device, bool is_in_order);
  void destroy_list(ze_command_list_handle_t handle);
  void append_copy(ze_command_list_handle_t list, Copy copy);
  // `signal` may be NULL. Without `waits` it comes after all before, with them only after those.
  void append_barrier(ze_command_list_handle_t list, ze_event_handle_t signal,
                      const std::vector<ze_event_handle_t>& waits);

  ze_event_pool_handle_t create_pool(ze_context_handle_t context, uint32_t count);
  void destroy_pool(ze_event_pool_handle_t handle);
  ze_event_handle_t create_event(ze_event_pool_handle_t pool, uint32_t index);
  void destroy_event(ze_event_handle_t handle);
  void reset(ze_event_handle_t handle);
  bool is_done(ze_event_handle_t handle);
  // For ever.
  // False when the time is over first; negative: for ever.
  bool wait(ze_event_handle_t handle, int64_t timeout_ns);

  void keep_memory(ze_context_handle_t context, uintptr_t start);
  void forget_memory(ze_context_handle_t context, uintptr_t start);
  // Whether memory is of that context, which is all that matters to some drivers.
  bool is_of_context(ze_context_handle_t context, uintptr_t start);

 private:
  // These need mutex_.
  Context& context(ze_context_handle_t handle);
  std::shared_ptr<List> list(ze_command_list_handle_t handle);
  std::shared_ptr<Event> event(ze_event_handle_t handle);
  void submit_held(List& on);
  void check_idle(const Event& one, const char* what) const;
  void unsignal(Event& one);

  Machine& machine_;
  std::mutex mutex_;  // guards all below; not held while somebody waits
  std::map<ze_context_handle_t, std::unique_ptr<Context>> contexts_;
  std::map<ze_command_list_handle_t, std::shared_ptr<List>> lists_;
  std::map<ze_event_pool_handle_t, std::unique_ptr<Pool>> pools_;
  std::map<ze_event_handle_t, std::shared_ptr<Event>> events_;
  std::map<uintptr_t, Context*> memory_;
};

}  // namespace standin::level_zero

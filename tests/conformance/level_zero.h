// SPDX-License-Identifier: Apache-2.0
// The Level Zero functions that the cases need, of the loader that the backend has opened. The tool is also built
// without the headers of Level Zero.
#pragma once

#include <cstddef>
#include <cstdint>

namespace arrowdevice::conformance {

// All functions throw Failure if the driver refuses the call. The handles are those of Level Zero.
class LevelZero {
 public:
  LevelZero();
  // Returns false if the backend has opened no loader.
  bool is_complete() const;

  // Creates a pool with two events: the host signals the first, and a command signals the second.
  struct Events {
    void* pool;
    void* opens;
    void* ends;
  };
  Events create_events(void* context) const;
  // Requires that no command signals an event or waits for it any more.
  void destroy(const Events& events) const;
  void signal(void* event) const;
  void wait(void* event) const;
  // Appends a barrier that waits for an event, or signals it after all earlier commands.
  void append_wait(void* list, void* event) const;
  void append_signal(void* list, void* event) const;

  // Allocates host memory that the driver knows.
  void* allocate_host(void* context, int64_t size) const;
  void free(void* context, void* memory) const;

 private:
  int (*create_pool_)(void* context, const void* description, uint32_t n, void* const* devices, void** out);
  int (*destroy_pool_)(void* pool);
  int (*create_event_)(void* pool, const void* description, void** out);
  int (*destroy_event_)(void* event);
  int (*signal_)(void* event);
  int (*wait_)(void* event, uint64_t timeout);
  int (*append_barrier_)(void* list, void* signal, uint32_t n, void* const* waits);
  int (*allocate_host_)(void* context, const void* description, size_t size, size_t alignment, void** out);
  int (*free_)(void* context, void* memory);
};

}  // namespace arrowdevice::conformance

// SPDX-License-Identifier: Apache-2.0
// Control of the simulation by a test that links it. It offers functions that no driver has, and makes tests of
// asynchronous work deterministic. All functions throw Error. Devices are named by id.
#pragma once

#include <arrowdevice/backend.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sim/configuration.h"
#include "sim/fence.h"
#include "sim/statistics.h"

namespace arrowdevice::sim::control {

// Returns the table of the last configuration. Tables from earlier calls stay valid and keep their functions.
const arrowdevice_backend* table();

// Resets the simulation. Work in flight fails. No device is held or lost, the counters are 0, and no failure is
// planned. Devices stay open with their buffers, queues and events. A device whose kind of buffers changes must be
// opened again. No other thread may call the table at the same time.
void reset(Configuration configuration = {});

// hold() stops the device's engine until resume(). Pending work stays pending.
void hold(int64_t id);
void resume(int64_t id);

// Loses the device. Work in flight and later submissions fail with EIO until reset().
void lose(int64_t id);

// Makes the nth call of a table function from now on fail. `code` 0 means the function's usual code. The name "event"
// makes the nth event recorded from now on fail. The name "lost" loses the device of the nth submission.
void fail_nth(std::string_view function, int64_t n, int code = 0);
void fail_next(std::string_view function, int code = 0);
void fail_no_more();  // forgets planned failures

// Returns the batches of copies that were submitted and have not finished.
int64_t copies_in_flight(int64_t id);

Counters counters(int64_t id);
int64_t calls(std::string_view function);  // calls after the last reset()
int64_t failures_injected();
int64_t refused();
std::vector<std::string> refusals();  // the first few messages
std::string statistics();             // the text that is written at exit

// These functions read and write device memory without the queues. A test uses them to set or check content.
void peek(int64_t id, const void* buffer, int64_t offset, void* out, int64_t size);
void poke(int64_t id, void* buffer, int64_t offset, const void* bytes, int64_t size);

// A published event that the test fires instead of a device, like an event of a foreign producer. It is pending at
// first. After its destruction, work that waits for it keeps waiting.
class UserEvent {
 public:
  UserEvent();
  ~UserEvent();
  UserEvent(const UserEvent&) = delete;
  UserEvent& operator=(const UserEvent&) = delete;

  void* sync_event() const { return sync_event_; }  // import it only while this object lives
  void set() { fence_->fire(); }
  void fail() { fence_->fail("an event that its producer failed"); }

 private:
  std::shared_ptr<Fence> fence_;
  void* handle_;
  void* sync_event_;
};

}  // namespace arrowdevice::sim::control

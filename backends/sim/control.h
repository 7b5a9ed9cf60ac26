// SPDX-License-Identifier: Apache-2.0
// The simulation in the hands of a test that links it: what no driver offers, and what makes tests of asynchronous work
// say the same every time. Errors are thrown, as Error. Devices go by their id.
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

// The table as it was configured last. One that was got before stays valid, with the functions it had.
const arrowdevice_backend* table();

// Begins anew: work in flight ends as failed, nothing is held, lost or counted, no failure is planned. Devices stay
// open, with their buffers, queues and events; one whose buffers become of another kind must be opened again.
// Not while another thread calls the table.
void reset(Configuration configuration = {});

// Between the return of hold() and resume(), the device's engine does nothing: what is pending stays so.
void hold(int64_t id);
void resume(int64_t id);

// The device is gone: what is in flight and what is submitted later fails with EIO, until reset().
void lose(int64_t id);

// The nth call from now on of a function of the table fails, with its usual code if `code` is 0. Also "event": the nth
// event recorded from now on; "lost": the device is lost that the nth submission goes to.
void fail_nth(std::string_view function, int64_t n, int code = 0);
void fail_next(std::string_view function, int code = 0);
void fail_no_more();  // what is planned is forgotten

Counters counters(int64_t id);
int64_t calls(std::string_view function);  // since the last reset()
int64_t failures_injected();
int64_t refused();
std::vector<std::string> refusals();  // the first few messages
std::string statistics();             // as written at exit

// Bytes of device memory, past the queues: for what a test wants to put there or find there.
void peek(int64_t id, const void* buffer, int64_t offset, void* out, int64_t size);
void poke(int64_t id, void* buffer, int64_t offset, const void* bytes, int64_t size);

// A published event that no device fires, but the test: what another producer would hand over. Pending at first. What
// waits for it still does when it is gone.
class UserEvent {
 public:
  UserEvent();
  ~UserEvent();
  UserEvent(const UserEvent&) = delete;
  UserEvent& operator=(const UserEvent&) = delete;

  void* sync_event() const { return sync_event_; }  // to be imported while this lives
  void set() { fence_->fire(); }
  void fail() { fence_->fail("an event that its producer failed"); }

 private:
  std::shared_ptr<Fence> fence_;
  void* handle_;
  void* sync_event_;
};

}  // namespace arrowdevice::sim::control

// SPDX-License-Identifier: Apache-2.0
#include "opencl/event.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <thread>

#include "base/deadline.h"
#include "opencl/query.h"
#include "opencl/watch.h"

namespace arrowdevice::opencl {
namespace {

using namespace std::chrono_literals;

// Sleeps between two polls of an event. The sleep is short at first and then a fraction of the time waited so far. A
// wait thus ends with little delay, and a long wait uses little CPU time.
constexpr auto kShortestNap = 5us;
constexpr auto kLongestNap = 1'000us;
constexpr int kNapShare = 8;

bool has_ended(cl_int status) { return status <= CL_COMPLETE; }

// Blocks until all events have finished or failed. Throws only for errors of the wait itself.
void wait_until_ended(std::span<const cl_event> events) {
  if (events.empty()) return;
  const cl_int code = api().clWaitForEvents(static_cast<cl_uint>(events.size()), events.data());
  // The driver may return at the first failure while other events are still running.
  if (code != CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST || events.size() == 1) {
    if (code != CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST) check("clWaitForEvents", code);
    return;
  }
  for (const auto& event : events) {
    if (!has_ended(status_of(event))) wait_until_ended({&event, 1});
  }
}

}  // namespace

std::vector<cl_event> handles_of(std::span<const Owned<cl_event>> events) {
  std::vector<cl_event> handles;
  handles.reserve(events.size());
  for (const auto& event : events) handles.push_back(event.get());
  return handles;
}

Event Event::import(cl_event foreign) {
  auto event = Owned<cl_event>::share(foreign);
  // A producer that has not flushed its queue may be waiting for the library.
  if (status_of(foreign) == CL_QUEUED) {
    auto* const queue = ask_event<cl_command_queue>(foreign, CL_EVENT_COMMAND_QUEUE);
    if (queue != nullptr) check("clFlush", api().clFlush(queue));
  }
  return {std::move(event), {}};
}

Event::~Event() {
  const auto release = [](Owned<cl_event>& event) {
    if (!event) return;
    cl_int status = CL_COMPLETE;
    const cl_int code =
        api().clGetEventInfo(event.get(), CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr);
    if (code == CL_SUCCESS && status < CL_COMPLETE) release_failed(std::move(event));
  };
  release(point_);
  for (auto& event : work_) release(event);
}

void Event::check_not_failed() const {
  if (failure_) throw Error(*failure_);
  for (const auto& event : work_) {
    if (const cl_int status = status_of(event.get()); status < 0) throw failed_work(status);
  }
}

// Reports a failure only when all work has ended, because the caller may then free the memory. The driver may never end
// the point behind work that failed.
bool Event::is_ready() const {
  if (!has_work_ended()) return false;
  check_not_failed();
  const cl_int status = status_of(point_.get());
  if (status < 0) throw failed_work(status);
  return status == CL_COMPLETE;
}

bool Event::has_failed() const noexcept {
  try {
    if (!has_work_ended()) return false;
    return failure_ || status_of(point_.get()) < 0 ||
           std::ranges::any_of(work_, [](const auto& event) { return status_of(event.get()) < 0; });
  } catch (...) {
    return false;
  }
}

bool Event::has_work_ended() const {
  return std::ranges::all_of(work_, [](const auto& event) { return has_ended(status_of(event.get())); });
}

void Event::wait_for_ever() const {
  wait_until_ended(handles_of(work_));
  check_not_failed();
  auto* const point = point_.get();
  wait_until_ended({&point, 1});
  if (!is_ready()) throw Error(EIO, "clWaitForEvents: it returned before the event had fired");
}

void Event::wait(int64_t timeout_ns) const {
  if (timeout_ns == ARROWDEVICE_NO_TIMEOUT) return wait_for_ever();
  const Deadline deadline(timeout_ns);
  const auto start = std::chrono::steady_clock::now();
  while (!is_ready()) {
    const auto left = std::chrono::nanoseconds(deadline.left());
    if (left < 0ns) throw Error(ETIMEDOUT, "the event has not fired in time");
    const std::chrono::nanoseconds waited = std::chrono::steady_clock::now() - start;
    const std::chrono::nanoseconds nap =
        std::clamp<std::chrono::nanoseconds>(waited / kNapShare, kShortestNap, kLongestNap);
    std::this_thread::sleep_for(std::min(left, nap));
  }
}

cl_event Event::point() const {
  check_not_failed();
  return point_.get();
}

cl_event* Event::publish() {
  check_not_failed();
  return point_.place();
}

}  // namespace arrowdevice::opencl

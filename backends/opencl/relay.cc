// SPDX-License-Identifier: Apache-2.0
#include "opencl/relay.h"

#include "opencl/query.h"
#include "opencl/watch.h"

namespace arrowdevice::opencl {

// Adds the relay to the watch first, so that the target is set in every case. PoCL 3.1 never calls back for an event
// that fails. The callback relays success, so the watch affects only the delay of failures.
std::shared_ptr<Relay> Relay::create(cl_context context, int failed_queries, End end) {
  cl_int code = CL_SUCCESS;
  auto target = Owned<cl_event>::wrap(api().clCreateUserEvent(context, &code));
  check("clCreateUserEvent", code);
  auto relay = std::make_shared<Relay>(std::move(target), failed_queries, std::move(end));
  Watch::instance().add([relay] { return relay->look(); });
  return relay;
}

void Relay::follow(Owned<cl_event> source) {
  source_ = std::move(source);
  is_following_.store(true, std::memory_order_release);
  auto user = std::make_unique<std::shared_ptr<Relay>>(shared_from_this());
  const auto call_back = [](cl_event, cl_int status, void* data) {
    const std::unique_ptr<std::shared_ptr<Relay>> relay(static_cast<std::shared_ptr<Relay>*>(data));
    (*relay)->finish(status < CL_COMPLETE ? status : CL_COMPLETE);
  };
  check("clSetEventCallback", api().clSetEventCallback(source_.get(), CL_COMPLETE, call_back, user.get()));
  static_cast<void>(user.release());  // the callback owns it
}

// The first thread that sees the source end sets the target.
void Relay::finish(cl_int status) noexcept {
  if (is_being_set_.test_and_set(std::memory_order_acq_rel)) return;
  if (status < CL_COMPLETE) has_failed_.store(true, std::memory_order_relaxed);
  set_target(end_(status));
}

void Relay::set_target(cl_int status) noexcept {
  const cl_int code = api().clSetUserEventStatus(target_.get(), status);
  // If a driver is out of memory, it may refuse, and consumers of the target would wait forever. The watch therefore
  // keeps this relay and tries again. Any other error means that the target is already set or was never created.
  if (code == CL_OUT_OF_RESOURCES || code == CL_OUT_OF_HOST_MEMORY) {
    is_being_set_.clear(std::memory_order_release);
  } else {
    is_done_.store(true, std::memory_order_release);
  }
}

// Returns true if the watch need not keep the relay. PoCL 3.1 reports work as failed before it stops using the memory.
bool Relay::is_over() noexcept {
  if (!is_done_.load(std::memory_order_acquire)) return false;
  if (!has_failed_.load(std::memory_order_relaxed)) return true;
  const auto now = std::chrono::steady_clock::now();
  if (!over_at_) over_at_ = now + kFailureEnds;
  return now >= *over_at_;
}

// Returns true if the relay is over. Polls for drivers that do not report failures.
bool Relay::look() noexcept {
  if (is_done_.load(std::memory_order_acquire)) return is_over();
  if (!is_following_.load(std::memory_order_acquire)) return false;
  cl_int status = CL_SUBMITTED;
  const cl_int code =
      api().clGetEventInfo(source_.get(), CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr);
  if (code == CL_SUCCESS) {
    if (status <= CL_COMPLETE) finish(status);
  } else if (--queries_left_ <= 0 && !is_being_set_.test_and_set(std::memory_order_acq_rel)) {
    has_failed_.store(true, std::memory_order_relaxed);  // the source is lost
    set_target(code);
  }
  return is_over();
}

Owned<cl_event> relay(cl_event source, cl_context context) {
  auto followed = Owned<cl_event>::share(source);
  const auto relay = Relay::create(context, 1, [](cl_int status) { return status; });
  relay->follow(std::move(followed));
  return Owned<cl_event>::share(relay->target());
}

}  // namespace arrowdevice::opencl

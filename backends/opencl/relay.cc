// SPDX-License-Identifier: Apache-2.0
#include "opencl/relay.h"

#include <atomic>
#include <memory>

#include "opencl/query.h"
#include "opencl/watch.h"

namespace arrowdevice::opencl {
namespace {

// A relay from a source to a target event. The first thread that sees the source finish sets the target.
class Relay {
 public:
  Relay(cl_event source, Owned<cl_event> target)
      : source_(Owned<cl_event>::share(source)), target_(std::move(target)) {}

  bool is_done() const noexcept { return is_done_.load(std::memory_order_acquire); }

  void finish(cl_int status) noexcept {
    if (is_being_set_.test_and_set(std::memory_order_acq_rel)) return;
    const cl_int code = api().clSetUserEventStatus(target_.get(), status);
    // If a driver is out of memory, it may refuse, and consumers of the target would wait forever. The watch therefore
    // keeps this relay and tries again. Any other error means that the target is already set or was never created.
    if (code == CL_OUT_OF_RESOURCES || code == CL_OUT_OF_HOST_MEMORY) {
      is_being_set_.clear(std::memory_order_release);
    } else {
      is_done_.store(true, std::memory_order_release);
    }
  }

  // Returns true if the relay is done. Polls for drivers that do not report failures.
  bool look() noexcept {
    if (is_done()) return true;
    cl_int status = CL_SUBMITTED;
    const cl_int code =
        api().clGetEventInfo(source_.get(), CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr);
    if (code != CL_SUCCESS) status = code;  // an event that cannot be queried is lost
    if (status <= CL_COMPLETE) finish(status);
    return is_done();
  }

 private:
  const Owned<cl_event> source_;
  const Owned<cl_event> target_;
  std::atomic_flag is_being_set_;  // stays set when the relay is done
  std::atomic<bool> is_done_{false};
};

void CL_CALLBACK source_has_ended(cl_event, cl_int status, void* user) {
  const std::unique_ptr<std::shared_ptr<Relay>> relay(static_cast<std::shared_ptr<Relay>*>(user));
  (*relay)->finish(status < CL_COMPLETE ? status : CL_COMPLETE);
}

}  // namespace

Owned<cl_event> relay(cl_event source, cl_context context) {
  cl_int code = CL_SUCCESS;
  auto target = Owned<cl_event>::wrap(api().clCreateUserEvent(context, &code));
  check("clCreateUserEvent", code);
  const auto relay = std::make_shared<Relay>(source, Owned<cl_event>::share(target.get()));
  // Adds the relay to the watch first, so that the target is set in every case. PoCL 3.1 never calls back for an event
  // that fails. The callback relays success, so the watch affects only the delay of failures.
  Watch::instance().add([relay] { return relay->look(); });
  auto user = std::make_unique<std::shared_ptr<Relay>>(relay);
  check("clSetEventCallback", api().clSetEventCallback(source, CL_COMPLETE, source_has_ended, user.get()));
  static_cast<void>(user.release());  // the callback owns it
  return target;
}

}  // namespace arrowdevice::opencl

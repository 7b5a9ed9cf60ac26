// SPDX-License-Identifier: Apache-2.0
#include "opencl/queue.h"

#include <cerrno>

#include "opencl/copy.h"
#include "opencl/query.h"
#include "opencl/relay.h"

namespace arrowdevice::opencl {

std::unique_ptr<Queue> Queue::wrap(Device& device, cl_command_queue native) {
  if (native == nullptr) throw Error(EINVAL, "OpenCL has no default queue: name a cl_command_queue");
  const auto properties = ask_queue<cl_command_queue_properties>(native, CL_QUEUE_PROPERTIES);
  if ((properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) != 0) {
    throw Error(EINVAL, "the cl_command_queue is out of order");
  }
  if (ask_queue<cl_context>(native, CL_QUEUE_CONTEXT) != device.context() ||
      ask_queue<cl_device_id>(native, CL_QUEUE_DEVICE) != device.native()) {
    throw Error(EINVAL, "the cl_command_queue is of another context or device");
  }
  return std::unique_ptr<Queue>(new Queue(device, Owned<cl_command_queue>::share(native), kApplications));
}

void Queue::check_not_failed() {
  pending_.settle();
  if (pending_.failure()) throw Error(*pending_.failure());
}

void Queue::copy(std::span<const arrowdevice_backend_region> regions) {
  check_not_failed();
  Copy(device_, native_.get(), pending_).enqueue(regions);
}

std::unique_ptr<Event> Queue::record() {
  pending_.settle();
  auto work = pending_.share();
  if (pending_.failure()) return std::make_unique<Event>(*pending_.failure(), std::move(work));
  const bool is_shared = is_shared_.load(std::memory_order_relaxed);
  Owned<cl_event> point;
  // A single command needs no marker after it.
  if (work.size() == 1 && !is_shared) {
    point = std::move(work.front());
    work.clear();
  } else if (work.empty() && pending_.last_finished() && !is_shared) {
    point = Owned<cl_event>::share(pending_.last_finished().get());
  } else {
    const auto list = handles_of(work);
    cl_event marker = nullptr;
    check("clEnqueueMarkerWithWaitList",
          api().clEnqueueMarkerWithWaitList(native_.get(), static_cast<cl_uint>(list.size()),
                                            list.empty() ? nullptr : list.data(), &marker));
    point = Owned<cl_event>::wrap(marker);
    pending_.replace_by(Owned<cl_event>::share(marker));
  }
  auto event = std::make_unique<Event>(std::move(point), std::move(work));
  check("clFlush", api().clFlush(native_.get()));
  return event;
}

void Queue::wait_for(const Event& event) {
  check_not_failed();
  // A failed event in a wait list hangs the queue on PoCL. The library therefore checks the event first and throws EIO.
  if (event.is_ready()) return;
  auto awaited = Owned<cl_event>::share(event.point());
  if (ask_event<cl_context>(awaited.get(), CL_EVENT_CONTEXT) != device_.context()) {
    awaited = relay(awaited.get(), device_.context());
  }
  auto* const handle = awaited.get();
  cl_event barrier = nullptr;
  check("clEnqueueBarrierWithWaitList", api().clEnqueueBarrierWithWaitList(native_.get(), 1, &handle, &barrier));
  pending_.add(Owned<cl_event>::wrap(barrier));
  // If the event has failed in the meantime, the state of the barrier is unknown.
  if (const cl_int status = status_of(handle); status < 0) {
    pending_.fail(failed_work(status));
    throw Error(*pending_.failure());
  }
}

}  // namespace arrowdevice::opencl

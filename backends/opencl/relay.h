// SPDX-License-Identifier: Apache-2.0
// Events from one context to another: OpenCL waits for events of the queue's own context only.
#pragma once

#include "opencl/handles.h"

namespace arrowdevice::opencl {

// An event in `context` that fires, or fails, with `source`. Does not wait for it.
Owned<cl_event> relay(cl_event source, cl_context context);

}  // namespace arrowdevice::opencl

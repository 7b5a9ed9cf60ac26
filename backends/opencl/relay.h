// SPDX-License-Identifier: Apache-2.0
// Relays events between contexts, because an OpenCL queue can wait only for events of its own context.
#pragma once

#include "opencl/handles.h"

namespace arrowdevice::opencl {

// Returns an event in `context` that fires or fails with `source`. Does not wait.
Owned<cl_event> relay(cl_event source, cl_context context);

}  // namespace arrowdevice::opencl

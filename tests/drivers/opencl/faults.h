// SPDX-License-Identifier: Apache-2.0
// A test loader in front of the real OpenCL loader: libarrowdevice-test-opencl.so. The backend opens it
// because ARROWDEVICE_OPENCL_LIBRARY names it. It forwards each call to libOpenCL.so.1, counts calls and
// held references, and makes planned calls fail. The test links it too, so that both use the same instance.
#pragma once

#include <string>
#include <vector>

namespace opencl_faults {

const std::vector<std::string>& functions();

// Clears plans and counts, and releases the references that failed releases have left.
void reset();

// Makes the nth call of a function from now, counted from 1, fail with that code. The call is not
// forwarded.
void plan(const std::string& function, long nth, int code);

// Makes the nth call from now of any function fail, except functions that release.
void plan_any(long nth, int code);

// Loses the device with its nth submission from now. That call and every later call that needs the device
// fail with CL_DEVICE_NOT_AVAILABLE until reset().
void plan_loss(long nth);

// Returns the number of failures in the life of the program.
long failures();

// Returns the function that failed after the last reset(), or "" if none did.
std::string failed();

long calls(const std::string& function);
long submissions();

// Returns the number of references that were created or retained and not released. `object` is the word in
// the function names, such as "Event". A reference whose release failed counts as live.
long live(const std::string& object);

}  // namespace opencl_faults

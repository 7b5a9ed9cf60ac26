// SPDX-License-Identifier: Apache-2.0
// A loader for tests that stands before the real one: libarrowdevice-test-opencl.so, which the backend opens because
// ARROWDEVICE_OPENCL_LIBRARY names it. It forwards each call to libOpenCL.so.1, counts it, counts the references that
// are held through it, and makes calls fail that are planned to. Linked by the test too, so that both have the same
// one.
#pragma once

#include <string>
#include <vector>

namespace opencl_faults {

const std::vector<std::string>& functions();

// Forgets plans and counts, and gives back what releases that failed have left.
void reset();

// The nth call of a function from now, counted from 1, fails with that code and is not forwarded.
void plan(const std::string& function, long nth, int code);

// The nth call from now of any function that does not release fails.
void plan_any(long nth, int code);

// The device is lost with its nth submission from now: that and every later call which needs the device fails with
// CL_DEVICE_NOT_AVAILABLE, until reset().
void plan_loss(long nth);

// Calls in its lifetime neither fail nor count for a plan.
class Pause {
 public:
  Pause();
  ~Pause();
  Pause(const Pause&) = delete;
  Pause& operator=(const Pause&) = delete;
};

// How many calls were made to fail since the program began.
long failures();

// The function that was made to fail since reset(); "" if none was.
std::string failed();

long calls(const std::string& function);
long submissions();

// References to objects that were created or retained and not released, by the functions' word for them: "Event". One
// whose release failed is live.
long live(const std::string& object);

}  // namespace opencl_faults

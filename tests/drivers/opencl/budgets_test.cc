// SPDX-License-Identifier: Apache-2.0
// The number of calls of the OpenCL driver that copies cost. The layer in this folder counts them.
#include "drivers/budgets.h"

#include <cstdlib>

#include "drivers/opencl/faults.h"
#include "support/catch.h"

namespace {

drivers::Calls calls() {
  drivers::Calls all;
  for (const auto& name : opencl_faults::functions()) {
    const long made = opencl_faults::calls(name);
    const auto is = [&](const char* part) { return name.find(part) != std::string::npos; };
    if (is("EnqueueRead") || is("EnqueueWrite") || is("EnqueueCopy") || is("EnqueueNative")) all.copies += made;
    if (is("clFlush")) all.submissions += made;
    if (is("clWaitFor")) all.waits += made;
    // A marker or barrier has an event.
    if (is("clCreate") || is("EnqueueMarker") || is("EnqueueBarrier")) all.objects += made;
    if (is("clGetMemObjectInfo") || is("clGetContextInfo")) all.questions += made;
  }
  return all;
}

void expect_within_budget(const char* table) {
  const std::string submission = std::getenv("ARROWDEVICE_OPENCL_SUBMISSION");
  drivers::expect_within_budget(
      submission == "kernel" ? "OpenCL, native kernels" : "OpenCL, commands", table,
      arrowdevice::testing::output_of(arrowdevice_device_find_by_id, ARROW_DEVICE_OPENCL, int64_t{0}), calls);
}

TEST_CASE("a thousand columns of 800 bytes cost few calls of OpenCL each way") { expect_within_budget("narrow"); }

TEST_CASE("columns of mixed types and sizes cost few calls of OpenCL each way") { expect_within_budget("mixed"); }

TEST_CASE("fifty columns of 100 kilobytes cost few calls of OpenCL each way") { expect_within_budget("medium"); }

TEST_CASE("a hundred columns of 100 kilobytes cost few calls of OpenCL each way") { expect_within_budget("wide"); }

TEST_CASE("a column of 64 megabytes costs few calls of OpenCL each way") { expect_within_budget("large"); }

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// OpenCL's codes: their names, their errno values, and errors that carry both.
#pragma once

#include <string>

#include "base/error.h"
#include "opencl/vendor.h"

namespace arrowdevice::opencl {

// Returns a text such as "CL_OUT_OF_RESOURCES (-5)".
std::string code_text(cl_int code);

// Returns an error such as "clCreateBuffer: CL_OUT_OF_RESOURCES (-5), 64 bytes".
Error failure(const char* call, cl_int code, const std::string& detail = {});

// Throws unless `code` is CL_SUCCESS.
inline void check(const char* call, cl_int code, const char* detail = "") {
  if (code != CL_SUCCESS) throw failure(call, code, detail);
}

// Returns the error of work that was accepted and failed later. `status` is the negative execution status of its event.
Error failed_work(cl_int status);

}  // namespace arrowdevice::opencl

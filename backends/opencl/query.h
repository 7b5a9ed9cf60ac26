// SPDX-License-Identifier: Apache-2.0
// Queries of OpenCL objects that return values.
#pragma once

#include <string>
#include <vector>

#include "opencl/api.h"
#include "opencl/codes.h"

namespace arrowdevice::opencl {

// Calls a clGet*Info function: query<cl_context>("clGetMemObjectInfo", api().clGetMemObjectInfo, buffer,
// CL_MEM_CONTEXT)
template <typename Value, typename Object, typename Parameter>
Value query(const char* call, cl_int(CL_API_CALL* get)(Object, Parameter, size_t, void*, size_t*), Object object,
            Parameter what) {
  Value value{};
  check(call, get(object, what, sizeof value, &value, nullptr));
  return value;
}

template <typename Value, typename Object, typename Parameter>
std::vector<Value> query_list(const char* call, cl_int(CL_API_CALL* get)(Object, Parameter, size_t, void*, size_t*),
                              Object object, Parameter what) {
  size_t bytes = 0;
  check(call, get(object, what, 0, nullptr, &bytes));
  std::vector<Value> values(bytes / sizeof(Value));
  if (!values.empty()) check(call, get(object, what, bytes, values.data(), nullptr));
  return values;
}

template <typename Object, typename Parameter>
std::string query_text(const char* call, cl_int(CL_API_CALL* get)(Object, Parameter, size_t, void*, size_t*),
                       Object object, Parameter what) {
  const auto letters = query_list<char>(call, get, object, what);
  return {letters.begin(), letters.empty() || letters.back() != '\0' ? letters.end() : letters.end() - 1};
}

template <typename Value>
Value ask_device(cl_device_id device, cl_device_info what) {
  return query<Value>("clGetDeviceInfo", api().clGetDeviceInfo, device, what);
}

inline std::string ask_device_text(cl_device_id device, cl_device_info what) {
  return query_text("clGetDeviceInfo", api().clGetDeviceInfo, device, what);
}

template <typename Value>
Value ask_buffer(cl_mem buffer, cl_mem_info what) {
  return query<Value>("clGetMemObjectInfo", api().clGetMemObjectInfo, buffer, what);
}

template <typename Value>
Value ask_event(cl_event event, cl_event_info what) {
  return query<Value>("clGetEventInfo", api().clGetEventInfo, event, what);
}

template <typename Value>
Value ask_queue(cl_command_queue queue, cl_command_queue_info what) {
  return query<Value>("clGetCommandQueueInfo", api().clGetCommandQueueInfo, queue, what);
}

inline std::vector<cl_device_id> devices_of(cl_context context) {
  return query_list<cl_device_id>("clGetContextInfo", api().clGetContextInfo, context,
                                  cl_context_info{CL_CONTEXT_DEVICES});
}

// Returns CL_COMPLETE, a positive number if the event is pending, or a negative number if it failed.
inline cl_int status_of(cl_event event) { return ask_event<cl_int>(event, CL_EVENT_COMMAND_EXECUTION_STATUS); }

}  // namespace arrowdevice::opencl

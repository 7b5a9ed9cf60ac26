// SPDX-License-Identifier: Apache-2.0
// The C functions for arrays of other processes.
#include <span>

#include "api/handles.h"
#include "link/get_handle.h"
#include "link/open_handle.h"

using namespace arrowdevice;  // NOLINT: the C API is this library's own
using api::required;

extern "C" {

ARROWDEVICE_API int arrowdevice_array_get_ipc_handle(ArrowDeviceArray* inout, const ArrowSchema* schema,
                                                     const arrowdevice_copy_options* options,
                                                     arrowdevice_ipc_handle* out, arrowdevice_error* error) {
  return guarded(error, [&] {
    required(out, "out").release = nullptr;
    const auto known = api::read_copy_options(options);
    link::get_handle(required(inout, "inout"), required(schema, "schema"), known, out);
  });
}

ARROWDEVICE_API void arrowdevice_ipc_handle_release(arrowdevice_ipc_handle* handle) {
  if (handle != nullptr && handle->release != nullptr) handle->release(handle);
}

ARROWDEVICE_API int arrowdevice_array_open_ipc_handle(const uint8_t* bytes, int64_t size, const int* descriptors,
                                                      int64_t n_descriptors, const arrowdevice_copy_options* options,
                                                      ArrowDeviceArray* out, ArrowSchema* out_schema,
                                                      arrowdevice_error* error) {
  return guarded(error, [&] {
    required(out, "out").array.release = nullptr;
    required(out_schema, "out_schema").release = nullptr;
    if (size < 0) throw Error(EINVAL, format("size is %lld", static_cast<long long>(size)));
    if (n_descriptors < 0) throw Error(EINVAL, format("n_descriptors is %lld", static_cast<long long>(n_descriptors)));
    const std::span message(&required(bytes, "bytes"), static_cast<size_t>(size));
    const std::span numbers(&required(descriptors, "descriptors"), static_cast<size_t>(n_descriptors));
    link::open_handle(message, numbers, api::read_copy_options(options), out, out_schema);
  });
}

}  // extern "C"

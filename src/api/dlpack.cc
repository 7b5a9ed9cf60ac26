// SPDX-License-Identifier: Apache-2.0
// The C functions that exchange tensors with DLPack.
#include "api/handles.h"
#include "interop/export.h"
#include "interop/import.h"

using namespace arrowdevice;  // NOLINT: the C API is this library's own
using api::required;

extern "C" {

ARROWDEVICE_API int arrowdevice_dlpack_export(ArrowDeviceArray* inout, const ArrowSchema* schema,
                                              arrowdevice_queue* consumer_queue, DLManagedTensorVersioned** out,
                                              arrowdevice_error* error) {
  return guarded(error, [&] {
    api::prepare(out);
    *out = interop::to_c(interop::export_tensor(required(inout, "inout"), required(schema, "schema"),
                                                api::queue_or_null(consumer_queue)));
  });
}

ARROWDEVICE_API int arrowdevice_dlpack_import(DLManagedTensorVersioned* moved, arrowdevice_queue* producer_queue,
                                              ArrowDeviceArray* out, ArrowSchema* out_schema,
                                              arrowdevice_error* error) {
  return guarded(error, [&] {
    required(out, "out").array.release = nullptr;
    if (out_schema != nullptr) out_schema->release = nullptr;
    interop::import_tensor(required(interop::from_c(moved), "moved"), api::queue_or_null(producer_queue), out,
                           out_schema);
  });
}

}  // extern "C"

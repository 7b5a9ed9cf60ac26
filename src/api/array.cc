// SPDX-License-Identifier: Apache-2.0
// The C functions for arrays and schemas.
#include "api/handles.h"
#include "array/eventfd.h"
#include "array/export.h"
#include "array/locate.h"
#include "array/slice.h"
#include "base/deadline.h"
#include "inspect/validate.h"
#include "schema/copy.h"
#include "transfer/move.h"

using namespace arrowdevice;  // NOLINT: the C API is this library's own
using api::device_of;
using api::prepare;
using api::queue_of;
using api::required;

namespace arrowdevice::api {

[[gnu::hot]] inspect::Level read_level(int level) {
  switch (level) {
    case ARROWDEVICE_VALIDATE_STRUCTURE: return inspect::Level::kStructure;
    case ARROWDEVICE_VALIDATE_FULL: return inspect::Level::kFull;
    case ARROWDEVICE_VALIDATE_STRICT: return inspect::Level::kStrict;
    default: throw Error(EINVAL, format("invalid validation level %d (expected 0 to 2)", level));
  }
}

}  // namespace arrowdevice::api

extern "C" {

ARROWDEVICE_API int arrowdevice_array_export(arrowdevice_device* device, ArrowArray* moved,
                                             arrowdevice_queue* producer_queue, ArrowDeviceArray* out,
                                             arrowdevice_error* error) {
  return guarded(error, [&] {
    prepare(out, moved);
    array::export_array(device_of(device), required(moved, "moved"), api::queue_or_null(producer_queue), out);
  });
}

ARROWDEVICE_API int arrowdevice_array_export_event(arrowdevice_device* device, ArrowArray* moved, void* sync_event,
                                                   void (*event_release)(void*, void*), void* user,
                                                   ArrowDeviceArray* out, arrowdevice_error* error) {
  return guarded(error, [&] {
    prepare(out, moved);
    array::export_with_event(device_of(device), required(moved, "moved"), sync_event, event_release, user, out);
  });
}

ARROWDEVICE_API int arrowdevice_array_from_host(ArrowArray* moved, ArrowDeviceArray* out, arrowdevice_error* error) {
  return guarded(error, [&] {
    prepare(out, moved);
    transfer::from_host(required(moved, "moved"), out);
  });
}

ARROWDEVICE_API int arrowdevice_array_get_device(const ArrowDeviceArray* array, arrowdevice_device** out,
                                                 arrowdevice_error* error) {
  return guarded(error, [&] {
    api::prepare(out);
    array::check_alive(array);
    *out = api::to_c(&array::device_of(*array, nullptr));
  });
}

ARROWDEVICE_API void arrowdevice_array_move(ArrowDeviceArray* from, ArrowDeviceArray* to) {
  if (from == nullptr || to == nullptr || from == to) return;
  *to = *from;
  from->array.release = nullptr;
}

[[gnu::hot]] ARROWDEVICE_API void arrowdevice_array_release(ArrowDeviceArray* array) {
  if (array != nullptr) arrowdevice_host_array_release(&array->array);
}

ARROWDEVICE_API int arrowdevice_array_release_after(ArrowDeviceArray* moved, arrowdevice_queue* queue,
                                                    arrowdevice_error* error) {
  return guarded(error, [&] { transfer::release_after(required(moved, "moved"), queue_of(queue)); });
}

ARROWDEVICE_API int arrowdevice_array_share(ArrowDeviceArray* inout, ArrowDeviceArray* out, arrowdevice_error* error) {
  return guarded(error, [&] {
    prepare(out, inout);
    array::share(required(inout, "inout"), out);
  });
}

ARROWDEVICE_API int arrowdevice_array_is_ready(const ArrowDeviceArray* array, arrowdevice_device* source_device,
                                               int* out, arrowdevice_error* error) {
  return guarded(error, [&] {
    required(out, "out") = 0;
    array::check_alive(array);
    *out = array::is_ready(*array, api::from_c(source_device)) ? 1 : 0;
  });
}

ARROWDEVICE_API int arrowdevice_array_wait(const ArrowDeviceArray* array, arrowdevice_device* source_device,
                                           int64_t timeout_ns, arrowdevice_error* error) {
  return guarded(error, [&] {
    array::check_alive(array);
    array::wait(*array, api::from_c(source_device), Deadline(timeout_ns));
  });
}

ARROWDEVICE_API int arrowdevice_array_open_eventfd(const ArrowDeviceArray* array, arrowdevice_device* source_device,
                                                   int* out, arrowdevice_error* error) {
  return guarded(error, [&] {
    required(out, "out") = -1;
    *out = array::open_eventfd(required(array, "array"), api::from_c(source_device));
  });
}

ARROWDEVICE_API int arrowdevice_array_slice(ArrowDeviceArray* inout, const ArrowSchema* schema, int64_t offset,
                                            int64_t length, ArrowDeviceArray* out, arrowdevice_error* error) {
  return guarded(error, [&] {
    prepare(out, inout);
    array::slice(required(inout, "inout"), required(schema, "schema"), offset, length, out);
  });
}

ARROWDEVICE_API int arrowdevice_array_select(ArrowDeviceArray* inout, const ArrowSchema* schema,
                                             const int64_t* children, int64_t n, ArrowDeviceArray* out,
                                             ArrowSchema* out_schema, arrowdevice_error* error) {
  return guarded(error, [&] {
    prepare(out, inout);
    if (out_schema != nullptr) {
      if (out_schema == schema) throw Error(EINVAL, "out_schema is also an input");
      out_schema->release = nullptr;
    }
    if (n < 0) throw Error(EINVAL, "n is negative");
    if (n > 0) required(children, "children");
    array::select(required(inout, "inout"), required(schema, "schema"), {children, static_cast<size_t>(n)}, out,
                  out_schema);
  });
}

ARROWDEVICE_API int arrowdevice_array_validate(const ArrowDeviceArray* array, const ArrowSchema* schema,
                                               arrowdevice_device* source_device, int level, arrowdevice_error* error) {
  return guarded(error, [&] {
    const auto known = api::read_level(level);
    inspect::validate(required(array, "array"), required(schema, "schema"), api::from_c(source_device), known,
                      Deadline(ARROWDEVICE_NO_TIMEOUT));
  });
}

ARROWDEVICE_API int arrowdevice_schema_copy(const ArrowSchema* schema, ArrowSchema* out, arrowdevice_error* error) {
  return guarded(error, [&] {
    required(out, "out");
    if (out == schema) throw Error(EINVAL, "out is also an input");
    out->release = nullptr;
    schema::copy(required(schema, "schema"), out);
  });
}

ARROWDEVICE_API void arrowdevice_schema_release(ArrowSchema* schema) {
  if (schema != nullptr && schema->release != nullptr) schema->release(schema);
}

[[gnu::hot]] ARROWDEVICE_API void arrowdevice_host_array_release(ArrowArray* array) {
  if (array != nullptr && array->release != nullptr) array->release(array);
}

}  // extern "C"

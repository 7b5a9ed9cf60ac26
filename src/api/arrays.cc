// SPDX-License-Identifier: Apache-2.0
// The C functions for arrays.
#include "api/handles.h"
#include "array/export.h"
#include "array/locate.h"
#include "array/slice.h"
#include "base/deadline.h"
#include "base/sized_struct.h"
#include "inspect/validate.h"
#include "inspect/view.h"
#include "schema/binding.h"
#include "schema/tree.h"
#include "transfer/move.h"

using namespace arrowdevice;  // NOLINT: the C API is this library's own
using api::device_of;
using api::queue_of;
using api::required;

namespace {

// Struct sizes in bytes in programs of the first release.
constexpr uint32_t kFirstCopyOptionsSize = 40;
constexpr uint32_t kFirstImportOptionsSize = 40;

// Throws EINVAL if `out` is an input too. Marks an out struct as released, so that it is released after a failure.
void prepare(ArrowDeviceArray* out, const void* input) {
  required(out, "out");
  if (out == input || &out->array == input) throw Error(EINVAL, "out is also an input");
  out->array.release = nullptr;
}

void prepare(ArrowArray* out, const ArrowDeviceArray* input) {
  required(out, "out");
  if (input != nullptr && out == &input->array) throw Error(EINVAL, "out is also an input");
  out->release = nullptr;
}

transfer::CopyOptions read(const arrowdevice_copy_options* given) {
  const auto options = read_sized(given, kFirstCopyOptionsSize, "options");
  auto read = api::read_copy_flags(options.flags, "options.flags");
  read.queue = api::queue_or_null(options.queue);
  read.pool = api::share(options.pool);
  read.source = api::from_c(options.source_device);
  read.deadline = Deadline(options.timeout_ns);
  return read;
}

inspect::Level read_level(int level) {
  switch (level) {
    case ARROWDEVICE_VALIDATE_STRUCTURE: return inspect::Level::kStructure;
    case ARROWDEVICE_VALIDATE_FULL: return inspect::Level::kFull;
    case ARROWDEVICE_VALIDATE_STRICT: return inspect::Level::kStrict;
    default: throw Error(EINVAL, format("invalid validation level %d (expected 0 to 2)", level));
  }
}

inspect::ImportOptions read(const arrowdevice_import_options* given) {
  const auto options = read_sized(given, kFirstImportOptionsSize, "options");
  if (const uint32_t unknown = options.flags & ~uint32_t{ARROWDEVICE_IMPORT_RESOLVE_SIZES}; unknown != 0) {
    throw Error(EINVAL, format("options.flags has unknown bits 0x%x", unknown));
  }
  return {.level = read_level(options.validate),
          .learn_sizes = (options.flags & ARROWDEVICE_IMPORT_RESOLVE_SIZES) != 0,
          .queue = api::queue_or_null(options.queue),
          .source = api::from_c(options.source_device),
          .deadline = Deadline(options.timeout_ns)};
}

}  // namespace

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

ARROWDEVICE_API int arrowdevice_array_get_device(const ArrowDeviceArray* array, arrowdevice_device** out,
                                                 arrowdevice_error* error) {
  return guarded(error, [&] {
    api::prepare(out);
    array::check_alive(array);
    *out = api::to_c(&array::device_of(*array, nullptr));
  });
}

ARROWDEVICE_API int arrowdevice_array_import(ArrowDeviceArray* moved, const ArrowSchema* schema,
                                             const arrowdevice_import_options* options, arrowdevice_view** out,
                                             arrowdevice_error* error) {
  return guarded(error, [&] {
    api::prepare(out);
    const auto known = read(options);
    *out = new arrowdevice_view{inspect::View(required(moved, "moved"), required(schema, "schema"), known)};
  });
}

ARROWDEVICE_API const arrowdevice_node* arrowdevice_view_get_root(const arrowdevice_view* view) {
  return view != nullptr ? &view->view.root() : nullptr;
}

ARROWDEVICE_API const ArrowDeviceArray* arrowdevice_view_get_array(const arrowdevice_view* view) {
  return view != nullptr ? &view->view.array() : nullptr;
}

ARROWDEVICE_API arrowdevice_device* arrowdevice_view_get_device(const arrowdevice_view* view) {
  return view != nullptr ? api::to_c(&view->view.device()) : nullptr;
}

ARROWDEVICE_API int arrowdevice_view_share(const arrowdevice_view* view, ArrowDeviceArray* out,
                                           arrowdevice_error* error) {
  return guarded(error, [&] {
    prepare(out, arrowdevice_view_get_array(view));
    required(view, "view").view.share(out);
  });
}

ARROWDEVICE_API void arrowdevice_view_detach(arrowdevice_view* view, ArrowDeviceArray* out) {
  if (out != nullptr) out->array.release = nullptr;
  if (view == nullptr || out == nullptr) return;
  view->view.detach(out);
  delete view;
}

ARROWDEVICE_API void arrowdevice_view_release(arrowdevice_view* view) { delete view; }

ARROWDEVICE_API int arrowdevice_view_release_after(arrowdevice_view* moved, arrowdevice_queue* queue,
                                                   arrowdevice_error* error) {
  return guarded(error, [&] {
    required(moved, "moved").view.release_after(queue_of(queue));
    delete moved;
  });
}

ARROWDEVICE_API void arrowdevice_array_move(ArrowDeviceArray* from, ArrowDeviceArray* to) {
  if (from == nullptr || to == nullptr || from == to) return;
  *to = *from;
  from->array.release = nullptr;
}

ARROWDEVICE_API void arrowdevice_array_release(ArrowDeviceArray* array) {
  if (array != nullptr) arrowdevice_host_array_release(&array->array);
}

ARROWDEVICE_API int arrowdevice_array_release_after(ArrowDeviceArray* moved, arrowdevice_queue* queue,
                                                    arrowdevice_error* error) {
  return guarded(error, [&] { transfer::release_after(required(moved, "moved"), queue_of(queue)); });
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

ARROWDEVICE_API int arrowdevice_queue_wait_array(arrowdevice_queue* queue, const ArrowDeviceArray* array,
                                                 arrowdevice_device* source_device, arrowdevice_error* error) {
  return guarded(error, [&] {
    array::check_alive(array);
    array::wait_on(*array, api::from_c(source_device), queue_of(queue));
  });
}

ARROWDEVICE_API int arrowdevice_array_copy(const ArrowDeviceArray* array, const ArrowSchema* schema,
                                           arrowdevice_device* to, const arrowdevice_copy_options* options,
                                           ArrowDeviceArray* out, arrowdevice_error* error) {
  return guarded(error, [&] {
    prepare(out, array);
    const auto known = read(options);
    transfer::copy(required(array, "array"), required(schema, "schema"), device_of(to), known, out);
  });
}

ARROWDEVICE_API int arrowdevice_array_to_device(ArrowDeviceArray* moved, const ArrowSchema* schema,
                                                arrowdevice_device* to, const arrowdevice_copy_options* options,
                                                ArrowDeviceArray* out, arrowdevice_error* error) {
  return guarded(error, [&] {
    prepare(out, moved);
    const auto known = read(options);
    transfer::to_device(required(moved, "moved"), required(schema, "schema"), device_of(to), known, out);
  });
}

ARROWDEVICE_API int arrowdevice_array_from_host(ArrowArray* moved, ArrowDeviceArray* out, arrowdevice_error* error) {
  return guarded(error, [&] {
    prepare(out, moved);
    transfer::from_host(required(moved, "moved"), out);
  });
}

ARROWDEVICE_API int arrowdevice_array_to_host(ArrowDeviceArray* moved, const ArrowSchema* schema,
                                              const arrowdevice_copy_options* options, ArrowArray* out,
                                              arrowdevice_error* error) {
  return guarded(error, [&] {
    prepare(out, moved);
    const auto known = read(options);
    transfer::to_host(required(moved, "moved"), required(schema, "schema"), known, out);
  });
}

ARROWDEVICE_API int arrowdevice_array_share(ArrowDeviceArray* inout, ArrowDeviceArray* out, arrowdevice_error* error) {
  return guarded(error, [&] {
    prepare(out, inout);
    array::share(required(inout, "inout"), out);
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
    const auto known = read_level(level);
    inspect::validate(required(array, "array"), required(schema, "schema"), api::from_c(source_device), known,
                      Deadline(ARROWDEVICE_NO_TIMEOUT));
  });
}

}  // extern "C"

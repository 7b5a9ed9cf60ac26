// SPDX-License-Identifier: Apache-2.0
// The C functions for views.
#include "inspect/view.h"

#include "api/handles.h"
#include "base/deadline.h"
#include "base/sized_struct.h"

using namespace arrowdevice;  // NOLINT: the C API is this library's own
using api::prepare;
using api::queue_of;
using api::required;

namespace {

// Struct size in bytes in programs of the first release.
constexpr uint32_t kFirstImportOptionsSize = 40;

inspect::ImportOptions read(const arrowdevice_import_options* given) {
  const auto options = read_sized(given, kFirstImportOptionsSize, "options");
  if (const uint32_t unknown = options.flags & ~uint32_t{ARROWDEVICE_IMPORT_RESOLVE_SIZES}; unknown != 0) {
    throw Error(EINVAL, format("options.flags has unknown bits 0x%x", unknown));
  }
  return {.level = api::read_level(options.validate),
          .learn_sizes = (options.flags & ARROWDEVICE_IMPORT_RESOLVE_SIZES) != 0,
          .queue = api::queue_or_null(options.queue),
          .source = api::from_c(options.source_device),
          .deadline = Deadline(options.timeout_ns)};
}

}  // namespace

extern "C" {

[[gnu::hot]] ARROWDEVICE_API int arrowdevice_array_import(ArrowDeviceArray* moved, const ArrowSchema* schema,
                                                          const arrowdevice_import_options* options,
                                                          arrowdevice_view** out, arrowdevice_error* error) {
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

[[gnu::hot]] ARROWDEVICE_API void arrowdevice_view_release(arrowdevice_view* view) { delete view; }

ARROWDEVICE_API int arrowdevice_view_release_after(arrowdevice_view* moved, arrowdevice_queue* queue,
                                                   arrowdevice_error* error) {
  return guarded(error, [&] {
    required(moved, "moved").view.release_after(queue_of(queue));
    delete moved;
  });
}

}  // extern "C"

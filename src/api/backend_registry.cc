// SPDX-License-Identifier: Apache-2.0
// The C functions for backends.
#include "backend/registry.h"

#include "api/handles.h"
#include "base/sized_struct.h"
#include "base/text.h"

using namespace arrowdevice;  // NOLINT: the C API is this library's own
using api::required;

namespace {

// Struct size in bytes in programs of the first release.
constexpr uint32_t kFirstReportSize = 1536;

}  // namespace

extern "C" {

ARROWDEVICE_API int arrowdevice_backend_load(const char* absolute_path, arrowdevice_error* error) {
  return guarded(error, [&] { backend::Registry::instance().load(&required(absolute_path, "absolute_path")); });
}

ARROWDEVICE_API int arrowdevice_backend_register(const arrowdevice_backend* table, arrowdevice_error* error) {
  return guarded(error, [&] { backend::Registry::instance().add(&required(table, "table")); });
}

ARROWDEVICE_API int arrowdevice_backend_get_report(int64_t index, arrowdevice_backend_report* out,
                                                   arrowdevice_error* error) {
  return guarded(error, [&] {
    backend::Look look;
    if (index < 0 || !backend::Registry::instance().look(static_cast<size_t>(index), &look)) {
      throw Error(ENOENT, "nothing was looked at as number " + std::to_string(index));
    }
    arrowdevice_backend_report report{};
    report.status = look.status;
    copy_text(report.name, look.name);
    copy_text(report.path, look.path);
    copy_text(report.reason, look.reason);
    write_sized(out, report, kFirstReportSize, "report");
  });
}

}  // extern "C"

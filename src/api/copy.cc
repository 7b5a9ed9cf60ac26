// SPDX-License-Identifier: Apache-2.0
// The C functions that copy arrays.
#include "transfer/copy.h"

#include "api/handles.h"
#include "base/deadline.h"
#include "base/sized_struct.h"
#include "transfer/host_copies.h"
#include "transfer/move.h"
#include "transfer/two_pass_copy.h"

using namespace arrowdevice;  // NOLINT: the C API is this library's own
using api::device_of;
using api::prepare;
using api::required;

namespace {

// Struct size in bytes in programs of the first release.
constexpr uint32_t kFirstCopyOptionsSize = 40;

constexpr uint32_t kCopyFlags =
    ARROWDEVICE_COPY_ASYNC | ARROWDEVICE_COPY_ALWAYS | ARROWDEVICE_COPY_NEVER | ARROWDEVICE_COPY_NO_TRIM;

// Returns true if the options ask for nothing that a complete copy in memory of the library's choice does not have.
bool are_common(const arrowdevice_copy_options* options) noexcept {
  if (options == nullptr) return true;
  return options->struct_size == sizeof *options &&
         (options->flags & ~uint32_t{ARROWDEVICE_COPY_ASYNC | ARROWDEVICE_COPY_ALWAYS}) == 0 &&
         options->queue == nullptr && options->pool == nullptr && options->source_device == nullptr;
}

// Returns true if all arguments are there, and the output is no input.
bool are_given(const ArrowDeviceArray* array, const ArrowSchema* schema, const arrowdevice_device* to,
               const ArrowDeviceArray* out) noexcept {
  return array != nullptr && schema != nullptr && to != nullptr && out != nullptr && out != array;
}

}  // namespace

namespace arrowdevice::api {

transfer::CopyOptions read_copy_flags(uint32_t flags, const char* name) {
  if ((flags & ~kCopyFlags) != 0) throw Error(EINVAL, format("%s has unknown bits 0x%x", name, flags & ~kCopyFlags));
  const auto has = [&](uint32_t flag) { return (flags & flag) != 0; };
  if (has(ARROWDEVICE_COPY_ALWAYS) && has(ARROWDEVICE_COPY_NEVER)) {
    throw Error(EINVAL, "COPY_ALWAYS and COPY_NEVER rule each other out");
  }
  transfer::CopyOptions options;
  options.async = has(ARROWDEVICE_COPY_ASYNC);
  options.always = has(ARROWDEVICE_COPY_ALWAYS);
  options.never = has(ARROWDEVICE_COPY_NEVER);
  options.whole = has(ARROWDEVICE_COPY_NO_TRIM);
  return options;
}

transfer::CopyOptions read_copy_options(const arrowdevice_copy_options* given) {
  const auto options = read_sized(given, kFirstCopyOptionsSize, "options");
  auto read = read_copy_flags(options.flags, "options.flags");
  read.queue = queue_or_null(options.queue);
  read.pool = share(options.pool);
  read.source = from_c(options.source_device);
  read.deadline = Deadline(options.timeout_ns);
  return read;
}

}  // namespace arrowdevice::api

extern "C" {

[[gnu::hot]] ARROWDEVICE_API int arrowdevice_array_copy(const ArrowDeviceArray* array, const ArrowSchema* schema,
                                                        arrowdevice_device* to, const arrowdevice_copy_options* options,
                                                        ArrowDeviceArray* out, arrowdevice_error* error) {
  const bool is_common = are_given(array, schema, to, out) && are_common(options);
  if (is_common && transfer::copy_in_two_passes(*array, *schema, *api::from_c(to), out)) return 0;
  return guarded(error, [&] {
    prepare(out, array);
    const auto known = api::read_copy_options(options);
    transfer::copy(required(array, "array"), required(schema, "schema"), device_of(to), known, out);
  });
}

ARROWDEVICE_API int arrowdevice_array_to_device(ArrowDeviceArray* moved, const ArrowSchema* schema,
                                                arrowdevice_device* to, const arrowdevice_copy_options* options,
                                                ArrowDeviceArray* out, arrowdevice_error* error) {
  return guarded(error, [&] {
    prepare(out, moved);
    const auto known = api::read_copy_options(options);
    transfer::to_device(required(moved, "moved"), required(schema, "schema"), device_of(to), known, out);
  });
}

ARROWDEVICE_API int arrowdevice_array_to_host(ArrowDeviceArray* moved, const ArrowSchema* schema,
                                              const arrowdevice_copy_options* options, ArrowArray* out,
                                              arrowdevice_error* error) {
  return guarded(error, [&] {
    prepare(out, moved);
    const auto known = api::read_copy_options(options);
    transfer::to_host(required(moved, "moved"), required(schema, "schema"), known, out);
  });
}

ARROWDEVICE_API int arrowdevice_array_to_host_async(ArrowDeviceArray* moved, const ArrowSchema* schema,
                                                    const arrowdevice_copy_options* options,
                                                    void (*done)(void*, ArrowArray*, ArrowDeviceArray*,
                                                                 const arrowdevice_error*),
                                                    void* user, arrowdevice_error* error) {
  return guarded(error, [&] {
    const auto known = api::read_copy_options(options);
    if (done == nullptr) throw Error(EINVAL, "done is NULL");
    transfer::to_host_async(required(moved, "moved"), required(schema, "schema"), known, done, user);
  });
}

}  // extern "C"

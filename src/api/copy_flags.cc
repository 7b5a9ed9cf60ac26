// SPDX-License-Identifier: Apache-2.0
#include "api/handles.h"

namespace arrowdevice::api {
namespace {

constexpr uint32_t kCopyFlags =
    ARROWDEVICE_COPY_ASYNC | ARROWDEVICE_COPY_ALWAYS | ARROWDEVICE_COPY_NEVER | ARROWDEVICE_COPY_NO_TRIM;

}  // namespace

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

}  // namespace arrowdevice::api

// SPDX-License-Identifier: Apache-2.0
// Looking at a shared object before the loader does.
#pragma once

#include <string>

namespace arrowdevice::backend {

// Whether the file is a shared object for this machine, and whole. The loader maps what an object says it has, so one
// that was cut off, as by a full disk, would end the process at the first touch of what is missing. Throws Error with
// the reason: ENOENT no such file, else EINVAL.
void check_shared_object(const std::string& path);

}  // namespace arrowdevice::backend

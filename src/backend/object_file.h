// SPDX-License-Identifier: Apache-2.0
// A check of shared objects before the loader opens them.
#pragma once

#include <string>

namespace arrowdevice::backend {

// Checks that the file is a complete shared object for this machine. The loader maps all bytes that an object claims. A
// truncated object, for example after a full disk, would end the process at the first access to a missing page. Throws
// Error with the reason: ENOENT if there is no such file, else EINVAL.
void check_shared_object(const std::string& path);

}  // namespace arrowdevice::backend

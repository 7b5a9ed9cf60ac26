// SPDX-License-Identifier: Apache-2.0
// Opens a plugin's shared object.
#pragma once

#include <arrowdevice/backend.h>

#include <string>

namespace arrowdevice::backend {

// Returns the table that the plugin's entry returns. The object stays open for the life of the process. Throws ENOENT
// if there is no such file, EINVAL if the file is not a plugin. If the entry fails, throws its code and text.
const arrowdevice_backend* open_plugin(const std::string& absolute_path);

// Returns "cuda" for ".../libarrowdevice-cuda.so", or an empty text if the file is not named like a plugin.
std::string plugin_name(const std::string& path);

}  // namespace arrowdevice::backend

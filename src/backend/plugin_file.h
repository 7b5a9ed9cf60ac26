// SPDX-License-Identifier: Apache-2.0
// Opening a plugin's shared object.
#pragma once

#include <arrowdevice/backend.h>

#include <string>

namespace arrowdevice::backend {

// The table that the plugin's entry returns. The object stays open for ever. Throws Error with the reason: ENOENT no
// such file, EINVAL not a plugin, or the code and text of the entry.
const arrowdevice_backend* open_plugin(const std::string& absolute_path);

// "cuda" for ".../libarrowdevice-cuda.so"; empty for a file that is not named like a plugin.
std::string plugin_name(const std::string& path);

}  // namespace arrowdevice::backend

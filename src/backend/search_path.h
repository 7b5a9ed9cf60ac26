// SPDX-License-Identifier: Apache-2.0
// The folders in which plugins are looked for.
#pragma once

#include <string>
#include <vector>

namespace arrowdevice::backend {

struct SearchFolder {
  std::string path;
  std::string refusal;  // why it is not looked into; empty: it is
};

// In the order of looking, each folder once. In a program running set-user-ID only the folder compiled in.
std::vector<SearchFolder> search_folders();

// The plugins in a folder, by name; empty if there is no such folder.
std::vector<std::string> plugins_in(const std::string& folder);

}  // namespace arrowdevice::backend

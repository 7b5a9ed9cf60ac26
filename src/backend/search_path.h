// SPDX-License-Identifier: Apache-2.0
// The folders in which the library searches for plugins.
#pragma once

#include <string>
#include <vector>

namespace arrowdevice::backend {

struct SearchFolder {
  std::string path;
  std::string refusal;  // the reason why the folder is not searched; empty: it is searched
};

// Returns the folders in the order of the search, each folder once. In a set-user-ID program, returns only the
// compiled-in folder.
std::vector<SearchFolder> search_folders();

// Returns the plugins in a folder, ordered by name. Returns an empty list if there is no such folder.
std::vector<std::string> plugins_in(const std::string& folder);

}  // namespace arrowdevice::backend

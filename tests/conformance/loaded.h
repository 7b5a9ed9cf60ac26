// SPDX-License-Identifier: Apache-2.0
// Finds functions of a vendor's library that the backend has loaded.
#pragma once

#include <dlfcn.h>

namespace arrowdevice::conformance {

// Sets NULL if the library is not loaded or lacks the function.
template <typename Function>
void find_loaded(const char* library, const char* symbol, Function*& out) {
  void* const loaded = ::dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
  out = loaded == nullptr ? nullptr : reinterpret_cast<Function*>(::dlsym(loaded, symbol));
}

}  // namespace arrowdevice::conformance

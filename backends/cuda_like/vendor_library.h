// SPDX-License-Identifier: Apache-2.0
// The vendor's library, opened at run time and never closed.
#pragma once

#include <dlfcn.h>

#include <cerrno>
#include <span>
#include <string>

#include "base/error.h"

namespace arrowdevice::cuda_like {

class VendorLibrary {
 public:
  // Opens the first of `names` that the process has loaded already, because the application exchanges the vendor's
  // handles with the library. Without one, opens the first that the system's loader finds. Throws Error(ENODEV) with
  // the loader's message for each name.
  explicit VendorLibrary(std::span<const char* const> names) {
    for (const char* name : names) {
      if (open(name, RTLD_NOLOAD)) return;
    }
    std::string said;
    for (const char* name : names) {
      if (open(name, 0)) return;
      const char* reason = ::dlerror();
      said += (said.empty() ? "" : "; ") + std::string(reason != nullptr ? reason : name);
    }
    throw Error(ENODEV, "no driver library: " + said);
  }

  const std::string& name() const noexcept { return name_; }

  // Returns NULL if the symbol does not exist.
  void* find(const char* symbol) const noexcept { return ::dlsym(handle_, symbol); }

 private:
  bool open(const char* name, int mode) {
    handle_ = ::dlopen(name, RTLD_NOW | RTLD_LOCAL | mode);
    if (handle_ != nullptr) name_ = name;
    return handle_ != nullptr;
  }

  std::string name_;
  void* handle_ = nullptr;
};

}  // namespace arrowdevice::cuda_like

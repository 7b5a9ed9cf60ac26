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
  // Opens the first of `names` that the system's loader finds. Throws Error(ENODEV) with the loader's message for each
  // name.
  explicit VendorLibrary(std::span<const char* const> names) {
    std::string said;
    for (const char* name : names) {
      handle_ = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
      if (handle_ != nullptr) {
        name_ = name;
        return;
      }
      const char* reason = ::dlerror();
      said += (said.empty() ? "" : "; ") + std::string(reason != nullptr ? reason : name);
    }
    throw Error(ENODEV, "no driver library: " + said);
  }

  const std::string& name() const noexcept { return name_; }

  // Returns NULL if the symbol does not exist.
  void* find(const char* symbol) const noexcept { return ::dlsym(handle_, symbol); }

 private:
  std::string name_;
  void* handle_ = nullptr;
};

}  // namespace arrowdevice::cuda_like

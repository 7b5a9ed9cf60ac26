// SPDX-License-Identifier: Apache-2.0
#include "cuda_like/vendor_library.h"

#include <dlfcn.h>

#include <cerrno>

#include "base/error.h"

namespace arrowdevice::cuda_like {

VendorLibrary::VendorLibrary(std::span<const char* const> names) {
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

void* VendorLibrary::find(const char* symbol) const noexcept { return ::dlsym(handle_, symbol); }

}  // namespace arrowdevice::cuda_like

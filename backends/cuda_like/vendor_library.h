// SPDX-License-Identifier: Apache-2.0
// The vendor's library, opened at run time and never closed.
#pragma once

#include <span>
#include <string>

namespace arrowdevice::cuda_like {

class VendorLibrary {
 public:
  // Opens the first of `names` that the system's loader finds. Throws Error(ENODEV) with the loader's message for each
  // name.
  explicit VendorLibrary(std::span<const char* const> names);

  const std::string& name() const noexcept { return name_; }
  void* find(const char* symbol) const noexcept;  // Returns NULL if the symbol does not exist.

 private:
  std::string name_;
  void* handle_ = nullptr;
};

}  // namespace arrowdevice::cuda_like

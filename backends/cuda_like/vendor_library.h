// SPDX-License-Identifier: Apache-2.0
// The vendor's library, opened at run time and never closed.
#pragma once

#include <span>
#include <string>

namespace arrowdevice::cuda_like {

class VendorLibrary {
 public:
  // The first of `names` that the system's loader finds. Throws Error(ENODEV) with what it says of each.
  explicit VendorLibrary(std::span<const char* const> names);

  const std::string& name() const noexcept { return name_; }
  void* find(const char* symbol) const noexcept;  // NULL if it is not there

 private:
  std::string name_;
  void* handle_ = nullptr;
};

}  // namespace arrowdevice::cuda_like

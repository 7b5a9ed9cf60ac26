// SPDX-License-Identifier: Apache-2.0
// A made-up sysfs, for tests of NUMA nodes.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace arrowdevice::testing {

// A folder that exists as long as this object.
class Sysfs {
 public:
  Sysfs() : path_((std::filesystem::temp_directory_path() / "arrowdevice-sysfs-XXXXXX").string()) {
    if (::mkdtemp(path_.data()) == nullptr) std::abort();
  }
  ~Sysfs() { std::filesystem::remove_all(path_); }
  Sysfs(const Sysfs&) = delete;
  Sysfs& operator=(const Sysfs&) = delete;

  const std::string& path() const noexcept { return path_; }

  // Writes a file and the folders above it.
  void write(const std::string& file, const std::string& text) const {
    const std::filesystem::path whole = std::filesystem::path(path_) / file;
    std::filesystem::create_directories(whole.parent_path());
    std::ofstream(whole) << text;
  }

 private:
  std::string path_;
};

}  // namespace arrowdevice::testing

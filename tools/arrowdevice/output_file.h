// SPDX-License-Identifier: Apache-2.0
// The file of an option such as --junit.
#pragma once

#include <fstream>
#include <string>

namespace arrowdevice::tool {

// Is opened before the work, so that a wrong path fails at once.
class OutputFile {
 public:
  // Opens no file if the path is empty. Throws std::runtime_error with the path.
  explicit OutputFile(std::string path);

  explicit operator bool() const { return !path_.empty(); }

  // Writes the file and closes it. Has no effect without a path. Throws std::runtime_error with the path.
  void write(const std::string& text);

 private:
  void check() const;

  const std::string path_;
  std::ofstream file_;
};

}  // namespace arrowdevice::tool

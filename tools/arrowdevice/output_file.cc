// SPDX-License-Identifier: Apache-2.0
#include "output_file.h"

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace arrowdevice::tool {

OutputFile::OutputFile(std::string path) : path_(std::move(path)) {
  if (path_.empty()) return;
  file_.open(path_, std::ios::binary | std::ios::trunc);
  check();
}

void OutputFile::write(const std::string& text) {
  if (path_.empty()) return;
  file_ << text;
  file_.close();
  check();
}

void OutputFile::check() const {
  if (!file_) throw std::runtime_error(path_ + " cannot be written: " + std::strerror(errno));
}

}  // namespace arrowdevice::tool

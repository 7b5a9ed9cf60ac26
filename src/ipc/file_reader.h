// SPDX-License-Identifier: Apache-2.0
// Reads files of Arrow's IPC format: streams in a file (.arrows), and files with a footer (.arrow, Feather version 2).
// The library does not contain this code. The tool does.
#pragma once

#include <arrowdevice/abi.h>

#include <memory>
#include <string>

namespace arrowdevice::ipc {

class Input;
class StreamReader;

class FileReader {
 public:
  // Opens a file and reads its schema. Throws an error with the path in its message: that of the system if the file
  // cannot be read, EINVAL if it is no such file, ENOTSUP for what the library does not read.
  explicit FileReader(std::string path);
  ~FileReader();
  FileReader(const FileReader&) = delete;

  // Returns the type of the batches.
  const ArrowSchema& schema() const noexcept;

  // Reads the next record batch into new memory, in the order of the file. Returns false at the end. Throws errors like
  // the constructor. The data itself is not checked.
  bool next(ArrowArray* out);

 private:
  const std::string path_;
  std::unique_ptr<Input> input_;
  std::unique_ptr<StreamReader> reader_;
};

}  // namespace arrowdevice::ipc

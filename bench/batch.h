// SPDX-License-Identifier: Apache-2.0
// What benchmarks move: host memory that has been written to, as arrays without nulls that it owns.
#pragma once

#include <arrowdevice/abi.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace arrowdevice::bench {

// A record batch of int64 columns.
class Batch {
 public:
  Batch(int64_t columns, int64_t rows);
  Batch(const Batch&) = delete;

  const ArrowDeviceArray& array() const { return array_; }
  const ArrowSchema& schema() const { return schema_; }
  int64_t bytes() const { return static_cast<int64_t>(columns_.size()) * rows_ * int64_t{sizeof(int64_t)}; }
  const void* column(int64_t i) const { return values_.data() + i * rows_; }
  // All columns, one behind the other.
  void* data() { return values_.data(); }

 private:
  struct Column {
    ArrowArray array{};
    ArrowSchema schema{};
    const void* buffers[2] = {};
  };

  int64_t rows_;
  std::vector<int64_t> values_;
  std::vector<std::unique_ptr<Column>> columns_;
  std::vector<ArrowArray*> arrays_;
  std::vector<ArrowSchema*> schemas_;
  const void* root_buffers_[1] = {};
  ArrowDeviceArray array_{};
  ArrowSchema schema_{};
};

// A utf8 array of `rows` texts of ten bytes.
class Texts {
 public:
  explicit Texts(int64_t rows);
  Texts(const Texts&) = delete;

  const ArrowDeviceArray& array() const { return array_; }
  const ArrowSchema& schema() const { return schema_; }
  const std::vector<int32_t>& offsets() const { return offsets_; }
  const std::vector<char>& bytes() const { return bytes_; }

 private:
  std::vector<int32_t> offsets_;
  std::vector<char> bytes_;
  const void* buffers_[3] = {};
  ArrowDeviceArray array_{};
  ArrowSchema schema_{};
};

}  // namespace arrowdevice::bench

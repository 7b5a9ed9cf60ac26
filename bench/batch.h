// SPDX-License-Identifier: Apache-2.0
// Data for benchmarks: initialized host memory, as arrays without nulls. The objects own the memory.
#pragma once

#include <arrowdevice/abi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

namespace arrowdevice::bench {

// Aligns memory to 64 bytes, as in Arrow data, because `memcpy` of unaligned memory is several times slower.
template <typename T>
struct AlignedAllocator {
  using value_type = T;
  static constexpr std::align_val_t kAlignment{64};

  AlignedAllocator() = default;
  template <typename Other>
  AlignedAllocator(const AlignedAllocator<Other>&) noexcept {}

  T* allocate(size_t n) { return static_cast<T*>(::operator new(n * sizeof(T), kAlignment)); }
  void deallocate(T* memory, size_t) noexcept { ::operator delete(memory, kAlignment); }
  friend bool operator==(AlignedAllocator, AlignedAllocator) { return true; }
};

template <typename T>
using AlignedVector = std::vector<T, AlignedAllocator<T>>;

// A buffer of a batch in host memory.
struct Bytes {
  const void* data;
  size_t size;
};

// A record batch. It owns its structs and the memory that own() received.
class RecordBatch {
 public:
  RecordBatch(const RecordBatch&) = delete;

  const ArrowDeviceArray& array() const { return array_; }
  const ArrowSchema& schema() const { return schema_; }
  // Returns the buffers of all fields, without those that are absent.
  const std::vector<Bytes>& buffers() const { return buffers_; }

 protected:
  struct Field {
    ArrowArray array{};
    ArrowSchema schema{};
    std::vector<const void*> buffers;
    std::vector<ArrowArray*> arrays;  // children
    std::vector<ArrowSchema*> schemas;
  };

  RecordBatch() = default;
  Bytes own(AlignedVector<char> memory);
  // Adds a field without nulls. The first buffer is the bitmap.
  Field& add(const char* format, int64_t rows, const std::vector<Bytes>& buffers,
             const std::vector<Field*>& children = {});
  // Adds a field of numbers that are `bits` wide.
  Field& add_numbers(const char* format, int64_t rows, int64_t bits);
  // Adds a field of texts of ten bytes.
  Field& add_texts(int64_t rows);
  // Makes the batch from its columns, which were added.
  void set_columns(int64_t rows, const std::vector<Field*>& columns);

 private:
  std::vector<AlignedVector<char>> memory_;
  std::vector<std::unique_ptr<Field>> fields_;
  std::vector<Bytes> buffers_;
  ArrowDeviceArray array_{};
  ArrowSchema schema_{};
};

// A record batch of int64 columns.
class Batch : public RecordBatch {
 public:
  Batch(int64_t columns, int64_t rows);

  int64_t bytes() const { return std::ssize(values_) * int64_t{sizeof(int64_t)}; }
  const void* column(int64_t i) const { return values_.data() + i * rows_; }
  // Returns all columns, which are contiguous.
  void* data() { return values_.data(); }

 private:
  int64_t rows_;
  AlignedVector<int64_t> values_;
};

// A record batch of columns of int32, int64, double, utf8 and bool, in turns. Each buffer has its own allocation.
class Mixed : public RecordBatch {
 public:
  Mixed(int64_t columns, int64_t rows);
};

// A record batch of columns of nullable int32, double, utf8, bool, list<int32> and struct<int32, double>, in turns.
class Varied : public RecordBatch {
 public:
  Varied(int64_t columns, int64_t rows);

 private:
  Field& add_column(int64_t type, int64_t rows);
};

// A utf8 array of `rows` texts of ten bytes.
class Texts {
 public:
  explicit Texts(int64_t rows);
  Texts(const Texts&) = delete;

  const ArrowDeviceArray& array() const { return array_; }
  const ArrowSchema& schema() const { return schema_; }
  const AlignedVector<int32_t>& offsets() const { return offsets_; }
  const AlignedVector<char>& bytes() const { return bytes_; }

 private:
  AlignedVector<int32_t> offsets_;
  AlignedVector<char> bytes_;
  const void* buffers_[3] = {};
  ArrowDeviceArray array_{};
  ArrowSchema schema_{};
};

}  // namespace arrowdevice::bench

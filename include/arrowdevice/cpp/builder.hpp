/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file builder.hpp
 * Arrays and record batches from vectors. arrowdevice.hpp has the conventions.
 */
#ifndef ARROWDEVICE_CPP_BUILDER_HPP
#define ARROWDEVICE_CPP_BUILDER_HPP

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "array.hpp"
#include "device.hpp"
#include "owner.hpp"
#include "view.hpp"

namespace arrowdevice {
namespace cpp {

/** A device array and its type. make_array() and BatchBuilder make them. */
struct TypedArray {
  DeviceArray array;
  Schema schema;

  /** Calls DeviceArray::to_device() and keeps the type. If the call throws, both stay. */
  TypedArray to_device(Device to) && { return {std::move(array).to_device(schema, to), std::move(schema)}; }
  TypedArray to_device(Device to, const arrowdevice_copy_options& options) && {
    return {std::move(array).to_device(schema, to, options), std::move(schema)};
  }
  /** Makes a view, which takes the array over. The type stays here. */
  View view() && { return View(std::move(array), schema); }
};

namespace detail {

/** Returns the format of a vector's values, or NULL if they are not numbers. */
template <typename T>
constexpr const char* format_of() noexcept {
  if (std::is_same<T, float>::value) return "f";
  if (std::is_same<T, double>::value) return "g";
  constexpr bool kIsText = std::is_same<T, char>::value || std::is_same<T, wchar_t>::value ||
                           std::is_same<T, char16_t>::value || std::is_same<T, char32_t>::value;
  if (!std::is_integral<T>::value || std::is_same<T, bool>::value || kIsText) return nullptr;
  switch (sizeof(T)) {
    case 1: return std::is_signed<T>::value ? "c" : "C";
    case 2: return std::is_signed<T>::value ? "s" : "S";
    case 4: return std::is_signed<T>::value ? "i" : "I";
    case 8: return std::is_signed<T>::value ? "l" : "L";
    default: return nullptr;
  }
}

template <typename T>
using IfNumber = std::enable_if_t<format_of<T>() != nullptr, int>;

inline std::vector<uint8_t> bits_of(const std::vector<bool>& values) {
  std::vector<uint8_t> bits((values.size() + 7) / 8);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i]) bits[i / 8] = static_cast<uint8_t>(bits[i / 8] | 1u << (i % 8));
  }
  return bits;
}

/** The vectors that are the buffers of one array. The array's release frees them. */
template <typename... Vectors>
struct Held {
  explicit Held(Vectors&&... moved) : vectors(std::move(moved)...) {}

  std::tuple<Vectors...> vectors;
  std::vector<uint8_t> validity; /* empty if no row is null */
  const void* buffers[1 + sizeof...(Vectors)];
};

/** Makes a column whose buffers are the vectors, without a copy. */
template <typename... Vectors>
Array array_of(std::size_t rows, const std::vector<bool>* validity, Vectors&&... moved) {
  using Kept = Held<Vectors...>;
  int64_t nulls = 0;
  if (validity != nullptr) {
    if (validity->size() != rows) {
      fail(EINVAL,
           "the validity has " + std::to_string(validity->size()) + " rows, the values have " + std::to_string(rows));
    }
    for (const bool valid : *validity) nulls += valid ? 0 : 1;
  }
  std::vector<uint8_t> bits = nulls > 0 ? bits_of(*validity) : std::vector<uint8_t>();
  auto held = std::make_unique<Kept>(std::move(moved)...);
  held->validity = std::move(bits);
  held->buffers[0] = nulls > 0 ? held->validity.data() : nullptr;
  std::size_t next = 1;
  std::apply([&](const auto&... vector) { ((held->buffers[next++] = vector.data()), ...); }, held->vectors);
  ArrowArray made{};
  made.length = static_cast<int64_t>(rows);
  made.null_count = nulls;
  made.n_buffers = 1 + static_cast<int64_t>(sizeof...(Vectors));
  made.buffers = held->buffers;
  made.private_data = held.release();
  made.release = [](ArrowArray* self) {
    delete static_cast<Kept*>(self->private_data);
    self->release = nullptr;
  };
  return Array(&made);
}

/** Returns a type without children. It owns no memory, and the caller copies it. */
inline ArrowSchema field_of(const char* format) noexcept {
  ArrowSchema field{};
  field.format = format;
  field.name = "";
  field.flags = ARROW_FLAG_NULLABLE;
  field.release = [](ArrowSchema* self) { self->release = nullptr; };
  return field;
}

inline TypedArray typed(Array&& array, const char* format) {
  Schema schema = Schema::copy_of(field_of(format));
  return {DeviceArray::from_host(std::move(array)), std::move(schema)};
}

template <typename T, typename Allocator>
TypedArray array_of_values(std::vector<T, Allocator>&& values, const std::vector<bool>* validity) {
  const std::size_t rows = values.size();
  return typed(array_of(rows, validity, std::move(values)), format_of<T>());
}

inline TypedArray array_of_bools(const std::vector<bool>& values, const std::vector<bool>* validity) {
  return typed(array_of(values.size(), validity, bits_of(values)), "b");
}

inline TypedArray array_of_texts(const std::vector<std::string>& values, const std::vector<bool>* validity) {
  constexpr std::size_t kMost = std::numeric_limits<int32_t>::max();
  std::vector<int32_t> offsets;
  offsets.reserve(values.size() + 1);
  offsets.push_back(0);
  std::size_t bytes = 0;
  for (const std::string& value : values) {
    if (value.size() > kMost - bytes) fail(EINVAL, "the texts of one array are 2 GiB or more");
    bytes += value.size();
    offsets.push_back(static_cast<int32_t>(bytes));
  }
  std::vector<char> data;
  data.reserve(bytes);
  for (const std::string& value : values) data.insert(data.end(), value.begin(), value.end());
  return typed(array_of(values.size(), validity, std::move(offsets), std::move(data)), "u");
}

}  // namespace detail

/**
 * Makes an array on the CPU from a vector of integers, floats or doubles. The vector becomes the
 * array's data buffer without a copy. `validity` has one entry for each value, which is false if
 * the value is null.
 *
 * Throws EINVAL if the lengths differ. If memory is exhausted, the vector is lost.
 */
template <typename T, typename Allocator, detail::IfNumber<T> = 0>
TypedArray make_array(std::vector<T, Allocator>&& values) {
  return detail::array_of_values(std::move(values), nullptr);
}
template <typename T, typename Allocator, detail::IfNumber<T> = 0>
TypedArray make_array(std::vector<T, Allocator>&& values, const std::vector<bool>& validity) {
  return detail::array_of_values(std::move(values), &validity);
}
/**
 * Makes an array of booleans. It copies the bits, because a vector has them in an order of its own.
 */
inline TypedArray make_array(const std::vector<bool>& values) { return detail::array_of_bools(values, nullptr); }
inline TypedArray make_array(const std::vector<bool>& values, const std::vector<bool>& validity) {
  return detail::array_of_bools(values, &validity);
}
/**
 * Makes an array of UTF-8 texts. It copies them into one buffer and throws EINVAL if they are 2 GiB
 * or more.
 */
inline TypedArray make_array(const std::vector<std::string>& values) { return detail::array_of_texts(values, nullptr); }
inline TypedArray make_array(const std::vector<std::string>& values, const std::vector<bool>& validity) {
  return detail::array_of_texts(values, &validity);
}

/**
 * Builds a record batch on the CPU from named columns of the same length: `BatchBuilder().add("id",
 * std::move(ids)).build()`. A batch may be a column of another batch, as a struct.
 */
class BatchBuilder {
 public:
  BatchBuilder() noexcept = default;
  BatchBuilder(BatchBuilder&&) noexcept = default;
  BatchBuilder& operator=(BatchBuilder&&) noexcept = default;
  BatchBuilder(const BatchBuilder&) = delete;
  BatchBuilder& operator=(const BatchBuilder&) = delete;
  ~BatchBuilder() = default;

  /**
   * Adds a column that exists already and is ready. Throws EINVAL if it is not on the CPU, or if
   * its length differs from that of the first column. `column` and the builder are then as they
   * were.
   */
  BatchBuilder& add(std::string name, TypedArray&& column) & {
    const ArrowDeviceArray& given = *column.array;
    if (!column.array || !column.schema) detail::fail(EINVAL, "column \"" + name + "\" is released");
    if (given.device_type != ARROW_DEVICE_CPU) {
      detail::fail(EINVAL, "column \"" + name + "\" is not on the CPU, where batches are built");
    }
    if (!columns_.empty() && given.array.length != columns_.front().array->length) {
      detail::fail(EINVAL, "column \"" + name + "\" has " + std::to_string(given.array.length) + " rows, \"" +
                               columns_.front().name + "\" has " + std::to_string(columns_.front().array->length));
    }
    columns_.emplace_back();
    ArrowDeviceArray moved;
    column.array.hand_over(&moved);
    columns_.back() = {std::move(name), Array(&moved.array), std::move(column.schema)};
    return *this;
  }
  /**
   * Makes a column with make_array() from the values and, if it is given, the validity. Adds the
   * column.
   */
  template <typename Values, typename... Validity>
  BatchBuilder& add(std::string name, Values&& values, Validity&&... validity) & {
    return add(std::move(name), make_array(std::forward<Values>(values), std::forward<Validity>(validity)...));
  }
  template <typename... Arguments>
  BatchBuilder&& add(std::string name, Arguments&&... arguments) && {
    add(std::move(name), std::forward<Arguments>(arguments)...);
    return std::move(*this);
  }

  /** Builds the batch. Throws EINVAL if there is no column. If it throws, the columns stay. */
  TypedArray build() && {
    if (columns_.empty()) detail::fail(EINVAL, "a batch needs a column, which says how many rows it has");
    std::vector<ArrowSchema> fields;
    std::vector<ArrowSchema*> children;
    for (Column& column : columns_) {
      fields.push_back(*column.schema); /* shares all members but the name */
      fields.back().name = column.name.c_str();
    }
    for (ArrowSchema& field : fields) children.push_back(&field);
    ArrowSchema type = detail::field_of("+s");
    type.flags = 0;
    type.n_children = static_cast<int64_t>(children.size());
    type.children = children.data();
    Schema schema = Schema::copy_of(type);

    auto held = std::make_unique<Root>();
    held->columns.resize(columns_.size());
    for (ArrowArray& column : held->columns) held->children.push_back(&column);
    ArrowArray root{};
    root.length = columns_.front().array->length;
    root.n_buffers = 1;
    root.buffers = held->buffers;
    root.n_children = static_cast<int64_t>(held->children.size());
    root.children = held->children.data();
    std::vector<ArrowArray>& columns = held->columns;
    root.private_data = held.release();
    root.release = [](ArrowArray* self) {
      delete static_cast<Root*>(self->private_data);
      self->release = nullptr;
    };
    DeviceArray batch = DeviceArray::from_host(Array(&root));
    for (std::size_t i = 0; i < columns_.size(); ++i) columns_[i].array.hand_over(&columns[i]); /* cannot fail */
    columns_.clear();
    return {std::move(batch), std::move(schema)};
  }

 private:
  struct Column {
    std::string name;
    Array array;
    Schema schema;
  };
  /* Memory of the root of a batch. A column that a consumer has moved out belongs to the consumer. */
  struct Root {
    std::vector<ArrowArray> columns;
    std::vector<ArrowArray*> children;
    const void* buffers[1] = {nullptr};

    Root() = default;
    Root(const Root&) = delete;
    Root& operator=(const Root&) = delete;
    ~Root() {
      for (ArrowArray& column : columns) arrowdevice_host_array_release(&column);
    }
  };

  std::vector<Column> columns_;
};

}  // namespace cpp
}  // namespace arrowdevice

#endif /* ARROWDEVICE_CPP_BUILDER_HPP */

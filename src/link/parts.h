// SPDX-License-Identifier: Apache-2.0
// Messages as parts of fixed layout, one behind the other. All numbers are little-endian.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/error.h"

namespace arrowdevice::link {

class PartWriter {
 public:
  explicit PartWriter(size_t size) { bytes_.reserve(size); }

  template <typename Part>
  void add(const Part* parts, size_t count) {
    static_assert(std::is_trivially_copyable_v<Part>);
    const auto* const first = reinterpret_cast<const uint8_t*>(parts);
    bytes_.insert(bytes_.end(), first, first + count * sizeof(Part));
  }

  std::vector<uint8_t> take() noexcept { return std::move(bytes_); }

 private:
  std::vector<uint8_t> bytes_;
};

// Reads the parts in the order in which they were written.
class PartReader {
 public:
  // `message` names the message in errors, such as "the handle".
  PartReader(std::span<const uint8_t> bytes, const char* message) : left_(bytes), message_(message) {}

  // Throws EINVAL if there are fewer. `name` is the plural of the part's name.
  template <typename Part>
  std::vector<Part> take(int64_t count, const char* name) {
    const auto most = static_cast<int64_t>(left_.size() / sizeof(Part));
    if (count < 0 || count > most) {
      throw Error(EINVAL, std::string(message_) + " has " + std::to_string(count) + " " + name + " (at most " +
                              std::to_string(most) + " fit its bytes)");
    }
    std::vector<Part> parts(static_cast<size_t>(count));
    const size_t size = parts.size() * sizeof(Part);
    if (size > 0) std::memcpy(parts.data(), left_.data(), size);
    left_ = left_.subspan(size);
    return parts;
  }

  std::span<const uint8_t> left() const noexcept { return left_; }

 private:
  std::span<const uint8_t> left_;
  const char* message_;
};

}  // namespace arrowdevice::link

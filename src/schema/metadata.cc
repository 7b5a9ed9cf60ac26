// SPDX-License-Identifier: Apache-2.0
#include "schema/metadata.h"

#include <cerrno>
#include <cstring>
#include <limits>

#include "base/error.h"

namespace arrowdevice::schema {
namespace {

// Reads an encoded block. The block does not store its size, so the only bound is the largest block that the format
// allows.
class Reader {
 public:
  explicit Reader(const char* encoded) : encoded_(encoded) {}

  // Reads a count or a length. The block need not be aligned.
  int32_t number(const char* what) {
    const char* place = advance(sizeof(int32_t));
    int32_t value;
    std::memcpy(&value, place, sizeof value);
    if (value < 0) throw Error(EINVAL, format("metadata: %s is %d", what, value));
    return value;
  }

  std::string_view text(const char* what) {
    const int32_t length = number(what);
    return {advance(length), static_cast<size_t>(length)};
  }

  int64_t position() const { return position_; }

 private:
  const char* advance(int64_t bytes) {
    if (bytes > std::numeric_limits<int32_t>::max() - position_) {
      throw Error(EINVAL, "metadata: more than 2147483647 bytes");
    }
    const char* place = encoded_ + position_;
    position_ += bytes;
    return place;
  }

  const char* encoded_;
  int64_t position_ = 0;
};

// Calls `visit(key, value)` for each pair and returns the size of the block.
template <typename Visit>
int64_t for_each_pair(const char* encoded, Visit&& visit) {
  if (encoded == nullptr) return 0;
  Reader reader(encoded);
  const int32_t n = reader.number("the number of pairs");
  for (int32_t i = 0; i < n; ++i) {
    const std::string_view key = reader.text("the length of a key");
    const std::string_view value = reader.text("the length of a value");
    visit(key, value);
  }
  return reader.position();
}

void append_number(std::string& block, size_t number) {
  const auto value = static_cast<int32_t>(number);  // the block is not larger
  block.append(reinterpret_cast<const char*>(&value), sizeof value);
}

}  // namespace

int64_t metadata_size(const char* encoded) {
  return for_each_pair(encoded, [](std::string_view, std::string_view) {});
}

std::optional<std::string_view> metadata_find(const char* encoded, std::string_view key) {
  std::optional<std::string_view> found;
  for_each_pair(encoded, [&](std::string_view each_key, std::string_view value) {
    if (!found && each_key == key) found = value;
  });
  return found;
}

MetadataPairs metadata_pairs(const char* encoded) {
  MetadataPairs pairs;
  for_each_pair(encoded, [&](std::string_view key, std::string_view value) { pairs.emplace_back(key, value); });
  return pairs;
}

std::string encode_metadata(std::span<const MetadataPairs::value_type> pairs) {
  size_t size = sizeof(int32_t);
  for (const auto& [key, value] : pairs) size += 2 * sizeof(int32_t) + key.size() + value.size();
  if (size > static_cast<size_t>(std::numeric_limits<int32_t>::max())) {
    throw Error(EINVAL, "metadata: more than 2147483647 bytes");
  }
  std::string block;
  block.reserve(size);
  append_number(block, pairs.size());
  for (const auto& [key, value] : pairs) {
    append_number(block, key.size());
    block += key;
    append_number(block, value.size());
    block += value;
  }
  return block;
}

}  // namespace arrowdevice::schema

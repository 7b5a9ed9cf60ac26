// SPDX-License-Identifier: Apache-2.0
#include "schema/metadata.h"

#include <cerrno>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "support/catch.h"

namespace arrowdevice::schema {
namespace {

std::string number(int32_t value) { return {reinterpret_cast<const char*>(&value), sizeof value}; }

std::string text(const std::string& value) { return number(static_cast<int32_t>(value.size())) + value; }

std::string encode(const std::vector<std::pair<std::string, std::string>>& pairs) {
  std::string block = number(static_cast<int32_t>(pairs.size()));
  for (const auto& [key, value] : pairs) block += text(key) + text(value);
  return block;
}

int code_of_size(const std::string& block) {
  try {
    metadata_size(block.data());
    return 0;
  } catch (const Error& error) {
    return error.code();
  }
}

int code_of_find(const std::string& block, std::string_view key) {
  try {
    metadata_find(block.data(), key);
    return 0;
  } catch (const Error& error) {
    return error.code();
  }
}

}  // namespace

TEST_CASE("the size of metadata is that of its block") {
  CHECK(metadata_size(nullptr) == 0);
  for (const std::string& block :
       {encode({}), encode({{"", ""}}), encode({{"key", "value"}, {"k", std::string(1000, 'v')}})}) {
    CHECK(metadata_size(block.data()) == static_cast<int64_t>(block.size()));
  }
}

TEST_CASE("metadata that was split into pairs is encoded to the same block") {
  CHECK(metadata_pairs(nullptr).empty());
  for (const std::string& block :
       {encode({}), encode({{"", ""}}), encode({{"a", "1"}, {"a", std::string("x\0y", 3)}})}) {
    CHECK(encode_metadata(metadata_pairs(block.data())) == block);
  }
}

TEST_CASE("a search in metadata returns the first value of a key") {
  const std::string block = encode({{"a", "1"}, {"b", ""}, {"a", "2"}, {"", "no name"}});
  CHECK(metadata_find(block.data(), "a") == "1");
  CHECK(metadata_find(block.data(), "b") == "");
  CHECK(metadata_find(block.data(), "") == "no name");
  CHECK_FALSE(metadata_find(block.data(), "c"));
  CHECK_FALSE(metadata_find(block.data(), "aa"));
  CHECK_FALSE(metadata_find(encode({}).data(), ""));
  CHECK_FALSE(metadata_find(nullptr, "a"));
}

TEST_CASE("metadata holds the name and the bytes of an extension type") {
  const std::string bytes("\0\xff{}\0", 5);
  const std::string block = encode({{"ARROW:extension:name", "geoarrow.point"}, {"ARROW:extension:metadata", bytes}});
  CHECK(metadata_find(block.data(), kExtensionName) == "geoarrow.point");
  CHECK(metadata_find(block.data(), kExtensionMetadata) == bytes);
}

TEST_CASE("metadata is read at any alignment") {
  const std::string block = encode({{"odd", "key"}, {"k", "v"}});
  for (size_t shift = 0; shift < 8; ++shift) {
    const std::string shifted = std::string(shift, 'x') + block;
    CHECK(metadata_size(shifted.data() + shift) == static_cast<int64_t>(block.size()));
    CHECK(metadata_find(shifted.data() + shift, "k") == "v");
  }
}

TEST_CASE("metadata with a negative count or length is EINVAL") {
  const int32_t least = std::numeric_limits<int32_t>::min();
  const std::string good = number(2) + text("a") + text("b");
  for (const std::string& block :
       {number(-1), number(least), number(1) + number(-1), number(1) + number(least),
        number(1) + text("a") + number(-1), good + number(-1), good + text("c") + number(-5)}) {
    CHECK(code_of_size(block) == EINVAL);
    CHECK(code_of_find(block, "a") == EINVAL);  // rejects an error behind the pair that it searches for
  }
}

TEST_CASE("metadata of more than 2^31 - 1 bytes is EINVAL without being read") {
  const int32_t most = std::numeric_limits<int32_t>::max();
  for (const std::string& block : {number(1) + number(most), number(1) + number(most - 7),
                                   number(1) + text("key") + number(most), number(1) + text("") + number(most - 11)}) {
    CHECK(code_of_size(block) == EINVAL);
    CHECK(code_of_find(block, "key") == EINVAL);
  }
}

}  // namespace arrowdevice::schema

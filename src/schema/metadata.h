// SPDX-License-Identifier: Apache-2.0
// Metadata of the C data interface: key-value pairs with lengths in native byte order, in one block of bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace arrowdevice::schema {

// Returns the bytes of an encoded block, or 0 for NULL. Throws Error(EINVAL) if a count or a length is negative or the
// sum exceeds 2^31 - 1 bytes.
int64_t metadata_size(const char* encoded);

// Returns the value of the first pair with the key, or nullopt if there is none. Throws as metadata_size() does.
std::optional<std::string_view> metadata_find(const char* encoded, std::string_view key);

// Keys and values in the order of a block. A key may occur several times.
using MetadataPairs = std::vector<std::pair<std::string_view, std::string_view>>;

// Returns the pairs of an encoded block, which they refer to. Throws as metadata_size() does.
MetadataPairs metadata_pairs(const char* encoded);

// Encodes pairs. Throws EINVAL if the block would exceed 2^31 - 1 bytes.
std::string encode_metadata(std::span<const MetadataPairs::value_type> pairs);

inline constexpr std::string_view kExtensionName = "ARROW:extension:name";
inline constexpr std::string_view kExtensionMetadata = "ARROW:extension:metadata";

}  // namespace arrowdevice::schema

// SPDX-License-Identifier: Apache-2.0
// Numbers of bytes, as people write and read them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace arrowdevice::tool {

// Returns a rounded size such as "23.5 GiB". Returns "unknown" for a negative number.
std::string rounded_size(int64_t bytes);

// Returns a size without rounding, in the largest unit that fits: "64 MiB" or "1000 B".
std::string exact_size(int64_t bytes);

// Parses a number of bytes with an optional suffix K, M or G, such as "64M". Returns nothing for another text, and for
// sizes of less than a byte or more than 1 TiB.
std::optional<int64_t> parse_size(std::string_view text);

}  // namespace arrowdevice::tool

// SPDX-License-Identifier: Apache-2.0
// Tests text in messages.
#include "base/text.h"

#include <cstdint>

#include "support/catch.h"

namespace {

using arrowdevice::size_text;

TEST_CASE("a size has the largest unit that fits and one digit, which is rounded down") {
  CHECK(size_text(0) == "0 B");
  CHECK(size_text(1023) == "1023 B");
  CHECK(size_text(1024) == "1.0 KiB");
  CHECK(size_text(1024 + 512) == "1.5 KiB");
  CHECK(size_text((1 << 20) - 1) == "1023.9 KiB");
  CHECK(size_text(1 << 20) == "1.0 MiB");
  CHECK(size_text((int64_t{1} << 30) * 5 / 2) == "2.5 GiB");
  CHECK(size_text(int64_t{3} << 40) == "3.0 TiB");
  CHECK(size_text(INT64_MAX) == "8191.9 PiB");
}

}  // namespace

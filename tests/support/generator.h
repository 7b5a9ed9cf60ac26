// SPDX-License-Identifier: Apache-2.0
// Generates random but repeatable data of any type, with many corner cases.
//
//   Field type = list_of(field("vu"));
//   Knobs knobs;
//   knobs.offset = 13;
//   Ledger ledger;
//   Owned<ArrowArray> array = make_array(generate(type, knobs), ledger);
//
// Memory that no reader may read holds garbage that is not valid data of the type:
// - slots before the offset and behind the length,
// - values under nulls, and indices of dictionaries and views under nulls,
// - unused bytes of variadic buffers,
// - bits of bitmaps outside the range.
//
// A read of such memory shows as a wrong value, a wild offset or a sanitizer's report.
#pragma once

#include <cstdint>

#include "support/field.h"
#include "support/host_data.h"

namespace arrowdevice::testing {

enum class Nulls {
  kNone,            // no bitmap, null_count 0
  kNoneUncounted,   // no bitmap, null_count -1, as real producers do
  kNoneWithBitmap,  // a bitmap of ones, null_count 0
  kSome,
  kSomeUncounted,  // null_count -1
  kAll,
};

struct Knobs {
  int64_t rows = 37;
  Nulls nulls = Nulls::kSome;  // nulls of all nullable fields
  int64_t offset = 0;          // offset of the root
  int64_t child_offset = 0;    // if not 0, each child and dictionary gets a different offset
  int64_t tail = 0;            // extra slots in the buffers, behind the length
  int variadic = 3;            // buffers of views; 0 means inline values only
  int longest = 4;             // items of a list
  int longest_text = 24;       // approximate bytes of a string
  bool null_empty = true;      // empty buffers are NULL, else pointers to no bytes (including offsets without slots)
  bool null_offsets = false;   // offsets of arrays without slots are NULL
  bool legacy = false;         // type null has one buffer, unions have a validity buffer
  bool misaligned = false;     // buffers start at odd addresses
  bool shuffled = false;       // offsets of dense unions are in no order
  bool wild_views = false;     // offsets and sizes of list views under nulls are garbage, else empty views
  uint64_t seed = 1;
};

Data generate(const Field& field, const Knobs& knobs);

// A small random number generator that gives the same numbers on every machine.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next() noexcept;
  // Returns a number from 0 to bound - 1, or 0 if the bound is 0.
  int64_t below(int64_t bound) noexcept;

 private:
  uint64_t state_;
};

}  // namespace arrowdevice::testing

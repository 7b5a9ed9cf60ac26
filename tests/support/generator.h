// SPDX-License-Identifier: Apache-2.0
// Random but repeatable data of any type, with the awkward corners turned up.
//
//   Field type = list_of(field("vu"));
//   Knobs knobs;
//   knobs.offset = 13;
//   Ledger ledger;
//   Owned<ArrowArray> array = make_array(generate(type, knobs), ledger);
//
// What no reader may look at holds garbage that is not valid data of the type: slots before the offset and behind the
// length, values under nulls (indices of dictionaries and views too), unused bytes of variadic buffers, bits of bitmaps
// outside of the range. Reading it shows as a wrong value, a wild offset or a sanitizer's report.
#pragma once

#include <cstdint>

#include "support/field.h"
#include "support/host_data.h"

namespace arrowdevice::testing {

enum class Nulls {
  kNone,            // no bitmap, null_count 0
  kNoneUncounted,   // no bitmap, null_count -1: what real producers do
  kNoneWithBitmap,  // a bitmap of ones, null_count 0
  kSome,
  kSomeUncounted,  // null_count -1
  kAll,
};

struct Knobs {
  int64_t rows = 37;
  Nulls nulls = Nulls::kSome;  // of all nullable fields
  int64_t offset = 0;          // of the root
  int64_t child_offset = 0;    // of children and dictionaries: each gets another one if this is not 0
  int64_t tail = 0;            // further slots in the buffers, behind the length
  int variadic = 3;            // buffers of views; 0: inline values only
  int longest = 4;             // items of a list
  int longest_text = 24;       // bytes of a string, roughly
  bool null_empty = true;      // buffers of zero bytes are NULL, else pointers to nothing (offsets of no slots as well)
  bool null_offsets = false;   // offsets of arrays without slots are NULL
  bool legacy = false;         // type null with one buffer, unions with a validity buffer
  bool misaligned = false;     // buffers start at odd addresses
  bool shuffled = false;       // offsets of dense unions are in no order
  bool wild_views = false;     // offsets and sizes of list views under nulls are garbage, else views of no items
  uint64_t seed = 1;
};

Data generate(const Field& field, const Knobs& knobs);

// A small random number generator that gives the same numbers everywhere.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next() noexcept;
  // 0 .. bound - 1; 0 if the bound is 0.
  int64_t below(int64_t bound) noexcept;

 private:
  uint64_t state_;
};

}  // namespace arrowdevice::testing

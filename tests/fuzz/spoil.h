// SPDX-License-Identifier: Apache-2.0
// Mistakes of producers, made on purpose. An array has no sizes of its own, so some cannot be found out by anybody: an
// offset behind the end of a text's bytes, a length beyond a buffer's. Those are made only where what lies there is
// there all the same, since buffers are longer than they need be.
#pragma once

#include "sample.h"
#include "support/snapshot.h"

namespace fuzz {

// Changes one value in a buffer.
void spoil_bytes(Input& input, const Field& type, Data& data);

// Which buffers are longer than any length or offset that is made here. Behind the others the address sanitizer stands.
enum class Spare {
  kEverywhere,
  kBehindTexts,  // whose size only offsets tell, and views; for structs that nothing is wrong with
};
void lengthen(const Field& type, Data& data, Spare spare);

// Changes structs: counts, pointers, lengths, formats.
class StructSpoiler {
 public:
  StructSpoiler(ArrowSchema& schema, ArrowArray& array) : schemas_(schema), arrays_(array) {}

  void spoil(Input& input);

  // Whether buffers still hold what the structs say: else nobody may look at data.
  bool has_data() const noexcept { return has_data_; }

  // As they were, to be released.
  void restore() const;

 private:
  void spoil_array(Input& input, size_t i);
  void spoil_schema(Input& input, size_t i);
  void set_slots(Input& input, int64_t& number);
  void set_format(Input& input, ArrowSchema& schema);

  const Snapshot<ArrowSchema> schemas_;
  const Snapshot<ArrowArray> arrays_;
  bool has_data_ = true;
};

}  // namespace fuzz

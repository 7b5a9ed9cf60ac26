// SPDX-License-Identifier: Apache-2.0
// Makes producer errors on purpose. An array has no buffer sizes, so the library cannot detect some errors.
// Examples are an offset behind the end of a text's bytes and a length beyond a buffer. Such an error is
// made only if the memory exists, because buffers are longer than needed.
#pragma once

#include <cstdint>
#include <vector>

#include "sample.h"
#include "support/snapshot.h"

namespace fuzz {

// Changes a single value in a buffer.
void spoil_bytes(Input& input, const Field& type, Data& data);

// Buffers that are longer than any length or offset made here. The address sanitizer guards the end of the
// others.
enum class Spare {
  kEverywhere,
  kBehindTexts,  // buffers whose size depends on offsets, and views; for correct structs
};
void lengthen(const Field& type, Data& data, Spare spare);

// Changes up to five bytes of a message, and sometimes cuts it.
void spoil_message(Input& input, std::vector<uint8_t>& message);

// Changes structs: counts, pointers, lengths, formats.
class StructSpoiler {
 public:
  StructSpoiler(ArrowSchema& schema, ArrowArray& array) : schemas_(schema), arrays_(array) {}

  void spoil(Input& input);

  // Returns true if buffers still match the structs. Otherwise the data must not be read.
  bool has_data() const noexcept { return has_data_; }

  // Restores the structs, so that they can be released.
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

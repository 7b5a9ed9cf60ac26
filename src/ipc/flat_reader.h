// SPDX-License-Identifier: Apache-2.0
// Reads flatbuffers from hostile peers. Each access is verified before any byte is read, so that no code can forget to
// verify. The types of flatbuffers stay inside of this folder.
#pragma once

#include <flatbuffers/flatbuffers.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "ipc/wire.h"

namespace arrowdevice::ipc {

class FlatTable;

// A flatbuffer and the limits of reading it. Tables and texts may be shared in a flatbuffer. A small hostile message
// could therefore look like a huge tree. The number of tables and the bytes of all texts are limited by the size of the
// message.
class FlatReader {
 public:
  // The bytes must outlive the reader, and no other process may change them. They need no alignment. Throws EINVAL if
  // there are too few or too many.
  explicit FlatReader(std::span<const uint8_t> bytes);
  FlatReader(const FlatReader&) = delete;
  FlatReader& operator=(const FlatReader&) = delete;

  FlatTable root();

 private:
  friend class FlatTable;

  [[noreturn, gnu::cold]] void refuse(const char* what) const;
  void require(bool holds, const char* what) const {
    if (!holds) [[unlikely]]
      refuse(what);
  }

  std::unique_ptr<uint64_t[]> aligned_;  // a copy, if the bytes are not aligned
  std::span<const uint8_t> bytes_;
  flatbuffers::Verifier verifier_;
  size_t text_bytes_left_;
};

// A table of the message, whose position is verified. Each function verifies the member that it reads, and throws
// EINVAL if the member lies outside of the message.
class FlatTable {
 public:
  // Returns a number or a flag, or `fallback` if the table does not have the member.
  template <typename Number>
  Number number(Slot slot, Number fallback) const {
    using Stored = std::conditional_t<std::is_same_v<Number, bool>, uint8_t, Number>;
    const auto offset = flatbuffers::FieldIndexToOffset(slot);
    reader_->require(table_->VerifyField<Stored>(reader_->verifier_, offset, sizeof(Stored)), "a number");
    return static_cast<Number>(table_->GetField<Stored>(offset, static_cast<Stored>(fallback)));
  }

  bool has(Slot slot) const { return table_->CheckField(flatbuffers::FieldIndexToOffset(slot)); }

  // Returns nullopt if the table does not have the member. The text ends with a zero byte, and may contain others.
  std::optional<std::string_view> text(Slot slot) const;
  std::optional<FlatTable> table(Slot slot) const;

  // Returns the elements of a vector of integers, or of structs of integers. Returns none if the table does not have
  // the member. The elements need not be aligned.
  template <typename Element>
  std::vector<Element> vector(Slot slot) const {
    const auto* const found = checked_vector<Element>(slot);
    if (found == nullptr) return {};
    std::vector<Element> elements(found->size());
    if (!elements.empty()) std::memcpy(elements.data(), found->Data(), elements.size() * sizeof(Element));
    return elements;
  }

  // Returns the number of elements of a vector of tables, or 0 if the table does not have the member.
  int64_t count(Slot slot) const;

  // Returns an element of a vector of tables.
  FlatTable element(Slot slot, int64_t index) const;

 private:
  friend class FlatReader;
  using TableOffset = flatbuffers::Offset<flatbuffers::Table>;

  FlatTable(FlatReader& reader, const flatbuffers::Table* table) : reader_(&reader), table_(table) {}

  FlatTable checked_table(const flatbuffers::Table* table) const;
  template <typename Target>
  const Target* pointer(Slot slot) const {
    const auto offset = flatbuffers::FieldIndexToOffset(slot);
    reader_->require(table_->VerifyOffset(reader_->verifier_, offset), "a member");
    return table_->GetPointer<const Target*>(offset);
  }
  template <typename Element>
  const flatbuffers::Vector<Element>* checked_vector(Slot slot) const {
    const auto* const vector = pointer<flatbuffers::Vector<Element>>(slot);
    reader_->require(reader_->verifier_.VerifyVector(vector), "a vector");
    return vector;
  }

  FlatReader* reader_;
  const flatbuffers::Table* table_;
};

}  // namespace arrowdevice::ipc

// SPDX-License-Identifier: Apache-2.0
// Writes flatbuffers. A flatbuffer is written from its leaves to its root.
#pragma once

#include <flatbuffers/flatbuffers.h>

#include <cerrno>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/checked.h"
#include "ipc/wire.h"

namespace arrowdevice::ipc {

// A message's bytes: the flatbuffer without a prefix.
using Bytes = std::vector<uint8_t>;

// A text, vector or table that is written, or none.
using Written = flatbuffers::Offset<void>;

class FlatWriter {
 public:
  Written text(std::string_view text) {
    make_room(text.size());
    return builder_.CreateString(text.data(), text.size()).Union();
  }

  template <typename Element>
  Written vector(std::span<const Element> elements) {
    make_room(elements.size_bytes());
    if constexpr (std::is_integral_v<Element>) {
      return builder_.CreateVector(elements.data(), elements.size()).Union();
    } else {
      return builder_.CreateVectorOfStructs(elements.data(), elements.size()).Union();
    }
  }

  Written tables(const std::vector<Written>& tables) {
    make_room(tables.size() * sizeof(Written));
    return builder_.CreateVector(tables).Union();
  }

  // Writes a table. `add` calls number() and refer() for the members, which is not allowed elsewhere.
  template <typename Add>
  Written table(const Add& add) {
    make_room(0);
    const auto start = builder_.StartTable();
    add();
    return builder_.EndTable(start);
  }
  template <typename Number>
  void number(Slot slot, Number value, Number fallback) {
    using Stored = std::conditional_t<std::is_same_v<Number, bool>, uint8_t, Number>;
    builder_.AddElement<Stored>(flatbuffers::FieldIndexToOffset(slot), static_cast<Stored>(value),
                                static_cast<Stored>(fallback));
  }
  // Adds nothing if nothing is written.
  void refer(Slot slot, Written target) { builder_.AddOffset(flatbuffers::FieldIndexToOffset(slot), target); }

  // Pads the message with zeros, so that a body behind it is aligned.
  Bytes finish(Written root) {
    builder_.Finish(root);
    Bytes bytes(builder_.GetBufferPointer(), builder_.GetBufferPointer() + builder_.GetSize());
    bytes.resize(static_cast<size_t>(align_up(std::ssize(bytes), kLeastAlignment)));
    return bytes;
  }

 private:
  // Throws E2BIG if the message would become too large for a flatbuffer with these bytes and a table.
  void make_room(size_t bytes) const {
    constexpr size_t kMost = (size_t{1} << 31) - (size_t{1} << 16);
    if (bytes > kMost || builder_.GetSize() > kMost - bytes) {
      throw Error(E2BIG, "the metadata needs more than the 2 GiB that a message can have");
    }
  }

  flatbuffers::FlatBufferBuilder builder_;
};

}  // namespace arrowdevice::ipc

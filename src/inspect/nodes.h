// SPDX-License-Identifier: Apache-2.0
// The nodes of a view, in one block of memory, followed by the data that they point to: buffers, pointers to children,
// short texts.
#pragma once

#include <arrowdevice/arrowdevice.h>

#include <cstddef>
#include <forward_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "schema/layout.h"

namespace arrowdevice::inspect {

struct Nodes {
  std::span<arrowdevice_node> all;  // 0 is the root
  std::unique_ptr<std::byte[]> block;
  std::forward_list<std::string> long_texts;  // texts that do not fit the block
};

class NodeWriter {
 public:
  // Allocates the block. Each node but the root is the child or dictionary of another.
  NodeWriter(int64_t n_nodes, int64_t n_buffers, Nodes& nodes);

  // Writes all members of a node but its children, its dictionary and its buffers. They are added before the next node
  // begins. Throws Error without a path if the field's metadata is malformed.
  void begin(arrowdevice_node& node, const ArrowSchema& schema, const schema::Type& type, const ArrowArray& array,
             int64_t null_count) {
    begin(node, schema, keep_short(schema.format), type, array, null_count);
  }

  // The same for a field whose format has a lasting copy.
  [[gnu::always_inline]] void begin(arrowdevice_node& node, const ArrowSchema& schema, const char* format,
                                    const schema::Type& type, const ArrowArray& array, int64_t null_count) {
    node = {.name = schema.name == nullptr ? nullptr : keep_short(schema.name),
            .format = format,
            .metadata = nullptr,
            .extension_name = nullptr,
            .extension_metadata = nullptr,
            .extension_metadata_size = 0,
            .length = array.length,
            .offset = array.offset,
            .null_count = null_count,
            .flags = schema.flags,
            .layout = static_cast<int32_t>(type.layout),
            .n_buffers = 0,
            .n_children = 0,
            .bit_width = type.bit_width,
            .list_size = type.list_size,
            .buffers = buffer_,
            .children = child_,
            .dictionary = nullptr,
            .array = &array,
            .reserved = {}};
    if (schema.metadata != nullptr) add_metadata(node, schema.metadata);
  }

  void add_child(arrowdevice_node& node, const arrowdevice_node& child) noexcept {
    *child_++ = &child;
    ++node.n_children;
  }

  // Adds a buffer of a known size.
  void add_buffer(arrowdevice_node& node, const void* data, schema::BufferShape shape, int64_t size,
                  uint32_t flags) noexcept {
    *buffer_++ = {.data = data, .size = size, .role = schema::buffer_role(shape), .flags = flags, .reserved = 0};
    ++node.n_buffers;
  }

 private:
  void add_metadata(arrowdevice_node& node, const char* metadata);

  // Copies a short text into the block. Names and formats are short, so a loop is faster than a function call.
  const char* keep_short(const char* text) {
    char* to = text_;
    while (to != texts_end_) {
      if ((*to++ = *text++) != '\0') continue;
      return std::exchange(text_, to);
    }
    return keep(text - (to - text_));
  }

  const char* keep(std::string_view text);

  Nodes& nodes_;
  // The unused rest of the block.
  arrowdevice_node_buffer* buffer_;
  const arrowdevice_node** child_;
  char* text_;
  char* texts_end_;
};

}  // namespace arrowdevice::inspect

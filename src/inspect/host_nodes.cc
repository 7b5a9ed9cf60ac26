// SPDX-License-Identifier: Apache-2.0
#include "inspect/host_nodes.h"

#include <array>
#include <exception>

#include "base/checked.h"
#include "schema/format.h"
#include "schema/tree.h"
#include "transfer/extents.h"

namespace arrowdevice::inspect {
namespace {

using schema::BufferShape;
using schema::Layout;
using schema::Type;

// The formats of one letter, each with its NUL.
constexpr auto kLetters = [] {
  std::array<std::array<char, 2>, 256> letters{};
  for (size_t i = 0; i < letters.size(); ++i) letters[i][0] = static_cast<char>(i);
  return letters;
}();

struct Count {
  int64_t nodes = 0;
  int64_t buffers = 0;

  // Returns false if the array has too many fields, or a field that write_host_nodes() does not know.
  [[gnu::always_inline]] bool add(const ArrowSchema* schema, const ArrowArray* array, int depth) noexcept {
    constexpr int64_t kMostBuffers = 3;
    if (schema == nullptr || schema->release == nullptr || array == nullptr || array->release == nullptr ||
        array->n_buffers < 1 || array->n_buffers > kMostBuffers || array->n_children != schema->n_children) {
      return false;
    }
    ++nodes;
    buffers += array->n_buffers;
    return array->n_children == 0 || add_children(*schema, *array, depth);
  }

 private:
  [[gnu::noinline, gnu::hot]] bool add_children(const ArrowSchema& schema, const ArrowArray& array,
                                                int depth) noexcept {
    const int64_t n = array.n_children;
    if (n < 0 || n > schema::kMostSharedNodes - nodes || depth == schema::kDeepest || schema.children == nullptr ||
        array.children == nullptr) {
      return false;
    }
    for (int64_t i = 0; i < n; ++i) {
      if (!add(schema.children[i], array.children[i], depth + 1)) return false;
    }
    return true;
  }
};

// Writes the nodes of structs that were counted.
class HostNodes {
 public:
  HostNodes(const Count& count, Nodes& nodes) : writer_(count.nodes, count.buffers, nodes), next_(nodes.all.data()) {}

  bool write_root(const ArrowSchema& schema, const ArrowArray& array) {
    return schema.format != nullptr && write(*next_++, schema, array, 0);
  }

 private:
  static constexpr uint32_t kFlags = ARROWDEVICE_BUFFER_SIZE_KNOWN | ARROWDEVICE_BUFFER_HOST;

  // The schema has a format. `least_length` is the length that the parent needs.
  [[gnu::noinline, gnu::hot]] bool write(arrowdevice_node& node, const ArrowSchema& schema, const ArrowArray& array,
                                         int64_t least_length) {
    if (!fits(schema, array, least_length)) return false;
    Type room;
    const Type* type = schema::common_type(schema.format);
    if (type == nullptr) type = schema::list_or_wide_type(schema.format, &room);
    if (type == nullptr) return false;
    const bool has_bitmap = array.buffers[0] != nullptr;
    const int64_t slots = array.length + array.offset;
    writer_.begin(node, schema, *type, array, has_bitmap ? array.null_count : 0);
    add(node, 0, BufferShape::kValidity, has_bitmap ? bytes_for_bits(slots) : 0);
    switch (type->layout) {
      case Layout::kFixed: return array.n_buffers == 2 && array.n_children == 0 && add_values(node, *type, slots);
      case Layout::kBinary:
      case Layout::kLargeBinary:
        return array.n_buffers == 3 && array.n_children == 0 && add_offsets(node, *type, slots) &&
               add_bytes(node, *type, slots);
      case Layout::kList:
      case Layout::kLargeList:
        return array.n_buffers == 2 && array.n_children == 1 && add_offsets(node, *type, slots) &&
               add_children(node, schema, 0);
      case Layout::kStruct: return array.n_buffers == 1 && add_children(node, schema, slots);
      default: return false;
    }
  }

  static bool fits(const ArrowSchema& schema, const ArrowArray& array, int64_t least_length) noexcept {
    return array.buffers != nullptr &&
           (reinterpret_cast<uintptr_t>(schema.dictionary) | reinterpret_cast<uintptr_t>(array.dictionary)) == 0 &&
           static_cast<uint64_t>(array.length) <= schema::kMostPlainSlots &&
           static_cast<uint64_t>(array.offset) <= schema::kMostPlainSlots && array.length >= least_length &&
           array.null_count >= -1 && array.null_count <= (array.buffers[0] != nullptr ? array.length : 0);
  }

  void add(arrowdevice_node& node, int position, BufferShape shape, int64_t size) noexcept {
    writer_.add_buffer(node, node.array->buffers[position], shape, size, kFlags);
  }

  // Adds a buffer that may be NULL only if the array has no slots.
  bool add_needed(arrowdevice_node& node, BufferShape shape, int64_t size) noexcept {
    const bool is_there = node.array->buffers[1] != nullptr;
    add(node, 1, shape, is_there ? size : 0);
    return is_there || node.length == 0;
  }

  bool add_values(arrowdevice_node& node, const Type& type, int64_t slots) noexcept {
    if (type.bit_width > schema::kWidestPlainBits) return false;
    const int64_t size =
        (type.bit_width & 7) != 0 ? bytes_for_bits(slots * type.bit_width) : slots * (type.bit_width >> 3);
    return add_needed(node, BufferShape::kValues, size);
  }

  bool add_offsets(arrowdevice_node& node, const Type& type, int64_t slots) noexcept {
    return add_needed(node, BufferShape::kOffsets, (slots + 1) * type.info().offset_bytes);
  }

  bool add_bytes(arrowdevice_node& node, const Type& type, int64_t slots) noexcept {
    int64_t size = 0;
    if (node.length > 0 && node.array->buffers[2] != nullptr) {
      const auto* const offsets = static_cast<const uint8_t*>(node.array->buffers[1]);
      size = transfer::load_index(offsets, slots, type.info().offset_bytes);
    }
    add(node, 2, BufferShape::kBytes, size);
    return size >= 0;
  }

  [[gnu::hot]] bool add_children(arrowdevice_node& node, const ArrowSchema& schema, int64_t least_length) {
    const int64_t n = schema.n_children;
    arrowdevice_node* const children = next_;
    next_ += n;
    for (int64_t i = 0; i < n; ++i) writer_.add_child(node, children[i]);
    const ArrowArray* const* const arrays = node.array->children;
    for (int64_t i = 0; i < n; ++i) {
      const ArrowSchema& child = *schema.children[i];
      if (child.format == nullptr) return false;
      if (!write_number(children[i], child, *arrays[i], least_length) &&
          !write(children[i], child, *arrays[i], least_length)) {
        return false;
      }
    }
    return true;
  }

  // Writes most columns by a short form of write(): numbers whose format is a letter. Returns false, with nothing
  // written, for others.
  [[gnu::always_inline]] bool write_number(arrowdevice_node& node, const ArrowSchema& schema, const ArrowArray& array,
                                           int64_t least_length) {
    const auto letter = static_cast<uint8_t>(schema.format[0]);
    const int64_t width = schema::kBytesByLetter[letter];
    if (width == 0 || schema.format[1] != '\0' || array.n_buffers != 2 || array.n_children != 0 ||
        !fits(schema, array, least_length) || array.buffers[1] == nullptr) {
      return false;
    }
    const bool has_bitmap = array.buffers[0] != nullptr;
    const int64_t slots = array.length + array.offset;
    writer_.begin(node, schema, kLetters[letter].data(), *schema::kTypesByLetter[letter], array,
                  has_bitmap ? array.null_count : 0);
    add(node, 0, BufferShape::kValidity, has_bitmap ? bytes_for_bits(slots) : 0);
    add(node, 1, BufferShape::kValues, slots * width);
    return true;
  }

  NodeWriter writer_;
  arrowdevice_node* next_;  // that has no parent yet
};

}  // namespace

[[gnu::hot]] bool write_host_nodes(const ArrowSchema& schema, const ArrowArray& array, Nodes& nodes) noexcept {
  Count count;
  if (!count.add(&schema, &array, 1)) return false;
  try {
    if (HostNodes(count, nodes).write_root(schema, array)) return true;
  } catch (const std::exception&) {  // malformed metadata, or there is no memory
  }
  nodes = {};
  return false;
}

}  // namespace arrowdevice::inspect

// SPDX-License-Identifier: Apache-2.0
#include "ipc/batch_layout.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include "base/checked.h"
#include "transfer/bits.h"

namespace arrowdevice::ipc {
namespace {

using schema::BufferShape;

// Recurses as deep as the schema, at most schema::kDeepest levels.
void add_in_order(const schema::Tree& tree, int32_t index, std::vector<int32_t>& fields) {
  fields.push_back(index);
  if (tree[index].is_plain) return;
  for (int32_t i = 0; i < tree[index].n_children; ++i) add_in_order(tree, tree[index].first_child + i, fields);
}

class Planning {
 public:
  Planning(const schema::Binding& array, std::span<const int64_t> sizes, bool is_on_host)
      : array_(array), is_on_host_(is_on_host) {
    for (int32_t field = 0; field < array.tree().size(); ++field) {
      const auto n = static_cast<size_t>(array.buffer_count(field));
      sizes_.push_back(sizes.first(n));
      sizes = sizes.subspan(n);
    }
  }

  BodyPlan run(Columns columns) {
    const int64_t rows = array_[0].length;
    if (columns == Columns::kChildren) check_root();
    plan_.batch.length = rows;
    for (const int32_t field : fields_in_order(array_.tree(), columns)) {
      const bool is_column = columns == Columns::kChildren && array_.tree()[field].parent == 0;
      add(field, is_column ? rows : array_[field].length);
    }
    return std::move(plan_);
  }

 private:
  void check_root() const {
    if (array_[0].offset != 0) array_.refuse(0, "the offset is " + std::to_string(array_[0].offset) + " (expected 0)");
    const int64_t nulls = count_nulls(0, array_[0].length);
    if (nulls != 0) array_.refuse(0, "null_count is " + std::to_string(nulls) + " (a record batch has no nulls)");
  }

  // Columns may be longer than their batch, which shows the first rows.
  void add(int32_t field, int64_t length) {
    const int64_t nulls = count_nulls(field, length);
    plan_.batch.nodes.push_back({length, nulls});
    plan_.offsets.push_back(array_[field].offset);
    const auto buffers = array_.buffers(field);
    const auto& info = array_.tree()[field].type.info();
    if (info.is_variadic) plan_.batch.variadic_counts.push_back(array_.n_variadic(field));
    size_t next = 0;
    for (const auto shape : info.buffers) {
      if (shape == BufferShape::kVariadicSizes) break;
      const int64_t repeat = shape == BufferShape::kVariadic ? array_.n_variadic(field) : 1;
      for (int64_t i = 0; i < repeat; ++i, ++next) {
        if (shape == BufferShape::kValidity && nulls == 0) {
          add_buffer(nullptr, 0);
        } else if (shape == BufferShape::kOffsets && array_[field].length == 0) {
          add_buffer(kZeroOffset, is_on_host_ ? info.offset_bytes : 0);
        } else {
          add_buffer(buffers[next], known_size(field, shape, sizes_[static_cast<size_t>(field)][next]));
        }
      }
    }
  }

  int64_t known_size(int32_t field, BufferShape shape, int64_t size) const {
    if (size < 0)
      array_.refuse(field, std::string("the size of the ") + schema::buffer_name(shape) + " buffer is unknown");
    return size;
  }

  void add_buffer(const void* source, int64_t length) {
    auto& batch = plan_.batch;
    batch.buffers.push_back({batch.body_length, length});
    plan_.sources.push_back(source);
    batch.body_length = align_up(checked_add(batch.body_length, length), kBodyAlignment);
  }

  int64_t count_nulls(int32_t field, int64_t length) const {
    const auto& array = array_[field];
    const int64_t nulls = schema::null_count_of_rows(array_, field, length, length == array.length);
    if (nulls >= 0 || !is_on_host_) return nulls;
    const auto* const bits = static_cast<const uint8_t*>(array_.buffers(field)[0]);
    return length - transfer::count_bits(bits, array.offset, length);
  }

  const schema::Binding& array_;
  const bool is_on_host_;
  std::vector<std::span<const int64_t>> sizes_;  // of each field
  BodyPlan plan_;
};

}  // namespace

std::vector<int32_t> fields_in_order(const schema::Tree& tree, Columns columns) {
  std::vector<int32_t> fields;
  fields.reserve(static_cast<size_t>(tree.size()));
  add_in_order(tree, 0, fields);
  if (columns == Columns::kChildren) fields.erase(fields.begin());
  return fields;
}

BodyPlan plan_body(const schema::Binding& array, Columns columns, std::span<const int64_t> sizes, bool is_on_host) {
  return Planning(array, sizes, is_on_host).run(columns);
}

void write_body(const BodyPlan& plan, uint8_t* body) {
  const auto offset = std::ranges::find_if(plan.offsets, [](int64_t each) { return each != 0; });
  if (offset != plan.offsets.end()) {
    throw Error(EINVAL, "node " + std::to_string(offset - plan.offsets.begin()) + " has offset " +
                            std::to_string(*offset) + " (a packed body needs 0)");
  }
  uint8_t* end = body;
  for (size_t i = 0; i < plan.sources.size(); ++i) {
    const auto [position, length] = plan.batch.buffers[i];
    end = std::fill_n(end, body + position - end, uint8_t{0});
    if (length > 0) std::memcpy(end, plan.sources[i], static_cast<size_t>(length));
    end += length;
  }
  std::fill(end, body + plan.batch.body_length, uint8_t{0});
}

}  // namespace arrowdevice::ipc

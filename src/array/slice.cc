// SPDX-License-Identifier: Apache-2.0
#include "array/slice.h"

#include <cerrno>
#include <string>

#include "array/array_slice.h"
#include "array/clone_structs.h"
#include "array/locate.h"
#include "array/shared_array.h"
#include "backend/device_types.h"
#include "base/error.h"
#include "base/scratch.h"
#include "schema/copy.h"

namespace arrowdevice::array {
namespace {

using schema::Layout;

// Publishes an array with the properties of the original, in canonical form.
void publish(const ArrowDeviceArray& inout, Output& output, SharedArray& shared, ArrowDeviceArray* out) noexcept {
  *out = ArrowDeviceArray{};
  out->device_type = inout.device_type;
  out->device_id = inout.device_type == ARROW_DEVICE_CPU ? -1 : inout.device_id;
  out->sync_event = inout.sync_event;
  const auto owner = shared.owner();
  shared.commit();
  output.publish(owner, &out->array);
}

// Returns true for a struct without a bitmap. Its children are sliced, and it keeps offset 0.
bool is_record_batch(const schema::Binding& array) {
  return array.tree()[0].type.layout == Layout::kStruct && !array.has_validity(0);
}

void make_batch_root(ArrowArray& root, int64_t length) noexcept {
  root.length = length;
  root.offset = 0;
  root.null_count = 0;
  root.buffers[0] = nullptr;
}

}  // namespace

void share(ArrowDeviceArray& inout, ArrowDeviceArray* out) {
  check_alive(&inout);
  check_event(inout);
  SharedArray shared(inout);
  auto output = clone_structs(inout.array);
  publish(inout, output, shared, out);
}

void slice(ArrowDeviceArray& inout, const ArrowSchema& schema, int64_t offset, int64_t length, ArrowDeviceArray* out) {
  check_alive(&inout);
  check_event(inout);
  Scratch scratch;
  const schema::Tree tree(schema, scratch.memory());
  const schema::Binding array(tree, inout.array, scratch.memory());
  if (offset < 0 || length < 0 || offset > inout.array.length - length) {
    throw Error(EINVAL, tree.path(0) + ": rows " + std::to_string(offset) + " and " + std::to_string(length) +
                            " more are not in an array of " + std::to_string(inout.array.length));
  }
  SharedArray shared(inout);
  if (!is_record_batch(array)) {
    constexpr int32_t kRoot[] = {0};
    ArraySlice slice(array, kRoot, 0, scratch.memory());
    slice.add(0, offset, length);
    publish(inout, slice.output(), shared, out);
    return;
  }
  std::pmr::vector<int32_t> columns(scratch.memory());
  columns.reserve(static_cast<size_t>(tree[0].n_children));
  for (int32_t i = 0; i < tree[0].n_children; ++i) columns.push_back(tree[0].first_child + i);
  ArraySlice slice(array, columns, 1, scratch.memory());
  auto& root = slice.output().add_node(1, tree[0].n_children);
  make_batch_root(root, length);
  for (size_t i = 0; i < columns.size(); ++i)
    root.children[i] = &slice.add(columns[i], inout.array.offset + offset, length);
  publish(inout, slice.output(), shared, out);
}

void select(ArrowDeviceArray& inout, const ArrowSchema& schema, std::span<const int64_t> children,
            ArrowDeviceArray* out, ArrowSchema* out_schema) {
  check_alive(&inout);
  check_event(inout);
  Scratch scratch;
  const schema::Tree tree(schema, scratch.memory());
  const schema::Binding array(tree, inout.array, scratch.memory());
  if (tree[0].type.layout != Layout::kStruct)
    throw Error(EINVAL, tree.path(0) + ": not a struct, it has no columns to select");
  std::pmr::vector<int32_t> columns(scratch.memory());
  for (const int64_t child : children) {
    if (child < 0 || child >= tree[0].n_children) {
      throw Error(EINVAL, tree.path(0) + ": there is no child " + std::to_string(child) + " of " +
                              std::to_string(tree[0].n_children));
    }
    columns.push_back(tree[0].first_child + static_cast<int32_t>(child));
  }
  SharedArray shared(inout);
  ArraySlice slice(array, columns, 1, scratch.memory());
  auto& root = slice.output().add_node(1, static_cast<int64_t>(columns.size()));
  const bool batch = is_record_batch(array);
  if (batch) {
    make_batch_root(root, inout.array.length);
  } else {
    root.length = inout.array.length;
    root.offset = inout.array.offset;
    root.null_count = array.null_count(0);
    root.buffers[0] = array.buffers(0)[0];
  }
  for (size_t i = 0; i < columns.size(); ++i) {
    const auto& column = array[columns[i]];
    root.children[i] =
        &slice.add(columns[i], batch ? inout.array.offset : 0, batch ? inout.array.length : column.length);
  }
  if (out_schema != nullptr) schema::copy_selection(schema, children, out_schema);
  publish(inout, slice.output(), shared, out);
}

}  // namespace arrowdevice::array

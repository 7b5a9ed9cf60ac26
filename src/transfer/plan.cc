// SPDX-License-Identifier: Apache-2.0
#include "transfer/plan.h"

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <string>

#include "base/checked.h"

namespace arrowdevice::transfer {
namespace {

using schema::Layout;
using schema::ReferenceKind;

class Planner {
 public:
  Planner(const schema::Binding& array, const TrimMode& cut, SourceReader& contents, bool sizes_on_host,
          std::pmr::memory_resource* memory)
      : array_(array),
        tree_(array.tree()),
        cut_(cut),
        contents_(contents),
        reader_(array, contents, cut.target_on_host, sizes_on_host),
        plan_(memory) {}

  Plan run() {
    plan_.nodes.resize(static_cast<size_t>(tree_.size()));
    lay_out_references();
    if (array_.has_variadic()) lay_out_variadic();
    require_root();
    for (bool is_first = true;; is_first = false) {
      bool complete = true;
      for (int32_t field = 0; field < tree_.size(); ++field) {
        if (plan_[field].is_known) {
          complete &= resolve_children(field);
        } else {
          // The first batch also reads the index data that this field needs if all of its rows are needed.
          if (is_first) ask_for_all(field);
          complete = false;
        }
      }
      if (complete) return std::move(plan_);
      assert(contents_.has_pending_reads());
      contents_.read_back();
    }
  }

 private:
  // Adds the path to an error that a pure function has thrown.
  template <typename Function>
  auto checked(int32_t field, Function&& function) const {
    try {
      return function();
    } catch (const Error& e) {
      array_.refuse(field, e.message());
    }
  }

  bool range_depends_on_data(int32_t field) const {
    const auto refers = tree_[field].type.info().refers;
    return refers != ReferenceKind::kNone && refers != ReferenceKind::kIdentity && refers != ReferenceKind::kScaled;
  }

  void lay_out_references() {
    int32_t count = 0;
    for (int32_t field = 0; field < tree_.size(); ++field) {
      const int32_t parent = tree_[field].parent;
      if (range_depends_on_data(field) || (parent >= 0 && range_depends_on_data(parent)))
        plan_[field].references = count++;
    }
    plan_.references.resize(static_cast<size_t>(count));
  }

  void lay_out_variadic() {
    for (int32_t field = 0; field < tree_.size(); ++field) {
      const int64_t n = array_.n_variadic(field);
      if (n == 0) continue;
      plan_.refs(field).variadic = static_cast<int64_t>(plan_.variadic.size());
      plan_.variadic.resize(plan_.variadic.size() + static_cast<size_t>(n), VariadicBuffer{0, {}});
    }
  }

  // Requires the root's rows. A record batch keeps offset 0 even if nothing is trimmed; its children change instead.
  void require_root() {
    const auto& root = array_[0];
    require(0, root.offset, root.length, 0);
    auto& node = plan_[0];
    if (cut_.whole && tree_[0].type.layout == Layout::kStruct && !copies_validity(0)) {
      node.slots = {root.offset, root.length, 0};
      node.offset = 0;
    }
  }

  bool copies_validity(int32_t field) const {
    return cut_.whole ? array_.buffers(field)[0] != nullptr : array_.has_validity(field);
  }

  bool has_bitmap(int32_t field) const {
    const auto& type = tree_[field].type;
    if (!type.info().has_validity) return false;
    return copies_validity(field) || (type.layout == Layout::kFixed && type.bit_width % 8 != 0);
  }

  // Returns the slots that are copied for some rows. They include `inherited` slots before the rows, which are copied
  // for a parent.
  Slots slots_for(int32_t field, int64_t first_row, int64_t rows, int64_t inherited) const {
    if (cut_.whole) return rows > 0 ? Slots{0, first_row + rows, first_row} : Slots{};
    const int64_t first = first_row - inherited;
    const bool is_aligned = !cut_.bits_can_shift && rows + inherited > 0 && has_bitmap(field);
    const int64_t aligning = is_aligned ? first % 8 : 0;
    const int64_t lead = aligning + inherited;
    return {first - aligning, rows + lead, lead};
  }

  void require(int32_t field, int64_t first_row, int64_t rows, int64_t inherited) {
    auto& node = plan_[field];
    node.is_known = true;
    node.is_all = inherited == 0 && first_row == array_[field].offset && rows == array_[field].length;
    node.slots = slots_for(field, first_row, rows, inherited);
    node.offset = node.slots.leading_slots - inherited;
    node.length = rows + inherited;
  }

  // Requires rows of a child, unless the child is known. Positions in a child count from its own offset.
  void require_child(int32_t child, int64_t first_row, int64_t rows, int64_t inherited = 0) {
    if (!plan_[child].is_known) require(child, array_[child].offset + first_row, rows, inherited);
  }

  void require_whole_child(int32_t child) { require_child(child, 0, array_[child].length); }

  void ask_for_all(int32_t field) {
    const auto& source = array_[field];
    if (source.length == 0) return;
    Index unused;
    reader_.read(field, slots_for(field, source.offset, source.length, 0), &unused);
  }

  // Resolves the slots of the children that a field needs. Returns false if some data must be read back first.
  bool resolve_children(int32_t field) {
    auto& node = plan_[field];
    const auto& described = tree_[field];
    if (described.dictionary >= 0) require_whole_child(described.dictionary);
    if (described.type.info().refers == ReferenceKind::kNone) return true;
    if (cut_.whole) return look_inside_whole(field);
    const auto refers = described.type.info().refers;
    if (refers == ReferenceKind::kIdentity || refers == ReferenceKind::kScaled) {
      const int64_t times = refers == ReferenceKind::kIdentity ? 1 : described.type.list_size;
      const int64_t first_row = checked_mul(node.slots.first_row(), times);
      const int64_t rows = checked_mul(node.slots.rows(), times);
      const int64_t lead = checked_mul(node.slots.leading_slots, times);
      for (int32_t i = 0; i < described.n_children; ++i) {
        require_child(described.first_child + i, first_row, rows, lead);
      }
      return true;
    }
    if (node.slots.rows() == 0) {
      for (int32_t i = 0; i < described.n_children; ++i) require_child(described.first_child + i, 0, 0);
      return true;
    }
    const auto reading = reader_.read(field, node.slots, &plan_.refs(field).index);
    if (reading == Reading::kPending) return false;
    if (reading == Reading::kTooLarge) {
      need_everything(field);
      return true;
    }
    switch (refers) {
      case ReferenceKind::kOffsets: need_by_offsets(field); break;
      case ReferenceKind::kListViews: need_by_list_view(field); break;
      case ReferenceKind::kTypeIds: need_by_type_ids(field); break;
      case ReferenceKind::kBinaryViews: need_by_binary_view(field); break;
      case ReferenceKind::kRunEnds: need_by_runs(field); break;
      case ReferenceKind::kNone:
      case ReferenceKind::kIdentity:
      case ReferenceKind::kScaled: break;
    }
    return true;
  }

  // Resolves the children of an untrimmed copy. Children are copied whole, and only the sizes of bytes must be read.
  bool look_inside_whole(int32_t field) {
    auto& node = plan_[field];
    const auto& described = tree_[field];
    const auto refers = described.type.info().refers;
    if (refers == ReferenceKind::kOffsets && described.n_children == 0 && node.slots.count > 0) {
      int64_t end = 0;
      if (reader_.read_last_offset(field, node.slots.count, &end) == Reading::kPending) return false;
      set_bytes(field, 0, end);
      return true;
    }
    if (refers == ReferenceKind::kBinaryViews && array_.n_variadic(field) > 0 &&
        reader_.variadic_sizes(field) == nullptr) {
      return false;
    }
    // A record batch that gave up its own offset passes it to its children.
    const bool hands_down = refers == ReferenceKind::kIdentity && node.slots.first > 0;
    for (int32_t i = 0; hands_down && i < described.n_children; ++i) {
      require_child(described.first_child + i, node.slots.first, node.slots.count);
    }
    if (!hands_down) need_everything(field);
    return true;
  }

  // Requires all children and variadic buffers. The data that refers to them does not change.
  void need_everything(int32_t field) {
    auto& node = plan_[field];
    const auto& described = tree_[field];
    if (described.type.info().refers == ReferenceKind::kRunEnds) {
      if (!cut_.whole) node.offset = node.slots.first;  // the copy begins among the runs
      require_child(described.first_child + 1, 0, array_[described.first_child].length);
    }
    for (int32_t i = 0; i < described.n_children; ++i) require_whole_child(described.first_child + i);
    if (array_.n_variadic(field) > 0) {
      load_variadic_sizes(field);
      for (auto& one : variadic(field)) one.needed = {0, one.size};
      check_variadic(field);
    }
  }

  void set_bytes(int32_t field, int64_t begin, int64_t end) {
    const auto bytes = checked(field, [&] { return offsets_extent(begin, end, -1); });
    if (bytes.count > 0 && array_.buffers(field)[2] == nullptr) {
      array_.refuse(field, "data buffer is NULL, " + std::to_string(bytes.count) + " bytes are needed");
    }
    plan_.refs(field).bytes = bytes;
  }

  void need_by_offsets(int32_t field) {
    auto& node = plan_[field];
    auto& refs = plan_.refs(field);
    const auto& described = tree_[field];
    const bool is_list = described.n_children > 0;
    const int64_t child_length = is_list ? array_[described.first_child].length : -1;
    refs.base = checked(field, [&] { return offsets_extent(refs.index.begin, refs.index.end, child_length); }).first;
    node.is_rebased = refs.base > 0 && refs.index.list_offsets != nullptr;
    // If offsets can be rebased neither here nor after they have arrived, they do not change. All data that they refer
    // to is then copied.
    if (!node.is_rebased && !cut_.target_on_host) refs.base = 0;
    if (is_list) {
      require_child(described.first_child, refs.base, refs.index.end - refs.base);
    } else {
      set_bytes(field, refs.base, refs.index.end);
    }
  }

  void need_by_list_view(int32_t field) {
    auto& node = plan_[field];
    auto& refs = plan_.refs(field);
    const int32_t child = tree_[field].first_child;
    const auto extent = checked(field, [&] {
      return list_view_extent(refs.index.view_offsets, refs.index.view_sizes, tree_[field].type.info().offset_bytes,
                              node.slots.rows(), refs.index.validity, array_[child].length);
    });
    refs.base = extent.first;
    node.is_rebased = true;
    require_child(child, extent.first, extent.count);
  }

  void need_by_type_ids(int32_t field) {
    auto& node = plan_[field];
    const auto& index = plan_.refs(field).index;
    const auto& described = tree_[field];
    std::vector<int64_t> lengths;
    for (int32_t i = 0; i < described.n_children; ++i) lengths.push_back(array_[described.first_child + i].length);
    std::vector<Extent> extents(lengths.size());
    checked(field, [&] {
      dense_union_extents(index.type_ids, index.union_offsets, node.slots.count, node.slots.leading_slots,
                          tree_.union_map(described), lengths, extents);
    });
    node.is_rebased = true;
    for (int32_t i = 0; i < described.n_children; ++i) {
      const auto& extent = extents[static_cast<size_t>(i)];
      plan_.refs(described.first_child + i).in_union = extent;
      require_child(described.first_child + i, extent.first, extent.count);
    }
  }

  std::span<VariadicBuffer> variadic(int32_t field) {
    return std::span(plan_.variadic)
        .subspan(static_cast<size_t>(plan_.refs(field).variadic), static_cast<size_t>(array_.n_variadic(field)));
  }

  // Loads the sizes after they have been read.
  void load_variadic_sizes(int32_t field) {
    const auto* sizes = reader_.variadic_sizes(field);
    auto mine = variadic(field);
    for (size_t i = 0; i < mine.size(); ++i) {
      mine[i].size = load_index(sizes, static_cast<int64_t>(i), 8);
      if (mine[i].size < 0)
        array_.refuse(field,
                      "variadic buffer " + std::to_string(i) + " has " + std::to_string(mine[i].size) + " bytes");
    }
  }

  void check_variadic(int32_t field) {
    const auto mine = variadic(field);
    for (size_t i = 0; i < mine.size(); ++i) {
      if (mine[i].needed.count > 0 && array_.buffers(field)[2 + i] == nullptr) {
        array_.refuse(field, "variadic buffer " + std::to_string(i) + " is NULL, " +
                                 std::to_string(mine[i].needed.count) + " bytes are needed");
      }
    }
  }

  void need_by_binary_view(int32_t field) {
    auto& node = plan_[field];
    const auto& index = plan_.refs(field).index;
    auto mine = variadic(field);
    if (mine.empty()) return;
    load_variadic_sizes(field);
    std::vector<int64_t> sizes;
    for (const auto& one : mine) sizes.push_back(one.size);
    std::vector<Extent> extents(mine.size());
    checked(field, [&] { binary_view_extents(index.views, node.slots.rows(), index.validity, sizes, extents); });
    for (size_t i = 0; i < mine.size(); ++i) mine[i].needed = extents[i];
    check_variadic(field);
    node.is_rebased = true;
  }

  void need_by_runs(int32_t field) {
    const auto& node = plan_[field];
    const auto& index = plan_.refs(field).index;
    const int32_t child = tree_[field].first_child;
    const auto width = static_cast<int>(tree_[child].type.bit_width / 8);
    const auto runs = checked(child, [&] {
      return runs_extent(index.run_ends, width, array_[child].length, node.slots.first, node.slots.count);
    });
    require_child(child, runs.first, runs.count);
    require_child(child + 1, runs.first, runs.count);
    plan_.refs(child).runs_of = {node.slots.first, node.slots.count};
    plan_.refs(child).run_ends = index.run_ends + runs.first * width;
  }

  const schema::Binding& array_;
  const schema::Tree& tree_;
  const TrimMode& cut_;
  SourceReader& contents_;
  IndexReader reader_;
  Plan plan_;
};

}  // namespace

Plan make_plan(const schema::Binding& array, const TrimMode& cut, SourceReader& contents, bool sizes_on_host,
               std::pmr::memory_resource* memory) {
  return Planner(array, cut, contents, sizes_on_host, memory).run();
}

}  // namespace arrowdevice::transfer

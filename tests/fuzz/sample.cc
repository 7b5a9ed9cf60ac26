// SPDX-License-Identifier: Apache-2.0
#include "sample.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "support/cases.h"

namespace fuzz {

namespace {

Field one_type(Input& input) { return input.pick(input.flag() ? flat_types() : nested_types()).type; }

}  // namespace

Field type_of(Input& input) {
  if (input.flag()) return one_type(input);
  std::vector<Field> columns;
  for (int64_t left = input.below(4); left > 0; --left) columns.push_back(one_type(input));
  return struct_of(std::move(columns));
}

Knobs knobs_of(Input& input) {
  Knobs knobs;
  knobs.rows = input.below(12);
  knobs.nulls = static_cast<Nulls>(input.below(6));
  knobs.offset = input.below(12);
  knobs.child_offset = input.below(4);
  knobs.tail = input.below(4);
  knobs.variadic = static_cast<int>(input.below(3));
  knobs.legacy = input.flag();
  knobs.misaligned = input.flag();
  knobs.shuffled = input.flag();
  knobs.null_offsets = input.flag();
  knobs.seed = input.byte();
  return knobs;
}

ArrowDeviceArray on_cpu(Owned<ArrowArray> array) {
  ArrowDeviceArray made{};
  made.device_type = ARROW_DEVICE_CPU;
  made.device_id = -1;
  made.array = *array;
  array->release = nullptr;
  return made;
}

bool is_short(const ArrowArray& array) {
  constexpr int64_t kMost = 256;
  if (array.length > kMost || (array.dictionary != nullptr && !is_short(*array.dictionary))) return false;
  return std::all_of(array.children, array.children + array.n_children,
                     [](const ArrowArray* child) { return is_short(*child); });
}

}  // namespace fuzz

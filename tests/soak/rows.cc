// SPDX-License-Identifier: Apache-2.0
#include "rows.h"

#include "support/cases.h"
#include "support/reader.h"

namespace soak {

namespace {

using arrowdevice::testing::Field;
using arrowdevice::testing::field;
using arrowdevice::testing::HostCase;
using arrowdevice::testing::Knobs;
using arrowdevice::testing::Nulls;

Knobs some_knobs(Random& dice) {
  const auto one_in = [&](int64_t n) { return dice.below(n) == 0; };
  Knobs knobs;
  knobs.rows = one_in(8) ? dice.below(3) : dice.below(200);
  knobs.nulls = static_cast<Nulls>(dice.below(static_cast<int64_t>(Nulls::kAll) + 1));
  knobs.offset = one_in(2) ? 0 : dice.below(20);
  knobs.child_offset = one_in(2) ? 0 : dice.below(12);
  knobs.tail = dice.below(5);
  knobs.variadic = static_cast<int>(dice.below(5));
  knobs.longest = static_cast<int>(dice.below(7));
  knobs.longest_text = static_cast<int>(dice.below(40));
  knobs.null_empty = one_in(2);
  knobs.null_offsets = one_in(2);
  knobs.misaligned = one_in(4);
  knobs.shuffled = one_in(4);
  knobs.wild_views = one_in(2);
  knobs.seed = dice.next();
  return knobs;
}

const HostCase& some_case(const std::vector<HostCase>& cases, Random& dice) {
  return cases[static_cast<size_t>(dice.below(static_cast<int64_t>(cases.size())))];
}

bool are_plain_numbers(const ArrowSchema& type, const ArrowArray& array) {
  return std::strcmp(type.format, "l") == 0 && type.dictionary == nullptr && array.null_count == 0;
}

// A view of some columns of an array or schema during its lifetime.
template <typename Struct>
struct Columns {
  Columns(const Struct& whole, const std::vector<int64_t>& columns) : part(whole) {
    for (const int64_t column : columns) children.push_back(whole.children[column]);
    part.n_children = static_cast<int64_t>(children.size());
    part.children = children.data();
  }
  std::vector<Struct*> children;
  Struct part;
};

}  // namespace

Rows::Rows(const Field& type, const Knobs& knobs)
    : data_(generate(type, knobs)), schema_(make_schema(type)), twin_(make_array(data_, Ledger())) {}

// Returns rows that take several pieces of staging memory. They are numbers without nulls, because they are
// compared as bytes.
std::shared_ptr<const Rows> Rows::large() {
  static const auto rows = std::make_shared<const Rows>(field("l"), Knobs{.rows = 200'000, .nulls = Nulls::kNone});
  return rows;
}

std::shared_ptr<const Rows> Rows::some(Random& dice) {
  if (dice.below(40) == 0) return large();
  if (dice.below(60) == 0) {
    const HostCase& one = some_case(arrowdevice::testing::large_cases(), dice);
    return std::make_shared<const Rows>(one.type, one.knobs);
  }
  const bool is_usual = dice.below(2) == 0;
  const HostCase& one =
      some_case(is_usual ? arrowdevice::testing::few_cases() : arrowdevice::testing::all_cases(), dice);
  // Types without values have rows only in their own case.
  const bool varies = one.knobs.rows > 0 && dice.below(2) == 0;
  return std::make_shared<const Rows>(one.type, varies ? some_knobs(dice) : one.knobs);
}

bool Rows::is_record() const {
  return std::strcmp(schema_->format, "+s") == 0 && schema_->dictionary == nullptr && schema_->n_children > 0;
}

std::string Rows::difference(const std::vector<int64_t>* columns, int64_t first, const ArrowSchema& type,
                             const ArrowArray& array) const {
  const std::string malformed = arrowdevice::testing::problem(type, array);
  if (!malformed.empty()) return "malformed: " + malformed;
  if (columns != nullptr) {
    const Columns<ArrowSchema> expected_type(*schema_, *columns);
    const Columns<ArrowArray> expected(*twin_, *columns);
    return arrowdevice::testing::difference(expected_type.part, expected.part, first, type, array, 0, array.length);
  }
  if (are_plain_numbers(*schema_, *twin_) && are_plain_numbers(type, array) && array.length > 0) {
    const auto* ours = static_cast<const int64_t*>(twin_->buffers[1]) + twin_->offset + first;
    const auto* theirs = static_cast<const int64_t*>(array.buffers[1]) + array.offset;
    const size_t bytes = static_cast<size_t>(array.length) * sizeof *ours;
    return std::memcmp(ours, theirs, bytes) == 0 ? "" : "other numbers";
  }
  return arrowdevice::testing::difference(*schema_, *twin_, first, type, array, 0, array.length);
}

}  // namespace soak

// SPDX-License-Identifier: Apache-2.0
// Fuzzes slices of valid arrays, copies of slices to devices and back, and selected columns. The rows must
// be the same for every range. The library must refuse ranges outside of the array.
#include <utility>

#include "sample.h"
#include "support/reader.h"

namespace {

using namespace fuzz;  // NOLINT: what every line of this file is written with

struct Range {
  int64_t offset;
  int64_t length;
  bool is_there;
};

Range range_of(Input& input, int64_t rows) {
  if (input.below(8) == 7) {
    const Range range{input.number(), input.number(), false};
    const bool is_there =
        range.offset >= 0 && range.length >= 0 && range.offset <= rows && range.length <= rows - range.offset;
    return {range.offset, range.length, is_there};
  }
  const int64_t offset = input.below(rows + 1);
  return {offset, input.below(rows - offset + 1), true};
}

// Copies the array back to the CPU.
Array to_cpu(const ArrowDeviceArray& array, const ArrowSchema& schema) {
  Array back;
  must(arrowdevice_array_copy, &array, &schema, cpu(), static_cast<const arrowdevice_copy_options*>(nullptr),
       back.out());
  return back;
}

void check_rows(const ArrowSchema& schema, const ArrowArray& is, const ArrowArray& of, const Range& range) {
  check(is.length == range.length, "a slice of another length");
  const std::string found = difference(schema, of, range.offset, schema, is, 0, range.length);
  if (!found.empty()) fail("a slice is not the same: " + found);
}

void check_slice(Input& input, const ArrowDeviceArray& host, const ArrowSchema& schema) {
  Array whole;
  arrowdevice_device* const devices[] = {cpu(), simulated(0), simulated(1)};
  arrowdevice_copy_options options{};
  options.struct_size = sizeof options;
  options.flags = input.flag() ? ARROWDEVICE_COPY_NO_TRIM : 0;
  must(arrowdevice_array_copy, &host, &schema, devices[input.below(8) % 3],
       static_cast<const arrowdevice_copy_options*>(&options), whole.out());
  const Range range = range_of(input, host.array.length);
  Array slice;
  if (!accepts(arrowdevice_array_slice, whole.get(), &schema, range.offset, range.length, slice.out())) {
    check(!range.is_there, "a range that is there is refused");
    check(slice.released(), "a refused slice is not released");
    return check_rows(schema, to_cpu(*whole, schema)->array, host.array, {0, host.array.length, true});
  }
  check(range.is_there, "a range that is not there is sliced");
  whole.reset();  // a slice does not need it
  check_rows(schema, to_cpu(*slice, schema)->array, host.array, range);
}

void check_select(Input& input, ArrowDeviceArray& host, const ArrowSchema& schema) {
  int64_t columns[4];
  const int64_t n = input.below(5);
  bool are_there = true;
  for (int64_t i = 0; i < n; ++i) {
    columns[i] = input.below(16) == 15 ? input.number() : input.below(4);
    are_there = are_there && columns[i] >= 0 && columns[i] < schema.n_children;
  }
  Array out;
  Schema out_schema;
  if (!accepts(arrowdevice_array_select, &host, &schema, static_cast<const int64_t*>(columns), n, out.out(),
               out_schema.out())) {
    return check(!are_there || std::string(schema.format) != "+s", "columns that are there are refused");
  }
  check(are_there, "columns that are not there are taken out");
  // The same columns, selected by hand.
  ArrowArray expected = host.array;
  ArrowSchema expected_schema = schema;
  ArrowArray* children[4];
  ArrowSchema* child_schemas[4];
  for (int64_t i = 0; i < n; ++i) {
    children[i] = host.array.children[columns[i]];
    child_schemas[i] = schema.children[columns[i]];
  }
  expected.n_children = expected_schema.n_children = n;
  expected.children = children;
  expected_schema.children = child_schemas;
  const std::string found = difference(expected_schema, expected, *out_schema, out->array);
  if (!found.empty()) fail("the columns are not the same: " + found);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  Input input(bytes, size);
  const Field type = type_of(input);
  const Ledger ledger;
  {
    const Schema schema = make_schema(type);
    Array host(on_cpu(make_array(generate(type, knobs_of(input)), ledger)));
    check_slice(input, *host, *schema);
    check_select(input, *host, *schema);
  }
  check(ledger.live() == 0, "an array is not released");
  check(Ledger::mistakes() == 0, "an array is released twice");
  return 0;
}

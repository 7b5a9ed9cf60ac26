// SPDX-License-Identifier: Apache-2.0
// Tests slices, on the host and on the device.
#include <cerrno>
#include <limits>

#include "conformance/subject.h"

namespace arrowdevice::conformance {

namespace {

using testing::canon_problem;
using testing::problem;

// Checks the null count of a slice. A count of 0 stays 0, and a count of all rows becomes the slice's length.
// Every other count is -1 or the true count.
void expect_counts(const Sample& sample, const ArrowArray& slice, Range range) {
  const testing::Reader reader(*sample.schema, *sample.twin);
  int64_t nulls = 0;
  for (int64_t i = 0; i < range.length; ++i) nulls += reader.is_null(range.offset + i);
  const std::string counted =
      "null_count " + std::to_string(slice.null_count) + " of a slice with " + std::to_string(nulls) + " nulls";
  const bool validity = reader.shape().has_validity();
  const bool is_known = !validity || sample.twin->buffers[0] == nullptr || sample.twin->null_count == 0 ||
                        sample.twin->null_count == sample.twin->length;
  expect(slice.null_count == nulls || (slice.null_count == -1 && !is_known), counted);
  if (reader.shape().kind == testing::Kind::kStruct && sample.twin->buffers[0] == nullptr) {
    expect(slice.offset == 0 && slice.null_count == 0, "the slice of a record batch is not one");
  }
}

void copies_host_slices(Subject& subject) {
  for_each(testing::asked_cases(), [&](Sample& sample) {
    for (const Range range : ranges_of(sample.twin->length)) {
      auto slice = subject.slice(*sample.host, *sample.schema, range);
      expect_clean(canon_problem(*slice, *sample.schema, subject.cpu_info(), kShared), "the slice");
      expect_clean(problem(*sample.schema, slice->array), "the slice");
      expect_counts(sample, slice->array, range);
      sample.expect_values(slice->array, range.offset);
      auto there = subject.to_device(*slice, *sample.schema);
      expect_clean(canon_problem(*there, *sample.schema, subject.info(), kTrimmed), "its copy");
      slice.reset();
      auto back = subject.to_cpu(*there, *sample.schema);
      expect_clean(problem(*sample.schema, back->array), "back on the host");
      expect(back->array.length == range.length, "rows were lost");
      sample.expect_values(back->array, range.offset);
    }
    sample.expect_values(sample.host->array);
  });
}

// If there are too many run ends to be read back first, the copy keeps them and their offset.
Canon trimmed(const Sample& sample) {
  Canon canon = kTrimmed;
  canon.offsets_are_zero = sample.twin->length < 10'000;
  return canon;
}

void copies_device_slices(Subject& subject) {
  for_each(thorough_cases(), [&](Sample& sample) {
    auto there = subject.to_device(*sample.host, *sample.schema);
    for (const Range range : ranges_of(sample.twin->length)) {
      auto slice = subject.slice(*there, *sample.schema, range);
      expect_clean(canon_problem(*slice, *sample.schema, subject.info(), kShared), "the slice");
      expect_counts(sample, slice->array, range);
      expect(slice->sync_event == there->sync_event, "the slice has another event");
      auto back = subject.to_cpu(*slice, *sample.schema);
      expect_clean(canon_problem(*back, *sample.schema, subject.cpu_info(), trimmed(sample)), "back on the host");
      expect_clean(problem(*sample.schema, back->array), "back on the host");
      expect(back->array.length == range.length, "rows were lost");
      sample.expect_values(back->array, range.offset);
    }
    auto back = subject.to_cpu(*there, *sample.schema);
    sample.expect_values(back->array);
  });
}

void moves_device_slices(Subject& subject) {
  for_each(testing::asked_cases(), [&](Sample& sample) {
    const int64_t rows = sample.twin->length;
    const Range range{rows / 3, rows - rows / 3 - rows / 5};
    auto there = subject.to_device(*sample.host, *sample.schema);
    auto slice = subject.slice(*there, *sample.schema, range);
    there.reset();
    auto back = output_of(arrowdevice_array_to_host, slice.get(), sample.schema.get(), nullptr);
    expect(slice.released(), "what was moved is not marked released");
    expect_clean(problem(*sample.schema, *back), "back on the host");
    expect(back->length == range.length, "rows were lost");
    sample.expect_values(*back, range.offset);
  });
}

void slices_slices(Subject& subject) {
  for_each(testing::asked_cases(), [&](Sample& sample) {
    if (sample.twin->length < 19) return;
    auto there = subject.to_device(*sample.host, *sample.schema);
    auto outer = subject.slice(*there, *sample.schema, {3, 15});
    auto inner = subject.slice(*outer, *sample.schema, {2, 11});
    auto innermost = subject.slice(*inner, *sample.schema, {5, 5});
    outer.reset();
    inner.reset();
    there.reset();
    auto back = subject.to_cpu(*innermost, *sample.schema);
    expect_clean(problem(*sample.schema, back->array), "back on the host");
    expect(back->array.length == 5, "rows were lost");
    sample.expect_values(back->array, 10);
  });
}

void copies_slices_whole(Subject& subject) {
  for_each(testing::asked_cases(), [&](Sample& sample) {
    if (sample.twin->length < 16) return;
    auto there = subject.to_device(*sample.host, *sample.schema);
    auto slice = subject.slice(*there, *sample.schema, {5, 9});
    auto back = subject.copy(*slice, *sample.schema, subject.cpu(), ARROWDEVICE_COPY_NO_TRIM);
    expect_clean(problem(*sample.schema, back->array), "back on the host");
    expect(back->array.length == 9, "another number of rows came back");
    sample.expect_values(back->array, 5);
  });
}

void refuses_other_rows(Subject& subject) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  for_each(testing::few_cases(), [&](Sample& sample) {
    auto there = subject.to_device(*sample.host, *sample.schema);
    const ArrowDeviceArray before = *there;
    const int64_t rows = sample.twin->length;
    for (const Range range : {Range{0, rows + 1}, Range{rows + 1, 0}, Range{-1, 1}, Range{0, -1}, Range{kMost, kMost},
                              Range{rows, 1}, Range{1, kMost}}) {
      Owned<ArrowDeviceArray> out;
      must_fail(EINVAL, arrowdevice_array_slice, there.get(), sample.schema.get(), range.offset, range.length,
                out.out());
      expect(out.released(), "a refused slice gave something");
      expect(std::memcmp(&before, there.get(), sizeof before) == 0, "a refused slice changed its input");
    }
    auto back = subject.to_cpu(*there, *sample.schema);
    sample.expect_values(back->array);
  });
}

}  // namespace

std::span<const Case> slice_cases() {
  static constexpr Case kCases[] = {
      {"slices on the host copy to the device with their rows, for every type", kNeedsNothing, copies_host_slices},
      {"slices on the device copy to the host with their rows, for every type", kNeedsNothing, copies_device_slices},
      {"slices come to the host after their source is released, for every type", kNeedsNothing, moves_device_slices},
      {"slices of slices have the rows that remain, for every type", kNeedsNothing, slices_slices},
      {"whole copies of slices have the rows of the slice, for every type", kNeedsNothing, copies_slices_whole},
      {"rows outside of an array are refused", kNeedsNothing, refuses_other_rows},
  };
  return kCases;
}

}  // namespace arrowdevice::conformance

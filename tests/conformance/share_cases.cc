// SPDX-License-Identifier: Apache-2.0
// Tests arrays that share memory: share and select.
#include <cerrno>

#include "conformance/subject.h"

namespace arrowdevice::conformance {

namespace {

using testing::canon_problem;

void shares_on_the_device(Subject& subject) {
  for_each(testing::asked_cases(), [&](Sample& sample) {
    for (const bool original_first : {true, false}) {
      auto first = subject.to_device(*sample.host, *sample.schema);
      auto second = subject.share(*first);
      expect(!first.released() && !second.released(), "sharing released an owner");
      expect(first->sync_event == second->sync_event, "the owners have different events");
      expect_clean(canon_problem(*first, *sample.schema, subject.info(), kShared), "the first owner");
      expect_clean(canon_problem(*second, *sample.schema, subject.info(), kShared), "the second owner");
      for (int64_t i = 0; i < first->array.n_buffers; ++i) {
        expect(first->array.buffers[i] == second->array.buffers[i], "the owners have different memory");
      }
      (original_first ? first : second).reset();
      auto back = subject.to_cpu(original_first ? *second : *first, *sample.schema);
      sample.expect_values(back->array);
    }
  });
}

void shares_on_the_host(Subject& subject) {
  for_each(testing::asked_cases(), [&](Sample& sample) {
    auto second = subject.share(*sample.host);
    auto third = subject.share(*second);
    sample.host.reset();
    expect(sample.ledger.released() == 0, "the producer's release ran before the last owner's");
    sample.expect_values(second->array);
    second.reset();
    expect(sample.ledger.released() == 0, "the producer's release ran before the last owner's");
    sample.expect_values(third->array);
    third.reset();
    expect(sample.ledger.live() == 0, "the last owner did not release everything");
  });
}

void gives_memory_back_with_the_last(Subject& subject) {
  Sample sample(testing::find_case("record batch"));
  wait_idle();
  const int64_t before = subject.stats().used_bytes;
  auto first = subject.to_device(*sample.host, *sample.schema);
  auto second = subject.share(*first);
  auto slice = subject.slice(*second, *sample.schema, {10, 20});
  first.reset();
  second.reset();
  wait_idle();
  expect(subject.stats().used_bytes > before, "memory was given back while an owner lives");
  slice.reset();
  wait_idle();
  expect(subject.stats().used_bytes == before, "the last owner gave nothing back");
}

void selects(Subject& subject) {
  Sample sample(testing::find_case("record batch of sliced columns"));
  auto there = subject.to_device(*sample.host, *sample.schema);
  const int64_t chosen[] = {3, 0, 4, 3, 7};
  Owned<ArrowDeviceArray> out;
  auto out_schema = output_of(arrowdevice_array_select, there.get(), sample.schema.get(), chosen, 5, out.out());
  expect_clean(canon_problem(*out, *out_schema, subject.info(), kShared), "the selection");
  there.reset();
  auto back = subject.to_cpu(*out, *out_schema);
  expect_clean(testing::problem(*out_schema, back->array), "the selection");
  expect(back->array.length == sample.twin->length, "rows were lost");
  for (size_t i = 0; i < 5; ++i) {
    const ArrowSchema& schema = *out_schema->children[i];
    const ArrowSchema& source = *sample.schema->children[chosen[i]];
    expect(std::string(schema.name) == source.name && std::string(schema.format) == source.format,
           "a column has another field");
    expect_clean(testing::difference(source, *sample.twin->children[chosen[i]], 0, schema, *back->array.children[i], 0,
                                     sample.twin->length),
                 schema.name);
  }
}

void selects_of_slices(Subject& subject) {
  for (const char* name : {"record batch of sliced columns", "struct of lists, offset 3, some nulls"}) {
    Sample sample(testing::find_case(name));
    auto there = subject.to_device(*sample.host, *sample.schema);
    auto slice = subject.slice(*there, *sample.schema, {5, 13});
    const int64_t chosen[] = {2, 1};
    Owned<ArrowDeviceArray> out;
    auto out_schema = output_of(arrowdevice_array_select, slice.get(), sample.schema.get(), chosen, 2, out.out());
    slice.reset();
    there.reset();
    auto back = subject.to_cpu(*out, *out_schema);
    const testing::Reader expected(*sample.schema, *sample.twin);
    const testing::Reader got(*out_schema, back->array);
    expect(got.length() == 13, "rows were lost");
    for (int64_t row = 0; row < 13; ++row) {
      testing::Value all = expected.value(5 + row);
      if (all.kind == testing::Value::Kind::kStruct) all.children = {all.children[2], all.children[1]};
      expect(got.value(row) == all, "row " + std::to_string(row) + ": " + got.value(row).text());
    }
  }
}

void selects_nothing(Subject& subject) {
  Sample sample(testing::find_case("record batch"));
  auto there = subject.to_device(*sample.host, *sample.schema);
  Owned<ArrowDeviceArray> out;
  must(arrowdevice_array_select, there.get(), sample.schema.get(), nullptr, 0, out.out(), nullptr);
  expect(out->array.n_children == 0 && out->array.length == sample.twin->length, "a selection of nothing");
}

void refuses_other_columns(Subject& subject) {
  Sample sample(testing::find_case("record batch"));
  auto there = subject.to_device(*sample.host, *sample.schema);
  const ArrowDeviceArray before = *there;
  for (const int64_t index : {int64_t{-1}, sample.schema->n_children, int64_t{1} << 40}) {
    Owned<ArrowDeviceArray> out;
    Owned<ArrowSchema> out_schema;
    must_fail(EINVAL, arrowdevice_array_select, there.get(), sample.schema.get(), &index, 1, out.out(),
              out_schema.out());
    expect(out.released() && out_schema.released(), "a refused selection gave something");
    expect(std::memcmp(&before, there.get(), sizeof before) == 0, "a refused selection changed its input");
  }
  Sample list(testing::find_case("list<int32>, some nulls"));
  auto flat = subject.to_device(*list.host, *list.schema);
  const int64_t index = 0;
  Owned<ArrowDeviceArray> out;
  must_fail(EINVAL, arrowdevice_array_select, flat.get(), list.schema.get(), &index, 1, out.out(), nullptr);
}

}  // namespace

std::span<const Case> share_cases() {
  static constexpr Case kCases[] = {
      {"two owners share device memory, in any order of release, for every type", kNeedsNothing, shares_on_the_device},
      {"a producer's release runs with the last of its owners, for every type", kNeedsNothing, shares_on_the_host},
      {"the last owner frees device memory", kNeedsNothing, gives_memory_back_with_the_last},
      {"columns are selected in the given order, and one can be selected twice", kNeedsNothing, selects},
      {"a selection of a slice has the rows of the slice", kNeedsNothing, selects_of_slices},
      {"a selection of no columns keeps the rows", kNeedsNothing, selects_nothing},
      {"missing columns, and columns of an array that is not a struct, are refused", kNeedsNothing,
       refuses_other_columns},
  };
  return kCases;
}

}  // namespace arrowdevice::conformance

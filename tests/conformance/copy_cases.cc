// SPDX-License-Identifier: Apache-2.0
// Tests copies and moves of arrays of every type between the host and the device.
#include <cerrno>

#include "conformance/subject.h"

namespace arrowdevice::conformance {

namespace {

using testing::canon_problem;
using testing::problem;

arrowdevice_copy_options with_flags(uint32_t flags) {
  auto options = sized<arrowdevice_copy_options>();
  options.flags = flags;
  return options;
}

// Fails unless the copy keeps a null count that its source knows. A copy has the rows of its source, so the
// count is the same.
void expect_count_kept(const ArrowArray& source, const ArrowArray& copy, const ArrowSchema& schema) {
  const bool counts = testing::shape_of(schema.format).has_validity() && source.buffers[0] != nullptr;
  if (!counts || source.null_count < 0) return;
  expect(copy.null_count == source.null_count,
         "null_count " + std::to_string(copy.null_count) + ", the source has " + std::to_string(source.null_count));
}

void keeps_values(Subject& subject) {
  for_each(thorough_cases(), [&](Sample& sample) {
    const ArrowDeviceArray before = *sample.host;
    auto there = subject.to_device(*sample.host, *sample.schema);
    expect_clean(canon_problem(*there, *sample.schema, subject.info(), kTrimmed), "on the device");
    expect_count_kept(*sample.twin, there->array, *sample.schema);
    auto back = subject.to_cpu(*there, *sample.schema);
    expect_clean(canon_problem(*back, *sample.schema, subject.cpu_info(), kTrimmed), "back on the host");
    expect_clean(problem(*sample.schema, back->array), "back on the host");
    expect_count_kept(*sample.twin, back->array, *sample.schema);
    expect(back->array.length == sample.twin->length, "rows were lost");
    sample.expect_values(back->array);
    expect(std::memcmp(&before, sample.host.get(), sizeof before) == 0, "the source was changed");
    sample.expect_values(sample.host->array);
  });
}

void keeps_no_hold_of_the_source(Subject& subject) {
  for_each(testing::few_cases(), [&](Sample& sample) {
    auto there = subject.to_device(*sample.host, *sample.schema);
    sample.host.reset();
    expect(sample.ledger.live() == 0, "a copy that is complete keeps its source");
    auto back = subject.to_cpu(*there, *sample.schema);
    there.reset();
    sample.expect_values(back->array);
  });
}

void moves(Subject& subject) {
  for_each(thorough_cases(), [&](Sample& sample) {
    auto there =
        output_of(arrowdevice_array_to_device, sample.host.get(), sample.schema.get(), subject.device(), nullptr);
    expect(sample.host.released(), "what was moved is not marked released");
    expect_clean(canon_problem(*there, *sample.schema, subject.info(), {.copied = false}), "on the device");
    auto back = output_of(arrowdevice_array_to_host, there.get(), sample.schema.get(), nullptr);
    expect(there.released(), "what was moved is not marked released");
    expect_clean(problem(*sample.schema, *back), "back on the host");
    expect(back->length == sample.twin->length, "rows were lost");
    sample.expect_values(*back);
  });
}

void copies_whole(Subject& subject) {
  for_each(testing::asked_cases(), [&](Sample& sample) {
    auto there = subject.copy(*sample.host, *sample.schema, subject.device(), ARROWDEVICE_COPY_NO_TRIM);
    expect_clean(canon_problem(*there, *sample.schema, subject.info()), "on the device");
    expect_count_kept(*sample.twin, there->array, *sample.schema);
    auto back = subject.copy(*there, *sample.schema, subject.cpu(), ARROWDEVICE_COPY_NO_TRIM);
    expect_clean(canon_problem(*back, *sample.schema, subject.cpu_info()), "back on the host");
    expect_clean(problem(*sample.schema, back->array), "back on the host");
    sample.expect_values(back->array);
    expect(back->array.length == sample.twin->length, "rows were lost");
  });
}

void copies_asynchronously(Subject& subject) {
  for_each(thorough_cases(), [&](Sample& sample) {
    auto there = subject.copy(*sample.host, *sample.schema, subject.device(), ARROWDEVICE_COPY_ASYNC);
    expect_clean(canon_problem(*there, *sample.schema, subject.info(), kTrimmed), "on the device");
    // The test does not wait here, so the copy back must wait.
    auto back = subject.to_cpu(*there, *sample.schema);
    expect_clean(problem(*sample.schema, back->array), "back on the host");
    sample.expect_values(back->array);
    // Some arrays without rows need no copy back, so the library did not wait.
    if (there->array.length == 0) return;
    int ready = output_of(arrowdevice_array_is_ready, there.get(), nullptr);
    // Without rows, the library has no bytes to copy and does not wait.
    expect(ready == 1 || sample.twin->length == 0, "the array was copied back and is not ready");
  });
}

void moves_asynchronously(Subject& subject) {
  for_each(thorough_cases(), [&](Sample& sample) {
    const arrowdevice_copy_options options = with_flags(ARROWDEVICE_COPY_ASYNC);
    auto there =
        output_of(arrowdevice_array_to_device, sample.host.get(), sample.schema.get(), subject.device(), &options);
    expect(sample.host.released(), "what was moved is not marked released");
    auto back = output_of(arrowdevice_array_to_host, there.get(), sample.schema.get(), nullptr);
    sample.expect_values(*back);
  });
}

void releases_before_the_event(Subject& subject) {
  for (int round = 0; round < 3; ++round) {
    for_each(testing::few_cases(), [&](Sample& sample) {
      auto kept = subject.to_device(*sample.host, *sample.schema);
      const arrowdevice_copy_options options = with_flags(ARROWDEVICE_COPY_ASYNC);
      auto there =
          output_of(arrowdevice_array_to_device, sample.host.get(), sample.schema.get(), subject.device(), &options);
      there.reset();
      // This copy gets the same memory if the memory is already free. It must not be free before the copy
      // into it has finished.
      auto next = subject.to_cpu(*kept, *sample.schema);
      auto again = subject.to_device(*next, *sample.schema);
      auto back = subject.to_cpu(*again, *sample.schema);
      sample.expect_values(back->array);
    });
  }
}

void copies_where_asked_to(Subject& subject) {
  for_each(testing::few_cases(), [&](Sample& sample) {
    auto there = subject.to_device(*sample.host, *sample.schema);
    auto second = subject.share(*there);
    const arrowdevice_copy_options always = with_flags(ARROWDEVICE_COPY_ALWAYS);
    auto moved = output_of(arrowdevice_array_to_device, there.get(), sample.schema.get(), subject.device(), &always);
    for (int64_t i = 0; i < moved->array.n_buffers; ++i) {
      expect(moved->array.buffers[i] == nullptr || moved->array.buffers[i] != second->array.buffers[i],
             "ALWAYS gave the same buffer");
    }
    auto back = output_of(arrowdevice_array_to_host, moved.get(), sample.schema.get(), &always);
    sample.expect_values(*back);
  });
}

void shares_on_one_device(Subject& subject) {
  for_each(testing::few_cases(), [&](Sample& sample) {
    auto there = subject.to_device(*sample.host, *sample.schema);
    const arrowdevice_copy_options never = with_flags(ARROWDEVICE_COPY_NEVER);
    std::vector<const void*> buffers(there->array.buffers, there->array.buffers + there->array.n_buffers);
    auto moved = output_of(arrowdevice_array_to_device, there.get(), sample.schema.get(), subject.device(), &never);
    expect(there.released(), "what was moved is not marked released");
    for (int64_t i = 0; i < moved->array.n_buffers; ++i) {
      expect(moved->array.buffers[i] == buffers[static_cast<size_t>(i)], "a move within a device changed a buffer");
    }
    auto back = subject.to_cpu(*moved, *sample.schema);
    sample.expect_values(back->array);
  });
}

void never_copies_where_told_not_to(Subject& subject) {
  for_each(testing::few_cases(), [&](Sample& sample) {
    const arrowdevice_copy_options never = with_flags(ARROWDEVICE_COPY_NEVER);
    auto there = subject.to_device(*sample.host, *sample.schema);
    Owned<ArrowArray> back;
    const ArrowDeviceArray before = *there;
    must_fail(ENOTSUP, arrowdevice_array_to_host, there.get(), sample.schema.get(), &never, back.out());
    expect(back.released(), "a refused move gave something");
    expect(std::memcmp(&before, there.get(), sizeof before) == 0, "a refused move changed its input");
    auto copied = subject.to_cpu(*there, *sample.schema);
    sample.expect_values(copied->array);
  });
}

void takes_old_options(Subject& subject) {
  Sample sample(testing::find_case("record batch"));
  Owned<ArrowDeviceArray> out;
  arrowdevice_copy_options options{};
  options.struct_size = 4;
  must_fail(EINVAL, arrowdevice_array_copy, sample.host.get(), sample.schema.get(), subject.device(), &options,
            out.out());
  struct Larger {
    arrowdevice_copy_options options;
    unsigned char more[64];
  } larger{};
  larger.options.struct_size = sizeof larger;
  must(arrowdevice_array_copy, sample.host.get(), sample.schema.get(), subject.device(), &larger.options, out.out());
  options.struct_size = sizeof options;
  options.timeout_ns = int64_t{60} * 1'000'000'000;
  options.source_device = subject.cpu();
  must(arrowdevice_array_copy, sample.host.get(), sample.schema.get(), subject.device(), &options, out.out());
  auto back = subject.to_cpu(*out, *sample.schema);
  sample.expect_values(back->array);
}

}  // namespace

std::span<const Case> copy_cases() {
  static constexpr Case kCases[] = {
      {"a copy to the device and back has the same values, for every type", kNeedsNothing, keeps_values},
      {"a copy does not hold its source", kNeedsNothing, keeps_no_hold_of_the_source},
      {"to_device and back keeps the values, for every type", kNeedsNothing, moves},
      {"a whole copy has the same values and null count, for every type", kNeedsNothing, copies_whole},
      {"a copy of an array whose event is pending waits for it, for every type", kNeedsNothing, copies_asynchronously},
      {"to_device of a pending array waits for its event, for every type", kNeedsNothing, moves_asynchronously},
      {"memory of an array released before its event is reused only after it", kNeedsNothing,
       releases_before_the_event},
      {"to_device copies if COPY_ALWAYS is set", kNeedsNothing, copies_where_asked_to},
      {"to_device within a device shares", kNeedsNothing, shares_on_one_device},
      {"to_device without a copy is refused if sharing fails, and loses nothing", kNeedsDiscrete,
       never_copies_where_told_not_to},
      {"copy options are accepted or refused by their struct_size", kNeedsNothing, takes_old_options},
  };
  return kCases;
}

}  // namespace arrowdevice::conformance

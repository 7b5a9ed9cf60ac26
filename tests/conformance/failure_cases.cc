// SPDX-License-Identifier: Apache-2.0
// Tests invalid input: the library rejects it with a reason and leaves it unchanged.
#include <cerrno>
#include <limits>

#include "conformance/subject.h"

namespace arrowdevice::conformance {

namespace {

using testing::Field;
using testing::field;
using testing::make_schema;

// Saves the structs of an array and of all its nodes, with their arrays of pointers. It restores them after a
// test has corrupted them, and detects a change by a call. It is made while the array is valid, because a
// corrupt array cannot be walked.
class Snapshot {
 public:
  explicit Snapshot(ArrowDeviceArray& array) {
    remember(&array, sizeof array);
    walk(array.array);
    mark();
  }
  // Saves the present content, which unchanged() compares with.
  void mark() {
    for (Piece& piece : pieces_) std::memcpy(piece.marked.data(), piece.place, piece.marked.size());
  }
  bool unchanged() const {
    for (const Piece& piece : pieces_) {
      if (std::memcmp(piece.place, piece.marked.data(), piece.marked.size()) != 0) return false;
    }
    return true;
  }
  void restore() const {
    for (const Piece& piece : pieces_) std::memcpy(piece.place, piece.healthy.data(), piece.healthy.size());
  }

 private:
  struct Piece {
    void* place;
    std::vector<unsigned char> healthy;
    std::vector<unsigned char> marked;
  };

  void remember(void* place, size_t size) {
    if (size == 0) return;
    const auto* bytes = static_cast<const unsigned char*>(place);
    pieces_.push_back({place, {bytes, bytes + size}, {bytes, bytes + size}});
  }
  void walk(ArrowArray& array) {
    remember(array.buffers, static_cast<size_t>(array.n_buffers) * sizeof *array.buffers);
    remember(array.children, static_cast<size_t>(array.n_children) * sizeof *array.children);
    for (int64_t i = 0; i < array.n_children; ++i) {
      remember(array.children[i], sizeof *array.children[i]);
      walk(*array.children[i]);
    }
    if (array.dictionary == nullptr) return;
    remember(array.dictionary, sizeof *array.dictionary);
    walk(*array.dictionary);
  }

  std::vector<Piece> pieces_;
};

// Fails unless every function that takes an array with its schema rejects this pair and leaves the array
// unchanged.
void everything_refuses(Subject& subject, int code, ArrowDeviceArray& array, Snapshot& before,
                        const ArrowSchema& schema, const std::string& what) {
  before.mark();
  std::vector<int64_t> columns;
  for (int64_t i = 0; i < schema.n_children; ++i) columns.push_back(i);
  using Call = std::function<int(Owned<ArrowDeviceArray>&, arrowdevice_error*)>;
  const std::pair<const char*, Call> calls[] = {
      {"array_validate",
       [&](auto&, auto* error) {
         return arrowdevice_array_validate(&array, &schema, nullptr, ARROWDEVICE_VALIDATE_STRUCTURE, error);
       }},
      {"array_copy",
       [&](auto& out, auto* error) {
         return arrowdevice_array_copy(&array, &schema, subject.device(), nullptr, out.out(), error);
       }},
      {"array_to_device",
       [&](auto& out, auto* error) {
         return arrowdevice_array_to_device(&array, &schema, subject.device(), nullptr, out.out(), error);
       }},
      {"array_to_host",
       [&](auto& out, auto* error) {
         return arrowdevice_array_to_host(&array, &schema, nullptr, &out.out()->array, error);
       }},
      {"array_slice",
       [&](auto& out, auto* error) { return arrowdevice_array_slice(&array, &schema, 0, 0, out.out(), error); }},
      {"array_select",
       [&](auto& out, auto* error) {
         return arrowdevice_array_select(&array, &schema, columns.data(), static_cast<int64_t>(columns.size()),
                                         out.out(), nullptr, error);
       }},
      {"array_import",
       [&](auto&, auto* error) {
         arrowdevice_view* view = reinterpret_cast<arrowdevice_view*>(&array);
         const int result = arrowdevice_array_import(&array, &schema, nullptr, &view, error);
         if (result != 0 && view != nullptr) throw Failure("a refused import gave a view");
         if (result == 0) arrowdevice_view_release(view);
         return result;
       }},
  };
  for (const auto& one : calls) {
    const char* const name = one.first;
    const Call& call = one.second;
    Owned<ArrowDeviceArray> out;
    try {
      must_fail(code, [&](auto* error) { return call(out, error); });
    } catch (const Failure& failure) {
      before.restore();
      throw Failure(what + ": " + name + ": " + failure.what());
    }
    const bool clean = out.released() && before.unchanged();
    if (!clean) before.restore();
    expect(clean, what + ": " + name + " failed and changed its input or gave something");
  }
}

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

struct Spoiled {
  const char* what;
  const char* of;  // name of a case
  void (*spoil)(ArrowDeviceArray&);
};

ArrowArray& child(ArrowDeviceArray& array, int i) { return *array.array.children[i]; }

const Spoiled kSpoiled[] = {
    {"a released array", "utf8, some nulls", [](ArrowDeviceArray& a) { a.array.release = nullptr; }},
    {"a negative length", "utf8, some nulls", [](ArrowDeviceArray& a) { a.array.length = -1; }},
    {"a negative offset", "utf8, some nulls", [](ArrowDeviceArray& a) { a.array.offset = -1; }},
    {"a length and an offset whose sum overflows", "utf8, some nulls",
     [](ArrowDeviceArray& a) { a.array.offset = kMost - 1; }},
    {"a length whose bytes overflow", "integer l, some nulls", [](ArrowDeviceArray& a) { a.array.length = kMost / 4; }},
    {"too few buffers", "utf8, some nulls", [](ArrowDeviceArray& a) { a.array.n_buffers = 2; }},
    {"too many buffers", "utf8, some nulls", [](ArrowDeviceArray& a) { a.array.n_buffers = 4; }},
    {"two buffers of a view", "utf8 view, some nulls", [](ArrowDeviceArray& a) { a.array.n_buffers = 2; }},
    {"a negative number of buffers", "utf8, some nulls", [](ArrowDeviceArray& a) { a.array.n_buffers = -1; }},
    {"buffers that are NULL", "utf8, some nulls", [](ArrowDeviceArray& a) { a.array.buffers = nullptr; }},
    {"offsets that are NULL", "utf8, some nulls", [](ArrowDeviceArray& a) { a.array.buffers[1] = nullptr; }},
    {"offsets of a list that are NULL", "list<int32>, some nulls",
     [](ArrowDeviceArray& a) { a.array.buffers[1] = nullptr; }},
    {"values that are NULL", "integer i, some nulls", [](ArrowDeviceArray& a) { a.array.buffers[1] = nullptr; }},
    {"views that are NULL", "utf8 view, some nulls", [](ArrowDeviceArray& a) { a.array.buffers[1] = nullptr; }},
    {"type ids that are NULL", "sparse union, some nulls", [](ArrowDeviceArray& a) { a.array.buffers[0] = nullptr; }},
    {"sizes of a list view that are NULL", "list view<int32>, some nulls",
     [](ArrowDeviceArray& a) { a.array.buffers[2] = nullptr; }},
    {"nulls without a bitmap", "integer i, some nulls", [](ArrowDeviceArray& a) { a.array.buffers[0] = nullptr; }},
    {"too few children", "record batch", [](ArrowDeviceArray& a) { a.array.n_children = 1; }},
    {"a negative number of children", "record batch", [](ArrowDeviceArray& a) { a.array.n_children = -1; }},
    {"children that are NULL", "record batch", [](ArrowDeviceArray& a) { a.array.children = nullptr; }},
    {"a child that is NULL", "record batch", [](ArrowDeviceArray& a) { a.array.children[1] = nullptr; }},
    {"a child that is released", "record batch", [](ArrowDeviceArray& a) { child(a, 1).release = nullptr; }},
    {"a child that is too short", "record batch", [](ArrowDeviceArray& a) { child(a, 1).length = 3; }},
    {"a child that is its own parent", "record batch", [](ArrowDeviceArray& a) { a.array.children[3] = &a.array; }},
    {"a grandchild that is released", "record batch",
     [](ArrowDeviceArray& a) { child(a, 3).children[0]->release = nullptr; }},
    {"an item list that is too short", "fixed-size list of 3<int16>, some nulls",
     [](ArrowDeviceArray& a) { child(a, 0).length = 110; }},
    {"a dictionary that is missing", "dictionary of utf8, indices i, some nulls",
     [](ArrowDeviceArray& a) { a.array.dictionary = nullptr; }},
};

const HostCase& case_of(const Spoiled& spoiled) {
  // The corner types have no case without corners for this type, so another case is used.
  if (std::strcmp(spoiled.of, "sparse union, some nulls") == 0) {
    return testing::find_case("sparse union<int32, utf8, boolean>, some nulls");
  }
  return testing::find_case(spoiled.of);
}

void malformed_arrays_are_refused(Subject& subject) {
  std::string report;
  for (const Spoiled& spoiled : kSpoiled) {
    try {
      Sample sample(case_of(spoiled));
      Snapshot healthy(*sample.host);
      spoiled.spoil(*sample.host);
      try {
        everything_refuses(subject, EINVAL, *sample.host, healthy, *sample.schema, spoiled.what);
      } catch (...) {
        healthy.restore();
        throw;
      }
      healthy.restore();
      auto there = subject.to_device(*sample.host, *sample.schema);
      auto back = subject.to_cpu(*there, *sample.schema);
      sample.expect_values(back->array);
      sample.host.reset();
      expect(sample.ledger.live() == 0, "it was not released");
    } catch (const std::exception& error) {
      report += std::string("\n  ") + error.what();
    }
  }
  expect(report.empty(), "malformed arrays:" + report);
}

void malformed_device_arrays_are_refused(Subject& subject) {
  for (const Spoiled& spoiled : kSpoiled) {
    Sample sample(case_of(spoiled));
    auto there = subject.to_device(*sample.host, *sample.schema);
    const Snapshot healthy(*there);
    spoiled.spoil(*there);
    Owned<ArrowDeviceArray> out;
    try {
      must_fail(EINVAL, arrowdevice_array_copy, there.get(), sample.schema.get(), subject.cpu(), nullptr, out.out());
      must_fail(EINVAL, arrowdevice_array_slice, there.get(), sample.schema.get(), 0, 0, out.out());
    } catch (const Failure& failure) {
      healthy.restore();
      throw Failure(std::string(spoiled.what) + ": " + failure.what());
    }
    healthy.restore();
    auto back = subject.to_cpu(*there, *sample.schema);
    sample.expect_values(back->array);
  }
}

void other_types_are_refused(Subject& subject) {
  Field deep = field("i");
  for (int i = 0; i < 65; ++i) deep = testing::list_of(deep);
  const std::pair<const char*, Field> wrong[] = {
      {"another layout", field("i")},
      {"too few columns", testing::struct_of({field("l"), field("u")})},
      {"a list", testing::list_of(field("i"))},
      {"65 levels", deep},
      {"a malformed format", field("w:")},
      {"an empty format", field("")},
      {"a struct that says that it is a list",
       [] {
         Field type = testing::struct_of({field("i"), field("i")});
         type.format = "+l";
         return type;
       }()},
  };
  Sample sample(testing::find_case("record batch"));
  for (const auto& [what, type] : wrong) {
    const auto schema = make_schema(type);
    Snapshot healthy(*sample.host);
    everything_refuses(subject, EINVAL, *sample.host, healthy, *schema, what);
  }
  auto released = make_schema(field("i"));
  const ArrowSchema gone = *released;
  released.reset();
  ArrowSchema dead = gone;
  dead.release = nullptr;
  Owned<ArrowDeviceArray> out;
  must_fail(EINVAL, arrowdevice_array_copy, sample.host.get(), &dead, subject.device(), nullptr, out.out());
  sample.expect_values(sample.host->array);
}

void unknown_formats_are_unsupported(Subject& subject) {
  Sample sample(testing::find_case("integer i, some nulls"));
  for (const char* format : {"q", "+zz", "vq"}) {
    const auto schema = make_schema(field(format));
    Snapshot healthy(*sample.host);
    everything_refuses(subject, ENOTSUP, *sample.host, healthy, *schema, format);
  }
}

void valid_arrays_are_valid(Subject& subject) {
  for_each(testing::asked_cases(), [&](Sample& sample) {
    must(arrowdevice_array_validate, sample.host.get(), sample.schema.get(), nullptr, ARROWDEVICE_VALIDATE_STRUCTURE);
    auto there = subject.to_device(*sample.host, *sample.schema);
    must(arrowdevice_array_validate, there.get(), sample.schema.get(), subject.device(),
         ARROWDEVICE_VALIDATE_STRUCTURE);
  });
}

void unknown_devices_are_refused(Subject& subject) {
  Sample sample(testing::find_case("record batch"));
  auto there = subject.to_device(*sample.host, *sample.schema);
  const ArrowDeviceArray right = *there;
  Owned<ArrowDeviceArray> out;
  const auto copy = [&](auto* error) {
    return arrowdevice_array_copy(there.get(), sample.schema.get(), subject.cpu(), nullptr, out.out(), error);
  };
  there->device_id = 1'000'000;
  must_fail(ENODEV, copy);
  there->device_id = right.device_id;
  there->device_type = 4'711;
  must_fail(ENOTSUP, copy);
  there->device_type = right.device_type;
  auto back = subject.to_cpu(*there, *sample.schema);
  sample.expect_values(back->array);
}

void output_is_not_input(Subject& subject) {
  Sample sample(testing::find_case("record batch"));
  auto there = subject.to_device(*sample.host, *sample.schema);
  const Snapshot before(*there);
  must_fail(EINVAL, arrowdevice_array_copy, there.get(), sample.schema.get(), subject.device(), nullptr, there.get());
  must_fail(EINVAL, arrowdevice_array_to_device, there.get(), sample.schema.get(), subject.device(), nullptr,
            there.get());
  must_fail(EINVAL, arrowdevice_array_share, there.get(), there.get());
  must_fail(EINVAL, arrowdevice_array_slice, there.get(), sample.schema.get(), 0, 1, there.get());
  expect(before.unchanged(), "a refused call changed its input");
  auto back = subject.to_cpu(*there, *sample.schema);
  sample.expect_values(back->array);
}

}  // namespace

std::span<const Case> failure_cases() {
  static constexpr Case kCases[] = {
      {"arrays of every type are valid, on the host and on the device", kNeedsNothing, valid_arrays_are_valid},
      {"malformed arrays are refused and left as they are", kNeedsNothing, malformed_arrays_are_refused},
      {"malformed arrays on the device are refused and left as they are", kNeedsNothing,
       malformed_device_arrays_are_refused},
      {"arrays of another type than their schema's are refused and left as they are", kNeedsNothing,
       other_types_are_refused},
      {"unknown formats fail with ENOTSUP", kNeedsNothing, unknown_formats_are_unsupported},
      {"arrays on missing devices are refused", kNeedsNothing, unknown_devices_are_refused},
      {"an output that is also the input is refused", kNeedsNothing, output_is_not_input},
  };
  return kCases;
}

}  // namespace arrowdevice::conformance

// SPDX-License-Identifier: Apache-2.0
// Tests invalid input: the call fails with the right code, the message names the path, and no object is
// leaked or lost.
#include <limits>

#include "library.h"
#include "support/snapshot.h"

namespace {

using namespace library_test;  // NOLINT: what every line of these tests is written with

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

struct Call {
  const char* name;
  // The caller releases the array that this makes.
  std::function<int(ArrowDeviceArray&, const ArrowSchema&, arrowdevice_error*)> make;
};

// Every function that takes an array with its schema.
const Call kCalls[] = {
    {"validate",
     [](auto& array, const auto& schema, auto* e) {
       return arrowdevice_array_validate(&array, &schema, nullptr, ARROWDEVICE_VALIDATE_STRUCTURE, e);
     }},
    {"copy",
     [](auto& array, const auto& schema, auto* e) {
       Array out;
       return arrowdevice_array_copy(&array, &schema, sim(1), nullptr, out.out(), e);
     }},
    {"to_device",
     [](auto& array, const auto& schema, auto* e) {
       Array out;
       return arrowdevice_array_to_device(&array, &schema, sim(1), nullptr, out.out(), e);
     }},
    {"to_host",
     [](auto& array, const auto& schema, auto* e) {
       Owned<ArrowArray> out;
       return arrowdevice_array_to_host(&array, &schema, nullptr, out.out(), e);
     }},
    {"slice",
     [](auto& array, const auto& schema, auto* e) {
       Array out;
       return arrowdevice_array_slice(&array, &schema, 0, 0, out.out(), e);
     }},
    {"select",
     [](auto& array, const auto& schema, auto* e) {
       Array out;
       Owned<ArrowSchema> out_schema;
       const int64_t first = 0;
       return arrowdevice_array_select(&array, &schema, &first, 1, out.out(), out_schema.out(), e);
     }},
    {"import",
     [](auto& array, const auto& schema, auto* e) {
       arrowdevice_view* view = nullptr;
       const int code = arrowdevice_array_import(&array, &schema, nullptr, &view, e);
       arrowdevice_view_release(view);
       return code;
     }},
};

void check_all_refuse(
    ArrowDeviceArray& array, const ArrowSchema& schema, int code, const std::string& place,
    const std::function<void()>& after_each = [] {}) {
  const ArrowDeviceArray was = array;
  for (const Call& call : kCalls) {
    INFO(call.name);
    arrowdevice_error error{};
    const int got = call.make(array, schema, &error);
    CHECK(got == code);
    CHECK(contains(error.message, place));
    CHECK(std::memcmp(&array, &was, sizeof was) == 0);
    after_each();
  }
}

struct Spoiled {
  const char* what;
  const char* place;  // in the message
  void (*spoil)(ArrowArray& batch);
};

// Returns a batch: id int64, name utf8, tags list<utf8>, kind dictionary, three fixed-size list, either dense
// union.
Field batch_type() {
  return struct_of({field("l", "id"), field("u", "name"), list_of(field("u", "item")).named("tags"),
                    dictionary_of("s", field("u", "value")).named("kind"),
                    fixed_size_list_of(3, field("s", "item")).named("three"),
                    dense_union_of("4,9", {field("i", "x"), field("u", "y")}).named("either"),
                    run_end_encoded("i", field("g", "values")).named("runs"),
                    list_view_of(field("c", "item")).named("ranges"), field("vu", "view")})
      .not_null();
}

const Spoiled kSpoiled[] = {
    {"NULL values", "batch.id: data buffer is NULL", [](ArrowArray& a) { a.children[0]->buffers[1] = nullptr; }},
    {"nulls without a bitmap", "batch.id: the validity buffer is NULL",
     [](ArrowArray& a) {
       a.children[0]->buffers[0] = nullptr;
       a.children[0]->null_count = 3;
     }},
    {"NULL offsets", "batch.name: offsets buffer is NULL", [](ArrowArray& a) { a.children[1]->buffers[1] = nullptr; }},
    {"NULL offsets below", "batch.tags.item: offsets buffer is NULL",
     [](ArrowArray& a) { a.children[2]->children[0]->buffers[1] = nullptr; }},
    {"NULL type ids", "batch.either: type ids buffer is NULL",
     [](ArrowArray& a) { a.children[5]->buffers[0] = nullptr; }},
    {"NULL union offsets", "batch.either: offsets buffer is NULL",
     [](ArrowArray& a) { a.children[5]->buffers[1] = nullptr; }},
    {"NULL list view sizes", "batch.ranges: sizes buffer is NULL",
     [](ArrowArray& a) { a.children[7]->buffers[2] = nullptr; }},
    {"NULL views", "batch.view: views buffer is NULL", [](ArrowArray& a) { a.children[8]->buffers[1] = nullptr; }},
    {"NULL variadic sizes", "batch.view: the sizes of",
     [](ArrowArray& a) { a.children[8]->buffers[a.children[8]->n_buffers - 1] = nullptr; }},
    {"buffers that are NULL", "batch.name: buffers is NULL", [](ArrowArray& a) { a.children[1]->buffers = nullptr; }},
    {"too few buffers", "batch.name: a binary has 3 buffers, not 2",
     [](ArrowArray& a) { a.children[1]->n_buffers = 2; }},
    {"too many buffers", "batch.name: a binary has 3 buffers, not 4",
     [](ArrowArray& a) { a.children[1]->n_buffers = 4; }},
    {"a negative number of buffers", "batch.view: n_buffers is -1",
     [](ArrowArray& a) { a.children[8]->n_buffers = -1; }},
    {"fewer children", "batch: the schema has 9 children, the array 8", [](ArrowArray& a) { a.n_children = 8; }},
    {"more children", "batch: the schema has 9 children, the array 10", [](ArrowArray& a) { a.n_children = 10; }},
    {"a negative number of children", "batch.tags: the schema has 1",
     [](ArrowArray& a) { a.children[2]->n_children = -1; }},
    {"children that are NULL", "batch: children is NULL", [](ArrowArray& a) { a.children = nullptr; }},
    {"NULL buffers of a plain column", "batch.id: buffers is NULL",
     [](ArrowArray& a) { a.children[0]->buffers = nullptr; }},
    {"too few buffers of a plain column", "batch.id: a fixed-width has 2 buffers, not 1",
     [](ArrowArray& a) { a.children[0]->n_buffers = 1; }},
    {"too many buffers of a plain column", "batch.id: a fixed-width has 2 buffers, not 3",
     [](ArrowArray& a) { a.children[0]->n_buffers = 3; }},
    {"a child of a plain column", "batch.id: the schema has 0 children, the array 1",
     [](ArrowArray& a) { a.children[0]->n_children = 1; }},
    {"a plain column that is NULL", "batch.id: the array is NULL", [](ArrowArray& a) { a.children[0] = nullptr; }},
    {"a released plain column", "batch.id: the array is released",
     [](ArrowArray& a) { a.children[0]->release = nullptr; }},
    {"a batch in the place of its plain column", "batch.id: the array is its own ancestor",
     [](ArrowArray& a) { a.children[0] = &a; }},
    {"a child that is NULL", "batch.name: the array is NULL", [](ArrowArray& a) { a.children[1] = nullptr; }},
    {"a released child", "batch.tags: the array is released", [](ArrowArray& a) { a.children[2]->release = nullptr; }},
    {"a released grandchild", "batch.tags.item: the array is released",
     [](ArrowArray& a) { a.children[2]->children[0]->release = nullptr; }},
    {"a released dictionary", "batch.kind.dictionary: the array is released",
     [](ArrowArray& a) { a.children[3]->dictionary->release = nullptr; }},
    {"a missing dictionary", "batch.kind: the dictionary is missing",
     [](ArrowArray& a) { a.children[3]->dictionary = nullptr; }},
    {"a dictionary too many", "batch.id: the array has a dictionary",
     [](ArrowArray& a) { a.children[0]->dictionary = a.children[3]->dictionary; }},
    {"a negative length", "batch.name: length is -1", [](ArrowArray& a) { a.children[1]->length = -1; }},
    {"a negative offset", "batch.name: offset is -2", [](ArrowArray& a) { a.children[1]->offset = -2; }},
    {"the least length", "batch: length is -9223372036854775808", [](ArrowArray& a) { a.length = -kMost - 1; }},
    {"offset and length that overflow", "batch.id: offset 9223372036854775807 and length",
     [](ArrowArray& a) { a.children[0]->offset = kMost; }},
    {"a length whose bytes overflow", "batch.id: the size of the data buffer overflows",
     [](ArrowArray& a) { a.children[0]->length = kMost / 4; }},
    {"items that overflow", "batch.three", [](ArrowArray& a) { a.children[4]->length = kMost / 2; }},
    {"more nulls than rows", "batch.id: null_count is 41", [](ArrowArray& a) { a.children[0]->null_count = 41; }},
    {"fewer than unknown nulls", "batch.id: null_count is -2", [](ArrowArray& a) { a.children[0]->null_count = -2; }},
    {"nulls of a union", "batch.either: a dense union has no nulls of its own",
     [](ArrowArray& a) { a.children[5]->null_count = 1; }},
    {"a column that is too short", "batch.id: length is 39, the parent needs 40",
     [](ArrowArray& a) { a.children[0]->length = 39; }},
    {"items that are too few", "batch.three.item: length is 119, the parent needs 120",
     [](ArrowArray& a) { a.children[4]->children[0]->length = 119; }},
    {"no runs", "batch.runs.run_ends: there are no runs",
     [](ArrowArray& a) { a.children[6]->children[0]->length = 0; }},
    {"a child that is its own parent", "batch.tags.item: the array is its own ancestor",
     [](ArrowArray& a) { a.children[2]->children[0] = a.children[2]; }},
};

TEST_CASE("malformed arrays are refused with their path, on the host and on a device") {
  begin();
  Sample sample(batch_type(), kPlain);
  Array there = copy(sample, sim(0));
  const int64_t live = control::counters(0).allocations_live;
  for (const Spoiled& spoiled : kSpoiled) {
    INFO(spoiled.what);
    for (ArrowDeviceArray* array : {sample.host.get(), there.get()}) {
      const Snapshot healthy(array->array);
      spoiled.spoil(array->array);
      check_all_refuse(*array, *sample.schema, EINVAL, spoiled.place);
      healthy.restore();
    }
  }
  CHECK(difference(sample, *sample.host) == "");
  CHECK(difference(sample, *there) == "");
  CHECK(control::counters(0).allocations_live == live);
  CHECK(control::counters(1).allocations_live == 0);
  CHECK(sample.ledger.live() == sample.ledger.made());
  CHECK(control::refused() == 0);
}

TEST_CASE("data with references out of bounds is refused with its path, leaking nothing") {
  begin();
  const auto spoiled = [](Field type, Data data, const std::string& place) {
    const auto schema = make_schema(type);
    Ledger ledger;
    Array host = from_host(make_array(std::move(data), ledger));
    INFO(place);
    Array out;
    must_fail_saying(EINVAL, place, arrowdevice_array_copy, host.get(), schema.get(), sim(1), nullptr, out.out());
    must_fail(EINVAL, arrowdevice_array_to_device, host.get(), schema.get(), sim(1), nullptr, out.out());
    CHECK(out.released());
    CHECK_FALSE(host.released());
    CHECK(ledger.live() == ledger.made());
    CHECK(control::counters(1).allocations_live == 0);
  };
  const auto item = [] { return data_of(3, {no_buffer(), buffer_of<int32_t>({1, 2, 3})}); };
  const auto text = [] { return buffer_of<char>({'a', 'b', 'c'}); };
  spoiled(field("u", "t"), data_of(2, {no_buffer(), buffer_of<int32_t>({2, 2, 1}), text()}),
          "t: the offsets run from 2 to 1");
  spoiled(field("u", "t"), data_of(2, {no_buffer(), buffer_of<int32_t>({-1, 2, 3}), text()}),
          "t: the offsets run from -1");
  spoiled(field("u", "t"), data_of(2, {no_buffer(), buffer_of<int32_t>({0, 2, 3}), no_buffer()}),
          "t: data buffer is NULL");
  spoiled(list_of(field("i", "item")).named("l"), data_of(2, {no_buffer(), buffer_of<int32_t>({0, 2, 4})}, {item()}),
          "l: the offsets reach 4");
  spoiled(list_view_of(field("i", "item")).named("v"),
          data_of(1, {no_buffer(), buffer_of<int32_t>({2}), buffer_of<int32_t>({2})}, {item()}),
          "v: slot 0 has offset 2");
  spoiled(dense_union_of("4", {field("i")}).named("e"),
          data_of(1, {buffer_of<uint8_t>({5}), buffer_of<int32_t>({0})}, {item()}), "e: slot 0 has type id 5");
  spoiled(dense_union_of("4", {field("i")}).named("e"),
          data_of(1, {buffer_of<uint8_t>({4}), buffer_of<int32_t>({3})}, {item()}), "e: slot 0 has offset 3");
  spoiled(run_end_encoded("i", field("i", "values")).named("r"), data_of(4, {}, {item(), item()}), "do not cover");
  spoiled(field("vu", "w"),
          data_of(1, {no_buffer(), buffer_of<int32_t>({13, 0, 0, 1}), {Bytes(13), false}, buffer_of<int64_t>({13})}),
          "w: slot 0 refers to bytes 1 to 14");
  spoiled(field("vu", "w"),
          data_of(1, {no_buffer(), buffer_of<int32_t>({13, 0, 0, 0}), no_buffer(), buffer_of<int64_t>({13})}),
          "w: variadic buffer 0 is NULL");
  spoiled(field("vu", "w"),
          data_of(1, {no_buffer(), buffer_of<int32_t>({13, 0, 0, 0}), {Bytes(13), false}, buffer_of<int64_t>({-1})}),
          "w: variadic buffer 0 has -1 bytes");
}

// No reader reads the legacy bitmap of a union, so the bitmap must be empty.
TEST_CASE("a union in the old layout with a validity bitmap is refused") {
  begin();
  const Data item = data_of(1, {no_buffer(), buffer_of<int32_t>({7})});
  const auto schema = make_schema(sparse_union_of("4", {field("i")}).named("u"));
  for (const int64_t null_count : {-1, 1}) {
    Data data = data_of(1, {no_buffer(), buffer_of<uint8_t>({4})}, {item});
    data.null_count = null_count;
    Array host = from_host(make_array(std::move(data), Ledger()));
    check_all_refuse(*host, *schema, EINVAL, "u: a ");
    CHECK_FALSE(host.released());
  }
}

TEST_CASE("malformed and unknown schemas are refused with the path") {
  begin();
  Sample sample(batch_type(), kPlain);
  Field deep = field("i");
  for (int level = 0; level < 64; ++level) deep = list_of(deep);  // 65 levels with the last
  Field bad_child = batch_type();
  bad_child.children[2].children[0].format = "w:";
  Field unknown_child = batch_type();
  unknown_child.children[2].children[0].format = "q";
  struct Wrong {
    const char* what;
    Field type;
    int code;
    const char* place;
  };
  for (const Wrong& wrong :
       {Wrong{"a depth of 65", deep, EINVAL, "64"}, Wrong{"a malformed format", bad_child, EINVAL, "batch.tags.item"},
        Wrong{"an unknown format", unknown_child, ENOTSUP, "batch.tags.item"},
        Wrong{"an empty format", field(""), EINVAL, "array"},
        Wrong{"a list without a child", field("+l", "l"), EINVAL, "l"}}) {
    INFO(wrong.what);
    check_all_refuse(*sample.host, *make_schema(wrong.type), wrong.code, wrong.place);
  }
  auto schema = make_schema(batch_type());
  arrowdevice_schema_release(schema->children[2]->children[0]);
  check_all_refuse(*sample.host, *schema, EINVAL, "batch.tags.[0]");
  schema.reset();
  check_all_refuse(*sample.host, *schema, EINVAL, "released");
  CHECK(difference(sample, *sample.host) == "");
  CHECK(control::counters(1).allocations_live == 0);
}

TEST_CASE("messages show question marks only for names that are not UTF-8") {
  begin();
  struct Name {
    const char* given;
    const char* told;
  };
  for (const Name& name : {Name{"gr\u00f6\u00dfe", "gr\u00f6\u00dfe"}, Name{"\u5217", "\u5217"},
                           Name{"\U0001F600", "\U0001F600"}, Name{"\uD7FF\uE000\U0010FFFF", "\uD7FF\uE000\U0010FFFF"},
                           Name{"cut \xC3", "cut ?"}, Name{"cut \xE5\x88 x", "cut ?? x"}, Name{"lone \x80", "lone ?"},
                           Name{"long \xC0\xAF", "long ??"}, Name{"long \xE0\x9F\xBF", "long ???"},
                           Name{"long \xF0\x8F\xBF\xBF", "long ????"}, Name{"half \xED\xA0\x80", "half ???"},
                           Name{"far \xF4\x90\x80\x80", "far ????"}, Name{"far \xF5\x80\x80\x80", "far ????"}}) {
    INFO(name.told);
    Sample sample(field("i", name.given));
    const Snapshot healthy(sample.host->array);
    sample.host->array.n_buffers = 7;
    Array out;
    const std::string said =
        must_fail(EINVAL, arrowdevice_array_copy, sample.host.get(), sample.schema.get(), sim(1), nullptr, out.out());
    healthy.restore();
    CHECK(contains(said, std::string(name.told) + ": "));
  }
}

// Without a schema, the library knows no names, so the path has positions.
TEST_CASE("malformed arrays without a schema are refused with the path of positions") {
  begin();
  struct Malformed {
    const char* place;
    void (*spoil)(ArrowArray& batch);
  };
  for (const Malformed& malformed :
       {Malformed{"array: buffers or children are missing", [](ArrowArray& a) { a.children = nullptr; }},
        Malformed{"array.[2]: a child is released",
                  [](ArrowArray& a) { a.children[2]->children[0]->release = nullptr; }},
        Malformed{"array.[2]: a child is NULL", [](ArrowArray& a) { a.children[2]->children[0] = nullptr; }},
        Malformed{"array.[5].[1]: buffers or children are missing",
                  [](ArrowArray& a) { a.children[5]->children[1]->buffers = nullptr; }},
        Malformed{"array.[3].dictionary: buffers or children are missing",
                  [](ArrowArray& a) { a.children[3]->dictionary->n_children = 1; }},
        Malformed{"array.[2]: a child is its own ancestor",
                  [](ArrowArray& a) { a.children[2]->children[0] = a.children[2]; }}}) {
    INFO(malformed.place);
    Sample sample(batch_type(), kPlain);
    const Snapshot healthy(sample.host->array);
    malformed.spoil(sample.host->array);
    Array out;
    must_fail_saying(EINVAL, malformed.place, arrowdevice_array_share, sample.host.get(), out.out());
    CHECK(out.released());
    healthy.restore();
    CHECK(difference(sample, *sample.host) == "");
  }
}

TEST_CASE("released arrays are refused") {
  begin();
  Sample sample(batch_type(), kPlain);
  sample.host.reset();
  check_all_refuse(*sample.host, *sample.schema, EINVAL, "released");
}

TEST_CASE("arrays on missing devices are refused and unchanged") {
  begin();
  Sample sample(batch_type(), kPlain);
  const auto check = [&](ArrowDeviceType type, int64_t id, int code, const std::string& place) {
    sample.host->device_type = type;
    sample.host->device_id = id;
    INFO(type << " " << id);
    for (const Call& call : kCalls) {
      const std::string name = call.name;
      // These functions need not know the device of the buffers.
      if (name == "validate" || name == "slice" || name == "select") continue;
      INFO(name);
      arrowdevice_error error{};
      CHECK(call.make(*sample.host, *sample.schema, &error) == code);
      CHECK(contains(error.message, place));
    }
  };
  for (const ArrowDeviceType type : {0, 5, 99, -7}) check(type, 0, ENOTSUP, std::to_string(type));
  check(ARROW_DEVICE_CPU, 1, ENODEV, "cpu:1");
  check(ARROW_DEVICE_METAL, 0, ENODEV, "metal");
  check(ARROW_DEVICE_EXT_DEV, kSims, ENODEV, "ext_dev:4");
  check(ARROW_DEVICE_EXT_DEV, -1, ENODEV, "ext_dev:-1");
  sample.host->device_type = ARROW_DEVICE_CPU;
  sample.host->device_id = -1;
  CHECK(difference(sample, *sample.host) == "");
}

}  // namespace

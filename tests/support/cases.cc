// SPDX-License-Identifier: Apache-2.0
#include "support/cases.h"

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

#include "support/shape.h"

namespace arrowdevice::testing {

namespace {

// Computes the FNV-1a hash of the name. The seed depends only on the name, so that a new case changes no
// other.
uint64_t seed_of(const std::string& name) {
  uint64_t hash = 0xCBF29CE484222325U;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
  return hash;
}

struct Variant {
  const char* name;
  Knobs knobs;
};

const std::vector<Variant>& usual_variants() {
  static const std::vector<Variant> variants = {
      {"some nulls", {}},
      {"no nulls", {.rows = 64, .nulls = Nulls::kNone}},
      {"offset 3, some nulls", {.rows = 29, .offset = 3, .child_offset = 3, .tail = 4, .wild_views = true}},
      {"offset 8, uncounted nulls",
       {.rows = 33, .nulls = Nulls::kSomeUncounted, .offset = 8, .child_offset = 11, .tail = 1}},
      {"offset 13, no bitmap, uncounted",
       {.rows = 41, .nulls = Nulls::kNoneUncounted, .offset = 13, .child_offset = 8}},
  };
  return variants;
}

const std::vector<Variant>& corner_variants() {
  static const std::vector<Variant> variants = {
      {"all null", {.rows = 19, .nulls = Nulls::kAll, .offset = 5, .child_offset = 2, .tail = 3, .wild_views = true}},
      {"a bitmap without nulls", {.rows = 24, .nulls = Nulls::kNoneWithBitmap, .offset = 1}},
      {"one row", {.rows = 1, .nulls = Nulls::kNone, .offset = 7}},
      {"no rows, NULL buffers", {.rows = 0, .null_offsets = true}},
      {"no rows, pointers to nothing", {.rows = 0, .null_empty = false}},
      {"no rows behind an offset", {.rows = 0, .offset = 9, .child_offset = 4, .tail = 2}},
      {"children without items", {.rows = 11, .longest = 0, .longest_text = 0, .null_offsets = true}},
      {"buffers at odd addresses", {.rows = 21, .offset = 2, .child_offset = 1, .tail = 1, .misaligned = true}},
      {"300 rows, offset 77", {.rows = 300, .offset = 77, .child_offset = 3, .tail = 30}},
  };
  return variants;
}

// Returns true if a test holds for the shape of a type or of any type below it.
template <typename Test>
bool any_shape(const Field& type, const Test& test) {
  if (test(shape_of(type.format))) return true;
  if (type.dictionary && any_shape(*type.dictionary, test)) return true;
  return std::any_of(type.children.begin(), type.children.end(),
                     [&](const Field& child) { return any_shape(child, test); });
}

bool has_nameless_child(const Field& type) {
  return std::any_of(type.children.begin(), type.children.end(),
                     [](const Field& child) { return child.name.empty() || has_nameless_child(child); });
}

bool has_nested_run_ends(const Field& type, bool inside = false) {
  const bool here = type.format == "+r";
  return (here && inside) || std::any_of(type.children.begin(), type.children.end(),
                                         [&](const Field& child) { return has_nested_run_ends(child, here); });
}

std::string why_refused(const Field& type, const Knobs& knobs) {
  const auto has = [&](Kind kind) {
    return any_shape(type, [kind](const Shape& shape) { return shape.kind == kind; });
  };
  const bool offsets = has(Kind::kBinary) || has(Kind::kList);
  const bool nulls = knobs.nulls != Nulls::kNone && knobs.nulls != Nulls::kNoneUncounted;
  if (offsets && knobs.null_offsets) return "NULL offsets";
  if (offsets && !knobs.null_empty) return "offsets of an empty array that must not be read";
  if (has(Kind::kView) && knobs.rows == 0 && knobs.offset > 0) return "views of an empty array with an offset";
  if (has(Kind::kListView) && knobs.wild_views && nulls) return "garbage in list views under nulls";
  if (has(Kind::kDenseUnion) && knobs.shuffled) return "offsets of a dense union that do not ascend";
  if (has_nameless_child(type)) return "a child without a name";
  if (has_nested_run_ends(type)) return "run ends of run ends";
  return {};
}

HostCase make(const NamedType& type, const Variant& variant) {
  HostCase made{type.name + ", " + variant.name, type.type, variant.knobs, why_refused(type.type, variant.knobs)};
  made.knobs.seed = seed_of(made.name);
  return made;
}

// Returns a type of every layout, for the corner cases.
const std::vector<NamedType>& corner_types() {
  static const std::vector<NamedType> types = {
      {"null", field("n")},
      {"boolean", field("b")},
      {"int32", field("i")},
      {"fixed-size binary of 3", field("w:3")},
      {"fixed-size binary of 0", field("w:0")},
      {"utf8", field("u")},
      {"large binary", field("Z")},
      {"utf8 view", field("vu")},
      {"list<int16>", list_of(field("s"))},
      {"large list<utf8>", large_list_of(field("u"))},
      {"list view<utf8>", list_view_of(field("u"))},
      {"large list view<boolean>", large_list_view_of(field("b"))},
      {"fixed-size list of 3<boolean>", fixed_size_list_of(3, field("b"))},
      {"fixed-size list of 0<utf8>", fixed_size_list_of(0, field("u"))},
      {"struct<list<utf8>, boolean>", struct_of({list_of(field("u")), field("b")})},
      {"map<utf8, utf8 view>", map_of(field("u"), field("vu"))},
      {"dense union", dense_union_of("5,9,0", {field("i"), list_of(field("u")), field("b")})},
      {"sparse union", sparse_union_of("5,9,0", {field("i"), list_of(field("u")), field("b")})},
      {"run ends<utf8>", run_end_encoded("i", field("u"))},
      {"dictionary<list<utf8>>", dictionary_of("S", list_of(field("u")))},
  };
  return types;
}

const Field& batch_type() {
  static const Field type =
      struct_of({field("l", "id"), field("u", "name"), field("b", "flag"), list_of(field("u")).named("tags"),
                 dictionary_of("c", field("u")).named("kind"), field("vu", "note"), field("n", "nothing"),
                 dense_union_of("1,0", {field("g"), field("u")}).named("either"),
                 run_end_encoded("i", field("d:38,10")).named("runs"), field("tsn:UTC", "at")})
          .not_null();
  return type;
}

void add(std::vector<HostCase>& cases, const std::string& name, Field type, Knobs knobs) {
  knobs.seed = seed_of(name);
  std::string refused = why_refused(type, knobs);
  cases.push_back({name, std::move(type), knobs, std::move(refused)});
}

void add_single(std::vector<HostCase>& cases) {
  add(cases, "record batch", batch_type(), {.rows = 50});
  add(cases, "record batch of sliced columns", batch_type(), {.rows = 50, .child_offset = 5, .tail = 3});
  add(cases, "record batch with a root offset", batch_type(), {.rows = 50, .offset = 11, .child_offset = 5});
  add(cases, "record batch without rows", batch_type(), {.rows = 0});
  add(cases, "record batch without columns", struct_of({}).not_null(), {.rows = 12});
  add(cases, "record batch without columns and rows", struct_of({}).not_null(), {.rows = 0});
  add(cases, "record batch of every type",
      [] {
        std::vector<Field> children;
        for (const NamedType& flat : flat_types()) children.push_back(flat.type);
        for (const NamedType& nested : nested_types()) children.push_back(nested.type);
        return struct_of(std::move(children)).not_null();
      }(),
      {.rows = 23, .child_offset = 6, .tail = 2});
  add(cases, "record batch of 200 columns",
      [] {
        std::vector<Field> children(200, field("i"));
        return struct_of(std::move(children)).not_null();
      }(),
      {.rows = 9, .child_offset = 3});

  for (const int variadic : {0, 1, 2, 40}) {
    const std::string name = "views with " + std::to_string(variadic) + " variadic buffers";
    add(cases, name + ", utf8", field("vu"), {.rows = 60, .offset = 5, .tail = 2, .variadic = variadic});
    add(cases, name + ", in a list", list_of(field("vz")),
        {.rows = 30, .offset = 5, .child_offset = 3, .tail = 2, .variadic = variadic});
  }
  add(cases, "views that are all inline", field("vu"), {.rows = 40, .longest_text = 5});
  add(cases, "views of nulls only, with variadic buffers", field("vu"),
      {.rows = 20, .nulls = Nulls::kAll, .variadic = 2});

  for (const char* format : {"n", "+us:4,2", "+ud:4,2"}) {
    Field type = field(format);
    if (type.format != "n") type.children = {field("i", "a"), field("u", "b")};
    add(cases, std::string("buffers as old producers give them, ") + format, type,
        {.rows = 31, .offset = 3, .child_offset = 2, .tail = 1, .legacy = true});
    add(cases, std::string("a list of what old producers give, ") + format, list_of(type),
        {.rows = 17, .offset = 3, .child_offset = 2, .tail = 1, .legacy = true});
  }
  add(cases, "dense union with offsets in no order", dense_union_of("0,1", {field("i"), field("u")}),
      {.rows = 40, .offset = 6, .child_offset = 2, .tail = 2, .shuffled = true});
  add(cases, "list view of a dense union with offsets in no order",
      list_view_of(dense_union_of("0,1", {field("i"), field("u")})), {.rows = 40, .shuffled = true});
  add(cases, "dense union without children", dense_union_of("", {}), {.rows = 0});
  add(cases, "sparse union without children", sparse_union_of("", {}), {.rows = 0});
  add(cases, "struct of strings without text", struct_of({field("u"), field("Z"), field("vz")}),
      {.rows = 14, .offset = 3, .longest_text = 0});
}

std::vector<HostCase> make_all() {
  std::vector<HostCase> cases;
  for (const auto* types : {&flat_types(), &nested_types()}) {
    for (const NamedType& type : *types) {
      for (const Variant& variant : usual_variants()) cases.push_back(make(type, variant));
    }
  }
  for (const NamedType& type : corner_types()) {
    for (const Variant& variant : corner_variants()) cases.push_back(make(type, variant));
  }
  add_single(cases);
  return cases;
}

std::vector<HostCase> make_few() {
  std::vector<HostCase> cases;
  for (const NamedType& type : corner_types()) cases.push_back(make(type, usual_variants()[2]));
  add(cases, "record batch, sliced", batch_type(), {.rows = 50, .offset = 3, .child_offset = 5, .tail = 2});
  add(cases, "record batch, one row", batch_type(), {.rows = 1});
  return cases;
}

std::vector<HostCase> make_large() {
  const Knobs knobs{.rows = 20'000, .offset = 1'001, .child_offset = 7, .tail = 100};
  std::vector<HostCase> cases;
  add(cases, "20000 rows of utf8", field("u"), knobs);
  add(cases, "20000 rows of utf8 views", field("vu"), knobs);
  add(cases, "20000 rows of list<utf8>", list_of(field("u")), knobs);
  add(cases, "20000 rows of large list view<int32>", large_list_view_of(field("i")), knobs);
  add(cases, "20000 rows of dense union", dense_union_of("5,2", {field("i"), field("u")}), knobs);
  add(cases, "20000 rows of sparse union", sparse_union_of("5,2", {field("i"), field("u")}), knobs);
  add(cases, "80000 rows of run ends<utf8>", run_end_encoded("i", field("u")),
      {.rows = 80'000, .offset = 1'001, .child_offset = 7, .tail = 100});
  add(cases, "20000 rows of struct<boolean, dictionary>", struct_of({field("b"), dictionary_of("i", field("u"))}),
      knobs);
  return cases;
}

}  // namespace

const std::vector<HostCase>& all_cases() {
  static const std::vector<HostCase> cases = make_all();
  return cases;
}

const std::vector<HostCase>& few_cases() {
  static const std::vector<HostCase> cases = make_few();
  return cases;
}

const std::vector<HostCase>& large_cases() {
  static const std::vector<HostCase> cases = make_large();
  return cases;
}

const std::vector<HostCase>& asked_cases() {
  const char* const which = std::getenv("ARROWDEVICE_TEST_CASES");
  return which != nullptr && std::string(which) == "few" ? few_cases() : all_cases();
}

const HostCase& find_case(std::string_view name) {
  for (const auto* cases : {&all_cases(), &few_cases(), &large_cases()}) {
    for (const HostCase& one : *cases) {
      if (one.name == name) return one;
    }
  }
  throw std::invalid_argument("no such case: " + std::string(name));
}

}  // namespace arrowdevice::testing

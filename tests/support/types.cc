// SPDX-License-Identifier: Apache-2.0
// Lists the types of the cases.
#include "support/cases.h"

namespace arrowdevice::testing {

namespace {

Field lists_of_lists(int depth) {
  Field type = field("i");
  for (int i = 0; i < depth; ++i) {
    switch (i % 3) {
      case 0: type = list_of(std::move(type)); break;
      case 1: type = struct_of({std::move(type), field("u")}); break;
      default: type = large_list_of(std::move(type)); break;
    }
  }
  return type;
}

Field structs(int depth) {
  Field type = field("s");
  for (int i = 0; i < depth; ++i) type = struct_of({std::move(type)});
  return type;
}

std::vector<NamedType> make_flat() {
  std::vector<NamedType> types = {{"null", field("n")}, {"boolean", field("b")}};
  for (const char* format : {"c", "C", "s", "S", "i", "I", "l", "L"})
    types.push_back({std::string("integer ") + format, field(format)});
  types.push_back({"float16", field("e")});
  types.push_back({"float32", field("f")});
  types.push_back({"float64", field("g")});
  for (const char* width : {"0", "1", "3", "16", "37"}) {
    types.push_back({std::string("fixed-size binary of ") + width, field(std::string("w:") + width)});
  }
  for (const char* format :
       {"d:9,2,32", "d:3,1,32", "d:18,3,64", "d:38,10", "d:19,-3", "d:38,0,128", "d:76,20,256", "d:5,2,256"}) {
    types.push_back({std::string("decimal ") + format, field(format)});
  }
  types.push_back({"binary", field("z")});
  types.push_back({"utf8", field("u")});
  types.push_back({"large binary", field("Z")});
  types.push_back({"large utf8", field("U")});
  types.push_back({"binary view", field("vz")});
  types.push_back({"utf8 view", field("vu")});
  for (const char* format : {"tdD", "tdm", "tts", "ttm", "ttu", "ttn", "tss:", "tsm:UTC", "tsu:+02:00",
                             "tsn:Europe/Vienna", "tDs", "tDm", "tDu", "tDn", "tiM", "tiD", "tin"}) {
    types.push_back({std::string("temporal ") + format, field(format)});
  }
  return types;
}

std::vector<NamedType> make_nested() {
  const Field nameless = [] {
    Field type = struct_of({field("i"), field("u")});
    for (Field& child : type.children) child.name.clear();
    return type;
  }();
  Field odd_map = map_of(field("u"), field("i"));
  odd_map.children[0].name = "pairs";
  odd_map.children[0].children[0].name = "left";
  odd_map.children[0].children[1].name = "right";

  std::vector<NamedType> types = {
      {"list<int32>", list_of(field("i"))},
      {"list<utf8>", list_of(field("u"))},
      {"list<boolean>", list_of(field("b"))},
      {"list<null>", list_of(field("n"))},
      {"list<utf8 view>", list_of(field("vu"))},
      {"large list<large utf8>", large_list_of(field("U"))},
      {"list<list<boolean>>", list_of(list_of(field("b")))},
      {"list<struct<int8, utf8>>", list_of(struct_of({field("c"), field("u")}))},
      {"list<fixed-size list of 3<boolean>>", list_of(fixed_size_list_of(3, field("b")))},
      {"list<list view<utf8>>", list_of(list_view_of(field("u")))},
      {"list<run ends<utf8>>", list_of(run_end_encoded("i", field("u")))},
      {"list<dense union>", list_of(dense_union_of("0,1", {field("i"), field("u")}))},
      {"list<dictionary of utf8>", list_of(dictionary_of("c", field("u")))},
      {"list view<int32>", list_view_of(field("i"))},
      {"list view<utf8>", list_view_of(field("u"))},
      {"large list view<int64>", large_list_view_of(field("l"))},
      {"large list view<list<utf8>>", large_list_view_of(list_of(field("u")))},
      {"list view<list view<boolean>>", list_view_of(list_view_of(field("b")))},
      {"list view<dense union>", list_view_of(dense_union_of("4,2", {field("b"), field("z")}))},
      {"list view<run ends<int16>>", list_view_of(run_end_encoded("s", field("s")))},
      {"fixed-size list of 0<int32>", fixed_size_list_of(0, field("i"))},
      {"fixed-size list of 1<utf8>", fixed_size_list_of(1, field("u"))},
      {"fixed-size list of 3<int16>", fixed_size_list_of(3, field("s"))},
      {"fixed-size list of 5<boolean>", fixed_size_list_of(5, field("b"))},
      {"fixed-size list of 2<list<utf8>>", fixed_size_list_of(2, list_of(field("u")))},
      {"fixed-size list of 3<fixed-size list of 5<boolean>>", fixed_size_list_of(3, fixed_size_list_of(5, field("b")))},
      {"struct<>", struct_of({})},
      {"struct<int32, utf8, boolean>", struct_of({field("i"), field("u"), field("b")})},
      {"struct<struct<struct<int16>>>", structs(3)},
      {"struct of every flat type",
       [] {
         std::vector<Field> children;
         for (const NamedType& flat : flat_types()) children.push_back(flat.type);
         return struct_of(std::move(children));
       }()},
      {"struct with nameless children", nameless},
      {"struct of lists", struct_of({list_of(field("i")), list_view_of(field("u")), large_list_of(field("b"))})},
      {"map<utf8, int32>", map_of(field("u"), field("i"))},
      {"sorted map<int32, list<utf8>>", map_of(field("i"), list_of(field("u"))).with_flags(ARROW_FLAG_MAP_KEYS_SORTED)},
      {"map with names of its own", odd_map},
      {"dense union<int32, utf8, boolean>", dense_union_of("0,1,2", {field("i"), field("u"), field("b")})},
      {"dense union with scattered type ids",
       dense_union_of("9,5,127,0", {field("u"), field("l"), list_of(field("b")), field("n")})},
      {"dense union of one", dense_union_of("3", {field("vu")})},
      {"sparse union<int32, utf8, boolean>", sparse_union_of("0,1,2", {field("i"), field("u"), field("b")})},
      {"sparse union with scattered type ids",
       sparse_union_of("9,5,127", {field("u"), list_of(field("i")), field("b")})},
      {"sparse union<dense union, struct>",
       sparse_union_of("7,2", {dense_union_of("1,0", {field("u"), field("c")}), struct_of({field("b")})})},
      {"dense union<sparse union, run ends>",
       dense_union_of("8,4", {sparse_union_of("1,0", {field("u"), field("c")}), run_end_encoded("s", field("b"))})},
      {"run ends int16<int32>", run_end_encoded("s", field("i"))},
      {"run ends int32<utf8>", run_end_encoded("i", field("u"))},
      {"run ends int64<boolean>", run_end_encoded("l", field("b"))},
      {"run ends<list<utf8>>", run_end_encoded("i", list_of(field("u")))},
      {"run ends<dictionary of utf8>", run_end_encoded("i", dictionary_of("C", field("u")))},
      {"run ends<run ends<int32>>", run_end_encoded("i", run_end_encoded("s", field("i")))},
      {"struct<run ends, run ends>", struct_of({run_end_encoded("s", field("u")), run_end_encoded("l", field("n"))})},
      {"dictionary of lists", dictionary_of("i", list_of(field("u")))},
      {"dictionary of structs", dictionary_of("s", struct_of({field("i"), field("b")}))},
      {"dictionary of utf8 views", dictionary_of("i", field("vu"))},
      {"dictionary of a dictionary", dictionary_of("i", dictionary_of("c", field("u")))},
      {"dictionary of lists of a dictionary", dictionary_of("i", list_of(dictionary_of("c", field("u"))))},
      {"ordered dictionary", dictionary_of("c", field("u")).with_flags(ARROW_FLAG_DICTIONARY_ORDERED)},
      {"struct<dictionary, dictionary>",
       struct_of({dictionary_of("c", field("u")), dictionary_of("l", field("d:38,10"))})},
      {"extension of fixed-size binary", field("w:16").extension("arrow.uuid", "")},
      {"extension of list", list_of(field("f")).extension("example.tensor", "{\"shape\":[2]}")},
      {"list of extension", list_of(field("w:16").extension("arrow.uuid", ""))},
      {"field with metadata", field("i").with_metadata("unit", "metre").with_metadata("", std::string("a\0b", 3))},
      {"nested 6 levels", lists_of_lists(6)},
      {"nested 12 levels of structs", structs(12)},
  };
  for (const char* index : {"c", "C", "s", "S", "i", "I", "l", "L"}) {
    types.push_back({std::string("dictionary of utf8, indices ") + index, dictionary_of(index, field("u"))});
  }
  return types;
}

}  // namespace

const std::vector<NamedType>& flat_types() {
  static const std::vector<NamedType> types = make_flat();
  return types;
}

const std::vector<NamedType>& nested_types() {
  static const std::vector<NamedType> types = make_nested();
  return types;
}

}  // namespace arrowdevice::testing

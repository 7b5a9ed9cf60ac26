// SPDX-License-Identifier: Apache-2.0
#include "schema/tree.h"

#include <cerrno>
#include <cstdint>
#include <deque>
#include <vector>

#include "schema_refusal.h"
#include "support/catch.h"

namespace arrowdevice::schema {
namespace {

// Makes ArrowSchemas that may be invalid in any respect. It does not check them, and never releases them.
class Draft {
 public:
  ArrowSchema* field(const char* format, const char* name = nullptr, std::vector<ArrowSchema*> children = {}) {
    ArrowSchema& made = schemas_.emplace_back();
    made.format = format;
    made.name = name;
    made.release = [](ArrowSchema*) {};
    set_children(&made, std::move(children));
    return &made;
  }

  void set_children(ArrowSchema* parent, std::vector<ArrowSchema*> children) {
    parent->n_children = static_cast<int64_t>(children.size());
    parent->children = children.empty() ? nullptr : lists_.emplace_back(std::move(children)).data();
  }

  ArrowSchema* encoded(const char* index, const char* name, ArrowSchema* dictionary) {
    ArrowSchema* made = field(index, name);
    made->dictionary = dictionary;
    return made;
  }

  // Returns `levels` fields. Each field is the only child of the field before it.
  ArrowSchema* nested(int levels) {
    ArrowSchema* made = field("i");
    for (int i = 1; i < levels; ++i) made = field("+s", nullptr, {made});
    return made;
  }

 private:
  std::deque<ArrowSchema> schemas_;
  std::deque<std::vector<ArrowSchema*>> lists_;
};

Refusal refusal_of(const ArrowSchema* root) {
  return refusal_by([&] { Tree tree(*root); });
}

void check_refused(const ArrowSchema* root, int code, const std::string& message) {
  const Refusal refusal = refusal_of(root);
  CHECK(refusal.code == code);
  CHECK(refusal.message == message);
}

bool is_accepted(const ArrowSchema* root) { return refusal_of(root).code == 0; }

}  // namespace

TEST_CASE("a tree lists the fields breadth first, children side by side") {
  Draft draft;
  ArrowSchema* item = draft.field("g", "item");
  ArrowSchema* prices = draft.field("+l", "prices", {item});
  ArrowSchema* values = draft.field("u", "ignored");
  ArrowSchema* city = draft.encoded("s", "city", values);
  ArrowSchema* flag = draft.field("b");
  ArrowSchema* root = draft.field("+s", "", {prices, city, flag});

  const Tree tree(*root);
  REQUIRE(tree.size() == 6);
  CHECK(tree.fields().size() == 6);
  const ArrowSchema* const order[] = {root, prices, city, flag, item, values};
  const int32_t parents[] = {-1, 0, 0, 0, 1, 2};
  const int32_t children[] = {3, 1, 0, 0, 0, 0};
  for (int32_t i = 0; i < tree.size(); ++i) {
    CAPTURE(i);
    CHECK(tree[i].source == order[i]);
    CHECK(tree[i].parent == parents[i]);
    CHECK(tree[i].n_children == children[i]);
    CHECK(tree[i].dictionary == (i == 2 ? 5 : -1));
    CHECK(tree[i].is_dictionary == (i == 5));
    CHECK(tree[i].first_child >= 0);
    CHECK(tree[i].first_child <= tree.size());
  }
  CHECK(tree[0].first_child == 1);
  CHECK(tree[1].first_child == 4);
  CHECK(tree[0].type.layout == Layout::kStruct);
  CHECK(tree[4].type.bit_width == 64);
  CHECK(tree[5].type.layout == Layout::kBinary);
}

TEST_CASE("a path names the fields from the root") {
  Draft draft;
  ArrowSchema* dictionary = draft.field("+l", "ignored", {draft.field("u", "item")});
  ArrowSchema* root = draft.field("+s", nullptr,
                                  {draft.field("+l", "prices", {draft.field("g", "item")}), draft.field("i", ""),
                                   draft.field("i", nullptr), draft.encoded("c", "city", dictionary)});
  const Tree tree(*root);
  std::vector<std::string> paths;
  for (int32_t i = 0; i < tree.size(); ++i) paths.push_back(tree.path(i));
  CHECK(paths == std::vector<std::string>{"batch", "batch.prices", "batch.[1]", "batch.[2]", "batch.city",
                                          "batch.prices.item", "batch.city.dictionary", "batch.city.dictionary.item"});

  CHECK(Tree(*draft.field("i")).path(0) == "array");
  CHECK(Tree(*draft.field("i", "x")).path(0) == "x");
  CHECK(Tree(*draft.field("+s", "trip")).path(0) == "trip");
}

TEST_CASE("a long path is shortened in its middle, between two characters") {
  std::string name;
  for (int i = 0; i < 100000; ++i) name += "\u00e9";
  for (const std::string lead : {"", "x"}) {
    Draft draft;
    const std::string long_name = lead + name;
    const Tree tree(*draft.field("+s", nullptr, {draft.field("+l", long_name.c_str(), {draft.field("i", "item")})}));
    const std::string path = tree.path(2);
    CHECK(path.size() <= kLongestPath);
    CHECK(path.size() > kLongestPath - 8);
    CHECK(path.substr(0, 6) == "batch.");
    CHECK(path.substr(path.size() - 5) == ".item");
    const size_t gap = path.find("...");
    REQUIRE(gap != std::string::npos);
    CHECK(path.substr(gap - 2, 2) == "\u00e9");
    CHECK(path.substr(gap + 3, 2) == "\u00e9");
  }
}

TEST_CASE("a path of the maximal length is not shortened") {
  for (const size_t extra : {size_t{0}, size_t{1}}) {
    Draft draft;
    const std::string name(kLongestPath + extra, 'x');
    const std::string path = Tree(*draft.field("i", name.c_str())).path(0);
    CHECK(path.size() == kLongestPath);
    CHECK((path == name) == (extra == 0));
    CHECK((path.find("...") == std::string::npos) == (extra == 0));
  }
}

TEST_CASE("every format makes a tree") {
  for (const char* format :
       {"n",     "b",        "c",    "C",    "s",   "S",   "i",   "I",   "l",   "L",   "e",   "f",   "g",    "w:7",
        "d:5,2", "d:5,2,32", "z",    "u",    "Z",   "U",   "vz",  "vu",  "tdD", "tdm", "tts", "ttm", "ttu",  "ttn",
        "tss:",  "tsm:UTC",  "tsu:", "tsn:", "tDs", "tDm", "tDu", "tDn", "tiM", "tiD", "tin", "+s",  "+ud:", "+us:"}) {
    Draft draft;
    CAPTURE(format);
    CHECK(is_accepted(draft.field(format)));
    if (format[0] != '+') {
      CHECK(refusal_of(draft.field(format, nullptr, {draft.field("i")})).code == EINVAL);
    }
  }
  for (const char* format : {"+l", "+L", "+vl", "+vL", "+w:3"}) {
    Draft draft;
    CAPTURE(format);
    CHECK(is_accepted(draft.field(format, nullptr, {draft.field("i")})));
    CHECK(refusal_of(draft.field(format)).code == EINVAL);
    CHECK(refusal_of(draft.field(format, nullptr, {draft.field("i"), draft.field("i")})).code == EINVAL);
  }
}

TEST_CASE("numbers of children that do not fit the format are EINVAL and name the field") {
  Draft draft;
  const auto in_batch = [&](ArrowSchema* field) { return draft.field("+s", "", {draft.field("i", "id"), field}); };
  check_refused(in_batch(draft.field("+l", "prices")), EINVAL, "batch.prices: n_children is 0, not 1 (list)");
  check_refused(in_batch(draft.field("+ud:0,1", "u", {draft.field("i")})), EINVAL,
                "batch.u: n_children is 1, not 2 (dense union)");
  check_refused(in_batch(draft.field("+us:", "u", {draft.field("i")})), EINVAL,
                "batch.u: n_children is 1, not 0 (sparse union)");
  check_refused(in_batch(draft.field("+r", "r", {draft.field("i")})), EINVAL,
                "batch.r: n_children is 1, not 2 (run-end encoded)");

  ArrowSchema* negative = draft.field("+s", "deep");
  negative->n_children = -1;
  check_refused(in_batch(negative), EINVAL, "batch.deep: n_children is -1");

  ArrowSchema* missing = draft.field("+s", "deep");
  missing->n_children = 2;
  check_refused(in_batch(missing), EINVAL, "batch.deep: children is NULL, n_children is 2");
}

TEST_CASE("formats that are refused name the field") {
  Draft draft;
  const auto in_list = [&](const char* format) {
    return draft.field("+s", "", {draft.field("+l", "prices", {draft.field(format, "item")})});
  };
  check_refused(in_list(nullptr), EINVAL, "batch.prices.item: the format is NULL");
  check_refused(in_list(""), EINVAL, "batch.prices.item: the format is empty");
  check_refused(in_list("tss"), EINVAL, "batch.prices.item: the format \"tss\" lacks its colon");
  check_refused(in_list("quaternion"), ENOTSUP, "batch.prices.item: the format \"quaternion\" names no known type");
  check_refused(draft.field(nullptr), EINVAL, "array: the format is NULL");
}

TEST_CASE("malformed columns of common types are refused like all others") {
  Draft draft;
  const auto column = [&](const char* format) { return draft.field("+s", "", {draft.field(format, "x")}); };
  check_refused(column(nullptr), EINVAL, "batch.x: the format is NULL");
  check_refused(column("ii"), ENOTSUP, "batch.x: the format \"ii\" names no known type");
  check_refused(column("i:"), ENOTSUP, "batch.x: the format \"i:\" names no known type");
  check_refused(column("+ss"), ENOTSUP, "batch.x: the format \"+ss\" names no known type");
  check_refused(column("+s:"), ENOTSUP, "batch.x: the format \"+s:\" names no known type");
  check_refused(draft.field("+s", "", {draft.field("i", "x", {draft.field("i")})}), EINVAL,
                "batch.x: n_children is 1, not 0 (fixed-width)");
  ArrowSchema* batch = draft.field("+s", "", {draft.field("i", "x")});
  batch->children[0] = batch;
  check_refused(batch, EINVAL, "batch.[0]: the schema is its own ancestor");
}

TEST_CASE("a map has one struct child of exactly two children") {
  Draft draft;
  const auto map_of = [&](ArrowSchema* entries) { return draft.field("+m", "m", {entries}); };
  const auto key = [&] { return draft.field("u", "key"); };
  CHECK(is_accepted(map_of(draft.field("+s", "anything", {key(), draft.field("i", "other")}))));
  check_refused(draft.field("+m", "m"), EINVAL, "m: n_children is 0, not 1 (list)");
  check_refused(map_of(draft.field("i", "entries")), EINVAL, "m.entries: the entries of a map are not a struct");
  check_refused(map_of(draft.field("+l", "entries", {key()})), EINVAL,
                "m.entries: the entries of a map are not a struct");
  check_refused(map_of(draft.field("+s", "entries", {key()})), EINVAL,
                "m.entries: n_children is 1, not 2 (entries of a map)");
  check_refused(map_of(draft.field("+s", "entries", {key(), key(), key()})), EINVAL,
                "m.entries: n_children is 3, not 2 (entries of a map)");
}

TEST_CASE("run ends are signed integers of 16, 32 or 64 bits without a dictionary") {
  Draft draft;
  const auto run_ends = [&](const char* format) {
    return draft.field("+r", "r", {draft.field(format, "run_ends"), draft.field("u", "values")});
  };
  for (const char* format : {"s", "i", "l"}) CHECK(is_accepted(run_ends(format)));
  for (const char* format : {"c", "C", "S", "I", "L", "f", "tdD", "u", "n"}) {
    CAPTURE(format);
    check_refused(run_ends(format), EINVAL, "r.run_ends: the run ends are not a signed integer of 16, 32 or 64 bits");
  }
  ArrowSchema* encoded = draft.encoded("i", "run_ends", draft.field("i"));
  check_refused(draft.field("+r", "r", {encoded, draft.field("u", "values")}), EINVAL,
                "r.run_ends: the run ends have a dictionary");
  CHECK(is_accepted(draft.field("+r", "r", {draft.field("i"), draft.encoded("i", "values", draft.field("u"))})));
}

TEST_CASE("only integers may have a dictionary") {
  Draft draft;
  for (const char* format : {"c", "C", "s", "S", "i", "I", "l", "L"}) {
    CHECK(is_accepted(draft.encoded(format, "x", draft.field("u"))));
  }
  for (const char* format : {"n", "b", "f", "w:4", "d:9,0,32", "u", "vu", "tdD", "tss:", "+s", "+ud:"}) {
    CAPTURE(format);
    check_refused(draft.encoded(format, "x", draft.field("u")), EINVAL,
                  "x: has a dictionary, but its format is not an integer");
  }
}

TEST_CASE("a dictionary is checked like any field") {
  Draft draft;
  check_refused(draft.encoded("i", "x", draft.field("+l")), EINVAL, "x.dictionary: n_children is 0, not 1 (list)");
  ArrowSchema* released = draft.field("u");
  released->release = nullptr;
  check_refused(draft.encoded("i", "x", released), EINVAL, "x.dictionary: the schema is released");
  CHECK(is_accepted(draft.encoded("i", "x", draft.encoded("c", "y", draft.field("+s", "", {draft.field("u")})))));
}

TEST_CASE("released and NULL schemas fail with EINVAL and are not read") {
  Draft draft;
  // Reading this address faults.
  const auto* const nowhere = reinterpret_cast<const char*>(8);
  ArrowSchema* released = draft.field(nowhere, nowhere);
  released->release = nullptr;
  check_refused(released, EINVAL, "array: the schema is released");
  check_refused(draft.field("+s", "", {draft.field("i"), released}), EINVAL, "batch.[1]: the schema is released");
  check_refused(draft.field("+s", "", {draft.field("i"), nullptr}), EINVAL, "batch.[1]: the schema is NULL");
  check_refused(draft.field("+s", "", {draft.field("+l", "a", {nullptr})}), EINVAL, "batch.a.[0]: the schema is NULL");
}

TEST_CASE("a schema that is its own ancestor is EINVAL") {
  Draft draft;
  SECTION("as two children of the root") {
    ArrowSchema* root = draft.field("+s", "root");
    draft.set_children(root, {root, root});
    check_refused(root, EINVAL, "root.root: the schema is its own ancestor");
  }
  SECTION("as a grandchild") {
    ArrowSchema* list = draft.field("+l", "list");
    ArrowSchema* root = draft.field("+s", "root", {draft.field("i", "id"), list});
    draft.set_children(list, {root});
    check_refused(root, EINVAL, "root.list.root: the schema is its own ancestor");
  }
  SECTION("below the root") {
    ArrowSchema* a = draft.field("+l", "a");
    ArrowSchema* b = draft.field("+l", "b", {a});
    draft.set_children(a, {b});
    check_refused(draft.field("+s", "root", {a}), EINVAL, "root.a.b.a: the schema is its own ancestor");
  }
  SECTION("as its own dictionary") {
    ArrowSchema* root = draft.field("i", "x");
    root->dictionary = root;
    check_refused(root, EINVAL, "x.dictionary: the schema is its own ancestor");
  }
}

TEST_CASE("a schema in two positions is not a cycle") {
  Draft draft;
  ArrowSchema* shared = draft.field("+l", "shared", {draft.field("i", "item")});
  const Tree tree(*draft.field("+s", "", {shared, shared}));
  CHECK(tree.size() == 5);
  CHECK(tree.path(4) == "batch.shared.item");
}

TEST_CASE("64 levels of nesting are accepted, 65 are EINVAL") {
  Draft draft;
  const Tree tree(*draft.nested(kDeepest));
  CHECK(tree.size() == kDeepest);
  std::string deepest = "batch";
  for (int i = 1; i < kDeepest; ++i) deepest += ".[0]";
  CHECK(tree.path(kDeepest - 1) == deepest);
  check_refused(draft.nested(kDeepest + 1), EINVAL, deepest + ": nested deeper than 64 levels");
  CHECK(refusal_of(draft.nested(100000)).code == EINVAL);

  ArrowSchema* chain = draft.field("u");
  for (int i = 1; i < kDeepest; ++i) chain = draft.encoded("i", nullptr, chain);
  CHECK(is_accepted(chain));
  CHECK(refusal_of(draft.encoded("i", nullptr, chain)).code == EINVAL);
}

TEST_CASE("2^20 fields are accepted, more are EINVAL") {
  Draft draft;
  ArrowSchema* leaf = draft.field("i");
  std::vector<ArrowSchema> leaves(kMostNodes, *leaf);
  std::vector<ArrowSchema*> columns;
  for (int64_t i = 0; i < kMostNodes - 1; ++i) columns.push_back(&leaves[static_cast<size_t>(i)]);
  CHECK(Tree(*draft.field("+s", "", columns)).size() == kMostNodes);
  columns.push_back(leaf);
  check_refused(draft.field("+s", "", columns), EINVAL, "batch: with its children there are more than 1048576 fields");

  ArrowSchema* encoded = draft.encoded("i", "last", draft.field("u"));
  columns.resize(kMostNodes - 3);
  columns.push_back(encoded);
  CHECK(is_accepted(draft.field("+s", "", columns)));
  columns.back() = leaf;
  columns.push_back(encoded);
  check_refused(draft.field("+s", "", columns), EINVAL,
                "batch.last: with its children there are more than 1048576 fields");
}

TEST_CASE("structs in several positions make at most 2^17 fields") {
  Draft draft;
  const std::string why = "fields, and only 2 structs, which stand in several places";
  std::vector<ArrowSchema*> columns(kMostSharedNodes - 1, draft.field("i"));
  CHECK(is_accepted(draft.field("+s", "", columns)));
  columns.push_back(columns.front());
  check_refused(draft.field("+s", "", columns), EINVAL, "batch: there are more than 131072 " + why);

  // Each level names the next level twice.
  ArrowSchema* doubled = draft.field("i");
  for (int level = 0; level < 16; ++level) doubled = draft.field("+s", "", {doubled, doubled});
  CHECK(is_accepted(doubled));
  doubled = draft.field("+s", "", {doubled, doubled});
  CHECK(refusal_of(doubled).code == EINVAL);

  // Uses the maximum number of separate structs, and then adds shared structs.
  std::vector<ArrowSchema> leaves(kMostSharedNodes, *draft.field("i"));
  std::vector<ArrowSchema*> mixed;
  for (auto& leaf : leaves) mixed.push_back(&leaf);
  CHECK(is_accepted(draft.field("+s", "", mixed)));
  ArrowSchema* shared = draft.field("+s", "", columns);
  for (int i = 0; i < 20; ++i) mixed.push_back(shared);
  CHECK(refusal_of(draft.field("+s", "", mixed)).code == EINVAL);
}

TEST_CASE("a number of children without bound is EINVAL before any is read") {
  Draft draft;
  for (const int64_t n : {kMostNodes, INT64_MAX}) {
    ArrowSchema* root = draft.field("+s", "", {draft.field("i")});
    root->n_children = n;
    CHECK(refusal_of(root).code == EINVAL);
  }
}

TEST_CASE("a schema that doubles at every level is EINVAL") {
  Draft draft;
  ArrowSchema* field = draft.field("i");
  for (int i = 1; i < kDeepest; ++i) field = draft.field("+s", nullptr, {field, field});
  CHECK(refusal_of(field).code == EINVAL);
}

TEST_CASE("a hundred thousand columns keep their order and names") {
  constexpr int32_t kColumns = 100000;
  Draft draft;
  std::vector<std::string> names;
  for (int32_t i = 0; i < kColumns; ++i) names.push_back("column_" + std::to_string(i));
  std::vector<ArrowSchema*> columns;
  for (int32_t i = 0; i < kColumns; ++i) {
    const char* name = names[static_cast<size_t>(i)].c_str();
    columns.push_back(i % 2 == 0 ? draft.field("tsu:UTC", name) : draft.field("+l", name, {draft.field("u", "item")}));
  }
  const Tree tree(*draft.field("+s", "", std::move(columns)));
  REQUIRE(tree.size() == 1 + kColumns + kColumns / 2);
  CHECK(tree.path(1) == "batch.column_0");
  CHECK(tree.path(kColumns) == "batch.column_99999");
  CHECK(tree.path(tree.size() - 1) == "batch.column_99999.item");
  CHECK(tree[kColumns].first_child == tree.size() - 1);
}

TEST_CASE("every union finds its own type ids") {
  Draft draft;
  const auto two = [&] { return std::vector{draft.field("i"), draft.field("u")}; };
  const Tree tree(*draft.field("+s", "",
                               {draft.field("+ud:0,1", "a", two()), draft.field("+us:7,3", "b", two()),
                                draft.field("+ud:0,1", "c", two()), draft.field("+ud:0,1", "d", two())}));
  for (const int32_t union_01 : {1, 3, 4}) {
    const UnionMap& map = tree.union_map(tree[union_01]);
    CHECK(map[0] == 0);
    CHECK(map[1] == 1);
    CHECK(map[7] == -1);
  }
  const UnionMap& map = tree.union_map(tree[2]);
  CHECK(map[7] == 0);
  CHECK(map[3] == 1);
  CHECK(map[0] == -1);
}

}  // namespace arrowdevice::schema

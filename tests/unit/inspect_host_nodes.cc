// SPDX-License-Identifier: Apache-2.0
// Tests the nodes of arrays in host memory, which are written in one pass, against the nodes that any array gets.
#include "inspect/host_nodes.h"

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "library.h"
#include "support/cases.h"

namespace {

using namespace library_test;  // NOLINT: what every line of these tests is written with
using arrowdevice::inspect::Nodes;
using arrowdevice::inspect::write_host_nodes;

// An import, or its error. Resolving the sizes reads the same on the CPU, but takes the way of any array.
class Import {
 public:
  Import(const ArrowDeviceArray& array, const ArrowSchema& schema, uint32_t flags) : array_(array) {
    arrowdevice_import_options options{};
    options.struct_size = sizeof options;
    options.flags = flags;
    if (arrowdevice_array_import(&array_, &schema, &options, &view_, &error_) != 0) view_ = nullptr;
  }
  // Leaves the array to the caller.
  ~Import() {
    ArrowDeviceArray detached{};
    arrowdevice_view_detach(view_, &detached);
  }
  Import(const Import&) = delete;
  Import& operator=(const Import&) = delete;

  std::string error() const { return view_ != nullptr ? "" : error_.message; }
  const arrowdevice_node* root() const { return arrowdevice_view_get_root(view_); }

 private:
  ArrowDeviceArray array_;
  arrowdevice_view* view_ = nullptr;
  arrowdevice_error error_{};
};

bool same_text(const char* a, const char* b) {
  return a == nullptr || b == nullptr ? a == b : std::string_view(a) == b;
}

bool same_buffer(const arrowdevice_node_buffer& a, const arrowdevice_node_buffer& b) {
  return a.data == b.data && a.size == b.size && a.role == b.role && a.flags == b.flags && a.reserved == 0;
}

bool same_nodes(const arrowdevice_node& a, const arrowdevice_node& b, bool is_root) {
  const bool same_numbers = a.length == b.length && a.offset == b.offset && a.null_count == b.null_count &&
                            a.flags == b.flags && a.layout == b.layout && a.n_buffers == b.n_buffers &&
                            a.n_children == b.n_children && a.bit_width == b.bit_width && a.list_size == b.list_size &&
                            a.extension_metadata_size == b.extension_metadata_size;
  const bool same_texts = same_text(a.name, b.name) && same_text(a.format, b.format) &&
                          same_text(a.metadata, b.metadata) && same_text(a.extension_name, b.extension_name);
  if (!same_numbers || !same_texts || (!is_root && a.array != b.array)) return false;
  for (int32_t i = 0; i < a.n_buffers; ++i) {
    if (!same_buffer(a.buffers[i], b.buffers[i])) return false;
  }
  for (int64_t i = 0; i < a.n_children; ++i) {
    if (!same_nodes(*a.children[i], *b.children[i], false)) return false;
  }
  return (a.dictionary == nullptr) == (b.dictionary == nullptr) &&
         (a.dictionary == nullptr || same_nodes(*a.dictionary, *b.dictionary, false));
}

// Returns the difference between the two imports, or "".
std::string difference_of_imports(const ArrowDeviceArray& array, const ArrowSchema& schema) {
  const Import in_one_pass(array, schema, 0);
  const Import general(array, schema, ARROWDEVICE_IMPORT_RESOLVE_SIZES);
  if (in_one_pass.error() != general.error()) return in_one_pass.error() + ", but " + general.error();
  if (in_one_pass.root() == nullptr) return "";
  return same_nodes(*in_one_pass.root(), *general.root(), true) ? "" : "the nodes differ";
}

bool is_written(const ArrowDeviceArray& array, const ArrowSchema& schema) {
  Nodes nodes;
  return write_host_nodes(schema, array.array, nodes);
}

}  // namespace

TEST_CASE("nodes written in one pass equal the general ones for every case") {
  begin();
  int64_t written = 0;
  for (const HostCase& c : asked_cases()) {
    INFO(c.name);
    const Ledger ledger;
    const Schema schema = c.schema();
    const Array array = from_host(c.array(ledger));
    written += is_written(*array, *schema);
    CHECK(difference_of_imports(*array, *schema) == "");
  }
  CHECK(written > 0);
}

TEST_CASE("common tables are imported in one pass") {
  begin();
  const Field types[] = {field("l"),
                         field("b"),
                         field("U"),
                         field("w:7"),
                         field("tsu:a time zone with a long name"),
                         list_of(field("z")),
                         struct_of({field("i", "a name of more than 16 letters"), large_list_of(struct_of({}))})};
  for (const auto& type : types) {
    for (const Nulls nulls : {Nulls::kNone, Nulls::kNoneUncounted, Nulls::kSome, Nulls::kSomeUncounted}) {
      const Sample sample(type, {.rows = 70, .nulls = nulls, .offset = 3, .child_offset = 5});
      CHECK(is_written(*sample.host, *sample.schema));
      CHECK(difference_of_imports(*sample.host, *sample.schema) == "");
    }
  }
  const Sample dictionary(dictionary_of("c", field("u")), kPlain);
  CHECK(!is_written(*dictionary.host, *dictionary.schema));
}

TEST_CASE("metadata and extension types are the same in both imports") {
  begin();
  Sample sample(struct_of({field("l", "n"), field("u", "t")}), kPlain);
  const std::string good =
      encode_metadata({{"ARROW:extension:name", "unit.length"}, {"ARROW:extension:metadata", "m"}});
  const std::string malformed("\xff\xff\xff\xff", 4);
  for (const std::string& text : {good, malformed}) {
    const char* const former = std::exchange(sample.schema->children[1]->metadata, text.c_str());
    CHECK(is_written(*sample.host, *sample.schema) == (text == good));
    CHECK(difference_of_imports(*sample.host, *sample.schema) == "");
    sample.schema->children[1]->metadata = former;
  }
}

TEST_CASE("spoiled structs have the same error or the same nodes in both imports") {
  begin();
  Sample sample(struct_of({field("l", "n"), field("b", "b"), list_of(field("u")).named("texts")}), kPlain);
  ArrowArray& root = sample.host->array;
  int64_t refused = 0;
  for (ArrowArray* array :
       {&root, root.children[0], root.children[1], root.children[2], root.children[2]->children[0]}) {
    for (int64_t* number :
         {&array->length, &array->offset, &array->null_count, &array->n_buffers, &array->n_children}) {
      for (const int64_t wrong : {int64_t{-2}, int64_t{-1}, int64_t{0}, int64_t{1}, int64_t{4}}) {
        // Both imports read the offset behind the last slot, which must be there.
        if (number == &array->offset && wrong > *number) continue;
        const int64_t right = std::exchange(*number, wrong);
        INFO((number - &array->length) << " is " << wrong << " instead of " << right);
        CHECK(difference_of_imports(*sample.host, *sample.schema) == "");
        refused += !is_written(*sample.host, *sample.schema);
        *number = right;
      }
    }
    for (int64_t i = 0; i < array->n_buffers; ++i) {
      const void* const right = std::exchange(array->buffers[i], nullptr);
      CHECK(difference_of_imports(*sample.host, *sample.schema) == "");
      array->buffers[i] = right;
    }
  }
  CHECK(refused > 40);
}

TEST_CASE("spoiled schemas have the same error in both imports") {
  begin();
  Sample sample(struct_of({field("l", "n"), list_of(field("u")).named("texts")}), kPlain);
  ArrowSchema& root = *sample.schema;
  for (ArrowSchema* schema : {&root, root.children[0], root.children[1], root.children[1]->children[0]}) {
    for (const char* wrong : {"", "l", "u", "+s", "+l", "ll", "w:-1", "tsx:", "?"}) {
      const char* const right = std::exchange(schema->format, wrong);
      INFO(wrong << " instead of " << right);
      CHECK(difference_of_imports(*sample.host, root) == "");
      schema->format = right;
    }
    const auto release = std::exchange(schema->release, nullptr);
    CHECK(difference_of_imports(*sample.host, root) != "the nodes differ");
    CHECK(!is_written(*sample.host, root));
    schema->release = release;
  }
}

TEST_CASE("sizes that overflow are refused by both imports") {
  begin();
  Sample sample(struct_of({field("w:1073741824", "wide"), field("l", "n")}), {.rows = 0});
  const std::array<const void*, 2> buffers{nullptr, &sample};
  ArrowArray& root = sample.host->array;
  for (const int64_t column : {int64_t{0}, int64_t{1}}) {
    ArrowArray& child = *root.children[column];
    const void** const former = std::exchange(child.buffers, const_cast<const void**>(buffers.data()));
    for (const int shift : {33, 40, 41, 62}) {
      child.length = int64_t{1} << shift;
      CHECK(difference_of_imports(*sample.host, *sample.schema) == "");
    }
    child.length = 0;
    child.buffers = former;
  }
}

TEST_CASE("an array that contains itself or has too many fields is not written") {
  begin();
  Sample sample(struct_of({struct_of({field("l")})}), kPlain);
  ArrowArray* const inner = sample.host->array.children[0];
  ArrowArray* const child = std::exchange(inner->children[0], inner);
  CHECK(!is_written(*sample.host, *sample.schema));
  CHECK(difference_of_imports(*sample.host, *sample.schema) == "");
  inner->children[0] = child;
  const Sample wide(struct_of(std::vector<Field>(140'000, field("c"))), {.rows = 1});
  CHECK(!is_written(*wide.host, *wide.schema));
  CHECK(difference_of_imports(*wide.host, *wide.schema) == "");
}

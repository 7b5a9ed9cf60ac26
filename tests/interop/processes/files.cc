// SPDX-License-Identifier: Apache-2.0
#include "files.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <string_view>

#include "ipc/file_reader.h"
#include "schema/copy.h"
#include "schema/metadata.h"
#include "support/reader.h"

namespace {

using namespace arrowdevice;

[[noreturn]] void fail(const char* name, const std::string& reason) {
  std::fprintf(stderr, "%s: %s\n", name, reason.c_str());
  std::exit(1);
}

// Returns the pairs in an order that does not depend on the language of the process.
schema::MetadataPairs sorted_metadata(const ArrowSchema& type) {
  auto pairs = schema::metadata_pairs(type.metadata);
  std::ranges::sort(pairs);
  return pairs;
}

std::string_view text_of(const char* text) { return text != nullptr ? text : ""; }

void compare(const char* name, const ArrowSchema& type, const ArrowSchema& expected, const std::string& path) {
  const auto require = [&](bool holds, const char* what) {
    if (!holds) fail(name, path + " has another " + what);
  };
  require(text_of(type.format) == text_of(expected.format), "format");
  require(text_of(type.name) == text_of(expected.name), "name");
  require(type.flags == expected.flags, "flag");
  require(sorted_metadata(type) == sorted_metadata(expected), "metadata");
  require(type.n_children == expected.n_children, "number of children");
  require((type.dictionary != nullptr) == (expected.dictionary != nullptr), "dictionary");
  for (int64_t i = 0; i < type.n_children; ++i) {
    compare(name, *type.children[i], *expected.children[i], path + "." + std::string(text_of(type.children[i]->name)));
  }
  if (type.dictionary != nullptr) compare(name, *type.dictionary, *expected.dictionary, path + ".dictionary");
}

}  // namespace

void read_file(const char* path, file* out) try {
  ipc::FileReader reader(path);
  schema::copy(reader.schema(), &out->type);
  for (out->n = 0; reader.next(&out->batches[out->n]); ++out->n) {
    if (out->n + 1 == MOST_BATCHES) fail(path, "it has too many batches");
  }
} catch (const std::exception& error) {
  fail(path, error.what());
}

void require_same_type(const char* name, const ArrowSchema* type, const ArrowSchema* expected) {
  compare(name, *type, *expected, "the type");
}

void require_same_values(const char* name, const ArrowSchema* type, const ArrowArray* batch,
                         const ArrowArray* expected) {
  const std::string found = testing::difference(*type, *batch, *type, *expected);
  if (!found.empty()) fail(name, found);
}

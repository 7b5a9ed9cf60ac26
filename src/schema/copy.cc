// SPDX-License-Identifier: Apache-2.0
#include "schema/copy.h"

#include <utility>
#include <vector>

#include "schema/build.h"
#include "schema/metadata.h"
#include "schema/tree.h"

namespace arrowdevice::schema {
namespace {

// Recurses as deep as the schema, at most kDeepest levels.
UniqueSchema copy_node(const ArrowSchema& from, std::span<const ArrowSchema* const> children) {
  const auto copy_below = [](const ArrowSchema& below) {
    return copy_node(below, {below.children, static_cast<size_t>(below.n_children)});
  };
  SchemaTexts texts{.format = from.format, .name = {}, .metadata = {}};
  if (from.name != nullptr) texts.name = from.name;
  if (from.metadata != nullptr) {
    texts.metadata.emplace(from.metadata, static_cast<size_t>(metadata_size(from.metadata)));
  }
  std::vector<UniqueSchema> copied;
  copied.reserve(children.size());
  for (const auto* child : children) copied.push_back(copy_below(*child));
  return make_schema(std::move(texts), from.flags, std::move(copied),
                     from.dictionary != nullptr ? copy_below(*from.dictionary) : UniqueSchema());
}

}  // namespace

void copy(const ArrowSchema& schema, ArrowSchema* out) {
  const Tree checked(schema);
  *out = copy_node(schema, {schema.children, static_cast<size_t>(schema.n_children)}).take();
}

void copy_selection(const ArrowSchema& schema, std::span<const int64_t> children, ArrowSchema* out) {
  const Tree checked(schema);
  std::vector<const ArrowSchema*> chosen;
  for (const int64_t child : children) chosen.push_back(schema.children[child]);
  *out = copy_node(schema, chosen).take();
}

}  // namespace arrowdevice::schema

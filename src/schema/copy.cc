// SPDX-License-Identifier: Apache-2.0
#include "schema/copy.h"

#include <memory>
#include <string>
#include <vector>

#include "schema/metadata.h"
#include "schema/tree.h"

namespace arrowdevice::schema {
namespace {

// The data of a copied schema; its private_data.
struct Copied {
  std::string format, name, metadata;
  std::vector<std::unique_ptr<ArrowSchema>> children;
  std::vector<ArrowSchema*> child_pointers;
  std::unique_ptr<ArrowSchema> dictionary;
};

void release(ArrowSchema* schema) {
  const std::unique_ptr<Copied> copied(static_cast<Copied*>(schema->private_data));
  for (const auto& child : copied->children) {
    if (child->release != nullptr) child->release(child.get());
  }
  if (copied->dictionary != nullptr && copied->dictionary->release != nullptr) {
    copied->dictionary->release(copied->dictionary.get());
  }
  schema->release = nullptr;
}

// Owns a schema, and releases it unless it is moved out.
class Building {
 public:
  Building() = default;
  ~Building() {
    if (schema_.release != nullptr) schema_.release(&schema_);
  }
  Building(const Building&) = delete;
  Building& operator=(const Building&) = delete;

  ArrowSchema& get() noexcept { return schema_; }
  ArrowSchema take() noexcept {
    const ArrowSchema taken = schema_;
    schema_.release = nullptr;
    return taken;
  }

 private:
  ArrowSchema schema_{};
};

void copy_node(const ArrowSchema& from, std::span<const ArrowSchema* const> children, ArrowSchema* out) {
  auto copied = std::make_unique<Copied>();
  copied->format = from.format;
  if (from.name != nullptr) copied->name = from.name;
  if (from.metadata != nullptr)
    copied->metadata.assign(from.metadata, static_cast<size_t>(metadata_size(from.metadata)));
  Building built;
  auto& schema = built.get();
  schema.flags = from.flags;
  schema.private_data = copied.get();
  schema.release = release;
  Copied& to = *copied.release();  // owned by `built` from here
  schema.format = to.format.c_str();
  schema.name = from.name != nullptr ? to.name.c_str() : nullptr;
  schema.metadata = from.metadata != nullptr ? to.metadata.data() : nullptr;
  // Recurses as deep as the schema, at most kDeepest levels.
  const auto copy_below = [](const ArrowSchema& below, ArrowSchema* place) {
    copy_node(below, {below.children, static_cast<size_t>(below.n_children)}, place);
  };
  for (const auto* child : children) {
    to.children.push_back(std::make_unique<ArrowSchema>());
    copy_below(*child, to.children.back().get());
  }
  for (const auto& child : to.children) to.child_pointers.push_back(child.get());
  schema.n_children = static_cast<int64_t>(to.child_pointers.size());
  schema.children = to.child_pointers.empty() ? nullptr : to.child_pointers.data();
  if (from.dictionary != nullptr) {
    to.dictionary = std::make_unique<ArrowSchema>();
    copy_below(*from.dictionary, to.dictionary.get());
    schema.dictionary = to.dictionary.get();
  }
  *out = built.take();
}

}  // namespace

void copy(const ArrowSchema& schema, ArrowSchema* out) {
  const Tree checked(schema);
  copy_node(schema, {schema.children, static_cast<size_t>(schema.n_children)}, out);
}

void copy_selection(const ArrowSchema& schema, std::span<const int64_t> children, ArrowSchema* out) {
  const Tree checked(schema);
  std::vector<const ArrowSchema*> chosen;
  for (const int64_t child : children) chosen.push_back(schema.children[child]);
  copy_node(schema, chosen, out);
}

}  // namespace arrowdevice::schema

// SPDX-License-Identifier: Apache-2.0
#include "schema/build.h"

#include <memory>

namespace arrowdevice::schema {
namespace {

// The data of a schema; its private_data.
struct Built {
  SchemaTexts texts;
  std::vector<ArrowSchema> children;
  std::vector<ArrowSchema*> child_pointers;
  ArrowSchema dictionary{};
};

void release(ArrowSchema* schema) {
  const std::unique_ptr<Built> built(static_cast<Built*>(schema->private_data));
  for (auto& child : built->children) {
    if (child.release != nullptr) child.release(&child);
  }
  if (built->dictionary.release != nullptr) built->dictionary.release(&built->dictionary);
  schema->release = nullptr;
}

const char* text_or_null(const std::optional<std::string>& text) { return text ? text->c_str() : nullptr; }

}  // namespace

UniqueSchema make_schema(SchemaTexts texts, int64_t flags, std::vector<UniqueSchema> children,
                         UniqueSchema dictionary) {
  auto built = std::make_unique<Built>();
  built->texts = std::move(texts);
  built->children.reserve(children.size());
  built->child_pointers.reserve(children.size());
  // No call throws from here on, so that each child has one owner.
  for (auto& child : children) {
    built->child_pointers.push_back(&built->children.emplace_back(child.take()));
  }
  built->dictionary = dictionary.take();
  return UniqueSchema({.format = built->texts.format.c_str(),
                       .name = text_or_null(built->texts.name),
                       .metadata = text_or_null(built->texts.metadata),
                       .flags = flags,
                       .n_children = static_cast<int64_t>(children.size()),
                       .children = children.empty() ? nullptr : built->child_pointers.data(),
                       .dictionary = built->dictionary.release != nullptr ? &built->dictionary : nullptr,
                       .release = release,
                       .private_data = built.release()});
}

}  // namespace arrowdevice::schema

// SPDX-License-Identifier: Apache-2.0
// Fuzzes the metadata of a schema. A metadata block has no size, so the library cannot detect lengths that
// exceed the block, and the test does not try them. It tries negative lengths. Well-formed metadata must be
// found and copied completely.
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "check.h"
#include "input.h"
#include "support/field.h"

namespace {

struct Block {
  std::unique_ptr<char[]> bytes;  // has the exact length, so that a sanitizer detects a read beyond it
  size_t size = 0;
  bool is_well_formed = true;
};

void append(std::string& block, int32_t number) {
  char bytes[sizeof number];
  std::memcpy(bytes, &number, sizeof number);
  block.append(bytes, sizeof bytes);
}

// Returns a block. It ends with the first negative number, because the rest is unreadable.
Block block_of(fuzz::Input& input, std::vector<std::pair<std::string, std::string>>& pairs) {
  std::string block;
  Block made;
  const auto add_number = [&](int64_t n) {
    const bool is_spoiled = input.below(16) == 15;
    append(block, is_spoiled ? static_cast<int32_t>(-1 - input.below(256)) : static_cast<int32_t>(n));
    made.is_well_formed = !is_spoiled;
    return made.is_well_formed;
  };
  const auto add_text = [&](const std::string& text) {
    if (!add_number(static_cast<int64_t>(text.size()))) return false;
    block += text;
    return true;
  };
  constexpr const char* kKeys[] = {"ARROW:extension:name", "ARROW:extension:metadata", "", "k"};
  const int64_t n = input.below(5);
  bool goes_on = add_number(n);
  for (int64_t i = 0; i < n && goes_on; ++i) {
    const std::string key = input.flag() ? input.pick(kKeys) : input.text(20);
    const std::string value = input.text(40);
    goes_on = add_text(key) && add_text(value);
    pairs.emplace_back(key, value);
  }
  made.size = block.size();
  made.bytes.reset(new char[block.size()]);
  std::memcpy(made.bytes.get(), block.data(), block.size());
  return made;
}

const std::string* find(const std::vector<std::pair<std::string, std::string>>& pairs, const char* key) {
  for (const auto& [name, value] : pairs) {
    if (name == key) return &value;
  }
  return nullptr;
}

void check_node(const arrowdevice_node& node, const Block& block,
                const std::vector<std::pair<std::string, std::string>>& pairs) {
  fuzz::check(std::memcmp(node.metadata, block.bytes.get(), block.size) == 0, "the metadata of a view is another");
  const std::string* const name = find(pairs, "ARROW:extension:name");
  fuzz::check((name != nullptr) == (node.extension_name != nullptr), "an extension's name is lost");
  if (name != nullptr) fuzz::check(*name == node.extension_name, "an extension has another name");
  const std::string* const value = find(pairs, "ARROW:extension:metadata");
  fuzz::check((value != nullptr) == (node.extension_metadata != nullptr), "an extension's metadata is lost");
  if (value == nullptr) return;
  fuzz::check(node.extension_metadata_size == static_cast<int64_t>(value->size()), "an extension's metadata is cut");
  fuzz::check(std::memcmp(node.extension_metadata, value->data(), value->size()) == 0, "it has other bytes");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  fuzz::Input input(bytes, size);
  std::vector<std::pair<std::string, std::string>> pairs;
  const Block block = block_of(input, pairs);
  ArrowSchema schema{};
  schema.format = "n";
  schema.metadata = block.bytes.get();
  schema.release = [](ArrowSchema* self) { self->release = nullptr; };

  fuzz::Schema copied;
  const bool is_copied = fuzz::accepts(arrowdevice_schema_copy, static_cast<const ArrowSchema*>(&schema), copied.out());
  fuzz::check(is_copied == block.is_well_formed, "metadata is refused that is well-formed, or the other way round");
  if (is_copied) fuzz::check(std::memcmp(copied->metadata, block.bytes.get(), block.size) == 0, "a copy is another");

  ArrowDeviceArray array{};
  array.device_type = ARROW_DEVICE_CPU;
  array.device_id = -1;
  array.array.release = [](ArrowArray* self) { self->release = nullptr; };
  arrowdevice_view* view = nullptr;
  const bool is_taken = fuzz::accepts(arrowdevice_array_import, &array, static_cast<const ArrowSchema*>(&schema),
                                      static_cast<const arrowdevice_import_options*>(nullptr), &view);
  fuzz::check(is_taken == block.is_well_formed, "an array is refused whose metadata is well-formed, or the other way");
  if (!is_taken) return 0;
  check_node(*arrowdevice_view_get_root(view), block, pairs);
  arrowdevice_view_release(view);
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
#include "ipc/flat_reader.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <limits>
#include <string>

#include "base/error.h"

namespace arrowdevice::ipc {
namespace {

static_assert(std::endian::native == std::endian::little, "vectors of integers are copied as they are");

// A flatbuffer has the offset of its root, and the root has the offset of its description.
constexpr size_t kLeastBytes = 8;
constexpr size_t kMostBytes = std::numeric_limits<int32_t>::max() - 1;
constexpr size_t kAlignment = sizeof(uint64_t);
constexpr size_t kLeastTableBytes = 4;
// Writers may share long texts. A message of distinct texts needs a factor below 1.
constexpr size_t kTextFactor = 8;

// Readers limit the depth. This constructor exists in all versions of flatbuffers.
flatbuffers::Verifier make_verifier(std::span<const uint8_t> bytes) {
  const auto most_tables = static_cast<flatbuffers::uoffset_t>(bytes.size() / kLeastTableBytes);
  return flatbuffers::Verifier(bytes.data(), bytes.size(), most_tables, most_tables);
}

std::span<const uint8_t> check_size(std::span<const uint8_t> bytes) {
  if (bytes.size() < kLeastBytes || bytes.size() > kMostBytes) {
    throw Error(EINVAL, "a message of " + std::to_string(bytes.size()) + " bytes cannot be a flatbuffer");
  }
  return bytes;
}

bool is_aligned(std::span<const uint8_t> bytes) { return reinterpret_cast<uintptr_t>(bytes.data()) % kAlignment == 0; }

std::unique_ptr<uint64_t[]> copy_unless_aligned(std::span<const uint8_t> bytes) {
  if (is_aligned(bytes)) return nullptr;
  auto copied = std::make_unique<uint64_t[]>(bytes.size() / kAlignment + 1);
  std::ranges::copy(bytes, reinterpret_cast<uint8_t*>(copied.get()));
  return copied;
}

}  // namespace

FlatReader::FlatReader(std::span<const uint8_t> bytes)
    : aligned_(copy_unless_aligned(check_size(bytes))),
      bytes_(aligned_ != nullptr ? std::span(reinterpret_cast<const uint8_t*>(aligned_.get()), bytes.size()) : bytes),
      verifier_(make_verifier(bytes_)),
      text_bytes_left_(kTextFactor * bytes.size()) {}

void FlatReader::refuse(const char* what) const {
  throw Error(EINVAL, std::string(what) + " is outside of the message of " + std::to_string(bytes_.size()) +
                          " bytes, or shared too often");
}

FlatTable FlatReader::root() {
  const auto offset = verifier_.VerifyOffset(size_t{0});
  require(offset != 0, "the root table");
  const auto* const table = reinterpret_cast<const flatbuffers::Table*>(bytes_.data() + offset);
  require(table->VerifyTableStart(verifier_), "the root table");
  return {*this, table};
}

std::optional<std::string_view> FlatTable::text(Slot slot) const {
  const auto* const text = pointer<flatbuffers::String>(slot);
  if (text == nullptr) return std::nullopt;
  reader_->require(reader_->verifier_.VerifyString(text), "a text");
  if (text->size() > reader_->text_bytes_left_) throw Error(EINVAL, "too many tables share the texts of the message");
  reader_->text_bytes_left_ -= text->size();
  return std::string_view(text->c_str(), text->size());
}

FlatTable FlatTable::checked_table(const flatbuffers::Table* table) const {
  reader_->require(table->VerifyTableStart(reader_->verifier_), "a table");
  return {*reader_, table};
}

std::optional<FlatTable> FlatTable::table(Slot slot) const {
  const auto* const table = pointer<flatbuffers::Table>(slot);
  if (table == nullptr) return std::nullopt;
  return checked_table(table);
}

int64_t FlatTable::count(Slot slot) const {
  const auto* const tables = checked_vector<TableOffset>(slot);
  return tables == nullptr ? 0 : tables->size();
}

FlatTable FlatTable::element(Slot slot, int64_t index) const {
  const auto* const tables = checked_vector<TableOffset>(slot);
  const auto* const entry = tables->Data() + static_cast<size_t>(index) * sizeof(TableOffset);
  const auto offset = reader_->verifier_.VerifyOffset(static_cast<size_t>(entry - reader_->bytes_.data()));
  reader_->require(offset != 0, "a table");
  return checked_table(reinterpret_cast<const flatbuffers::Table*>(entry + offset));
}

}  // namespace arrowdevice::ipc

// SPDX-License-Identifier: Apache-2.0
// Fuzzes invalid arrays and schemas. In all cases the library must not crash, must leave a refused input
// unchanged, and must not leak memory. An array that passes the full validation can be read and copied.
#include <cstring>
#include <string>

#include "spoil.h"
#include "support/reader.h"

namespace {

using namespace fuzz;  // NOLINT: what every line of this file is written with

bool is_valid(const ArrowDeviceArray& array, const ArrowSchema& schema, int32_t level) {
  return accepts(arrowdevice_array_validate, &array, &schema, static_cast<arrowdevice_device*>(nullptr), level);
}

void check_import(ArrowDeviceArray& array, const ArrowSchema& schema, bool is_sound) {
  const ArrowDeviceArray before = array;
  arrowdevice_view* view = nullptr;
  const bool is_taken = accepts(arrowdevice_array_import, &array, &schema,
                                static_cast<const arrowdevice_import_options*>(nullptr), &view);
  // Only imports read the names in the schema.
  if (!is_sound) check(!is_taken, "an array is imported whose structs are not valid");
  if (is_taken) arrowdevice_view_detach(view, &array);
  check(std::memcmp(&array, &before, sizeof array) == 0, "an import changes the array");
}

// Copies the array. Returns true if the copy succeeded.
bool check_copy(const ArrowDeviceArray& array, const ArrowSchema& schema, arrowdevice_device* to, Array& out) {
  const ArrowDeviceArray before = array;
  const bool is_copied = accepts(arrowdevice_array_copy, &array, &schema, to,
                                 static_cast<const arrowdevice_copy_options*>(nullptr), out.out());
  check(std::memcmp(&array, &before, sizeof array) == 0, "a copy changes its source");
  check(is_copied != out.released(), "a copy that failed is there, or one that did not is not");
  return is_copied;
}

void check_same(const ArrowDeviceArray& array, const ArrowSchema& schema, const ArrowDeviceArray& copied) {
  const std::string found = difference(schema, array.array, schema, copied.array);
  if (!found.empty()) fail("a copy is not the same: " + found);
}

// Calls every function that reads an array, if its data may be read.
void check_data(Input& input, ArrowDeviceArray& array, const ArrowSchema& schema, bool is_sound) {
  const bool is_full = is_valid(array, schema, ARROWDEVICE_VALIDATE_FULL);
  const bool is_strict = is_valid(array, schema, ARROWDEVICE_VALIDATE_STRICT);
  check(is_sound || !is_full, "full validation passes what the structs' does not");
  check(is_full || !is_strict, "strict validation passes what the full one does not");
  Array copied;
  const bool is_copied = check_copy(array, schema, cpu(), copied);
  check(is_copied || !is_full, "what is valid is not copied");
  if (is_full) check_same(array, schema, *copied);
  if (input.below(4) != 3) return;
  Array there;
  if (!check_copy(array, schema, simulated(input.below(2)), there))
    return check(!is_full, "what is valid is not copied");
  // The copy of an invalid array may be valid, because the copy leaves out values that no row shows.
  const bool is_full_there = is_valid(*there, schema, ARROWDEVICE_VALIDATE_FULL);
  check(is_full_there || !is_full, "a copy on a device is not valid");
  Array back;
  if (check_copy(*there, schema, cpu(), back) && is_full) check_same(array, schema, *back);
}

void check_array(Input& input, ArrowDeviceArray& array, const ArrowSchema& schema, bool has_data) {
  const bool is_sound = is_valid(array, schema, ARROWDEVICE_VALIDATE_STRUCTURE);
  if (has_data || !is_sound) check_import(array, schema, is_sound);  // reads the offsets that are on the host
  if (has_data) return check_data(input, array, schema, is_sound);
  Array slice;
  if (!is_sound)
    check(!accepts(arrowdevice_array_slice, &array, &schema, int64_t{0}, int64_t{0}, slice.out()),
          "an array is sliced whose structs are not valid");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  Input input(bytes, size);
  const Field type = type_of(input);
  const Ledger ledger;
  const int64_t spoiled_bytes = input.below(4);
  const int64_t spoiled_structs = input.below(3);
  {
    Data data = generate(type, knobs_of(input));
    for (int64_t i = 0; i < spoiled_bytes; ++i) spoil_bytes(input, type, data);
    lengthen(type, data, spoiled_structs > 0 ? Spare::kEverywhere : Spare::kBehindTexts);
    Schema schema = make_schema(type);
    Array array(on_cpu(make_array(std::move(data), ledger)));
    StructSpoiler spoiler(*schema, array->array);
    for (int64_t i = 0; i < spoiled_structs; ++i) spoiler.spoil(input);
    check_array(input, *array, *schema, spoiler.has_data());
    spoiler.restore();
    if (spoiled_bytes == 0) check(is_valid(*array, *schema, ARROWDEVICE_VALIDATE_FULL), "what is sound is refused");
  }
  check(ledger.live() == 0, "an array is not released");
  check(Ledger::mistakes() == 0, "an array is released twice");
  return 0;
}

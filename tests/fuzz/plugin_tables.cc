// SPDX-License-Identifier: Apache-2.0
// Fuzzes backend tables that lack functions, are too short, have another version or have wrong names. The
// library must refuse a table with a message, or use only the functions in it.
#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "check.h"
#include "input.h"
#include "sim/control.h"

namespace {

using namespace fuzz;  // NOLINT: what every line of this file is written with

// The functions of a table are consecutive pointers.
constexpr size_t kFirstFunction = offsetof(arrowdevice_backend, device_count);
constexpr size_t kFunctions = (sizeof(arrowdevice_backend) - kFirstFunction) / sizeof(void*);
constexpr size_t kRequired = (offsetof(arrowdevice_backend, event_destroy) - kFirstFunction) / sizeof(void*) + 1;

void* const* functions_of(const arrowdevice_backend& table) {
  return reinterpret_cast<void* const*>(reinterpret_cast<const char*>(&table) + kFirstFunction);
}

struct Texts {
  std::string name;
  std::vector<ArrowDeviceType> types;
};

arrowdevice_backend table_of(Input& input, Texts& texts) {
  arrowdevice_backend table = *arrowdevice::sim::control::table();
  for (int64_t left = input.below(4); left > 0; --left) {
    auto* const place = reinterpret_cast<char*>(&table) + kFirstFunction +
                        static_cast<size_t>(input.below(int64_t{kFunctions})) * sizeof(void*);
    std::memset(place, 0, sizeof(void*));
  }
  texts.name = input.text(20);
  texts.types.resize(static_cast<size_t>(input.below(70)));
  for (auto& type : texts.types) type = static_cast<ArrowDeviceType>(input.number());
  if (input.flag()) table.name = texts.name.c_str();
  if (input.flag()) table.device_types = texts.types.data();
  if (input.flag()) table.n_device_types = static_cast<int32_t>(texts.types.size());
  switch (input.below(16)) {
    case 1: table.struct_size = static_cast<uint32_t>(input.below(65536)); break;
    case 2: table.abi_version = static_cast<uint32_t>(input.number()); break;
    case 3: table.name = nullptr; break;
    case 4: table.device_types = nullptr; break;
    case 5: table.n_device_types = static_cast<int32_t>(-input.below(256)); break;
    case 6: table.version = nullptr; break;
    default: break;
  }
  // The memory that the table describes must exist.
  if (table.device_types != nullptr && table.device_types != texts.types.data())
    table.n_device_types = std::min(table.n_device_types, 1);
  return table;
}

// Returns a table with exactly the size that it states, so that a sanitizer detects a read beyond it.
std::unique_ptr<char[]> cut(const arrowdevice_backend& table) {
  std::unique_ptr<char[]> bytes(new char[std::max<size_t>(table.struct_size, offsetof(arrowdevice_backend, name))]());
  std::memcpy(bytes.get(), &table, std::min<size_t>(table.struct_size, sizeof table));
  if (table.struct_size < offsetof(arrowdevice_backend, name)) {
    std::memcpy(bytes.get(), &table, offsetof(arrowdevice_backend, name));
  }
  return bytes;
}

void check_used(const arrowdevice::backend::Backend& backend, const arrowdevice_backend& given) {
  const size_t there = std::min<size_t>(given.struct_size, sizeof given);
  for (size_t i = 0; i < kFunctions; ++i) {
    const bool is_there = kFirstFunction + (i + 1) * sizeof(void*) <= there;
    void* const expected = is_there ? functions_of(given)[i] : nullptr;
    if (i < kRequired) check(expected != nullptr, "a table is used that lacks a required function");
    check(functions_of(backend.table())[i] == expected, "a function of a table is another");
  }
  check(backend.name() == given.name, "a backend has another name");
  check(backend.device_types().size() == static_cast<size_t>(given.n_device_types), "a backend has other types");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  Input input(bytes, size);
  Texts texts;
  const arrowdevice_backend table = table_of(input, texts);
  const auto kept = cut(table);
  try {
    const arrowdevice::backend::Backend backend(reinterpret_cast<const arrowdevice_backend*>(kept.get()), "fuzz");
    check_used(backend, table);
  } catch (const arrowdevice::Error& error) {
    check(error.code() == EINVAL || error.code() == ENOTSUP, "a table is refused with another code");
    check(!error.message().empty(), "a table is refused without a reason");
  }
  return 0;
}

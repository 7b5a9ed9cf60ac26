// SPDX-License-Identifier: Apache-2.0
// Fuzzes handles of arrays for other processes: their bytes change, and their descriptors are missing, moved or
// doubled. The library must refuse a handle, or open it without a crash. Arrays that pass the full validation can be
// copied.
#include <cerrno>
#include <string>
#include <vector>

#include "sample.h"
#include "spoil.h"
#include "support/reader.h"

namespace {

using namespace fuzz;  // NOLINT: what every line of this file is written with

constexpr arrowdevice_device* kNoDevice = nullptr;

struct Handle {
  ~Handle() { arrowdevice_ipc_handle_release(&handle); }
  arrowdevice_ipc_handle handle{};
};

arrowdevice_copy_options options_with(uint32_t flags) {
  arrowdevice_copy_options options{};
  options.struct_size = sizeof options;
  options.flags = flags;
  return options;
}

arrowdevice_device* device_of(Input& input) {
  const int64_t which = input.below(4);
  return which < 2 ? cpu() : simulated(which - 2);
}

struct Opened {
  Array array;
  Schema schema;
};

// Returns false if the handle was refused.
bool open(const std::vector<uint8_t>& bytes, const std::vector<int>& descriptors, uint32_t flags, Opened& out) {
  const auto options = options_with(flags);
  arrowdevice_error error{};
  const int code =
      arrowdevice_array_open_ipc_handle(bytes.data(), std::ssize(bytes), descriptors.data(), std::ssize(descriptors),
                                        &options, out.array.out(), out.schema.out(), &error);
  // A changed device type or UUID is that of an absent device.
  if (code == ENODEV && error.message[0] != '\0') return false;
  return was_accepted(code, error);
}

void check_opened(const Opened& opened) {
  if (!is_short(opened.array->array) || !accepts(arrowdevice_array_validate, opened.array.get(), opened.schema.get(),
                                                 kNoDevice, ARROWDEVICE_VALIDATE_FULL)) {
    return;
  }
  Array copied;
  const auto options = options_with(0);
  must(arrowdevice_array_copy, opened.array.get(), opened.schema.get(), cpu(), &options, copied.out());
  const std::string found = problem(*opened.schema, copied->array);
  if (!found.empty()) fail("a copy of a valid array is not valid: " + found);
}

void change(Input& input, std::vector<int>& descriptors) {
  const size_t at = static_cast<size_t>(input.below(std::ssize(descriptors)));
  switch (input.below(6)) {
    case 0: descriptors.pop_back(); break;
    case 1: std::swap(descriptors.front(), descriptors[at]); break;
    case 2: descriptors[at] = static_cast<int>(input.number()); break;
    case 3: descriptors.push_back(descriptors[at]); break;
    default: break;  // most often none, so that the bytes are read
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  Input input(bytes, size);
  auto* const device = device_of(input);
  const Field type = type_of(input);
  const Schema schema = make_schema(type);
  const Array host(on_cpu(make_array(generate(type, knobs_of(input)), Ledger())));
  const auto always = options_with(ARROWDEVICE_COPY_ALWAYS);
  Array sent;
  must(arrowdevice_array_copy, host.get(), schema.get(), device, &always, sent.out());
  Handle made;
  const auto usual = options_with(input.flag() ? ARROWDEVICE_COPY_ALWAYS : 0);
  if (!accepts(arrowdevice_array_get_ipc_handle, sent.get(), schema.get(), &usual, &made.handle)) return 0;

  std::vector<uint8_t> changed(made.handle.bytes, made.handle.bytes + made.handle.size);
  std::vector<int> descriptors(made.handle.descriptors, made.handle.descriptors + made.handle.n_descriptors);
  const uint32_t flags = input.flag() ? ARROWDEVICE_COPY_ALWAYS : 0;
  Opened unchanged;
  check(open(changed, descriptors, flags, unchanged), "what the library has made is refused");
  check_opened(unchanged);
  spoil_message(input, changed);
  change(input, descriptors);
  Opened opened;
  if (open(changed, descriptors, flags, opened)) check_opened(opened);
  return 0;
}

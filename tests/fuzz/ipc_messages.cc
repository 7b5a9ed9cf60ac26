// SPDX-License-Identifier: Apache-2.0
// Fuzzes streams of Arrow's IPC format: streams that the library wrote, with some bytes changed, and any other bytes.
// The library must refuse a stream, or read it without a crash. Arrays that pass the full validation can be read and
// written again.
#include <cerrno>
#include <string>

#include "base/error.h"
#include "sample.h"
#include "spoil.h"
#include "support/reader.h"
#include "unit/ipc_stream.h"

namespace {

using namespace fuzz;  // NOLINT: what every line of this file is written with
using ipc_test::Bytes;
using ipc_test::ReadStream;

// Returns a batch of the type, which has the layout that a copy has.
Array batch_of(const ArrowSchema& schema, const Field& type, Input& input) {
  const Array host(on_cpu(make_array(generate(type, knobs_of(input)), Ledger())));
  auto options = arrowdevice_copy_options{};
  options.struct_size = sizeof options;
  options.flags = ARROWDEVICE_COPY_ALWAYS;
  Array copied;
  must(arrowdevice_array_copy, host.get(), &schema, cpu(), static_cast<const arrowdevice_copy_options*>(&options),
       copied.out());
  return copied;
}

// Returns false if the stream was refused.
bool read(const Bytes& stream, ReadStream& out) {
  try {
    out = ipc_test::read_stream(stream);
    return true;
  } catch (const arrowdevice::Error& error) {
    check(error.code() == EINVAL || error.code() == ENOTSUP, "refused with another code");
    check(!error.message().empty(), "refused without a reason");
    return false;
  }
}

void check_same(const ArrowSchema& schema, const ArrowArray& array, const ReadStream& read, size_t index) {
  const std::string found = difference(schema, array, *read.schema, *read.batches.at(index));
  if (!found.empty()) fail("another batch came back: " + found);
}

// Reads all values of valid arrays, and sends them once more.
void check_arrays(ReadStream& stream) {
  std::vector<Array> valid;
  std::vector<const ArrowArray*> arrays;
  for (auto& batch : stream.batches) {
    if (!is_short(*batch)) continue;
    const Array array(on_cpu(std::move(batch)));
    if (!accepts(arrowdevice_array_validate, array.get(), stream.schema.get(),
                 static_cast<arrowdevice_device*>(nullptr), ARROWDEVICE_VALIDATE_FULL)) {
      continue;
    }
    Array copied;
    must(arrowdevice_array_copy, array.get(), stream.schema.get(), cpu(),
         static_cast<const arrowdevice_copy_options*>(nullptr), copied.out());
    valid.push_back(std::move(copied));
  }
  for (const auto& array : valid) arrays.push_back(&array->array);
  ReadStream again;
  check(read(ipc_test::write_stream(*stream.schema, arrays), again), "what was read cannot be sent again");
  check(again.batches.size() == arrays.size(), "another number of batches came back");
  for (size_t i = 0; i < arrays.size(); ++i) check_same(*stream.schema, *arrays[i], again, i);
}

// Returns a stream of the library with some bytes changed, or no bytes for a type that IPC does not have.
Bytes spoiled_stream(Input& input) {
  Field type = type_of(input);
  if (type.format != "+s") type = struct_of({type});
  type = type.not_null();
  const Schema schema = make_schema(type);
  const Array array = batch_of(*schema, type, input);
  Bytes stream;
  try {
    stream = ipc_test::write_stream(*schema, {&array->array});
  } catch (const arrowdevice::Error& error) {
    check(error.code() == ENOTSUP, "a type is refused with another code");
    return {};
  }
  ReadStream unchanged;
  check(read(stream, unchanged), "what the library has written is refused");
  check_same(*schema, array->array, unchanged, 0);
  spoil_message(input, stream);
  return stream;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  Input input(bytes, size);
  const bool is_raw = input.below(4) == 3;
  const Bytes stream = is_raw ? Bytes(bytes + 1, bytes + size) : spoiled_stream(input);
  ReadStream out;
  if (read(stream, out) && !out.schema.released()) check_arrays(out);
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
// Tests memory that other processes can open. The cases open it in this process, by the same functions of the backend.
#include <cerrno>

#include "conformance/subject.h"

namespace arrowdevice::conformance {

namespace {

struct Handle {
  ~Handle() { arrowdevice_ipc_handle_release(&of); }
  arrowdevice_ipc_handle of{};
};

Pool make_shareable_pool(const Subject& subject) {
  auto options = sized<arrowdevice_pool_options>();
  options.flags = ARROWDEVICE_POOL_SHAREABLE;
  auto* made = output_of(arrowdevice_pool_create, subject.device(), &options);
  return Pool(made);
}

Subject::Array copy_into(const Pool& pool, const Subject& subject, const Sample& sample) {
  auto options = sized<arrowdevice_copy_options>();
  options.pool = pool.get();
  return output_of(arrowdevice_array_copy, sample.host.get(), sample.schema.get(), subject.device(), &options);
}

void open(const Handle& handle, Subject::Array& array, Owned<ArrowSchema>& schema) {
  must(arrowdevice_array_open_ipc_handle, handle.of.bytes, handle.of.size, handle.of.descriptors,
       int64_t{handle.of.n_descriptors}, nullptr, array.out(), schema.out());
}

// Opens an array and returns its rows on the CPU.
Owned<ArrowDeviceArray> rows_of(const Subject& subject, const Handle& handle) {
  Subject::Array opened;
  Owned<ArrowSchema> schema;
  open(handle, opened, schema);
  return subject.to_cpu(*opened, *schema);
}

void opens_every_type(Subject& subject) {
  const Pool pool = make_shareable_pool(subject);
  auto never = sized<arrowdevice_copy_options>();
  never.flags = ARROWDEVICE_COPY_NEVER;
  for_each(testing::asked_cases(), [&](Sample& sample) {
    auto array = copy_into(pool, subject, sample);
    Handle handle;
    arrowdevice_error error{};
    const int code = arrowdevice_array_get_ipc_handle(array.get(), sample.schema.get(), &never, &handle.of, &error);
    if (code == ENOTSUP && std::string(error.message).find("dictionary") != std::string::npos) return;
    expect(code == 0, error.message);
    expect(handle.of.copied_bytes == 0, "shareable memory was copied");
    array.reset();
    auto back = rows_of(subject, handle);
    sample.expect_values(back->array);
  });
}

void copies_other_memory(Subject& subject) {
  Sample sample(testing::find_case("record batch"));
  auto array = subject.to_device(*sample.host, *sample.schema);
  Handle handle;
  must(arrowdevice_array_get_ipc_handle, array.get(), sample.schema.get(), nullptr, &handle.of);
  array.reset();
  auto back = rows_of(subject, handle);
  sample.expect_values(back->array);
}

void stays_open(Subject& subject) {
  const Pool pool = make_shareable_pool(subject);
  Sample sample(testing::find_case("record batch"));
  auto array = copy_into(pool, subject, sample);
  Handle handle;
  must(arrowdevice_array_get_ipc_handle, array.get(), sample.schema.get(), nullptr, &handle.of);
  Subject::Array first, second;
  Owned<ArrowSchema> first_schema, second_schema;
  open(handle, first, first_schema);
  open(handle, second, second_schema);
  first.reset();
  auto back = subject.to_cpu(*second, *second_schema);
  sample.expect_values(back->array);
  auto again = subject.to_cpu(*array, *sample.schema);
  sample.expect_values(again->array);
}

}  // namespace

std::span<const Case> handle_cases() {
  static constexpr Case kCases[] = {
      {"arrays in shareable memory are opened without a copy, for every type", kNeedsShareable, opens_every_type},
      {"arrays in other memory are opened after one copy", kNeedsShareable, copies_other_memory},
      {"memory that was opened twice stays open until both arrays are released", kNeedsShareable, stays_open},
  };
  return kCases;
}

}  // namespace arrowdevice::conformance

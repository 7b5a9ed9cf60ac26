// SPDX-License-Identifier: Apache-2.0
// Tests arrowdevice.hpp: handles, which give arrays to other processes.
#include "cpp/cpp.h"

#include <fcntl.h>

namespace {

using namespace cpp_test;  // NOLINT: what every line of these tests is written with

static_assert(kMovesOnly<ad::IpcHandle>);

ad::Device cpu() { return ad::Device::find_by_name("cpu"); }
ad::Pool shareable_pool() { return ad::Pool(cpu(), ad::pool_options(ARROWDEVICE_POOL_SHAREABLE)); }

ad::TypedArray batch() {
  return ad::BatchBuilder()
      .add("id", std::vector<int64_t>{1, 2, 3})
      .add("text", std::vector<std::string>{"x", "", "a longer one"})
      .build();
}

// Returns a copy of the batch in memory of the pool.
ad::TypedArray batch_in(const ad::Pool& pool) {
  ad::TypedArray made = batch();
  auto options = ad::copy_options(ARROWDEVICE_COPY_ALWAYS);
  options.pool = pool.get();
  return std::move(made).to_device(cpu(), options);
}

void check_batch(ad::DeviceArray array, const ad::Schema& schema) {
  array.validate(schema, ARROWDEVICE_VALIDATE_STRICT);
  const ad::View view(std::move(array), schema);
  CHECK(list(view.column("id").values<int64_t>()) == std::vector<int64_t>{1, 2, 3});
  CHECK(view.column("text").text(2) == "a longer one");
}

}  // namespace

TEST_CASE("a handle of a shareable pool opens without a copy and keeps the memory") {
  const ad::Pool pool = shareable_pool();
  testing::Releases releases;
  ad::TypedArray made = batch_in(pool);
  made.array = counted(releases, std::move(made.array));
  ad::IpcHandle handle = made.array.ipc_handle(made.schema, ad::copy_options(ARROWDEVICE_COPY_NEVER));
  CHECK(handle->copied_bytes == 0);
  made.array.reset();
  CHECK(pool.stats().used_bytes > 0);

  /* [open] */
  auto [array, schema] = ad::DeviceArray::open_ipc_handle(handle.bytes(), handle.descriptors());
  /* [end] */
  handle.reset();
  CHECK(array.device() == cpu());
  check_batch(array.share(), schema);
  CHECK(releases.released() == 0);
  array.reset();
  CHECK(releases.reach(1));
  CHECK(pool.stats().used_bytes == 0);
}

TEST_CASE("an array that is not shareable is copied, or refused") {
  ad::TypedArray made = batch();
  refused(ENOTSUP, [&] { made.array.ipc_handle(made.schema, ad::copy_options(ARROWDEVICE_COPY_NEVER)); });
  const ad::IpcHandle handle = made.array.ipc_handle(made.schema);
  CHECK(handle->copied_bytes > 0);
  const auto [array, schema] = ad::DeviceArray::open_ipc_handle(handle.bytes(), handle.descriptors());
  check_batch(std::move(made.array), made.schema);
  CHECK(array->array.length == 3);
}

TEST_CASE("an owner of a handle closes the descriptors once") {
  ad::TypedArray made = batch();
  ad::IpcHandle handle = made.array.ipc_handle(made.schema);
  const std::vector<int> descriptors = handle.descriptors();
  REQUIRE(descriptors.size() == static_cast<size_t>(handle->n_descriptors));
  {
    const ad::IpcHandle moved = std::move(handle);
    CHECK(moved.descriptors() == descriptors);
    refused(EINVAL, [&] { handle.bytes(); });  // NOLINT(bugprone-use-after-move): what is left behind is the point
    refused(EINVAL, [&] { handle.descriptors(); });
    for (const int descriptor : descriptors) CHECK(fcntl(descriptor, F_GETFD) == FD_CLOEXEC);
  }
  CHECK_FALSE(handle);
  for (const int descriptor : descriptors) CHECK(fcntl(descriptor, F_GETFD) == -1);
}

TEST_CASE("bytes that are no handle are refused") {
  ad::TypedArray made = batch();
  const ad::IpcHandle handle = made.array.ipc_handle(made.schema);
  std::vector<uint8_t> cut = handle.bytes();
  cut.resize(cut.size() / 2);
  refused(EINVAL, [&] { ad::DeviceArray::open_ipc_handle(cut, handle.descriptors()); });
  refused(EINVAL, [&] { ad::DeviceArray::open_ipc_handle(handle.bytes(), {}); });
  refused(EINVAL, [&] { ad::DeviceArray::open_ipc_handle({}, handle.descriptors()); });
  refused(EINVAL, [&] { ad::DeviceArray().ipc_handle(made.schema); });
}

// SPDX-License-Identifier: Apache-2.0
// Tests arrowdevice.hpp without memory: each `new` of the program and of the library fails in turn.
#include <cstdlib>
#include <new>

#include "cpp/cpp.h"

namespace {

// The number of allocations that succeed on this thread before one fails. If negative, all succeed.
thread_local int64_t successes = -1;

void* allocate(std::size_t size) noexcept {
  if (successes >= 0 && successes-- == 0) return nullptr;
  return std::malloc(size == 0 ? 1 : size);
}

void* allocate_or_throw(std::size_t size) {
  if (void* const memory = allocate(size)) return memory;
  throw std::bad_alloc();
}

}  // namespace

void* operator new(std::size_t size) { return allocate_or_throw(size); }
void* operator new[](std::size_t size) { return allocate_or_throw(size); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return allocate(size); }
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept { return allocate(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { std::free(memory); }

namespace {

using namespace cpp_test;  // NOLINT: what every line of these tests is written with

// Runs an action with the first allocation failing, then with the second, until the action succeeds. Returns
// the number of failures.
template <typename Action>
int64_t fail_each_allocation(Action&& action) {
  for (int64_t number = 0;; ++number) {
    successes = number;
    try {
      action();
      const bool was_enough = successes >= 0;
      successes = -1;
      if (was_enough) return number;
      FAIL("allocation " << number << " fails, and nobody says so");
    } catch (const std::bad_alloc&) {
      successes = -1;
    } catch (const ad::Exception& error) {
      successes = -1;
      CHECK(error.code() == ENOMEM);
    }
  }
}

}  // namespace

TEST_CASE("a builder keeps its columns when build() runs out of memory") {
  ad::BatchBuilder builder;
  builder.add("a", std::vector<int64_t>{1, 2, 3})
      .add("text", std::vector<std::string>{"x", "", "a longer one, not in place"});
  ad::TypedArray batch;
  const int64_t failures =
      fail_each_allocation([&] { batch = std::move(builder).build(); });  // NOLINT: it stays as it was
  CHECK(failures > 5);
  batch.array.validate(batch.schema, ARROWDEVICE_VALIDATE_STRICT);
  const ad::View view = std::move(batch).view();
  CHECK(list(view.column("a").values<int64_t>()) == std::vector<int64_t>{1, 2, 3});
  CHECK(view.column("text").text(0) == "x");
  CHECK(view.column("text").text(2) == "a longer one, not in place");
}

TEST_CASE("add() changes neither builder nor column when memory is exhausted") {
  ad::BatchBuilder builder;
  ad::TypedArray column = ad::make_array(std::vector<int32_t>{4, 5});
  const std::string name = "a name that is too long to be kept in place";
  const int64_t failures = fail_each_allocation([&] {
    if (!column.array) std::abort();  // NOLINT(bugprone-use-after-move): it was not taken
    builder.add(name, std::move(column));
  });
  CHECK(failures > 0);
  const ad::View view = std::move(builder).build().view();
  CHECK(list(view.column(name).values<int32_t>()) == std::vector<int32_t>{4, 5});
}

TEST_CASE("a handle is made and opened, or nothing changes when memory is exhausted") {
  const ad::Device cpu = ad::Device::find_by_name("cpu");
  const ad::Pool pool(cpu, ad::pool_options(ARROWDEVICE_POOL_SHAREABLE));
  auto options = ad::copy_options(ARROWDEVICE_COPY_ALWAYS);
  options.pool = pool.get();
  testing::Releases releases;
  ad::TypedArray made = ad::make_array(std::vector<int32_t>{4, 5}).to_device(cpu, options);
  made.array = counted(releases, std::move(made.array));
  ad::IpcHandle handle;
  const int64_t failures_to_make = fail_each_allocation([&] { handle = made.array.ipc_handle(made.schema); });
  CHECK(failures_to_make > 5);
  CHECK(handle->copied_bytes == 0);

  std::pair<ad::DeviceArray, ad::Schema> opened;
  const int64_t failures_to_open =
      fail_each_allocation([&] { opened = ad::DeviceArray::open_ipc_handle(handle.bytes(), handle.descriptors()); });
  CHECK(failures_to_open > 5);
  handle.reset();
  made.array.reset();
  {
    const ad::View view(std::move(opened.first), opened.second);
    CHECK(list(view.values<int32_t>()) == std::vector<int32_t>{4, 5});
    CHECK(pool.stats().used_bytes > 0);
  }
  CHECK(releases.reach(1));  // no failed call has kept the memory
  CHECK(pool.stats().used_bytes == 0);
}

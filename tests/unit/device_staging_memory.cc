// SPDX-License-Identifier: Apache-2.0
// Tests copies through staging memory that a backend allocates. This is a separate program, because a backend is
// registered once per process.
#include <atomic>
#include <cstdlib>
#include <map>
#include <mutex>

#include "library.h"

namespace {

using namespace library_test;  // NOLINT: what every line of these tests is written with

// The staging memory of the backend, by address. The devices of a context know each other's memory.
class StagingMemory {
 public:
  static StagingMemory& instance() {
    static StagingMemory memory;
    return memory;
  }

  void* allocate(void* device, int64_t size) {
    const std::lock_guard lock(mutex_);
    ++made_;
    if (fails) return nullptr;
    char* const memory = static_cast<char*>(std::malloc(static_cast<size_t>(size)));
    blocks_[memory] = {device, size};
    return memory;
  }
  void free(void* memory) {
    const std::lock_guard lock(mutex_);
    CHECK(blocks_.erase(static_cast<char*>(memory)) == 1);
    std::free(memory);
  }
  bool is_known_to(void* device, const void* address) {
    const std::lock_guard lock(mutex_);
    const auto found = find(address);
    return found != blocks_.end() && (is_one_context || found->second.first == device);
  }
  void count(const arrowdevice_backend_region& region) {
    const std::lock_guard lock(mutex_);
    const bool to_staging = region.dst_device == nullptr && find(region.dst) != blocks_.end();
    const bool from_staging = region.src_device == nullptr && find(region.src) != blocks_.end();
    (to_staging || from_staging ? staged_ : direct_) += 1;
  }

  int64_t made() const { return made_; }
  int64_t staged() { return std::exchange(staged_, 0); }
  int64_t direct() { return std::exchange(direct_, 0); }
  size_t live() const { return blocks_.size(); }

  bool is_one_context = true;
  bool fails = false;

 private:
  using Blocks = std::map<char*, std::pair<void*, int64_t>>;
  Blocks::iterator find(const void* address) {
    auto* const at = static_cast<char*>(const_cast<void*>(address));
    const auto next = blocks_.upper_bound(at);
    if (next == blocks_.begin()) return blocks_.end();
    const auto found = std::prev(next);
    return at < found->first + found->second.second ? found : blocks_.end();
  }

  std::mutex mutex_;
  Blocks blocks_;
  std::atomic<int64_t> made_{0};
  int64_t staged_ = 0;
  int64_t direct_ = 0;
};

StagingMemory& staging() { return StagingMemory::instance(); }

arrowdevice_backend inner;

int allocate_staging(void* device, int64_t size, void** out, arrowdevice_error* error) {
  *out = staging().allocate(device, size);
  if (*out != nullptr) return 0;
  error->code = ENOMEM;
  std::strcpy(error->message, "no staging memory");
  return ENOMEM;
}

int describe_pointer(void* device, const void* buffer, arrowdevice_pointer_info* out, arrowdevice_error* error) {
  if (!staging().is_known_to(device, buffer)) return inner.pointer_get_info(device, buffer, out, error);
  out->flags = ARROWDEVICE_POINTER_KNOWN | ARROWDEVICE_POINTER_HOST_READABLE;
  return 0;
}

int count_and_copy(void* queue, const arrowdevice_backend_region* regions, int64_t n, arrowdevice_error* error) {
  for (int64_t i = 0; i < n; ++i) staging().count(regions[i]);
  return inner.queue_copy(queue, regions, n, error);
}

void begin_staging(Peers peers = Peers::kCopy) {
  control::reset(configuration(peers));
  static const int registered = [] {
    inner = *control::table();
    static arrowdevice_backend table = inner;
    table.staging_allocate = allocate_staging;
    table.staging_free = [](void*, void* memory) { staging().free(memory); };
    table.pointer_get_info = describe_pointer;
    table.queue_copy = count_and_copy;
    return arrowdevice_backend_register(&table, nullptr);
  }();
  REQUIRE(registered == 0);
  staging().is_one_context = true;
  staging().fails = false;
  for (int64_t id = 0; id < kSims; ++id) must(arrowdevice_pool_trim, default_pool(sim(id)));
  staging().staged();
  staging().direct();
}

Field hundred_columns() {
  std::vector<Field> columns;
  for (int i = 0; i < 100; ++i) columns.push_back(field("l").not_null());
  return struct_of(std::move(columns)).not_null();
}

TEST_CASE("small buffers go through staging memory of the backend, in one region") {
  begin_staging();
  const Sample sample(hundred_columns(), kPlain);
  for (int round = 0; round < 2; ++round) {
    const Array there = copy(sample, sim(0));
    CHECK(staging().staged() == 1);
    const Array back = copy(*there, *sample.schema, cpu());
    CHECK(staging().staged() == 1);
    CHECK(staging().direct() == 0);
    CHECK(difference(sample, *back) == "");
  }
}

TEST_CASE("staging memory is reused, and freed when a pool of its device is trimmed") {
  begin_staging();
  const Sample sample(hundred_columns(), kPlain);
  const auto there_and_back = [&] { copy(*copy(sample, sim(0)), *sample.schema, cpu()); };
  there_and_back();
  const int64_t made = staging().made();
  CHECK(staging().live() > 0);
  for (int i = 0; i < 10; ++i) there_and_back();
  CHECK(staging().made() == made);
  const Pool pool = make_pool(sim(0));
  must(arrowdevice_pool_trim, default_pool(sim(1)));
  CHECK(staging().live() > 0);
  must(arrowdevice_pool_trim, pool.get());
  CHECK(staging().live() == 0);
}

TEST_CASE("staging memory does not count as memory of the device") {
  begin_staging();
  const Sample sample(hundred_columns(), kPlain);
  copy(sample, sim(0));
  const auto before = counters(sim(0)).driver_allocations;
  must(arrowdevice_pool_trim, default_pool(sim(0)));
  const Array there = copy(sample, sim(0));
  CHECK(counters(sim(0)).driver_allocations == before + 1);
  CHECK(stats(default_pool(sim(0))).used_bytes < 64'000);
}

TEST_CASE("copies to the host use plain memory if there is no staging memory") {
  begin_staging();
  const Sample sample(hundred_columns(), kPlain);
  const Array there = copy(sample, sim(0));
  must(arrowdevice_pool_trim, default_pool(sim(0)));
  staging().fails = true;
  staging().staged();
  const Array back = copy(*there, *sample.schema, cpu());
  CHECK(staging().staged() == 0);
  CHECK(difference(sample, *back) == "");
}

TEST_CASE("a failure of staging_allocate has the backend's message") {
  begin_staging();
  staging().fails = true;
  const Sample sample(hundred_columns(), kPlain);
  const auto options = copy_options();
  Array out;
  must_fail_saying(ENOMEM, "no staging memory", arrowdevice_array_copy, sample.host.get(), sample.schema.get(), sim(0),
                   &options, out.out());
}

// The driver of a device in another context does not know the memory.
TEST_CASE("a copy between two contexts goes through plain memory") {
  for (const bool is_one_context : {true, false}) {
    begin_staging(Peers::kNone);
    const Sample sample(hundred_columns(), kPlain);
    const Array first = copy(sample, sim(0));
    staging().is_one_context = is_one_context;
    staging().staged();
    const Array second = copy(*first, *sample.schema, sim(1));
    CHECK((staging().staged() > 0) == is_one_context);
    staging().is_one_context = true;
    CHECK(difference(sample, *copy(*second, *sample.schema, cpu())) == "");
  }
}

TEST_CASE("staging memory of a wrapped device is freed when the device is unwrapped") {
  begin_staging();
  int context = 0;
  auto native = sized<arrowdevice_native_device>();
  native.context = &context;
  auto* const wrapped = output_of(arrowdevice_device_wrap, ARROW_DEVICE_EXT_DEV, int64_t{1}, &native);
  const Sample sample(hundred_columns(), kPlain);
  copy(sample, wrapped);
  CHECK(staging().live() > 0);
  must(arrowdevice_device_unwrap, wrapped, ARROWDEVICE_NO_TIMEOUT);
  CHECK(staging().live() == 0);
}

}  // namespace

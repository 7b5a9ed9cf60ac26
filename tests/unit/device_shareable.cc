// SPDX-License-Identifier: Apache-2.0
// Tests pools of memory that other processes can open, on the CPU.
#include <arrowdevice/backend.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <vector>

#include "base/file_descriptor.h"
#include "cpu/cpu_backend.h"
#include "device/devices.h"
#include "device/pool.h"
#include "library.h"
#include "support/ending.h"

namespace {

using namespace library_test;  // NOLINT: what every line of these tests is written with
using arrowdevice::FileDescriptor;
using arrowdevice::device::Slabs;
using DevicePool = arrowdevice::device::Pool;

arrowdevice::device::Device& the_cpu() { return arrowdevice::device::Devices::instance().cpu(); }

arrowdevice_pool_options shareable_options() {
  arrowdevice_pool_options options{};
  options.struct_size = sizeof options;
  options.flags = ARROWDEVICE_POOL_SHAREABLE;
  return options;
}

std::shared_ptr<DevicePool> make_shareable_pool() {
  return std::make_shared<DevicePool>(the_cpu(), shareable_options(), DevicePool::kApplicationOwned);
}

using Allocation = arrowdevice::device::Allocation;

Allocation allocate(DevicePool& pool, int64_t size) {
  return pool.allocate(nullptr, size, arrowdevice::device::Holder::kApplication);
}

struct Exported {
  explicit Exported(const void* buffer)
      : block(the_cpu().shareable_location(buffer).value().block),
        record(the_cpu().memory_export(block)),
        file(record.descriptor) {}

  arrowdevice::device::ShareableBlock block;
  arrowdevice_memory_record record;
  FileDescriptor file;
};

template <typename Function>
std::string refusal(const Function& function) {
  try {
    function();
  } catch (const arrowdevice::Error& error) {
    return error.message();
  }
  return "";
}

std::string refused_import(int file, int32_t kind = ARROWDEVICE_MEMORY_DESCRIPTOR) {
  arrowdevice_memory_record record{};
  record.struct_size = sizeof record;
  record.kind = kind;
  record.descriptor = file;
  record.size = 1 << 20;
  return refusal([&] { the_cpu().memory_import(record); });
}

std::string refused_pool(arrowdevice::device::Device& device, const arrowdevice_pool_options& options) {
  return refusal([&] { DevicePool(device, options, DevicePool::kApplicationOwned); });
}

}  // namespace

TEST_CASE("a pool of shareable memory gives zeros that other processes map") {
  begin();
  const auto pool = make_shareable_pool();
  for (const int64_t size : {int64_t{1}, int64_t{700}, int64_t{200'000}, int64_t{5'000'000}}) {
    const Allocation allocation = allocate(*pool, size);
    auto* const bytes = static_cast<char*>(allocation.buffer());
    CHECK(std::count(bytes, bytes + size, 0) == size);
    bytes[size - 1] = 'x';
    const Exported exported(bytes);
    const int64_t offset = bytes - static_cast<char*>(exported.block.buffer);
    const auto opened = the_cpu().memory_import(exported.record);
    CHECK(opened.size >= offset + size);
    CHECK(opened.size == exported.record.size);
    CHECK(static_cast<const char*>(opened.buffer)[offset + size - 1] == 'x');
    bytes[size - 1] = 'y';
    CHECK(static_cast<const char*>(opened.buffer)[offset + size - 1] == 'y');
    the_cpu().memory_close(opened.buffer);
  }
}

TEST_CASE("exported memory can be neither resized nor written nor punched") {
  begin();
  const auto pool = make_shareable_pool();
  const Allocation allocation = allocate(*pool, 300'000);
  const Exported exported(allocation.buffer());
  const int file = exported.file.get();
  CHECK((fcntl(file, F_GETFD) & FD_CLOEXEC) != 0);
  CHECK(ftruncate(file, 4096) != 0);
  CHECK(ftruncate(file, exported.record.size + 4096) != 0);
  CHECK(pwrite(file, "x", 1, 0) != 1);
  CHECK(fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096) != 0);
  CHECK(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) == MAP_FAILED);
}

TEST_CASE("small blocks share allocations, and large ones have their own") {
  begin();
  const auto pool = make_shareable_pool();
  std::set<void*> small, large;
  std::vector<Allocation> allocations;
  for (int i = 0; i < 100; ++i) {
    allocations.push_back(allocate(*pool, 1000));
    small.insert(the_cpu().shareable_location(allocations.back().buffer())->block.buffer);
  }
  for (int i = 0; i < 3; ++i) {
    allocations.push_back(allocate(*pool, 300'000));
    large.insert(the_cpu().shareable_location(allocations.back().buffer())->block.buffer);
  }
  CHECK(small.size() == 1);
  CHECK(large.size() == 3);
  allocations.clear();
  CHECK(pool->stats().used_bytes == 0);
  pool->trim();
  CHECK(pool->stats().cached_bytes == 0);
  CHECK(!the_cpu().shareable_location(*small.begin()).has_value());
  CHECK(!the_cpu().shareable_location(*large.begin()).has_value());
}

TEST_CASE("blocks of slabs do not overlap, and empty slabs are given back") {
  Slabs slabs(false);
  std::vector<std::vector<char>> memory;
  const auto make = [&] { return memory.emplace_back(static_cast<size_t>(Slabs::kSlab)).data(); };
  std::vector<char*> blocks;
  for (const int64_t capacity : {int64_t{512}, int64_t{3072}, Slabs::kLargest}) {
    const auto of_a_slab = Slabs::kSlab / capacity;
    for (int64_t i = 0; i <= of_a_slab; ++i) {
      blocks.push_back(static_cast<char*>(slabs.allocate(capacity, make)));
      std::fill(blocks.back(), blocks.back() + capacity, static_cast<char>(blocks.size()));
    }
  }
  CHECK(memory.size() == 6);
  size_t number = 0;
  for (char* const block : blocks) CHECK(*block == static_cast<char>(++number));
  std::set<void*> given_back;
  for (char* const block : blocks) {
    const auto freed = slabs.free(block);
    CHECK(freed.is_of_slab);
    if (freed.slab != nullptr) given_back.insert(freed.slab);
  }
  CHECK(given_back.size() == 6);
  CHECK(!slabs.free(&slabs).is_of_slab);
}

TEST_CASE("memory that its owner could remove is refused") {
  begin();
  const FileDescriptor unsealed(memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  REQUIRE(ftruncate(unsealed.get(), 8192) == 0);
  CHECK(contains(refused_import(unsealed.get()), "not sealed"));
  constexpr int kSealFutureWrite = 16;
  REQUIRE(fcntl(unsealed.get(), F_ADD_SEALS, F_SEAL_SHRINK | kSealFutureWrite) == 0);
  CHECK(contains(refused_import(unsealed.get()), "lacks pages: it has 0 of 8192 bytes"));
  const FileDescriptor empty(memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  REQUIRE(fcntl(empty.get(), F_ADD_SEALS, F_SEAL_SHRINK | kSealFutureWrite) == 0);
  CHECK(contains(refused_import(empty.get()), "no bytes"));
  const FileDescriptor file(open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  CHECK(contains(refused_import(file.get()), "no memfd"));
  CHECK(contains(refused_import(-1), "by a descriptor"));
  CHECK(contains(refused_import(unsealed.get(), ARROWDEVICE_MEMORY_BYTES), "kind 2"));
}

TEST_CASE("a forked child uses no shareable memory of its parent again") {
  begin();
  const auto pool = make_shareable_pool();
  Allocation cached = allocate(*pool, 300'000);
  Allocation small = allocate(*pool, 1000);
  Allocation kept = allocate(*pool, 1000);
  const Allocation never_released = allocate(*pool, 1000);
  auto* const kept_bytes = static_cast<char*>(kept.buffer());
  std::memset(small.buffer(), 'p', 1000);
  std::memset(kept_bytes, 'p', 1000);
  const std::set<void*> of_parent{cached.buffer(), small.buffer(), kept_bytes};
  cached.reset();
  small.reset();
  const pid_t child = fork();
  if (child == 0) {
    const bool reads = kept_bytes[999] == 'p';
    const bool exports = the_cpu().shareable_location(kept_bytes).has_value();
    kept.reset();
    std::vector<Allocation> fresh;
    const auto is_fresh = [&](int64_t size) {
      auto* const bytes = static_cast<char*>(fresh.emplace_back(allocate(*pool, size)).buffer());
      return !of_parent.contains(bytes) && *std::max_element(bytes, bytes + size) == 0;
    };
    const bool are_fresh = is_fresh(300'000) && is_fresh(1000) && is_fresh(1000);
    int64_t used = 0;
    for (const Allocation& one : fresh) used += one.capacity();
    const bool counts_own = pool->stats().used_bytes == used;
    end_child(reads && !exports && are_fresh && counts_own ? 0 : 1);
  }
  REQUIRE(child > 0);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  CHECK(kept_bytes[999] == 'p');
}

TEST_CASE("pools of shareable memory have no allocator") {
  begin();
  auto options = shareable_options();
  options.allocate = [](void*, int64_t, int64_t, void*, void**) { return ENOMEM; };
  options.deallocate = [](void*, void*, int64_t, void*) {};
  CHECK(contains(refused_pool(the_cpu(), options), "rule each other out"));
}

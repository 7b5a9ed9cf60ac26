// SPDX-License-Identifier: Apache-2.0
// Memory that other processes can open, through the functions of the backend's table. Each case has its own process.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "base/file_descriptor.h"
#include "drivers/cuda/own_context.h"
#include "drivers/table.h"
#include "support/catch.h"

namespace {

using namespace drivers;  // NOLINT: what every line of these tests is written with
using arrowdevice::FileDescriptor;

constexpr int64_t kSize = 1000;
constexpr int64_t kGranularity = 2 << 20;

void* gpu(int64_t id) { return open(vendor().device, id); }

void* allocate_shareable(void* device) {
  void* memory = nullptr;
  must(table().shareable_allocate, device, nullptr, kSize, int64_t{64}, &memory);
  return memory;
}

void free_shareable(void* device, void* memory) { table().shareable_free(device, nullptr, memory); }

arrowdevice_memory_record exported(void* device, const void* memory) {
  arrowdevice_memory_record record{};
  record.struct_size = sizeof record;
  record.descriptor = -1;
  must(table().memory_export, device, memory, &record);
  return record;
}

std::vector<char> bytes_of(void* device, const void* memory, int64_t size = kSize) {
  std::vector<char> bytes(static_cast<size_t>(size), 'x');
  void* const queue = create_queue(device);
  copy(queue, region(nullptr, bytes.data(), device, memory, size));
  finish(queue);
  table().queue_destroy(queue);
  return bytes;
}

void write(void* device, void* memory, const std::vector<char>& bytes) {
  void* const queue = create_queue(device);
  copy(queue, region(device, memory, nullptr, bytes.data(), std::ssize(bytes)));
  finish(queue);
  table().queue_destroy(queue);
}

// Returns the reason why a record is refused with EINVAL.
std::string refusal(void* device, const arrowdevice_memory_record& record) {
  arrowdevice_error error{};
  void* memory = nullptr;
  int64_t size = 0;
  const int code = table().memory_import(device, &record, &memory, &size, &error);
  expect(code == EINVAL && memory == nullptr, "code " + std::to_string(code) + ": " + error.message);
  return error.message;
}

TEST_CASE("shareable memory is the same where it is opened, and contains zeros at first") {
  CHECK(in_own_process([] {
          const int64_t before = drivers::live_allocations();
          void* const memory = allocate_shareable(gpu(0));
          expect(bytes_of(gpu(0), memory) == std::vector<char>(kSize, 0), "it does not contain zeros");
          const auto record = exported(gpu(0), memory);
          const FileDescriptor descriptor(record.descriptor);
          expect(record.kind == ARROWDEVICE_MEMORY_DESCRIPTOR && record.size == kGranularity, "another record");
          expect(::fcntl(descriptor.get(), F_GETFD) == FD_CLOEXEC, "the descriptor stays open on exec");
          void* opened = nullptr;
          int64_t size = 0;
          must(table().memory_import, gpu(0), &record, &opened, &size);
          expect(size == kGranularity && opened != memory, "another size, or the same address");
          const std::vector<char> written(kSize, 'a');
          write(gpu(0), memory, written);
          expect(bytes_of(gpu(0), opened) == written, "it is other memory");
          free_shareable(gpu(0), memory);
          expect(bytes_of(gpu(0), opened) == written, "it was freed with its first mapping");
          table().memory_close(gpu(0), opened);
          expect(drivers::live_allocations() == before, "memory is left");
        }) == "");
}

TEST_CASE("records that lie about memory are refused with the reason") {
  CHECK(in_own_process([] {
          const int64_t before = drivers::live_allocations();
          void* const memory = allocate_shareable(gpu(0));
          const auto record = exported(gpu(0), memory);
          const FileDescriptor descriptor(record.descriptor);
          auto changed = record;
          for (const int64_t size : {int64_t{0}, int64_t{-1}, int64_t{1}, kGranularity + 1}) {
            changed.size = size;
            expect(contains(refusal(gpu(0), changed), "no multiple of 2097152"), "a size");
          }
          changed.size = 2 * kGranularity;
          expect(contains(refusal(gpu(0), changed), "the memory has less than"), "a size beyond the memory");
          changed.size = INT64_MAX - INT64_MAX % kGranularity;
          arrowdevice_error error{};
          void* none = nullptr;
          int64_t size = 0;
          expect(table().memory_import(gpu(0), &changed, &none, &size, &error) != 0, "a size beyond all memory");
          changed = record;
          changed.kind = ARROWDEVICE_MEMORY_BYTES;
          expect(contains(refusal(gpu(0), changed), "the record has kind 2"), "a kind");
          const FileDescriptor file(::memfd_create("other", MFD_CLOEXEC));
          expect(::ftruncate(file.get(), kGranularity) == 0, "no file");
          for (const int number : {file.get(), 12345}) {
            changed = record;
            changed.descriptor = number;
            expect(contains(refusal(gpu(0), changed), "is no memory of a GPU"), "a descriptor");
          }
          arrowdevice_memory_record none_at_all{};
          const int code = table().memory_export(gpu(0), static_cast<char*>(memory) + 64, &none_at_all, &error);
          expect(code == EINVAL && contains(error.message, "is not the start"), error.message);
          free_shareable(gpu(0), memory);
          expect(drivers::live_allocations() == before, "memory is left");
        }) == "");
}

TEST_CASE("a GPU that can be a peer copies shareable memory in place") {
  for (const char* const peers : {"1", "0"}) {
    ::setenv("STANDIN_PEERS", peers, 1);
    const bool are_peers = *peers == '1';
    CHECK(in_own_process([are_peers] {
            void* const memory = allocate_shareable(gpu(0));
            void* const there = drivers::allocate(gpu(1), kSize);
            const std::vector<char> written(kSize, 'b');
            write(gpu(0), memory, written);
            const std::string naming_both = is_cuda() ? "cuMemcpyPeerAsync" : "hipMemcpyPeerAsync";
            const int64_t named = calls(naming_both);
            void* const queue = create_queue(gpu(1));
            copy(queue, region(gpu(1), there, gpu(0), memory, kSize));
            finish(queue);
            table().queue_destroy(queue);
            expect((calls(naming_both) == named) == are_peers, "another kind of copy");
            expect(bytes_of(gpu(1), there) == written, "the bytes are not there");
            drivers::free_memory(gpu(1), there);
            free_shareable(gpu(0), memory);
          }) == "");
  }
  ::unsetenv("STANDIN_PEERS");
}

void check_has_none(void* device) {
  arrowdevice_device_info info{};
  info.struct_size = sizeof info;
  must(table().device_get_info, device, &info);
  expect((info.flags & ARROWDEVICE_DEVICE_SHAREABLE) == 0, "the flag");
  arrowdevice_error error{};
  void* memory = nullptr;
  expect(table().shareable_allocate(device, nullptr, kSize, 64, &memory, &error) == ENOTSUP, error.message);
}

TEST_CASE("pinned memory and an application's context have no shareable memory") {
  CHECK(in_own_process([] { check_has_none(open(vendor().pinned, 0)); }) == "");
  if (!is_cuda()) return;  // HIP has no contexts
  CHECK(in_own_process([] {
          const drivers::cuda::Context mine(0);
          void* const wrapped = wrap(ARROW_DEVICE_CUDA, 0, drivers::cuda::handles_of(mine.get()));
          check_has_none(wrapped);
          must(table().device_unwrap, wrapped);
        }) == "");
}

}  // namespace

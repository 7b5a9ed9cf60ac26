// SPDX-License-Identifier: Apache-2.0
// Tests memory that leaves the process as an opaque descriptor, and records of other processes that lie about it. The
// tests call the functions of the backend.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <string>

#include "base/file_descriptor.h"
#include "drivers/vulkan/driver_control.h"
#include "drivers/vulkan/table.h"
#include "support/calls.h"
#include "support/catch.h"

namespace {

using arrowdevice::FileDescriptor;
using arrowdevice::testing::must;
using arrowdevice::testing::output_of;
using arrowdevice::testing::sized;
using vulkan_test::Bytes;
using vulkan_test::device;
using vulkan_test::driver;
using vulkan_test::pattern;
using vulkan_test::table;

constexpr int64_t kSize = 64 << 10;
constexpr int64_t kAlignment = 64;

int64_t open_descriptors() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator());
}

void copy(const arrowdevice_backend_region& region) {
  void* const queue = output_of(table().queue_create, device());
  must(table().queue_copy, queue, &region, int64_t{1});
  void* const event = output_of(table().event_record, queue);
  must(table().event_wait, event, ARROWDEVICE_NO_TIMEOUT);
  table().event_destroy(event);
  table().queue_destroy(queue);
}

Bytes bytes_of(const void* buffer, int64_t size = kSize) {
  Bytes bytes(static_cast<size_t>(size), 'x');
  copy({nullptr, bytes.data(), 0, device(), buffer, 0, size, 0});
  return bytes;
}

// Memory that other processes can open, and its record.
class Exported {
 public:
  explicit Exported(int64_t size = kSize) {
    buffer_ = output_of(table().shareable_allocate, device(), nullptr, size, kAlignment);
    record_ = sized<arrowdevice_memory_record>();
    record_.descriptor = -1;
    must(table().memory_export, device(), buffer_, &record_);
    descriptor_ = FileDescriptor(record_.descriptor);
  }
  ~Exported() { table().shareable_free(device(), nullptr, buffer_); }
  Exported(const Exported&) = delete;
  Exported& operator=(const Exported&) = delete;

  void* buffer() const { return buffer_; }
  const arrowdevice_memory_record& record() const { return record_; }

 private:
  void* buffer_ = nullptr;
  arrowdevice_memory_record record_;
  FileDescriptor descriptor_;
};

void* open(const arrowdevice_memory_record& record) {
  void* opened = nullptr;
  int64_t size = 0;
  must(table().memory_import, device(), &record, &opened, &size);
  CHECK(size == record.size);
  return opened;
}

// Checks that a record is refused with EINVAL and the reason, and that nothing is left of the attempt.
void check_refused(const arrowdevice_memory_record& record, const std::string& reason) {
  const int64_t objects = driver().live();
  const int64_t descriptors = open_descriptors();
  arrowdevice_error error{};
  void* opened = nullptr;
  int64_t size = 0;
  const int code = table().memory_import(device(), &record, &opened, &size, &error);
  INFO(error.message);
  CHECK(code == EINVAL);
  CHECK(std::string(error.message).find(reason) != std::string::npos);
  CHECK(opened == nullptr);
  CHECK(driver().live() == objects);
  CHECK(open_descriptors() == descriptors);
}

TEST_CASE("an opaque descriptor opens the same memory, which contains zeros at first") {
  device();
  const int64_t descriptors = open_descriptors();
  {
    const Exported memory;
    CHECK((bytes_of(memory.buffer()) == Bytes(kSize)));
    CHECK(memory.record().kind == ARROWDEVICE_MEMORY_DESCRIPTOR);
    CHECK(memory.record().size >= kSize);
    CHECK(::fcntl(memory.record().descriptor, F_GETFD) == FD_CLOEXEC);
    void* const opened = open(memory.record());
    CHECK(opened != memory.buffer());
    const Bytes written = pattern(kSize, 1);
    copy({device(), memory.buffer(), 0, nullptr, written.data(), 0, kSize, 0});
    CHECK((bytes_of(opened) == written));
    table().memory_close(device(), opened);
  }
  CHECK(open_descriptors() == descriptors);
}

TEST_CASE("another process reads zeros behind the bytes that were asked for") {
  for (const int64_t size : {1, 1000, 1001}) {
    INFO(size << " bytes");
    const Exported memory(size);
    CHECK(memory.record().size >= size);
    void* const opened = open(memory.record());
    CHECK((bytes_of(opened, memory.record().size) == Bytes(static_cast<size_t>(memory.record().size))));
    table().memory_close(device(), opened);
  }
}

TEST_CASE("only the start of a process's own shareable memory can be exported") {
  const Exported memory;
  void* const part = output_of(table().sub_buffer_create, device(), memory.buffer(), int64_t{0}, int64_t{64});
  void* const opened = open(memory.record());
  void* const plain = output_of(table().buffer_allocate, device(), nullptr, kSize, kAlignment);
  for (void* const buffer : {part, opened, plain}) {
    auto record = sized<arrowdevice_memory_record>();
    record.descriptor = -1;
    arrowdevice_error error{};
    CHECK(table().memory_export(device(), buffer, &record, &error) == EINVAL);
    CHECK(std::string(error.message).find("is no memory that other processes can open") != std::string::npos);
    CHECK(record.descriptor == -1);
  }
  table().buffer_free(device(), nullptr, plain);
  table().memory_close(device(), opened);
  table().sub_buffer_destroy(device(), part);
}

TEST_CASE("a record with numbers that are not those of the memory is refused") {
  const Exported memory;
  auto record = memory.record();
  for (const int32_t kind : {0, ARROWDEVICE_MEMORY_BYTES, 3}) {
    record.kind = kind;
    check_refused(record, "the record has kind " + std::to_string(kind));
  }
  record = memory.record();
  record.driver_uuid[15] ^= 1;
  check_refused(record, "it is of another driver");
  record = memory.record();
  for (const uint32_t type : {record.memory_type + 1, 32U, UINT32_MAX}) {
    record.memory_type = type;
    check_refused(record, "type " + std::to_string(type));
  }
  record = memory.record();
  for (const int64_t size : {int64_t{0}, int64_t{-1}, INT64_MIN, int64_t{1}, record.size + 1, record.size * 2,
                             int64_t{1} << 40, INT64_MAX}) {
    record.size = size;
    check_refused(record, std::to_string(size));
  }
  table().memory_close(device(), open(memory.record()));  // the record itself is good
}

FileDescriptor file_of(FileDescriptor file, int64_t size) {
  REQUIRE(file);
  REQUIRE(::ftruncate(file.get(), size) == 0);
  return file;
}

TEST_CASE("a descriptor that is no memory of the driver is refused") {
  const Exported memory;
  auto record = memory.record();
  const auto refused = [&](int number, const std::string& reason) {
    INFO("descriptor " << number);
    record.descriptor = number;
    check_refused(record, reason);
  };
  const std::string kReason = "is no memory of this driver";
  refused(-1, "the record has kind 1 and descriptor -1");
  refused(12345, "descriptor 12345: Bad file descriptor");
  const auto foreign = file_of(FileDescriptor(::memfd_create("other", MFD_CLOEXEC)), 1 << 20);
  refused(foreign.get(), kReason);
  const auto small = file_of(FileDescriptor(::memfd_create("other", MFD_CLOEXEC)), kSize - 1);
  refused(small.get(), "has 65535 bytes");
  const FileDescriptor plain = file_of(FileDescriptor(::dup(::fileno(std::tmpfile()))), 1 << 20);
  refused(plain.get(), kReason);
  std::array<int, 2> ends{};
  REQUIRE(::pipe(ends.data()) == 0);
  const FileDescriptor in(ends[0]), out(ends[1]);
  refused(in.get(), "is a pipe or a socket");
  refused(out.get(), "is a pipe or a socket");
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) == 0);
  const FileDescriptor one(ends[0]), other(ends[1]);
  refused(one.get(), "is a pipe or a socket");
  const FileDescriptor folder(::open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  refused(folder.get(), kReason);
  const FileDescriptor null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  refused(null.get(), kReason);
}

TEST_CASE("a failure of the driver leaves no descriptor and no object") {
  constexpr int32_t kOutOfDeviceMemory = -2;
  const Exported memory;
  const int64_t objects = driver().live();
  const int64_t descriptors = open_descriptors();
  const auto fails = [&](const char* call, auto&& attempt) {
    INFO(call);
    driver().fail(call, 1, kOutOfDeviceMemory);
    arrowdevice_error error{};
    CHECK(attempt(&error) == ENOMEM);
    driver().fail(nullptr, 0, 0);
    CHECK(std::string(error.message).find(call) != std::string::npos);
    CHECK(driver().live() == objects);
    CHECK(open_descriptors() == descriptors);
  };
  for (const char* const call : {"vkCreateBuffer", "vkAllocateMemory", "vkBindBufferMemory"}) {
    fails(call, [&](arrowdevice_error* error) {
      void* opened = nullptr;
      int64_t size = 0;
      return table().memory_import(device(), &memory.record(), &opened, &size, error);
    });
  }
  fails("vkGetMemoryFdKHR", [&](arrowdevice_error* error) {
    auto record = sized<arrowdevice_memory_record>();
    record.descriptor = -1;
    return table().memory_export(device(), memory.buffer(), &record, error);
  });
}

}  // namespace

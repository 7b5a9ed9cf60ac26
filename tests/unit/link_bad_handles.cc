// SPDX-License-Identifier: Apache-2.0
// Handles of hostile processes are refused, and cost nothing.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "link/handle_message.h"
#include "link_peer.h"

namespace {

using namespace link_test;  // NOLINT: what every line of these tests is written with
using arrowdevice::link::HandleMessage;
using arrowdevice::link::read_handle;
using arrowdevice::link::write_handle;

// A handle of a batch with a column of numbers, one of texts and one of text views.
struct Fixture {
  Fixture()
      : sample(struct_of({field("l").named("n"), field("u").named("t"), field("vu").named("v")}).not_null(),
               {.rows = 40, .nulls = Nulls::kSome}),
        handle(received(*get_handle(sample.host, sample.schema))),
        message(read_handle(handle.bytes)) {}

  std::string refusal() const { return refused_open(write_handle(message), handle.numbers()); }

  Sample sample;
  Received handle;
  HandleMessage message;
};

// Opens, validates and copies the array of a handle. Each of these may be refused. The reader of the tests must accept
// what the library has validated.
void use_if_opened(const std::vector<uint8_t>& bytes, const std::vector<int>& descriptors) {
  for (const uint32_t flags : {uint32_t{0}, uint32_t{ARROWDEVICE_COPY_ALWAYS}}) {
    const auto options = copy_options(flags);
    Opened opened;
    if (arrowdevice_array_open_ipc_handle(bytes.data(), std::ssize(bytes), descriptors.data(), std::ssize(descriptors),
                                          &options, opened.array.out(), opened.schema.out(), nullptr) != 0) {
      continue;
    }
    const bool is_valid = arrowdevice_array_validate(opened.array.get(), opened.schema.get(), nullptr,
                                                     ARROWDEVICE_VALIDATE_FULL, nullptr) == 0;
    Array copied;
    const bool is_copied =
        arrowdevice_array_copy(opened.array.get(), opened.schema.get(), cpu(), nullptr, copied.out(), nullptr) == 0;
    if (!is_valid) continue;
    CHECK(problem(*opened.schema, opened.array->array) == "");
    if (is_copied) CHECK(difference(*opened.schema, opened.array->array, *opened.schema, copied->array) == "");
  }
}

TEST_CASE("a handle that is cut, changed or longer is refused or harmless") {
  begin();
  const Fixture fixture;
  const auto numbers = fixture.handle.numbers();
  const int64_t before = open_descriptors();
  for (size_t size = 0; size < fixture.handle.bytes.size(); ++size) {
    const std::vector<uint8_t> cut(fixture.handle.bytes.begin(),
                                   fixture.handle.bytes.begin() + static_cast<ptrdiff_t>(size));
    INFO(size);
    CHECK(refused_open(cut, numbers) != "");
  }
  auto longer = fixture.handle.bytes;
  longer.push_back(0);
  CHECK(contains(refused_open(longer, numbers), "1 bytes too many"));
  for (size_t i = 0; i < fixture.handle.bytes.size(); ++i) {
    for (const uint8_t changed : {uint8_t{0xff}, uint8_t{0x80}, uint8_t{1}}) {
      auto bytes = fixture.handle.bytes;
      bytes[i] ^= changed;
      use_if_opened(bytes, numbers);
    }
  }
  CHECK(open_descriptors() == before);
  CHECK(refused_open(fixture.handle.bytes, numbers) == "");
}

TEST_CASE("numbers that do not fit the memory are refused with the field's path") {
  begin();
  Fixture fixture;
  const HandleMessage good = fixture.message;
  const auto refusal = [&](const std::function<void(HandleMessage&)>& spoil) {
    fixture.message = good;
    spoil(fixture.message);
    return fixture.refusal();
  };
  CHECK(refusal([](HandleMessage&) {}) == "");
  CHECK(contains(refusal([](auto& m) { m.buffers[2].offset = int64_t{1} << 40; }), "batch.n: the buffer with offset"));
  CHECK(contains(refusal([](auto& m) { m.buffers[2].length = INT64_MAX; }), "is outside of its allocation"));
  CHECK(contains(refusal([](auto& m) { m.buffers[2].length = -1; }), "is not possible"));
  CHECK(contains(refusal([](auto& m) { m.buffers[2].allocation = 5; }), "is in allocation 5 of 1"));
  CHECK(contains(refusal([](auto& m) { m.buffers[2].allocation = -2; }), "is in allocation -2"));
  CHECK(contains(refusal([](auto& m) { m.buffers[2].allocation = -1; }), "has no allocation"));
  CHECK(contains(refusal([](auto& m) { m.buffers[2].length = 319; }), "batch.n: buffer 1 has 319 bytes"));
  CHECK(contains(refusal([](auto& m) { m.nodes[1].length = 1 << 20; }), "bytes, and the array needs"));
  CHECK(contains(refusal([](auto& m) { m.nodes[1].length = -1; }), "batch.n: length is -1"));
  CHECK(contains(refusal([](auto& m) { m.nodes[1].offset = INT64_MAX; }), "overflow"));
  CHECK(contains(refusal([](auto& m) { m.nodes[1].n_buffers = 3; }), "buffers"));
  CHECK(contains(refusal([](auto& m) { m.nodes[1].n_buffers = -1; }), "n_buffers is -1"));
  CHECK(contains(refusal([](auto& m) { m.nodes[1].n_buffers = 1 << 30; }), "buffers of the message are left"));
  CHECK(contains(refusal([](auto& m) { m.nodes.pop_back(); }), "the message has 3 nodes (expected 4)"));
  CHECK(contains(refusal([](auto& m) { m.nodes[0].length = 41; }), "batch"));
  CHECK(contains(refusal([](auto& m) { m.buffers.push_back({}); }), "buffers (expected"));
  CHECK(contains(refusal([](auto& m) { m.buffers[4].length = 100; }), "batch.t: buffer 1 has 100 bytes"));
  CHECK(contains(refusal([](auto& m) { m.buffers[5].length = 1; }), "batch.t: buffer 2 has 1 bytes"));
  CHECK(contains(refusal([](auto& m) { m.schema.clear(); }), "a message of 0 bytes"));
  CHECK(contains(refusal([](auto& m) { m.allocations[0].descriptor = 7; }), "refers to descriptor 7"));
  CHECK(contains(refusal([](auto& m) { m.allocations[0].descriptor = 0; }), "no memfd"));
  CHECK(contains(refusal([](auto& m) { m.allocations[0].kind = 9; }), "kind 9"));
  CHECK(contains(refusal([](auto& m) { m.allocations.resize(32, m.allocations[0]); }), "32 allocations (at most 31)"));
  CHECK(contains(refusal([](auto& m) { m.device_type = ARROW_DEVICE_METAL; }), "is on a metal device"));
  CHECK(contains(refusal([](auto& m) {
                   m.device_type = ARROW_DEVICE_EXT_DEV;
                   m.device_uuid[0] = 0xab;
                 }),
                 "UUID ab00000000"));
}

TEST_CASE("descriptors that are missing or are something else are refused") {
  begin();
  const Fixture fixture;
  const auto numbers = fixture.handle.numbers();
  CHECK(contains(refused_open(fixture.handle.bytes, {}), "NULL"));
  CHECK(contains(refused_open(fixture.handle.bytes, {numbers[0]}), "refers to descriptor 1, and there are 1"));
  CHECK(contains(refused_open(fixture.handle.bytes, {numbers[1], numbers[0]}), "is no pipe"));
  CHECK(contains(refused_open(fixture.handle.bytes, {-1, numbers[1]}), "of its parent"));
  const FileDescriptor file(open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  CHECK(contains(refused_open(fixture.handle.bytes, {numbers[0], file.get()}), "no memfd"));
  const FileDescriptor unsealed(memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  CHECK(contains(refused_open(fixture.handle.bytes, {numbers[0], unsealed.get()}), "not sealed"));
  auto bytes = fixture.handle.bytes;
  bytes[8] = 2;
  int code = 0;
  CHECK(contains(refused_open(bytes, numbers, &code), "the handle has version 2"));
  CHECK(code == ENOTSUP);
}

#ifndef IS_SANITIZED  // the undefined sanitizer opens pipes to check memory
TEST_CASE("at the limit of descriptors, handles are refused and nothing is lost") {
  begin();
  Sample sample(field("u"), kPlain);
  const Fixture fixture;
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_NOFILE, &before) == 0);
  const auto forbid_more = [&] {
    const FileDescriptor next(open("/dev/null", O_RDONLY | O_CLOEXEC));
    const rlimit none{static_cast<rlim_t>(next.get()), before.rlim_max};
    REQUIRE(setrlimit(RLIMIT_NOFILE, &none) == 0);
  };
  forbid_more();
  Handle none;
  const auto* const options = static_cast<const arrowdevice_copy_options*>(nullptr);
  arrowdevice_error error{};
  const int code =
      arrowdevice_array_get_ipc_handle(sample.host.get(), sample.schema.get(), options, none.out(), &error);
  int open_code = 0;
  const std::string why = refused_open(fixture.handle.bytes, fixture.handle.numbers(), &open_code);
  REQUIRE(setrlimit(RLIMIT_NOFILE, &before) == 0);
  CHECK(code == EMFILE);
  CHECK(open_code == EMFILE);
  CHECK(contains(why, "descriptor"));
  CHECK(difference(sample, *sample.host) == "");
  CHECK(difference(sample, *open_received(received(*get_handle(sample.host, sample.schema))).array) == "");
}
#endif

}  // namespace

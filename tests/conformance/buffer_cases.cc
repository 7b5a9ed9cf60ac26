// SPDX-License-Identifier: Apache-2.0
// Buffers and copies of bytes.
#include <cerrno>
#include <cstdint>
#include <limits>

#include "conformance/bytes.h"

namespace arrowdevice::conformance {

namespace {

void keeps_bytes(Subject& subject) {
  const Queue queue = subject.queue();
  for (const int64_t size : {1, 3, 64, 4'096, 100'003, 1 << 20}) {
    const Bytes sent = pattern(size);
    Bytes received(sent.size());
    const DeviceBuffer buffer(subject.device(), size);
    enqueue(queue.get(), {region_in(subject.device(), buffer.get(), 0, sent.data(), size)});
    enqueue(queue.get(), {region_out(received.data(), subject.device(), buffer.get(), 0, size)});
    finish(queue.get());
    expect(received == sent, std::to_string(size) + " bytes came back changed");
  }
}

void copies_regions_at_offsets(Subject& subject) {
  const Queue queue = subject.queue();
  const Bytes first = pattern(100, 1);
  const Bytes second = pattern(57, 2);
  const Bytes blank = pattern(1'000, 3);
  const DeviceBuffer buffer(subject.device(), 1'000);
  enqueue(queue.get(), {region_in(subject.device(), buffer.get(), 0, blank.data(), 1'000)});
  enqueue(queue.get(), {region_in(subject.device(), buffer.get(), 17, first.data(), 100),
                        region_in(subject.device(), buffer.get(), 943, second.data(), 57)});
  Bytes whole(1'000);
  Bytes part(57);
  enqueue(queue.get(), {region_out(whole.data(), subject.device(), buffer.get(), 0, 1'000),
                        region_out(part.data(), subject.device(), buffer.get(), 943, 57)});
  finish(queue.get());
  Bytes expected = blank;
  std::copy(first.begin(), first.end(), expected.begin() + 17);
  std::copy(second.begin(), second.end(), expected.begin() + 943);
  expect(whole == expected, "regions did not land where they belong");
  expect(part == second, "a region was not read from where it lies");
}

void copies_within_the_device(Subject& subject) {
  const Queue queue = subject.queue();
  const Bytes sent = pattern(5'000);
  const DeviceBuffer from(subject.device(), 5'000);
  const DeviceBuffer to(subject.device(), 5'000);
  enqueue(queue.get(), {region_in(subject.device(), from.get(), 0, sent.data(), 5'000)});
  arrowdevice_copy_region inside{};
  inside.dst_device = inside.src_device = subject.device();
  inside.dst = to.get();
  inside.dst_offset = 1'001;
  inside.src = from.get();
  inside.src_offset = 7;
  inside.size = 3'000;
  enqueue(queue.get(), {inside});
  Bytes received(3'000);
  enqueue(queue.get(), {region_out(received.data(), subject.device(), to.get(), 1'001, 3'000)});
  finish(queue.get());
  expect(received == Bytes(sent.begin() + 7, sent.begin() + 3'007), "bytes copied within the device changed");
}

void copies_many_regions_at_once(Subject& subject) {
  constexpr int64_t kPieces = 1'000;
  constexpr int64_t kPiece = 61;
  const Queue queue = subject.queue();
  const Bytes sent = pattern(kPieces * kPiece);
  Bytes received(sent.size());
  const DeviceBuffer buffer(subject.device(), kPieces * kPiece);
  std::vector<arrowdevice_copy_region> in;
  std::vector<arrowdevice_copy_region> out;
  for (int64_t i = 0; i < kPieces; ++i) {
    // Turned round, so that the order of the pieces shows.
    const int64_t at = (kPieces - 1 - i) * kPiece;
    in.push_back(region_in(subject.device(), buffer.get(), at, sent.data() + i * kPiece, kPiece));
    out.push_back(region_out(received.data() + i * kPiece, subject.device(), buffer.get(), at, kPiece));
  }
  enqueue(queue.get(), in);
  enqueue(queue.get(), out);
  finish(queue.get());
  expect(received == sent, "a thousand regions came back changed");
}

void is_aligned(Subject& subject) {
  if ((subject.info().flags & ARROWDEVICE_DEVICE_ADDRESSES) == 0) return;
  std::vector<DeviceBuffer> buffers;
  for (const int64_t size : {1, 7, 63, 65, 1'000, 100'000}) {
    buffers.emplace_back(subject.device(), size);
    const auto address = reinterpret_cast<uintptr_t>(buffers.back().get());
    expect(address % static_cast<uintptr_t>(subject.info().buffer_alignment) == 0, "a buffer is not aligned");
  }
}

void has_parts(Subject& subject) {
  const int64_t step = subject.info().sub_buffer_alignment;
  const int64_t size = 4 * step + 100;
  const Queue queue = subject.queue();
  const Bytes sent = pattern(size);
  const DeviceBuffer buffer(subject.device(), size);
  enqueue(queue.get(), {region_in(subject.device(), buffer.get(), 0, sent.data(), size)});
  for (const int64_t offset : {int64_t{0}, step, 3 * step}) {
    void* part = nullptr;
    succeed([&](auto* error) {
      return arrowdevice_sub_buffer_create(subject.device(), buffer.get(), offset, 50, &part, error);
    });
    Bytes received(40);
    enqueue(queue.get(), {region_out(received.data(), subject.device(), part, 10, 40)});
    finish(queue.get());
    arrowdevice_sub_buffer_destroy(subject.device(), part);
    expect(received == Bytes(sent.begin() + offset + 10, sent.begin() + offset + 50), "a part holds other bytes");
  }
}

void frees_behind_a_queue(Subject& subject) {
  const Queue queue = subject.queue();
  const Bytes sent = pattern(300'000);
  Bytes received(sent.size());
  DeviceBuffer buffer(subject.device(), 300'000, nullptr, queue.get());
  enqueue(queue.get(), {region_in(subject.device(), buffer.get(), 0, sent.data(), buffer.size())});
  enqueue(queue.get(), {region_out(received.data(), subject.device(), buffer.get(), 0, buffer.size())});
  buffer.free_after(queue.get());
  // What comes next may get the same memory, on another queue too: it must not be in the way of the copies above.
  const Queue other = subject.queue();
  const Bytes different = pattern(300'000, 2);
  const DeviceBuffer next(subject.device(), 300'000, nullptr, other.get());
  enqueue(other.get(), {region_in(subject.device(), next.get(), 0, different.data(), next.size())});
  finish(other.get());
  finish(queue.get());
  expect(received == sent, "memory was used again before the queue that it was freed behind was done with it");
}

void refuses_nonsense(Subject& subject) {
  void* memory = &subject;
  for (const int64_t size : {int64_t{0}, int64_t{-1}, std::numeric_limits<int64_t>::min()}) {
    refuse(EINVAL, [&](auto* error) {
      return arrowdevice_buffer_allocate(subject.device(), nullptr, nullptr, size, &memory, error);
    });
    expect(memory == nullptr, "a failed allocation gave something");
  }
  refuse(ENOMEM, [&](auto* error) {
    return arrowdevice_buffer_allocate(subject.device(), nullptr, nullptr, int64_t{1} << 60, &memory, error);
  });
  arrowdevice_buffer_free(subject.device(), nullptr, nullptr);

  const Queue queue = subject.queue();
  const DeviceBuffer buffer(subject.device(), 64);
  Bytes host(64);
  arrowdevice_copy_region region = region_in(subject.device(), buffer.get(), 0, host.data(), -1);
  refuse(EINVAL, [&](auto* error) { return arrowdevice_queue_copy(queue.get(), &region, 1, error); });
  region = region_in(subject.device(), buffer.get(), -8, host.data(), 8);
  refuse(EINVAL, [&](auto* error) { return arrowdevice_queue_copy(queue.get(), &region, 1, error); });
  region = region_out(host.data(), subject.device(), buffer.get(), -8, 8);
  refuse(EINVAL, [&](auto* error) { return arrowdevice_queue_copy(queue.get(), &region, 1, error); });
  succeed([&](auto* error) { return arrowdevice_queue_copy(queue.get(), nullptr, 0, error); });
  finish(queue.get());
}

}  // namespace

std::span<const Case> buffer_cases() {
  static constexpr Case kCases[] = {
      {"bytes copied to a buffer and back are the same", kNeedsNothing, keeps_bytes},
      {"regions are copied from and to their offsets", kNeedsNothing, copies_regions_at_offsets},
      {"bytes are copied within the device", kNeedsNothing, copies_within_the_device},
      {"a thousand regions are copied in one call", kNeedsNothing, copies_many_regions_at_once},
      {"buffers are aligned as the device says", kNeedsNothing, is_aligned},
      {"a part of a buffer holds the bytes at its offset", kNeedsNothing, has_parts},
      {"memory freed behind a queue is used again only after its work", kNeedsNothing, frees_behind_a_queue},
      {"sizes and regions that make no sense are refused", kNeedsNothing, refuses_nonsense},
  };
  return kCases;
}

}  // namespace arrowdevice::conformance

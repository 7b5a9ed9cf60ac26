// SPDX-License-Identifier: Apache-2.0
// Tests buffers and copies of bytes.
#include <cerrno>
#include <limits>

#include "conformance/own_array.h"

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
    // Reverses the order, so that a wrong order of the regions is visible.
    const int64_t at = (kPieces - 1 - i) * kPiece;
    in.push_back(region_in(subject.device(), buffer.get(), at, sent.data() + i * kPiece, kPiece));
    out.push_back(region_out(received.data() + i * kPiece, subject.device(), buffer.get(), at, kPiece));
  }
  enqueue(queue.get(), in);
  enqueue(queue.get(), out);
  finish(queue.get());
  expect(received == sent, "a thousand regions came back changed");
}

// Tests sizes at which a driver or a backend may take another path.
void keeps_large_sizes(Subject& subject) {
  constexpr int64_t kMiB = 1 << 20;
  const Queue queue = subject.queue();
  for (const int64_t size : {kMiB + 13, 4 * kMiB + 1, 16 * kMiB + 5, 33 * kMiB + 3}) {
    const Bytes sent = pattern(size);
    Bytes received(sent.size());
    const DeviceBuffer first(subject.device(), size);
    const DeviceBuffer second(subject.device(), size);
    enqueue(queue.get(), {region_in(subject.device(), first.get(), 0, sent.data(), size)});
    enqueue(queue.get(), {{subject.device(), second.get(), 0, subject.device(), first.get(), 0, size, 0}});
    enqueue(queue.get(), {region_out(received.data(), subject.device(), second.get(), 0, size)});
    finish(queue.get());
    expect(received == sent, std::to_string(size) + " bytes came back changed");
    // Copies a few bytes far behind the beginning.
    const Bytes few = pattern(100, 9);
    enqueue(queue.get(), {region_in(subject.device(), second.get(), size - 100, few.data(), 100)});
    enqueue(queue.get(), {region_out(received.data(), subject.device(), second.get(), 0, size)});
    finish(queue.get());
    expect(std::equal(few.begin(), few.end(), received.end() - 100), "bytes at a large offset went elsewhere");
    expect(std::equal(sent.begin(), sent.end() - 100, received.begin()), "bytes at a large offset changed others");
  }
}

void copies_batches_of_many_sizes(Subject& subject) {
  constexpr int64_t kPiece = 7;
  const Queue queue = subject.queue();
  for (const int64_t pieces : {2, 3, 64, 255, 1'025, 4'097}) {
    const Bytes sent = pattern(pieces * kPiece);
    Bytes received(sent.size());
    const DeviceBuffer buffer(subject.device(), pieces * kPiece);
    std::vector<arrowdevice_copy_region> in;
    std::vector<arrowdevice_copy_region> out;
    for (int64_t i = 0; i < pieces; ++i) {
      const int64_t at = (pieces - 1 - i) * kPiece;  // reversed, so that no region is adjacent to the previous region
      in.push_back(region_in(subject.device(), buffer.get(), at, sent.data() + i * kPiece, kPiece));
      out.push_back(region_out(received.data() + i * kPiece, subject.device(), buffer.get(), at, kPiece));
    }
    enqueue(queue.get(), in);
    enqueue(queue.get(), out);
    finish(queue.get());
    expect(received == sent, "a batch of " + std::to_string(pieces) + " regions came back changed");
  }
}

void has_parts_of_parts(Subject& subject) {
  const int64_t step = subject.info().sub_buffer_alignment;
  const int64_t size = 16 * step + 100;
  const Queue queue = subject.queue();
  const Bytes sent = pattern(size);
  const DeviceBuffer buffer(subject.device(), size);
  enqueue(queue.get(), {region_in(subject.device(), buffer.get(), 0, sent.data(), size)});
  void* part = nullptr;
  void* inner = nullptr;
  const auto cut = [&](void* of, int64_t offset, int64_t bytes, void** out) {
    must(arrowdevice_sub_buffer_create, subject.device(), of, offset, bytes, out);
  };
  cut(buffer.get(), 3 * step, 10 * step, &part);
  cut(part, 2 * step, 50, &inner);
  Bytes received(50);
  enqueue(queue.get(), {region_out(received.data(), subject.device(), inner, 0, 50)});
  finish(queue.get());
  arrowdevice_sub_buffer_destroy(subject.device(), inner);
  arrowdevice_sub_buffer_destroy(subject.device(), part);
  expect(received == Bytes(sent.begin() + 5 * step, sent.begin() + 5 * step + 50),
         "a sub-buffer of a sub-buffer is elsewhere");
}

// A backend need not know the size of an allocation. A size that it reports must not exceed the allocation. With
// addresses, memory behind the buffer may belong to a neighbour, which validation accepts.
void tells_true_sizes(Subject& subject) {
  if ((subject.info().flags & ARROWDEVICE_DEVICE_ADDRESSES) != 0) return;
  constexpr int kFull = 2;
  constexpr int64_t kBytesThere = 8 << 20;  // pools and drivers round up by at most a quarter
  const auto schema = testing::make_schema(testing::field("i"));
  const auto validated = [&](int64_t rows) {
    Owned<ArrowArray> array = array_over(DeviceBuffer(subject.device(), kBytesThere), rows, count_releases());
    auto out = output_of(arrowdevice_array_export, subject.device(), array.get(), nullptr);
    return arrowdevice_array_validate(out.get(), schema.get(), nullptr, kFull, nullptr);
  };
  expect(validated(kBytesThere / 4) == 0, "an array that fits its buffer is refused");
  if (validated(kBytesThere * 16) == 0) return;
  expect(validated(kBytesThere / 4 + kBytesThere / 8) == EINVAL, "an array that is larger than its buffer is valid");
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
    auto* part = output_of(arrowdevice_sub_buffer_create, subject.device(), buffer.get(), offset, 50);
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
  // The next buffer may get the same memory, even on another queue. It must not disturb the copies above.
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
    must_fail(EINVAL, arrowdevice_buffer_allocate, subject.device(), nullptr, nullptr, size, &memory);
    expect(memory == nullptr, "a failed allocation gave something");
  }
  // Drivers may grant more managed memory than there is, and GPUs have hung after such requests.
  if (subject.info().device_type != ARROW_DEVICE_CUDA_MANAGED) {
    must_fail(ENOMEM, arrowdevice_buffer_allocate, subject.device(), nullptr, nullptr, int64_t{1} << 60, &memory);
  }
  arrowdevice_buffer_free(subject.device(), nullptr, nullptr);

  const Queue queue = subject.queue();
  const DeviceBuffer buffer(subject.device(), 64);
  Bytes host(64);
  arrowdevice_copy_region region = region_in(subject.device(), buffer.get(), 0, host.data(), -1);
  must_fail(EINVAL, arrowdevice_queue_copy, queue.get(), &region, 1);
  region = region_in(subject.device(), buffer.get(), -8, host.data(), 8);
  must_fail(EINVAL, arrowdevice_queue_copy, queue.get(), &region, 1);
  region = region_out(host.data(), subject.device(), buffer.get(), -8, 8);
  must_fail(EINVAL, arrowdevice_queue_copy, queue.get(), &region, 1);
  must(arrowdevice_queue_copy, queue.get(), nullptr, 0);
  finish(queue.get());
}

// Checks copies to and from `buffer`. The backend knows a size of the buffer that is at least `size` and less
// than four times `size`.
void expect_bounds(Subject& subject, const Queue& queue, void* buffer, int64_t size) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  constexpr int64_t kMostAddressed = int64_t{1} << 47;  // no memory is that far away
  const bool has_addresses = (subject.info().flags & ARROWDEVICE_DEVICE_ADDRESSES) != 0;
  const int64_t length = 4 * size;
  const Bytes before = pattern(length, 4);
  Bytes host = before;
  struct Reach {
    int64_t offset, size;
  };
  for (const auto& [offset, reach] :
       {Reach{0, length}, Reach{length, 1}, Reach{length - 1, 1}, Reach{size - 1, length},
        Reach{int64_t{1} << 32, size}, Reach{kMostAddressed, size}, Reach{kMost, 1}, Reach{kMost - 1, size}}) {
    // An address outside of the buffer may be in another one, which is no mistake.
    if (has_addresses && offset >= size && offset < kMostAddressed) continue;
    const auto good = region_in(subject.device(), buffer, 0, host.data(), size);
    const auto in = region_in(subject.device(), buffer, offset, host.data(), reach);
    const auto out = region_out(host.data(), subject.device(), buffer, offset, reach);
    for (const auto& bad : {in, out}) {
      const arrowdevice_copy_region batch[] = {good, bad};
      must_fail(EINVAL, arrowdevice_queue_copy, queue.get(), &bad, 1);
      must_fail(EINVAL, arrowdevice_queue_copy, queue.get(), batch, 2);
    }
  }
  finish(queue.get());
  expect(host == before, "a refused copy wrote to the host");
  // The queue still works.
  Bytes received(static_cast<size_t>(size));
  enqueue(queue.get(), {region_in(subject.device(), buffer, 0, host.data(), size)});
  enqueue(queue.get(), {region_out(received.data(), subject.device(), buffer, 0, size)});
  finish(queue.get());
  expect(received == Bytes(host.begin(), host.begin() + size), "a copy after refused ones changed bytes");
}

void refuses_regions_beyond_a_buffer(Subject& subject) {
  const Queue queue = subject.queue();
  for (const int64_t size : {4'096, 100'003}) {  // a pool rounds smaller sizes up
    const DeviceBuffer buffer(subject.device(), size);
    expect_bounds(subject, queue, buffer.get(), size);
  }
}

// An address in a buffer is valid up to the end of the whole buffer. A handle of a sub-buffer is valid only
// up to the end of the sub-buffer.
void refuses_regions_beyond_a_part(Subject& subject) {
  const int64_t step = subject.info().sub_buffer_alignment;
  const Queue queue = subject.queue();
  const bool has_addresses = (subject.info().flags & ARROWDEVICE_DEVICE_ADDRESSES) != 0;
  const int64_t size = has_addresses ? 1'000 : 64 * step;
  const DeviceBuffer buffer(subject.device(), step + size + (has_addresses ? 0 : 1'000 * step));
  auto* part = output_of(arrowdevice_sub_buffer_create, subject.device(), buffer.get(), step, size);
  expect_bounds(subject, queue, part, size);
  arrowdevice_sub_buffer_destroy(subject.device(), part);
}

}  // namespace

std::span<const Case> buffer_cases() {
  static constexpr Case kCases[] = {
      {"bytes copied to a buffer and back are the same", kNeedsNothing, keeps_bytes},
      {"regions are copied from and to their offsets", kNeedsNothing, copies_regions_at_offsets},
      {"bytes are copied within the device", kNeedsNothing, copies_within_the_device},
      {"a thousand regions are copied in one call", kNeedsNothing, copies_many_regions_at_once},
      {"bytes of large sizes, and at large offsets, are the same", kNeedsNothing, keeps_large_sizes},
      {"batches of any number of regions are copied whole", kNeedsNothing, copies_batches_of_many_sizes},
      {"a sub-buffer of a sub-buffer holds the bytes at both offsets", kNeedsNothing, has_parts_of_parts},
      {"an array above its buffer's size is invalid if the backend reports sizes", kNeedsNothing, tells_true_sizes},
      {"buffers have the alignment of the device's info", kNeedsNothing, is_aligned},
      {"a sub-buffer holds the bytes at its offset", kNeedsNothing, has_parts},
      {"memory freed behind a queue is reused only after the queue's work", kNeedsNothing, frees_behind_a_queue},
      {"invalid sizes and regions are refused", kNeedsNothing, refuses_nonsense},
      {"regions beyond a buffer are refused", kNeedsBounds, refuses_regions_beyond_a_buffer},
      {"regions beyond a sub-buffer are refused", kNeedsBounds, refuses_regions_beyond_a_part},
  };
  return kCases;
}

}  // namespace arrowdevice::conformance

// SPDX-License-Identifier: Apache-2.0
// Tests the bytes behind the buffers of copies.
#include <algorithm>
#include <deque>

#include "conformance/bytes.h"

namespace arrowdevice::conformance {

namespace {

constexpr int64_t kPaddingUnit = 64;
constexpr unsigned char kStray = 0xAA;

int64_t padded(int64_t value, int64_t alignment) { return (value + alignment - 1) / alignment * alignment; }

// A pool that fills its memory with stray bytes. Frees its allocations only in its destructor.
class StrayMemory {
 public:
  StrayMemory(const Subject& subject, arrowdevice_device* device) : device_(device), queue_(subject.queue(device)) {
    auto options = sized<arrowdevice_pool_options>();
    options.max_cached_bytes = -1;
    options.user = this;
    options.allocate = [](void* user, int64_t size, int64_t, void*, void** out) {
      return static_cast<StrayMemory*>(user)->allocate(size, out);
    };
    options.deallocate = [](void*, void*, int64_t, void*) {};
    auto* made = output_of(arrowdevice_pool_create, device, &options);
    pool_ = Pool(made);
  }

  arrowdevice_pool* pool() const noexcept { return pool_.get(); }
  const std::vector<DeviceBuffer>& allocations() const noexcept { return allocations_; }
  Bytes content() const {
    Bytes bytes(static_cast<size_t>(allocations_.front().size()));
    enqueue(queue_.get(),
            {region_out(bytes.data(), device_, allocations_.front().get(), 0, static_cast<int64_t>(bytes.size()))});
    finish(queue_.get());
    return bytes;
  }

  // Fails unless a program can read the padding of each buffer through the buffer's handle, and finds zeros.
  void expect_zeros_in(const std::vector<const arrowdevice_node_buffer*>& buffers) const {
    std::vector<Bytes> content;
    std::vector<arrowdevice_copy_region> regions;
    for (const auto* const buffer : buffers) {
      const int64_t size = padded(buffer->size, kPaddingUnit);
      content.emplace_back(static_cast<size_t>(size), kStray);
      regions.push_back(region_out(content.back().data(), device_, buffer->data, 0, size));
    }
    if (regions.empty()) return;
    enqueue(queue_.get(), regions);
    finish(queue_.get());
    for (size_t i = 0; i < buffers.size(); ++i) {
      expect(std::all_of(content[i].begin() + buffers[i]->size, content[i].end(), [](auto byte) { return byte == 0; }),
             "the handle of a buffer of " + std::to_string(buffers[i]->size) + " bytes has no zeros at its end");
    }
  }

 private:
  int allocate(int64_t size, void** out) {
    try {
      const Bytes stray(static_cast<size_t>(size), kStray);
      allocations_.emplace_back(device_, size);
      enqueue(queue_.get(), {region_in(device_, allocations_.back().get(), 0, stray.data(), size)});
      finish(queue_.get());
      *out = allocations_.back().get();
      return 0;
    } catch (const std::exception&) {
      return EIO;
    }
  }

  arrowdevice_device* device_;
  Queue queue_;
  std::vector<DeviceBuffer> allocations_;
  Pool pool_;  // destroyed before the memory
};

// Fails unless the bytes behind each buffer of a copy are zero. The library stores the buffers of a copy in
// one allocation, in the order of a breadth-first walk. Each buffer begins at a multiple of the sub-buffer
// alignment. An address gives the offset of a buffer. For a handle, this order gives the offset.
void expect_zeros(const arrowdevice_node& root, const StrayMemory& memory, const arrowdevice_device_info& info) {
  if (memory.allocations().empty()) return;  // no bytes
  expect(memory.allocations().size() == 1, "a copy took more than one allocation");
  const Bytes content = memory.content();
  const bool has_addresses = (info.flags & ARROWDEVICE_DEVICE_ADDRESSES) != 0;
  if (!has_addresses && root.length == 0) return;  // an array without rows does not determine the sizes
  const auto base = reinterpret_cast<uintptr_t>(memory.allocations().front().get());
  int64_t end = 0;
  std::vector<const arrowdevice_node_buffer*> handles;
  std::deque<const arrowdevice_node*> nodes{&root};
  for (; !nodes.empty(); nodes.pop_front()) {
    const auto& node = *nodes.front();
    for (int64_t i = 0; i < node.n_children; ++i) nodes.push_back(node.children[i]);
    if (node.dictionary != nullptr) nodes.push_back(node.dictionary);
    for (int32_t i = 0; i < node.n_buffers; ++i) {
      const auto& buffer = node.buffers[i];
      if (buffer.data == nullptr || buffer.size == 0) continue;
      const auto at = has_addresses ? static_cast<int64_t>(reinterpret_cast<uintptr_t>(buffer.data) - base)
                                    : padded(end, std::max(info.sub_buffer_alignment, kPaddingUnit));
      if (at < 0 || at >= static_cast<int64_t>(content.size())) continue;  // in host memory: sizes of variadic buffers
      if (!has_addresses) handles.push_back(&buffer);
      end = at + buffer.size;
      const int64_t padded_end = padded(end, kPaddingUnit);
      expect(padded_end <= static_cast<int64_t>(content.size()), "a buffer's padding is not within its allocation");
      expect(std::all_of(content.begin() + end, content.begin() + padded_end, [](auto byte) { return byte == 0; }),
             "the bytes behind a buffer of " + std::to_string(buffer.size) + " bytes are not zero");
    }
  }
  memory.expect_zeros_in(handles);
}

void expect_padded(Subject& subject, const ArrowDeviceArray& source, const ArrowSchema& schema,
                   arrowdevice_device* target, const arrowdevice_device_info& info, int flags) {
  const StrayMemory memory(subject, target);
  auto options = sized<arrowdevice_copy_options>();
  options.flags = static_cast<uint32_t>(flags);
  options.pool = memory.pool();
  Subject::Array copied;
  must(arrowdevice_array_copy, &source, &schema, target, &options, copied.out());
  auto import = sized<arrowdevice_import_options>();
  import.flags = ARROWDEVICE_IMPORT_RESOLVE_SIZES;
  auto* made = output_of(arrowdevice_array_import, copied.get(), &schema, &import);
  const View view(made);
  must(arrowdevice_array_wait, arrowdevice_view_get_array(view.get()), nullptr, int64_t{ARROWDEVICE_NO_TIMEOUT});
  expect_zeros(*arrowdevice_view_get_root(view.get()), memory, info);
}

void expect_padded_everywhere(Subject& subject, const std::vector<HostCase>& cases, int flags) {
  for_each(cases, [&](Sample& sample) {
    auto there = subject.to_device(*sample.host, *sample.schema);
    expect_padded(subject, *sample.host, *sample.schema, subject.device(), subject.info(), flags);
    expect_padded(subject, *there, *sample.schema, subject.device(), subject.info(), flags);
    expect_padded(subject, *there, *sample.schema, subject.cpu(), subject.cpu_info(), flags);
  });
}

void pads_with_zeros(Subject& subject) {
  expect_padded_everywhere(subject, thorough_cases(), 0);
  for (const int flags : {ARROWDEVICE_COPY_NO_TRIM, ARROWDEVICE_COPY_ASYNC}) {
    expect_padded_everywhere(subject, testing::few_cases(), flags);
  }
}

}  // namespace

std::span<const Case> padding_cases() {
  static constexpr Case kCases[] = {
      {"bytes from a buffer's end to its 64-byte boundary are zero, for every type", kNeedsNothing, pads_with_zeros},
  };
  return kCases;
}

}  // namespace arrowdevice::conformance

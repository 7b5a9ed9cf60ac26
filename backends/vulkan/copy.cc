// SPDX-License-Identifier: Apache-2.0
#include "vulkan/copy.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <vector>

#include "base/regions.h"
#include "vulkan/host_ranges.h"

namespace arrowdevice::vulkan {
namespace {

void barrier(const LogicalDevice& device, VkCommandBuffer commands, VkPipelineStageFlags before, VkAccessFlags written,
             VkPipelineStageFlags after, VkAccessFlags seen) {
  VkMemoryBarrier memory{};
  memory.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER;
  memory.srcAccessMask = written;
  memory.dstAccessMask = seen;
  device->vkCmdPipelineBarrier(commands, before, after, 0, 1, &memory, 0, nullptr, 0, nullptr);
}

using Region = arrowdevice_backend_region;

// Up to this size the CPU writes mapped memory itself, because a submission costs as much. For larger copies the device
// reads host memory while the caller continues, if it can.
constexpr VkDeviceSize kMostWritten = 1 << 20;
// From this size on, importing pages is faster than a copy to staging memory.
constexpr VkDeviceSize kLeastImported = 32 << 10;
// Number of staging blocks in flight on a queue before the copy waits for the oldest blocks.
constexpr size_t kMostBlocks = 32;

// Small regions of a buffer that are close to each other are downloaded together through a staging block, if there are
// several. A device needs longer for a region than the CPU for some kilobytes.
constexpr VkDeviceSize kLargestScattered = 2 << 10;
constexpr VkDeviceSize kLargestGap = 256;
constexpr size_t kLeastScattered = 8;
constexpr size_t kMostScattered = 4'096;

bool is_upload(const Region& region) { return region.src_device == nullptr; }
bool is_download(const Region& region) { return region.dst_device == nullptr; }
VkDeviceSize size_of(const Region& region) { return static_cast<VkDeviceSize>(region.size); }
const unsigned char* host_source(const Region& region) {
  return static_cast<const unsigned char*>(region.src) + region.src_offset;
}
unsigned char* host_target(const Region& region) { return static_cast<unsigned char*>(region.dst) + region.dst_offset; }
VkBuffer as_buffer(const void* handle) { return static_cast<VkBuffer>(const_cast<void*>(handle)); }

class Copy {
 public:
  Copy(Device& device, SubmissionQueue& queue, std::span<const Region> regions)
      : device_(device), queue_(queue), regions_(regions) {}

  void run() {
    find_places();
    if (write_directly()) return;
    find_scattered();
    gather_host_ranges();
    begin();
    for (size_t i = 0; i < regions_.size(); ++i) {
      const auto& region = regions_[i];
      const auto& ends = ends_[i];
      if (is_upload(region)) {
        upload(region, position(ends.to, region.dst, region.dst_offset));
      } else if (is_scattered_[i]) {
        download_scattered(i);
      } else if (is_download(region)) {
        download(region, position(ends.from, region.src, region.src_offset));
      } else {
        commands_->add(position(ends.from, region.src, region.src_offset),
                       position(ends.to, region.dst, region.dst_offset), size_of(region));
      }
    }
    submit();
  }

 private:
  // Positions of both ends. nullopt for host memory and for a foreign buffer.
  struct Ends {
    std::optional<Place> to, from;
  };

  // Throws EINVAL for a region that exceeds a buffer of the library. Throws before any write or submission. The size of
  // a foreign buffer is not known.
  void find_places() {
    ends_.reserve(regions_.size());
    for (const auto& region : regions_) {
      ends_.push_back({is_download(region) ? std::nullopt : place_of(region.dst, region.dst_offset, region.size),
                       is_upload(region) ? std::nullopt : place_of(region.src, region.src_offset, region.size)});
    }
  }

  std::optional<Place> place_of(const void* handle, int64_t offset, int64_t size) const {
    auto place = device_.buffers().find(as_buffer(handle));
    const auto capacity = place ? static_cast<int64_t>(place->size) : std::numeric_limits<int64_t>::max();
    check_region_bounds(static_cast<int64_t>(ends_.size()), offset, size, capacity);
    return place;
  }

  // Sub-buffers of one allocation map to the same VkBuffer, so that one command copies many of them. A foreign buffer
  // is used directly.
  static BufferPosition position(const std::optional<Place>& place, const void* handle, int64_t offset) {
    if (place) return {place->whole, place->offset + static_cast<VkDeviceSize>(offset)};
    return {as_buffer(handle), static_cast<VkDeviceSize>(offset)};
  }

  // Excludes borrowed queues, because the application may have submitted work that must run first.
  bool write_directly() {
    if (queue_.is_borrowed() || !std::ranges::all_of(regions_, is_upload)) return false;
    VkDeviceSize total = 0;
    for (const auto& region : regions_) total += size_of(region);
    if (total > kMostWritten && device_.importer().is_used()) return false;
    for (const auto& ends : ends_) {
      if (!ends.to || ends.to->memory->mapped() == nullptr) return false;
    }
    if (!queue_.is_idle()) return false;
    for (size_t i = 0; i < regions_.size(); ++i) {
      const auto& region = regions_[i];
      const Place& place = *ends_[i].to;
      const VkDeviceSize offset = place.offset + static_cast<VkDeviceSize>(region.dst_offset);
      std::memcpy(place.memory->mapped() + offset, host_source(region), size_of(region));
      place.memory->flush(offset, size_of(region));
    }
    return true;
  }

  // Finds runs of downloads that go through staging memory together. The CPU ends such a copy, and a wait for its
  // VkEvent blocks. The wait is short only if the queue has no other work.
  void find_scattered() {
    is_scattered_.resize(regions_.size());
    if (queue_.is_borrowed() || regions_.size() < kLeastScattered || regions_.size() > kMostScattered) return;
    if (!std::ranges::any_of(regions_, is_download) || !queue_.is_idle()) return;
    for (size_t first = 0, end = 0; first < regions_.size(); first = end) {
      end = first + 1;
      if (!is_small_download(first)) continue;
      while (end < regions_.size() && is_small_download(end) && gap_before(end) <= kLargestGap) ++end;
      if (end - first >= kLeastScattered)
        std::fill_n(is_scattered_.begin() + static_cast<ptrdiff_t>(first), end - first, true);
    }
  }

  bool is_small_download(size_t i) const {
    return is_download(regions_[i]) && ends_[i].from && size_of(regions_[i]) <= kLargestScattered;
  }

  VkDeviceSize begin_on_device(size_t i) const {
    return ends_[i].from->offset + static_cast<VkDeviceSize>(regions_[i].src_offset);
  }

  // Returns the bytes between the region and the one before. Returns a large number if they are of different buffers,
  // or not in this order.
  VkDeviceSize gap_before(size_t i) const {
    const VkDeviceSize before = begin_on_device(i - 1) + size_of(regions_[i - 1]);
    if (ends_[i].from->whole != ends_[i - 1].from->whole || begin_on_device(i) < before) return ~VkDeviceSize{0};
    return begin_on_device(i) - before;
  }

  void gather_host_ranges() {
    for (size_t i = 0; i < regions_.size(); ++i) {
      const auto& region = regions_[i];
      if (is_upload(region)) ranges_.add(host_source(region), size_of(region));
      if (is_download(region) && !is_scattered_[i]) ranges_.add(host_target(region), size_of(region));
    }
    const HostImporter& importer = device_.importer();
    ranges_.join(importer.is_used() ? importer.alignment() : 1);
    if (!importer.is_used()) return;
    for (auto& range : ranges_.all()) {
      if (range.end - range.begin >= kLeastImported) range.import = importer.import(range.begin, range.end);
    }
  }

  void begin() {
    batch_.emplace(queue_);
    commands_.emplace(device_.logical(), batch_->commands());
    upload_block_.reset();
    download_block_.reset();
  }

  void submit() {
    for (const auto& range : ranges_.all()) {
      if (range.import != nullptr) batch_->submission().kept.push_back(range.import);
    }
    commands_->end();
    flush_upload();
    batch_->submit();
    commands_.reset();
    batch_.reset();
  }

  void upload(const Region& region, BufferPosition to) {
    const unsigned char* from = host_source(region);
    VkDeviceSize left = size_of(region);
    if (const auto& import = ranges_.of(from).import; import != nullptr) {
      commands_->add({import->buffer(), import->offset_of(reinterpret_cast<uintptr_t>(from))}, to, left);
      return;
    }
    queue_.settle(reinterpret_cast<uintptr_t>(from), reinterpret_cast<uintptr_t>(from) + left);
    while (left > 0) {
      const auto room = take_room(upload_block_, Staging::kUpload, left);
      std::memcpy(room.memory->mapped() + room.offset, from, room.size);
      commands_->add({room.buffer, room.offset}, to, room.size);
      from += room.size;
      to.offset += room.size;
      left -= room.size;
    }
  }

  void download(const Region& region, BufferPosition from) {
    unsigned char* to = host_target(region);
    VkDeviceSize left = size_of(region);
    const auto note = [&](VkDeviceSize size) {
      const auto begin = reinterpret_cast<uintptr_t>(to);
      batch_->submission().host_writes.push_back({begin, begin + size, nullptr, 0});
    };
    if (const auto& import = ranges_.of(to).import; import != nullptr) {
      commands_->add(from, {import->buffer(), import->offset_of(reinterpret_cast<uintptr_t>(to))}, left);
      note(left);
      return;
    }
    while (left > 0) {
      const auto room = take_room(download_block_, Staging::kDownload, left);
      commands_->add(from, {room.buffer, room.offset}, room.size);
      batch_->submission().downloads.push_back({room.memory, room.offset, to, room.size});
      note(room.size);
      from.offset += room.size;
      to += room.size;
      left -= room.size;
    }
  }

  // Downloads a small region, with the bytes between it and the region before if both fit into the open block. The
  // copies are then adjacent at both ends, and become one.
  void download_scattered(size_t i) {
    const VkDeviceSize size = size_of(regions_[i]);
    VkDeviceSize gap = i > 0 && is_scattered_[i - 1] ? gap_before(i) : ~VkDeviceSize{0};
    if (gap > kLargestGap || room_left() < gap + size) gap = 0;
    if (room_left() < gap + size) download_block_.reset();
    const auto room = take_room(download_block_, Staging::kDownload, gap + size);
    commands_->add({ends_[i].from->whole, begin_on_device(i) - gap}, {room.buffer, room.offset}, room.size);
    auto& submission = batch_->submission();
    unsigned char* const to = host_target(regions_[i]);
    const auto begin = reinterpret_cast<uintptr_t>(to);
    submission.downloads.push_back({room.memory, room.offset + gap, to, size});
    submission.host_writes.push_back({begin, begin + size, nullptr, 0});
  }

  VkDeviceSize room_left() const { return download_block_ ? Staging::kBlockBytes - download_block_->used : 0; }

  // A slot in a staging block of this batch.
  struct Room {
    const Memory* memory;
    VkBuffer buffer;
    VkDeviceSize offset;
    VkDeviceSize size;
  };
  struct OpenBlock {
    const Memory* memory;
    VkBuffer buffer;
    VkDeviceSize used;
  };

  Room take_room(std::optional<OpenBlock>& open, Staging::Direction direction, VkDeviceSize wanted) {
    if (open && open->used == Staging::kBlockBytes) {
      if (direction == Staging::kUpload) flush_upload();
      open.reset();
    }
    if (!open) {
      make_room();
      auto& blocks = batch_->submission().blocks;
      blocks.push_back(device_.staging().take(direction));
      open = OpenBlock{blocks.back().memory.get(), blocks.back().buffer.get(), 0};
    }
    const VkDeviceSize size = std::min(wanted, Staging::kBlockBytes - open->used);
    const Room room{open->memory, open->buffer, open->used, size};
    open->used += size;
    return room;
  }

  void flush_upload() {
    if (upload_block_ && upload_block_->used > 0) upload_block_->memory->flush(0, upload_block_->used);
  }

  // Splits large copies into several submissions, so that blocks are returned while other blocks are in use.
  void make_room() {
    constexpr size_t kMostInBatch = kMostBlocks / 4;
    if (batch_->submission().blocks.size() < kMostInBatch) return;
    submit();
    while (queue_.blocks_in_flight() + kMostInBatch > kMostBlocks) queue_.wait_for_blocks();
    begin();
  }

  Device& device_;
  SubmissionQueue& queue_;
  const std::span<const Region> regions_;
  std::vector<Ends> ends_;          // both ends of each region
  std::vector<bool> is_scattered_;  // of each region: it is downloaded together with its neighbours
  HostRanges ranges_;
  std::optional<Batch> batch_;
  std::optional<CopyCommands> commands_;
  std::optional<OpenBlock> upload_block_;
  std::optional<OpenBlock> download_block_;
};

}  // namespace

// Orders the copies after all earlier work of the queue, including an application's shaders.
CopyCommands::CopyCommands(const LogicalDevice& device, VkCommandBuffer commands)
    : device_(device), commands_(commands) {
  barrier(device, commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT,
          VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT);
}

// Searches only the last groups, so that copies between many buffers cost little. A batch of host memory alternates
// between a few: pages of the caller, staging memory, and one allocation of the device.
CopyCommands::Group& CopyCommands::group_of(VkBuffer from, VkBuffer to) {
  constexpr ptrdiff_t kMostSearched = 4;
  const auto last = groups_.rbegin();
  const auto end = last + std::min(kMostSearched, std::ssize(groups_));
  const auto found = std::find_if(last, end, [&](const Group& group) { return group.from == from && group.to == to; });
  return found != end ? *found : groups_.emplace_back(Group{from, to, {}});
}

void CopyCommands::add(const BufferPosition& from, const BufferPosition& to, VkDeviceSize size) {
  auto& copies = group_of(from.buffer, to.buffer).copies;
  if (!copies.empty()) {
    VkBufferCopy& last = copies.back();
    if (last.srcOffset + last.size == from.offset && last.dstOffset + last.size == to.offset) {
      last.size += size;
      return;
    }
  }
  copies.push_back({from.offset, to.offset, size});
}

// Makes the copied data visible to later work of the device and to the CPU. Later work also does not overwrite data
// that a copy still reads.
void CopyCommands::end() {
  for (const auto& group : groups_) {
    device_->vkCmdCopyBuffer(commands_, group.from, group.to, static_cast<uint32_t>(group.copies.size()),
                             group.copies.data());
  }
  barrier(device_, commands_, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT,
          VK_PIPELINE_STAGE_ALL_COMMANDS_BIT | VK_PIPELINE_STAGE_HOST_BIT,
          VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT | VK_ACCESS_HOST_READ_BIT | VK_ACCESS_HOST_WRITE_BIT);
}

void copy(Device& device, SubmissionQueue& queue, std::span<const arrowdevice_backend_region> regions) {
  device.logical().check_not_lost();
  if (!regions.empty()) Copy(device, queue, regions).run();
}

}  // namespace arrowdevice::vulkan

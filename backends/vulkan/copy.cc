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
    gather_host_ranges();
    begin();
    for (size_t i = 0; i < regions_.size(); ++i) {
      const auto& region = regions_[i];
      const auto& ends = ends_[i];
      if (is_upload(region)) {
        upload(region, position(ends.to, region.dst, region.dst_offset));
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

  void gather_host_ranges() {
    for (const auto& region : regions_) {
      if (is_upload(region)) ranges_.add(host_source(region), size_of(region));
      if (is_download(region)) ranges_.add(host_target(region), size_of(region));
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
  std::vector<Ends> ends_;  // both ends of each region
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

// SPDX-License-Identifier: Apache-2.0
#include "link/sent_allocations.h"

namespace arrowdevice::link {

int64_t SentAllocations::id_of(device::Device& device, const device::ShareableBlock& block, HandleMessage& message,
                               std::vector<FileDescriptor>& descriptors) {
  const auto found = ids_.find(block.number);
  if (found != ids_.end()) return found->second;
  auto record = device.memory_export(block);
  if (record.descriptor >= 0) {
    descriptors.emplace_back(record.descriptor);
    record.descriptor = static_cast<int32_t>(descriptors.size()) - 1;
  }
  message.allocations.push_back(record);
  sent_.emplace(next_id_, Sent{&device, block});
  ids_.emplace(block.number, next_id_);
  return next_id_++;
}

std::vector<int64_t> SentAllocations::remove_freed(const device::Device& device) {
  std::vector<int64_t> removed;
  const uint64_t freed = device.n_freed_shareable();
  auto& before = freed_[&device];
  if (before == freed) return removed;
  before = freed;
  for (auto entry = sent_.begin(); entry != sent_.end();) {
    const auto& [id, sent] = *entry;
    const auto found = sent.device->shareable_location(sent.block.buffer);
    if (sent.device != &device || (found && found->block.number == sent.block.number)) {
      ++entry;
      continue;
    }
    removed.push_back(id);
    ids_.erase(sent.block.number);
    entry = sent_.erase(entry);
  }
  return removed;
}

}  // namespace arrowdevice::link

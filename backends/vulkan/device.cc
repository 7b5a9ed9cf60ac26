// SPDX-License-Identifier: Apache-2.0
#include "vulkan/device.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "base/text.h"
#include "vulkan/physical_device.h"

namespace arrowdevice::vulkan {
namespace {

std::vector<uint32_t> indices(const std::vector<Family>& families) {
  std::vector<uint32_t> all;
  for (const auto& family : families) all.push_back(family.index);
  return all;
}

}  // namespace

Device::Device(Setup setup)
    : setup_(std::move(setup)),
      buffers_(*setup_.logical, setup_.physical,
               {indices(setup_.families), setup_.options.direct_mapping, setup_.options.noncoherent}),
      sharing_(choose_sharing(setup_)),
      importer_(*setup_.logical, setup_.physical, buffers_, setup_.external_memory_host),
      staging_(*setup_.logical, setup_.physical, buffers_, setup_.options.noncoherent) {
  for (const auto& family : setup_.families) {
    const bool sets = sets_events(setup_.physical.families[family.index]);
    for (const VkQueue queue : family.queues) {
      queues_.push_back(std::make_unique<NativeQueue>(*setup_.logical, queue, family.index, sets, setup_.lock));
    }
  }
  for (const auto& name : setup_.extensions) extension_names_.push_back(name.c_str());
}

Device::~Device() {
  publishing_.reset();
  ending_.clear();
}

void Device::deallocate(VkBuffer buffer, SubmissionQueue* user) {
  settle_if_lost();
  auto memory = buffers_.take(buffer);
  if (user == nullptr) return;
  try {
    user->record();  // includes the application's submissions to its own queue
  } catch (const Error&) {
    // The library cannot know when such work finishes. It therefore keeps the memory as long as the device.
    const std::lock_guard lock(mutex_);
    if (user->is_borrowed()) abandoned_.push_back(memory);
  }
  user->keep(std::move(memory));
}

void Device::describe(arrowdevice_device_info& out) const {
  copy_text(out.name, setup_.physical.name());
  copy_text(out.vendor, setup_.physical.driver);
  std::memcpy(out.uuid, setup_.physical.uuid, sizeof out.uuid);
  out.total_memory = total_memory(setup_.physical);
  out.buffer_alignment = static_cast<int64_t>(buffers_.alignment());
  out.sub_buffer_alignment = static_cast<int64_t>(buffers_.alignment());
  const bool publishes = std::ranges::any_of(
      setup_.families, [&](const Family& family) { return sets_events(setup_.physical.families[family.index]); });
  out.flags = ARROWDEVICE_DEVICE_WAIT_BLOCKS | (publishes ? ARROWDEVICE_DEVICE_EVENTS : 0u) |
              (is_wrapped() ? ARROWDEVICE_DEVICE_WRAPPED : 0u) |
              (sharing_ != Sharing::kNone ? ARROWDEVICE_DEVICE_SHAREABLE : 0u);
  out.staging_type = 0;
}

void Device::memory(int64_t* free_bytes, int64_t* total_bytes) const {
  logical().check_not_lost();
  *total_bytes = total_memory(setup_.physical);
  *free_bytes = setup_.options.memory_budget ? free_memory(setup_.instance_functions, setup_.physical) : -1;
}

void Device::native(arrowdevice_native_device& out) {
  NativeQueue& main = *queues_.front();
  out.platform = setup_.instance;
  out.physical_device = setup_.physical.handle;
  out.device = setup_.logical->handle();
  out.queue = main.handle();
  out.queue_family = main.family();
  out.get_proc_addr = reinterpret_cast<void*>(setup_.get_proc_addr);
  out.api_version = setup_.physical.api_version;
  out.n_extensions = static_cast<uint32_t>(extension_names_.size());
  out.extensions = extension_names_.data();
  out.features = setup_.features;
  // Exports the library's locks, which also take the application's lock if there is one. Each VkQueue has its own.
  out.lock = [](void* user, void* queue) { static_cast<Device*>(user)->known_queue(queue).lock(); };
  out.unlock = [](void* user, void* queue) { static_cast<Device*>(user)->known_queue(queue).unlock(); };
  out.lock_user = this;
}

NativeQueue& Device::known_queue(const void* handle) {
  const std::lock_guard lock(mutex_);
  NativeQueue* const known = find_queue(handle);
  return known != nullptr ? *known : *queues_.front();
}

NativeQueue* Device::find_queue(const void* handle) const {
  for (const auto* const known : {&queues_, &wrapped_}) {
    const auto found = std::ranges::find_if(*known, [&](const auto& one) { return one->handle() == handle; });
    if (found != known->end()) return found->get();
  }
  return nullptr;
}

// Copies use the transfer family if one is opened. They use its queues in turn.
NativeQueue& Device::queue_for_copies() {
  const uint32_t family = setup_.families.back().index;
  for (;;) {
    NativeQueue& queue = *queues_[next_queue_++ % queues_.size()];
    if (queue.family() == family) return queue;
  }
}

std::shared_ptr<SubmissionQueue> Device::add_queue(NativeQueue& native, bool borrowed) {
  auto queue =
      std::make_shared<SubmissionQueue>(*setup_.logical, native, staging_, setup_.timeline_semaphores, borrowed);
  std::erase_if(submission_queues_, [](const auto& one) { return one.expired(); });
  submission_queues_.push_back(queue);
  return queue;
}

std::shared_ptr<SubmissionQueue> Device::make_queue() {
  logical().check_not_lost();
  const std::lock_guard lock(mutex_);
  std::erase_if(ending_, [](const auto& queue) { return queue->is_idle(); });
  return add_queue(queue_for_copies(), false);
}

std::shared_ptr<SubmissionQueue> Device::wrap(VkQueue queue, uint32_t family) {
  logical().check_not_lost();
  const std::lock_guard lock(mutex_);
  if (queue == VK_NULL_HANDLE) return add_queue(*queues_.front(), true);
  if (NativeQueue* const known = find_queue(queue)) return add_queue(*known, true);
  const auto opened = std::ranges::find(setup_.families, family, &Family::index);
  if (opened == setup_.families.end()) {
    throw Error(EINVAL, format("VkQueue %p is of family %u, which %s was not %s with: its memory is not shared with it",
                               static_cast<void*>(queue), family, logical().name().c_str(),
                               is_wrapped() ? "wrapped" : "opened"));
  }
  const bool sets = sets_events(setup_.physical.families[family]);
  auto added = std::make_unique<NativeQueue>(*setup_.logical, queue, family, sets, setup_.lock);
  // kept as long as the device, because two locks for one VkQueue would not exclude each other
  wrapped_.push_back(std::move(added));
  return add_queue(*wrapped_.back(), true);
}

void Device::end_queue(std::shared_ptr<SubmissionQueue> queue) noexcept {
  queue->close();
  const std::lock_guard lock(mutex_);
  try {
    if (!queue->is_idle()) ending_.push_back(std::move(queue));
  } catch (const std::exception&) {
    queue->drop();  // the device is lost, or there is no memory for the list entry
  }
}

std::shared_ptr<SubmissionQueue> Device::publishing_queue() {
  const std::lock_guard lock(mutex_);
  if (publishing_ == nullptr) {
    const auto queue = std::ranges::find_if(queues_, [](const auto& one) { return one->sets_events(); });
    if (queue == queues_.end()) {
      throw Error(ENOTSUP, logical().name() + " has no queue that sets events: it was wrapped with one for transfers");
    }
    publishing_ = add_queue(**queue, false);
  }
  publishing_->collect();
  return publishing_;
}

std::vector<std::shared_ptr<SubmissionQueue>> Device::all_queues() {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<SubmissionQueue>> all;
  for (const auto& one : submission_queues_) {
    if (auto queue = one.lock()) all.push_back(std::move(queue));
  }
  return all;
}

void Device::settle_if_lost() noexcept {
  if (!logical().is_lost()) return;
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(settled_, true)) return;
  }
  try {
    for (const auto& queue : all_queues()) queue->drop();
  } catch (const std::bad_alloc&) {
    return;
  }
}

void Device::trim() noexcept {
  staging_.trim();
  const std::lock_guard lock(mutex_);
  try {
    if (publishing_ != nullptr) publishing_->collect();
    std::erase_if(ending_, [](const auto& queue) { return queue->is_idle(); });
  } catch (const std::exception&) {
    // The device is lost, or there is no memory for the call. The objects are freed later.
  }
}

void Device::drain() {
  for (const auto& queue : all_queues()) {
    try {
      queue->wait(queue->last(), Deadline(ARROWDEVICE_NO_TIMEOUT));
    } catch (const Error&) {
      if (!logical().is_lost()) throw;
      queue->drop();
    }
  }
}

}  // namespace arrowdevice::vulkan

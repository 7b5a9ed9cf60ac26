// SPDX-License-Identifier: Apache-2.0
#include "vulkan/submission_queue.h"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "base/error.h"

namespace arrowdevice::vulkan {

Batch::Batch(SubmissionQueue& queue) : queue_(queue), recording_(queue.recording_) {
  queue.device_.check_not_lost();
  submission_.commands = queue.take_commands();
  try {
    VkCommandBufferBeginInfo info{};
    info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
    info.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
    queue.device_.check("vkBeginCommandBuffer", queue.device_->vkBeginCommandBuffer(submission_.commands, &info));
  } catch (...) {
    abandon();
    throw;
  }
}

Batch::~Batch() {
  for (auto& block : submission_.blocks) queue_.staging_.give_back(std::move(block));
  if (submission_.commands != VK_NULL_HANDLE) abandon();
}

// Frees the command buffer, because a partly recorded command buffer cannot begin again.
void Batch::abandon() noexcept {
  queue_.device_->vkFreeCommandBuffers(queue_.device_.handle(), queue_.pool_.get(), 1, &submission_.commands);
}

uint64_t Batch::submit() {
  const auto number = try_submit();
  assert(number && "a queue is closed when it is destroyed, and has no users then");
  return *number;
}

std::optional<uint64_t> Batch::try_submit() {
  queue_.device_.check("vkEndCommandBuffer", queue_.device_->vkEndCommandBuffer(submission_.commands));
  return queue_.try_submit(*this);
}

SubmissionQueue::SubmissionQueue(const LogicalDevice& device, NativeQueue& native, Staging& staging, bool has_timeline,
                                 bool borrowed)
    : device_(device),
      native_(native),
      staging_(staging),
      borrowed_(borrowed),
      timeline_(has_timeline ? std::make_shared<UniqueSemaphore>(make_timeline(device)) : nullptr),
      pool_(make_command_pool(device, native.family())) {}

SubmissionQueue::~SubmissionQueue() { drop(); }

// Reserves an entry in free_commands_ for every command buffer, so that returning it cannot fail.
VkCommandBuffer SubmissionQueue::take_commands() {
  const std::lock_guard lock(mutex_);
  if (!free_commands_.empty()) {
    const VkCommandBuffer commands = free_commands_.back();
    free_commands_.pop_back();
    return commands;
  }
  free_commands_.reserve(in_flight_.size() + 2);
  VkCommandBufferAllocateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
  info.commandPool = pool_.get();
  info.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
  info.commandBufferCount = 1;
  VkCommandBuffer commands = VK_NULL_HANDLE;
  device_.check("vkAllocateCommandBuffers", device_->vkAllocateCommandBuffers(device_.handle(), &info, &commands));
  return commands;
}

std::optional<uint64_t> SubmissionQueue::try_submit(Batch& batch) {
  Submission& submission = batch.submission_;
  std::vector<Wait> waits;  // destroyed after the lock is released, which may destroy queues
  const std::lock_guard lock(mutex_);
  if (closed_) return std::nullopt;  // close() takes the same lock, so one of the two calls is first
  submission.number = last_ + 1;

  std::vector<VkSemaphore> waited;
  std::vector<uint64_t> waited_values;
  for (const auto& wait : waits_) {
    if (wait.semaphore == nullptr) continue;
    waited.push_back(wait.semaphore->get());
    waited_values.push_back(wait.number);  // ignored for a binary semaphore
    submission.kept.push_back(wait.semaphore);
  }
  const std::vector<VkPipelineStageFlags> stages(waited.size(), VK_PIPELINE_STAGE_ALL_COMMANDS_BIT);
  std::vector<VkSemaphore> signalled;
  std::vector<uint64_t> signalled_values;
  for (const auto& semaphore : batch.signalled_) {
    signalled.push_back(semaphore->get());
    signalled_values.push_back(0);
    submission.kept.push_back(semaphore);
  }
  if (timeline_ != nullptr) {
    signalled.push_back(timeline_->get());
    signalled_values.push_back(submission.number);
  } else {
    submission.fence = fences_->take();
  }
  VkTimelineSemaphoreSubmitInfo values{};
  values.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO;
  values.waitSemaphoreValueCount = static_cast<uint32_t>(waited_values.size());
  values.pWaitSemaphoreValues = waited_values.data();
  values.signalSemaphoreValueCount = static_cast<uint32_t>(signalled_values.size());
  values.pSignalSemaphoreValues = signalled_values.data();
  VkSubmitInfo info{};
  info.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
  info.pNext = timeline_ != nullptr ? &values : nullptr;
  info.waitSemaphoreCount = static_cast<uint32_t>(waited.size());
  info.pWaitSemaphores = waited.data();
  info.pWaitDstStageMask = stages.data();
  info.commandBufferCount = 1;
  info.pCommandBuffers = &submission.commands;
  info.signalSemaphoreCount = static_cast<uint32_t>(signalled.size());
  info.pSignalSemaphores = signalled.data();

  // Reserves memory first, because no step may fail after the submission.
  host_writes_.reserve(host_writes_.size() + submission.host_writes.size());
  in_flight_.emplace_back();
  try {
    native_.submit(info, submission.fence != nullptr ? submission.fence->get() : VK_NULL_HANDLE);
  } catch (...) {
    in_flight_.pop_back();
    throw;
  }
  last_ = submission.number;
  for (const auto& write : submission.host_writes) {
    host_writes_.push_back({write.begin, write.end, nullptr, submission.number});
  }
  in_flight_.back() = std::move(submission);
  submission = {};
  waits.swap(waits_);
  return last_;
}

uint64_t SubmissionQueue::record() {
  {
    const std::lock_guard lock(mutex_);
    if (device_.is_lost() || (waits_.empty() && !borrowed_)) return last_;
  }
  Batch batch(*this);
  return batch.submit();
}

void SubmissionQueue::lend() {
  if (!borrowed_.exchange(true)) record();
}

uint64_t SubmissionQueue::last() {
  const std::lock_guard lock(mutex_);
  return last_;
}

void SubmissionQueue::wait_for(const std::shared_ptr<SubmissionQueue>& other, uint64_t number) {
  if (other.get() == this || other->is_done(number)) return;
  Wait wait{other, number, nullptr};
  // One VkQueue runs its submissions in order. The barrier at the start of every batch is enough.
  if (&other->native_ != &native_) {
    if (timeline_ != nullptr) {
      wait.semaphore = other->timeline_;
    } else {
      // A binary semaphore has one waiter. Each wait gets its own semaphore, which is signalled after all earlier
      // submissions.
      wait.semaphore = std::make_shared<UniqueSemaphore>(make_semaphore(device_));
      Batch batch(*other);
      batch.signal(wait.semaphore);
      if (!batch.try_submit()) {
        other->wait(number, Deadline(ARROWDEVICE_NO_TIMEOUT));
        return;
      }
    }
  }
  HostWrites theirs;
  {
    const std::lock_guard lock(other->mutex_);
    for (auto write : other->host_writes_) {
      if (write.queue == nullptr) write.queue = other;
      if (write.queue.get() != this) theirs.push_back(std::move(write));
    }
  }
  const bool is_of_other_queue = wait.semaphore != nullptr;
  {
    const std::lock_guard lock(mutex_);
    std::ranges::move(theirs, std::back_inserter(host_writes_));
    waits_.push_back(std::move(wait));
  }
  if (borrowed_ && is_of_other_queue) record();  // the next submission may be one of the application
}

uint64_t SubmissionQueue::reached(uint64_t waited_for) {
  if (timeline_ != nullptr) {
    uint64_t value = 0;
    device_.check("vkGetSemaphoreCounterValue",
                  device_->vkGetSemaphoreCounterValue(device_.handle(), timeline_->get(), &value));
    // vkGetSemaphoreCounterValue does not order device writes before the read, because Mesa drops its lock first. A
    // wait does, even with a zero timeout.
    const bool is_ordered = value <= std::max(finished_, waited_for) || wait_for_timeline(value, 0);
    return is_ordered ? value : finished_;
  }
  uint64_t value = finished_;
  for (const auto& submission : in_flight_) {
    const VkResult result = device_->vkGetFenceStatus(device_.handle(), submission.fence->get());
    if (result == VK_NOT_READY) break;
    device_.check("vkGetFenceStatus", result);
    value = submission.number;
  }
  return value;
}

// Downloads fill the blocks of staging memory one after the other. One call invalidates the used part of a block.
void SubmissionQueue::finish(const Submission& submission) {
  const auto& downloads = submission.downloads;
  for (size_t first = 0, end = 0; first < downloads.size(); first = end) {
    while (end < downloads.size() && downloads[end].from == downloads[first].from) ++end;
    const auto& last = downloads[end - 1];
    downloads[first].from->invalidate(downloads[first].offset, last.offset + last.size - downloads[first].offset);
  }
  for (const auto& download : downloads) {
    std::memcpy(download.to, download.from->mapped() + download.offset, download.size);
  }
}

void SubmissionQueue::collect(uint64_t waited_for) {
  std::vector<Submission> done;  // destroyed after the lock is released
  {
    const std::lock_guard lock(mutex_);
    if (in_flight_.empty()) return;
    const uint64_t value = reached(waited_for);
    while (!in_flight_.empty() && in_flight_.front().number <= value) {
      Submission& submission = in_flight_.front();
      done.reserve(done.size() + 1);
      finish(submission);
      finished_ = submission.number;
      free_commands_.push_back(submission.commands);
      done.push_back(std::move(submission));
      in_flight_.pop_front();
    }
    std::erase_if(host_writes_,
                  [&](const HostWrite& write) { return write.queue == nullptr && write.number <= finished_; });
  }
  for (auto& submission : done) {
    for (auto& block : submission.blocks) staging_.give_back(std::move(block));
  }
}

bool SubmissionQueue::is_done(uint64_t number, uint64_t waited_for) {
  {
    const std::lock_guard lock(mutex_);
    if (finished_ >= number) return true;
  }
  device_.check_not_lost();
  collect(waited_for);
  const std::lock_guard lock(mutex_);
  return finished_ >= number;
}

bool SubmissionQueue::wait_for_timeline(uint64_t number, uint64_t timeout_ns) {
  VkSemaphoreWaitInfo info{};
  info.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO;
  info.semaphoreCount = 1;
  info.pSemaphores = timeline_->address();
  info.pValues = &number;
  const VkResult result = device_->vkWaitSemaphores(device_.handle(), &info, timeout_ns);
  device_.check("vkWaitSemaphores", result);
  return result == VK_SUCCESS;
}

bool SubmissionQueue::wait_natively(uint64_t number, int64_t timeout_ns) {
  const uint64_t timeout = timeout_ns == 0 ? UINT64_MAX : static_cast<uint64_t>(std::max<int64_t>(timeout_ns, 0));
  if (timeline_ != nullptr) return wait_for_timeline(number, timeout);
  std::shared_ptr<UniqueFence> fence;
  {
    const std::lock_guard lock(mutex_);
    const auto found = std::ranges::find(in_flight_, number, &Submission::number);
    if (found == in_flight_.end()) return true;
    fence = found->fence;
  }
  const VkResult result = device_->vkWaitForFences(device_.handle(), 1, fence->address(), VK_TRUE, timeout);
  device_.check("vkWaitForFences", result);
  return result == VK_SUCCESS;
}

bool SubmissionQueue::wait(uint64_t number, const Deadline& deadline) {
  if (is_done(number)) return true;
  if (!wait_natively(number, deadline.left())) return false;
  return is_done(number, number);
}

bool SubmissionQueue::is_idle() {
  collect();
  std::vector<Wait> waits;
  {
    const std::lock_guard lock(mutex_);
    if (!in_flight_.empty()) return false;
    waits = waits_;
  }
  return std::ranges::all_of(waits, [](const Wait& wait) { return wait.queue->is_done(wait.number); });
}

void SubmissionQueue::keep(std::shared_ptr<const void> object) {
  const std::lock_guard lock(mutex_);
  if (!in_flight_.empty()) in_flight_.back().kept.push_back(std::move(object));
}

bool SubmissionQueue::has_downloads(uint64_t number) {
  const std::lock_guard lock(mutex_);
  return std::ranges::any_of(in_flight_, [&](const Submission& submission) {
    return submission.number <= number && !submission.downloads.empty();
  });
}

void SubmissionQueue::settle(uintptr_t begin, uintptr_t end) {
  HostWrites waited;
  {
    const std::lock_guard lock(mutex_);
    std::ranges::copy_if(host_writes_, std::back_inserter(waited),
                         [&](const HostWrite& write) { return write.begin < end && begin < write.end; });
  }
  for (const auto& write : waited)
    (write.queue != nullptr ? *write.queue : *this).wait(write.number, Deadline(ARROWDEVICE_NO_TIMEOUT));
  const std::lock_guard lock(mutex_);
  std::erase_if(host_writes_, [&](const HostWrite& write) {
    return write.queue != nullptr && std::ranges::any_of(waited, [&](const HostWrite& one) {
             return one.queue == write.queue && write.number <= one.number;
           });
  });
}

size_t SubmissionQueue::blocks_in_flight() {
  const std::lock_guard lock(mutex_);
  size_t blocks = 0;
  for (const auto& submission : in_flight_) blocks += submission.blocks.size();
  return blocks;
}

void SubmissionQueue::wait_for_blocks() {
  uint64_t number = 0;
  {
    const std::lock_guard lock(mutex_);
    const auto oldest =
        std::ranges::find_if(in_flight_, [](const Submission& submission) { return !submission.blocks.empty(); });
    if (oldest == in_flight_.end()) return;
    number = oldest->number;
  }
  wait(number, Deadline(ARROWDEVICE_NO_TIMEOUT));
}

void SubmissionQueue::close() noexcept {
  HostWrites writes;  // queues refer to one another in both containers
  std::vector<Wait> waits;
  const std::lock_guard lock(mutex_);
  writes.swap(host_writes_);
  waits.swap(waits_);
  closed_ = true;
}

void SubmissionQueue::drop() noexcept {
  constexpr int64_t kPatience = 1'000'000'000;  // a lost device ends its work soon or never
  uint64_t last = 0;
  {
    const std::lock_guard lock(mutex_);
    if (!in_flight_.empty()) last = last_;
  }
  if (last == 0) return;
  try {
    wait_natively(last, kPatience);
  } catch (const std::exception&) {
    // The loss is already recorded.
  }
  std::deque<Submission> dropped;
  const std::lock_guard lock(mutex_);
  dropped.swap(in_flight_);
}

}  // namespace arrowdevice::vulkan

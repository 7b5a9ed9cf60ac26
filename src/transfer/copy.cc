// SPDX-License-Identifier: Apache-2.0
#include "transfer/copy.h"

#include <algorithm>
#include <cerrno>
#include <exception>
#include <optional>
#include <span>
#include <vector>

#include "array/output.h"
#include "base/checked.h"
#include "base/log.h"
#include "base/scratch.h"
#include "device/deferred.h"
#include "transfer/bits.h"
#include "transfer/copy_log.h"
#include "transfer/early_end.h"
#include "transfer/pinned.h"
#include "transfer/placement.h"
#include "transfer/plan.h"
#include "transfer/route.h"
#include "transfer/source_reader.h"
#include "transfer/staging.h"
#include "transfer/submit.h"

namespace arrowdevice::transfer {
namespace {

// Buffers begin at cache lines, as the format recommends.
constexpr int64_t kLeastAlignment = 64;

// The memory of a copy. If it is released before the copy has finished, its destruction is deferred.
struct CopyMemory final : public device::Deferred {
  explicit CopyMemory(device::Device& device) : use(device) {}

  const device::DeviceUse use;  // outlives the memory
  device::Allocation allocation;
  uint64_t queue = 0;  // that may use the memory before `after` has fired, because it does the work
};

class CopyOwner final : public array::BufferOwner {
 public:
  explicit CopyOwner(std::unique_ptr<CopyMemory> memory) : memory_(std::move(memory)) {}
  ~CopyOwner() override {
    if (memory_ == nullptr) return;
    if (memory_->queue != 0) memory_->allocation.reset_behind(memory_->after, memory_->queue);
    device::DeferredWork::instance().defer(std::move(memory_));
  }

  CopyMemory& memory() noexcept { return *memory_; }
  PaddedBuffers padded() const noexcept {
    return {static_cast<const char*>(memory_->allocation.buffer()), ends_of_buffers};
  }
  std::unique_ptr<CopyMemory> take_memory() noexcept { return std::move(memory_); }

  // The event that the array carries; it lives as long as the array.
  std::shared_ptr<device::Event> event;
  // The ends of the buffers, for later copies to other devices.
  std::vector<int64_t> ends_of_buffers;
  // Sizes of variadic buffers, if they are not on the device.
  std::unique_ptr<uint8_t[]> host_bytes;

 private:
  std::unique_ptr<CopyMemory> memory_;
};

// Staging memory, until the copy has finished.
struct DeferredStaging final : public device::Deferred {
  InFlight in_flight;
  LaterWork later;
};

// Objects that a copy still uses after its call has ended early.
struct LeftRunning final : public device::Deferred {
  explicit LeftRunning(device::Device& of_source) : use(of_source) {}
  // The second queue of a staged copy uses the objects too.
  ~LeftRunning() override { device::DeferredWork::instance().defer(std::move(then)); }

  const device::DeviceUse use;
  std::unique_ptr<CopyMemory> memory;
  std::unique_ptr<DeferredStaging> staging;
  std::unique_ptr<array::OwnedArray> source;
  std::unique_ptr<LeftRunning> then;
};

class Copy {
 public:
  explicit Copy(const CopyRequest& request)
      : request_(request),
        array_(request.array),
        tree_(request.array.tree()),
        route_(request.source, request.target, request.queue),
        event_of_source_(request.source, request.sync_event),
        contents_(route_.source_on_host() ? SourceReader()
                                          : SourceReader(request.source, route_.source_queue(), event_of_source_,
                                                         request.deadline, request.moved, request.queue != nullptr)) {}

  std::shared_ptr<device::Event> run(ArrowDeviceArray* out) {
    // Allocated first, because the memory of submitted work must have an owner.
    const bool is_by_cpu = route_.source_on_host() && route_.target_on_host();
    if (!is_by_cpu) staging_ = std::make_unique<DeferredStaging>();
    bool submitted = false;
    try {
      wait_for_source();
      const bool shifts = route_.source_on_host() || route_.target_on_host();
      plan_ = make_plan(array_, {request_.whole, shifts, route_.target_on_host()}, contents_,
                        variadic_sizes_on_host(array_, request_.source), scratch_.memory());
      place();
      allocate();
      note_ends();
      build_output();
      if (placed_.device_bytes > 0) {
        allocate_staging_memory();
        submitted = true;
        const bool has_arrived =
            submit(array_, plan_, placed_, route_, owner_->memory().allocation.buffer(),
                   is_by_cpu ? nullptr : &staging_->in_flight, padded_source(), request_.deadline, scratch_);
        finish(has_arrived);
      }
    } catch (const Error& error) {
      const bool leaves = submitted && ends_early(error, request_.deadline);
      if (!leaves || !leave_running()) clean_up(submitted);
      route_.abandon();
      throw;
    } catch (...) {
      clean_up(submitted);
      route_.abandon();
      throw;
    }
    // If only the wait for the producer was submitted, the next user of the queue must not be delayed by it.
    if (!submitted && request_.sync_event != nullptr) route_.abandon();
    log_.copied(route_, placed_, staging_ == nullptr ? nullptr : &staging_->in_flight, sync_event_ != nullptr);
    publish(out);
    return sync_event_ != nullptr ? event_ : nullptr;
  }

 private:
  device::Device& target() const { return route_.target(); }

  // Waits for the source, or makes the queue wait. The CPU waits first in these cases:
  // - with a deadline, if the call waits for the copy later, at its end or between pieces
  // - if sizes of variadic buffers are in host memory, because they are read before the submission
  // - if the driver would wait in the submission, which has no limit
  void wait_for_source() {
    if (request_.pool != nullptr) check_pool(*request_.pool, target());
    route_.wait_for(event_of_source_, request_.deadline);
    const bool is_bounded = request_.deadline.has_limit() && (!is_async() || route_.is_staged());
    if (is_bounded || reads_sizes_on_host()) event_of_source_.wait(request_.deadline.left());
    const bool blocks = route_.blocks_on_pageable();
    // A queue of the library has waited for no more than the source.
    if (request_.queue == nullptr || !(is_bounded || blocks) || !route_.target_queue().has_work_of_others()) return;
    const bool can_stage = is_async() && route_.source_on_host() && has_pinned_staging(target());
    route_.stage_host_memory(blocks && can_stage);
    if (!route_.stages_host_memory()) route_.target_queue().finish_in_time(request_.deadline);
  }

  bool is_async() const { return request_.async && target().publishes_events(); }

  // Allocates the staging memory before anything is submitted. Without enough of it, waits for the queue.
  void allocate_staging_memory() {
    if (!route_.stages_host_memory()) return;
    try {
      staging_->in_flight.staging.push_back(allocate_staging(target(), placed_.device_bytes + kPaddedTo));
    } catch (const Error& error) {
      if (error.code() != ENOMEM) throw;
      log(LogLevel::kInfo, "an asynchronous copy waits for its queue, because there is no pinned memory for it");
      route_.stage_host_memory(false);
      route_.target_queue().finish_in_time(request_.deadline);
    }
  }

  bool reads_sizes_on_host() const {
    return !route_.source_on_host() && request_.source.has_addresses() && array_.has_variadic();
  }

  // Lets the submitted work run, with its memory and the source. Returns false if that is not possible.
  bool leave_running() noexcept {
    try {
      auto left = std::make_unique<LeftRunning>(request_.source);
      left->source = hold(request_.moved);
      left->after = route_.target_queue().record();
      if (route_.is_staged()) {
        auto first = std::make_unique<LeftRunning>(request_.source);
        first->after = route_.source_queue().record();
        first->then = std::move(left);
        left = std::move(first);
      }
      auto& last = left->then != nullptr ? *left->then : *left;
      if (owner_ != nullptr) last.memory = owner_->take_memory();
      last.staging = std::move(staging_);
      device::DeferredWork::instance().defer(std::move(left));
      return true;
    } catch (...) {
      return false;
    }
  }

  void clean_up(bool submitted) noexcept {
    if (!submitted) order_memory();
    if (submitted && !route_.drain()) abandon_memory();
  }

  // Makes unused memory wait for the queue that allocated it.
  void order_memory() noexcept {
    try {
      if (owner_ != nullptr) owner_->memory().allocation.order_after(route_.target_queue());
    } catch (const std::exception& error) {
      log(LogLevel::kError, error.what());
    }
  }

  // Abandons the memory for good, because the library cannot tell when the device has finished with it.
  void abandon_memory() noexcept {
    device::DeferredWork::abandon(owner_->take_memory());
    if (staging_ != nullptr) device::DeferredWork::abandon(std::move(staging_));
  }

  void place() {
    placed_ = place_buffers(array_, plan_,
                            {.alignment = std::max(kLeastAlignment, target().info().sub_buffer_alignment),
                             .source_on_host = route_.source_on_host(),
                             .target_on_host = route_.target_on_host(),
                             .sizes_on_host = target().has_addresses(),
                             .whole = request_.whole},
                            scratch_.memory());
  }

  void allocate() {
    owner_ = std::make_shared<CopyOwner>(std::make_unique<CopyMemory>(target()));
    if (placed_.device_bytes == 0) return;
    const auto pool = request_.pool != nullptr ? request_.pool : target().pool();
    owner_->memory().allocation =
        pool->allocate(queue_is_targets() ? &route_.target_queue() : nullptr, placed_.device_bytes, request_.holder);
  }

  bool queue_is_targets() const { return &route_.target_queue().device() == &target(); }

  // Returns the buffers of the source if a copy of the library made it.
  PaddedBuffers padded_source() const {
    if (route_.source_on_host() || !array::is_output(array_[0])) return {};
    const auto* const owner = dynamic_cast<const CopyOwner*>(array::owner_of(array_[0]).get());
    return owner != nullptr ? owner->padded() : PaddedBuffers{};
  }

  // Notes where the buffers end. Memory that the CPU uses is copied by the CPU, which adds the padding.
  void note_ends() {
    if (route_.target_on_host() || !target().has_addresses()) return;
    owner_->ends_of_buffers.reserve(placed_.buffers.size());
    for (const auto& buffer : placed_.buffers) {
      if (!buffer.on_host) owner_->ends_of_buffers.push_back(buffer.end());
    }
  }

  // Builds the structs and pointers of the copy, with the final addresses of the buffers.
  void build_output() {
    // Each field but the root is the child or dictionary of another.
    output_.emplace(array::OutputShape{tree_.size(), tree_.size() - 1, array_.buffer_count()});
    nodes_.reserve(static_cast<size_t>(tree_.size()));
    for (int32_t field = 0; field < tree_.size(); ++field) {
      auto& node = output_->add_node(array_.buffer_count(field), tree_[field].n_children);
      const auto& planned = plan_[field];
      node.length = planned.length;
      node.offset = planned.offset;
      node.null_count = schema::null_count_of_rows(array_, field, planned.length, planned.is_all);
      if (node.null_count < 0) count_nulls(field, node);
      nodes_.push_back(&node);
      attach(field, &node);
    }
    if (placed_.host_bytes > 0) {
      const auto padded = static_cast<size_t>(align_up(placed_.host_bytes, kPaddedTo));
      owner_->host_bytes.reset(new uint8_t[padded]());
    }
    for (const auto& buffer : placed_.buffers) {
      nodes_[static_cast<size_t>(buffer.field)]->buffers[buffer.position] = buffer_of(buffer);
    }
  }

  // Counts the nulls of a field if its bitmap is on the CPU: in host memory, or read back for its views.
  void count_nulls(int32_t field, ArrowArray& node) const {
    const auto& planned = plan_[field];
    if (route_.source_on_host()) {
      const auto* const bits = static_cast<const uint8_t*>(array_.buffers(field)[0]);
      node.null_count = node.length - count_bits(bits, planned.slots.first + node.offset, node.length);
    } else if (plan_.has_references(field) && node.length == planned.slots.rows()) {
      const auto& validity = plan_.refs(field).index.validity;
      if (validity.bits != nullptr) {
        node.null_count = node.length - count_bits(validity.bits, validity.bit, node.length);
      }
    }
  }

  // Counts the nulls of a bitmap that has arrived in host memory.
  void count_arrived_nulls(const OutputBuffer& buffer, const uint8_t* bits) {
    auto& node = *nodes_[static_cast<size_t>(buffer.field)];
    if (node.null_count < 0) node.null_count = node.length - count_bits(bits, node.offset, node.length);
  }

  // Attaches a field to its parent. In the tree, children follow their parents, side by side.
  void attach(int32_t field, ArrowArray* node) {
    const auto& described = tree_[field];
    if (described.parent < 0) return;
    auto& parent = *nodes_[static_cast<size_t>(described.parent)];
    if (described.is_dictionary) {
      parent.dictionary = node;
    } else {
      parent.children[field - tree_[described.parent].first_child] = node;
    }
  }

  const void* buffer_of(const OutputBuffer& buffer) {
    if (buffer.on_host) {
      auto* const bytes = owner_->host_bytes.get() + buffer.offset;
      write_buffer(array_, plan_, buffer, bytes);
      return bytes;
    }
    // Kernels may read whole words, so the padding belongs to the buffer.
    return owner_->memory().allocation.sub_buffer(buffer.offset, buffer.padded_end() - buffer.offset);
  }

  // Finishes the copy. Waits for it, unless the caller accepts an event instead.
  void finish(bool has_arrived) {
    if (!has_arrived) event_ = route_.target_queue().record();
    const bool may_return_early =
        !has_arrived && is_async() && !placed_.needs_adjusting && &event_->device().backend() == &target().backend();
    if (may_return_early) {
      sync_event_ = event_->publish();
      owner_->event = event_;
      owner_->memory().after = event_;
      // The order of a wrapped queue is not known: it may be another queue on each thread.
      const auto& queue = route_.target_queue();
      const bool is_in_order = queue_is_targets() && owner_->memory().allocation.may_be_reused_in_order();
      if (is_in_order && !queue.is_wrapped()) owner_->memory().queue = queue.id();
      if (staging_ != nullptr) {
        staging_->after = event_;
        staging_->later.begin();
      }
      return;
    }
    if (!has_arrived && !event_->wait(request_.deadline.left())) throw Error(ETIMEDOUT, kLate);
    if (!route_.target_on_host() || route_.source_on_host()) return;
    auto* const bytes = static_cast<uint8_t*>(owner_->memory().allocation.buffer());
    for (const auto& buffer : placed_.buffers) {
      if (buffer.origin == Origin::kCopiedThenAdjusted)
        adjust_in_place(plan_, tree_[buffer.field].type, buffer, bytes + buffer.offset);
      if (buffer.shape == schema::BufferShape::kValidity) count_arrived_nulls(buffer, bytes + buffer.offset);
    }
  }

  void publish(ArrowDeviceArray* out) noexcept {
    if (staging_ != nullptr) device::DeferredWork::instance().defer(std::move(staging_));
    *out = ArrowDeviceArray{};
    out->device_type = target().type();
    out->device_id = target().published_id();
    out->sync_event = sync_event_;
    output_->publish(std::move(owner_), &out->array);
  }

  CopyLog log_;
  const CopyRequest& request_;
  const schema::Binding& array_;
  const schema::Tree& tree_;
  Route route_;
  const device::ForeignEvent event_of_source_;
  SourceReader contents_;
  Scratch scratch_;
  Plan plan_{scratch_.memory()};
  PlacedBuffers placed_{scratch_.memory()};
  std::shared_ptr<CopyOwner> owner_;
  std::unique_ptr<DeferredStaging> staging_;  // NULL if the CPU copies
  std::optional<array::Output> output_;
  std::pmr::vector<ArrowArray*> nodes_{scratch_.memory()};
  std::shared_ptr<device::Event> event_;
  void* sync_event_ = nullptr;
};

}  // namespace

std::shared_ptr<device::Event> copy_array(const CopyRequest& request, ArrowDeviceArray* out) {
  return Copy(request).run(out);
}

}  // namespace arrowdevice::transfer

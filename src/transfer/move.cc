// SPDX-License-Identifier: Apache-2.0
#include "transfer/move.h"

#include <cerrno>
#include <optional>

#include "array/locate.h"
#include "array/owners.h"
#include "base/scratch.h"
#include "device/devices.h"
#include "transfer/copy.h"
#include "transfer/copy_log.h"
#include "transfer/gathered_copy.h"
#include "transfer/pinned.h"
#include "transfer/route.h"
#include "transfer/staging.h"

namespace arrowdevice::transfer {
namespace {

void take(ArrowDeviceArray& moved, const device::Device& to, void* sync_event, ArrowDeviceArray* out) noexcept {
  *out = ArrowDeviceArray{};
  out->array = moved.array;
  out->device_type = to.type();
  out->device_id = to.published_id();
  out->sync_event = sync_event;
  moved.array.release = nullptr;
}

void take(ArrowDeviceArray& moved, ArrowDeviceArray& to) noexcept {
  to = moved;
  moved.array.release = nullptr;
}

// Returns the event that the target's arrays carry. Events of one backend have one form. For other events this function
// waits.
void* event_for(const ArrowDeviceArray& moved, device::Device& source, device::Device& to, const Deadline& deadline) {
  if (moved.sync_event == nullptr) return nullptr;
  if (&source == &to) {
    device::ForeignEvent::check(source, moved.sync_event);
    return moved.sync_event;
  }
  const device::ForeignEvent event(source, moved.sync_event);
  if ((&source.backend() == &to.backend() && to.publishes_events())) return moved.sync_event;
  event.wait(deadline.left());
  return nullptr;
}

// Returns true if the array is handed over where it is. A device that would use the memory over the bus gets a copy,
// unless the caller rules copies out.
bool shares(const device::Device& source, const device::Device& to, const CopyOptions& options) {
  if (options.always || source.has_addresses() != to.has_addresses()) return false;
  const uint32_t flags = device::peer_flags(source, to);
  return (flags & ARROWDEVICE_PEER_ACCESS) != 0 && (options.never || (flags & ARROWDEVICE_PEER_REMOTE) == 0);
}

// Checks this even if sharing uses neither, so that validity does not depend on the path taken.
void check_queue_and_pool(const CopyOptions& options, const device::Device& source, const device::Device& to) {
  if (options.queue != nullptr) transfer::check_queue(*options.queue, source, to);
  if (options.pool != nullptr) transfer::check_pool(*options.pool, to);
}

CopyRequest request_of(const ArrowDeviceArray& array, ArrowDeviceArray* moved, device::Device& source,
                       device::Device& to, const CopyOptions& options) {
  return {.source = source,
          .sync_event = array.sync_event,
          .moved = moved,
          .target = to,
          .queue = options.queue,
          .pool = options.pool,
          .async = options.async,
          .holder = options.holder,
          .deadline = options.deadline};
}

// A copy in two passes if the array is small and on the CPU, and otherwise a copy by the engine.
class ChosenCopy {
 public:
  // Checks the array. `tree` is the schema if it has been read before.
  ChosenCopy(const ArrowDeviceArray& array, const ArrowSchema& schema, const schema::Tree* tree,
             const device::Device& to, const CopyOptions& options)
      : whole_(options.whole) {
    const bool is_from_cpu = options.source == nullptr || options.source->is_cpu();
    is_gathered_ = is_from_cpu && !whole_ && gathered_.measure(array, schema, to);
    if (is_gathered_) return;
    scratch_.emplace();
    if (tree == nullptr) tree = &tree_.emplace(schema, scratch_->memory());
    bound_.emplace(*tree, array.array, scratch_->memory());
  }

  // Returns the device of the array.
  device::Device& source(const ArrowDeviceArray& array, const CopyOptions& options) const {
    return is_gathered_ ? device::Devices::instance().cpu() : array::device_of(array, options.source);
  }

  std::shared_ptr<device::Event> run(const CopyRequest& request, ArrowDeviceArray* out) {
    return is_gathered_ ? gathered_.run(request, out) : copy_array(*bound_, whole_, request, out);
  }

 private:
  const bool whole_;
  bool is_gathered_;
  GatheredCopy gathered_;
  std::optional<Scratch> scratch_;
  std::optional<schema::Tree> tree_;
  std::optional<schema::Binding> bound_;
};

void to_device(ArrowDeviceArray& moved, const ArrowSchema& schema, const schema::Tree* tree, device::Device& to,
               const CopyOptions& options, ArrowDeviceArray* out) {
  array::check_alive(&moved);
  ChosenCopy copy(moved, schema, tree, to, options);
  auto& source = copy.source(moved, options);
  to.check_usable();
  check_queue_and_pool(options, source, to);
  if (shares(source, to, options)) {
    MoveLog log;
    take(moved, to, event_for(moved, source, to, options.deadline), out);
    log.moved(source, to);
    return;
  }
  if (options.never) {
    throw Error(ENOTSUP,
                to.text() + " cannot use memory of " + source.text() + " where it is, and copying is ruled out");
  }
  auto owned = std::make_unique<array::OwnedArray>();
  owned->after = copy.run(request_of(moved, &moved, source, to, options), out);
  take(moved, owned->array);
  device::DeferredWork::instance().defer(std::move(owned));
}

}  // namespace

void copy(const ArrowDeviceArray& array, const ArrowSchema& schema, device::Device& to, const CopyOptions& options,
          ArrowDeviceArray* out) {
  array::check_alive(&array);
  ChosenCopy copy(array, schema, nullptr, to, options);
  copy.run(request_of(array, nullptr, copy.source(array, options), to, options), out);
}

void copy(ArrowDeviceArray& inout, const schema::Tree& tree, device::Device& to, const CopyOptions& options,
          ArrowDeviceArray* out) {
  array::check_alive(&inout);
  ChosenCopy copy(inout, *tree[0].source, &tree, to, options);
  copy.run(request_of(inout, &inout, copy.source(inout, options), to, options), out);
}

void to_device(ArrowDeviceArray& moved, const ArrowSchema& schema, device::Device& to, const CopyOptions& options,
               ArrowDeviceArray* out) {
  to_device(moved, schema, nullptr, to, options, out);
}

void to_device(ArrowDeviceArray& moved, const schema::Tree& tree, device::Device& to, const CopyOptions& options,
               ArrowDeviceArray* out) {
  to_device(moved, *tree[0].source, &tree, to, options, out);
}

void check_queue_and_pool(const CopyOptions& options, ArrowDeviceType source, const device::Device& to) {
  if (options.source != nullptr) return check_queue_and_pool(options, *options.source, to);
  if (options.queue != nullptr) transfer::check_queue(*options.queue, source, to);
  if (options.pool != nullptr) transfer::check_pool(*options.pool, to);
}

bool move_blocks(const ArrowDeviceArray& moved, device::Device& to, const CopyOptions& options) {
  auto& source = array::device_of(moved, options.source);
  const bool is_shared = shares(source, to, options);
  if (is_shared && (&source == &to || moved.sync_event == nullptr)) return false;
  if (!options.async || !to.publishes_events()) return true;
  if (is_shared) return &source.backend() != &to.backend();
  // The CPU waits for the event of an array in host memory, and the driver may wait for the given queue's work.
  if (source.is_on_host() && moved.sync_event != nullptr) return true;
  if (options.queue != nullptr && to.blocks_on_pageable() && !transfer::has_pinned_staging(to)) return true;
  return transfer::Route::is_staged(source, to) || transfer::may_go_through_pinned(source, to);
}

void from_host(ArrowArray& moved, ArrowDeviceArray* out) {
  array::check_alive(&moved);
  *out = ArrowDeviceArray{};
  out->array = moved;
  moved.release = nullptr;
  out->device_type = ARROW_DEVICE_CPU;
  out->device_id = -1;
}

void to_host(ArrowDeviceArray& moved, const ArrowSchema& schema, const CopyOptions& options, ArrowArray* out) {
  ArrowDeviceArray host;
  to_device(moved, schema, device::Devices::instance().cpu(), options, &host);
  *out = host.array;
}

void release_after(ArrowDeviceArray& moved, device::Queue& queue) {
  array::check_alive(&moved);
  auto owned = std::make_unique<array::OwnedArray>();
  owned->after = queue.record();
  take(moved, owned->array);
  device::DeferredWork::instance().defer(std::move(owned));
}

}  // namespace arrowdevice::transfer

// SPDX-License-Identifier: Apache-2.0
// Streams and events of the machine.
#include <cstring>
#include <thread>

#include "base/error.h"
#include "machine/machine.h"
#include "machine/violation.h"
#include "sim/handle.h"

namespace standin {
namespace {

namespace sim = arrowdevice::sim;

void check_gpu(const Allocation& allocation, int device, const char* what) {
  if (allocation.kind != Kind::kDevice || allocation.device == device) return;
  violation("the %s of a copy is memory of GPU %d, where GPU %d was to be", what, allocation.device, device);
}

}  // namespace

std::shared_ptr<Stream> Machine::stream(void* handle) const {
  const auto found = streams_.find(handle);
  if (found == streams_.end()) violation("%p is not a live stream", handle);
  return found->second;
}

std::shared_ptr<Event> Machine::event(void* handle) const {
  const auto found = events_.find(handle);
  if (found == events_.end()) violation("%p is not a live event", handle);
  return found->second;
}

void* Machine::add_stream(int device) {
  auto made = std::make_shared<Stream>();
  made->id = next_stream_++;
  made->device = device;
  made->submissions = std::make_shared<sim::SubmissionQueue>();
  void* const handle = sim::new_handle();
  streams_.emplace(handle, std::move(made));
  return handle;
}

void* Machine::create_stream(int device) {
  const std::lock_guard lock(mutex_);
  return add_stream(device);
}

void* Machine::default_stream(int device, void* context) {
  const std::lock_guard lock(mutex_);
  void*& handle = default_streams_[{device, context}];
  if (handle == nullptr) handle = add_stream(device);
  return handle;
}

void Machine::destroy_default_stream(int device, void* context) {
  const std::lock_guard lock(mutex_);
  const auto found = default_streams_.find({device, context});
  if (found == default_streams_.end()) return;
  streams_.erase(found->second);
  default_streams_.erase(found);
}

// Destroys a stream. Its pending work continues.
void Machine::destroy_stream(int device, void* handle) {
  const std::lock_guard lock(mutex_);
  const auto gone = stream(handle);
  if (gone->device != device)
    violation("a stream of GPU %d is destroyed while GPU %d is current", gone->device, device);
  streams_.erase(handle);
}

int Machine::device_of_stream(void* handle) const {
  const std::lock_guard lock(mutex_);
  return stream(handle)->device;
}

void Machine::synchronize(void* handle) {
  Order known;
  auto fence = std::make_shared<sim::Fence>();
  {
    const std::lock_guard lock(mutex_);
    const auto on = stream(handle);
    known = on->knows;
    engines_[static_cast<size_t>(on->device)]->submit(on->submissions, sim::FireWork{.fence = fence, .doomed = false});
  }
  try {
    fence->wait(0);
  } catch (const arrowdevice::Error&) {
    if (!lost_) throw;
    return;
  }
  const std::lock_guard lock(mutex_);
  host_.merge(known);
}

void Machine::use(Stream& on, Allocation& allocation) {
  if (!on.knows.covers(allocation.made, host_)) {
    violation("memory at %#zx is used on a stream that does not wait for its allocation", allocation.start);
  }
  if (allocation.is_mapping && !allocation.users.contains(allocation.device)) {
    violation("the mapping %#zx is used, and no GPU has access", allocation.start);
  }
  allocation.used.set(on.id, on.work);
}

// Checks an end of a copy. Returns NULL for host memory that the driver does not know.
Allocation* Machine::check_end(uintptr_t address, size_t size, int device, const char* what) {
  if (address == 0) violation("the %s of a copy is NULL", what);
  const auto next = allocations_.upper_bound(address);
  const auto place = next == allocations_.begin() ? allocations_.end() : std::prev(next);
  if (place == allocations_.end() || address - place->second.start >= place->second.size) {
    const auto buried = dead_.upper_bound(address);
    if (buried != dead_.begin()) {
      const auto& [start, dead] = *std::prev(buried);
      if (address - start < dead.size)
        violation("the %s of a copy, %#zx, is %s that was freed", what, address, name_of(dead.kind));
    }
    if (sim::is_handle(reinterpret_cast<void*>(address))) violation("the %s of a copy is a handle", what);
    if (device >= 0) violation("the %s of a copy between GPUs, %#zx, is no memory of theirs", what, address);
    return nullptr;
  }
  Allocation& allocation = place->second;
  if (address - allocation.start + size > allocation.size) {
    violation("%zu bytes from %#zx on, the %s of a copy, reach out of an allocation of %zu bytes at %#zx", size,
              address, what, allocation.size, allocation.start);
  }
  if (device >= 0 && allocation.kind != Kind::kDevice) {
    violation("the %s of a copy between GPUs, %#zx, is %s", what, address, name_of(allocation.kind));
  }
  if (device >= 0) check_gpu(allocation, device, what);
  return &allocation;
}

sim::Transfer Machine::transfer(Stream& on, const Copy& copy) {
  if (copy.size == 0) violation("a copy of 0 bytes");
  Allocation* const to = check_end(copy.to, copy.size, copy.to_device, "target");
  Allocation* const from = check_end(copy.from, copy.size, copy.from_device, "source");
  // There is a single address space. Any stream can copy between the host and a GPU. A copy between GPUs names both,
  // unless their pools let the GPU of the stream use the memory in place.
  const bool is_on_gpus = to != nullptr && from != nullptr && to->kind == Kind::kDevice && from->kind == Kind::kDevice;
  const auto is_shared = [&](const Allocation& end) {
    return (end.pool != nullptr && end.pool->users.contains(on.device)) || end.users.contains(on.device);
  };
  if (is_on_gpus && copy.to_device < 0 && !copy.may_stage && !is_shared(*to)) check_gpu(*to, on.device, "target");
  if (is_on_gpus && copy.from_device < 0 && !copy.may_stage && !is_shared(*from)) {
    check_gpu(*from, on.device, "source");
  }
  if (copy.to < copy.from + copy.size && copy.from < copy.to + copy.size) {
    violation("source and target of a copy overlap");
  }
  const auto bytes = [](const Allocation* allocation, uintptr_t address) {
    const bool is_hidden = allocation != nullptr && allocation->kind == Kind::kDevice;
    return is_hidden ? allocation->pages->bytes() + (address - allocation->start)
                     : reinterpret_cast<std::byte*>(address);
  };
  for (Allocation* const end : {to, from}) {
    if (end != nullptr) use(on, *end);
  }
  return {.to_pages = to != nullptr ? to->pages : nullptr,
          .from_pages = from != nullptr ? from->pages : nullptr,
          .to = bytes(to, copy.to),
          .from = bytes(from, copy.from),
          .size = static_cast<int64_t>(copy.size)};
}

// Submits work, and a fence that tells when the stream has finished it.
void Machine::submit(Stream& on, sim::Work work) {
  auto& engine = *engines_[static_cast<size_t>(on.device)];
  engine.submit(on.submissions, std::move(work));
  on.end = std::make_shared<sim::Fence>();
  engine.submit(on.submissions, sim::FireWork{.fence = on.end, .doomed = false});
}

bool Machine::is_unknown(uintptr_t address) const {
  const auto next = allocations_.upper_bound(address);
  if (next == allocations_.begin()) return true;
  const auto& [start, allocation] = *std::prev(next);
  return address - start >= allocation.size;
}

bool Machine::is_of_host(uintptr_t address) const {
  const auto next = allocations_.upper_bound(address);
  return is_unknown(address) || std::prev(next)->second.kind == Kind::kPinned ||
         std::prev(next)->second.kind == Kind::kRegistered;
}

void Machine::wait_for_room(void* handle, size_t copies) {
  // Measured on an H200 with driver 580: the next copy waits in the call.
  constexpr size_t kMostUnfinished = 1021;
  for (;;) {
    std::shared_ptr<sim::Fence> oldest;
    {
      const std::lock_guard lock(mutex_);
      auto& unfinished = stream(handle)->unfinished;
      while (!unfinished.empty() && unfinished.front().end->finished()) unfinished.pop_front();
      size_t before = 0;
      for (const Unfinished& one : unfinished) before += one.copies;
      if (before == 0 || before + copies <= kMostUnfinished) return;
      oldest = unfinished.front().end;
    }
    oldest->wait(0);
  }
}

void Machine::copy(void* handle, const std::vector<Copy>& copies, Blocking blocking) {
  std::shared_ptr<sim::Fence> before;
  bool waits_for_copies = false;
  bool is_pageable = false;
  if (blocking != Blocking::kNone) {
    const std::lock_guard lock(mutex_);
    for (const Copy& one : copies) {
      is_pageable |= is_unknown(one.from) || is_unknown(one.to);
      const bool only_reads = is_unknown(one.from) && !is_of_host(one.to);
      if (only_reads && blocking == Blocking::kUntilRead) {
        before = stream(handle)->end;
      } else if (is_unknown(one.from) || is_unknown(one.to) || (is_of_host(one.from) && is_of_host(one.to))) {
        waits_for_copies = true;
      }
    }
  }
  if (is_pageable) calls_.enter("pageable copy");
  if (before != nullptr) before->wait(0);
  std::shared_ptr<sim::Fence> end;
  {
    const std::lock_guard lock(mutex_);
    const auto on = stream(handle);
    ++on->work;
    on->knows.set(on->id, on->work);
    sim::CopyWork work;
    for (const Copy& one : copies) work.transfers.push_back(transfer(*on, one));
    submit(*on, std::move(work));
    end = on->end;
    on->unfinished.push_back({end, copies.size()});
  }
  if (waits_for_copies) end->wait(0);
}

void Machine::wait_on(void* handle, void* event_handle) {
  const std::lock_guard lock(mutex_);
  const auto on = stream(handle);
  const auto waited = event(event_handle);
  if (waited->fence == nullptr) return;
  on->knows.merge(waited->at);
  submit(*on, sim::WaitWork{.fence = waited->fence});
}

// Copies from memory that has the value everywhere.
void Machine::fill(void* handle, uintptr_t to, unsigned char value, size_t size) {
  const std::lock_guard lock(mutex_);
  const auto on = stream(handle);
  ++on->work;
  on->knows.set(on->id, on->work);
  if (size == 0) violation("0 bytes are filled");
  Allocation* const target = check_end(to, size, -1, "target");
  if (target == nullptr) violation("%#zx is filled, and is no memory of the driver", to);
  check_gpu(*target, on->device, "target");
  use(*on, *target);
  auto source = std::make_shared<sim::Pages>(static_cast<int64_t>(size));
  std::memset(source->bytes(), value, size);
  const bool is_hidden = target->kind == Kind::kDevice;
  sim::CopyWork work;
  work.transfers.push_back(
      {.to_pages = target->pages,
       .from_pages = source,
       .to = is_hidden ? target->pages->bytes() + (to - target->start) : reinterpret_cast<std::byte*>(to),
       .from = source->bytes(),
       .size = static_cast<int64_t>(size)});
  submit(*on, std::move(work));
}

void Machine::call_back(void* handle, std::function<void()> body, uintptr_t word) {
  const auto reached = std::make_shared<sim::Fence>();
  const auto returned = std::make_shared<sim::Fence>();
  {
    const std::lock_guard lock(mutex_);
    const auto on = stream(handle);
    ++on->work;
    on->knows.set(on->id, on->work);
    if (word != 0) {
      Allocation* const waited = check_end(word, sizeof(uint32_t), -1, "word of a wait");
      if (waited == nullptr) violation("%#zx is waited for, and is no memory of the driver", word);
      use(*on, *waited);
    }
    auto& engine = *engines_[static_cast<size_t>(on->device)];
    engine.submit(on->submissions, sim::FireWork{.fence = reached, .doomed = false});
    submit(*on, sim::WaitWork{.fence = returned});
  }
  ++callbacks_;
  std::thread([this, reached, returned, body = std::move(body)] {
    try {
      reached->wait(0);
      is_in_callback_ = true;
      body();
      --callbacks_;
      returned->fire();
    } catch (const arrowdevice::Error& error) {  // the earlier work failed
      --callbacks_;
      returned->fail(error.what());
    }
  }).detach();
}

void* Machine::create_event(int device, bool blocks) {
  const std::lock_guard lock(mutex_);
  void* const handle = sim::new_handle();
  events_.emplace(handle,
                  std::make_shared<Event>(Event{.device = device, .blocks = blocks, .fence = nullptr, .at = {}}));
  return handle;
}

void Machine::destroy_event(int device, void* handle) {
  const std::lock_guard lock(mutex_);
  const auto gone = event(handle);
  if (gone->device != device)
    violation("an event of GPU %d is destroyed while GPU %d is current", gone->device, device);
  events_.erase(handle);
}

int Machine::device_of_event(void* handle) const {
  const std::lock_guard lock(mutex_);
  return event(handle)->device;
}

void Machine::record(void* event_handle, void* handle) {
  const std::lock_guard lock(mutex_);
  const auto recorded = event(event_handle);
  const auto on = stream(handle);
  if (recorded->device != on->device) {
    violation("an event of GPU %d is recorded on a stream of GPU %d", recorded->device, on->device);
  }
  auto fence = std::make_shared<sim::Fence>();
  engines_[static_cast<size_t>(on->device)]->submit(on->submissions, sim::FireWork{.fence = fence, .doomed = false});
  recorded->fence = std::move(fence);
  recorded->at = on->knows;
}

void Machine::record_all(void* event_handle, const std::function<bool(void* stream)>& is_included) {
  const std::lock_guard lock(mutex_);
  const auto recorded = event(event_handle);
  auto& engine = *engines_[static_cast<size_t>(recorded->device)];
  const auto all = std::make_shared<sim::SubmissionQueue>();
  Order known;
  for (const auto& [handle, on] : streams_) {
    if (on->device != recorded->device || !is_included(handle)) continue;
    if (on->end != nullptr) engine.submit(all, sim::WaitWork{.fence = on->end});
    known.merge(on->knows);
  }
  auto fence = std::make_shared<sim::Fence>();
  engine.submit(all, sim::FireWork{.fence = fence, .doomed = false});
  recorded->fence = std::move(fence);
  recorded->at = known;
}

void Machine::expect_fire(void* handle) {
  const std::lock_guard lock(mutex_);
  event(handle)->fence = std::make_shared<sim::Fence>();
}

void Machine::fire(void* handle) {
  const std::lock_guard lock(mutex_);
  event(handle)->fence->fire();
}

bool Machine::is_done(void* handle) {
  const std::lock_guard lock(mutex_);
  const auto asked = event(handle);
  if (asked->fence != nullptr && !asked->fence->finished()) return false;
  host_.merge(asked->at);
  return true;
}

bool Machine::wait(void* handle, int64_t timeout_ns) {
  std::shared_ptr<sim::Fence> fence;
  Order known;
  bool spins = false;
  {
    const std::lock_guard lock(mutex_);
    const auto waited = event(handle);
    fence = waited->fence;
    known = waited->at;
    spins = !waited->blocks && fence != nullptr && !fence->finished();
  }
  if (spins) calls_.enter("spinning wait");
  try {
    if (fence != nullptr) fence->wait(timeout_ns);
  } catch (const arrowdevice::Error& e) {
    if (e.code() != ETIMEDOUT && !lost_) throw;
    return false;
  }
  const std::lock_guard lock(mutex_);
  host_.merge(known);
  return true;
}

}  // namespace standin

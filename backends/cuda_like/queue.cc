// SPDX-License-Identifier: Apache-2.0
#include "cuda_like/queue.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <shared_mutex>
#include <thread>
#include <vector>

#include "base/deadline.h"

namespace arrowdevice::cuda_like {
namespace {

// Intervals between polls. They grow from the first to the longest.
constexpr std::chrono::microseconds kFirstPause{2};
constexpr std::chrono::microseconds kLongestPause{200};
// A wait without a limit asks for this time before it blocks.
constexpr std::chrono::microseconds kLongestSpin{50};

NativeEvent checked(const NativeEvent* published) {
  if (published == nullptr || *published == nullptr) {
    throw Error(EINVAL, "sync_event must be the address of an event's handle, which is NULL");
  }
  return *published;
}

using Region = arrowdevice_backend_region;

Piece piece_of(const Region& region) {
  return {.to = static_cast<char*>(region.dst) + region.dst_offset,
          .from = static_cast<const char*>(region.src) + region.src_offset,
          .size = region.size};
}

// Returns the device of the memory, or NULL for memory that every GPU can access.
Device* owner(void* device_handle) {
  auto* const device = static_cast<Device*>(device_handle);
  return device != nullptr && device->kind == MemoryKind::kDevice ? device : nullptr;
}

// Managed memory that a queue writes. It is prefetched to the queue's GPU, because the GPU then does not fetch the
// pages one by one. Regions of one buffer are one range.
class Targets {
 public:
  Targets(Driver& driver, const Gpu& gpu, Stream stream) : driver_(driver), gpu_(gpu), stream_(stream) {}

  void add(const Region& region, const Piece& piece) {
    const auto* const device = static_cast<const Device*>(region.dst_device);
    const bool is_managed = device != nullptr && device->kind == MemoryKind::kManaged;
    if (!is_managed || !gpu_.properties().shares_managed_memory) return;
    auto* const begin = static_cast<char*>(piece.to);
    if (region.dst != buffer_) {
      prefetch();
      buffer_ = region.dst;
      begin_ = begin;
      end_ = begin + piece.size;
    } else {
      begin_ = std::min(begin_, begin);
      end_ = std::max(end_, begin + piece.size);
    }
  }

  void prefetch() {
    if (buffer_ != nullptr) driver_.prefetch(begin_, end_ - begin_, gpu_.ordinal(), stream_);
  }

 private:
  Driver& driver_;
  const Gpu& gpu_;
  const Stream stream_;
  const void* buffer_ = nullptr;
  char* begin_ = nullptr;
  char* end_ = nullptr;
};

// Checks if the driver can access an address directly: its own memory, or pinned memory.
class Pinned {
 public:
  explicit Pinned(Driver& driver) : driver_(driver) {}

  bool has(void* device_handle, const void* address, int64_t size) {
    if (device_handle != nullptr || is_in_last(address, size)) return true;
    const auto facts = driver_.find_pointer(address);
    if (!facts) return false;
    last_ = *facts;
    return true;
  }

 private:
  // Consecutive regions often lie in one block.
  bool is_in_last(const void* address, int64_t size) const {
    const auto start = reinterpret_cast<uintptr_t>(last_.base);
    const auto at = reinterpret_cast<uintptr_t>(address);
    return last_.size > 0 && at >= start &&
           at - start + static_cast<uintptr_t>(size) <= static_cast<uintptr_t>(last_.size);
  }

  Driver& driver_;
  PointerFacts last_{.kind = MemoryKind::kPinned, .ordinal = 0, .base = nullptr, .size = 0};
};

bool is_of(const Gpu& gpu, const Device* device) { return device == nullptr || &device->gpu == &gpu; }

// Returns true if `gpu` can use the memory at one end of a copy in place. Memory of another GPU must be of the
// library's own pool, which the function shares with `gpu`, or memory that other processes can open.
bool can_use(Gpu& gpu, Device* device, const void* address) {
  if (is_of(gpu, device) || device->memory.is_shared_with(gpu.ordinal(), address)) return true;
  return device->memory.is_of_pool(address) && device->gpu.shares_pool_with(gpu);
}

// Copies between memory of two GPUs or contexts that the library cannot share between them. The driver may stage the
// bytes in host memory. A driver is reported to write nothing into pools that others may use when the copy names both
// GPUs.
void copy_foreign(Driver& driver, Gpu& gpu, Device& to, Device& from, const Piece& piece, Stream stream) {
  for (Device* const end : {&to, &from}) {
    if (end->gpu.ordinal() != gpu.ordinal()) gpu.enable_peer_access(end->gpu);
  }
  std::shared_lock<std::shared_mutex> unchanged;
  if (to.memory.is_of_pool(piece.to)) unchanged = to.gpu.grants();  // during the call, not until the copy has finished
  if (unchanged.owns_lock() && to.gpu.has_shared_pool()) {
    driver.copy(piece, stream);
  } else {
    driver.copy_peer(piece, to.gpu.ordinal(), to.gpu.context(), from.gpu.ordinal(), from.gpu.context(), stream);
  }
}

// Drivers have crashed and hung with tens of thousands of copies in a batch.
constexpr size_t kMostInBatch = 1024;

// Enqueues the pieces in batches. If a batch fails, enqueues its pieces one by one and gives up batches. A piece that
// was enqueued already is then copied twice, with the same result.
void copy_in_batches(Driver& driver, std::span<const Piece> pieces, Stream stream) {
  for (size_t first = 0; first < pieces.size(); first += kMostInBatch) {
    const auto batch = pieces.subspan(first, std::min(kMostInBatch, pieces.size() - first));
    if (batch.size() > 1 && driver.takes_batches(stream)) {
      try {
        driver.copy_batch(batch, stream);
        continue;
      } catch (const Error& error) {
        if (driver.is_fatal(error.native_code()) || error.code() == EBUSY) throw;
        driver.give_up_batches(error);
      }
    }
    for (const Piece& piece : batch) driver.copy(piece, stream);
  }
}

// Enqueues `regions` on `stream`, which belongs to `gpu`. The caller has made `gpu` current.
void copy_regions(Driver& driver, Gpu& gpu, Stream stream, std::span<const Region> regions) {
  std::vector<Piece> batch;
  const bool takes_batches = regions.size() > 1 && driver.takes_batches(stream);
  Pinned pinned(driver);
  Targets targets(driver, gpu, stream);
  for (const Region& region : regions) targets.add(region, piece_of(region));
  targets.prefetch();
  for (const Region& region : regions) {
    const Piece piece = piece_of(region);
    Device* const to = owner(region.dst_device);
    Device* const from = owner(region.src_device);
    if (to != nullptr && from != nullptr && !(can_use(gpu, to, piece.to) && can_use(gpu, from, piece.from))) {
      copy_foreign(driver, gpu, *to, *from, piece, stream);
    } else if (takes_batches && is_of(gpu, to) && is_of(gpu, from) &&
               pinned.has(region.dst_device, piece.to, piece.size) &&
               pinned.has(region.src_device, piece.from, piece.size)) {
      batch.push_back(piece);
    } else {
      driver.copy(piece, stream);
    }
  }
  copy_in_batches(driver, batch, stream);
}

}  // namespace

Event::Event(Gpu& gpu) : gpu_(gpu), native_(gpu.take_event()), is_borrowed_(false) {}

Event::Event(Gpu& gpu, const NativeEvent* published) : gpu_(gpu), native_(checked(published)), is_borrowed_(true) {}

Event::~Event() {
  if (!is_borrowed_) gpu_.return_event(native_);
}

bool Event::is_done() const {
  return gpu_.use([this](Driver& driver) { return driver.is_done(native_); });
}

// Polls if there is a time limit, because no driver has a wait with a time limit. Polls for a foreign event, because
// the driver may spin in a wait for it.
void Event::wait(int64_t timeout_ns) const {
  gpu_.use([&](Driver& driver) {
    const bool has_limit = timeout_ns != ARROWDEVICE_NO_TIMEOUT;
    if (has_limit || is_borrowed_) return poll(driver, timeout_ns);
    if (!is_done_soon(driver)) driver.wait(native_);
  });
}

void Event::poll(Driver& driver, int64_t timeout_ns) const {
  const Deadline deadline(timeout_ns);
  for (auto pause = kFirstPause; !driver.is_done(native_); pause = std::min(2 * pause, kLongestPause)) {
    const std::chrono::nanoseconds left(deadline.left());
    if (left.count() < 0) {
      throw Error(ETIMEDOUT, format("an event was still pending after %lld ns", static_cast<long long>(timeout_ns)));
    }
    std::this_thread::sleep_for(deadline.has_limit() ? std::min<std::chrono::nanoseconds>(pause, left) : pause);
  }
}

// Short work ends before a thread is asleep. Leaves failed queries to the wait that follows.
bool Event::is_done_soon(Driver& driver) const {
  const auto end = std::chrono::steady_clock::now() + kLongestSpin;
  try {
    do {
      if (driver.is_done(native_)) return true;
    } while (std::chrono::steady_clock::now() < end);
  } catch (const Error& error) {
    if (driver.is_fatal(error.native_code())) throw;
  }
  return false;
}

Queue::Queue(Device& device)
    : device_(device),
      stream_(device.gpu.use([](Driver& driver) { return driver.create_stream(); })),
      is_borrowed_(false) {}

Queue::Queue(Device& device, Stream borrowed)
    : device_(device), stream_(borrowed), is_borrowed_(true), is_known_outside_(true) {
  const auto place = gpu().use([&](Driver& driver) { return driver.place_of(borrowed); });
  if (!place) return;
  if (place->ordinal != gpu().ordinal()) {
    throw Error(EINVAL, format("the stream %p is of GPU %d, not of GPU %d", borrowed, place->ordinal, gpu().ordinal()));
  }
  if (place->context != gpu().context()) {
    throw Error(EINVAL,
                format("the stream %p is of the context %p, not of %p: wrap it on the device that was wrapped with its "
                       "context",
                       borrowed, place->context, gpu().context()));
  }
}

// The driver returns at once and destroys the stream when its work has finished.
Queue::~Queue() {
  if (is_borrowed_) return;
  gpu().give_back([this](Driver& driver) { driver.destroy_stream(stream_); });
}

void Queue::check_not_capturing(Driver& driver) const {
  if (is_captured(driver)) {
    throw Error(EBUSY, format("the stream %p is being captured into a graph: end the capture first", stream_));
  }
}

void Queue::copy(std::span<const arrowdevice_backend_region> regions) {
  gpu().use([&](Driver& driver) {
    check_not_capturing(driver);
    copy_regions(driver, gpu(), stream_, regions);
  });
}

std::unique_ptr<Event> Queue::record() {
  auto event = std::make_unique<Event>(gpu());
  gpu().use([&](Driver& driver) {
    check_not_capturing(driver);
    driver.record(event->native(), stream_);
  });
  return event;
}

void Queue::wait(const Event& event) {
  gpu().use([&](Driver& driver) {
    check_not_capturing(driver);
    // A query refuses an event that was recorded in a capture. A wait for it would make this stream part of the graph.
    if (event.is_borrowed()) driver.is_done(event.native());
    driver.wait_on(stream_, event.native());
  });
}

}  // namespace arrowdevice::cuda_like

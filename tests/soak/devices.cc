// SPDX-License-Identifier: Apache-2.0
// Operations on buffers, queues, pools and devices.
#include "report.h"
#include "worker.h"

namespace soak {

namespace {

// The address of this thread's variable is the context that it wraps.
thread_local char own_context = 0;

std::vector<unsigned char> random_bytes(Random& dice, int64_t size) {
  std::vector<unsigned char> bytes(static_cast<size_t>(size));
  for (auto& byte : bytes) byte = static_cast<unsigned char>(dice.next());
  return bytes;
}

// A buffer of a device during an operation.
class DeviceBytes {
 public:
  explicit DeviceBytes(arrowdevice_device* device) : device_(device) {}
  ~DeviceBytes() {
    const Planned nothing;
    if (buffer_ != nullptr) arrowdevice_buffer_free(device_, nullptr, buffer_);
  }
  DeviceBytes(const DeviceBytes&) = delete;

  arrowdevice_device* device() const { return device_; }
  void* get() const { return buffer_; }
  void** out() { return &buffer_; }

 private:
  arrowdevice_device* const device_;
  void* buffer_ = nullptr;
};

arrowdevice_copy_region between(arrowdevice_device* to, void* dst, arrowdevice_device* from, const void* src) {
  arrowdevice_copy_region region{};
  region.dst_device = to;
  region.dst = dst;
  region.src_device = from;
  region.src = src;
  return region;
}

// Splits a copy of `size` bytes into some regions.
std::vector<arrowdevice_copy_region> in_pieces(arrowdevice_copy_region whole, int64_t size, Random& dice) {
  std::vector<arrowdevice_copy_region> regions;
  for (int64_t at = 0; at < size;) {
    whole.dst_offset = whole.src_offset = at;
    whole.size = 1 + dice.below(size - at);
    at += whole.size;
    regions.push_back(whole);
  }
  return regions;
}

// Replaces a queue for a time, and destroys the replacement.
class InPlaceOf {
 public:
  InPlaceOf(arrowdevice_queue*& place, arrowdevice_queue* other)
      : place_(place), former_(std::exchange(place, other)) {}
  ~InPlaceOf() { arrowdevice_queue_destroy(std::exchange(place_, former_)); }
  InPlaceOf(const InPlaceOf&) = delete;

 private:
  arrowdevice_queue*& place_;
  arrowdevice_queue* const former_;
};

// Waits until the queue is idle in the destructor, because the host memory must outlive the queue's work.
// It repeats the wait, because an injected fault may fail a wait.
class Finished {
 public:
  explicit Finished(arrowdevice_queue* queue) : queue_(queue) {}
  ~Finished() {
    for (int tries_left = 100; tries_left > 0; --tries_left) {
      if (arrowdevice_queue_finish(queue_, ARROWDEVICE_NO_TIMEOUT, nullptr) == 0) return;
    }
  }
  Finished(const Finished&) = delete;

 private:
  arrowdevice_queue* const queue_;
};

}  // namespace

// Submits the regions and waits for them, even after a failure, because they use the host memory until
// then.
bool Worker::copy_bytes(size_t place, const std::vector<arrowdevice_copy_region>& regions, bool is_full) {
  const Risk risk{.full = is_full};
  const auto finish = [&](auto* error) {
    return arrowdevice_queue_finish(queues_[place], ARROWDEVICE_NO_TIMEOUT, error);
  };
  std::optional<Finished> finished_at_last(queues_[place]);
  const Outcome copied = call("queue_copy", risk, [&](auto* error) {
    return arrowdevice_queue_copy(queues_[place], regions.data(), static_cast<int64_t>(regions.size()), error);
  });
  const Outcome finished = call("queue_finish", risk, finish);
  if (copied.spoils || finished.spoils) {
    finished_at_last.reset();
    renew_queue(place);
    return false;
  }
  if (finished.code != 0) must(finish);
  return copied.code == 0 && finished.code == 0;
}

// Copies bytes from the host to a device, within it, and back.
void Worker::bytes_on(size_t place) {
  auto* const device = at(place).device;
  const int64_t size = one_in(10) ? 1 + dice_.below(1 << 20) : 1 + dice_.below(5000);
  const auto sent = random_bytes(dice_, size);
  std::vector<unsigned char> received(sent.size());
  const bool is_pooled = one_in(2);
  const bool is_full = at(place).is_small() || (is_pooled && pools_[place].is_capped);
  DeviceBytes first(device);
  DeviceBytes second(device);
  for (DeviceBytes* buffer : {&first, &second}) {
    const Outcome outcome = call("buffer_allocate", {.full = is_full}, [&](auto* error) {
      return arrowdevice_buffer_allocate(device, is_pooled ? pools_[place].handle : nullptr, nullptr, size,
                                         buffer->out(), error);
    });
    if (outcome.code != 0) return expect(*buffer->out() == nullptr, "buffer_allocate failed and gave a buffer");
  }
  const arrowdevice_copy_region steps[] = {
      between(device, first.get(), nullptr, sent.data()),
      between(device, second.get(), device, first.get()),
      between(nullptr, received.data(), device, second.get()),
  };
  for (const auto& step : steps) {
    if (!copy_bytes(place, in_pieces(step, size, dice_), is_full)) return;
  }
  expect(sent == received, "other bytes came back");
  tally().bytes += size;
}

// Replaces a queue, which may have pending work, by a new queue. Otherwise it wraps the same native queue for a time.
void Worker::queues() {
  const size_t place = some_place();
  if (!at(place).is_simulated() || one_in(2)) return renew_queue(place);
  auto native = sized<arrowdevice_native_queue>();
  const Outcome named = call("queue_get_native", {},
                             [&](auto* error) { return arrowdevice_queue_get_native(queues_[place], &native, error); });
  if (named.code != 0) return;
  arrowdevice_queue* wrapped = nullptr;
  const Outcome outcome = call("queue_wrap", {}, [&](auto* error) {
    return arrowdevice_queue_wrap(at(place).device, &native, &wrapped, error);
  });
  if (outcome.code != 0) return expect(wrapped == nullptr, "queue_wrap failed and gave a queue");
  const InPlaceOf put(queues_[place], wrapped);
  bytes_on(place);
}

void Worker::pools() {
  const size_t place = some_place();
  switch (below(4)) {
    case 0: {
      arrowdevice_pool_destroy(std::exchange(pools_[place], {}).handle);
      pools_[place] = make_pool(place);
      break;
    }
    case 1: must(arrowdevice_pool_trim, pools_[place].handle); break;
    case 2: {
      auto* pool = output_of(arrowdevice_device_get_pool, at(place).device);
      must(arrowdevice_pool_trim, pool);
      break;
    }
    default: {
      auto stats = output_of(arrowdevice_pool_get_stats, pools_[place].handle);
      expect(stats.used_bytes >= 0 && stats.cached_bytes >= 0, "a pool counts less than nothing");
      expect(stats.used_bytes + stats.cached_bytes <= stats.peak_bytes, "a pool has more than its peak");
    }
  }
}

// Runs deferred work. It does not wait for the end, because other threads keep deferring work.
void Worker::deferred() {
  if (one_in(2)) {
    int64_t done = -1;
    must(arrowdevice_deferred_run, one_in(2) ? -1 : 3, &done);
    return expect(done >= 0, "deferred_run does not say how many items it destroyed");
  }
  call("wait_idle", {.brief = true},
       [&](auto* error) { return arrowdevice_wait_idle(1 + dice_.below(2'000'000), error); });
}

void Worker::devices() {
  const size_t place = some_place();
  auto* const device = at(place).device;
  auto info = output_of(arrowdevice_device_get_info, device);
  expect(std::memcmp(&info, &at(place).info, sizeof info) == 0, "a device has changed");

  int64_t free_bytes = -1;
  int64_t total_bytes = -1;
  const Outcome asked = call("device_get_memory_info", {}, [&](auto* error) {
    return arrowdevice_device_get_memory_info(device, &free_bytes, &total_bytes, error);
  });
  if (asked.code == 0 && total_bytes >= 0) expect(free_bytes <= total_bytes, "a device has more than all its memory");

  auto now = output_of(arrowdevice_device_get_counters, device);
  auto& before = counters_[place];
  expect(now.driver_allocations >= before.driver_allocations && now.submissions >= before.submissions &&
             now.regions >= before.regions && now.events >= before.events && now.bytes_in >= before.bytes_in &&
             now.bytes_out >= before.bytes_out,
         "a device counts backwards");
  before = now;

  uint32_t reach = 0;
  const size_t other = some_place();
  const Outcome outcome = call("device_get_peer_flags", {}, [&](auto* error) {
    return arrowdevice_device_get_peer_flags(device, at(other).device, &reach, error);
  });
  constexpr uint32_t kBoth = ARROWDEVICE_PEER_ACCESS | ARROWDEVICE_PEER_COPY;
  if (outcome.code == 0 && other == place) expect_equal(reach, kBoth, "what a device can do with its own memory");
}

// Wraps a context of the program. It stays wrapped for the arrays of later operations.
void Worker::wrap() {
  const int64_t id = dice_.below(kSims);
  auto*& device = wrapped_[static_cast<size_t>(id)];
  if (device == nullptr) {
    auto native = sized<arrowdevice_native_device>();
    native.context = &own_context;
    const Outcome wrapped = call("device_wrap", {}, [&](auto* error) {
      return arrowdevice_device_wrap(ARROW_DEVICE_EXT_DEV, id, &native, &device, error);
    });
    if (wrapped.code != 0) return expect(device == nullptr, "device_wrap failed and gave a device");
    const std::lock_guard lock(run_.mutex);
    run_.wrapped.push_back(device);
  }
  Item item = fresh();
  Array there;
  const Outcome outcome = fill("array_copy", {.full = true}, item, there, [&](auto* filled, auto* error) {
    return arrowdevice_array_copy(item.array.get(), &item.type(), device, nullptr, filled, error);
  });
  if (outcome.code != 0) return;
  Item made = item.with(std::move(there));
  made.is_spoiled = outcome.spoils;
  check_rows(made);
}

}  // namespace soak

// SPDX-License-Identifier: Apache-2.0
#include "worker.h"

#include <algorithm>
#include <cstdlib>

#include "report.h"

namespace soak {

namespace {

constexpr size_t kMostHeld = 12;   // arrays of a thread
constexpr int64_t kLeaksAt = 100;  // the operation that forgets a release, if a leak is injected

std::array<std::atomic<int64_t>, 64> times{};

uint64_t mixed(uint64_t a, uint64_t b) { return Random(a ^ (b * 0x9E3779B97F4A7C15U)).next(); }

// Allocates a block of host memory for pools with an allocator of the program.
int allocate_block(void* user, int64_t size, int64_t alignment, void*, void** out) {
  *out = std::aligned_alloc(static_cast<size_t>(alignment), static_cast<size_t>((size + alignment - 1) & -alignment));
  if (*out == nullptr) return ENOMEM;
  ++static_cast<Run*>(user)->cpu_blocks;
  return 0;
}

void free_block(void* user, void* block, int64_t, void*) {
  std::free(block);
  --static_cast<Run*>(user)->cpu_blocks;
}

}  // namespace

size_t Run::place_of(const ArrowDeviceArray& array) const {
  const auto found = std::ranges::find_if(places, [&](const Place& place) {
    if (place.info.device_type != array.device_type) return false;
    return place.is_cpu() || place.info.device_id == array.device_id;
  });
  if (found == places.end()) wrong("an array is on no known device");
  return static_cast<size_t>(found - places.begin());
}

std::span<const Worker::Operation> Worker::operations() {
  static constexpr Operation kOperations[] = {
      {"copy", 4, &Worker::copy},
      {"to_device chain", 4, &Worker::chain},
      {"to_host", 2, &Worker::to_host},
      {"share", 1, &Worker::share},
      {"slice", 2, &Worker::slice},
      {"select", 2, &Worker::select},
      {"export", 2, &Worker::export_again},
      {"import", 3, &Worker::view},
      {"release", 2, &Worker::release},
      {"release_after", 2, &Worker::release_after},
      {"child moved out", 1, &Worker::move_child_out},
      {"wait", 2, &Worker::wait},
      {"validate", 2, &Worker::validate},
      {"read", 2, &Worker::read},
      {"exchange", 4, &Worker::exchange},
      {"pull stream", 2, &Worker::pull},
      {"async stream", 2, &Worker::async},
      {"bytes", 2, &Worker::bytes},
      {"queue", 1, &Worker::queues},
      {"pool", 1, &Worker::pools},
      {"deferred_run, wait_idle", 1, &Worker::deferred},
      {"device", 1, &Worker::devices},
      {"wrap", 1, &Worker::wrap},
  };
  return kOperations;
}

int64_t Worker::times_done(size_t operation) { return times[operation]; }

Worker::Worker(Run& run, size_t number) : run_(run), number_(number), doing_(run.doing[number]) {
  dice_ = Random(seed());
  doing_.operation = 0;
  for (size_t place = 0; place < run.places.size(); ++place) {
    queues_.push_back(make_queue(place));
    pools_.push_back(make_pool(place));
  }
  counters_.resize(run.places.size());
}

Worker::~Worker() {
  items_.clear();
  for (auto* queue : queues_) arrowdevice_queue_destroy(queue);
  for (const Pool& pool : pools_) arrowdevice_pool_destroy(pool.handle);
  doing_.name = "";
}

uint64_t Worker::seed() const { return mixed(mixed(run_.seed, static_cast<uint64_t>(run_.round)), number_); }

void Worker::run() {
  const auto has_more = [this] { return run_.operations < 0 ? !run_.is_over : doing_.operation < run_.operations; };
  // Stops when an injected mistake is found, because its damage makes later results unpredictable.
  const auto is_found = [this] { return run_.mistake != Mistake::kNone && tally().wrong > 0; };
  while (has_more() && !is_found() && !is_too_much_wrong()) one_operation();
  doing_.name = "the end";
  try {
    for (const Item& item : items_) {
      if (!is_found()) check_rows(item);
    }
  } catch (const Wrong& e) {
    note_wrong(where(), e.what());
  }
}

// Runs an operation. Only the seeds and its number determine which.
void Worker::one_operation() {
  const int64_t number = ++doing_.operation;
  dice_ = Random(mixed(seed(), static_cast<uint64_t>(number)));
  const size_t chosen = some_operation();
  doing_.name = operations()[chosen].name;
  last_fault_.clear();
  try {
    if (run_.mistake == Mistake::kLeak && number == kLeaksAt) fresh().array.take();
    while (items_.size() > kMostHeld) release();
    if (items_.empty()) make();
    (this->*operations()[chosen].run)();
  } catch (const Wrong& e) {
    note_wrong(where(), e.what());
  }
  ++times[chosen];
}

size_t Worker::some_operation() {
  const auto all = operations();
  int64_t weight = 0;
  for (const Operation& one : all) weight += one.weight;
  int64_t left = dice_.below(weight);
  size_t chosen = 0;
  while (left >= all[chosen].weight) left -= all[chosen++].weight;
  return chosen;
}

std::string Worker::where() const {
  std::string text = "seed " + std::to_string(run_.seed) + ", round " + std::to_string(run_.round) + ", thread " +
                     std::to_string(number_) + ", operation " + std::to_string(doing_.operation) + " (" +
                     doing_.name.load() + ")";
  if (!last_fault_.empty()) text += ", after a fault in " + last_fault_;
  return text;
}

// -- items

Item Worker::take() {
  std::swap(some_item(), items_.back());
  Item item = std::move(items_.back());
  items_.pop_back();
  return item;
}

// Takes the last item. Some items are not read, and work that fills them may be pending.
Item Worker::take_last() {
  Item item = take();
  if (!one_in(4)) check_rows(item);
  return item;
}

Item Worker::fresh() {
  Item item;
  item.rows = Rows::some(dice_);
  HostArray host = item.rows->host(run_.ledger);
  must(arrowdevice_array_from_host, host.get(), item.array.out());
  return item;
}

// Keeps an item for later operations. Half of the spoiled items are dropped at once.
void Worker::keep(Item item) {
  if (item.is_spoiled && one_in(2)) return;
  items_.push_back(std::move(item));
}

arrowdevice_queue* Worker::make_queue(size_t place) const {
  return output_of(arrowdevice_queue_create, at(place).device);
}

void Worker::renew_queue(size_t place) {
  arrowdevice_queue_destroy(queues_[place]);
  queues_[place] = nullptr;
  queues_[place] = make_queue(place);
}

Worker::Pool Worker::make_pool(size_t place) {
  auto options = sized<arrowdevice_pool_options>();
  Pool pool;
  switch (below(4)) {
    case 0: options.max_cached_bytes = -1; break;
    case 1:
      options.max_bytes = 1 << 20;
      pool.is_capped = true;
      break;
    case 2:
      if (!at(place).is_cpu()) break;
      options.allocate = allocate_block;
      options.deallocate = free_block;
      options.user = &run_;
      break;
    default: break;
  }
  must(arrowdevice_pool_create, at(place).device, &options, &pool.handle);
  return pool;
}

}  // namespace soak

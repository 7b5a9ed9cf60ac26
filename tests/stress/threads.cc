// SPDX-License-Identifier: Apache-2.0
// Sixteen threads copy, move, share, slice, select, import, wait for and release arrays. They do this on
// four devices and the CPU in random order, and exchange arrays. The expected rows of every array are
// known, and are compared now and then.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <numeric>
#include <optional>

#include "program.h"

namespace {

using namespace stress;  // NOLINT: what every line of these programs is written with

constexpr int kThreads = 16;
constexpr int kRounds = 2000;     // operations of a thread
constexpr size_t kMostHeld = 12;  // arrays of a thread
constexpr int64_t kSims = 4;

// Returns the rows of the arrays. At least one kind is not a struct.
const std::vector<std::unique_ptr<SampleRows>>& samples() {
  static const auto* const made = [] {
    auto* const all = new std::vector<std::unique_ptr<SampleRows>>;
    all->push_back(std::make_unique<SampleRows>(batch(), Knobs{.rows = 60}));
    all->push_back(std::make_unique<SampleRows>(struct_of({field("vu"), dictionary_of("c", field("u")),
                                                           list_view_of(field("i")), run_end_encoded("i", field("s"))})
                                                    .not_null(),
                                                Knobs{.rows = 45, .offset = 3, .child_offset = 5}));
    all->push_back(std::make_unique<SampleRows>(list_of(struct_of({field("l"), field("b")})), Knobs{.rows = 80}));
    return all;
  }();
  return *made;
}

// An array, with the sample and the range of rows that it must have.
struct Item {
  Array array;
  const SampleRows* sample = nullptr;
  std::shared_ptr<Schema> schema;  // of the selection
  std::vector<int64_t> columns;    // of the sample; empty means all
  int64_t first = 0;

  int64_t length() const { return array->array.length; }
  const ArrowSchema& type() const { return schema != nullptr ? **schema : *sample->schema; }

  // Returns an item with the same rows in another array.
  Item with(Array other) const { return {std::move(other), sample, schema, columns, first}; }
};

// Compares the rows by column if there are columns, otherwise as a whole.
void check_rows(const Item& item) {
  const Array here = copy(*item.array, item.type(), cpu());
  check_same(arrowdevice::testing::problem(item.type(), here->array));
  const SampleRows& sample = *item.sample;
  if (item.columns.empty()) {
    check_same(arrowdevice::testing::difference(*sample.schema, *sample.twin, item.first, item.type(), here->array, 0,
                                                here->array.length));
    return;
  }
  for (size_t i = 0; i < item.columns.size(); ++i) {
    const auto column = static_cast<size_t>(item.columns[i]);
    check_same(arrowdevice::testing::difference(*sample.schema->children[column], *sample.twin->children[column],
                                                sample.twin->offset + item.first, *item.type().children[i],
                                                *here->array.children[i], here->array.offset, here->array.length));
  }
}

// Slots through which threads exchange arrays.
class Exchange {
 public:
  // Takes the item in the slot, and leaves `item` there if it has a value.
  std::optional<Item> swap(size_t place, std::optional<Item> item) {
    auto& slot = slots_[place % std::size(slots_)];
    const std::lock_guard lock(slot.mutex);
    std::swap(slot.item, item);
    return item;
  }

  static constexpr size_t kSlots = 8;

 private:
  struct Slot {
    std::mutex mutex;
    std::optional<Item> item;
  };
  Slot slots_[kSlots];
};

class Worker {
 public:
  Worker(int number, Exchange& exchange) : random_(static_cast<uint64_t>(number) + 1), exchange_(exchange) {
    for (int64_t id = 0; id < kSims; ++id) queues_.push_back(output_of(arrowdevice_queue_create, sim(id)));
    queues_.push_back(output_of(arrowdevice_queue_create, cpu()));
  }

  ~Worker() {
    items_.clear();
    for (auto* queue : queues_) arrowdevice_queue_destroy(queue);
  }
  Worker(const Worker&) = delete;

  void run() {
    using Operation = void (Worker::*)();
    constexpr Operation kOperations[] = {
        &Worker::copy_somewhere,
        &Worker::copy_somewhere,
        &Worker::move_somewhere,
        &Worker::move_somewhere,
        &Worker::make_share,
        &Worker::make_slice,
        &Worker::make_selection,
        &Worker::import,
        &Worker::release,
        &Worker::release_after,
        &Worker::wait,
        &Worker::read,
        &Worker::give_and_take,
        &Worker::give_and_take,
        &Worker::to_host,
        &Worker::renew_queue,
        &Worker::release_parent_first,
    };
    for (int round = 0; round < kRounds; ++round) {
      if (items_.empty()) begin();
      while (items_.size() > kMostHeld) release();
      (this->*kOperations[below(std::size(kOperations))])();
    }
    for (const Item& item : items_) check_rows(item);
  }

 private:
  size_t below(size_t bound) { return static_cast<size_t>(random_.below(static_cast<int64_t>(bound))); }
  bool one_in(size_t n) { return below(n) == 0; }
  size_t some_place() { return below(kSims + 1); }
  static arrowdevice_device* device_at(size_t place) {
    return place < kSims ? sim(static_cast<int64_t>(place)) : cpu();
  }
  Item& some_item() { return items_[below(items_.size())]; }

  Item take() {
    std::swap(some_item(), items_.back());
    Item item = std::move(items_.back());
    items_.pop_back();
    return item;
  }

  void begin() {
    const SampleRows& sample = *samples()[below(samples().size())];
    items_.push_back({sample.array(), &sample, nullptr, {}, 0});
  }

  static size_t place_of(const Item& item) {
    return item.array->device_type == ARROW_DEVICE_CPU ? kSims : static_cast<size_t>(item.array->device_id);
  }

  // Returns options for an asynchronous copy or not, on a queue of this thread or of the library.
  arrowdevice_copy_options some_options(const Item& source, size_t to) {
    auto* const queue = queues_[to < kSims ? to : place_of(source)];  // a device makes the copy
    return copy_options(one_in(2) ? ARROWDEVICE_COPY_ASYNC : 0, one_in(2) ? queue : nullptr);
  }

  void copy_somewhere() {
    Item& source = some_item();
    const size_t place = some_place();
    const auto options = some_options(source, place);
    Array out = output_of(arrowdevice_array_copy, source.array.get(), &source.type(), device_at(place), &options);
    // The source may go to another thread at once, so the copy must be finished here.
    if ((options.flags & ARROWDEVICE_COPY_ASYNC) != 0)
      must(arrowdevice_array_wait, out.get(), nullptr, ARROWDEVICE_NO_TIMEOUT);
    Item made = source.with(std::move(out));
    items_.push_back(std::move(made));
  }

  void move_somewhere() {
    Item item = take();
    const size_t place = some_place();
    auto options = some_options(item, place);
    if (one_in(2)) options.flags |= ARROWDEVICE_COPY_ALWAYS;
    Array out = output_of(arrowdevice_array_to_device, item.array.get(), &item.type(), device_at(place), &options);
    items_.push_back(item.with(std::move(out)));
  }

  void make_share() {
    Item& item = some_item();
    Item made = item.with(share(item.array));
    items_.push_back(std::move(made));
  }

  void make_slice() {
    Item& item = some_item();
    const int64_t skip = random_.below(item.length() + 1);
    const int64_t length = random_.below(item.length() - skip + 1);
    Array out = output_of(arrowdevice_array_slice, item.array.get(), &item.type(), skip, length);
    Item made = item.with(std::move(out));
    made.first += skip;
    items_.push_back(std::move(made));
  }

  void make_selection() {
    Item& item = some_item();
    if (std::string(item.type().format) != "+s") return;
    std::vector<int64_t> chosen;
    for (int64_t i = 0; i < item.type().n_children; ++i) {
      if (one_in(2)) chosen.push_back(i);
    }
    if (chosen.empty()) chosen.push_back(0);
    std::reverse(chosen.begin(), chosen.end());
    auto schema = std::make_shared<Schema>();
    Array out;
    must(arrowdevice_array_select, item.array.get(), &item.type(), chosen.data(), static_cast<int64_t>(chosen.size()),
         out.out(), schema->out());
    Item made = item.with(std::move(out));
    if (!item.columns.empty()) {
      for (auto& column : chosen) column = item.columns[static_cast<size_t>(column)];
    }
    made.columns = std::move(chosen);
    made.schema = std::move(schema);
    items_.push_back(std::move(made));
  }

  void import() {
    Item item = take();
    auto* const queue = queues_[some_place()];
    auto options = sized<arrowdevice_import_options>();
    options.flags = one_in(2) ? ARROWDEVICE_IMPORT_RESOLVE_SIZES : 0;
    options.queue = one_in(2) ? queue : nullptr;
    auto* view = output_of(arrowdevice_array_import, item.array.get(), &item.type(), &options);
    Array out;
    if (one_in(2)) {
      must(arrowdevice_view_share, view, out.out());
      items_.push_back(item.with(std::move(out)));
    }
    switch (below(3)) {
      case 0:
        arrowdevice_view_detach(view, out.out());
        items_.push_back(item.with(std::move(out)));
        break;
      case 1: must(arrowdevice_view_release_after, view, queue); break;
      default: arrowdevice_view_release(view);
    }
  }

  void release() { take().array.reset(); }

  void release_after() {
    Item item = take();
    must(arrowdevice_array_release_after, item.array.get(), queues_[some_place()]);
  }

  void wait() {
    const Item& item = some_item();
    if (one_in(2)) {
      must(arrowdevice_array_wait, item.array.get(), nullptr, ARROWDEVICE_NO_TIMEOUT);
      int ready = output_of(arrowdevice_array_is_ready, item.array.get(), nullptr);
      check_equal(ready, 1, "whether an array is ready that was waited for");
    } else {
      must(arrowdevice_queue_wait_array, queues_[some_place()], item.array.get(), nullptr);
    }
  }

  void read() { check_rows(some_item()); }

  void give_and_take() {
    const size_t place = below(Exchange::kSlots);
    std::optional<Item> given;
    if (one_in(2)) given = take();
    if (auto taken = exchange_.swap(place, std::move(given))) items_.push_back(std::move(*taken));
  }

  void to_host() {
    Item item = take();
    auto host = output_of(arrowdevice_array_to_host, item.array.get(), &item.type(), nullptr);
    Array out = output_of(arrowdevice_array_from_host, host.get());
    items_.push_back(item.with(std::move(out)));
  }

  void renew_queue() {
    const size_t place = some_place();
    arrowdevice_queue_destroy(queues_[place]);
    queues_[place] = output_of(arrowdevice_queue_create, device_at(place));
  }

  // Takes a child out of its parent, so that it outlives its parent.
  void release_parent_first() {
    Item item = take();
    if (item.array->array.n_children == 0) return;
    ArrowArray*& first = item.array->array.children[0];
    ArrowArray child = *first;
    first->release = nullptr;
    item.array.reset();
    child.release(&child);
  }

  Random random_;
  Exchange& exchange_;
  std::vector<arrowdevice_queue*> queues_;  // of the devices, then of the CPU
  std::vector<Item> items_;
};

// Runs the threads on devices that can copy to each other, that cannot, or that use each other's memory.
// The environment chooses.
void work() {
  samples();
  {
    Exchange exchange;
    on_threads(kThreads, [&](int number) { Worker(number, exchange).run(); });
  }
  must(arrowdevice_wait_idle, ARROWDEVICE_NO_TIMEOUT);
  for (const auto& sample : samples()) check_equal(sample->ledger.live(), 0, "host arrays that are alive");
  check_equal(Ledger::mistakes(), 0, "arrays that were released twice");
  for (int64_t id = 0; id < kSims; ++id) {
    auto* pool = output_of(arrowdevice_device_get_pool, sim(id));
    auto stats = output_of(arrowdevice_pool_get_stats, pool);
    check_equal(stats.used_bytes, 0, "bytes in use at the end");
  }
}

constexpr Scenario kScenarios[] = {
    {"sixteen threads do everything with arrays on four devices", work},
};

}  // namespace

int main(int argc, char** argv) { return play(kScenarios, argc, argv); }

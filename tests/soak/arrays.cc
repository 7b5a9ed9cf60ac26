// SPDX-License-Identifier: Apache-2.0
// Operations on arrays.
#include "report.h"
#include "worker.h"

namespace soak {

// Returns the place that makes the copy: the target, or the source if the target is only memory to it. If
// both are only memory, it is the CPU.
size_t Worker::place_of_work(size_t from, size_t to) const {
  const auto is_memory = [&](size_t place) {
    constexpr uint64_t kBoth = ARROWDEVICE_DEVICE_ADDRESSES | ARROWDEVICE_DEVICE_HOST_READABLE;
    return (at(place).info.flags & kBoth) == kBoth;
  };
  return !is_memory(to) ? to : !is_memory(from) ? from : 0;
}

Worker::Copying Worker::some_copying(const Item& source, size_t to) {
  Copying copying;
  auto& options = copying.options;
  options.struct_size = sizeof options;
  const size_t from = place_of(source);
  if (one_in(2)) options.flags |= ARROWDEVICE_COPY_ASYNC;
  if (one_in(4)) options.flags |= ARROWDEVICE_COPY_NO_TRIM;
  if (one_in(2)) copying.queue = place_of_work(from, to);
  if (copying.queue) options.queue = queues_[*copying.queue];
  const bool is_pooled = one_in(4);
  if (is_pooled) options.pool = pools_[to].handle;
  if (one_in(16)) options.source_device = at(from).device;
  if (one_in(20)) options.timeout_ns = 1 + dice_.below(100'000);
  copying.risk = {.spoiled = source.is_spoiled,
                  .full = at(to).is_small() || (is_pooled && pools_[to].is_capped),
                  .brief = options.timeout_ns != 0};
  return copying;
}

void Worker::after_use(std::optional<size_t> queue, const Item& source, const Outcome& outcome) {
  if (queue && (source.is_spoiled || outcome.spoils)) renew_queue(*queue);
}

bool Worker::move(Item& item, size_t to) {
  auto copying = some_copying(item, to);
  if (one_in(3)) {
    copying.options.flags |= ARROWDEVICE_COPY_ALWAYS;
  } else if (one_in(10)) {
    copying.options.flags |= ARROWDEVICE_COPY_NEVER;
    copying.risk.shares = true;
  }
  copying.risk.moves = true;
  Array out;
  const Outcome outcome = fill("array_to_device", copying.risk, item, out, [&](auto* filled, auto* error) {
    return arrowdevice_array_to_device(item.array.get(), &item.type(), at(to).device, &copying.options, filled, error);
  });
  after_use(copying.queue, item, outcome);
  if (outcome.code != 0) return false;
  expect(item.array.released(), "array_to_device left its input");
  Item made = item.with(std::move(out));
  made.is_spoiled |= outcome.spoils;
  item = std::move(made);
  expect_equal(static_cast<int64_t>(place_of(item)), static_cast<int64_t>(to), "the place of a moved array");
  return true;
}

// Keeps the source alive until a copy from it is complete. Either the call waits here, or a second owner
// holds it.
void Worker::hold_source(Item& source, Item& made) {
  if (one_in(2)) {
    auto second = std::make_shared<Array>();
    must(arrowdevice_array_share, source.array.get(), second->out());
    made.sources.push_back(std::move(second));
    return;
  }
  const Planned nothing;
  arrowdevice_error error{};
  const int code = arrowdevice_array_wait(made.array.get(), nullptr, ARROWDEVICE_NO_TIMEOUT, &error);
  if (code != 0) judge("array_wait", {.spoiled = made.is_spoiled}, nothing, code, error);
}

// -- operations

void Worker::make() { items_.push_back(fresh()); }

void Worker::copy() {
  Item& source = some_item();
  const size_t to = some_place();
  const auto copying = some_copying(source, to);
  Array out;
  const Outcome outcome = fill("array_copy", copying.risk, source, out, [&](auto* filled, auto* error) {
    return arrowdevice_array_copy(source.array.get(), &source.type(), at(to).device, &copying.options, filled, error);
  });
  after_use(copying.queue, source, outcome);
  if (outcome.code != 0) return;
  Item made = source.with(std::move(out));
  made.is_spoiled |= outcome.spoils;
  if ((copying.options.flags & ARROWDEVICE_COPY_ASYNC) != 0) hold_source(source, made);
  keep(std::move(made));
}

void Worker::chain() {
  Item item = take();
  for (int64_t hops = 1 + dice_.below(4); hops > 0; --hops) {
    if (!move(item, some_place())) break;
  }
  keep(std::move(item));
}

void Worker::to_host() {
  Item item = take();
  auto copying = some_copying(item, 0);
  copying.risk.moves = true;
  Array out;
  const Outcome outcome = fill("array_to_host", copying.risk, item, out, [&](auto* filled, auto* error) {
    return arrowdevice_array_to_host(item.array.get(), &item.type(), &copying.options, &filled->array, error);
  });
  after_use(copying.queue, item, outcome);
  if (outcome.code != 0) return keep(std::move(item));
  HostArray host(out.take().array);
  Item made = item.with({});
  must(arrowdevice_array_from_host, host.get(), made.array.out());
  made.is_spoiled = false;  // the copy is complete
  keep(std::move(made));
}

void Worker::share() {
  Item& item = some_item();
  Array out;
  const Outcome outcome = fill("array_share", {}, item, out, [&](auto* filled, auto* error) {
    return arrowdevice_array_share(item.array.get(), filled, error);
  });
  if (outcome.code == 0) keep(item.with(std::move(out)));
}

void Worker::slice() {
  Item& item = some_item();
  const int64_t skip = dice_.below(item.length() + 1);
  const int64_t length = dice_.below(item.length() - skip + 1);
  Array out;
  const Outcome outcome = fill("array_slice", {}, item, out, [&](auto* filled, auto* error) {
    return arrowdevice_array_slice(item.array.get(), &item.type(), skip, length, filled, error);
  });
  if (outcome.code != 0) return;
  Item made = item.with(std::move(out));
  made.first += skip;
  keep(std::move(made));
}

void Worker::select() {
  Item& item = some_item();
  if (!item.rows->is_record()) return;
  std::vector<int64_t> chosen;
  for (int64_t n = 1 + dice_.below(3); n > 0; --n) chosen.push_back(dice_.below(item.type().n_children));
  auto schema = std::make_shared<Schema>();
  Array out;
  const Outcome outcome = fill("array_select", {}, item, out, [&](auto* filled, auto* error) {
    return arrowdevice_array_select(item.array.get(), &item.type(), chosen.data(), static_cast<int64_t>(chosen.size()),
                                    filled, schema->out(), error);
  });
  if (outcome.code != 0) return;
  Item made = item.with(std::move(out));
  if (item.columns != nullptr) {
    for (auto& column : chosen) column = (*item.columns)[static_cast<size_t>(column)];
  }
  made.columns = std::make_shared<const std::vector<int64_t>>(std::move(chosen));
  made.selected = std::move(schema);
  keep(std::move(made));
}

// Exports an array like a producer with buffers on a device. The work that writes them comes before the end
// of the queue.
void Worker::export_again() {
  Item item = take();
  const size_t queue = place_of(item);
  const Outcome waited = call("queue_wait_array", {.spoiled = item.is_spoiled}, [&](auto* error) {
    return arrowdevice_queue_wait_array(queues_[queue], item.array.get(), nullptr, error);
  });
  if (waited.code != 0) {
    after_use(queue, item, waited);
    return keep(std::move(item));
  }
  Array out;
  const Outcome outcome = fill("array_export", {.spoiled = item.is_spoiled}, item, out, [&](auto* filled, auto* error) {
    return arrowdevice_array_export(at(queue).device, &item.array->array, queues_[queue], filled, error);
  });
  after_use(queue, item, outcome);
  if (outcome.code != 0) return keep(std::move(item));
  Item made = item.with(std::move(out));
  made.is_spoiled |= outcome.spoils;
  keep(std::move(made));
}

void Worker::release() { take_last().array.reset(); }

void Worker::release_after() {
  Item item = take_last();
  item.settle();  // the queue does not wait for work that reads the array's sources
  const size_t queue = some_place();
  const ArrowDeviceArray before = *item.array;
  const Outcome outcome = call("array_release_after", {}, [&](auto* error) {
    return arrowdevice_array_release_after(item.array.get(), queues_[queue], error);
  });
  if (outcome.spoils) renew_queue(queue);
  if (outcome.code == 0) return expect(item.array.released(), "array_release_after left its input");
  expect(std::memcmp(&before, item.array.get(), sizeof before) == 0,
         "array_release_after failed and changed its input");
  check_rows(item);
}

// Takes a child out of its parent, so that it outlives its parent.
void Worker::move_child_out() {
  Item item = take_last();
  item.settle();
  if (item.array->array.n_children == 0) return;
  ArrowArray*& place = item.array->array.children[below(static_cast<size_t>(item.array->array.n_children))];
  HostArray child(*place);
  place->release = nullptr;
  item.array.reset();
}

void Worker::wait() {
  const Item& item = some_item();
  if (one_in(2)) {
    const size_t queue = some_place();
    const Outcome outcome = call("queue_wait_array", {.spoiled = item.is_spoiled}, [&](auto* error) {
      return arrowdevice_queue_wait_array(queues_[queue], item.array.get(), nullptr, error);
    });
    return after_use(queue, item, outcome);
  }
  const bool is_brief = one_in(2);
  const Risk risk{.spoiled = item.is_spoiled, .brief = is_brief};
  const Outcome outcome = call("array_wait", risk, [&](auto* error) {
    return arrowdevice_array_wait(item.array.get(), nullptr,
                                  is_brief ? 1 + dice_.below(50'000) : ARROWDEVICE_NO_TIMEOUT, error);
  });
  if (outcome.code != 0) return;
  int is_ready = output_of(arrowdevice_array_is_ready, item.array.get(), nullptr);
  expect_equal(is_ready, 1, "whether an array is ready that was waited for");
}

void Worker::validate() {
  const Item& item = some_item();
  const bool is_full = one_in(2);
  const bool is_small = at(place_of(item)).is_small();
  call("array_validate", {.spoiled = item.is_spoiled, .full = is_small}, [&](auto* error) {
    return arrowdevice_array_validate(item.array.get(), &item.type(), nullptr,
                                      is_full ? ARROWDEVICE_VALIDATE_FULL : ARROWDEVICE_VALIDATE_STRUCTURE, error);
  });
}

void Worker::read() { check_rows(some_item()); }

void Worker::exchange() {
  std::optional<Item> given;
  if (one_in(2)) given = take();
  if (auto taken = run_.bag.swap(below(Bag::kPlaces), std::move(given))) items_.push_back(std::move(*taken));
}

}  // namespace soak

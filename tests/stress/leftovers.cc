// SPDX-License-Identifier: Apache-2.0
#include "leftovers.h"

namespace stress {

Leftovers::Leftovers(bool deferring) {
  hold_on_cpu();
  for (const int64_t id : kReady) hold_on(id, false);
  for (const int64_t id : kStuck) {
    hold_on(id, true);
    if (deferring) defer_on(id);
  }
}

void Leftovers::view(Array array, uint32_t flags) {
  auto options = sized<arrowdevice_import_options>();
  options.flags = flags;
  auto* made = output_of(arrowdevice_array_import, array.get(), sample_.schema.get(), &options);
  views_.push_back(made);
}

void Leftovers::hold_on_cpu() {
  Array array = sample_.array();
  arrays_.push_back(share(array));
  Array slice = output_of(arrowdevice_array_slice, array.get(), sample_.schema.get(), 3, 9);
  arrays_.push_back(std::move(slice));
  arrays_.push_back(copy(*array, *sample_.schema, cpu()));
  view(std::move(array));
  arrays_.push_back(sample_.array());
  pools_[cpu()] = output_of(arrowdevice_pool_create, cpu(), nullptr);
  arrays_.push_back(copy(*arrays_.back(), *sample_.schema, cpu(), 0, nullptr, pool_of(cpu())));
}

void Leftovers::hold_on(int64_t id, bool stuck) {
  auto* const device = sim(id);
  const uint32_t flags = stuck ? ARROWDEVICE_COPY_ASYNC : 0;
  queues_.push_back(output_of(arrowdevice_queue_create, device));
  pools_[device] = output_of(arrowdevice_pool_create, device, nullptr);

  // A copy that never finishes needs its source forever.
  arrays_.push_back(sample_.array());
  const size_t source = arrays_.size() - 1;
  Array there = copy(*arrays_[source], *sample_.schema, device, flags, queues_.back(), pool_of(device));
  arrays_.push_back(share(there));
  const int64_t columns[] = {2, 0};
  Array selected;
  must(arrowdevice_array_select, there.get(), sample_.schema.get(), columns, 2, selected.out(), nullptr);
  children_.push_back({});
  children_.back().array = *selected->array.children[1];
  selected->array.children[1]->release = nullptr;
  arrays_.push_back(std::move(selected));
  view(std::move(there), stuck ? 0 : ARROWDEVICE_IMPORT_RESOLVE_SIZES);
  arrays_.push_back(copy(*arrays_[source], *sample_.schema, device, flags));

  auto native = output_of(arrowdevice_queue_get_native, queues_.back());
  auto* wrapped = output_of(arrowdevice_queue_wrap, device, &native);
  queues_.push_back(wrapped);

  for (arrowdevice_pool* pool : {pool_of(device), static_cast<arrowdevice_pool*>(nullptr)}) {
    auto* buffer = output_of(arrowdevice_buffer_allocate, device, pool, nullptr, 1000);
    buffers_.emplace_back(device, buffer);
  }
}

void Leftovers::defer_on(int64_t id) {
  auto* const queue = output_of(arrowdevice_queue_create, sim(id));
  queues_.push_back(queue);
  Array on_device = copy(*arrays_.front(), *sample_.schema, sim(id), ARROWDEVICE_COPY_ASYNC, queue);
  must(arrowdevice_array_release_after, on_device.get(), queue);
  Array on_cpu = deferred_.array();
  must(arrowdevice_array_release_after, on_cpu.get(), queue);

  Array moved = deferred_.array();
  const auto options = copy_options(ARROWDEVICE_COPY_ASYNC, queue);
  Array out = output_of(arrowdevice_array_to_device, moved.get(), deferred_.schema.get(), sim(id), &options);
  arrays_.push_back(std::move(out));

  Array seen = deferred_.array();
  auto* view = output_of(arrowdevice_array_import, seen.get(), deferred_.schema.get(), nullptr);
  must(arrowdevice_view_release_after, view, queue);

  auto* buffer = output_of(arrowdevice_buffer_allocate, sim(id), nullptr, nullptr, 1000);
  arrowdevice_buffer_free(sim(id), queue, buffer);
}

void Leftovers::release() {
  for (auto* view : views_) arrowdevice_view_release(view);
  for (const auto& [device, buffer] : buffers_) arrowdevice_buffer_free(device, nullptr, buffer);
  for (auto* queue : queues_) arrowdevice_queue_destroy(queue);
  for (const auto& [device, pool] : pools_) arrowdevice_pool_destroy(pool);
  for (auto& child : children_) child.array.release(&child.array);
  arrays_.clear();
  views_.clear();
  buffers_.clear();
  queues_.clear();
  pools_.clear();
  children_.clear();
}

}  // namespace stress

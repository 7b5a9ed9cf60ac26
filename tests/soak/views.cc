// SPDX-License-Identifier: Apache-2.0
// Operations that import arrays and use views.
#include "report.h"
#include "support/handles.h"
#include "worker.h"

namespace soak {

using arrowdevice::testing::knows_all_sizes;

void Worker::view() {
  Item item = take();
  const size_t queue = some_place();
  auto options = sized<arrowdevice_import_options>();
  options.flags = one_in(2) ? ARROWDEVICE_IMPORT_RESOLVE_SIZES : 0;
  options.queue = one_in(2) ? queues_[queue] : nullptr;
  options.validate = one_in(4) ? ARROWDEVICE_VALIDATE_FULL : ARROWDEVICE_VALIDATE_STRUCTURE;
  options.timeout_ns = one_in(20) ? 1 + dice_.below(100'000) : 0;
  const ArrowDeviceArray before = *item.array;
  arrowdevice_view* view = nullptr;
  const Risk risk{.spoiled = item.is_spoiled, .brief = options.timeout_ns != 0, .moves = true};
  const Outcome outcome = call("array_import", risk, [&](auto* error) {
    return arrowdevice_array_import(item.array.get(), &item.type(), &options, &view, error);
  });
  if (options.queue != nullptr) after_use(queue, item, outcome);
  if (outcome.code != 0) {
    expect(view == nullptr, "array_import failed and gave a view");
    check_unchanged("array_import", risk, outcome.code, before, item);
    check_rows(item);
    return keep(std::move(item));
  }
  expect(item.array.released(), "array_import left its input");
  const arrowdevice_node& root = *arrowdevice_view_get_root(view);
  expect_equal(root.length, before.array.length, "rows of a view");
  if (options.flags != 0) expect(knows_all_sizes(root), "array_import knows not all sizes");
  end_view(view, item, queue);
}

void Worker::end_view(arrowdevice_view* view, const Item& viewed, size_t queue) {
  if (one_in(2)) {
    Array shared = output_of(arrowdevice_view_share, view);
    keep(viewed.with(std::move(shared)));
  }
  const int64_t way = viewed.sources.empty() ? dice_.below(3) : 0;
  if (way == 1) {
    const Outcome outcome = call("view_release_after", {}, [&](auto* error) {
      return arrowdevice_view_release_after(view, queues_[queue], error);
    });
    if (outcome.spoils) renew_queue(queue);
    if (outcome.code == 0) return;
  }
  if (way == 2) return arrowdevice_view_release(view);
  Array out;
  arrowdevice_view_detach(view, out.out());
  keep(viewed.with(std::move(out)));
}

}  // namespace soak

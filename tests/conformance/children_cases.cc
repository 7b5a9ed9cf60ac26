// SPDX-License-Identifier: Apache-2.0
// Tests children that are moved out of their parents. Each child keeps the shared memory and the event
// alive.
#include "conformance/subject.h"

namespace arrowdevice::conformance {

namespace {

using Array = Owned<ArrowDeviceArray>;
using Maker = Array (*)(Subject&, Sample&);

Array by_copy(Subject& subject, Sample& sample) { return subject.to_device(*sample.host, *sample.schema); }

Array by_async_copy(Subject& subject, Sample& sample) {
  return subject.copy(*sample.host, *sample.schema, subject.device(), ARROWDEVICE_COPY_ASYNC);
}

Array by_move(Subject& subject, Sample& sample) {
  Array shared = subject.share(*sample.host);
  return output_of(arrowdevice_array_to_device, shared.get(), sample.schema.get(), subject.device(), nullptr);
}

Array by_move_to_host(Subject& subject, Sample& sample) {
  Array there = by_copy(subject, sample);
  auto host = output_of(arrowdevice_array_to_host, there.get(), sample.schema.get(), nullptr);
  return output_of(arrowdevice_array_from_host, host.get());
}

Array by_share(Subject& subject, Sample& sample) {
  Array there = by_copy(subject, sample);
  return subject.share(*there);
}

Array by_being_shared(Subject& subject, Sample& sample) {
  Array there = by_copy(subject, sample);
  Array other = subject.share(*there);
  return there;
}

Array by_slice(Subject& subject, Sample& sample) {
  Array there = by_copy(subject, sample);
  const int64_t rows = sample.twin->length;
  return subject.slice(*there, *sample.schema, {rows / 4, rows / 2});
}

Array by_slice_on_the_host(Subject& subject, Sample& sample) {
  const int64_t rows = sample.twin->length;
  return subject.slice(*sample.host, *sample.schema, {rows / 4, rows / 2});
}

Array by_select(Subject& subject, Sample& sample) {
  Array there = by_copy(subject, sample);
  if (std::strcmp(sample.schema->format, "+s") != 0) return there;
  std::vector<int64_t> all;
  for (int64_t i = 0; i < sample.schema->n_children; ++i) all.push_back(i);
  Array out;
  must(arrowdevice_array_select, there.get(), sample.schema.get(), all.data(), static_cast<int64_t>(all.size()),
       out.out(), nullptr);
  return out;
}

Array by_export(Subject& subject, Sample& sample) {
  Array there = by_copy(subject, sample);
  must(arrowdevice_array_wait, there.get(), nullptr, ARROWDEVICE_NO_TIMEOUT);
  // The exported array must not need the copy's event, because the event is destroyed with the copy's root.
  Owned<ArrowArray> array(there.take().array);
  const Queue queue = subject.queue();
  Array out = output_of(arrowdevice_array_export, subject.device(), array.get(), queue.get());
  expect(array.released(), "what was exported is not marked released");
  return out;
}

Array by_view_share(Subject& subject, Sample& sample) {
  Array there = by_copy(subject, sample);
  auto* view = output_of(arrowdevice_array_import, there.get(), sample.schema.get(), nullptr);
  const View owner(view);
  return output_of(arrowdevice_view_share, view);
}

Array by_view_detach(Subject& subject, Sample& sample) {
  Array there = by_copy(subject, sample);
  auto* view = output_of(arrowdevice_array_import, there.get(), sample.schema.get(), nullptr);
  Array out;
  arrowdevice_view_detach(view, out.out());
  return out;
}

// A node of an array, with its type.
struct Node {
  ArrowArray* array;
  const ArrowSchema* schema;
};

std::vector<Node> below(ArrowArray& array, const ArrowSchema& schema) {
  std::vector<Node> nodes;
  for (int64_t i = 0; i < array.n_children; ++i) nodes.push_back({array.children[i], schema.children[i]});
  if (array.dictionary != nullptr) nodes.push_back({array.dictionary, schema.dictionary});
  return nodes;
}

std::vector<Node> all_below(ArrowArray& array, const ArrowSchema& schema) {
  std::vector<Node> nodes = below(array, schema);
  for (size_t i = 0; i < nodes.size(); ++i)
    for (const Node& node : below(*nodes[i].array, *nodes[i].schema)) nodes.push_back(node);
  return nodes;
}

// Returns a device array of the node. `array` keeps the ownership.
ArrowDeviceArray borrow(const ArrowDeviceArray& root, const ArrowArray& array) {
  ArrowDeviceArray borrowed = root;
  borrowed.array = array;
  return borrowed;
}

// Moves the node with that number out of a new array and releases the rest. Compares its values before and
// after. Returns false if there is no node with that number.
bool node_survives(Subject& subject, Sample& sample, Maker make, size_t number) {
  Array parent = make(subject, sample);
  const std::vector<Node> nodes = all_below(parent->array, *sample.schema);
  if (number >= nodes.size()) return false;
  const Node node = nodes[number];
  auto expected = subject.to_cpu(borrow(*parent, *node.array), *node.schema);

  Array child(borrow(*parent, *node.array));
  node.array->release = nullptr;
  parent.reset();
  // Overwrites memory that was released too early.
  auto other = subject.to_device(*sample.host, *sample.schema);
  other.reset();
  wait_idle();

  auto got = subject.to_cpu(*child, *node.schema);
  expect_clean(testing::difference(*node.schema, expected->array, *node.schema, got->array),
               std::string("child ") + (node.schema->name == nullptr ? "" : node.schema->name));
  child.reset();
  return true;
}

template <Maker kMake>
void children_leave(Subject& subject) {
  for_each(testing::few_cases(), [&](Sample& sample) {
    size_t number = 0;
    while (node_survives(subject, sample, kMake, number)) ++number;
    expect(number > 0 || sample.schema->n_children == 0, "no child was tried");
  });
}

void children_of_the_host_leave(Subject& subject) {
  for_each(testing::few_cases(), [&](Sample& sample) {
    if (sample.schema->n_children == 0) return;
    Array child(borrow(*sample.host, *sample.host->array.children[0]));
    sample.host->array.children[0]->release = nullptr;
    sample.host.reset();
    expect(sample.ledger.live() > 0, "a child was released with its parent");
    auto there = subject.to_device(*child, *sample.schema->children[0]);
    child.reset();
    auto back = subject.to_cpu(*there, *sample.schema->children[0]);
    expect_clean(testing::difference(*sample.schema->children[0], *sample.twin->children[0],
                                     *sample.schema->children[0], back->array),
                 "the child");
  });
}

}  // namespace

std::span<const Case> children_cases() {
  static constexpr Case kCases[] = {
      {"children of a copy live on without it", kNeedsNothing, children_leave<by_copy>},
      {"children of a copy whose event is pending live on without it", kNeedsNothing, children_leave<by_async_copy>},
      {"children of an array from to_device live on without it", kNeedsNothing, children_leave<by_move>},
      {"children of an array from to_host live on without it", kNeedsNothing, children_leave<by_move_to_host>},
      {"children of a second owner live on without it", kNeedsNothing, children_leave<by_share>},
      {"children of a first owner live on without it", kNeedsNothing, children_leave<by_being_shared>},
      {"children of a slice live on without it", kNeedsNothing, children_leave<by_slice>},
      {"children of a slice on the host live on without it", kNeedsNothing, children_leave<by_slice_on_the_host>},
      {"children of a selection live on without it", kNeedsNothing, children_leave<by_select>},
      {"children of an exported array live on without it", kNeedsNothing, children_leave<by_export>},
      {"children of an array that a view shared live on without it", kNeedsNothing, children_leave<by_view_share>},
      {"children of an array that a view returned live on without it", kNeedsNothing, children_leave<by_view_detach>},
      {"children of a host array live on without it", kNeedsNothing, children_of_the_host_leave},
  };
  return kCases;
}

}  // namespace arrowdevice::conformance

// SPDX-License-Identifier: Apache-2.0
#include "transfer/copy.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "array/output.h"
#include "base/checked.h"
#include "base/scratch.h"
#include "transfer/bits.h"
#include "transfer/copy_run.h"
#include "transfer/placement.h"
#include "transfer/plan.h"
#include "transfer/route.h"
#include "transfer/source_reader.h"
#include "transfer/submit.h"

namespace arrowdevice::transfer {
namespace {

// Buffers begin at cache lines, as the format recommends.
constexpr int64_t kLeastAlignment = 64;

// An array of any layout, by a plan of what its rows need.
class PlannedContent final : public CopyContent {
 public:
  PlannedContent(const schema::Binding& array, bool whole, const CopyRequest& request, CopyRun& run)
      : request_(request),
        array_(array),
        tree_(array.tree()),
        whole_(whole),
        route_(run.route()),
        contents_(route_.source_on_host() ? SourceReader()
                                          : SourceReader(request.source, route_.source_queue(), run.event_of_source(),
                                                         request.deadline, request.moved, request.queue != nullptr)) {}

  bool reads_sizes_on_host() const override {
    return !route_.source_on_host() && request_.source.has_addresses() && array_.has_variadic();
  }

  CopySize place() override {
    const bool shifts = route_.source_on_host() || route_.target_on_host();
    plan_ = make_plan(array_, {whole_, shifts, route_.target_on_host()}, contents_,
                      variadic_sizes_on_host(array_, request_.source), scratch_.memory());
    placed_ = place_buffers(array_, plan_,
                            {.alignment = std::max(kLeastAlignment, target().info().sub_buffer_alignment),
                             .source_on_host = route_.source_on_host(),
                             .target_on_host = route_.target_on_host(),
                             .sizes_on_host = target().has_addresses(),
                             .whole = whole_},
                            scratch_.memory());
    return {placed_.device_bytes, static_cast<int64_t>(placed_.buffers.size())};
  }

  void build(CopyOwner& owner, InFlight* /*in_flight*/) override {
    note_ends(owner);
    build_output(owner);
  }

  bool submit(void* target, InFlight* in_flight) override {
    return transfer::submit(array_, plan_, placed_, route_, target, in_flight, padded_source(), request_.deadline,
                            scratch_);
  }

  bool needs_adjusting() const override { return placed_.needs_adjusting; }

  void adjust(uint8_t* bytes) override {
    for (const auto& buffer : placed_.buffers) {
      if (buffer.origin == Origin::kCopiedThenAdjusted)
        adjust_in_place(plan_, tree_[buffer.field].type, buffer, bytes + buffer.offset);
      if (buffer.shape == schema::BufferShape::kValidity) count_arrived_nulls(buffer, bytes + buffer.offset);
    }
  }

  array::Output& output() override { return *output_; }

 private:
  device::Device& target() const { return route_.target(); }

  // Returns the buffers of the source if a copy of the library made it.
  PaddedBuffers padded_source() const {
    if (route_.source_on_host() || !array::is_output(array_[0])) return {};
    const auto* const owner = dynamic_cast<const CopyOwner*>(array::owner_of(array_[0]).get());
    return owner != nullptr ? owner->padded() : PaddedBuffers{};
  }

  // Notes where the buffers end. Memory that the CPU uses is copied by the CPU, which adds the padding.
  void note_ends(CopyOwner& owner) const {
    if (route_.target_on_host() || !target().has_addresses()) return;
    owner.ends_of_buffers.reserve(placed_.buffers.size());
    for (const auto& buffer : placed_.buffers) {
      if (!buffer.on_host) owner.ends_of_buffers.push_back(buffer.end());
    }
  }

  // Builds the structs and pointers of the copy, with the final addresses of the buffers.
  void build_output(CopyOwner& owner) {
    // Each field but the root is the child or dictionary of another.
    output_.emplace(array::OutputShape{tree_.size(), tree_.size() - 1, array_.buffer_count()});
    nodes_.reserve(static_cast<size_t>(tree_.size()));
    for (int32_t field = 0; field < tree_.size(); ++field) {
      auto& node = output_->add_node(array_.buffer_count(field), tree_[field].n_children);
      const auto& planned = plan_[field];
      node.length = planned.length;
      node.offset = planned.offset;
      node.null_count = schema::null_count_of_rows(array_, field, planned.length, planned.is_all);
      if (node.null_count < 0) count_nulls(field, node);
      nodes_.push_back(&node);
      attach(field, &node);
    }
    if (placed_.host_bytes > 0) {
      const auto padded = static_cast<size_t>(align_up(placed_.host_bytes, kPaddedTo));
      owner.host_bytes.reset(new uint8_t[padded]());
    }
    for (const auto& buffer : placed_.buffers) {
      nodes_[static_cast<size_t>(buffer.field)]->buffers[buffer.position] = buffer_of(buffer, owner);
    }
  }

  // Counts the nulls of a field if its bitmap is on the CPU: in host memory, or read back for its views.
  void count_nulls(int32_t field, ArrowArray& node) const {
    const auto& planned = plan_[field];
    if (route_.source_on_host()) {
      const auto* const bits = static_cast<const uint8_t*>(array_.buffers(field)[0]);
      node.null_count = node.length - count_bits(bits, planned.slots.first + node.offset, node.length);
    } else if (plan_.has_references(field) && node.length == planned.slots.rows()) {
      const auto& validity = plan_.refs(field).index.validity;
      if (validity.bits != nullptr) {
        node.null_count = node.length - count_bits(validity.bits, validity.bit, node.length);
      }
    }
  }

  // Counts the nulls of a bitmap that has arrived in host memory.
  void count_arrived_nulls(const OutputBuffer& buffer, const uint8_t* bits) {
    auto& node = *nodes_[static_cast<size_t>(buffer.field)];
    if (node.null_count < 0) node.null_count = node.length - count_bits(bits, node.offset, node.length);
  }

  // Attaches a field to its parent. In the tree, children follow their parents, side by side.
  void attach(int32_t field, ArrowArray* node) {
    const auto& described = tree_[field];
    if (described.parent < 0) return;
    auto& parent = *nodes_[static_cast<size_t>(described.parent)];
    if (described.is_dictionary) {
      parent.dictionary = node;
    } else {
      parent.children[field - tree_[described.parent].first_child] = node;
    }
  }

  const void* buffer_of(const OutputBuffer& buffer, CopyOwner& owner) const {
    if (buffer.on_host) {
      auto* const bytes = owner.host_bytes.get() + buffer.offset;
      write_buffer(array_, plan_, buffer, bytes);
      return bytes;
    }
    // Kernels may read whole words, so the padding belongs to the buffer.
    return owner.memory().allocation.sub_buffer(buffer.offset, buffer.padded_end() - buffer.offset);
  }

  const CopyRequest& request_;
  const schema::Binding& array_;
  const schema::Tree& tree_;
  const bool whole_;
  Route& route_;
  SourceReader contents_;
  Scratch scratch_;
  Plan plan_{scratch_.memory()};
  PlacedBuffers placed_{scratch_.memory()};
  std::optional<array::Output> output_;
  std::pmr::vector<ArrowArray*> nodes_{scratch_.memory()};
};

}  // namespace

std::shared_ptr<device::Event> copy_array(const schema::Binding& array, bool whole, const CopyRequest& request,
                                          ArrowDeviceArray* out) {
  CopyRun run(request);
  PlannedContent content(array, whole, request, run);
  return run.run(content, out);
}

}  // namespace arrowdevice::transfer

// SPDX-License-Identifier: Apache-2.0
// A foreign array taken over: checked against its schema, its buffers typed.
#pragma once

#include <arrowdevice/arrowdevice.h>

#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "array/keepers.h"
#include "array/options.h"
#include "schema/binding.h"

namespace arrowdevice::array {

class View {
 public:
  // Takes `moved` over as its last step; on failure it is untouched.
  View(ArrowDeviceArray& moved, const ArrowSchema& schema, const ImportOptions& options);

  const arrowdevice_node& root() const noexcept { return nodes_.front(); }
  const ArrowDeviceArray& array() const noexcept { return keeper_->array(); }
  device::Device& device() const noexcept { return *device_; }

  // A second owner.
  void share(ArrowDeviceArray* out) const;

  // Gives the array away as it came.
  void detach(ArrowDeviceArray* out) noexcept;

  // Lets the array be released once the queue's work so far is done, instead of with the view.
  void release_after(device::Queue& queue);

 private:
  void fill(const schema::Binding& bound, const ArrowDeviceArray& moved, const ImportOptions& options);
  void fill_node(const schema::Binding& bound, int32_t field);
  void fill_texts(const schema::Tree& tree, int32_t field, arrowdevice_node& node);
  const char* keep_text(const char* text, int64_t size);

  device::Device* device_ = nullptr;
  std::optional<device::DeviceUse> use_;
  std::shared_ptr<ForeignKeeper> keeper_;
  std::vector<arrowdevice_node> nodes_;
  std::vector<arrowdevice_node_buffer> buffers_;
  std::vector<const arrowdevice_node*> children_;
  std::deque<std::string> texts_;

  mutable std::mutex share_mutex_;
  mutable std::unique_ptr<transfer::Output> successor_;  // what detach() gives away once the array is shared
};

}  // namespace arrowdevice::array

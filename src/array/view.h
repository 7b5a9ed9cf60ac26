// SPDX-License-Identifier: Apache-2.0
// A foreign array taken over: checked against its schema, its buffers typed.
#pragma once

#include <arrowdevice/arrowdevice.h>

#include <memory>
#include <memory_resource>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>

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
  void fill(const schema::Binding& bound, const ArrowDeviceArray& moved, const ImportOptions& options,
            std::pmr::memory_resource* scratch);
  void fill_texts(const schema::Tree& tree, int32_t field, arrowdevice_node& node);
  const char* keep_format(const char* format);
  const char* keep_name(const char* name);
  const char* keep_text(std::string_view text);
  template <typename Value>
  Value* make(size_t n);

  device::Device* device_ = nullptr;
  std::optional<device::DeviceUse> use_;
  std::shared_ptr<ForeignKeeper> keeper_;
  // Of the nodes and of all that they point to.
  std::optional<std::pmr::monotonic_buffer_resource> memory_;
  std::span<arrowdevice_node> nodes_;
  std::span<char> free_text_;  // for short names

  mutable std::mutex share_mutex_;
  mutable std::optional<transfer::Output> successor_;  // what detach() gives away once the array is shared
};

}  // namespace arrowdevice::array

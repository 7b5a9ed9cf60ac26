// SPDX-License-Identifier: Apache-2.0
// A view owns a foreign array that was checked against its schema, and gives its buffers types.
#pragma once

#include <arrowdevice/arrowdevice.h>

#include <cstddef>
#include <forward_list>
#include <memory>
#include <memory_resource>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "array/owners.h"
#include "inspect/validate.h"
#include "schema/binding.h"

namespace arrowdevice::inspect {

struct ImportOptions {
  Level level = Level::kStructure;
  bool learn_sizes = false;
  device::Queue* queue = nullptr;
  device::Device* source = nullptr;
  Deadline deadline{ARROWDEVICE_NO_TIMEOUT};
};

class View {
 public:
  // Takes ownership of `moved` as its last step. On failure `moved` is unchanged, except that it
  // may have become a shared owner if a wait ended early.
  View(ArrowDeviceArray& moved, const ArrowSchema& schema, const ImportOptions& options);

  const arrowdevice_node& root() const noexcept { return nodes_.front(); }
  const ArrowDeviceArray& array() const noexcept { return owner_->array(); }
  device::Device& device() const noexcept { return *device_; }

  // Creates a shared owner of the array.
  void share(ArrowDeviceArray* out) const;

  // Moves the array out as it came in.
  void detach(ArrowDeviceArray* out) noexcept;

  // Releases the array after the queue's work so far has finished, instead of with the view.
  void release_after(device::Queue& queue);

 private:
  void fill(const schema::Binding& bound, ArrowDeviceArray& moved, const ImportOptions& options,
            std::pmr::memory_resource* scratch);

  device::Device* device_ = nullptr;
  std::optional<device::DeviceUse> use_;
  std::shared_ptr<array::ImportedOwner> owner_;
  std::unique_ptr<std::byte[]> block_;  // of the nodes and the data that they point to
  std::span<arrowdevice_node> nodes_;
  std::forward_list<std::string> long_texts_;  // texts that do not fit the block

  mutable std::mutex share_mutex_;
  mutable std::optional<array::Output> successor_;  // the array that detach() moves out if the array is shared
};

}  // namespace arrowdevice::inspect

// SPDX-License-Identifier: Apache-2.0
// A view owns a foreign array that was checked against its schema, and gives its buffers types.
#pragma once

#include <arrowdevice/arrowdevice.h>

#include <memory>
#include <memory_resource>
#include <mutex>
#include <optional>

#include "array/owners.h"
#include "inspect/nodes.h"
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
  ~View();
  View(const View&) = delete;
  View& operator=(const View&) = delete;

  const arrowdevice_node& root() const noexcept { return nodes_.all.front(); }
  const ArrowDeviceArray& array() const noexcept { return array_; }
  device::Device& device() const noexcept { return *device_; }

  // Creates a shared owner of the array.
  void share(ArrowDeviceArray* out) const;

  // Moves the array out as it came in.
  void detach(ArrowDeviceArray* out) noexcept;

  // Releases the array after the queue's work so far has finished, instead of with the view.
  void release_after(device::Queue& queue);

 private:
  // An array that was shared, and the array that detach() then moves out.
  struct Shared {
    std::shared_ptr<array::ImportedOwner> owner;
    array::Output successor;
  };

  bool import_from_host(const ArrowDeviceArray& moved, const ArrowSchema& schema, const ImportOptions& options);
  void import(ArrowDeviceArray& moved, const ArrowSchema& schema, const ImportOptions& options);
  void fill(const schema::Binding& bound, ArrowDeviceArray& moved, const ImportOptions& options,
            std::pmr::memory_resource* scratch);
  void begin(NodeWriter& writer, arrowdevice_node& node, const schema::Binding& bound, int32_t field);

  device::Device* device_ = nullptr;
  std::optional<device::DeviceUse> use_;
  Nodes nodes_;
  // Stays here, for array(), when shared_ has its ownership. `release` is NULL if the array was moved out.
  ArrowDeviceArray array_{};

  mutable std::mutex share_mutex_;
  mutable std::unique_ptr<Shared> shared_;  // made by the first share()
};

}  // namespace arrowdevice::inspect

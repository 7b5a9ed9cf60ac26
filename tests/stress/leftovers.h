// SPDX-License-Identifier: Apache-2.0
// Every kind of object that a program can hold of the library and forget to release: arrays, views, queues,
// pools, buffers, complete and pending. Devices 0 and 2 work. Work on devices 1 and 3 stays pending.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "program.h"

namespace stress {

class Leftovers {
 public:
  static constexpr int64_t kReady[] = {0, 2};
  static constexpr int64_t kStuck[] = {1, 3};

  // Makes all objects. If `deferring`, it also defers work that never finishes.
  explicit Leftovers(bool deferring);
  Leftovers(const Leftovers&) = delete;

  // Releases arrays and views, and destroys queues, pools and buffers.
  void release();

  // Return the live nodes of host arrays: those that are not deferred, and those that are.
  int64_t live() const { return sample_.ledger.live(); }
  int64_t live_deferred() const { return deferred_.ledger.live(); }

  const SampleRows& sample() const { return sample_; }
  std::vector<Array>& arrays() { return arrays_; }

  // Returns the leftover pool of that device.
  arrowdevice_pool* pool_of(const arrowdevice_device* device) const { return pools_.at(device); }

 private:
  void hold_on_cpu();
  void hold_on(int64_t id, bool stuck);
  void defer_on(int64_t id);
  void view(Array array, uint32_t flags = 0);

  SampleRows sample_{batch()};
  SampleRows deferred_{batch()};
  std::vector<Array> arrays_;
  std::vector<ArrowDeviceArray> children_;  // moved out of released parents
  std::vector<arrowdevice_view*> views_;
  std::vector<arrowdevice_queue*> queues_;
  std::map<const arrowdevice_device*, arrowdevice_pool*> pools_;
  std::vector<std::pair<arrowdevice_device*, void*>> buffers_;
};

}  // namespace stress

// SPDX-License-Identifier: Apache-2.0
// The steps that all copies have in common: memory with an owner, the submission, its event, and the end of a copy that
// fails or runs out of time.
#pragma once

#include <cstdint>
#include <memory>

#include "array/output.h"
#include "device/event.h"
#include "transfer/copy.h"
#include "transfer/copy_log.h"
#include "transfer/copy_owner.h"
#include "transfer/route.h"
#include "transfer/submit.h"

namespace arrowdevice::transfer {

// The bytes of a copy, and their way to the target. The functions are called in this order.
class CopyContent {
 public:
  virtual ~CopyContent() = default;

  // Returns true if place() reads host memory of the source that may be ready only after the producer's event.
  virtual bool reads_sizes_on_host() const { return false; }

  // Decides about the positions of the buffers in the allocation. May read the source.
  virtual CopySize place() = 0;

  // Builds the structs, with the final addresses of the buffers. `in_flight` keeps staging memory until the copy ends.
  // It is NULL if the CPU copies.
  virtual void build(CopyOwner& owner, InFlight* in_flight) = 0;

  // Submits the bytes to `target`, the allocation. Returns true if all of them have arrived. Copies without bytes skip
  // this step and the next two.
  virtual bool submit(void* target, InFlight* in_flight) = 0;

  // Returns true if adjust() is needed, which then must come before the copy is published.
  virtual bool needs_adjusting() const { return false; }

  // Finishes the bytes that have arrived in host memory from a device.
  virtual void adjust(uint8_t* /*bytes*/) {}

  virtual array::Output& output() = 0;
};

struct DeferredStaging;

class CopyRun {
 public:
  explicit CopyRun(const CopyRequest& request);
  ~CopyRun();
  CopyRun(const CopyRun&) = delete;
  CopyRun& operator=(const CopyRun&) = delete;

  Route& route() noexcept { return route_; }
  const device::ForeignEvent& event_of_source() const noexcept { return event_of_source_; }

  // Does what copy_array() promises.
  std::shared_ptr<device::Event> run(CopyContent& content, ArrowDeviceArray* out);

 private:
  device::Device& target() const { return route_.target(); }
  InFlight* in_flight() noexcept;
  bool is_async() const;
  bool queue_is_targets() const;

  void copy(CopyContent& content, bool& submitted);
  void wait_for_source(const CopyContent& content);
  void allocate();
  void allocate_staging_memory();
  void finish(CopyContent& content, bool has_arrived);
  void return_early();
  bool leave_running() noexcept;
  void clean_up(bool submitted) noexcept;
  void order_memory() noexcept;
  void abandon_memory() noexcept;
  void publish(array::Output& output, ArrowDeviceArray* out) noexcept;

  CopyLog log_;
  const CopyRequest& request_;
  Route route_;
  const device::ForeignEvent event_of_source_;
  CopySize size_;
  std::shared_ptr<CopyOwner> owner_;
  std::unique_ptr<DeferredStaging> staging_;  // NULL if the CPU copies
  std::shared_ptr<device::Event> event_;
  void* sync_event_ = nullptr;
};

}  // namespace arrowdevice::transfer

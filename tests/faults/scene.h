// SPDX-License-Identifier: Apache-2.0
// Building blocks of most operations: known rows, an array of them, and the output of the call.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>

#include "faults/operation.h"
#include "support/handles.h"
#include "support/held.h"

namespace faults {

// Rows in the middle of other rows, to make arrays of and to compare arrays with.
class Rows {
 public:
  static const Rows& nested();  // each type whose data must be read before a copy, with nulls
  static const Rows& flat();    // integers with nulls
  static const Rows& whole();   // like nested() and flat(), but not a slice of an array
  static const Rows& whole_flat();
  static const Rows& lists();       // lists of two integers without nulls, but with a bitmap and an unknown null count
  static const Rows& long_index();  // a list with more than 64 KiB of offsets
  static const Rows& pieces();      // five pieces, more than there are blocks of staging memory
  static const Rows& large();       // enough for a copy in pieces that several threads share

  // Creates all of these, so that later processes need not.
  static void prepare();

  ArrowSchema* schema() const { return const_cast<ArrowSchema*>(schema_.get()); }
  int64_t length() const { return length_; }
  const Ledger& ledger() const { return ledger_; }

  // Returns a new array of these rows on the host.
  Array host() const;
  // Returns a new array on the device after the copy has finished. The array still has its event.
  Array on(int64_t id) const;

  // Returns "" if the array holds these rows from `first` on, as many as its length says. The array may be
  // on any device.
  std::string difference(const ArrowDeviceArray& array, int64_t first = 0) const;

 private:
  Rows(const Field& type, Data data, int64_t first, int64_t length);
  Array cut(Array all) const;
  std::string plain_difference(const ArrowArray& here) const;

  Data data_;
  Ledger ledger_;  // counts all arrays made from these rows
  Schema schema_;
  Owned<ArrowArray> twin_;
  int64_t first_;
  int64_t length_;
};

// Returns the number of live nodes of arrays of all rows.
int64_t live_nodes();

// Checks a condition while failures are planned.
inline void check_now(bool holds, const char* what) {
  if (holds) return;
  memory::end();
  fail(what);
}

// Devices by number; -1 is the CPU.
inline constexpr int64_t kHost = -1;
inline constexpr int64_t kPlaces[] = {kHost, kAddresses[0], kHandles[0]};
arrowdevice_device* device(int64_t id);
const char* kind_of(int64_t id);  // "the CPU", "addresses" or "handles"

// Fills an output with garbage. A failed call must set its release to NULL.
template <typename Struct>
void poison(Struct& out) {
  std::memset(static_cast<void*>(&out), 0x5C, sizeof out);
}

// Returns a garbage pointer. A failed call must set it to NULL.
template <typename Pointed>
Pointed* poisoned_pointer() {
  static int64_t place = 0;
  return reinterpret_cast<Pointed*>(&place);
}

// An array and the output of the call.
struct Scene {
  Scene(const Rows& of, int64_t id) : rows(of), in(of.on(id)) {}
  ~Scene();
  Scene(const Scene&) = delete;

  const Rows& rows;
  Array in;
  bool is_pending = false;  // the input's data was in flight when the call was made
  View view;
  Queue queue;
  Pool pool;
  std::optional<Held> held;  // resumed before arrays are compared
  Array out;
  Owned<ArrowArray> host_out;
  Schema schema_out;
  bool is_spoiled = false;

  // Makes a queue and a buffer to which it copies.
  void use_queue(int64_t id);
  void queue_work();
  // Submits work that stays pending until the device is resumed.
  void queue_pending_work();

  int settle(arrowdevice_error* error);

  void check_input();
  void check_released() const;
  // Checks that the input is unchanged and the output is released.
  void check_refused();
  // Checks that the output has the rows, and releases it.
  void check_output();
  void check_view();
  void check_taken() const { check(in.released(), "the input was not taken over"); }

 private:
  std::array<int64_t, 8> bytes_{};  // source of the work on the queue
  void* buffer_ = nullptr;
  int64_t device_of_buffer_ = 0;
};

}  // namespace faults

// SPDX-License-Identifier: Apache-2.0
// Building blocks of most scenarios: known rows, an array of them, and the output of the call.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>

#include "allocations/trial.h"
#include "support/handles.h"

namespace allocations {

// Rows to make arrays of and to compare arrays with.
class Rows {
 public:
  // Returns rows with each type whose data must be read before a copy.
  static const Rows& nested();
  // Returns integers with nulls.
  static const Rows& flat();
  // Returns lists of two integers without nulls, but with a bitmap and an unknown null count.
  static const Rows& lists();
  // Returns enough rows for a copy in pieces that several threads share.
  static const Rows& large();

  // Creates all of these, so that later processes need not.
  static void prepare();

  ArrowSchema* schema() const { return const_cast<ArrowSchema*>(schema_.get()); }
  const Field& type() const { return type_; }
  int64_t length() const { return data_.length; }
  const Ledger& ledger() const { return ledger_; }

  // Returns a new array of these rows.
  Owned<ArrowArray> plain() const { return make_array(data_, ledger_); }
  Array host() const;

  // Returns "" if the array holds these rows from `first` on, as many as its length says. The array may be
  // on any device.
  std::string difference(const ArrowDeviceArray& array, int64_t first = 0) const;

 private:
  Rows(Field type, const Knobs& knobs);
  Rows(Field type, Data data);
  std::string plain_difference(const ArrowArray& here) const;

  Field type_;
  Data data_;
  Ledger ledger_;  // counts all arrays made from these rows
  Schema schema_;
  Owned<ArrowArray> twin_;
};

// Returns the number of live nodes of arrays of all rows.
int64_t live_nodes();

// Checks a condition while allocations fail.
inline void check_now(bool holds, const char* what) {
  if (holds) return;
  memory::end();
  fail(what);
}

Queue queue_on(arrowdevice_device* device);

// Returns a device by its number; -1 is the CPU.
arrowdevice_device* device(int64_t id);
// Returns "the CPU", "addresses" or "handles".
const char* kind_of(int64_t id);

// Returns the rows on that device after the copy has finished. The array still has its event.
Array on(const Rows& rows, int64_t id);

// Fills an output with garbage. A failed call must set its release to NULL.
void poison(ArrowDeviceArray& out);
void poison(ArrowArray& out);
void poison(ArrowSchema& out);
void poison(ArrowDeviceArrayStream& out);
void poison(ArrowArrayStream& out);

// Returns a garbage pointer. A failed call must set it to NULL.
template <typename Pointed>
Pointed* poisoned_pointer() {
  static int64_t place = 0;
  return reinterpret_cast<Pointed*>(&place);
}

// Stops the device's engine during its lifetime.
class Held {
 public:
  explicit Held(int64_t id) : id_(id) { arrowdevice::sim::control::hold(id); }
  ~Held() { arrowdevice::sim::control::resume(id_); }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

 private:
  int64_t id_;
};

// An array and the output of the call.
struct Scene {
  Scene(const Rows& of, int64_t id) : rows(of), in(on(of, id)) {}
  ~Scene();
  Scene(const Scene&) = delete;

  const Rows& rows;
  Array in;
  View view;
  Queue queue;
  std::optional<Held> held;  // resumed before arrays are compared
  Array out;
  Owned<ArrowArray> host_out;
  Owned<ArrowSchema> schema_out;

  std::array<int64_t, 8> bytes{};  // target of the work on the queue
  void* buffer = nullptr;
  arrowdevice_device* device_of_buffer = nullptr;

  // Creates the queue with work that stays pending until the device is resumed.
  void queue_pending_work(int64_t id);

  void check_input();
  void check_released() const;
  // Checks that the input is unchanged and the output is released.
  void check_refused();
  // Checks that the output has the rows, and releases it.
  void check_output();
  void check_view();
};

}  // namespace allocations

// SPDX-License-Identifier: Apache-2.0
// What most scenarios are made of: rows that are known, and an array of them with what it becomes.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>

#include "allocations/trial.h"
#include "support/handles.h"

namespace allocations {

// Rows to make arrays of, and to compare with.
class Rows {
 public:
  // A bit of everything that has to be read to be copied.
  static const Rows& nested();
  // Integers with nulls.
  static const Rows& flat();
  // Lists of two integers, without nulls, but with a bitmap that nobody has counted.
  static const Rows& lists();
  // Long enough for a copy in pieces that threads share.
  static const Rows& large();

  // Makes all of these, so that the processes to come need not.
  static void prepare();

  ArrowSchema* schema() const { return const_cast<ArrowSchema*>(schema_.get()); }
  const Field& type() const { return type_; }
  int64_t length() const { return data_.length; }
  const Ledger& ledger() const { return ledger_; }

  // Another array of these rows.
  Owned<ArrowArray> plain() const { return make_array(data_, ledger_); }
  Array host() const;

  // "" if the array, wherever it is, has these rows from `first` on, as many as it has itself.
  std::string difference(const ArrowDeviceArray& array, int64_t first = 0) const;

 private:
  Rows(Field type, const Knobs& knobs);
  Rows(Field type, Data data);
  std::string plain_difference(const ArrowArray& here) const;

  Field type_;
  Data data_;
  Ledger ledger_;  // of all that was made of it
  Schema schema_;
  Owned<ArrowArray> twin_;
};

// Nodes of arrays of these that are alive, in all.
int64_t live_nodes();

// For use while memory fails.
inline void check_now(bool holds, const char* what) {
  if (holds) return;
  memory::end();
  fail(what);
}

Queue queue_on(arrowdevice_device* device);

// A device by its number, -1: the CPU.
arrowdevice_device* device(int64_t id);
// "the CPU", "addresses", "handles"
const char* kind_of(int64_t id);

// Those rows on that device, finished; they still carry their event.
Array on(const Rows& rows, int64_t id);

// Outputs that must be found released after a failure.
void poison(ArrowDeviceArray& out);
void poison(ArrowArray& out);
void poison(ArrowSchema& out);
void poison(ArrowDeviceArrayStream& out);
void poison(ArrowArrayStream& out);

// A pointer that must be found NULL after a failure.
template <typename Pointed>
Pointed* poisoned_pointer() {
  static int64_t place = 0;
  return reinterpret_cast<Pointed*>(&place);
}

// While it lives, the device's engine does nothing.
class Held {
 public:
  explicit Held(int64_t id) : id_(id) { arrowdevice::sim::control::hold(id); }
  ~Held() { arrowdevice::sim::control::resume(id_); }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

 private:
  int64_t id_;
};

// An array and what it becomes.
struct Scene {
  Scene(const Rows& of, int64_t id) : rows(of), in(on(of, id)) {}
  ~Scene();
  Scene(const Scene&) = delete;

  const Rows& rows;
  Array in;
  View view;
  Queue queue;
  std::optional<Held> held;  // resumed before anything is compared
  Array out;
  Owned<ArrowArray> host_out;
  Owned<ArrowSchema> schema_out;

  std::array<int64_t, 8> bytes{};  // for work on the queue
  void* buffer = nullptr;
  arrowdevice_device* device_of_buffer = nullptr;

  // Makes the queue, with work that is not done before the device is resumed.
  void queue_pending_work(int64_t id);

  void check_input();
  void check_released() const;
  // The input as it was, the output released.
  void check_refused();
  // The output has the rows, and goes.
  void check_output();
  void check_view();
};

}  // namespace allocations

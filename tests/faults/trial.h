// SPDX-License-Identifier: Apache-2.0
// One operation after another, with every call of the backend table that it makes failing in turn.
//
//   exercise({"array_share", "on addresses", [] {
//     auto there = std::make_shared<Array>(Rows::nested().on(sim(0), ledger));
//     Trial trial;
//     trial.run = [there](auto* error) { return arrowdevice_array_share(there->get(), ..., error); };
//     ...
//     return trial;
//   }});
//
// The operation is run once as it should go, and what it calls is counted. Then, for each function of the table and
// each position at which it was called, it is made again and run with that one call failing; so also with that one of
// its events failing when the device gets to it ("event"), and with the device lost at that submission ("lost"). What
// must hold then:
//
// - It fails with the code that was planned and a message that names the call, or it does without that call.
// - The input is the caller's and equal to what it was, the output is released.
// - The same call on the same input succeeds once the device is there again (a failure is final for a simulated queue).
// - In the end the device has no allocation, sub-buffer, event or queue left, every array was released, and the device
//   has refused nothing. The one exception is a lost device, of which nobody can tell whether it still uses the memory:
//   then the library says so in its log and never uses that again.
//
// The program prints the list of all failed calls and their number when it ends: run `tests/faults/faults` in the build
// folder, or `meson test -v 'every backend call fails in turn'`. Data is small but for an index of 80 KB and a staged
// copy of 1.25 MiB; these and the second kind of data run with fewer combinations of flags.
#pragma once

#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

#include "unit/library.h"

namespace faults {

using namespace library_test;  // NOLINT: what every line of these tests is written with

// Rows to be copied, in the middle of others, and to compare with.
class Rows {
 public:
  static const Rows& nested();      // strings, lists, views, a union, runs, a dictionary, with nulls
  static const Rows& flat();        // 64-bit integers with nulls
  static const Rows& lists();       // of two integers, without nulls, but with a bitmap that nobody has counted
  static const Rows& long_index();  // a list with more than 64 KiB of offsets
  static const Rows& large();       // five pieces, more than there are blocks of staging memory

  const ArrowSchema& schema() const { return *schema_; }
  int64_t length() const { return length_; }

  // The rows on that device, finished; they still carry their event.
  Array on(arrowdevice_device* device, const Ledger& ledger) const;

  // "" if the array, wherever it is, has these rows.
  std::string difference(const ArrowDeviceArray& array) const;

 private:
  Rows(const Field& type, Data data, int64_t first, int64_t length);
  std::string plain_difference(const ArrowArray& here) const;

  Owned<ArrowSchema> schema_;
  Data data_;
  Owned<ArrowArray> twin_;
  int64_t first_;
  int64_t length_;
};

// An operation that is ready to be run. What it needs is kept by the functions.
struct Trial {
  // Called when pools are empty and no queue of the library is idle, with nothing planned to fail.
  std::function<void()> prepare = [] {};
  std::function<int(arrowdevice_error* error)> run;
  // After a success: waits until the output is complete.
  std::function<int(arrowdevice_error* error)> settle = [](arrowdevice_error*) { return 0; };
  // After a failure: checks that the inputs are as before and the outputs released.
  std::function<void()> check_refused = [] {};
  // After a success: checks inputs and outputs. `spoiled`: the work failed later, so that no values came.
  std::function<void(bool spoiled)> check_done = [](bool) {};
  Ledger ledger;
};

struct Operation {
  std::string name;     // "array_copy"
  std::string variant;  // "host to addresses, nested"
  std::function<Trial()> make;
  // Functions whose failure it may survive, beside "device_locate" and "device_get_memory_info", which only give hints.
  std::vector<std::string> may_survive = {};
  Peers peers = Peers::kCopy;
  // Threads of the library make its calls: how many there are depends on their pace.
  bool calls_vary = false;
};

void exercise(const Operation& operation);

// For a test that plans its failures itself: devices with nothing pending, planned or counted.
void begin_from_the_start();

// Whether any operation so far has met the failure of a function, "event" or "lost".
bool was_reached(const std::string& operation, const std::string& function);

// Outputs that must be found released after a failure. Calling it is a mistake.
void poison(ArrowDeviceArray& out);
void poison(ArrowArray& out);

}  // namespace faults

// SPDX-License-Identifier: Apache-2.0
// Runs operations in sequence. Every call of the backend table that an operation makes fails in turn.
//
//   exercise({"array_share", "on addresses", [] {
//     auto there = std::make_shared<Array>(Rows::nested().on(sim(0), ledger));
//     Trial trial;
//     trial.run = [there](auto* error) { return arrowdevice_array_share(there->get(), ..., error); };
//     ...
//     return trial;
//   }});
//
// The operation first runs without failures, and its calls are counted. Then it is made anew for each
// function of the table and each position of a call, and runs with that single call failing. It also runs with a single
// event failing on the device ("event"), and with the device lost at a submission ("lost"). After each run the
// following must hold:
//
// - The operation fails with the planned code and a message that names the call, or it succeeds without
//   that call.
// - After a failure the caller still has the unchanged input, and the output is released.
// - The same call on the same input succeeds when the device works again. A failure is final for a
//   simulated queue.
// - In the end the device has no allocation, sub-buffer, event or queue left, and has refused nothing.
//   Every array is released.
// - A lost device is the only exception, because the library cannot know if the device still uses the
//   memory. The library then logs this and never uses that memory again.
//
// When the program ends, it prints the list of all failed calls and their number. Run `tests/faults/faults`
// in the build folder, or `meson test -v 'every backend call fails in turn'`. Data is small, except for an
// index of 80 KB and a staged copy of 1.25 MiB. These and the second kind of data run with fewer
// combinations of flags.
#pragma once

#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

#include "unit/library.h"

namespace faults {

using namespace library_test;  // NOLINT: what every line of these tests is written with

// Rows in the middle of other rows, to copy and to compare with.
class Rows {
 public:
  static const Rows& nested();      // strings, lists, views, a union, runs, a dictionary, with nulls
  static const Rows& flat();        // 64-bit integers with nulls
  static const Rows& lists();       // lists of two integers without nulls, but with a bitmap and an unknown null count
  static const Rows& long_index();  // a list with more than 64 KiB of offsets
  static const Rows& large();       // five pieces, more than there are blocks of staging memory

  const ArrowSchema& schema() const { return *schema_; }
  int64_t length() const { return length_; }

  // Returns the rows on that device after the copy has finished. The array still has its event.
  Array on(arrowdevice_device* device, const Ledger& ledger) const;

  // Returns "" if the array has these rows. The array may be on any device.
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

// An operation that is ready to run. Its functions own everything that it needs.
struct Trial {
  // Runs when pools are empty, the library has no idle queue, and no failure is planned.
  std::function<void()> prepare = [] {};
  std::function<int(arrowdevice_error* error)> run;
  // Waits after a success until the output is complete.
  std::function<int(arrowdevice_error* error)> settle = [](arrowdevice_error*) { return 0; };
  // Checks after a failure that the inputs are unchanged and the outputs are released.
  std::function<void()> check_refused = [] {};
  // Checks inputs and outputs after a success. `spoiled` means that the work failed later, so that the
  // output has no values.
  std::function<void(bool spoiled)> check_done = [](bool) {};
  Ledger ledger;
};

struct Operation {
  std::string name;     // "array_copy"
  std::string variant;  // "host to addresses, nested"
  std::function<Trial()> make;
  // Functions whose failure the operation may survive. It may also survive "device_locate" and
  // "device_get_memory_info", which only give hints.
  std::vector<std::string> may_survive = {};
  Peers peers = Peers::kCopy;
  // Threads of the library make its calls, so their number depends on timing.
  bool calls_vary = false;
};

void exercise(const Operation& operation);

// Prepares devices with nothing pending, planned or counted. Tests that plan their own failures use this.
void begin_from_the_start();

// Returns true if an operation so far has met the failure of a function, of "event" or of "lost".
bool was_reached(const std::string& operation, const std::string& function);

// Fills an output with garbage. A failed call must release it, and calling its garbage release is an error.
void poison(ArrowDeviceArray& out);
void poison(ArrowArray& out);

}  // namespace faults

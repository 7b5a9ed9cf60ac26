// SPDX-License-Identifier: Apache-2.0
// A thread of a soak. It runs random operations in sequence and checks each result.
#pragma once

#include <arrowdevice/arrowdevice.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "items.h"
#include "simulated.h"
#include "support/calls.h"

namespace soak {

// A device and its properties.
struct Place {
  arrowdevice_device* device;
  arrowdevice_device_info info;

  bool is_cpu() const { return info.device_type == ARROW_DEVICE_CPU; }
  bool is_simulated() const { return info.device_type == ARROW_DEVICE_EXT_DEV; }
  bool is_small() const { return is_simulated() && info.device_id == kSmallSim; }
};

// The function of this name hides the struct.
using Counters = struct arrowdevice_device_counters;
using Stream = arrowdevice::testing::Owned<ArrowDeviceArrayStream>;

// The current operation of a thread.
struct Doing {
  std::atomic<int64_t> operation{0};
  std::atomic<const char*> name{""};
};

// State that all threads share.
struct Run {
  std::vector<Place> places;  // the CPU is the first
  uint64_t seed = 1;
  int64_t fault_percent = 5;
  int64_t operations = -1;  // of each thread and round; negative means until the time has passed
  Mistake mistake = Mistake::kNone;
  Ledger ledger;
  Bag bag;
  std::vector<Doing> doing;  // of each thread
  std::atomic<int64_t> round{0};
  std::atomic<bool> is_over{false};
  std::atomic<int64_t> cpu_blocks{0};        // of pools with an allocator of the program
  std::atomic<int64_t> producers{0};         // of streams
  std::mutex mutex;                          // guards the members below
  std::vector<arrowdevice_device*> wrapped;  // to unwrap after all is released
  std::vector<Array> running;                // sources of copies that ran out of time, until no work is deferred

  size_t place_of(const ArrowDeviceArray& array) const;
};

// Reasons for which a call may fail without its own fault.
struct Risk {
  bool spoiled = false;   // an event of its input failed
  bool full = false;      // no memory on the device or in the pool
  bool brief = false;     // it has a short timeout
  bool moves = false;     // it takes its input
  bool shares = false;    // it must not copy
  bool streamed = false;  // threads of the library work for it
  int also = 0;           // another code that it may fail with
};

struct Outcome {
  int code = 0;
  bool spoils = false;  // an event that it recorded will fail
};

class Worker {
 public:
  Worker(Run& run, size_t number);
  ~Worker();
  Worker(const Worker&) = delete;

  void run();

  struct Operation {
    const char* name;
    int64_t weight;  // relative frequency
    void (Worker::*run)();
  };
  static std::span<const Operation> operations();
  static int64_t times_done(size_t operation);

 private:
  using Call = std::function<int(arrowdevice_error*)>;
  using Fill = std::function<int(ArrowDeviceArray*, arrowdevice_error*)>;

  // -- calls (calls.cc)

  // Makes a call that may carry a fault. Throws Wrong if it fails for a reason other than the fault or its
  // risks.
  Outcome call(const char* name, const Risk& risk, const Call& make);
  // Makes a call like call() that returns an array. After a failure, checks `input` and that `out` is
  // released. Repeats the call until it succeeds or is given up; the code of the outcome shows which.
  Outcome fill(const char* name, const Risk& risk, Item& input, Array& out, const Fill& make);
  // Make a call that must succeed, without a fault.
  template <typename... Arguments>
  static void must(const Arguments&... arguments) {
    const Planned nothing;
    arrowdevice::testing::must{arguments...};
  }
  template <typename... Arguments>
  static auto output_of(const Arguments&... arguments) {
    const Planned nothing;
    return arrowdevice::testing::output_of(arguments...);
  }
  void judge(const char* name, const Risk& risk, const Planned& planned, int code,
             const arrowdevice_error& error) const;
  std::optional<Fault> some_fault();

  // Checks that a call which has failed left its input as it was. A call that moves it may leave a shared owner when
  // its time is over.
  void check_unchanged(const char* name, const Risk& risk, int code, const ArrowDeviceArray& before,
                       const Item& input) const;
  // Keeps the memory of an array until no work is deferred.
  void keep_until_idle(Item& item);
  // Reads the array back and compares every row. Spoiled arrays may be unreadable.
  void check_rows(const Item& item) const;
  int64_t bytes_of(ArrowDeviceArray& on_cpu, const ArrowSchema& type) const;

  // -- operations in sequence (worker.cc)

  void one_operation();
  size_t some_operation();
  uint64_t seed() const;      // of this thread and round
  std::string where() const;  // position in the run, for debugging

  // -- items (worker.cc)

  size_t below(size_t bound) { return static_cast<size_t>(dice_.below(static_cast<int64_t>(bound))); }
  bool one_in(int64_t n) { return dice_.below(n) == 0; }
  size_t some_place() { return below(run_.places.size()); }
  const Place& at(size_t place) const { return run_.places[place]; }
  size_t place_of(const Item& item) const { return run_.place_of(*item.array); }
  Item& some_item() { return items_[below(items_.size())]; }
  Item take();
  Item take_last();  // to release; usually read before
  Item fresh();      // on the CPU
  void keep(Item item);
  arrowdevice_queue* make_queue(size_t place) const;
  void renew_queue(size_t place);

  struct Pool {
    arrowdevice_pool* handle = nullptr;
    bool is_capped = false;
  };
  Pool make_pool(size_t place);

  // -- copies (arrays.cc)

  // Options for a copy between places, and their risks.
  struct Copying {
    arrowdevice_copy_options options{};
    Risk risk;
    std::optional<size_t> queue;  // the place of a queue of this thread
  };
  Copying some_copying(const Item& source, size_t to);
  size_t place_of_work(size_t from, size_t to) const;
  // Replaces the queue if an event of it failed, or if it waited for a failed event. Such a queue is
  // unusable.
  void after_use(std::optional<size_t> queue, const Item& source, const Outcome& outcome);
  bool move(Item& item, size_t to);
  void hold_source(Item& source, Item& made);

  // -- operations on arrays (arrays.cc, views.cc)

  void make();
  void copy();
  void chain();
  void to_host();
  void share();
  void slice();
  void select();
  void export_again();
  void view();
  void end_view(arrowdevice_view* view, const Item& viewed, size_t queue);
  void release();
  void release_after();
  void move_child_out();
  void wait();
  void validate();
  void read();
  void exchange();

  // -- operations on streams (streams.cc)

  struct Flow;
  void pull() { flow(false); }
  void async() { flow(true); }
  void flow(bool is_async);
  Item some_batch(const std::shared_ptr<const Rows>& rows, size_t place);
  Stream produced(Flow& flow);
  Stream pulled(Flow& flow, Stream upstream);
  Stream over_the_host(Flow& flow, Stream upstream);
  Stream handed_on(Flow& flow, Stream upstream);
  arrowdevice_stream_options some_stream_options(Flow& flow, size_t to);
  void consume(Flow& flow, ArrowDeviceArrayStream& stream);
  bool take_batch(Flow& flow, ArrowDeviceArrayStream& stream, int64_t number);

  // -- other operations (devices.cc)

  void bytes() { bytes_on(some_place()); }
  void bytes_on(size_t place);
  bool copy_bytes(size_t place, const std::vector<arrowdevice_copy_region>& regions, bool is_full);
  void queues();
  void pools();
  void deferred();
  void devices();
  void wrap();

  Run& run_;
  const size_t number_;
  Random dice_{0};  // seeded anew for each operation, so that operations are independent
  Doing& doing_;
  std::string last_fault_;
  std::vector<Item> items_;
  std::vector<arrowdevice_queue*> queues_;  // of each place
  std::vector<Pool> pools_;
  std::vector<Counters> counters_;                    // their last values
  std::array<arrowdevice_device*, kSims> wrapped_{};  // by their ids; contexts of this thread
};

}  // namespace soak

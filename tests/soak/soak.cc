// SPDX-License-Identifier: Apache-2.0
// Runs random operations of the whole C API on many threads and all devices, with faults, for a given time.
// It compares every row that comes back. After each round all objects must be freed. See
// docs/verification.md.
#include <arrowdevice/arrowdevice.h>

#include <algorithm>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string_view>

#include "options.h"
#include "report.h"
#include "worker.h"

namespace {

using namespace soak;  // NOLINT: what every line of this program is written with
using Clock = std::chrono::steady_clock;

// -- devices

void check_code(int code, const arrowdevice_error& error) {
  if (code == 0) return;
  std::fprintf(stderr, "soak: %s\n", error.message);
  std::exit(1);
}

Place place_of(arrowdevice_device* device) {
  arrowdevice_error error{};
  Place place{};
  place.device = device;
  place.info.struct_size = sizeof place.info;
  check_code(arrowdevice_device_get_info(device, &place.info, &error), error);
  return place;
}

std::vector<Place> find_places(bool simulated_only) {
  arrowdevice_error error{};
  std::vector<Place> places;
  const auto add = [&](ArrowDeviceType type, int64_t id) {
    arrowdevice_device* device = nullptr;
    check_code(arrowdevice_device_find_by_id(type, id, &device, &error), error);
    places.push_back(place_of(device));
  };
  add(ARROW_DEVICE_CPU, -1);
  for (int64_t id = 0; id < kSims; ++id) add(ARROW_DEVICE_EXT_DEV, id);
  if (simulated_only) return places;
  std::vector<arrowdevice_device*> all(64);
  int64_t count = 0;
  check_code(arrowdevice_device_list(all.data(), static_cast<int64_t>(all.size()), &count, &error), error);
  all.resize(static_cast<size_t>(std::min(count, static_cast<int64_t>(all.size()))));
  for (auto* device : all) {
    const Place place = place_of(device);
    if (!place.is_cpu() && !place.is_simulated()) places.push_back(place);
  }
  return places;
}

std::string name_of(const Place& place) {
  const char* const type = arrowdevice_device_type_get_name(place.info.device_type);
  const std::string name = std::string(type != nullptr ? type : "?") + ":" + std::to_string(place.info.device_id);
  return place.is_cpu() ? "cpu" : name + " (" + place.info.name + ")";
}

// -- a round

int64_t operations_done() {
  int64_t all = 0;
  for (size_t i = 0; i < Worker::operations().size(); ++i) all += Worker::times_done(i);
  return all;
}

constexpr double kMega = 1e6;

void report_progress(double seconds) {
  std::fprintf(stderr,
               "soak: %.0f s, %" PRId64 " operations, %" PRId64 " faults, %.1f MB compared, %.1f MB resident, %" PRId64
               " wrong\n",
               seconds, operations_done(), tally().faults.load(), static_cast<double>(tally().bytes) / kMega,
               static_cast<double>(memory_of_process("VmRSS")) / kMega, tally().wrong.load());
}

constexpr auto kTick = std::chrono::milliseconds(50);

// Ends the process if a thread stays at an operation for too long, so that a debugger sees it. It counts
// samples instead of time, because the whole process may be stopped.
class Watch {
 public:
  explicit Watch(const Run& run) : run_(run), seen_(run.doing.size()), looks_(run.doing.size()) {}

  void look() {
    constexpr int64_t kMostLooks = std::chrono::minutes(5) / kTick;
    for (size_t number = 0; number < seen_.size(); ++number) {
      const int64_t operation = run_.doing[number].operation;
      looks_[number] = operation == seen_[number] ? looks_[number] + 1 : 0;
      seen_[number] = operation;
      if (looks_[number] > kMostLooks && !std::string_view(run_.doing[number].name).empty()) give_up(number);
    }
  }

 private:
  [[noreturn]] void give_up(size_t number) const {
    note_wrong("seed " + std::to_string(run_.seed) + ", round " + std::to_string(run_.round) + ", thread " +
                   std::to_string(number) + ", operation " + std::to_string(seen_[number]) + " (" +
                   run_.doing[number].name.load() + ")",
               "it does not end");
    std::abort();
  }

  const Run& run_;
  std::vector<int64_t> seen_;
  std::vector<int64_t> looks_;
};

class Soak {
 public:
  explicit Soak(const Options& options) : options_(options), began_(Clock::now()) {
    run_.seed = static_cast<uint64_t>(options.seed);
    run_.fault_percent = options.fault_percent;
    run_.operations = options.operations;
    run_.mistake = options.mistake;
    register_simulated(run_.seed, options.mistake);
    run_.places = find_places(options.simulated_only);
    Rows::large();  // is never freed, and neither is its schema
    schema_fields_ = arrowdevice::testing::live_schema_fields();
  }

  void run() {
    do {
      one_round();
      ++run_.round;
    } while (seconds() < static_cast<double>(options_.seconds) && goes_on());
  }

  void print() const;

 private:
  double seconds() const { return std::chrono::duration<double>(Clock::now() - began_).count(); }

  // Returns true if the run continues. If a mistake was injected, the run continues until it is found.
  bool goes_on() const {
    if (options_.mistake != Mistake::kNone) return tally().wrong == 0;
    return options_.operations < 0 && !is_too_much_wrong();
  }

  void one_round() {
    if (run_.round > 0) set_pace(run_.seed + static_cast<uint64_t>(run_.round));
    run_.is_over = false;
    // Library threads fail roughly as often as other threads. They make several calls of the driver for
    // each batch.
    constexpr int64_t kCallsOfAStream = 1000;
    fail_library_threads(options_.fault_percent > 0 ? kCallsOfAStream / options_.fault_percent : 0);
    {
      Holding holding(run_.seed);
      work();
      holds_ += holding.times();
    }
    fail_library_threads(0);
    for (size_t place = 0; place < Bag::kPlaces; ++place) run_.bag.swap(place, std::nullopt);
    try {
      check_idle();
    } catch (const Wrong& e) {
      note_wrong("seed " + std::to_string(run_.seed) + ", after round " + std::to_string(run_.round), e.what());
    }
    allocated_.push_back(allocated_bytes());
  }

  void work() {
    std::vector<std::thread> threads;
    std::mutex mutex;
    std::condition_variable ended;
    int64_t working = options_.threads;
    run_.doing = std::vector<Doing>(static_cast<size_t>(options_.threads));
    for (size_t number = 0; number < run_.doing.size(); ++number) {
      threads.emplace_back([&, number] {
        mark_own_thread();
        Worker(run_, number).run();
        const std::lock_guard lock(mutex);
        if (--working == 0) ended.notify_one();
      });
    }
    const double end =
        std::min(seconds() + static_cast<double>(options_.round_seconds), static_cast<double>(options_.seconds));
    Watch watch(run_);
    double told = seconds();
    for (std::unique_lock lock(mutex); !ended.wait_for(lock, kTick, [&] { return working == 0; });) {
      watch.look();
      if (seconds() >= end) run_.is_over = true;
      if (seconds() >= told + 10) report_progress(told = seconds());
    }
    for (auto& thread : threads) thread.join();
  }

  // Checks that no object remains after a while, because all of them were released.
  void check_idle() {
    wait_until_idle();
    run_.running.clear();
    wait_for_releases();
    wait_until_idle();
    arrowdevice_error error{};
    for (auto* device : std::exchange(run_.wrapped, {})) {
      if (arrowdevice_device_unwrap(device, 60'000'000'000, &error) != 0) wrong(error.message);
    }
    for (const Place& place : run_.places) check_pool(place);
    const std::string left = left_on_devices(4 * options_.threads + 16);
    if (!left.empty()) wrong("left on the devices: " + left);
    expect_equal(run_.cpu_blocks, 0, "blocks of pools with an allocator of the program");
    expect_equal(Ledger::mistakes(), 0, "arrays that were released twice");
    expect_equal(arrowdevice::testing::live_schema_fields(), schema_fields_, "fields of schemas");
  }

  static void wait_until_idle() {
    arrowdevice_error error{};
    const int code = arrowdevice_wait_idle(60'000'000'000, &error);
    if (code != 0) wrong(std::string("deferred work is left: ") + error.message);
  }

  // Waits until threads of streams have ended.
  void wait_for_releases() const {
    const auto patience =
        Clock::now() + (options_.mistake == Mistake::kLeak ? std::chrono::seconds(2) : std::chrono::seconds(60));
    while (run_.ledger.live() != 0 || run_.producers != 0) {
      if (Clock::now() > patience) {
        wrong(std::to_string(run_.ledger.live()) + " host arrays and " + std::to_string(run_.producers) +
              " producers are alive");
      }
      arrowdevice_wait_idle(100'000'000, nullptr);
      std::this_thread::yield();
    }
  }

  static void check_pool(const Place& place) {
    arrowdevice_error error{};
    arrowdevice_pool* pool = nullptr;
    check_code(arrowdevice_device_get_pool(place.device, &pool, &error), error);
    check_code(arrowdevice_pool_trim(pool, &error), error);
    auto stats = sized<struct arrowdevice_pool_stats>();
    check_code(arrowdevice_pool_get_stats(pool, &stats, &error), error);
    if (stats.used_bytes != 0) wrong(name_of(place) + " has " + std::to_string(stats.used_bytes) + " bytes in use");
  }

  const Options options_;
  const Clock::time_point began_;
  Run run_;
  int64_t schema_fields_ = 0;
  int64_t holds_ = 0;
  std::vector<int64_t> allocated_;  // after each round
};

// -- the table

void row(const std::string& what, const std::string& value) {
  std::printf("| %s | %s |\n", what.c_str(), value.c_str());
}
void row(const std::string& what, int64_t value) { row(what, std::to_string(value)); }

std::string mega(int64_t bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f MB", static_cast<double>(bytes) / kMega);
  return text;
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  char text[32];
  std::tm parts{};
  std::strftime(text, sizeof text, "%F", gmtime_r(&now, &parts));
  return text;
}

void Soak::print() const {
  const Tally& done = tally();
  std::string devices = "cpu, " + std::to_string(kSims) + " simulated";
  for (const Place& place : run_.places) {
    if (!place.is_cpu() && !place.is_simulated()) devices += ", " + name_of(place);
  }
  std::printf("| soak | |\n| --- | ---: |\n");
  row("seed, threads, rounds",
      std::to_string(options_.seed) + ", " + std::to_string(options_.threads) + ", " + std::to_string(run_.round));
  row("ended, after seconds", today() + ", " + std::to_string(static_cast<int64_t>(seconds())));
  row("devices", devices);
  row("operations", operations_done());
  const auto operations = Worker::operations();
  for (size_t i = 0; i < operations.size(); ++i) row(std::string("- ") + operations[i].name, Worker::times_done(i));
  row("arrays read back and compared", done.arrays);
  row("bytes compared", mega(done.bytes));
  row("faults in calls of these threads", done.faults);
  row("- the call failed with it, and nothing was changed", done.failed);
  row("- the call did without what failed", done.faults - done.failed);
  row("faults on threads of the library", failures_on_library_threads());
  row("- streams that ended with one", done.interrupted);
  row("calls that failed since an event of their array had", done.spoiled);
  row("times that a device was held", holds_);
  row("calls for which there was no room", done.exhausted);
  row("calls that ran out of time, as they were to", done.timed_out);
  row("most memory of the process", mega(memory_of_process("VmHWM")));
  if (allocated_.front() > 0) {
    row("host memory allocated, after the first and the last round",
        mega(allocated_.front()) + ", " + mega(allocated_.back()));
  }
  row("host arrays alive", run_.ledger.live());
  row("wrong", done.wrong);
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse(argc, argv);
  Soak soak(options);
  soak.run();
  soak.print();
  // The injected mistake must have been found.
  const bool expects_wrong = options.mistake != Mistake::kNone;
  return (tally().wrong > 0) == expects_wrong ? 0 : 1;
}

// SPDX-License-Identifier: Apache-2.0
#include "faults/trial.h"

#include <algorithm>
#include <array>
#include <iostream>
#include <map>
#include <optional>

namespace faults {
namespace {

using arrowdevice::sim::can_fail;
using arrowdevice::sim::Function;
using arrowdevice::sim::kFunctions;
using arrowdevice::sim::name_of;

// Functions that every operation may survive. This function only tells a pool how much memory it may cache.
constexpr const char* kNeverNeeded[] = {"device_get_memory_info"};

constexpr const char* kVaries = "event_query";

// A result, not an error of the caller: memory of a device that another device uses in place.
constexpr const char* kAnswer = "device_locate: it belongs to";

const std::vector<std::string>& failing() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (int i = 0; i < kFunctions; ++i) {
      if (can_fail(static_cast<Function>(i))) all.emplace_back(name_of(static_cast<Function>(i)));
    }
    return all;
  }();
  return names;
}

// -- the list of failed calls

class List {
 public:
  static List& instance() {
    static List list;
    return list;
  }

  void add(const std::string& operation, const std::string& variant, const std::string& function, int64_t positions) {
    entries_[operation][variant].emplace_back(function, positions);
  }
  void add_operation(const std::string& operation, const std::string& variant) { entries_[operation][variant]; }

  bool has(const std::string& operation, const std::string& function) const {
    const auto found = entries_.find(operation);
    return found != entries_.end() && std::ranges::any_of(found->second, [&](const auto& variant) {
             return std::ranges::any_of(variant.second, [&](const auto& call) { return call.first == function; });
           });
  }

  ~List() {
    if (entries_.empty()) return;
    int64_t total = 0;
    int64_t variants = 0;
    std::map<std::string, int64_t> of_function;
    std::cout << "\nEvery backend call failed in turn: operation, call x positions\n";
    for (const auto& [operation, all] : entries_) {
      std::cout << operation << "\n";
      for (const auto& [variant, calls] : all) {
        std::cout << "  " << variant << ":" << (calls.empty() ? " calls nothing" : "");
        ++variants;
        for (const auto& [function, positions] : calls) {
          std::cout << " " << function << " x " << positions;
          total += positions;
          of_function[function] += positions;
        }
        std::cout << "\n";
      }
    }
    std::cout << "By call:";
    for (const auto& [function, positions] : of_function) std::cout << " " << function << " x " << positions;
    std::cout << "\n"
              << total << " failed calls in " << variants << " variants of " << entries_.size() << " operations\n";
  }

 private:
  List() = default;

  // operation, variant, function and positions
  std::map<std::string, std::map<std::string, std::vector<std::pair<std::string, int64_t>>>> entries_;
};

// -- the library's log, and objects that it has given up

std::vector<std::string>& logged() {
  static std::vector<std::string> lines;
  return lines;
}

void begin_once() {
  static const bool begun = [] {
    // Deferred work runs only when the test calls it. Otherwise the calls of a thread would be counted too.
    REQUIRE(arrowdevice_deferred_set_manual(1, nullptr) == 0);
    arrowdevice_log_set_handler([](void*, int, const char* message) { logged().emplace_back(message); }, nullptr);
    begin();
    return true;
  }();
  REQUIRE(begun);
}

struct Live {
  int64_t allocations, sub_buffers, events, queues;
  bool operator==(const Live&) const = default;
};

std::array<Live, kSims> live() {
  std::array<Live, kSims> all{};
  for (int64_t id = 0; id < kSims; ++id) {
    const auto counted = control::counters(id);
    all[static_cast<size_t>(id)] = {counted.allocations_live, counted.sub_buffers_live, counted.events_live,
                                    counted.queues_live};
  }
  return all;
}

std::string text_of(const std::array<Live, kSims>& all) {
  std::string text;
  for (const Live& one : all) {
    text += "[" + std::to_string(one.allocations) + " allocations, " + std::to_string(one.sub_buffers) +
            " sub-buffers, " + std::to_string(one.events) + " events, " + std::to_string(one.queues) + " queues] ";
  }
  return text;
}

// The objects that were given up on lost devices. No other object may remain.
std::array<Live, kSims>& given_up() {
  static std::array<Live, kSims> all{};
  return all;
}

// -- the start of an operation

// Drops an idle queue of the library, because a copy that fails destroys its queue. If there is none, the
// copy makes one.
void drop_one_queue(arrowdevice_device* device) {
  static const Owned<ArrowSchema> schema = make_schema(field("l"));
  static const Array host = from_host(make_array(data_of(1, {no_buffer(), buffer_of<int64_t>({1})}), Ledger()));
  control::fail_next("queue_copy");
  Array out;
  REQUIRE(arrowdevice_array_copy(host.get(), schema.get(), device, nullptr, out.get(), nullptr) == EIO);
}

// Empties pools and drops idle queues, so that an operation asks the device for everything.
void begin_from_nothing() {
  for (int64_t id = 0; id < kSims; ++id) {
    for (bool made_one = control::counters(id).queues_live == 0; !made_one;) {
      const int64_t before = control::calls("queue_create");
      drop_one_queue(sim(id));
      made_one = control::calls("queue_create") != before;
    }
    REQUIRE(arrowdevice_pool_trim(default_pool(sim(id)), nullptr) == 0);
  }
}

void collect(std::vector<std::string>& refusals) {
  for (const auto& refusal : control::refusals()) {
    if (!refusal.starts_with(kAnswer)) refusals.push_back(refusal);
  }
}

void reset(Peers peers, std::vector<std::string>& refusals) {
  collect(refusals);
  control::reset(configuration(peers));
}

class Attempt {
 public:
  explicit Attempt(const Operation& operation) : operation_(operation) {
    begin_once();
    reset(operation.peers, refusals_);
    logged().clear();
    refusals_.clear();
    trial_.emplace(operation.make());
    prepare();
  }

  // Runs the operation without failures. Returns the number of calls of each function.
  std::map<std::string, int64_t> run_well() {
    std::map<std::string, int64_t> counted;
    for (const auto& function : failing()) counted[function] = -control::calls(function);
    arrowdevice_error error{};
    const int code = trial_->run(&error);
    for (const auto& function : failing()) counted[function] += control::calls(function);
    finish_well(code, error);
    end();
    return counted;
  }

  // Runs the operation with a failure. Returns false if that call was not made.
  bool run_with(const std::string& function, int64_t position) {
    loses_device_ = function == "lost";
    const int64_t before = control::failures_injected();
    control::fail_nth(function, position);
    arrowdevice_error error{};
    const int code = trial_->run(&error);
    const bool reached = control::failures_injected() != before;
    if (code == 0) {
      CHECK((!reached || may_survive(function)));
      if (!reached) control::fail_no_more();
      const bool spoiled = !settled(reached ? function : "");
      reset(operation_.peers, refusals_);
      trial_->check_done(spoiled);
    } else {
      check_message(function, code, error);
      reset(operation_.peers, refusals_);
      trial_->check_refused();
      prepare();
      error = {};
      const int again = trial_->run(&error);
      finish_well(again, error);
    }
    end();
    return reached;
  }

 private:
  void prepare() {
    begin_from_nothing();
    trial_->prepare();
  }

  void finish_well(int code, const arrowdevice_error& error) {
    INFO("without failure: " << error.message);
    REQUIRE(code == 0);
    must_settle();
    trial_->check_done(false);
  }

  void must_settle() {
    arrowdevice_error error{};
    const int code = trial_->settle(&error);
    INFO(error.message);
    REQUIRE(code == 0);
  }

  // Waits for the queued work, which may fail later with the device or with the event.
  bool settled(const std::string& function) {
    if (function != "event" && function != "lost") {
      must_settle();
      return true;
    }
    arrowdevice_error error{};
    const int code = trial_->settle(&error);
    if (code == 0) return true;
    CHECK(code == EIO);
    return false;
  }

  bool may_survive(const std::string& function) const {
    return function == "event" || std::ranges::find(kNeverNeeded, function) != std::end(kNeverNeeded) ||
           std::ranges::find(operation_.may_survive, function) != operation_.may_survive.end();
  }

  static void check_message(const std::string& function, int code, const arrowdevice_error& error) {
    const std::string message = error.message;
    INFO("code " << code << ": " << message);
    CHECK(error.code == code);
    CHECK(std::string(error.backend) == "sim");
    if (function == "event") {
      CHECK(code == EIO);
      CHECK(contains(message, "an event failed"));
    } else if (function == "lost") {
      CHECK(code == EIO);
      CHECK(contains(message, "was lost"));
    } else {
      CHECK(code == (function == "buffer_allocate"                             ? ENOMEM
                     : function == "device_count" || function == "device_open" ? ENODEV
                                                                               : EIO));
      CHECK(contains(message, function + ": "));
    }
  }

  void end() {
    const Ledger ledger = trial_->ledger;
    trial_.reset();
    REQUIRE(arrowdevice_wait_idle(ARROWDEVICE_NO_TIMEOUT, nullptr) == 0);
    begin_from_nothing();
    CHECK(ledger.live() == 0);
    CHECK(Ledger::mistakes() == 0);
    collect(refusals_);
    for (const auto& refusal : refusals_) FAIL_CHECK("refused by the device: " << refusal);
    const bool gave_up = std::ranges::any_of(
        logged(), [](const std::string& line) { return line.find("could not be drained") != line.npos; });
    INFO("left: " << text_of(live()) << ", given up before: " << text_of(given_up()));
    if (gave_up) {
      CHECK(loses_device_);
      for (size_t id = 0; id < given_up().size(); ++id) CHECK(live()[id].queues == given_up()[id].queues);
      given_up() = live();
    } else {
      CHECK(live() == given_up());
    }
  }

  const Operation& operation_;
  bool loses_device_ = false;
  std::vector<std::string> refusals_;
  std::optional<Trial> trial_;
};

int poisoned = 0;

}  // namespace

void poison(ArrowArray& out) {
  out.release = [](ArrowArray* array) {
    ++poisoned;
    array->release = nullptr;
  };
}
void poison(ArrowDeviceArray& out) { poison(out.array); }

void begin_from_the_start() {
  begin_once();
  control::reset(configuration());
}

void exercise(const Operation& operation) {
  INFO(operation.name << ", " << operation.variant);
  auto& list = List::instance();
  list.add_operation(operation.name, operation.variant);
  const auto counted = Attempt(operation).run_well();
  for (const auto& function : failing()) {
    // The number of queries of a pending event depends on the timing of the device. In that case the loop
    // continues until no call fails.
    const bool varies = operation.calls_vary || function == kVaries;
    const int64_t expected = counted.at(function);
    int64_t positions = 0;
    for (bool reached = true; reached && (varies || positions < expected);) {
      INFO("call " << positions + 1 << " of " << function << " failed, of " << expected);
      reached = Attempt(operation).run_with(function, positions + 1);
      CHECK((reached || varies));
      positions += reached;
    }
    if (positions > 0) list.add(operation.name, operation.variant, function, positions);
  }
  CHECK(poisoned == 0);
}

bool was_reached(const std::string& operation, const std::string& function) {
  return List::instance().has(operation, function);
}

// -- rows

Rows::Rows(const Field& type, Data data, int64_t first, int64_t length)
    : schema_(make_schema(type)),
      data_(std::move(data)),
      twin_(make_array(data_, Ledger())),
      first_(first),
      length_(length) {}

const Rows& Rows::nested() {
  static const Rows rows = [] {
    const Field type = mixed_batch();
    Knobs knobs;
    knobs.rows = 17;
    knobs.child_offset = 3;
    knobs.tail = 4;
    return Rows(type, generate(type, knobs), 5, 9);
  }();
  return rows;
}

const Rows& Rows::flat() {
  static const Rows rows = [] {
    Knobs knobs;
    knobs.rows = 40;
    knobs.offset = 3;
    return Rows(field("l"), generate(field("l"), knobs), 11, 23);
  }();
  return rows;
}

const Rows& Rows::lists() {
  static const Rows rows = [] {
    Knobs knobs;
    knobs.rows = 40;
    knobs.offset = 3;
    knobs.child_offset = 2;
    knobs.nulls = Nulls::kNoneWithBitmap;
    const Field type = fixed_size_list_of(2, field("i", "item"));
    Data data = generate(type, knobs);
    data.null_count = -1;
    return Rows(type, std::move(data), 11, 23);
  }();
  return rows;
}

const Rows& Rows::long_index() {
  static const Rows rows = [] {
    constexpr int32_t kRows = 20'000;
    Data lists = data_of(kRows, {no_buffer(), {}}, {data_of(2 * kRows, {no_buffer(), {}})});
    auto& offsets = lists.buffers[1].bytes;
    auto& values = lists.children[0].buffers[1].bytes;
    for (int32_t row = 0; row <= kRows; ++row) {
      const int32_t offset = 2 * row;
      const auto* bytes = reinterpret_cast<const unsigned char*>(&offset);
      offsets.insert(offsets.end(), bytes, bytes + sizeof offset);
      if (row < kRows)
        values.insert(values.end(), {static_cast<unsigned char>(row), static_cast<unsigned char>(row / 256)});
    }
    return Rows(list_of(field("c")), std::move(lists), 0, kRows);
  }();
  return rows;
}

const Rows& Rows::large() {
  static const Rows rows = [] {
    constexpr int64_t kBytes = 1280 << 10;
    Data data = data_of(kBytes, {no_buffer(), {}});
    auto& bytes = data.buffers[1].bytes;
    bytes.resize(kBytes);
    for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<unsigned char>(i * 2654435761u >> 16);
    return Rows(field("c"), std::move(data), 0, kBytes);
  }();
  return rows;
}

Array Rows::on(arrowdevice_device* device, const Ledger& ledger) const {
  Array all = from_host(make_array(data_, ledger));
  if (device != cpu()) {
    Array there = copy(*all, *schema_, device, ARROWDEVICE_COPY_ASYNC);
    must(arrowdevice_array_wait, there.get(), nullptr, ARROWDEVICE_NO_TIMEOUT);
    all = std::move(there);
  }
  if (first_ == 0) return all;
  return slice(*all, *schema_, first_, length_);
}

std::string Rows::difference(const ArrowDeviceArray& array) const {
  const Array here = copy(array, *schema_, cpu());
  if (here->array.length != length_) return std::to_string(here->array.length) + " rows";
  if (first_ == 0) return plain_difference(here->array);
  const std::string malformed = problem(*schema_, here->array);
  if (!malformed.empty()) return "malformed: " + malformed;
  return arrowdevice::testing::difference(*schema_, *twin_, first_, *schema_, here->array, 0, length_);
}

// Compares many rows without nulls byte by byte.
std::string Rows::plain_difference(const ArrowArray& here) const {
  const auto same = [](const Data& data, const ArrowArray& array) {
    const auto& bytes = data.buffers[1].bytes;
    return array.length == data.length && std::memcmp(array.buffers[1], bytes.data(), bytes.size()) == 0;
  };
  const bool same_items = data_.children.empty() || same(data_.children[0], *here.children[0]);
  return same(data_, here) && same_items ? "" : "other bytes";
}

}  // namespace faults

// SPDX-License-Identifier: Apache-2.0
#include "simulated.h"

#include <arrowdevice/backend.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <map>
#include <shared_mutex>
#include <tuple>

#include "report.h"
#include "sim/control.h"
#include "support/generator.h"

namespace soak {

namespace {

namespace control = arrowdevice::sim::control;
using arrowdevice::testing::Random;
using Table = arrowdevice_backend;

Table inner;
Mistake mistake = Mistake::kNone;

thread_local Planned* planned = nullptr;
thread_local bool is_own_thread = false;

uint64_t library_seed = 0;
std::atomic<int64_t> library_rate{0};
std::atomic<int64_t> library_calls{0};
std::atomic<int64_t> library_failures{0};
std::atomic<int64_t> located_elsewhere{0};

// The mistake happens once in this number of calls.
constexpr int64_t kCallsToAMistake = 100;

bool is_mistaken(Mistake kind) {
  static std::atomic<int64_t> calls{0};
  return mistake == kind && ++calls % kCallsToAMistake == 0;
}

int fail(Function function, int code, const char* why, arrowdevice_error* error) {
  error->code = code;
  error->native_code = 0;
  const std::string name(arrowdevice::sim::name_of(function));
  std::snprintf(error->message, sizeof error->message, "%s: %s", name.c_str(), why);
  return code;
}

// The thread of deferred work calls none of these, because it could not report a failure.
constexpr Function kCalledByStreams[] = {
    Function::buffer_allocate,       Function::queue_copy,        Function::event_record,
    Function::event_import,          Function::event_publish,     Function::queue_create,
    Function::queue_wait_event,      Function::sub_buffer_create, Function::pointer_get_info,
    Function::device_get_peer_flags, Function::device_locate};

// Returns true if a call of a library thread fails. Failures do not follow each other closely, because
// memory is given up if a drain after a failure also fails.
bool strikes_library(Function function) {
  constexpr int kCallsInPeace = 20;
  thread_local int peace = 0;
  const int64_t rate = library_rate.load();
  if (rate == 0 || std::ranges::find(kCalledByStreams, function) == std::end(kCalledByStreams) || peace-- > 0) {
    return false;
  }
  peace = 0;
  if (Random(library_seed + static_cast<uint64_t>(++library_calls)).below(rate) != 0) return false;
  peace = kCallsInPeace;
  ++library_failures;
  return true;
}

// Watches a function that can fail, for any parameters. Functions that cannot fail are not watched.
template <Function kFunction, auto kMember>
struct Watched {
  static void put_into(Table&) {}
};

template <Function kFunction, typename... Parameters, int (*Table::*kMember)(Parameters...)>
struct Watched<kFunction, kMember> {
  static int call(Parameters... parameters) {
    arrowdevice_error* const error = std::get<sizeof...(Parameters) - 1>(std::tie(parameters...));
    if (planned != nullptr && planned->strikes(kFunction)) {
      return fail(kFunction, planned->code(), "a failure that was asked for", error);
    }
    if (!is_own_thread && strikes_library(kFunction))
      return fail(kFunction, EIO, "a failure that was asked for", error);
    if (kFunction == Function::event_wait && is_mistaken(Mistake::kFailure)) {
      return fail(kFunction, EIO, "a failure that is nobody's", error);
    }
    return (inner.*kMember)(parameters...);
  }
  static void put_into(Table& table) { table.*kMember = call; }
};

// -- functions with further changes

// Ids of devices by handle. They are written while the devices are opened, before other threads exist.
std::map<void*, int64_t> ids;

int device_open(ArrowDeviceType type, int64_t id, void** device, arrowdevice_error* error) {
  const int code = inner.device_open(type, id, device, error);
  if (code == 0) ids[*device] = id;
  return code;
}

// Reduces the peer access of some pairs of devices, so that peer access, peer copy and neither occur.
int reach(void* from, void* to, uint32_t* out, arrowdevice_error* error) {
  const int code = Watched<Function::device_get_peer_flags, &Table::device_get_peer_flags>::call(from, to, out, error);
  const auto source = ids.find(from);
  const auto target = ids.find(to);
  if (code != 0 || source == ids.end() || target == ids.end() || source == target) return code;
  switch ((source->second + target->second) % 3) {
    case 0: *out = 0; break;
    case 1: *out &= ARROWDEVICE_PEER_COPY; break;
    default: break;
  }
  return code;
}

// Locates memory. Memory of another device is a valid result, but the simulation counts it as a refusal.
int locate(ArrowDeviceType type, int64_t id, const void* buffer, void* sync_event, void** device,
           arrowdevice_error* error) {
  const int code =
      Watched<Function::device_locate, &Table::device_locate>::call(type, id, buffer, sync_event, device, error);
  if (code == EINVAL) ++located_elsewhere;
  return code;
}

int copy(void* queue, const arrowdevice_backend_region* regions, int64_t n, arrowdevice_error* error) {
  std::vector<arrowdevice_backend_region> changed(regions, regions + n);
  const auto long_one = std::ranges::find_if(changed, [](const auto& region) { return region.size >= 64; });
  if (long_one != changed.end() && is_mistaken(Mistake::kHalfACopy)) long_one->size /= 2;
  return Watched<Function::queue_copy, &Table::queue_copy>::call(queue, changed.data(), n, error);
}

// Records an event. The simulation dooms the nth event of all threads, so no other thread may record
// meanwhile.
int event_record(void* queue, void** event, arrowdevice_error* error) {
  static std::shared_mutex recording;
  if (planned == nullptr || !planned->strikes(Function::event)) {
    const std::shared_lock lock(recording);
    return Watched<Function::event_record, &Table::event_record>::call(queue, event, error);
  }
  const std::unique_lock lock(recording);
  control::fail_next("event");
  const int code = inner.event_record(queue, event, error);
  control::fail_no_more();
  return code;
}

Table watched_table() {
  Table table = inner;
#define X(name, pair) Watched<Function::name, &Table::name>::put_into(table);
  ARROWDEVICE_SIM_REQUIRED_FUNCTIONS(X)
  ARROWDEVICE_SIM_OPTIONAL_FUNCTIONS(X)
#undef X
  table.device_open = device_open;
  table.device_get_peer_flags = reach;
  table.device_locate = locate;
  table.event_record = event_record;
  if (mistake == Mistake::kHalfACopy) table.queue_copy = copy;
  return table;
}

// Returns devices of the same forms with a different pace for each seed.
arrowdevice::sim::Configuration configuration(uint64_t seed) {
  constexpr int64_t kMega = 1 << 20;
  Random random(seed);
  const auto latency = [&] { return random.below(400); };
  const auto bandwidth = [&] { return (100 + random.below(2000)) * kMega; };
  arrowdevice::sim::Configuration made;
  made.devices = {{.addresses = true},
                  {.addresses = true, .latency_us = latency()},
                  {.addresses = false},
                  {.addresses = false, .latency_us = latency(), .bandwidth = bandwidth()},
                  {.addresses = true, .memory = 12 * kMega, .latency_us = latency()},
                  {.addresses = false, .bandwidth = bandwidth()}};
  made.peers = arrowdevice::sim::Peers::kAccess;
  return made;
}

}  // namespace

Planned::Planned(std::optional<Fault> fault) : fault_(fault), outer_(planned) { planned = this; }
Planned::~Planned() { planned = outer_; }

bool Planned::strikes(Function function) {
  if (!fault_ || function != fault_->function.value_or(function)) return false;
  const bool is_only_meant_by_name = function == Function::event;
  if (is_only_meant_by_name && !fault_->function) return false;
  if (++calls_ != fault_->call) return false;
  struck_ = function;
  return true;
}

void register_simulated(uint64_t seed, Mistake to_make) {
  mark_own_thread();
  mistake = to_make;
  library_seed = seed;
  control::reset(configuration(seed));
  inner = *control::table();
  const Table table = watched_table();
  arrowdevice_error error{};
  if (arrowdevice_backend_register(&table, &error) != 0) wrong(error.message);
}

void mark_own_thread() { is_own_thread = true; }

void set_pace(uint64_t seed) {
  control::reset(configuration(seed));
  located_elsewhere = 0;
}

void fail_library_threads(int64_t calls) { library_rate = calls; }
int64_t failures_on_library_threads() { return library_failures; }

std::string left_on_devices(int64_t most_queues) {
  std::string left;
  const auto add = [&](int64_t is, int64_t most, const std::string& what) {
    if (is > most) left += (left.empty() ? "" : ", ") + std::to_string(is) + " " + what;
  };
  for (int64_t id = 0; id < kSims; ++id) {
    const auto counted = control::counters(id);
    const std::string on_device = " on ext_dev:" + std::to_string(id);
    add(counted.allocations_live, 0, "allocations" + on_device);
    add(counted.sub_buffers_live, 0, "sub-buffers" + on_device);
    // The library keeps queues idle for reuse, each with its last event.
    add(counted.queues_live, most_queues, "queues" + on_device);
    add(counted.events_live, counted.queues_live, "events" + on_device);
  }
  add(control::refused() - located_elsewhere, 0, "refused calls");
  if (control::refused() > located_elsewhere) {
    for (const auto& refusal : control::refusals()) left += "; " + refusal;
  }
  return left;
}

Holding::Holding(uint64_t seed)
    : thread_([this, seed] {
        for (Random random(seed);;) {
          const int64_t id = random.below(kSims);
          control::hold(id);
          const bool is_over = ends_within(1 + random.below(4));
          control::resume(id);
          ++times_;
          if (is_over || ends_within(random.below(20))) return;
        }
      }) {}

Holding::~Holding() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  ends_.notify_one();
  thread_.join();
}

bool Holding::ends_within(int64_t milliseconds) {
  std::unique_lock lock(mutex_);
  return ends_.wait_for(lock, std::chrono::milliseconds(milliseconds), [this] { return is_over_; });
}

}  // namespace soak

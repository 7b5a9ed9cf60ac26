// SPDX-License-Identifier: Apache-2.0
#include "conformance/subject.h"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace arrowdevice::conformance {

namespace {

constexpr int64_t kPatience = 60'000'000'000;  // nanoseconds; only a hang takes this long
constexpr unsigned char kUntouched = 0x5C;

std::string at(const Where& where) {
  std::string file = where.file;
  const size_t slash = file.rfind('/');
  if (slash != std::string::npos) file = file.substr(slash + 1);
  return " (" + file + ":" + std::to_string(where.line) + ")";
}

// Returns true if a backend knows the end of a buffer. The driver of a handle knows it. An address alone has no size,
// and asking the driver for each region costs as much as the copy. Of the backends with addresses only these look it
// up.
bool knows_bounds(const arrowdevice_device_info& info) {
  constexpr std::string_view kLookingUp[] = {"sim", "planted", "level_zero"};
  return (info.flags & ARROWDEVICE_DEVICE_ADDRESSES) == 0 ||
         std::ranges::find(kLookingUp, std::string_view(info.backend)) != std::end(kLookingUp);
}

}  // namespace

void expect(bool holds, const std::string& what, Where where) {
  if (!holds) throw Failure(what + at(where));
}

void expect_clean(const std::string& problem, const std::string& of, Where where) {
  if (!problem.empty()) throw Failure(of + ": " + problem + at(where));
}

Error::Error() { std::memset(&value_, kUntouched, sizeof value_); }

bool Error::untouched() const noexcept {
  const auto* bytes = reinterpret_cast<const unsigned char*>(&value_);
  return std::all_of(bytes, bytes + sizeof value_, [](unsigned char byte) { return byte == kUntouched; });
}

void succeed(const std::function<int(arrowdevice_error*)>& call, Where where) {
  Error error;
  const int code = call(error.out());
  if (code != 0) throw Failure("code " + std::to_string(code) + ": " + (*error).message + at(where));
  expect(error.untouched(), "the call succeeded and filled the error", where);
}

void refuse(int code, const std::function<int(arrowdevice_error*)>& call, Where where) {
  Error error;
  const int got = call(error.out());
  expect(got == code,
         "code " + std::to_string(got) + ", expected " + std::to_string(code) +
             (got == 0 ? "" : std::string(": ") + (*error).message),
         where);
  expect((*error).code == code, "the error holds another code than was returned", where);
  expect(std::memchr((*error).message, 0, sizeof(*error).message) != nullptr && (*error).message[0] != 0,
         "the error has no text", where);
  expect(call(nullptr) == code, "it fails in another way without an error struct", where);
}

arrowdevice_device_info describe(const arrowdevice_device* device) {
  arrowdevice_device_info info{};
  info.struct_size = sizeof info;
  succeed([&](auto* error) { return arrowdevice_device_get_info(device, &info, error); });
  return info;
}

void wait_idle() {
  succeed([](auto* error) { return arrowdevice_wait_idle(kPatience, error); });
}

Subject::Subject(arrowdevice_device* device) : device_(device), info_(describe(device)) {
  succeed([&](auto* error) { return arrowdevice_device_find_by_id(ARROW_DEVICE_CPU, -1, &cpu_, error); });
  cpu_info_ = describe(cpu_);
  int64_t count = 0;
  succeed([&](auto* error) { return arrowdevice_device_count(info_.device_type, &count, error); });
  for (int64_t id = 0; id < count && peer_ == nullptr; ++id) {
    if (id == info_.device_id || is_cpu()) continue;
    succeed([&](auto* error) { return arrowdevice_device_find_by_id(info_.device_type, id, &peer_, error); });
  }
  uint32_t in = 0;
  uint32_t out = 0;
  succeed([&](auto* error) { return arrowdevice_device_get_peer_flags(cpu_, device_, &in, error); });
  succeed([&](auto* error) { return arrowdevice_device_get_peer_flags(device_, cpu_, &out, error); });
  if ((info_.flags & ARROWDEVICE_DEVICE_EVENTS) != 0) abilities_ |= kNeedsEvents;
  if (peer_ != nullptr) abilities_ |= kNeedsPeer;
  if ((out & ARROWDEVICE_PEER_ACCESS) == 0) abilities_ |= kNeedsDiscrete;
  if ((in & out & ARROWDEVICE_PEER_COPY) != 0) abilities_ |= kNeedsDirect;
  if (knows_bounds(info_)) abilities_ |= kNeedsBounds;
}

Subject::Array Subject::copy(const ArrowDeviceArray& array, const ArrowSchema& schema, arrowdevice_device* to,
                             uint32_t flags, arrowdevice_queue* queue) const {
  arrowdevice_copy_options options{};
  options.struct_size = sizeof options;
  options.flags = flags;
  options.queue = queue;
  Array out;
  succeed([&](auto* error) { return arrowdevice_array_copy(&array, &schema, to, &options, out.out(), error); });
  expect(!out.released(), "the copy is marked released");
  return out;
}

Subject::Array Subject::slice(ArrowDeviceArray& array, const ArrowSchema& schema, Range range) const {
  Array out;
  succeed([&](auto* error) {
    return arrowdevice_array_slice(&array, &schema, range.offset, range.length, out.out(), error);
  });
  expect(out->array.length == range.length, "the slice has another length");
  return out;
}

Subject::Array Subject::share(ArrowDeviceArray& array) const {
  Array out;
  succeed([&](auto* error) { return arrowdevice_array_share(&array, out.out(), error); });
  return out;
}

Queue Subject::queue(arrowdevice_device* of) const {
  arrowdevice_queue* made = nullptr;
  succeed([&](auto* error) { return arrowdevice_queue_create(of == nullptr ? device_ : of, &made, error); });
  expect(made != nullptr, "no queue was made");
  return Queue(made);
}

Counters Subject::counters() const {
  Counters counters{};
  counters.struct_size = sizeof counters;
  succeed([&](auto* error) { return arrowdevice_device_get_counters(device_, &counters, error); });
  return counters;
}

PoolStats Subject::stats(const arrowdevice_pool* pool) const {
  arrowdevice_pool* standard = nullptr;
  if (pool == nullptr) {
    succeed([&](auto* error) { return arrowdevice_device_get_pool(device_, &standard, error); });
    pool = standard;
  }
  PoolStats stats{};
  stats.struct_size = sizeof stats;
  succeed([&](auto* error) { return arrowdevice_pool_get_stats(pool, &stats, error); });
  return stats;
}

Sample::Sample(const HostCase& one) : origin(one), schema(one.schema()), twin(one.array(Ledger())) {
  Owned<ArrowArray> array = one.array(ledger);
  succeed([&](auto* error) { return arrowdevice_array_from_host(array.get(), host.out(), error); });
  expect(array.released(), "from_host left its input unreleased");
}

void Sample::expect_values(const ArrowArray& array, int64_t from, Where where) const {
  expect_clean(testing::difference(*schema, *twin, from, *schema, array, 0, array.length), "values", where);
  if (from == 0) return;
  expect(from + array.length <= twin->length, "it has more rows than there are", where);
}

void for_each(const std::vector<HostCase>& cases, const std::function<void(Sample&)>& body) {
  constexpr int kReported = 4;
  int failed = 0;
  std::string report;
  for (const HostCase& one : cases) {
    std::string problem;
    Ledger ledger;
    const int64_t mistakes = Ledger::mistakes();
    try {
      {
        Sample sample(one);
        ledger = sample.ledger;
        body(sample);
      }
      wait_idle();
      expect(ledger.live() == 0, std::to_string(ledger.live()) + " of " + std::to_string(ledger.made()) +
                                     " nodes of the input were never released");
      expect(Ledger::mistakes() == mistakes, "a node of the input was released twice");
    } catch (const std::exception& error) {
      problem = error.what();
    }
    if (problem.empty()) continue;
    if (++failed <= kReported) report += "\n  " + one.name + ": " + problem;
  }
  if (failed > kReported) report += "\n  ...";
  expect(failed == 0, std::to_string(failed) + " of " + std::to_string(cases.size()) + " arrays:" + report);
}

const std::vector<HostCase>& thorough_cases() {
  static const std::vector<HostCase> cases = [] {
    std::vector<HostCase> made = testing::asked_cases();
    made.insert(made.end(), testing::large_cases().begin(), testing::large_cases().end());
    return made;
  }();
  return cases;
}

std::vector<Range> ranges_of(int64_t length) {
  // Large arrays get few ranges, because the comparison reads their rows singly.
  constexpr int64_t kLarge = 1000;
  if (length > kLarge) return {{length / 2, length - length / 2}, {13, 7}};
  const Range tried[] = {{0, length}, {0, 0},  {length, 0}, {length / 2, length - length / 2}, {1, length - 1}, {3, 8},
                         {8, 16},     {13, 7}, {5, 1}};
  std::vector<Range> ranges;
  for (const Range& range : tried) {
    const bool is_there = range.offset >= 0 && range.length >= 0 && range.offset + range.length <= length;
    const bool is_new = std::none_of(ranges.begin(), ranges.end(), [&](const Range& known) {
      return known.offset == range.offset && known.length == range.length;
    });
    if (is_there && is_new) ranges.push_back(range);
  }
  return ranges;
}

}  // namespace arrowdevice::conformance

// SPDX-License-Identifier: Apache-2.0
#include "conformance/subject.h"

#include <algorithm>

#include "conformance/gate.h"

namespace arrowdevice::conformance {

namespace {

constexpr int64_t kPatience = 60'000'000'000;  // nanoseconds; only a hang takes this long

// Returns true if a backend knows the end of a buffer. The driver of a handle knows it. An address alone has no size,
// and asking the driver for each region costs as much as the copy. Of the backends with addresses only these look it
// up.
bool knows_bounds(const arrowdevice_device_info& info) {
  constexpr std::string_view kLookingUp[] = {"sim", "planted", "level_zero"};
  return (info.flags & ARROWDEVICE_DEVICE_ADDRESSES) == 0 ||
         std::ranges::find(kLookingUp, std::string_view(info.backend)) != std::end(kLookingUp);
}

}  // namespace

void expect_clean(const std::string& problem, const std::string& of, Where where) {
  expect(problem.empty(), of + ": " + problem, where);
}

arrowdevice_device_info describe(const arrowdevice_device* device) {
  return output_of(arrowdevice_device_get_info, device);
}

void wait_idle() { must(arrowdevice_wait_idle, kPatience); }

Subject::Subject(arrowdevice_device* device) : device_(device), info_(describe(device)) {
  must(arrowdevice_device_find_by_id, ARROW_DEVICE_CPU, -1, &cpu_);
  cpu_info_ = describe(cpu_);
  int64_t count = output_of(arrowdevice_device_count, info_.device_type);
  for (int64_t id = 0; id < count && peer_ == nullptr; ++id) {
    if (id == info_.device_id || is_cpu()) continue;
    must(arrowdevice_device_find_by_id, info_.device_type, id, &peer_);
  }
  uint32_t in = 0;
  uint32_t out = 0;
  must(arrowdevice_device_get_peer_flags, cpu_, device_, &in);
  must(arrowdevice_device_get_peer_flags, device_, cpu_, &out);
  if ((info_.flags & ARROWDEVICE_DEVICE_EVENTS) != 0) abilities_ |= kNeedsEvents;
  if (peer_ != nullptr) abilities_ |= kNeedsPeer;
  if ((out & ARROWDEVICE_PEER_ACCESS) == 0) abilities_ |= kNeedsDiscrete;
  if ((in & out & ARROWDEVICE_PEER_COPY) != 0) abilities_ |= kNeedsDirect;
  if (!finishes_copies(info_) && (peer_ != nullptr || Gate::is_offered(info_))) abilities_ |= kNeedsBacklog;
  if (knows_bounds(info_)) abilities_ |= kNeedsBounds;
  if ((info_.flags & ARROWDEVICE_DEVICE_SHAREABLE) != 0) abilities_ |= kNeedsShareable;
}

Subject::Array Subject::copy(const ArrowDeviceArray& array, const ArrowSchema& schema, arrowdevice_device* to,
                             uint32_t flags, arrowdevice_queue* queue) const {
  auto options = sized<arrowdevice_copy_options>();
  options.flags = flags;
  options.queue = queue;
  Array out = output_of(arrowdevice_array_copy, &array, &schema, to, &options);
  expect(!out.released(), "the copy is marked released");
  return out;
}

Subject::Array Subject::slice(ArrowDeviceArray& array, const ArrowSchema& schema, Range range) const {
  Array out = output_of(arrowdevice_array_slice, &array, &schema, range.offset, range.length);
  expect(out->array.length == range.length, "the slice has another length");
  return out;
}

Subject::Array Subject::share(ArrowDeviceArray& array) const { return output_of(arrowdevice_array_share, &array); }

Queue Subject::queue(arrowdevice_device* of) const {
  auto* made = output_of(arrowdevice_queue_create, of == nullptr ? device_ : of);
  expect(made != nullptr, "no queue was made");
  return Queue(made);
}

Counters Subject::counters() const { return output_of(arrowdevice_device_get_counters, device_); }

PoolStats Subject::stats(const arrowdevice_pool* pool) const {
  arrowdevice_pool* standard = nullptr;
  if (pool == nullptr) {
    must(arrowdevice_device_get_pool, device_, &standard);
    pool = standard;
  }
  return output_of(arrowdevice_pool_get_stats, pool);
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

// SPDX-License-Identifier: Apache-2.0
// Provides the tools of the cases: the device under test, calls that must succeed or fail, and sample arrays.
#pragma once

#include <arrowdevice/arrowdevice.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "conformance/conformance.h"
#include "support/canon.h"
#include "support/fixture.h"

namespace arrowdevice::conformance {

using testing::Canon;
using testing::expect;
using testing::Failure;
using testing::HostCase;
using testing::Ledger;
using testing::must;
using testing::must_fail;
using testing::output_of;
using testing::Owned;
using testing::Pool;
using testing::Queue;
using testing::sized;
using testing::View;
using testing::Where;

// Fails unless `problem` is "". The functions difference(), problem() and canon_problem() return such texts.
void expect_clean(const std::string& problem, const std::string& of, Where where = Where::current());

// The form of an array that shares the memory of an array of the library.
inline constexpr Canon kShared{.copied = false};
// The form of a copy of an array, or of a slice of an array.
inline constexpr Canon kTrimmed{.copied = true, .offsets_are_zero = true};

struct Range {
  int64_t offset;
  int64_t length;
};

// Names these structs, because functions of the same names hide them.
using Counters = struct arrowdevice_device_counters;
using PoolStats = struct arrowdevice_pool_stats;

// The device under test, and the operations that the cases use most. Every function throws Failure if it
// fails.
class Subject {
 public:
  explicit Subject(arrowdevice_device* device);

  arrowdevice_device* device() const noexcept { return device_; }
  arrowdevice_device* cpu() const noexcept { return cpu_; }
  arrowdevice_device* peer() const noexcept { return peer_; }  // another device of the same type, or NULL
  const arrowdevice_device_info& info() const noexcept { return info_; }
  const arrowdevice_device_info& cpu_info() const noexcept { return cpu_info_; }
  bool is_cpu() const noexcept { return device_ == cpu_; }
  uint32_t abilities() const noexcept { return abilities_; }  // the kNeeds* flags that the device satisfies

  using Array = Owned<ArrowDeviceArray>;
  Array copy(const ArrowDeviceArray& array, const ArrowSchema& schema, arrowdevice_device* to, uint32_t flags = 0,
             arrowdevice_queue* queue = nullptr) const;
  Array to_device(const ArrowDeviceArray& array, const ArrowSchema& schema) const {
    return copy(array, schema, device_);
  }
  Array to_cpu(const ArrowDeviceArray& array, const ArrowSchema& schema) const { return copy(array, schema, cpu_); }
  Array slice(ArrowDeviceArray& array, const ArrowSchema& schema, Range range) const;
  Array share(ArrowDeviceArray& array) const;
  Queue queue(arrowdevice_device* of = nullptr) const;
  Counters counters() const;
  PoolStats stats(const arrowdevice_pool* pool = nullptr) const;  // NULL means the default pool

 private:
  arrowdevice_device* device_;
  arrowdevice_device* cpu_ = nullptr;
  arrowdevice_device* peer_ = nullptr;
  arrowdevice_device_info info_{};
  arrowdevice_device_info cpu_info_{};
  uint32_t abilities_ = 0;
};

arrowdevice_device_info describe(const arrowdevice_device* device);
// Waits until no work is deferred.
void wait_idle();

// A sample array of a case.
struct Sample : testing::Sample {
  const HostCase& origin;

  explicit Sample(const HostCase& one) : testing::Sample(one.type, one.knobs), origin(one) {}
  // Fails unless the array holds the rows of `twin` from row `from` on.
  void expect_values(const ArrowArray& array, int64_t from = 0, Where where = Where::current()) const;
};

// Runs `body` for each case and reports all failures together. At the end each array must have been released
// once.
void for_each(const std::vector<HostCase>& cases, const std::function<void(Sample&)>& body);

// Returns all cases, with large_cases().
const std::vector<HostCase>& thorough_cases();

// Returns test ranges of an array of that length: the whole array, empty ranges at both ends, and ranges with
// bounds that are not multiples of 8.
std::vector<Range> ranges_of(int64_t length);

std::span<const Case> device_cases();
std::span<const Case> buffer_cases();
std::span<const Case> queue_cases();
std::span<const Case> pool_cases();
std::span<const Case> copy_cases();
std::span<const Case> order_cases();
std::span<const Case> padding_cases();
std::span<const Case> slice_cases();
std::span<const Case> share_cases();
std::span<const Case> handle_cases();
std::span<const Case> children_cases();
std::span<const Case> event_cases();
std::span<const Case> export_cases();
std::span<const Case> view_cases();
std::span<const Case> failure_cases();
std::span<const Case> cost_cases();
std::span<const Case> peer_cases();
std::span<const Case> thread_cases();

}  // namespace arrowdevice::conformance

// SPDX-License-Identifier: Apache-2.0
// What the cases are written with: the device under test, calls that must succeed or be refused, arrays to try.
#pragma once

#include <arrowdevice/arrowdevice.h>

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "conformance/conformance.h"
#include "support/canon.h"
#include "support/cases.h"
#include "support/handles.h"
#include "support/owned.h"
#include "support/reader.h"

namespace arrowdevice::conformance {

using testing::Canon;
using testing::HostCase;
using testing::Ledger;
using testing::Owned;
using testing::Pool;
using testing::Queue;
using testing::View;

// Ends a case.
class Failure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The line of a case that a failure is reported with. std::source_location, for compilers that lack it.
struct Where {
  const char* file;
  int line;
  static constexpr Where current(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return {file, line};
  }
};

void expect(bool holds, const std::string& what, Where where = Where::current());
// For difference(), problem() and canon_problem(): "" is what is wanted.
void expect_clean(const std::string& problem, const std::string& of, Where where = Where::current());

// An error struct for one call. Holds a pattern, so that one that should be untouched is seen to be.
class Error {
 public:
  Error();
  arrowdevice_error* out() noexcept { return &value_; }
  const arrowdevice_error& operator*() const noexcept { return value_; }
  bool untouched() const noexcept;

 private:
  arrowdevice_error value_;
};

// The call succeeded: succeed([&](auto* error) { return arrowdevice_...(..., error); });
void succeed(const std::function<int(arrowdevice_error*)>& call, Where where = Where::current());
// The call failed with that code and said why; it fails in the same way without an error struct.
void refuse(int code, const std::function<int(arrowdevice_error*)>& call, Where where = Where::current());

// The form of what shares the memory of an array of the library.
inline constexpr Canon kShared{.copied = false};
// The form of a copy of an array, or of a part of one.
inline constexpr Canon kTrimmed{.copied = true, .offsets_are_zero = true};

struct Range {
  int64_t offset;
  int64_t length;
};

// The functions of these names hide the structs.
using Counters = struct arrowdevice_device_counters;
using PoolStats = struct arrowdevice_pool_stats;

// The device under test, and what the cases do with it again and again. Everything here throws Failure.
class Subject {
 public:
  explicit Subject(arrowdevice_device* device);

  arrowdevice_device* device() const noexcept { return device_; }
  arrowdevice_device* cpu() const noexcept { return cpu_; }
  arrowdevice_device* peer() const noexcept { return peer_; }  // another device of its type, or NULL
  const arrowdevice_device_info& info() const noexcept { return info_; }
  const arrowdevice_device_info& cpu_info() const noexcept { return cpu_info_; }
  bool is_cpu() const noexcept { return device_ == cpu_; }
  uint32_t abilities() const noexcept { return abilities_; }  // kNeeds* that it can serve

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
  PoolStats stats(const arrowdevice_pool* pool = nullptr) const;  // NULL: the default pool

 private:
  arrowdevice_device* device_;
  arrowdevice_device* cpu_ = nullptr;
  arrowdevice_device* peer_ = nullptr;
  arrowdevice_device_info info_{};
  arrowdevice_device_info cpu_info_{};
  uint32_t abilities_ = 0;
};

arrowdevice_device_info describe(const arrowdevice_device* device);
// Waits until nothing is deferred.
void wait_idle();

// One array to try: as a device array on the CPU, and its like to compare with.
struct Sample {
  const HostCase& origin;
  Ledger ledger;  // of `host`
  Owned<ArrowSchema> schema;
  Owned<ArrowDeviceArray> host;
  Owned<ArrowArray> twin;

  explicit Sample(const HostCase& one);
  // The array holds the rows of `twin` from there on.
  void expect_values(const ArrowArray& array, int64_t from = 0, Where where = Where::current()) const;
};

// Runs `body` for each and reports those that fail together. Each array must have been released once at the end.
void for_each(const std::vector<HostCase>& cases, const std::function<void(Sample&)>& body);

// All cases and the large ones.
const std::vector<HostCase>& thorough_cases();

// Ranges worth trying of an array of that length: whole, empty at both ends, from and to places that are no multiple
// of 8.
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
std::span<const Case> children_cases();
std::span<const Case> event_cases();
std::span<const Case> export_cases();
std::span<const Case> view_cases();
std::span<const Case> failure_cases();
std::span<const Case> cost_cases();
std::span<const Case> peer_cases();
std::span<const Case> thread_cases();

}  // namespace arrowdevice::conformance

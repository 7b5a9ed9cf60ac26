// SPDX-License-Identifier: Apache-2.0
// What a soak has done so far and what was wrong with it. All functions may be called from any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace soak {

// What was expected and did not hold. Ends the operation; the run goes on.
class Wrong : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

[[noreturn]] void wrong(const std::string& what);
inline void expect(bool holds, const char* what) {
  if (!holds) wrong(what);
}
void expect_equal(int64_t is, int64_t expected, const char* what);
void expect_same(const std::string& difference);  // "" is what it must be

struct Tally {
  std::atomic<int64_t> arrays{0};       // read back and compared
  std::atomic<int64_t> bytes{0};        // of their buffers, and of buffers without arrays
  std::atomic<int64_t> faults{0};       // that struck a call of the library
  std::atomic<int64_t> failed{0};       // such calls that failed with it; the others did without what failed
  std::atomic<int64_t> spoiled{0};      // calls that failed since an event of their input had
  std::atomic<int64_t> interrupted{0};  // streams that ended with a fault on one of their threads
  std::atomic<int64_t> exhausted{0};    // calls for which a device or a pool had no room
  std::atomic<int64_t> timed_out{0};    // calls that were not to wait so long
  std::atomic<int64_t> wrong{0};
};

Tally& tally();

// A line on standard error, and one more wrong thing.
void note_wrong(const std::string& where, const std::string& what);
bool is_too_much_wrong();

// Bytes of the process: "VmHWM", the most so far, or "VmRSS", now.
int64_t memory_of_process(const char* which);

// Bytes of host memory that are allocated; 0 where the allocator does not say.
int64_t allocated_bytes();

}  // namespace soak

// SPDX-License-Identifier: Apache-2.0
// Exports the cases and the comparison as C functions of a shared object, which the Python tests load.
//
//   cases = ctypes.CDLL(".../libtest-cases.so")
//   for i in range(cases.test_cases_count()):
//       cases.test_cases_make(i, schema_address, array_address)
#include <cstdio>

#include "support/cases.h"
#include "support/reader.h"

using arrowdevice::testing::all_cases;
using arrowdevice::testing::Ledger;

namespace {

Ledger& ledger() {
  static Ledger only;
  return only;
}

}  // namespace

extern "C" {

[[gnu::visibility("default")]] int64_t test_cases_count() { return static_cast<int64_t>(all_cases().size()); }

[[gnu::visibility("default")]] const char* test_cases_name(int64_t index) {
  return all_cases()[static_cast<size_t>(index)].name.c_str();
}

// Returns the reason why Arrow C++ may reject the array although the format allows it, or NULL if Arrow C++
// accepts the array.
[[gnu::visibility("default")]] const char* test_cases_refused_by_arrow_cpp(int64_t index) {
  const std::string& reason = all_cases()[static_cast<size_t>(index)].refused_by_arrow_cpp;
  return reason.empty() ? nullptr : reason.c_str();
}

[[gnu::visibility("default")]] void test_cases_make(int64_t index, ArrowSchema* schema, ArrowArray* array) {
  const auto& one = all_cases()[static_cast<size_t>(index)];
  *schema = one.schema().take();
  *array = one.array(ledger()).take();
}

// Returns 0 if the arrays are equal, else 1 and the difference in `text`.
[[gnu::visibility("default")]] int test_cases_difference(const ArrowSchema* a_schema, const ArrowArray* a,
                                                         const ArrowSchema* b_schema, const ArrowArray* b, char* text,
                                                         int64_t size) {
  const std::string found = arrowdevice::testing::difference(*a_schema, *a, *b_schema, *b);
  std::snprintf(text, static_cast<size_t>(size), "%s", found.c_str());
  return found.empty() ? 0 : 1;
}

// Returns 0 if the array is well-formed, else 1 and the problem in `text`.
[[gnu::visibility("default")]] int test_cases_problem(const ArrowSchema* schema, const ArrowArray* array, char* text,
                                                      int64_t size) {
  const std::string found = arrowdevice::testing::problem(*schema, *array);
  std::snprintf(text, static_cast<size_t>(size), "%s", found.c_str());
  return found.empty() ? 0 : 1;
}

// Return the number of nodes of arrays that are not released yet, and the number of nodes that were released
// twice.
[[gnu::visibility("default")]] int64_t test_cases_live() { return ledger().live(); }
[[gnu::visibility("default")]] int64_t test_cases_mistakes() { return Ledger::mistakes(); }

}  // extern "C"

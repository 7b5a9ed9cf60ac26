// SPDX-License-Identifier: Apache-2.0
// Provides arrays of every layout with every corner case. Each test that promises something "for every type"
// runs over them.
//
//   for (const HostCase& c : all_cases()) {
//     INFO(c.name);
//     Ledger ledger;
//     Owned<ArrowSchema> schema = c.schema();
//     Owned<ArrowArray> array = c.array(ledger);
//     ...
//   }
//
// The same name gives the same bytes in every run and on every machine.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "support/field.h"
#include "support/generator.h"
#include "support/host_data.h"

namespace arrowdevice::testing {

struct HostCase {
  std::string name;  // "list<utf8>, offset 13, some nulls"
  Field type;
  Knobs knobs;
  // The reason why Arrow C++ may reject the array although the format allows it. Empty if Arrow C++ accepts
  // the array.
  std::string refused_by_arrow_cpp = {};

  Owned<ArrowSchema> schema() const { return make_schema(type); }
  Owned<ArrowArray> array(const Ledger& ledger) const { return make_array(generate(type, knobs), ledger); }
};

// A type with a name.
struct NamedType {
  std::string name;
  Field type;
};

// Returns every format string without children or dictionary.
const std::vector<NamedType>& flat_types();
// Returns every layout with children or dictionary, alone and nested.
const std::vector<NamedType>& nested_types();

// Returns all of them, a few hundred: every type with several offsets, null patterns and lengths, then the
// corner cases.
const std::vector<HostCase>& all_cases();
// Returns about one case for each layout. Tests that take long for each case use these.
const std::vector<HostCase>& few_cases();
// Returns a few large cases: offsets, views and runs of more than 64 KiB.
const std::vector<HostCase>& large_cases();
// Returns few_cases() if ARROWDEVICE_TEST_CASES is "few", else all_cases().
const std::vector<HostCase>& asked_cases();
// Returns the case with that name. Throws std::invalid_argument if there is none.
const HostCase& find_case(std::string_view name);

}  // namespace arrowdevice::testing

// SPDX-License-Identifier: Apache-2.0
// Arrays of every layout, with every awkward corner: what each test that promises something "for every type" runs over.
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
  // Why Arrow C++ may refuse it although the format allows it; empty: it takes it.
  std::string refused_by_arrow_cpp = {};

  Owned<ArrowSchema> schema() const { return make_schema(type); }
  Owned<ArrowArray> array(const Ledger& ledger) const { return make_array(generate(type, knobs), ledger); }
};

// A type with a name.
struct NamedType {
  std::string name;
  Field type;
};

// Every format string without children or dictionary.
const std::vector<NamedType>& flat_types();
// Every layout with children or dictionary, alone and nested.
const std::vector<NamedType>& nested_types();

// All of them, a few hundred: every type with several offsets, null patterns and lengths, then the corners one by one.
const std::vector<HostCase>& all_cases();
// Some of them, about one for each layout: for tests that take long for each.
const std::vector<HostCase>& few_cases();
// Few and large: offsets, views and runs of more than 64 KiB.
const std::vector<HostCase>& large_cases();
// All, or few where ARROWDEVICE_TEST_CASES is "few".
const std::vector<HostCase>& asked_cases();
// The one with that name. Throws std::invalid_argument.
const HostCase& find_case(std::string_view name);

}  // namespace arrowdevice::testing

// SPDX-License-Identifier: Apache-2.0
// Copies of typical tables, and the driver calls that they may cost.
#pragma once

#include <arrowdevice/arrowdevice.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "support/calls.h"
#include "support/cases.h"
#include "support/reader.h"

namespace drivers {

using arrowdevice::testing::expect;
using arrowdevice::testing::HostCase;

// Returns a table whose columns have these formats in turns.
inline HostCase table_of(const std::vector<const char*>& formats, int columns, int64_t rows,
                         arrowdevice::testing::Nulls nulls = arrowdevice::testing::Nulls::kSome) {
  std::vector<arrowdevice::testing::Field> fields;
  for (int i = 0; i < columns; ++i) {
    fields.push_back(arrowdevice::testing::field(formats[static_cast<size_t>(i) % formats.size()]));
  }
  return {"table", arrowdevice::testing::struct_of(std::move(fields)).not_null(), {.rows = rows, .nulls = nulls}};
}

// Compares the first and the last rows, because a large table takes long.
inline void expect_values(const HostCase& table, const ArrowDeviceArray& host) {
  constexpr int64_t kMostRows = 100'000;
  const auto schema = table.schema();
  const auto twin = table.array(arrowdevice::testing::Ledger());
  const int64_t rows = std::min(twin->length, kMostRows);
  for (const int64_t row : {int64_t{0}, twin->length - rows}) {
    const auto changed = arrowdevice::testing::difference(*schema, *twin, row, *schema, host.array, row, rows);
    expect(changed.empty(), "the values changed: " + changed);
  }
}

// The driver's calls of a copy, by kind.
struct Calls {
  int64_t copies = 0;
  int64_t submissions = 0;
  int64_t waits = 0;
  int64_t objects = 0;
  int64_t questions = 0;
  int64_t flushes = 0;
};

struct Kind {
  const char* name;
  int64_t Calls::*member;
};
inline constexpr Kind kKinds[] = {{"copies", &Calls::copies},       {"submissions", &Calls::submissions},
                                  {"waits", &Calls::waits},         {"objects", &Calls::objects},
                                  {"questions", &Calls::questions}, {"flushes", &Calls::flushes}};

struct CallBudget {
  std::string backend;
  std::string table;
  std::string direction;
  Calls most;
};

inline const std::vector<CallBudget>& budgets() {
  static const std::vector<CallBudget> all = {
#define BUFFERS(table, description, buffers)
#define BUDGET(backend, table, direction, ...) {backend, table, direction, {__VA_ARGS__}},
#include "drivers/budgets.inc"
#undef BUDGET
#undef BUFFERS
  };
  return all;
}

// Returns the number of buffers that budgets.inc states for a table.
inline int64_t stated_buffers(const std::string& name) {
#define BUFFERS(table, description, buffers) \
  if (name == table) return buffers;
#define BUDGET(...)
#include "drivers/budgets.inc"
#undef BUDGET
#undef BUFFERS
  return -1;
}

inline int64_t count_buffers(const ArrowArray& array) {
  int64_t buffers = std::count_if(array.buffers, array.buffers + array.n_buffers,
                                  [](const void* buffer) { return buffer != nullptr; });
  for (int64_t i = 0; i < array.n_children; ++i) buffers += count_buffers(*array.children[i]);
  return buffers;
}

inline HostCase budgeted_table(const std::string& name) {
  if (name == "narrow") return table_of({"l"}, 1'000, 100);
  if (name == "mixed") return table_of({"i", "l", "g", "u", "b"}, 600, 1'000);
  if (name == "medium") return table_of({"l"}, 50, 12'500);
  if (name == "wide") return table_of({"l"}, 100, 12'500);
  return table_of({"l"}, 1, 8 << 20, arrowdevice::testing::Nulls::kNone);
}

inline const CallBudget* find_budget(const std::string& backend, const std::string& name, const std::string& way) {
  const auto found = std::ranges::find_if(budgets(), [&](const CallBudget& one) {
    return one.backend == backend && one.table == name && one.direction == way;
  });
  return found != budgets().end() ? &*found : nullptr;
}

// Copies a table and compares the calls with a budget, if there is one. `calls` returns the calls so far. Throws if the
// copy costs more, or if the library submitted nothing. Too many objects only set `has_grown`, unless it is NULL.
inline arrowdevice::testing::Owned<ArrowDeviceArray> copy_within(
    const CallBudget* budget, const ArrowDeviceArray& array, const ArrowSchema& schema, arrowdevice_device* to,
    arrowdevice_device* worker, const std::function<Calls()>& calls, bool* has_grown = nullptr) {
  using arrowdevice::testing::output_of;
  auto options = arrowdevice::testing::sized<arrowdevice_copy_options>();
  options.flags = ARROWDEVICE_COPY_ALWAYS;
  const Calls before = calls();
  const auto bytes_before = output_of(arrowdevice_device_get_counters, worker);
  arrowdevice::testing::Owned<ArrowDeviceArray> out = output_of(arrowdevice_array_copy, &array, &schema, to, &options);
  if (budget == nullptr) return out;
  const Calls after = calls();
  const auto bytes = output_of(arrowdevice_device_get_counters, worker);
  const auto text = budget->backend + ", " + budget->table + ", " + budget->direction + ": ";
  expect(bytes.submissions > bytes_before.submissions, text + "nothing was submitted");
  expect(budget->most.copies == 0 || after.copies > before.copies, text + "no copies were counted");
  for (const Kind& kind : kKinds) {
    const int64_t made = after.*kind.member - before.*kind.member;
    if (has_grown != nullptr && kind.member == &Calls::objects && made > budget->most.objects) {
      *has_grown = true;
      continue;
    }
    expect(made <= budget->most.*kind.member,
           text + std::to_string(made) + " " + kind.name + " instead of " + std::to_string(budget->most.*kind.member));
  }
  return out;
}

// Copies a table to the device and back. Compares the calls with the budgets from the third round on, because the first
// ones fill pools. How many blocks of staging memory are in use at once depends on the order of threads. Pools may
// therefore grow later too, and another round follows. A copy that makes objects in each round still fails. The first
// copy, and copies within the device and to `peer`, need no budget. `peer` may be NULL.
inline void expect_within_budget(const std::string& backend, const std::string& name, arrowdevice_device* device,
                                 const std::function<Calls()>& calls, arrowdevice_device* peer = nullptr) {
  using arrowdevice::testing::output_of;
  constexpr int kFirstCounted = 3, kMostRounds = 12;
  const HostCase table = budgeted_table(name);
  const auto schema = table.schema();
  auto* const cpu = output_of(arrowdevice_device_find_by_id, ArrowDeviceType{ARROW_DEVICE_CPU}, int64_t{-1});
  const auto budget = [&](const std::string& way) { return find_budget(backend, name, way); };
  for (const char* const way : {"to the device", "to the host"}) {
    expect(budget(way) != nullptr, backend + ", " + name + ", " + way + ": there is no budget");
  }
  bool has_grown = true;
  for (int round = 1; has_grown; ++round) {
    const bool counts = round >= kFirstCounted;
    has_grown = !counts;
    bool* const grows = counts && round < kMostRounds ? &has_grown : nullptr;
    arrowdevice::testing::Owned<ArrowArray> array = table.array(arrowdevice::testing::Ledger());
    const arrowdevice::testing::Owned<ArrowDeviceArray> host = output_of(arrowdevice_array_from_host, array.get());
    expect(count_buffers(host->array) == stated_buffers(name), name + ": another number of buffers");
    const auto* const in = counts       ? budget("to the device")
                           : round == 1 ? budget("to the device, with empty pools")
                                        : nullptr;
    const auto there = copy_within(in, *host, *schema, device, device, calls, grows);
    const auto back = copy_within(counts ? budget("to the host") : nullptr, *there, *schema, cpu, device, calls, grows);
    expect_values(table, *back);
    for (const auto& [way, to] : {std::pair("within the device", device), std::pair("to a peer", peer)}) {
      if (to == nullptr || budget(way) == nullptr) continue;
      const auto further = copy_within(counts ? budget(way) : nullptr, *there, *schema, to, to, calls, grows);
      if (counts) expect_values(table, *output_of(arrowdevice_array_copy, further.get(), schema.get(), cpu, nullptr));
    }
  }
}

}  // namespace drivers

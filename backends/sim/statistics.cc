// SPDX-License-Identifier: Apache-2.0
#include "sim/statistics.h"

#include <iterator>

namespace arrowdevice::sim {
namespace {

struct Field {
  const char* name;
  int64_t Counters::*value;
};

constexpr Field kFields[] = {
    {"allocations", &Counters::allocations},
    {"allocations_live", &Counters::allocations_live},
    {"bytes_live", &Counters::bytes_live},
    {"bytes_peak", &Counters::bytes_peak},
    {"sub_buffers", &Counters::sub_buffers},
    {"sub_buffers_live", &Counters::sub_buffers_live},
    {"queues", &Counters::queues},
    {"queues_live", &Counters::queues_live},
    {"copies", &Counters::copies},
    {"regions", &Counters::regions},
    {"bytes_in", &Counters::bytes_in},
    {"bytes_out", &Counters::bytes_out},
    {"bytes_within", &Counters::bytes_within},
    {"bytes_peer", &Counters::bytes_peer},
    {"events_recorded", &Counters::events_recorded},
    {"events_imported", &Counters::events_imported},
    {"events_live", &Counters::events_live},
    {"host_waits", &Counters::host_waits},
    {"queue_waits", &Counters::queue_waits},
};
static_assert(std::size(kFields) * sizeof(int64_t) == sizeof(Counters), "every counter is written");

}  // namespace

Counters& operator+=(Counters& counters, const Counters& more) {
  for (const Field& field : kFields) counters.*field.value += more.*field.value;
  return counters;
}

std::string to_json(const Counters& counters, const std::string& indent) {
  std::string text;
  for (const Field& field : kFields) {
    if (!text.empty()) text += ",\n";
    text += indent + "\"" + field.name + "\": " + std::to_string(counters.*field.value);
  }
  return text;
}

void Statistics::reset() {
  const std::lock_guard lock(mutex_);
  Counters fresh;
  fresh.allocations_live = counters_.allocations_live;
  fresh.bytes_live = fresh.bytes_peak = counters_.bytes_live;
  fresh.sub_buffers_live = counters_.sub_buffers_live;
  fresh.queues_live = counters_.queues_live;
  fresh.events_live = counters_.events_live;
  counters_ = fresh;
}

}  // namespace arrowdevice::sim

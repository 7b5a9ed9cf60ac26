// SPDX-License-Identifier: Apache-2.0
// Measures the speed of copies between each pair of devices.
#include <unistd.h>
#include <arrowdevice/arrowdevice.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "arguments.h"
#include "command.h"
#include "json.h"
#include "names.h"
#include "terminal.h"

namespace arrowdevice::tool {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr int64_t kMiB = 1 << 20;
constexpr int64_t kUsualMiB = 64;
constexpr int64_t kMostMiB = 1 << 20;
constexpr int64_t kSmallRows = 8;
constexpr double kGiga = 1e9;
constexpr double kMicro = 1e6;

// A column of int64 in host memory without nulls. Its arrays borrow the memory, so they must not outlive it.
class Column {
 public:
  explicit Column(int64_t rows) : values_(static_cast<size_t>(rows)) {
    for (size_t i = 0; i < values_.size(); ++i) values_[i] = static_cast<int64_t>(i * 0x9E3779B97F4A7C15u);
    buffers_[1] = values_.data();
  }
  Column(const Column&) = delete;

  cpp::DeviceArray array() {
    ArrowArray made{};
    made.length = static_cast<int64_t>(values_.size());
    made.n_buffers = 2;
    made.buffers = buffers_;
    made.release = [](ArrowArray* array) { array->release = nullptr; };
    return cpp::DeviceArray::from_host(cpp::Array(&made));
  }

  static cpp::Schema schema() {
    ArrowSchema made{};
    made.format = "l";
    made.release = [](ArrowSchema* schema) { schema->release = nullptr; };
    return cpp::Schema(&made);
  }

  bool is_same(const ArrowArray& host) const {
    return host.length == static_cast<int64_t>(values_.size()) &&
           std::memcmp(static_cast<const int64_t*>(host.buffers[1]) + host.offset, values_.data(),
                       values_.size() * sizeof values_[0]) == 0;
  }

 private:
  std::vector<int64_t> values_;
  const void* buffers_[2] = {};
};

struct Place {
  cpp::Device device;
  std::string name;
};

// The result of copies from one device to another.
struct Trip {
  const Place* from;
  const Place* to;
  bool is_direct = false;
  double gigabytes_a_second = 0;
  double microseconds = 0;   // time of a copy of a few bytes
  std::string problem = {};  // reason for missing figures; empty if all bytes arrived
};

// Returns the median time of a call. Calls once before, and then repeatedly for about `budget`.
template <typename Call>
double median_seconds(Seconds budget, Call&& call) {
  constexpr size_t kLeast = 3;
  constexpr size_t kMost = 200;
  call();
  std::vector<double> times;
  const auto begin = Clock::now();
  while (times.size() < kLeast || (times.size() < kMost && Clock::now() - begin < budget)) {
    const auto start = Clock::now();
    call();
    times.push_back(Seconds(Clock::now() - start).count());
  }
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

Trip measure(const Place& from, const Place& to, Column& large, Column& small, int64_t bytes) {
  constexpr Seconds kBudget{0.25};
  Trip trip{&from, &to};
  try {
    const cpp::Schema schema = Column::schema();
    trip.is_direct = (from.device.peer_flags(to.device) & ARROWDEVICE_PEER_COPY) != 0;
    {
      const cpp::DeviceArray source = large.array().copy(schema, from.device);
      const auto copy = [&] { return source.copy(schema, to.device); };
      trip.gigabytes_a_second = static_cast<double>(bytes) / median_seconds(kBudget, copy) / kGiga;
      if (!large.is_same(*copy().to_host(schema))) trip.problem = "the bytes that arrived are other ones";
    }
    const cpp::DeviceArray source = small.array().copy(schema, from.device);
    trip.microseconds = median_seconds(kBudget / 4, [&] { source.copy(schema, to.device); }) * kMicro;
  } catch (const cpp::Exception& error) {
    trip.problem = error.what();
  }
  return trip;
}

// Shows the progress on a terminal.
class Progress {
 public:
  explicit Progress(size_t total) : total_(total), is_shown_(isatty(STDERR_FILENO) == 1) {}
  ~Progress() {
    if (is_shown_) std::fputs("\r\033[K", stderr);
  }
  Progress(const Progress&) = delete;

  void tell(const Place& from, const Place& to) {
    ++done_;
    if (!is_shown_) return;
    std::fprintf(stderr, "\r\033[K%zu of %zu: %s to %s", done_, total_, from.name.c_str(), to.name.c_str());
    std::fflush(stderr);
  }

 private:
  const size_t total_;
  const bool is_shown_;
  size_t done_ = 0;
};

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, value < 10 ? "%.2f" : value < 100 ? "%.1f" : "%.0f", value);
  return text;
}

// Prints a table of a quantity. Rows are sources, and columns are targets.
void print_quantity(const std::string& title, const std::vector<Place>& places, const std::vector<Trip>& trips,
                    double Trip::*quantity) {
  std::vector<std::string> names;
  for (const Place& place : places) names.push_back(place.name);
  print_matrix(title, names, [&](size_t from, size_t to) {
    const Trip& trip = trips[from * places.size() + to];
    if (!trip.problem.empty()) return Cell("failed", Style::kBad);
    return Cell(number(trip.*quantity), trip.is_direct ? Style::kGood : Style::kPlain);
  });
}

void print_matrices(const std::vector<Place>& places, const std::vector<Trip>& trips, int64_t bytes) {
  std::printf("Copies of %lld MiB and of %lld bytes, from each row's device to each column's; medians, verified.\n\n",
              static_cast<long long>(bytes / kMiB), static_cast<long long>(kSmallRows * 8));
  print_quantity("GB/s", places, trips, &Trip::gigabytes_a_second);
  print_quantity("us", places, trips, &Trip::microseconds);
  std::string staged;
  for (const Trip& trip : trips) {
    if (trip.is_direct || !trip.problem.empty()) continue;
    staged += (staged.empty() ? "" : ", ") + trip.from->name + " to " + trip.to->name;
  }
  if (!staged.empty()) print_paragraph("By way of host memory, for want of a direct path: " + staged + ".", 0);
  for (const Trip& trip : trips) {
    if (trip.problem.empty()) continue;
    print_paragraph(trip.from->name + " to " + trip.to->name + " failed: " + printable(trip.problem), 0);
  }
}

std::string json_of(const Trip& trip) {
  const bool arrived = trip.problem.empty();
  return json_object({{"from", json_string(trip.from->name)},
                      {"to", json_string(trip.to->name)},
                      {"direct", json_bool(trip.is_direct)},
                      {"gb_per_s", arrived ? json_number(trip.gigabytes_a_second) : kJsonNull},
                      {"small_us", arrived ? json_number(trip.microseconds) : kJsonNull},
                      {"verified", json_bool(arrived)},
                      {"error", json_string_or_null(trip.problem)}});
}

void print_json_of(const std::vector<Trip>& trips, int64_t bytes) {
  std::vector<std::string> pairs;
  for (const Trip& trip : trips) pairs.push_back(json_of(trip));
  print_json(
      {{"bytes", json_number(bytes)}, {"small_bytes", json_number(kSmallRows * 8)}, {"pairs", json_lines(pairs)}});
}

std::vector<Place> places_of(const std::vector<std::string>& names) {
  std::vector<cpp::Device> devices;
  for (const std::string& name : names) devices.push_back(cpp::Device::find_by_name(name));
  if (names.empty()) devices = cpp::Device::list();
  std::vector<Place> places;
  for (const cpp::Device& device : devices) places.push_back({device, name_of(device.info())});
  return places;
}

int run(const Arguments& arguments) {
  const int64_t bytes = arguments.number("--mib", 1, kMostMiB, kUsualMiB) * kMiB;
  const std::vector<Place> places = places_of(arguments.operands());
  Column large(bytes / 8);
  Column small(kSmallRows);
  std::vector<Trip> trips;
  {
    Progress progress(places.size() * places.size());
    for (const Place& from : places) {
      for (const Place& to : places) {
        progress.tell(from, to);
        trips.push_back(measure(from, to, large, small, bytes));
      }
    }
  }
  arguments.has("--json") ? print_json_of(trips, bytes) : print_matrices(places, trips, bytes);
  const bool all = std::all_of(trips.begin(), trips.end(), [](const Trip& trip) { return trip.problem.empty(); });
  return all ? kSuccess : kFailure;
}

constexpr std::array kOptions{
    kJson,
    Option{"--mib", "N", "size of the large array (default: 64)"},
};

}  // namespace

const Command kBench{
    .name = "bench",
    .summary = "measures copies from device to device",
    .usage = "[OPTION...] [DEVICE]...",
    .about =
        "Copies an array of N MiB, and one of a few bytes, from each device to each. Prints GB/s and\n"
        "microseconds: medians of warm copies that were waited for and verified. Without DEVICE (cuda:1),\n"
        "it measures all devices.\n",
    .options = kOptions,
    .exit_code = "0 all copies arrived; 1 some did not, or the library failed; 2 wrong usage.",
    .operands = Words::kDevices,
    .most_operands = kAnyNumber,
    .run = run,
};

}  // namespace arrowdevice::tool

// SPDX-License-Identifier: Apache-2.0
// Measures the speed of copies between each pair of devices.
#include <unistd.h>
#include <arrowdevice/arrowdevice.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "arguments.h"
#include "bench_copies.h"
#include "bench_plot.h"
#include "command.h"
#include "json.h"
#include "names.h"
#include "output_file.h"
#include "sizes.h"
#include "terminal.h"

namespace arrowdevice::tool {
namespace {

constexpr double kMicro = 1e6;

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

// -- text

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, value < 10 ? "%.2f" : value < 100 ? "%.1f" : "%.0f", value);
  return text;
}

// Prints the table of one size. Rows are sources, and columns are targets. The time is what matters for a small copy,
// and the speed for a large one.
void print_size(size_t index, int64_t bytes, const std::vector<Place>& places, const std::vector<Trip>& trips) {
  constexpr int64_t kLeastLarge = 1 << 20;
  const bool is_large = bytes >= kLeastLarge;
  std::vector<std::string> names;
  for (const Place& place : places) names.push_back(place.name);
  print_matrix(exact_size(bytes) + (is_large ? ", GB/s" : ", us"), names, [&](size_t from, size_t to) {
    const Trip& trip = trips[from * places.size() + to];
    const Measurement& one = trip.measurements[index];
    if (!one.problem.empty()) return Cell("failed", Style::kBad);
    return Cell(number(is_large ? gigabytes_a_second(one) : one.median * kMicro),
                trip.is_direct ? Style::kGood : Style::kPlain);
  });
}

void print_problems(const Trip& trip) {
  for (const Measurement& one : trip.measurements) {
    if (one.problem.empty()) continue;
    print_paragraph(trip.from->name + " to " + trip.to->name + " failed with " + exact_size(one.bytes) + ": " +
                        printable(one.problem),
                    0);
  }
}

void print_text_of(const std::vector<Place>& places, const std::vector<Trip>& trips, const BenchOptions& options) {
  std::printf("Copies from each row's device to each column's: medians, verified.\n\n");
  for (size_t i = 0; i < options.sizes.size(); ++i) print_size(i, options.sizes[i], places, trips);
  std::string staged;
  for (const Trip& trip : trips) {
    if (trip.is_direct || has_failed(trip)) continue;
    staged += (staged.empty() ? "" : ", ") + trip.from->name + " to " + trip.to->name;
  }
  if (!staged.empty()) print_paragraph("Through host memory, because there is no direct path: " + staged + ".", 0);
  for (const Trip& trip : trips) print_problems(trip);
}

// -- JSON and CSV

std::string json_of(const Measurement& one) {
  const bool arrived = one.problem.empty();
  const auto time = [&](double seconds) { return arrived ? json_number(seconds * kMicro) : kJsonNull; };
  return json_object({{"bytes", json_number(one.bytes)},
                      {"samples", json_number(one.samples)},
                      {"min_us", time(one.least)},
                      {"median_us", time(one.median)},
                      {"max_us", time(one.most)},
                      {"gb_per_s", arrived ? json_number(gigabytes_a_second(one)) : kJsonNull},
                      {"verified", json_bool(arrived)},
                      {"error", json_string_or_null(one.problem)}});
}

void print_json_of(const std::vector<Trip>& trips) {
  std::vector<std::string> pairs;
  for (const Trip& trip : trips) {
    std::vector<std::string> sizes;
    for (const Measurement& one : trip.measurements) sizes.push_back(json_of(one));
    pairs.push_back(json_object({{"from", json_string(trip.from->name)},
                                 {"to", json_string(trip.to->name)},
                                 {"direct", json_bool(trip.is_direct)},
                                 {"sizes", json_list(sizes)}}));
  }
  print_json({{"pairs", json_lines(pairs)}});
}

// Returns a field in quotes, as RFC 4180 says.
std::string csv_string(std::string_view text) {
  std::string out = "\"";
  for (const char letter : text) out += letter == '"' ? "\"\"" : std::string(1, letter);
  return out + "\"";
}

void print_csv_of(const std::vector<Trip>& trips) {
  std::printf("from,to,direct,bytes,samples,min_us,median_us,max_us,gb_per_s,error\n");
  for (const Trip& trip : trips) {
    for (const Measurement& one : trip.measurements) {
      std::printf("%s,%s,%s,%s,%zu,", trip.from->name.c_str(), trip.to->name.c_str(), trip.is_direct ? "1" : "0",
                  std::to_string(one.bytes).c_str(), one.samples);
      if (one.problem.empty()) {
        std::printf("%.6g,%.6g,%.6g,%.6g,\n", one.least * kMicro, one.median * kMicro, one.most * kMicro,
                    gigabytes_a_second(one));
      } else {
        std::printf(",,,,%s\n", csv_string(one.problem).c_str());
      }
    }
  }
}

// -- command

std::vector<int64_t> sizes_of(const Arguments& arguments) {
  const auto values = arguments.values("--bytes");
  const std::string_view usual = arguments.has("--plot") ? "64,1K,16K,256K,4M,64M" : "64,64M";
  std::string_view rest = values.empty() ? usual : std::string_view(values.back());
  std::vector<int64_t> sizes;
  while (true) {
    const size_t comma = rest.find(',');
    const auto size = parse_size(rest.substr(0, comma));
    if (!size) {
      throw arguments.error("invalid size \"" + std::string(rest.substr(0, comma)) +
                            "\" (expected 1 to 1024G, with an optional suffix K, M or G)");
    }
    sizes.push_back(*size);
    if (comma == rest.npos) return sizes;
    rest.remove_prefix(comma + 1);
  }
}

std::vector<Place> places_of(const std::vector<std::string>& names) {
  std::vector<cpp::Device> devices;
  for (const std::string& name : names) devices.push_back(cpp::Device::find_by_name(name));
  if (names.empty()) devices = cpp::Device::list();
  std::vector<Place> places;
  for (const cpp::Device& device : devices) places.push_back({device, name_of(device.info())});
  return places;
}

std::vector<Trip> measure_all(const std::vector<Place>& places, const BenchOptions& options) {
  Bench bench(options);
  Progress progress(places.size() * places.size());
  std::vector<Trip> trips;
  for (const Place& from : places) {
    for (const Place& to : places) {
      progress.tell(from, to);
      trips.push_back(bench.measure(from, to));
    }
  }
  return trips;
}

int run(const Arguments& arguments) {
  constexpr int64_t kMostSamples = 1'000'000;
  if (arguments.has("--json") && arguments.has("--csv")) throw arguments.error("--json and --csv exclude each other");
  const BenchOptions options{sizes_of(arguments),
                             static_cast<size_t>(arguments.number("--samples", 1, kMostSamples, 0))};
  const std::vector<std::string> plots = arguments.values("--plot");
  if (!plots.empty() && options.sizes.size() < 2) throw arguments.error("--plot needs two sizes or more");
  if (!plots.empty() && plots.back().empty()) throw arguments.error("--plot needs the name of a file");
  const std::vector<Place> places = places_of(arguments.operands());
  OutputFile plot(plots.empty() ? "" : plots.back());
  const std::vector<Trip> trips = measure_all(places, options);
  if (arguments.has("--json")) {
    print_json_of(trips);
  } else if (arguments.has("--csv")) {
    print_csv_of(trips);
  } else {
    print_text_of(places, trips, options);
  }
  if (plot) plot.write(plot_of(trips));
  return std::ranges::any_of(trips, has_failed) ? kFailure : kSuccess;
}

constexpr std::array kOptions{
    Option{"--bytes", "SIZES", "sizes of the arrays, such as 64,4K,64M (default: 64,64M)"},
    Option{"--samples", "N", "timed copies for each pair and size (default: 3 to 200 in a quarter of a second)"},
    kJson,
    Option{"--csv", "", "prints a line for each pair and size, separated by commas"},
    Option{"--plot", "FILE", "draws the speed of each pair by size, as SVG (default sizes: 64,1K,16K,256K,4M,64M)"},
};

}  // namespace

const Command kBench{
    .name = "bench",
    .summary = "measures copies from device to device",
    .usage = "[OPTION...] [DEVICE]...",
    .about =
        "Copies arrays from each device to each, and prints the medians of warm copies that were waited\n"
        "for and verified: microseconds for sizes below 1 MiB, else GB/s. Without DEVICE (cuda:1), it\n"
        "measures all devices.\n",
    .options = kOptions,
    .exit_code = "0 all copies arrived; 1 some did not, or the library failed; 2 wrong usage.",
    .operands = Words::kDevices,
    .most_operands = kAnyNumber,
    .run = run,
};

}  // namespace arrowdevice::tool

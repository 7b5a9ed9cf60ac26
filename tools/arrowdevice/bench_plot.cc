// SPDX-License-Identifier: Apache-2.0
#include "bench_plot.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <limits>
#include <set>

#include "sizes.h"
#include "xml.h"

namespace arrowdevice::tool {
namespace {

// In pixels.
constexpr double kLeft = 70, kTop = 40, kWidth = 560, kHeight = 360, kBottom = 60, kLegend = 260, kLine = 18;

// The colours differ for most people who see fewer colours, too.
constexpr std::array kColours{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#999999"};

[[gnu::format(printf, 1, 2)]] std::string format(const char* pattern, ...) {
  char out[256];
  va_list values;
  va_start(values, pattern);
  std::vsnprintf(out, sizeof out, pattern, values);
  va_end(values);
  return out;
}

// A logarithmic scale.
struct Scale {
  double least;
  double most;

  double part(double value) const { return std::log(value / least) / std::log(most / least); }
};

struct Scales {
  Scale bytes;
  Scale speed;  // GB/s, from and to a power of ten

  double x(double value) const { return kLeft + kWidth * bytes.part(value); }
  double y(double value) const { return kTop + kHeight * (1 - speed.part(value)); }
};

// A clock may be too coarse for a small copy.
bool arrived(const Measurement& one) { return one.problem.empty() && one.median > 0; }

Scales scales_of(const std::vector<Trip>& trips) {
  constexpr double kNone = std::numeric_limits<double>::infinity();
  Scales scales{{kNone, 0}, {kNone, 0}};
  const auto widen = [](Scale& scale, double value) {
    scale.least = std::min(scale.least, value);
    scale.most = std::max(scale.most, value);
  };
  for (const Trip& trip : trips) {
    for (const Measurement& one : trip.measurements) {
      widen(scales.bytes, static_cast<double>(one.bytes));
      if (arrived(one)) widen(scales.speed, gigabytes_a_second(one));
    }
  }
  if (scales.speed.most == 0) scales.speed = {0.1, 1};  // no copy arrived
  scales.speed.least = std::pow(10, std::floor(std::log10(scales.speed.least)));
  scales.speed.most = std::max(10 * scales.speed.least, std::pow(10, std::ceil(std::log10(scales.speed.most))));
  if (scales.bytes.least == scales.bytes.most) scales.bytes.most *= 2;  // a size was given twice
  return scales;
}

std::string text(double x, double y, const char* anchor, const std::string& words) {
  return format("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor) + xml_text(words) + "</text>\n";
}

std::string line(double x1, double y1, double x2, double y2, const std::string& style) {
  return format("<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" ", x1, y1, x2, y2) + style + "/>\n";
}

std::string grid(const Scales& scales, const std::vector<Trip>& trips) {
  const std::string style = "stroke=\"#ddd\"";
  std::string out;
  for (double speed = scales.speed.least; speed <= scales.speed.most * 1.01; speed *= 10) {
    out += line(kLeft, scales.y(speed), kLeft + kWidth, scales.y(speed), style);
    out += text(kLeft - 8, scales.y(speed) + 4, "end", format("%g", speed));
  }
  std::set<int64_t> sizes;
  for (const Trip& trip : trips) {
    for (const Measurement& one : trip.measurements) sizes.insert(one.bytes);
  }
  double last = -kWidth;
  for (const int64_t bytes : sizes) {
    const double x = scales.x(static_cast<double>(bytes));
    out += line(x, kTop, x, kTop + kHeight, style);
    constexpr double kRoom = 55;  // for a label
    if (x - last < kRoom) continue;
    out += text(x, kTop + kHeight + kLine, "middle", exact_size(bytes));
    last = x;
  }
  out += text(kLeft + kWidth / 2, kTop + kHeight + 2.5 * kLine, "middle", "size of the array");
  return out + text(kLeft, kTop - 15, "start", "GB/s, medians of warm copies");
}

std::string style_of(const Trip& trip, size_t index) {
  return format("fill=\"none\" stroke=\"%s\" stroke-width=\"2\"", kColours[index % kColours.size()]) +
         (trip.is_direct ? "" : " stroke-dasharray=\"6 4\"");
}

// Draws the line of a pair, and its name with a piece of the line.
std::string draw(const Scales& scales, const Trip& trip, size_t index) {
  std::vector<const Measurement*> points;
  for (const Measurement& one : trip.measurements) {
    if (arrived(one)) points.push_back(&one);
  }
  std::ranges::sort(points, {}, [](const Measurement* one) { return one->bytes; });
  const std::string style = style_of(trip, index);
  std::string path, marks;
  for (const Measurement* one : points) {
    const double x = scales.x(static_cast<double>(one->bytes)), y = scales.y(gigabytes_a_second(*one));
    path += format("%s%.1f,%.1f", path.empty() ? "" : " ", x, y);
    marks += format("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"/>\n", x, y, kColours[index % kColours.size()]);
  }
  const double x = kLeft + kWidth + 20, y = kTop + kLine * static_cast<double>(index);
  return "<polyline points=\"" + path + "\" " + style + "/>\n" + marks + line(x, y, x + 30, y, style) +
         text(x + 38, y + 4, "start", trip.from->name + " to " + trip.to->name + (has_failed(trip) ? " (failed)" : ""));
}

}  // namespace

std::string plot_of(const std::vector<Trip>& trips) {
  const Scales scales = scales_of(trips);
  const double width = kLeft + kWidth + kLegend;
  const double height = kTop + kBottom + std::max(kHeight, kLine * static_cast<double>(trips.size()));
  std::string out = format("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" ", width, height) +
                    "font-family=\"sans-serif\" font-size=\"12\">\n" +
                    "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n" + grid(scales, trips);
  for (size_t i = 0; i < trips.size(); ++i) out += draw(scales, trips[i], i);
  return out + "</svg>\n";
}

}  // namespace arrowdevice::tool

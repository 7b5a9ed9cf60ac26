// SPDX-License-Identifier: Apache-2.0
#include "bench_copies.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>
#include <new>
#include <stdexcept>
#include <utility>

#include "sizes.h"

namespace arrowdevice::tool {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr size_t kStarts = 61;  // positions of `values_` at which an array may begin
constexpr size_t kStep = 64;    // bytes between them

// The buffers of a host array of bytes without nulls, which borrows the bytes.
struct Bytes {
  const void* buffers[2];
};

cpp::Schema schema() {
  ArrowSchema made{};
  made.format = "C";
  made.release = [](ArrowSchema* schema) { schema->release = nullptr; };
  return cpp::Schema(&made);
}

cpp::DeviceArray array_of(const uint8_t* bytes, int64_t length) {
  auto* const memory = new Bytes{{nullptr, bytes}};
  ArrowArray made{};
  made.length = length;
  made.n_buffers = 2;
  made.buffers = memory->buffers;
  made.private_data = memory;
  made.release = [](ArrowArray* array) {
    delete static_cast<Bytes*>(array->private_data);
    array->release = nullptr;
  };
  return cpp::DeviceArray::from_host(cpp::Array(&made));
}

// Calls once before, and then repeatedly. Returns the sorted times of the calls in seconds.
template <typename Call>
std::vector<double> times_of(size_t samples, Call&& call) {
  constexpr Seconds kBudget{0.25};
  constexpr size_t kLeast = 3;
  constexpr size_t kMost = 200;
  call();
  std::vector<double> times;
  const auto begin = Clock::now();
  const auto is_enough = [&] {
    if (samples > 0) return times.size() == samples;
    return times.size() >= kMost || (times.size() >= kLeast && Clock::now() - begin >= kBudget);
  };
  while (!is_enough()) {
    const auto start = Clock::now();
    call();
    times.push_back(Seconds(Clock::now() - start).count());
  }
  std::ranges::sort(times);
  return times;
}

}  // namespace

bool has_failed(const Trip& trip) {
  return std::ranges::any_of(trip.measurements, [](const Measurement& one) { return !one.problem.empty(); });
}

Bench::Bench(BenchOptions options) : options_(std::move(options)) {
  const int64_t most = std::ranges::max(options_.sizes);
  try {
    values_.resize(static_cast<size_t>(most) + kStep * kStarts);
  } catch (const std::bad_alloc&) {
    throw std::runtime_error("there is no host memory for an array of " + exact_size(most));
  }
  uint64_t state = 0;
  for (uint8_t& value : values_) {
    state += 0x9E3779B97F4A7C15u;
    value = static_cast<uint8_t>(state >> 56);
  }
}

// Returns the bytes of the next array, which differ from those of earlier arrays.
const uint8_t* Bench::next_bytes() { return values_.data() + kStep * (arrays_++ % kStarts); }

// Overwrites the memory that the pools of a device and of the host have cached. A copy that is lost could find the
// right bytes there otherwise.
void Bench::overwrite_cached(const cpp::Device& device, int64_t bytes) {
  const cpp::Schema type = schema();
  array_of(next_bytes(), bytes).copy(type, device);
  array_of(next_bytes(), bytes).copy(type, cpp::Device::find_by_name("cpu"));
}

// Throws std::runtime_error if other bytes arrive.
void Bench::verify(const Place& from, const Place& to, int64_t bytes) {
  const cpp::Schema type = schema();
  const uint8_t* const sent = next_bytes();
  const cpp::DeviceArray source = array_of(sent, bytes).copy(type, from.device);
  overwrite_cached(from.device, bytes);
  cpp::DeviceArray target = source.copy(type, to.device);
  overwrite_cached(to.device, bytes);
  const cpp::Array arrived = std::move(target).to_host(type);
  const auto* const values = static_cast<const uint8_t*>(arrived->buffers[1]) + arrived->offset;
  if (arrived->length != bytes || std::memcmp(values, sent, static_cast<size_t>(bytes)) != 0) {
    throw std::runtime_error("other bytes arrived");
  }
}

Measurement Bench::measure(const Place& from, const Place& to, int64_t bytes) {
  Measurement result{.bytes = bytes};
  try {
    const cpp::Schema type = schema();
    cpp::DeviceArray source = array_of(next_bytes(), bytes).copy(type, from.device);
    const std::vector<double> times = times_of(options_.samples, [&] { return source.copy(type, to.device); });
    source = {};
    verify(from, to, bytes);
    result.samples = times.size();
    result.least = times.front();
    result.median = times[times.size() / 2];
    result.most = times.back();
  } catch (const std::exception& error) {
    result.problem = error.what();
  }
  return result;
}

Trip Bench::measure(const Place& from, const Place& to) {
  Trip trip{&from, &to};
  std::string problem;
  try {
    trip.is_direct = (from.device.peer_flags(to.device) & ARROWDEVICE_PEER_COPY) != 0;
  } catch (const cpp::Exception& error) {
    problem = error.what();
  }
  for (const int64_t bytes : options_.sizes) {
    trip.measurements.push_back(problem.empty() ? measure(from, to, bytes)
                                                : Measurement{.bytes = bytes, .problem = problem});
  }
  return trip;
}

}  // namespace arrowdevice::tool

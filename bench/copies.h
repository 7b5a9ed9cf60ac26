// SPDX-License-Identifier: Apache-2.0
// Copies of four typical batches to a device and back, each beside the driver's own calls: one call for each buffer.
// The tests of driver calls (tests/drivers) count the calls of the same copies.
#pragma once

#include <arrowdevice/arrowdevice.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "batch.h"
#include "ratio.h"

namespace arrowdevice::bench {

class NarrowBatch : public Batch {
 public:
  NarrowBatch() : Batch(1'000, 100) {}
};
class MixedBatch : public Mixed {
 public:
  MixedBatch() : Mixed(600, 1'000) {}
};
class MediumBatch : public Batch {
 public:
  MediumBatch() : Batch(50, 12'500) {}
};
class LargeBatch : public Batch {
 public:
  LargeBatch() : Batch(1, 8 << 20) {}
};

inline ArrowDeviceArray copy(const ArrowDeviceArray& array, const ArrowSchema& schema, const char* to) {
  arrowdevice_error error{};
  arrowdevice_device* device = nullptr;
  ArrowDeviceArray out{};
  if (arrowdevice_device_find_by_name(to, &device, &error) != 0 ||
      arrowdevice_array_copy(&array, &schema, device, nullptr, &out, &error) != 0) {
    throw std::runtime_error(error.message);
  }
  return out;
}

// `Raw` is made of the buffers of a batch, and has the same buffers on the device. Its to_device() and to_host() copy
// all of them and wait.
template <typename Raw, typename Source>
void to_device(benchmark::State& state, const char* device) {
  Source source;
  Raw raw(source.buffers());
  compare(
      state, std::nullopt,
      [&] {
        auto there = copy(source.array(), source.schema(), device);
        arrowdevice_array_release(&there);
      },
      [&] { raw.to_device(); });
}

template <typename Raw, typename Source>
void to_host(benchmark::State& state, const char* device) {
  Source source;
  Raw raw(source.buffers());
  raw.to_device();
  auto there = copy(source.array(), source.schema(), device);
  compare(
      state, std::nullopt,
      [&] {
        auto back = copy(there, source.schema(), "cpu");
        arrowdevice_array_release(&back);
      },
      [&] { raw.to_host(); });
  arrowdevice_array_release(&there);
}

// Registers the copies of the four batches both ways. Their times have no bounds, because other work on the machine
// changes them.
template <typename Raw>
void register_copies(const char* device) {
  using Body = void (*)(benchmark::State&, const char*);
  struct Case {
    const char* name;
    Body body[2];
    int iterations;
  };
  const Case cases[] = {
      {"1000 columns of 800 bytes", {to_device<Raw, NarrowBatch>, to_host<Raw, NarrowBatch>}, 200},
      {"600 mixed columns of 1000 rows", {to_device<Raw, MixedBatch>, to_host<Raw, MixedBatch>}, 100},
      {"50 columns of 100 KB", {to_device<Raw, MediumBatch>, to_host<Raw, MediumBatch>}, 100},
      {"64 MB", {to_device<Raw, LargeBatch>, to_host<Raw, LargeBatch>}, 60},
  };
  for (const auto& one : cases) {
    for (const size_t way : {0, 1}) {
      const auto name = std::string(one.name) + (way == 0 ? ", to the device" : ", to the host");
      benchmark::RegisterBenchmark(name.c_str(), one.body[way], device)
          ->UseManualTime()
          ->Iterations(one.iterations)
          ->Unit(benchmark::kMicrosecond);
    }
  }
}

}  // namespace arrowdevice::bench

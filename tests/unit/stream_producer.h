// SPDX-License-Identifier: Apache-2.0
// Provides foreign streams, of which the test decides every step, and consumers of the library's streams.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "library.h"

namespace stream_test {

using namespace library_test;  // NOLINT: what every line of these tests is written with

using DeviceStream = Owned<ArrowDeviceArrayStream>;
using HostStream = Owned<ArrowArrayStream>;

// The result of one call of get_next.
struct Step {
  Array array;
  int code = 0;  // if not 0, get_next fails with this code
  std::string text = {};
};

// Outlives its stream, so that the test can inspect it.
struct Producer {
  explicit Producer(const Field& type) : schema(make_schema(type)) {}

  Owned<ArrowSchema> schema;
  int schema_code = 0;
  std::vector<Step> steps;                                // the stream ends after these steps
  std::function<void(int64_t)> on_next = [](int64_t) {};  // runs on the calling thread, with the number of the call

  std::atomic<int64_t> calls{0};     // calls of get_next
  std::atomic<int64_t> releases{0};  // releases of the stream
  std::atomic<bool> overlapped{false};
  std::atomic<bool> called_elsewhere{false};  // a thread other than the maker called the stream

 private:
  friend DeviceStream stream_of(std::shared_ptr<Producer> producer, ArrowDeviceType type);
  friend HostStream host_stream_of(std::shared_ptr<Producer> producer);
  struct Callbacks;

  const std::thread::id maker = std::this_thread::get_id();
  std::atomic<bool> inside{false};
  std::string last_error;
};

DeviceStream stream_of(std::shared_ptr<Producer> producer, ArrowDeviceType type = ARROW_DEVICE_CPU);
HostStream host_stream_of(std::shared_ptr<Producer> producer);

// The length of a batch in tests that do not depend on the length.
inline constexpr int64_t kRows = 7;

// Returns a producer of the sample's rows in batches of `rows`, on that device.
std::shared_ptr<Producer> batches_of(const Sample& sample, int64_t rows, arrowdevice_device* device = nullptr);

arrowdevice_stream_options stream_options(uint32_t flags = 0, int32_t depth = 0);
DeviceStream to_device(DeviceStream stream, arrowdevice_device* to,
                       const arrowdevice_stream_options& options = stream_options());
HostStream to_host(DeviceStream stream, const arrowdevice_stream_options& options = stream_options());

// Return the next array. The stream must have a next array.
Array next(DeviceStream& stream);
Array next(HostStream& stream);

// Fail unless get_next fails with that code. Return the text.
std::string next_fails(int code, DeviceStream& stream);
std::string next_fails(int code, HostStream& stream);

// Return "" if the rest of the stream equals the sample's rows from `first` on, in batches of `rows`.
std::string difference_of_rest(const Sample& sample, int64_t rows, DeviceStream& stream, int64_t first = 0);
std::string difference_of_rest(const Sample& sample, int64_t rows, HostStream& stream, int64_t first = 0);

// Fills the fields that a producer leaves unset: `reserved`, and id 0 for the CPU.
void soil(ArrowDeviceArray& array);
bool is_canonical_on_cpu(const ArrowDeviceArray& array);

}  // namespace stream_test

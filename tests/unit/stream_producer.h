// SPDX-License-Identifier: Apache-2.0
// Foreign streams of which a test decides every step, and consumers of those of the library.
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

// What happens when it is asked for the next array.
struct Step {
  Array array;
  int code = 0;  // not 0: it fails
  std::string text = {};
};

// Lives on behind its stream, for the test to look at.
struct Producer {
  explicit Producer(const Field& type) : schema(make_schema(type)) {}

  Owned<ArrowSchema> schema;
  int schema_code = 0;
  std::vector<Step> steps;                                // then the end
  std::function<void(int64_t)> on_next = [](int64_t) {};  // on the calling thread, with the number of the call

  std::atomic<int64_t> calls{0};     // of get_next
  std::atomic<int64_t> releases{0};  // of the stream
  std::atomic<bool> overlapped{false};
  std::atomic<bool> called_elsewhere{false};  // by a thread that did not make it

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

// Of a batch, where it does not matter.
inline constexpr int64_t kRows = 7;

// A producer of the sample's rows in batches of `rows`, on that device.
std::shared_ptr<Producer> batches_of(const Sample& sample, int64_t rows, arrowdevice_device* device = nullptr);

arrowdevice_stream_options stream_options(uint32_t flags = 0, int32_t depth = 0);
DeviceStream to_device(DeviceStream stream, arrowdevice_device* to,
                       const arrowdevice_stream_options& options = stream_options());
HostStream to_host(DeviceStream stream, const arrowdevice_stream_options& options = stream_options());

// The next array, which must come; released at the end.
Array next(DeviceStream& stream);
Array next(HostStream& stream);

// The code with which the next array does not come, and the text.
std::string next_fails(int code, DeviceStream& stream);
std::string next_fails(int code, HostStream& stream);

// "" if what is left of the stream are the sample's rows from `first` on, all of them, in batches of `rows`.
std::string difference_of_rest(const Sample& sample, int64_t rows, DeviceStream& stream, int64_t first = 0);
std::string difference_of_rest(const Sample& sample, int64_t rows, HostStream& stream, int64_t first = 0);

// Fills what a producer leaves unset: `reserved`, and id 0 for the CPU.
void soil(ArrowDeviceArray& array);
bool is_canonical_on_cpu(const ArrowDeviceArray& array);

// Waits until something that another thread does has come to be.
void until(const std::function<bool()>& condition);

}  // namespace stream_test

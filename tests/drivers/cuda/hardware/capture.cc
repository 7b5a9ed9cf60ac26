// SPDX-License-Identifier: Apache-2.0
// Captures a graph in one thread while another thread streams arrays through the library.
#include <atomic>
#include <cerrno>
#include <future>
#include <thread>

#include "cuda/hardware/application.h"
#include "cuda/hardware/report.h"
#include "support/fixture.h"

namespace {

using namespace hardware;              // NOLINT: what every line of this program is written with
using namespace arrowdevice::testing;  // NOLINT: likewise
using drivers::CaptureMode;

constexpr int64_t kSize = 1 << 20;
constexpr unsigned char kNew = 0x33;
constexpr int kBatches = 50;

// A thread that copies arrays to the GPU and back, at least kBatches of them, until it is joined.
class Streaming {
 public:
  Streaming() = default;
  ~Streaming() { set(may_end_); }
  Streaming(const Streaming&) = delete;
  Streaming& operator=(const Streaming&) = delete;

  void start() {
    done_ = std::async(std::launch::async, [this] {
      try {
        copy_arrays();
      } catch (...) {
        set(is_enough_);
        throw;
      }
    });
  }
  void wait_for_enough() const { is_enough_.wait(false); }
  // Throws the failure of the thread.
  void join() {
    set(may_end_);
    done_.get();
  }

 private:
  static void set(std::atomic<bool>& flag) {
    flag = true;
    flag.notify_all();
  }

  void copy_arrays() {
    const Sample sample(list_of(field("u")), {.rows = 1'000});
    for (int n = 0; n < kBatches || !may_end_; ++n) {
      const Array there = copy(sample, gpu(), ARROWDEVICE_COPY_ASYNC);
      const Array back = copy(*there, *sample.schema, cpu());
      const std::string problem = difference(sample, *back);
      expect(problem.empty(), "values changed: " + problem);
      if (n + 1 == kBatches) set(is_enough_);
    }
  }

  std::atomic<bool> is_enough_{false};
  std::atomic<bool> may_end_{false};
  std::future<void> done_;
};

// A graph that an application captures, with its executable form.
class Graph {
 public:
  Graph(const Stream& stream, CaptureMode mode, const std::function<void()>& capture) {
    const Current current;
    must_call("cuStreamBeginCapture_v2", stream.get(), static_cast<unsigned>(mode));
    capture();
    must_call("cuStreamEndCapture", stream.get(), &graph_);
    must_call("cuGraphInstantiateWithFlags", &executable_, graph_, 0ull);
  }
  ~Graph() {
    const Current current;
    if (executable_ != nullptr) drivers::call("cuGraphExecDestroy", executable_);
    if (graph_ != nullptr) drivers::call("cuGraphDestroy", graph_);
  }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  void launch(const Stream& stream) const {
    const Current current;
    must_call("cuGraphLaunch", executable_, stream.get());
  }

 private:
  void* graph_ = nullptr;
  void* executable_ = nullptr;
};

void capture_beside_a_stream(CaptureMode mode) {
  const Memory memory(kSize);
  const Stream stream;
  Streaming streaming;
  const Graph graph(stream, mode, [&] {
    streaming.start();
    for (int64_t at = 0; at < kSize; at += kSize / 4) {
      stream.fill(memory.address() + static_cast<uint64_t>(at), kNew, kSize / 4);
    }
    streaming.wait_for_enough();
  });
  streaming.join();
  expect(memory.is_filled_with(0), "the captured work ran at once");
  graph.launch(stream);
  stream.finish();
  expect(memory.is_filled_with(kNew), "the graph lost work");
}

void refuse_work_on_a_captured_stream() {
  const Memory memory(kSize);
  const Stream stream;
  const Memory source(kSize, kNew);
  arrowdevice_copy_region region{};
  region.dst_device = region.src_device = gpu();
  region.dst = memory.pointer();
  region.src = source.pointer();
  region.size = kSize;
  const Graph graph(stream, drivers::kRelaxedCapture, [&] {
    must_fail_once(EBUSY, arrowdevice_queue_copy, stream.queue(), &region, int64_t{1});
    stream.fill(memory.address(), kNew, kSize);
  });
  expect(memory.is_filled_with(0), "the captured work ran at once");
  must(arrowdevice_queue_copy, stream.queue(), &region, int64_t{1});
  must(arrowdevice_queue_finish, stream.queue(), int64_t{ARROWDEVICE_NO_TIMEOUT});
  expect(memory.is_filled_with(kNew), "the queue is of no use after the capture");
}

}  // namespace

int main() {
  return hardware::run([](Report& report) {
    gpu();
    report.check("a global capture survives streams of arrays in another thread",
                 [] { capture_beside_a_stream(drivers::kGlobalCapture); });
    report.check("a thread-local capture survives streams of arrays in another thread",
                 [] { capture_beside_a_stream(drivers::kThreadLocalCapture); });
    report.check("a relaxed capture survives streams of arrays in another thread",
                 [] { capture_beside_a_stream(drivers::kRelaxedCapture); });
    report.check("a captured stream refuses work and is usable afterwards", refuse_work_on_a_captured_stream);
    return_memory();
  });
}

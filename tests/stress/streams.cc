// SPDX-License-Identifier: Apache-2.0
// Sixteen threads make ten thousand streams. Each stream is a random chain of pull and async stages over
// four devices. The threads read them to the end, release them early, or cancel them from a second thread.
// Producers fail at random. Every array must be released exactly once.
#include <atomic>
#include <cerrno>
#include <chrono>
#include <random>
#include <thread>

#include "program.h"

namespace {

using namespace stress;  // NOLINT: what every line of these programs is written with

using Stream = Owned<ArrowDeviceArrayStream>;

constexpr int kThreads = 16;
constexpr int kStreams = 625;  // of a thread
constexpr int64_t kSims = 4;
constexpr int kProducersError = EREMOTEIO;

std::atomic<int64_t> producers_live{0};

// A producer of some arrays. It fails before an array, or never.
struct Producer {
  const SampleRows& sample;
  int left;
  int fails_in;  // negative: never

  static int get_schema(ArrowDeviceArrayStream* self, ArrowSchema* out) {
    return arrowdevice_schema_copy(of(self).sample.schema.get(), out, nullptr);
  }
  static int get_next(ArrowDeviceArrayStream* self, ArrowDeviceArray* out) {
    auto& producer = of(self);
    out->array.release = nullptr;
    if (producer.fails_in-- == 0) return kProducersError;
    if (producer.left-- > 0) *out = producer.sample.array().take();
    return 0;
  }
  static const char* get_last_error(ArrowDeviceArrayStream*) { return "a producer failed at random"; }
  static void release(ArrowDeviceArrayStream* self) {
    delete &of(self);
    self->release = nullptr;
    --producers_live;
  }
  static Producer& of(ArrowDeviceArrayStream* self) { return *static_cast<Producer*>(self->private_data); }
};

Stream produce(const SampleRows& sample, int arrays, int fails_in) {
  ArrowDeviceArrayStream stream{};
  stream.device_type = ARROW_DEVICE_CPU;
  stream.get_schema = Producer::get_schema;
  stream.get_next = Producer::get_next;
  stream.get_last_error = Producer::get_last_error;
  stream.release = Producer::release;
  stream.private_data = new Producer{sample, arrays, fails_in};
  ++producers_live;
  return Stream(stream);
}

class Worker {
 public:
  Worker(int number, const SampleRows& sample) : random_(static_cast<unsigned>(number)), sample_(sample) {}

  void run() {
    for (int i = 0; i < kStreams; ++i) {
      const int arrays = pick(6);
      const int fails_in = pick(4) == 0 ? pick(6) : -1;
      Stream stream = produce(sample_, arrays, fails_in);
      for (int stages = pick(4); stages > 0; --stages) stream = stage(std::move(stream));
      consume(stream, arrays, fails_in);
    }
  }

 private:
  int pick(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  arrowdevice_device* device() { return pick(5) == 0 ? cpu() : sim(pick(static_cast<int>(kSims))); }

  Stream stage(Stream upstream) {
    switch (pick(3)) {
      case 0: return moved(std::move(upstream));
      case 1: return over_the_host(std::move(upstream));
      default: return handed_on(std::move(upstream));
    }
  }

  arrowdevice_stream_options options() {
    auto made = sized<arrowdevice_stream_options>();
    made.flags = pick(2) == 0 ? 0 : ARROWDEVICE_STREAM_READ_AHEAD;
    made.depth = pick(4);
    return made;
  }

  Stream moved(Stream upstream) {
    const auto with = options();
    Stream out;
    must(arrowdevice_stream_to_device, upstream.get(), device(), &with, out.out());
    return out;
  }

  Stream over_the_host(Stream upstream) {
    const auto with = options();
    auto host = output_of(arrowdevice_stream_to_host, upstream.get(), &with);
    Stream out;
    must(arrowdevice_stream_from_host, host.get(), out.out());
    return out;
  }

  // Passes the stream through an async pair, with or without a device between them.
  Stream handed_on(Stream upstream) {
    auto with = sized<arrowdevice_async_options>();
    with.depth = pick(4);
    arrowdevice_device* const between = pick(2) == 0 ? device() : nullptr;
    const bool ends_on_cpu = between == nullptr ? upstream->device_type == ARROW_DEVICE_CPU : between == cpu();
    const ArrowDeviceType type = ends_on_cpu ? ARROW_DEVICE_CPU : ARROW_DEVICE_EXT_DEV;
    ArrowAsyncDeviceStreamHandler* handler = nullptr;
    Stream out;
    must(arrowdevice_async_collect, type, &with, &handler, out.out());
    if (between != nullptr) must(arrowdevice_async_to_device, handler, between, &with, &handler);
    must(arrowdevice_async_produce, upstream.get(), handler, &with);
    return out;
  }

  void consume(Stream& stream, int arrays, int fails_in) {
    const int most = pick(2) == 0 ? 100 : pick(4);  // to the end, or not
    const bool is_cancelled = pick(8) == 0;
    std::thread canceller;
    if (is_cancelled) canceller = std::thread([&] { must_cancel(stream); });
    const int good = fails_in >= 0 && fails_in <= arrays ? fails_in : arrays;
    for (int i = 0; i < most; ++i) {
      Array array;
      const int code = stream->get_next(stream.get(), array.out());
      if (code != 0) {
        const bool was_expected = code == kProducersError ? good != arrays || fails_in == arrays : code == ECANCELED;
        check(was_expected, "a stream failed with another error than its producer's");
        check(code == ECANCELED || i == good, "an error came at the wrong array");
        break;
      }
      if (array.released()) {
        check_equal(i, arrays, "arrays of a stream");
        break;
      }
      if (pick(8) == 0) check_same(difference(sample_, *array));
    }
    if (canceller.joinable()) canceller.join();
  }

  // Cancels the stream. A stream that the library did not make cannot be cancelled.
  static void must_cancel(Stream& stream) {
    const int code = arrowdevice_stream_cancel(stream.get(), nullptr);
    check(code == 0 || code == EINVAL, "a stream cannot be cancelled");
  }

  std::mt19937 random_;
  const SampleRows& sample_;
};

void work() {
  const SampleRows sample(batch(), Knobs{.rows = 20});
  on_threads(kThreads, [&](int number) { Worker(number, sample).run(); });
  // Threads of the streams may still be ending.
  const auto patience = std::chrono::steady_clock::now() + std::chrono::minutes(2);
  while (producers_live != 0 || sample.ledger.live() != 0) {
    check(std::chrono::steady_clock::now() < patience, "something is not released");
    must(arrowdevice_wait_idle, ARROWDEVICE_NO_TIMEOUT);
    std::this_thread::yield();
  }
  must(arrowdevice_wait_idle, ARROWDEVICE_NO_TIMEOUT);
  check_equal(Ledger::mistakes(), 0, "arrays that were released twice");
}

constexpr Scenario kScenarios[] = {
    {"sixteen threads make ten thousand streams, and everything in them is released once", work},
};

}  // namespace

int main(int argc, char** argv) { return play(kScenarios, argc, argv); }

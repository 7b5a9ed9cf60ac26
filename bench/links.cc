// SPDX-License-Identifier: Apache-2.0
// Measures streams between two processes: the time from the request to the array, for memory that is shared and for
// memory that is copied, and the time of a stream of small batches. Prints JSON, with the medians as times.
//
//   bench-links [--quick]
#include <arrowdevice/arrowdevice.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "calls.h"

namespace arrowdevice::bench {
namespace {

using Clock = std::chrono::steady_clock;

double microseconds_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
}

struct Times {
  std::vector<double> values;

  double at(double part) {
    std::sort(values.begin(), values.end());
    return values[std::min(values.size() - 1, static_cast<size_t>(part * static_cast<double>(values.size())))];
  }
};

constexpr double kNoBound = 0;

double round_trip_us = 0;  // the yardstick, see measure_round_trips()

// `bound_us` is a bound of the median.
void print(const std::string& name, Times& times, double bound_us = kNoBound) {
  static bool is_first = true;
  std::printf("%s\n  {\"name\": \"%s\", \"real_time\": %.1f, \"time_unit\": \"us\", \"p99_us\": %.1f, \"runs\": %zu",
              std::exchange(is_first, false) ? "" : ",", name.c_str(), times.at(0.5), times.at(0.99),
              times.values.size());
  if (round_trip_us != 0) std::printf(", \"ratio\": %.2f", times.at(0.5) / round_trip_us);
  if (bound_us != kNoBound) std::printf(", \"bound_us\": %.0f", bound_us);
  std::printf("}");
  std::fflush(stdout);
}

struct Schema {
  Schema() {
    value.format = "l";
    value.name = "";
    value.release = [](ArrowSchema* self) { self->release = nullptr; };
  }
  ArrowSchema value{};
};

struct Array {
  Array() = default;
  ~Array() { release(); }
  Array(const Array&) = delete;
  void release() {
    if (value.array.release != nullptr) value.array.release(&value.array);
  }
  ArrowDeviceArray value{};
};

struct Stream {
  ~Stream() {
    if (value.release != nullptr) value.release(&value);
  }
  ArrowDeviceArrayStream value{};
};

// An array of numbers in memory that is not shareable.
ArrowDeviceArray numbers(int64_t bytes) {
  struct Owner {
    std::unique_ptr<int64_t[]> memory;
    const void* buffers[2];
  };
  auto owner = std::make_unique<Owner>();
  const int64_t rows = bytes / static_cast<int64_t>(sizeof(int64_t));
  owner->memory = std::make_unique<int64_t[]>(static_cast<size_t>(rows));
  for (int64_t i = 0; i < rows; ++i) owner->memory[static_cast<size_t>(i)] = i;
  owner->buffers[0] = nullptr;
  owner->buffers[1] = owner->memory.get();
  ArrowDeviceArray made{};
  made.device_type = ARROW_DEVICE_CPU;
  made.device_id = -1;
  made.array.length = rows;
  made.array.n_buffers = 2;
  made.array.buffers = owner->buffers;
  made.array.private_data = owner.release();
  made.array.release = [](ArrowArray* self) {
    delete static_cast<Owner*>(self->private_data);
    self->release = nullptr;
  };
  return made;
}

// Gives the same array out for ever, as a shared owner.
struct Repeating {
  ArrowDeviceArray array{};
  int64_t left = INT64_MAX;
  int requests = -1;  // a socket: each array waits for a byte from it

  static int open(void* user, ArrowDeviceArrayStream* out, arrowdevice_error*) {
    *out = {};
    out->device_type = ARROW_DEVICE_CPU;
    out->private_data = user;
    out->get_schema = [](ArrowDeviceArrayStream*, ArrowSchema* schema) {
      *schema = Schema().value;
      return 0;
    };
    out->get_next = [](ArrowDeviceArrayStream* self, ArrowDeviceArray* next) {
      auto& here = *static_cast<Repeating*>(self->private_data);
      *next = {};
      char byte = 0;
      if (here.requests >= 0 && read(here.requests, &byte, 1) != 1) return EIO;
      return here.left-- > 0 ? arrowdevice_array_share(&here.array, next, nullptr) : 0;
    };
    out->get_last_error = [](ArrowDeviceArrayStream*) -> const char* { return nullptr; };
    out->release = [](ArrowDeviceArrayStream* self) { self->release = nullptr; };
    return 0;
  }
};

// A process that offers a source until it is killed.
class Owner {
 public:
  Owner(int64_t bytes, bool is_shareable, int64_t batches, int requests = -1)
      : uri_("unix:@arrowdevice-bench-" + std::to_string(getpid())) {
    int ends[2];
    if (pipe(ends) != 0) give_up("the stream has failed");
    process_ = fork();
    if (process_ == 0) serve(ends[1], bytes, is_shareable, batches, requests);
    close(ends[1]);
    char byte = 0;
    if (read(ends[0], &byte, 1) != 1) give_up("the stream has failed");
    close(ends[0]);
  }
  ~Owner() {
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
  }
  Owner(const Owner&) = delete;

  const char* uri() const { return uri_.c_str(); }

 private:
  [[noreturn]] void serve(int ready, int64_t bytes, bool is_shareable, int64_t batches, int requests) {
    Repeating source;
    source.left = batches;
    source.requests = requests;
    source.array = numbers(bytes);
    const Schema schema;
    auto* const device = cpu();
    if (is_shareable) {
      arrowdevice_pool_options options{};
      options.struct_size = sizeof options;
      options.flags = ARROWDEVICE_POOL_SHAREABLE;
      arrowdevice_pool* pool = nullptr;
      must(arrowdevice_pool_create, device, &options, &pool);
      arrowdevice_copy_options copying{};
      copying.struct_size = sizeof copying;
      copying.flags = ARROWDEVICE_COPY_ALWAYS;
      copying.pool = pool;
      ArrowDeviceArray copied{};
      must(arrowdevice_array_copy, &source.array, &schema.value, device, &copying, &copied);
      source.array = copied;
    }
    arrowdevice_server* server = nullptr;
    must(arrowdevice_server_create, uri_.c_str(), static_cast<arrowdevice_server_options*>(nullptr), &server);
    must(arrowdevice_server_add_source, server, "numbers", &Repeating::open, static_cast<void*>(&source),
         static_cast<void (*)(void*)>(nullptr));
    if (write(ready, "x", 1) != 1) give_up("the stream has failed");
    for (;;) pause();
  }

  const std::string uri_;
  pid_t process_ = -1;
};

void connect(const char* uri, int32_t batches, Stream& stream) {
  arrowdevice_connect_options options{};
  options.struct_size = sizeof options;
  options.max_batches = batches;
  must(arrowdevice_stream_connect, uri, static_cast<arrowdevice_device*>(nullptr), &options, &stream.value);
}

void next(Stream& stream, Array& array) {
  if (stream.value.get_next(&stream.value, &array.value) != 0) give_up("the stream has failed");
}

int64_t sum(const Array& array) {
  const auto* const values = static_cast<const int64_t*>(array.value.array.buffers[1]);
  int64_t total = 0;
  for (int64_t i = 0; i < array.value.array.length; ++i) total += values[i];
  return total;
}

std::string with_size(const std::string& name, int64_t bytes) {
  if (bytes >= 1 << 30) return name + " " + std::to_string(bytes >> 30) + " GiB";
  if (bytes >= 1 << 20) return name + " " + std::to_string(bytes >> 20) + " MiB";
  return name + " " + std::to_string(bytes >> 10) + " KiB";
}

// The least cost of a request: another process reads a byte from a Unix socket and answers with 512 bytes, as many as
// describe a batch. The ratios of all other cases are to this time.
void measure_round_trips(int runs) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) give_up("there is no socket");
  char answer[512] = {};
  const pid_t process = fork();
  if (process == 0) {
    close(ends[0]);
    char asked = 0;
    while (read(ends[1], &asked, 1) == 1 && write(ends[1], answer, sizeof answer) == sizeof answer) {
    }
    _exit(0);
  }
  close(ends[1]);
  Times times;
  for (int i = 0; i < runs + 2; ++i) {
    const auto begin = Clock::now();
    if (write(ends[0], "x", 1) != 1 || recv(ends[0], answer, sizeof answer, MSG_WAITALL) != sizeof answer) {
      give_up("the socket has failed");
    }
    if (i >= 2) times.values.push_back(microseconds_since(begin));
  }
  close(ends[0]);
  waitpid(process, nullptr, 0);
  print("round trip of 512 bytes, without the library", times);
  round_trip_us = times.at(0.5);
}

// Gets one batch after the other, each after a byte to `requests` if that is a socket.
Times time_batches(const Owner& owner, int requests, int runs) {
  Stream stream;
  connect(owner.uri(), 1, stream);
  Times times;
  for (int i = 0; i < runs + 2; ++i) {
    const auto begin = Clock::now();
    if (requests >= 0 && write(requests, "x", 1) != 1) give_up("the socket has failed");
    Array array;
    next(stream, array);
    if (i >= 2) times.values.push_back(microseconds_since(begin));
  }
  return times;
}

// When the consumer takes a batch, the server sends the next one.
void measure_batches_in_turn(int64_t bytes, int runs) {
  Times times = time_batches(Owner(bytes, true, INT64_MAX), -1, runs);
  print(with_size("next batch, mapping cached", bytes), times);
}

// The producer sleeps until the consumer requests a batch.
void measure_requests(int64_t bytes, bool is_shareable, int runs, double bound_us) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) give_up("there is no socket");
  Times times = time_batches(Owner(bytes, is_shareable, INT64_MAX, ends[1]), ends[0], runs);
  close(ends[0]);
  close(ends[1]);
  print(with_size(is_shareable ? "request, mapping cached" : "request, copied", bytes), times, bound_us);
}

// The consumer connects anew for each array, so the memory is mapped anew. The server sends the first batch when the
// handshake has ended.
void measure_connections(int64_t bytes, int runs) {
  const Owner owner(bytes, true, INT64_MAX);
  Times connecting, getting, first_sum, second_sum;
  for (int i = 0; i < runs + 2; ++i) {
    Stream stream;
    const auto begin = Clock::now();
    connect(owner.uri(), 1, stream);
    const double connected = microseconds_since(begin);
    Array array;
    const auto asked = Clock::now();
    next(stream, array);
    const double got = microseconds_since(asked);
    if (i < 2) continue;
    connecting.values.push_back(connected + got);
    getting.values.push_back(got);
    if (i > 12) continue;
    for (auto* const times : {&first_sum, &second_sum}) {
      const auto summing = Clock::now();
      if (sum(array) < 0) give_up("the stream has failed");
      times->values.push_back(microseconds_since(summing));
    }
  }
  print(with_size("first batch of a connection", bytes), getting, 100);
  print(with_size("connection and first batch", bytes), connecting);
  print(with_size("first sum", bytes), first_sum);
  print(with_size("second sum", bytes), second_sum);
}

void measure_batches(int64_t rows, int64_t batches, int runs) {
  Times times;
  for (int i = 0; i < runs; ++i) {
    const Owner owner(rows * 8, true, batches);
    Stream stream;
    const auto begin = Clock::now();
    connect(owner.uri(), 0, stream);
    int64_t n = 0;
    for (;; ++n) {
      Array array;
      next(stream, array);
      if (array.value.array.release == nullptr) break;
    }
    if (n != batches) give_up("the stream has failed");
    times.values.push_back(microseconds_since(begin));
  }
  print("stream of " + std::to_string(batches) + " batches of " + std::to_string(rows) + " rows", times,
        static_cast<double>(batches) * 20);
}

void measure(bool is_quick) {
  const int runs = is_quick ? 20 : 2000;
  const int few = is_quick ? 3 : 30;
  measure_round_trips(runs);
  for (const int64_t bytes : {int64_t{8000}, int64_t{64} << 10, int64_t{64} << 20, int64_t{1} << 30}) {
    if (is_quick && bytes > 64 << 20) continue;
    measure_requests(bytes, true, runs, 60);
    measure_batches_in_turn(bytes, runs);
    measure_connections(bytes, bytes < 1 << 30 ? runs / 4 : few);
  }
  measure_requests(8000, false, runs, 60);
  measure_requests(64 << 20, false, few, 13'000);
  measure_batches(100, 10'000, is_quick ? 1 : 11);
}

}  // namespace
}  // namespace arrowdevice::bench

int main(int argc, char** argv) {
  const bool is_quick = argc == 2 && std::strcmp(argv[1], "--quick") == 0;
  if (argc > 1 && !is_quick) {
    std::fputs("usage: bench-links [--quick]\n", stderr);
    return 2;
  }
  std::printf("{\"benchmarks\": [");
  std::fflush(stdout);  // a forked process would print it again
  arrowdevice::bench::measure(is_quick);
  std::printf("\n]}\n");
  return 0;
}

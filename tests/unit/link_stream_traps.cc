// SPDX-License-Identifier: Apache-2.0
// Servers and clients that are killed at any moment. The address sanitizer's allocator may stay locked in a process
// that was forked while another thread was in it, so sanitizers do not run these tests.
#include <unistd.h>

#include <random>

#include "link_streams.h"

#ifndef IS_SANITIZED
namespace {

using namespace link_test;  // NOLINT: what every line of these tests is written with

constexpr Knobs kLarge{.rows = 60'000};  // enough for an allocation of its own

bool has_numbers_of(const SampleRows& sample, const ArrowDeviceArray& array) {
  const auto bytes = static_cast<size_t>(sample.twin->length) * sizeof(int64_t);
  return array.array.length == sample.twin->length &&
         std::memcmp(array.array.buffers[1], sample.twin->buffers[1], bytes) == 0;
}

// A stream that opens for each client and gives the same array, as a shared owner, several times.
struct Repeated {
  static constexpr int64_t kTimes = 20;

  static int open(void* user, ArrowDeviceArrayStream* out, arrowdevice_error*) {
    auto& self = *static_cast<Repeated*>(user);
    const auto producer = std::make_shared<Producer>(field("l"));
    for (int64_t i = 0; i < kTimes; ++i) {
      const std::lock_guard lock(self.mutex);
      Array shared;
      must(arrowdevice_array_share, self.array.get(), shared.out());
      producer->steps.push_back({std::move(shared)});
    }
    *out = stream_of(producer).take();
    return 0;
  }

  std::mutex mutex;
  Array array;
};

// Returns a connected stream, or none if nobody accepts it.
DeviceStream try_to_connect(const std::string& uri, int* code = nullptr) {
  DeviceStream stream;
  const auto options = connect_options(ARROWDEVICE_COPY_NEVER);
  const int found = arrowdevice_stream_connect(uri.c_str(), nullptr, &options, stream.out(), nullptr);
  if (code != nullptr) *code = found;
  return stream;
}

TEST_CASE("a client that is killed at any moment leaves nothing behind") {
  begin();
  const Sample sample(field("l"), kLarge);
  const Pool pool = make_shareable_pool();
  Repeated source;
  source.array = copy(*sample.host, *sample.schema, cpu(), 0, nullptr, pool.get());
  Server server(server_options(0, ARROWDEVICE_COPY_NEVER));
  must(arrowdevice_server_add_source, server.get(), "rows", &Repeated::open, static_cast<void*>(&source),
       static_cast<void (*)(void*)>(nullptr));
  const Usage before;
  const int64_t memory_before = shared_memory();
  std::minstd_rand random(3);  // NOLINT: the same numbers in every run; the scheduler decides about the moments
  for (int i = 0; i < kKills; ++i) {
    Peer peer([&](int socket) {
      DeviceStream stream = try_to_connect(server.uri());
      std::vector<Array> kept;
      for (int64_t n = 0; n < Repeated::kTimes; ++n) {
        kept.emplace_back();
        expect(stream->get_next(stream.get(), kept.back().out()) == 0, "the stream failed");
        if (n % 3 == 0) kept.clear();
        say(socket, "read");
      }
      pause();
    });
    for (auto answers = random() % Repeated::kTimes; answers > 0; --answers) CHECK(peer.answer() == "read");
    peer.kill();
  }
  until([&] { return server.stats().clients == 0; });
  CHECK(server.stats().copied_bytes == 0);
  until([&] { return Usage().is_at_most(before); });
  CHECK(shared_memory() - memory_before < kOfOthers);
  CHECK(difference(sample, *source.array) == "");
  source.array.reset();
  until([&] { return used_bytes(pool) == 0; });
}

TEST_CASE("a server that is killed at any moment leaves whole batches") {
  begin();
  const Sample sample(field("l"), kLarge);
  const Usage before;
  const int64_t memory_before = shared_memory();
  const std::string uri = new_address();
  std::minstd_rand random(4);  // NOLINT: as above
  size_t read = 0;
  for (int i = 0; i < kKills; ++i) {
    Peer peer([&](int socket) {
      const Pool pool = make_shareable_pool();
      Repeated source;
      source.array = copy(*sample.host, *sample.schema, cpu(), 0, nullptr, pool.get());
      Server server(server_options(), uri);
      must(arrowdevice_server_add_source, server.get(), "rows", &Repeated::open, static_cast<void*>(&source),
           static_cast<void (*)(void*)>(nullptr));
      say(socket, "ready");
      pause();
    });
    REQUIRE(peer.answer() == "ready");
    DeviceStream stream = try_to_connect(uri);
    std::vector<Array> kept;
    const auto batches = static_cast<int64_t>(random() % (Repeated::kTimes + 1));
    int code = 0;
    for (int64_t n = 0; code == 0 && n <= Repeated::kTimes; ++n) {
      if (n == batches) peer.kill();
      kept.emplace_back();
      code = stream->get_next(stream.get(), kept.back().out());
      if (code == 0 && kept.back()->array.release == nullptr) break;
      read += code == 0;
    }
    if (code != 0) CHECK(code == ECONNRESET);
    kept.pop_back();
    for (const Array& one : kept) CHECK(has_numbers_of(sample, *one));
  }
  CHECK(read > kKills);
  until([&] { return Usage().is_at_most(before); });
  CHECK(shared_memory() - memory_before < kOfOthers);
}

}  // namespace
#endif

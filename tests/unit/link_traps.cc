// SPDX-License-Identifier: Apache-2.0
// Traps of memory that processes share: killed processes, namespaces, exec, limits, and consumers that never release.
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <random>

#include "link_peer.h"

namespace {

using namespace link_test;  // NOLINT: what every line of these tests is written with

// Enough rows for an allocation of its own.
constexpr Knobs kLarge{.rows = 60'000};

// The address sanitizer's allocator may stay locked in a process that was forked while another thread was in it.
#ifndef IS_SANITIZED
// Opens handles, reads them and releases them until the other process ends.
void use_handles(int socket, const SampleRows& sample) {
  for (;;) {
    const Opened opened = open_received(receive_handle(socket));
    expect(opened.array->array.length == sample.knobs.rows, "another length");
    say(socket, "read");
  }
}

bool has_numbers_of(const SampleRows& sample, const ArrowDeviceArray& array) {
  const auto bytes = static_cast<size_t>(sample.twin->length) * sizeof(int64_t);
  return array.array.length == sample.twin->length &&
         std::memcmp(array.array.buffers[1], sample.twin->buffers[1], bytes) == 0;
}

TEST_CASE("a consumer that is killed at any moment leaves nothing behind") {
  begin();
  const Pool pool = make_shareable_pool();
  const Sample sample(field("l"), kLarge);
  Releases releases;
  int64_t sent = 0;
  const auto send_to = [&](int socket) {
    Array array = releases.count(copy(*sample.host, *sample.schema, cpu(), 0, nullptr, pool.get()));
    send_handle(socket, *get_handle(array, sample.schema, ARROWDEVICE_COPY_NEVER));
    ++sent;
  };
  // The first handle starts the thread, which has a descriptor.
  send_to(Peer([](int) { pause(); }).socket());
  REQUIRE(releases.reach(sent));
  must(arrowdevice_pool_trim, pool.get());
  const Usage before;
  const int64_t memory_before = shared_memory();
  std::minstd_rand random(1);  // NOLINT: the same numbers in every run; the scheduler decides about the moments
  for (int i = 0; i < kKills; ++i) {
    Peer peer([&](int socket) { use_handles(socket, sample); });
    const auto handles = random() % 4;
    for (auto n = handles; n > 0; --n) send_to(peer.socket());
    // The process is killed while it begins, or at some point of one of its handles.
    for (auto answers = random() % (handles + 1); answers > 0; --answers) CHECK(peer.answer() == "read");
    peer.kill();
  }
  CHECK(releases.reach(sent));
  CHECK(used_bytes(pool) == 0);
  must(arrowdevice_pool_trim, pool.get());
  CHECK(Usage() == before);
  CHECK(shared_memory() - memory_before < kOfOthers);
}

TEST_CASE("an owner that is killed at any moment leaves whole arrays") {
  begin();
  const Sample sample(field("l"), kLarge);
  const Usage before;
  const int64_t memory_before = shared_memory();
  std::minstd_rand random(2);  // NOLINT: as above
  size_t opened_arrays = 0;
  for (int i = 0; i < kKills; ++i) {
    Peer owner([&](int socket) {
      for (;;) {
        Array array = copy(*sample.host, *sample.schema, cpu());
        send_handle(socket, *get_handle(array, sample.schema));
      }
    });
    std::vector<Opened> opened;
    const auto open_next = [&] { opened.push_back(open_received(receive_handle(owner.socket()))); };
    for (auto handles = random() % 8; handles > 0; --handles) open_next();
    owner.kill();
    // The last message may be incomplete.
    try {
      for (;;) open_next();
    } catch (const arrowdevice::testing::Failure& failure) {
      const std::string why = failure.what();
      if (why.find("has ended") == std::string::npos) FAIL_CHECK(why);
    }
    for (const Opened& one : opened) CHECK(has_numbers_of(sample, *one.array));
    opened_arrays += opened.size();
  }
  CHECK(opened_arrays > kKills);
  CHECK(Usage() == before);
  CHECK(shared_memory() - memory_before < kOfOthers);
}
#endif

// Sends an array of a fresh pool to a process, and returns what the process says.
std::string answer_of(const std::function<void(int socket, const SampleRows& sample)>& body) {
  const Pool pool = make_shareable_pool();
  const Sample sample(mixed_batch(), kPlain);
  const Peer peer([&](int socket) { body(socket, sample); });
  Array array = copy(*sample.host, *sample.schema, cpu(), 0, nullptr, pool.get());
  send_handle(peer.socket(), *get_handle(array, sample.schema, ARROWDEVICE_COPY_NEVER));
  return peer.answer();
}

void say_difference(int socket, const SampleRows& sample) {
  const Opened opened = open_received(receive_handle(socket));
  say(socket, difference(sample, *opened.array));
}

TEST_CASE("arrays cross namespaces of processes, IPC and users") {
  begin();
  const std::string answer = answer_of(
      [](int socket, const SampleRows& sample) { in_namespaces(socket, [&] { say_difference(socket, sample); }); });
  check_answer(answer);
}

TEST_CASE("a process of another user opens what it was given") {
  begin();
  const std::string answer = answer_of([](int socket, const SampleRows& sample) {
    constexpr uid_t kNobody = 65534;
    if (setresuid(kNobody, kNobody, kNobody) != 0) return say(socket, kNotPermitted);
    say_difference(socket, sample);
  });
  check_answer(answer);
}

TEST_CASE("a process that calls exec gives its arrays back") {
  begin();
  const Pool pool = make_shareable_pool();
  const Sample sample(field("u"), kPlain);
  Peer peer([&](int socket) {
    const Opened opened = open_received(receive_handle(socket));
    say(socket, difference(sample, *opened.array));
    hear(socket);
    execlp("sleep", "sleep", "60", nullptr);
    throw arrowdevice::testing::Failure("exec failed");
  });
  Releases releases;
  Array array = releases.count(copy(*sample.host, *sample.schema, cpu(), 0, nullptr, pool.get()));
  send_handle(peer.socket(), *get_handle(array, sample.schema, ARROWDEVICE_COPY_NEVER));
  array.reset();
  CHECK(peer.answer() == "");
  CHECK(releases.released() == 0);
  say(peer.socket(), "exec");
  CHECK(releases.reach(1));
  CHECK(used_bytes(pool) == 0);
}

TEST_CASE("a consumer that never releases meets the limit of the pool") {
  begin();
  auto options = sized<arrowdevice_pool_options>();
  options.flags = ARROWDEVICE_POOL_SHAREABLE;
  options.max_bytes = 4 << 20;
  const Pool pool = make_pool(cpu(), &options);
  const Sample sample(field("l"), kLarge);
  Releases releases;
  std::vector<Opened> kept;
  const auto copying = copy_options(0, nullptr, pool.get());
  for (;;) {
    Array array;
    arrowdevice_error error{};
    const int code =
        arrowdevice_array_copy(sample.host.get(), sample.schema.get(), cpu(), &copying, array.out(), &error);
    if (code != 0) {
      CHECK(code == ENOMEM);
      CHECK(contains(error.message, "limit is reached"));
      break;
    }
    REQUIRE(kept.size() < 100);
    array = releases.count(std::move(array));
    kept.push_back(open_received(received(*get_handle(array, sample.schema, ARROWDEVICE_COPY_NEVER))));
  }
  const auto arrays = static_cast<int64_t>(kept.size());
  CHECK(arrays > 1);
  kept.clear();
  CHECK(releases.reach(arrays));
  copy(*sample.host, *sample.schema, cpu(), 0, nullptr, pool.get());
}

#ifndef IS_SANITIZED  // a sanitizer needs address space of its own
TEST_CASE("without address space, a handle is refused and nothing is lost") {
  begin();
  const std::string answer = answer_of([](int socket, const SampleRows& sample) {
    const Received handle = receive_handle(socket);
    const Usage before;
    rlimit limit{};
    getrlimit(RLIMIT_AS, &limit);
    const rlimit none{4096, limit.rlim_max};
    setrlimit(RLIMIT_AS, &none);
    int code = 0;
    refused_open(handle.bytes, handle.numbers(), &code);
    setrlimit(RLIMIT_AS, &limit);
    expect(code == ENOMEM, "the code is " + std::to_string(code));
    expect(Usage() == before, "something is left");
    say(socket, difference(sample, *open_received(handle).array));
  });
  CHECK(answer == "");
}
#endif

TEST_CASE("64 processes use an array at once") {
  begin();
  const Pool pool = make_shareable_pool();
  const Sample sample(mixed_batch(), kPlain);
  Releases releases;
  Array array = releases.count(copy(*sample.host, *sample.schema, cpu(), 0, nullptr, pool.get()));
  {
    std::vector<std::unique_ptr<Peer>> peers;
    for (int i = 0; i < 64; ++i) {
      peers.push_back(std::make_unique<Peer>([&](int socket) {
        for (;;) say_difference(socket, sample);
      }));
    }
    for (int round = 0; round < 3; ++round) {
      for (const auto& peer : peers) {
        send_handle(peer->socket(), *get_handle(array, sample.schema, ARROWDEVICE_COPY_NEVER));
      }
      for (const auto& peer : peers) CHECK(peer->answer() == "");
    }
    array.reset();
  }
  CHECK(releases.reach(1));
  CHECK(used_bytes(pool) == 0);
}

}  // namespace

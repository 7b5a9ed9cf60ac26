// SPDX-License-Identifier: Apache-2.0
// Traps of memory that processes share: killed processes, namespaces, exec, limits, and consumers that never release.
#include <fcntl.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <random>
#include <thread>

#include "link_peer.h"

namespace {

using namespace link_test;  // NOLINT: what every line of these tests is written with

// Enough rows for an allocation of its own.
constexpr Knobs kLarge{.rows = 60'000};

int64_t shared_mappings() {
  std::ifstream maps("/proc/self/maps");
  int64_t n = 0;
  for (std::string line; std::getline(maps, line);) n += line.find("/memfd:arrowdevice") != std::string::npos;
  return n;
}

struct Usage {
  int64_t descriptors = open_descriptors();
  int64_t mappings = shared_mappings();
  friend bool operator==(const Usage&, const Usage&) = default;
};

// The address sanitizer's allocator may stay locked in a process that was forked while another thread was in it.
#ifndef IS_SANITIZED
constexpr int kKills = 1000;

// Returns the bytes of memory files of all processes.
int64_t shared_memory() {
  std::ifstream facts("/proc/meminfo");
  for (std::string line; std::getline(facts, line);) {
    if (line.rfind("Shmem:", 0) == 0) return std::stoll(line.substr(6)) * 1024;
  }
  return -1;
}

void sleep_for(int64_t microseconds) { std::this_thread::sleep_for(std::chrono::microseconds(microseconds)); }

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
  Array array = copy(*sample.host, *sample.schema, cpu(), 0, nullptr, pool.get());
  const int64_t used = used_bytes(pool);
  {
    Array first = copy(*sample.host, *sample.schema, cpu(), 0, nullptr, pool.get());
    get_handle(first, sample.schema);  // starts the thread, which has a descriptor
  }
  REQUIRE(becomes_true([&] { return used_bytes(pool) == used; }));
  must(arrowdevice_pool_trim, pool.get());
  const Usage before;
  const int64_t memory_before = shared_memory();
  std::mt19937 random(1);  // NOLINT: the same moments in every run, as far as the scheduler allows
  for (int i = 0; i < kKills; ++i) {
    Peer peer([&](int socket) { use_handles(socket, sample); });
    for (uint32_t sent = random() % 4; sent > 0; --sent) {
      Array fresh = copy(*sample.host, *sample.schema, cpu(), 0, nullptr, pool.get());
      send_handle(peer.socket(), *get_handle(fresh, sample.schema, ARROWDEVICE_COPY_NEVER));
    }
    sleep_for(random() % 1500);
    peer.kill();
  }
  CHECK(becomes_true([&] { return used_bytes(pool) == used; }));
  must(arrowdevice_pool_trim, pool.get());
  CHECK(Usage() == before);
  CHECK(shared_memory() - memory_before < kKills * 200'000);
}

TEST_CASE("an owner that is killed at any moment leaves whole arrays") {
  begin();
  const Sample sample(field("l"), kLarge);
  const Usage before;
  const int64_t memory_before = shared_memory();
  std::mt19937 random(2);  // NOLINT: as above
  int opened_arrays = 0;
  for (int i = 0; i < kKills; ++i) {
    Peer owner([&](int socket) {
      for (;;) {
        Array array = copy(*sample.host, *sample.schema, cpu());
        send_handle(socket, *get_handle(array, sample.schema));
      }
    });
    std::vector<Opened> opened;
    std::thread killer([&, after = random() % 4000] {
      sleep_for(after);
      owner.kill();
    });
    try {
      for (int received_handles = 0; received_handles < 20; ++received_handles) {
        opened.push_back(open_received(receive_handle(owner.socket())));
      }
    } catch (const arrowdevice::testing::Failure& failure) {
      const std::string why = failure.what();
      if (!contains(why, "has ended")) FAIL_CHECK(why);
    }
    killer.join();
    for (const Opened& one : opened) CHECK(has_numbers_of(sample, *one.array));
    opened_arrays += static_cast<int>(opened.size());
  }
  CHECK(opened_arrays > 0);
  CHECK(Usage() == before);
  CHECK(shared_memory() - memory_before < kKills * 200'000);
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

constexpr const char* kNotPermitted = "this user may not do that";

// Accepts an answer that this user may not do what root may, unless this is CI.
void check_answer(const std::string& answer) {
  if (answer == kNotPermitted && std::getenv("CI") == nullptr) {
    WARN(answer);
  } else {
    CHECK(answer == "");
  }
}

TEST_CASE("arrays cross namespaces of processes, IPC and users") {
  begin();
  const std::string answer = answer_of([](int socket, const SampleRows& sample) {
    if (unshare(CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWNS) != 0) return say(socket, kNotPermitted);
    say_difference(socket, sample);
  });
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
  Array array = copy(*sample.host, *sample.schema, cpu(), 0, nullptr, pool.get());
  send_handle(peer.socket(), *get_handle(array, sample.schema, ARROWDEVICE_COPY_NEVER));
  array.reset();
  CHECK(peer.answer() == "");
  CHECK(used_bytes(pool) > 0);
  say(peer.socket(), "exec");
  CHECK(becomes_true([&] { return used_bytes(pool) == 0; }));
}

TEST_CASE("a consumer that never releases meets the limit of the pool") {
  begin();
  auto options = sized<arrowdevice_pool_options>();
  options.flags = ARROWDEVICE_POOL_SHAREABLE;
  options.max_bytes = 4 << 20;
  const Pool pool = make_pool(cpu(), &options);
  const Sample sample(field("l"), kLarge);
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
    kept.push_back(open_received(received(*get_handle(array, sample.schema, ARROWDEVICE_COPY_NEVER))));
  }
  CHECK(kept.size() > 1);
  kept.clear();
  CHECK(becomes_true([&] { return used_bytes(pool) == 0; }));
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
  Array array = copy(*sample.host, *sample.schema, cpu(), 0, nullptr, pool.get());
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
  CHECK(becomes_true([&] { return used_bytes(pool) == 0; }));
}

}  // namespace

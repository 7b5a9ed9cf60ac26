// SPDX-License-Identifier: Apache-2.0
// Tests manual deferred work. A process chooses it once, so these tests are a separate program and run in
// this order.
#include <dirent.h>

#include "library.h"

namespace {

using namespace library_test;  // NOLINT: what every line of these tests is written with

int64_t threads() {
  DIR* const folder = opendir("/proc/self/task");
  REQUIRE(folder != nullptr);
  int64_t n = 0;
  while (const dirent* entry = readdir(folder)) n += entry->d_name[0] != '.';
  closedir(folder);
  return n;
}

void become_manual() { must(arrowdevice_deferred_set_manual, 1); }

TEST_CASE("with manual mode no thread starts, and deferred work runs only when asked") {
  begin();
  become_manual();
  Sample sample(field("l"));
  const Queue queue = make_queue(sim(0));
  must(arrowdevice_queue_finish, queue.get(), ARROWDEVICE_NO_TIMEOUT);  // starts the device's thread
  const int64_t before = threads();
  Held engine(0);
  must(arrowdevice_array_release_after, sample.host.get(), queue.get());
  int64_t done = 77;
  must(arrowdevice_deferred_run, -1, &done);
  CHECK(done == 0);
  engine.resume();
  const Queue other = make_queue(sim(0));
  must(arrowdevice_queue_finish, other.get(), ARROWDEVICE_NO_TIMEOUT);
  must(arrowdevice_queue_finish, queue.get(), ARROWDEVICE_NO_TIMEOUT);
  CHECK(sample.ledger.live() > 0);
  CHECK(threads() == before);
  must(arrowdevice_deferred_run, -1, &done);
  CHECK(done == 1);
  CHECK(sample.ledger.live() == 0);
}

TEST_CASE("deferred_run ends the given number of pieces, the oldest first") {
  begin();
  become_manual();
  std::vector<std::unique_ptr<Sample>> samples;
  const Queue queue = make_queue(sim(0));
  Held engine(0);
  for (int i = 0; i < 5; ++i) {
    samples.push_back(std::make_unique<Sample>(field("l")));
    must(arrowdevice_array_release_after, samples.back()->host.get(), queue.get());
  }
  engine.resume();
  must(arrowdevice_queue_finish, queue.get(), ARROWDEVICE_NO_TIMEOUT);
  const auto live = [&] {
    std::string text;
    for (const auto& sample : samples) text += sample->ledger.live() > 0 ? '1' : '0';
    return text;
  };
  int64_t done = 77;
  must(arrowdevice_deferred_run, 0, &done);
  CHECK(done == 0);
  CHECK(live() == "11111");
  must(arrowdevice_deferred_run, 2, &done);
  CHECK(done == 2);
  CHECK(live() == "00111");
  must(arrowdevice_deferred_run, 100, &done);
  CHECK(done == 3);
  CHECK(live() == "00000");
}

TEST_CASE("wait_idle in manual mode runs the deferred work itself") {
  begin();
  become_manual();
  Sample sample(field("l"));
  const Queue queue = make_queue(sim(0));
  Held engine(0);
  must(arrowdevice_array_release_after, sample.host.get(), queue.get());
  must_fail(ETIMEDOUT, arrowdevice_wait_idle, ARROWDEVICE_POLL);
  must_fail(ETIMEDOUT, arrowdevice_wait_idle, 1'000'000);
  CHECK(sample.ledger.live() > 0);
  engine.resume();
  must(arrowdevice_wait_idle, ARROWDEVICE_NO_TIMEOUT);
  CHECK(sample.ledger.live() == 0);
}

TEST_CASE("no call completes the work of others in manual mode") {
  constexpr int64_t kBytes = 1 << 20;
  begin();
  become_manual();
  auto options = pool_options();
  options.max_bytes = kBytes;
  const Pool pool = make_pool(sim(0), &options);
  const Queue queue = make_queue(sim(0));
  const Queue waiting = make_queue(sim(1));
  const Sample sample(field("l"), {.rows = kBytes / 8, .nulls = Nulls::kNone});
  Sample later(field("l"));
  Array first = copy(*sample.host, *sample.schema, sim(0), copy_options(0, nullptr, pool.get()));
  Held engine(0);
  Held other(1);
  must(arrowdevice_array_release_after, first.get(), queue.get());
  engine.resume();
  must(arrowdevice_queue_finish, queue.get(), ARROWDEVICE_NO_TIMEOUT);
  must(arrowdevice_array_release_after, later.host.get(), waiting.get());
  CHECK(stats(pool.get()).used_bytes == kBytes);
  void* buffer = nullptr;
  must_fail(ENOMEM, arrowdevice_buffer_allocate, sim(0), pool.get(), nullptr, kBytes, &buffer);
  must(arrowdevice_deferred_run, -1, nullptr);
  arrowdevice_buffer_free(sim(0), nullptr, output_of(arrowdevice_buffer_allocate, sim(0), pool.get(), nullptr, kBytes));
  other.resume();
  must(arrowdevice_wait_idle, ARROWDEVICE_NO_TIMEOUT);
}

TEST_CASE("manual mode cannot be ended after work was deferred") {
  begin();
  become_manual();
  Sample sample(field("l"));
  const Queue queue = make_queue(sim(0));
  Held engine(0);
  must(arrowdevice_array_release_after, sample.host.get(), queue.get());
  must_fail(EBUSY, arrowdevice_deferred_set_manual, 0);
  engine.resume();
  must(arrowdevice_wait_idle, ARROWDEVICE_NO_TIMEOUT);
  must_fail(EBUSY, arrowdevice_deferred_set_manual, 0);
}

TEST_CASE("with manual mode, arrays of handles are released when asked") {
  begin();
  become_manual();
  const int64_t before = threads();
  Sample sample(field("u"));
  arrowdevice_ipc_handle handle{};
  const auto options = copy_options(ARROWDEVICE_COPY_ALWAYS);
  for (int i = 0; i < 100; ++i) {
    must(arrowdevice_array_get_ipc_handle, sample.host.get(), sample.schema.get(), &options, &handle);
    arrowdevice_ipc_handle_release(&handle);
  }
  CHECK(threads() == before);
  int64_t done = 0;
  must(arrowdevice_deferred_run, 70, &done);
  CHECK(done == 70);
  must(arrowdevice_deferred_run, -1, &done);
  CHECK(done == 30);
}

}  // namespace

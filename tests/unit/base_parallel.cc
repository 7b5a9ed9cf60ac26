// SPDX-License-Identifier: Apache-2.0
// Tests work that several threads share.
#include "base/parallel.h"

#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "base/error.h"
#include "support/catch.h"

namespace {

namespace parallel = arrowdevice::parallel;

TEST_CASE("shared work runs each piece once, and all pieces before the call returns") {
  for (const int threads : {0, 1, 2, 5}) {
    for (const size_t pieces : {size_t{0}, size_t{1}, size_t{1'000}}) {
      std::vector<std::atomic<int>> done(pieces);
      std::atomic<size_t> next{0};
      parallel::run(threads, [&] {
        for (size_t i = next++; i < pieces; i = next++) ++done[i];
      });
      for (const auto& times : done) REQUIRE(times == 1);
    }
  }
}

TEST_CASE("the requested number of threads work, including the caller") {
  std::mutex mutex;
  std::condition_variable changed;
  std::set<std::thread::id> here;
  parallel::run(3, [&] {
    std::unique_lock lock(mutex);
    here.insert(std::this_thread::get_id());
    changed.notify_all();
    changed.wait(lock, [&] { return here.size() == 3; });
  });
  CHECK(here.contains(std::this_thread::get_id()));
}

TEST_CASE("an exception of a thread reaches the caller after all have returned") {
  for (const bool leads : {true, false}) {
    INFO(leads);
    const auto caller = std::this_thread::get_id();
    std::atomic<int> inside{0};
    std::atomic<bool> has_thrown{false};
    CHECK_THROWS_AS(parallel::run(2,
                                  [&] {
                                    ++inside;
                                    while (inside < 2 && !has_thrown) std::this_thread::yield();
                                    if ((std::this_thread::get_id() == caller) == leads) {
                                      has_thrown = true;
                                      --inside;
                                      throw std::runtime_error("a piece failed");
                                    }
                                    while (!has_thrown) std::this_thread::yield();
                                    --inside;
                                  }),
                    std::runtime_error);
    CHECK(inside == 0);
  }
}

TEST_CASE("the environment chooses the number of copy threads") {
  ::unsetenv("ARROWDEVICE_COPY_THREADS");
  CHECK(parallel::read_copy_threads() >= 1);
  CHECK(parallel::read_copy_threads() <= 8);
  ::setenv("ARROWDEVICE_COPY_THREADS", "12", 1);
  CHECK(parallel::read_copy_threads() == 12);
  ::setenv("ARROWDEVICE_COPY_THREADS", "0", 1);
  CHECK_THROWS_AS(parallel::read_copy_threads(), arrowdevice::Error);
  ::unsetenv("ARROWDEVICE_COPY_THREADS");
}

}  // namespace

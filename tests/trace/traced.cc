// SPDX-License-Identifier: Apache-2.0
// A program whose trace the tests read: traced SCENARIO. It uses three simulated devices. The third is slow.
#include <arrowdevice/arrowdevice.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>

#include "support/fixture.h"

namespace {

using namespace arrowdevice::testing;  // NOLINT: what every line of this program is written with

constexpr int kThreads = 4;
constexpr int kCopiesOfAThread = 50;
constexpr int kShortWaits = 1'000;

void do_everything() {
  const Sample sample(field("l"), {.rows = 100'000});
  const Array there = copy(sample, sim(0));
  const Array beside = copy(*there, *sample.schema, sim(1));
  const Array back = copy(*beside, *sample.schema, cpu());
  const Array again = copy(*back, *sample.schema, cpu());
  Array moved = sample.array();
  const auto options = copy_options();
  const auto shared = output_of(arrowdevice_array_to_device, moved.get(), sample.schema.get(), cpu(), &options);
  const Sample small(field("l"), {.rows = 40});
  const Array pending = copy(small, sim(0), ARROWDEVICE_COPY_ASYNC);
}

void wait_in_each_way() {
  const Sample sample(field("l"), {.rows = 40});
  const Array complete = copy(sample, sim(2));
  const Array awaited = copy(sample, sim(2), ARROWDEVICE_COPY_ASYNC);
  must(arrowdevice_array_wait, awaited.get(), nullptr, ARROWDEVICE_NO_TIMEOUT);
  const Array drained = copy(sample, sim(2), ARROWDEVICE_COPY_ASYNC);
  must(arrowdevice_wait_idle, ARROWDEVICE_NO_TIMEOUT);
}

void wait_for_nothing() {
  for (int i = 0; i < kShortWaits; ++i) must(arrowdevice_wait_idle, ARROWDEVICE_NO_TIMEOUT);
}

// A pool without room for the copy makes it fail.
void fail_a_copy() {
  auto options = sized<arrowdevice_pool_options>();
  options.max_bytes = 1024;
  const Pool pool = make_pool(sim(0), &options);
  const Sample sample(field("l"), {.rows = 1'000});
  const auto copying = copy_options(0, nullptr, pool.get());
  Array out;
  must_fail(ENOMEM, arrowdevice_array_copy, sample.host.get(), sample.schema.get(), sim(0), &copying, out.out());
}

void copy_once() {
  const Sample sample(field("l"), {.rows = 40});
  copy(sample, cpu());
}

void copy_on_each_thread() {
  on_threads(kThreads, [](int) {
    for (int i = 0; i < kCopiesOfAThread; ++i) copy_once();
  });
}

// Runs the body in a child, which runs its exit handlers. Returns the child's process id.
template <typename Body>
int in_forked_child(const Body& body) {
  const pid_t child = ::fork();
  expect(child >= 0, "there is no child");
  if (child == 0) {
    body();
    std::exit(0);
  }
  int status = 0;
  expect(::waitpid(child, &status, 0) == child && status == 0, "the child failed");
  return static_cast<int>(child);
}

void fork_and_copy_in_both() {
  copy_once();
  in_forked_child([] {});
  std::printf("%d\n", in_forked_child(copy_once));
  copy_once();
}

}  // namespace

int main(int argc, char** argv) {
  const char* const scenario = argc > 1 ? argv[1] : "";
  try {
    if (std::strcmp(scenario, "everything") == 0) do_everything();
    if (std::strcmp(scenario, "waits") == 0) wait_in_each_way();
    if (std::strcmp(scenario, "short waits") == 0) wait_for_nothing();
    if (std::strcmp(scenario, "failure") == 0) fail_a_copy();
    if (std::strcmp(scenario, "threads") == 0) copy_on_each_thread();
    if (std::strcmp(scenario, "fork") == 0) fork_and_copy_in_both();
    if (std::strcmp(scenario, "copy") == 0) copy_once();
    if (std::strcmp(scenario, "killed") == 0) {
      copy_once();
      std::abort();
    }
    if (std::strcmp(scenario, "ended by a child") == 0) {
      copy_once();
      return std::system(argv[2]) == 0 ? 0 : 1;
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}

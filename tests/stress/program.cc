// SPDX-License-Identifier: Apache-2.0
#include "program.h"

#include <sys/wait.h>
#include <unistd.h>

#include <barrier>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "support/reader.h"

namespace stress {

namespace {

// A scenario that takes longer counts as a hang. Its own alarm, which survives exec, ends the process.
constexpr unsigned kLongestSeconds = 120;

bool plays_well(const char* program, const char* name) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(kLongestSeconds);
    execl(program, program, name, nullptr);
    _exit(127);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) return false;
  if (WIFSIGNALED(status)) std::fprintf(stderr, "ended by signal %d\n", WTERMSIG(status));
  if (WIFEXITED(status) && WEXITSTATUS(status) != 0) std::fprintf(stderr, "ended with %d\n", WEXITSTATUS(status));
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int play_all(std::span<const Scenario> scenarios, const char* program) {
  const char* const path = std::getenv("ARROWDEVICE_TEST_REPORT");
  std::FILE* const report = path != nullptr ? std::fopen(path, "we") : nullptr;
  bool all = true;
  for (const Scenario& scenario : scenarios) {
    const bool well = plays_well(program, scenario.name);
    std::fprintf(stderr, "%s: %s\n", well ? "passed" : "FAILED", scenario.name);
    if (report != nullptr) std::fprintf(report, "%s %s\n", well ? "passed" : "failed", scenario.name);
    all = all && well;
  }
  if (report != nullptr) std::fclose(report);
  return all ? 0 : 1;
}

}  // namespace

int play(std::span<const Scenario> scenarios, int argc, char** argv) {
  if (argc < 2) return play_all(scenarios, argv[0]);
  for (const Scenario& scenario : scenarios) {
    if (std::string(argv[1]) != scenario.name) continue;
    scenario.run();
    return 0;
  }
  std::fprintf(stderr, "there is no scenario \"%s\"\n", argv[1]);
  return 2;
}

void fail(const std::string& what) {
  std::fprintf(stderr, "FAILED: %s\n", what.c_str());
  std::fflush(stderr);
  _exit(1);
}

void check_equal(int64_t is, int64_t expected, const char* what) {
  if (is != expected) fail(std::string(what) + ": " + std::to_string(is) + ", expected " + std::to_string(expected));
}

void check_same(const std::string& difference) {
  if (!difference.empty()) fail("other rows came back: " + difference);
}

void check_code(int code, int expected, const arrowdevice_error& error) {
  if (code == expected) return;
  fail("code " + std::to_string(code) + " (" + std::strerror(code) + "), expected " + std::to_string(expected) + ": " +
       error.message);
}

arrowdevice_device* cpu() {
  arrowdevice_device* device = nullptr;
  must(arrowdevice_device_find_by_id, ARROW_DEVICE_CPU, -1, &device);
  return device;
}

arrowdevice_device* sim(int64_t id) {
  arrowdevice_device* device = nullptr;
  must(arrowdevice_device_find_by_id, ARROW_DEVICE_EXT_DEV, id, &device);
  return device;
}

Sample::Sample(Field of, Knobs with)
    : type(std::move(of)), knobs(with), schema(make_schema(type)), twin(make_array(generate(type, knobs), Ledger())) {}

Array Sample::host() const {
  auto array = make_array(generate(type, knobs), ledger);
  Array out;
  must(arrowdevice_array_from_host, array.get(), out.out());
  return out;
}

Field batch() {
  return struct_of(
             {field("l", "id"), field("u", "name"), list_of(field("u", "item")).named("tags"), field("b", "flag")})
      .not_null();
}

arrowdevice_copy_options copy_options(uint32_t flags, arrowdevice_queue* queue) {
  arrowdevice_copy_options options{};
  options.struct_size = sizeof options;
  options.flags = flags;
  options.queue = queue;
  return options;
}

Array copy(const ArrowDeviceArray& array, const ArrowSchema& schema, arrowdevice_device* to, uint32_t flags,
           arrowdevice_queue* queue, arrowdevice_pool* pool) {
  auto options = copy_options(flags, queue);
  options.pool = pool;
  Array out;
  must(arrowdevice_array_copy, &array, &schema, to, &options, out.out());
  return out;
}

Array share(Array& array) {
  Array out;
  must(arrowdevice_array_share, array.get(), out.out());
  return out;
}

arrowdevice_queue* make_queue(arrowdevice_device* device) {
  arrowdevice_queue* queue = nullptr;
  must(arrowdevice_queue_create, device, &queue);
  return queue;
}

arrowdevice_pool* make_pool(arrowdevice_device* device) {
  arrowdevice_pool* pool = nullptr;
  must(arrowdevice_pool_create, device, nullptr, &pool);
  return pool;
}

std::string difference(const Sample& sample, const ArrowDeviceArray& array, int64_t first) {
  const Array here = copy(array, *sample.schema, cpu());
  const std::string malformed = problem(*sample.schema, here->array);
  if (!malformed.empty()) return "malformed: " + malformed;
  return arrowdevice::testing::difference(*sample.schema, *sample.twin, first, *sample.schema, here->array, 0,
                                          here->array.length);
}

void on_threads(int n, const std::function<void(int)>& body) {
  std::barrier start(n);
  std::vector<std::thread> threads;
  for (int i = 0; i < n; ++i) {
    threads.emplace_back([&, i] {
      start.arrive_and_wait();
      body(i);
    });
  }
  for (auto& thread : threads) thread.join();
}

}  // namespace stress

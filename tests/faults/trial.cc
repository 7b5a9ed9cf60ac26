// SPDX-License-Identifier: Apache-2.0
#include "faults/trial.h"

#include <chrono>
#include <cstring>
#include <exception>
#include <thread>

#include "faults/scene.h"

namespace faults {
namespace {

constexpr auto kPatience = std::chrono::seconds(20);

void check_untouched(const arrowdevice_error& error) {
  const arrowdevice_error untouched = untouched_error();
  check(std::memcmp(&error, &untouched, sizeof error) == 0, "a call that succeeded has filled the error");
}

// Checks that no node is alive. It waits, because a thread of the library may hold the last of them a
// moment longer.
void check_nodes() {
  const auto patience = std::chrono::steady_clock::now() + kPatience;
  while (live_nodes() != 0 && std::chrono::steady_clock::now() < patience) std::this_thread::yield();
  check_equal(live_nodes(), 0, "arrays that are not released");
  check_equal(Ledger::mistakes(), 0, "arrays that were released twice");
}

int run(const Attempt& attempt, arrowdevice_error& error, Injection* injection) {
  try {
    return injection != nullptr ? injection->run(attempt, error) : attempt.run(&error);
  } catch (const std::exception& e) {
    memory::end();
    fail(std::string("an exception has left the call: ") + e.what());
  } catch (...) {
    memory::end();
    fail("an exception has left the call");
  }
}

// Waits until the outputs are complete. Returns true if they have no values.
bool settle(const Attempt& attempt, bool may_spoil) {
  arrowdevice_error error{};
  const int code = attempt.settle(&error);
  if (code == 0 || !may_spoil) check_code(code, 0, error);
  if (code != 0) check_code(code, EIO, error);
  return code != 0;
}

void must_succeed(const Attempt& attempt) {
  attempt.prepare();
  arrowdevice_error error = untouched_error();
  check_code(run(attempt, error, nullptr), 0, error);
  check_untouched(error);
  attempt.check_done(settle(attempt, false));
}

void play(const Operation& operation, Injection& injection) {
  Attempt attempt = operation.make();
  injection.prepare();
  attempt.prepare();
  arrowdevice_error error = untouched_error();
  const int code = run(attempt, error, &injection);
  if (code == 0) {
    check_untouched(error);
    if (injection.was_injected()) injection.check_survived();
    const bool is_spoiled = settle(attempt, injection.may_spoil());
    injection.recover();
    return attempt.check_done(is_spoiled);
  }
  if (!injection.was_injected()) check_code(code, 0, error);
  check_equal(error.code, code, "the code in the error");
  check(error.message[0] != '\0', "the error has no message");
  injection.check_failure(code, error);
  injection.recover();
  attempt.check_refused();
  if (operation.is_final) {
    attempt = {};
    injection.wait_for_threads();
    must(arrowdevice_wait_idle, int64_t{ARROWDEVICE_NO_TIMEOUT});
    attempt = operation.make();
  }
  injection.prepare();
  must_succeed(attempt);
}

}  // namespace

bool play_once(const Operation& operation, Injection& injection) {
  forget_log();
  play(operation, injection);
  injection.wait_for_threads();
  must(arrowdevice_wait_idle, int64_t{ARROWDEVICE_NO_TIMEOUT});
  check_nodes();
  injection.check_end();
  return injection.was_injected();
}

void use_cpu() {
  const Array host = Rows::nested().host();
  check_same(Rows::nested().difference(*host));
  // A copy that lacks memory for its short way goes to the copy engine, as a copy with a queue does.
  const Queue queue = make_queue(cpu());
  const Array copied = copy(*host, *Rows::nested().schema(), cpu(), 0, queue.get());
  check_same(Rows::nested().difference(*copied));
}

}  // namespace faults

// SPDX-License-Identifier: Apache-2.0
// Tests every sequence of up to six events of an async stream against the rules of the format.
#include "stream/async_state.h"

#include <cerrno>
#include <string>

#include "support/catch.h"

namespace {

using arrowdevice::stream::AsyncState;
using Step = AsyncState::Step;

constexpr int kSourceError = EREMOTEIO;
constexpr int kRefusal = ENOBUFS;

// The events: request, request of nothing, cancel, schema, array (next), end, error, failed callback,
// extract, discard.
constexpr char kEvents[] = "rzcsneftdx";

// A stream that makes its calls as soon as they are due, and the facts about it that do not come from the
// state machine.
class Stream {
 public:
  void happen(char event) {
    switch (event) {
      case 'r':
        state_.request(1);
        if (!is_over()) ++requested_;
        break;
      case 'z':
        state_.request(0);
        if (!is_over()) was_asked_for_nothing_ = true;
        break;
      case 'c':
        state_.cancel();
        if (!is_over()) was_cancelled_ = true;
        break;
      case 's':
        if (has_schema_ || source_is_over_) return;
        has_schema_ = true;
        state_.schema_arrived();
        break;
      case 'n':
        if (!has_schema_ || source_is_over_) return;
        ++arrived_;
        state_.array_arrived();
        break;
      case 'e':
        if (!has_schema_ || source_is_over_) return;
        source_is_over_ = has_ended_ = true;
        state_.end_arrived();
        break;
      case 'x':
        if (source_is_over_) return;
        source_is_over_ = has_failed_ = true;
        state_.failure_arrived(kSourceError);
        break;
      case 'f': next_call_fails_ = true; return;
      case 't':
      case 'd':
        if (pending_task_ == gone_) return;
        ++gone_;
        state_.task_gone();
        break;
      default: break;
    }
    make_calls();
  }

  // Returns the calls: S schema, T task, E end, X error, R release.
  const std::string& calls() const { return calls_; }
  std::string broken() const { return broken_; }

 private:
  bool is_over() const { return was_cancelled_ || was_asked_for_nothing_ || refused_ || told_last_; }

  void rule(bool holds, const char* text) {
    if (!holds && broken_.empty()) broken_ = text;
  }

  void make_calls() {
    for (Step step = state_.next(); step != Step::kNothing; step = state_.next()) {
      make(step);
      if (!broken_.empty()) return;
    }
    check_progress();
  }

  void make(Step step) {
    rule(!is_released_, "nothing is called after the release");
    if (step != Step::kRelease) {
      rule(!refused_, "after a callback that failed, only the release is called");
      rule(!told_last_, "after the end or an error, only the release is called");
      rule(!was_cancelled_, "a cancel ends the stream with the release alone");
    }
    switch (step) {
      case Step::kSchema:
        rule(calls_.empty(), "the schema is told first, and once");
        rule(has_schema_, "a schema is told that is there");
        break;
      case Step::kTask:
        rule(!calls_.empty() && calls_[0] == 'S', "the schema comes before tasks");
        rule(!was_asked_for_nothing_, "after a request of nothing there is only the error");
        ++pending_task_;
        rule(pending_task_ <= arrived_, "a task is told that is there");
        rule(pending_task_ <= requested_, "no more tasks are told than were requested");
        break;
      case Step::kEnd:
        rule(!calls_.empty() && calls_[0] == 'S', "the schema comes before the end");
        rule(has_ended_ && pending_task_ == arrived_, "the end comes after all arrays");
        rule(requested_ > pending_task_, "the end follows a request, as an array does");
        told_last_ = true;
        break;
      case Step::kError:
        if (was_asked_for_nothing_) {
          rule(state_.error() == EINVAL && state_.is_own_error(), "a request of nothing is EINVAL");
        } else {
          rule(has_failed_ && state_.error() == kSourceError, "an error is told as it came");
          rule(pending_task_ == arrived_ || calls_.empty(), "a producer's error comes after its arrays");
        }
        told_last_ = true;
        break;
      case Step::kRelease:
        rule(was_cancelled_ || refused_ || told_last_,
             "the release comes after the end, an error, a cancel or a refusal");
        is_released_ = true;
        break;
      case Step::kNothing: break;
    }
    calls_ += "-STEXR"[static_cast<int>(step)];
    const bool has_result = step == Step::kSchema || step == Step::kTask || step == Step::kEnd;
    const int code = has_result && next_call_fails_ ? kRefusal : 0;
    if (has_result) next_call_fails_ = false;
    if (code != 0) refused_ = true;
    state_.taken(step, code);
  }

  void check_progress() {
    if (was_cancelled_ || refused_ || told_last_) rule(is_released_, "what is over is released");
    if (was_asked_for_nothing_) rule(is_released_, "a request of nothing ends the stream");
    if (!is_released_) {
      rule(!has_schema_ || calls_[0] == 'S', "a schema that is there is told");
      rule(pending_task_ == arrived_ || pending_task_ == requested_, "what is there and requested is told");
      rule(!(has_ended_ && pending_task_ == arrived_ && requested_ > pending_task_),
           "an end that is there and asked for is told");
      rule(!(has_failed_ && pending_task_ == arrived_), "an error behind which nothing waits is told");
    }
    rule(state_.is_released() == is_released_, "the machine knows of its release");
    rule(state_.is_done() == (is_released_ && pending_task_ == gone_), "a stream is done once its tasks are gone");
    const bool wants = !is_released_ && !source_is_over_ && has_schema_ && requested_ > arrived_;
    rule(state_.wants_array() == wants, "the source is asked for what was requested and is not there");
  }

  AsyncState state_;
  std::string calls_, broken_;
  int requested_ = 0, arrived_ = 0, pending_task_ = 0, gone_ = 0;
  bool was_asked_for_nothing_ = false, was_cancelled_ = false, refused_ = false, told_last_ = false;
  bool has_schema_ = false, source_is_over_ = false, has_ended_ = false, has_failed_ = false;
  bool next_call_fails_ = false, is_released_ = false;
};

int64_t sequences = 0;

void try_all(const Stream& so_far, const std::string& events) {
  ++sequences;
  if (events.size() == 6) return;
  for (const char* event = kEvents; *event != 0; ++event) {
    Stream stream = so_far;
    stream.happen(*event);
    if (!stream.broken().empty()) {
      INFO(events + *event << " made the calls " << stream.calls());
      FAIL_CHECK(stream.broken());
      continue;
    }
    try_all(stream, events + *event);
  }
}

TEST_CASE("every sequence of six events of an async stream keeps the rules of the format") {
  sequences = 0;
  try_all(Stream(), "");
  CHECK(sequences == 1'111'111);
}

std::string calls_after(const std::string& events) {
  Stream stream;
  for (const char event : events) stream.happen(event);
  CHECK(stream.broken() == "");
  return stream.calls();
}

TEST_CASE("an async stream delivers in order, and only as fast as requested") {
  CHECK(calls_after("srnrne") == "STT");
  CHECK(calls_after("srnrner") == "STTER");
  CHECK(calls_after("snnnrrr") == "STTT");
  CHECK(calls_after("se") == "S");
  CHECK(calls_after("ser") == "SER");
  CHECK(calls_after("srnx") == "STXR");
  CHECK(calls_after("x") == "XR");
  CHECK(calls_after("fsrn") == "SR");
  CHECK(calls_after("sfrn") == "STR");
  CHECK(calls_after("sncr") == "SR");
  CHECK(calls_after("sz") == "SXR");
  CHECK(calls_after("cz") == "R");
}

TEST_CASE("requests add up without an overflow") {
  AsyncState state;
  state.schema_arrived();
  state.taken(Step::kSchema, 0);
  state.request(INT64_MAX);
  state.request(INT64_MAX);
  CHECK(state.next() == Step::kNothing);
  state.array_arrived();
  CHECK(state.next() == Step::kTask);
  state.taken(Step::kTask, 0);
  CHECK(state.wants_array());
  state.request(-1);
  CHECK(state.next() == Step::kError);
  CHECK(state.error() == EINVAL);
}

}  // namespace

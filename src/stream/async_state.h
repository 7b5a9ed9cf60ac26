// SPDX-License-Identifier: Apache-2.0
// The producer's half of the async protocol, as a state machine without threads. It tells the producer the next call of
// the consumer's handler. The user of this class guards it with a lock that is not held during handler calls.
//
//   schema -> task, task, ... as many as were requested -> end or error -> release
//
// A request of 0 arrays is an error. A cancel or a failed callback leads directly to the release.
#pragma once

#include <cstdint>

namespace arrowdevice::stream {

class AsyncState {
 public:
  enum class Step {
    kNothing,  // a schema, array, end or failure must arrive first
    kSchema,   // on_schema
    kTask,     // on_next_task
    kEnd,      // on_next_task with NULL
    kError,    // on_error, with error()
    kRelease,  // release, the last call
  };

  // Calls of the consumer, at any time. After the end of the stream or a cancel they have no effect.
  void request(int64_t n) noexcept;
  void cancel() noexcept;

  // Events of the source, in this order. None follows the end or a failure.
  void schema_arrived() noexcept { has_schema_ = true; }
  void array_arrived() noexcept { ++waiting_; }
  void end_arrived() noexcept { has_ended_ = true; }
  void failure_arrived(int code) noexcept { source_error_ = code; }

  // Ends the stream with an error, even if arrays are waiting.
  void fail(int code) noexcept;

  Step next() const noexcept;

  // Notes that the step was taken, and that the callback returned `code`.
  void taken(Step step, int code) noexcept;

  // Notes that a task was extracted or discarded.
  void task_gone() noexcept { --tasks_; }

  // Returns the error code for the step kError.
  int error() const noexcept { return own_error_ != 0 ? own_error_ : source_error_; }
  bool is_own_error() const noexcept { return own_error_ != 0; }

  // Returns true if the consumer has requested more arrays than have arrived.
  bool wants_array() const noexcept {
    return has_told_schema_ && !is_finished() && !has_ended_ && source_error_ == 0 && waiting_ < requested_;
  }

  bool is_cancelled() const noexcept { return is_cancelled_; }
  bool is_released() const noexcept { return is_released_; }

  // Returns true if the handler is released and no task is left. The consumer must not call the producer any more.
  bool is_done() const noexcept { return is_released_ && tasks_ == 0; }

 private:
  // Returns true if only the release is left.
  bool is_finished() const noexcept { return is_cancelled_ || has_told_last_; }

  int64_t requested_ = 0;  // requested, and not reported yet
  int64_t waiting_ = 0;    // arrived, and not reported yet
  int64_t tasks_ = 0;      // reported, and neither extracted nor discarded
  int own_error_ = 0;
  int source_error_ = 0;
  bool has_schema_ = false;
  bool has_ended_ = false;
  bool has_told_schema_ = false;
  bool has_told_last_ = false;  // the last report: the end, an error, or a callback that failed
  bool is_cancelled_ = false;
  bool is_released_ = false;
};

}  // namespace arrowdevice::stream

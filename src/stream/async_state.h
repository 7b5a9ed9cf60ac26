// SPDX-License-Identifier: Apache-2.0
// The producer's half of the async protocol, as a machine without threads: what may be called on the consumer's handler
// next. Whoever holds it guards it with a lock that is open while a handler is called.
//
//   schema -> task, task, ... as many as were requested -> end or error -> release
//
// A request of nothing is an error. Cancelling, and a callback that fails, lead straight to the release.
#pragma once

#include <cstdint>

namespace arrowdevice::stream {

class AsyncState {
 public:
  enum class Step {
    kNothing,  // something has to arrive first
    kSchema,   // on_schema
    kTask,     // on_next_task
    kEnd,      // on_next_task with NULL
    kError,    // on_error, with error()
    kRelease,  // release, the last
  };

  // From the consumer, at any time. What comes after the end of the stream or after a cancel changes nothing.
  void request(int64_t n) noexcept;
  void cancel() noexcept;

  // From the source, in this order; nothing after the end or a failure.
  void schema_arrived() noexcept { has_schema_ = true; }
  void array_arrived() noexcept { ++waiting_; }
  void end_arrived() noexcept { has_ended_ = true; }
  void failure_arrived(int code) noexcept { source_error_ = code; }

  // The stream cannot go on, whatever is waiting.
  void fail(int code) noexcept;

  Step next() const noexcept;

  // The step was taken, and the callback returned `code`.
  void taken(Step step, int code) noexcept;

  // A task was extracted or discarded.
  void task_gone() noexcept { --tasks_; }

  // Of the step kError.
  int error() const noexcept { return own_error_ != 0 ? own_error_ : source_error_; }
  bool is_own_error() const noexcept { return own_error_ != 0; }

  // Whether one more array is asked for than there is.
  bool wants_array() const noexcept {
    return has_told_schema_ && !is_over() && !has_ended_ && source_error_ == 0 && waiting_ < requested_;
  }

  bool is_cancelled() const noexcept { return is_cancelled_; }
  bool is_released() const noexcept { return is_released_; }

  // Released, and no task is left: nobody may ask for anything any more.
  bool is_done() const noexcept { return is_released_ && tasks_ == 0; }

 private:
  // Only the release is left.
  bool is_over() const noexcept { return is_cancelled_ || has_told_last_; }

  int64_t requested_ = 0;  // and not told yet
  int64_t waiting_ = 0;    // arrived, and not told yet
  int64_t tasks_ = 0;      // told, and neither extracted nor discarded
  int own_error_ = 0;
  int source_error_ = 0;
  bool has_schema_ = false;
  bool has_ended_ = false;
  bool has_told_schema_ = false;
  bool has_told_last_ = false;  // the end, an error, or to a callback that failed
  bool is_cancelled_ = false;
  bool is_released_ = false;
};

}  // namespace arrowdevice::stream

// SPDX-License-Identifier: Apache-2.0
// A call on a thread of its own, for tests that check that a call waits.
#pragma once

#include <unistd.h>

#include <atomic>
#include <fstream>
#include <string>
#include <thread>

namespace arrowdevice::testing {

class BlockingCall {
 public:
  template <typename Body>
  explicit BlockingCall(Body body)
      : thread_([this, body] {
          id_ = gettid();
          body();
          has_returned_ = true;
        }) {}
  ~BlockingCall() { join(); }
  BlockingCall(const BlockingCall&) = delete;
  BlockingCall& operator=(const BlockingCall&) = delete;

  bool has_returned() const noexcept { return has_returned_; }

  // Returns true if the call waits for something, and false if it has returned. The thread may sleep for a moment also
  // if it does not wait, so it must be asleep several times in a row.
  bool waits() const {
    constexpr int kTimes = 1000;
    for (int asleep = 0; asleep < kTimes && !has_returned_; std::this_thread::yield())
      asleep = is_asleep() ? asleep + 1 : 0;
    return !has_returned_;
  }

  void join() {
    if (thread_.joinable()) thread_.join();
  }

 private:
  bool is_asleep() const {
    if (id_ == 0) return false;
    std::ifstream file("/proc/self/task/" + std::to_string(id_) + "/stat");
    std::string text;
    std::getline(file, text);
    const auto name_end = text.rfind(')');  // the name may have blanks
    return name_end != text.npos && text.compare(name_end, 3, ") S") == 0;
  }

  std::atomic<pid_t> id_{0};
  std::atomic<bool> has_returned_{false};
  std::thread thread_;
};

}  // namespace arrowdevice::testing

// SPDX-License-Identifier: Apache-2.0
// Waits for releases of arrays that another thread makes.
//
//   Releases releases;
//   Array array = releases.count(copy(...));   // over the same memory
//   ...
//   CHECK(releases.reach(1));                  // the memory is free
#pragma once

#include <arrowdevice/abi.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>

#include "support/owned.h"

namespace arrowdevice::testing {

class Releases {
 public:
  // Returns an array over the same memory. Its release is counted when the memory has been released.
  Owned<ArrowDeviceArray> count(Owned<ArrowDeviceArray> array) {
    ArrowDeviceArray counted = *array;
    counted.array.private_data = new Counted{array.take(), state_};
    counted.array.release = [](ArrowArray* released) {
      const std::unique_ptr<Counted> one(static_cast<Counted*>(released->private_data));
      released->release = nullptr;
      call_release(one->array);
      const std::lock_guard lock(one->state->mutex);
      ++one->state->released;
      one->state->changed.notify_all();
    };
    return Owned<ArrowDeviceArray>(counted);
  }

  // Waits until that many arrays were released in all. Returns false after ten seconds.
  bool reach(int64_t arrays) {
    std::unique_lock lock(state_->mutex);
    return state_->changed.wait_for(lock, std::chrono::seconds(10), [&] { return state_->released >= arrays; });
  }

  int64_t released() const {
    const std::lock_guard lock(state_->mutex);
    return state_->released;
  }

 private:
  // This object and its arrays own the state together, because the arrays live longer if a test fails.
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    int64_t released = 0;
  };
  struct Counted {
    ArrowDeviceArray array;
    std::shared_ptr<State> state;
  };

  std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace arrowdevice::testing

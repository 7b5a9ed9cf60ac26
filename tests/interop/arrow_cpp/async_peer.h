// SPDX-License-Identifier: Apache-2.0
// Arrow C++ as a producer and as a consumer of async streams.
#pragma once

#include <arrow/util/async_generator.h>
#include <arrow/util/future.h>
#include <arrow/util/thread_pool.h>

#include <atomic>
#include <memory>
#include <thread>

#include "peer.h"

namespace arrow_cpp_test {

using Generator = arrow::AsyncGenerator<BatchPtr>;

inline std::shared_ptr<arrow::internal::ThreadPool> pool() {
  static const auto made = ok(arrow::internal::ThreadPool::Make(4));
  return made;
}

// Arrow C++ as a producer on its own thread, because it blocks there until it gets requests.
class ArrowProducer {
 public:
  ArrowProducer(SchemaPtr schema, Generator generator, arrow::DeviceAllocationType type,
                ArrowAsyncDeviceStreamHandler* handler)
      : thread_([=, this] {
          done_ = arrow::ExportAsyncRecordBatchReader(schema, generator, type, handler);
          done_.Wait();
        }) {}
  ~ArrowProducer() {
    if (thread_.joinable()) thread_.join();
  }

  arrow::Status wait() {
    thread_.join();
    return done_.status();
  }

 private:
  arrow::Future<> done_;
  std::thread thread_;
};

// Arrow C++ as a consumer. This object owns its handler, so the destructor waits for the release.
class ArrowConsumer {
 public:
  explicit ArrowConsumer(uint64_t queue_size = 1) {
    stream = arrow::CreateAsyncDeviceStreamHandler(&handler_.published, pool().get(), queue_size, map_device);
    handler_.consumer = this;
    release_ = handler_.published.release;
    handler_.published.release = [](ArrowAsyncDeviceStreamHandler* self) {
      auto* const consumer = reinterpret_cast<Handler*>(self)->consumer;
      consumer->release_(self);
      consumer->is_released_ = true;
    };
  }
  ~ArrowConsumer() {
    while (!is_released_) std::this_thread::yield();
  }
  ArrowConsumer(const ArrowConsumer&) = delete;
  ArrowConsumer& operator=(const ArrowConsumer&) = delete;

  ArrowAsyncDeviceStreamHandler* handler() { return &handler_.published; }

  // Returns the next batch, or NULL at the end.
  BatchPtr next() {
    if (!generator_) generator_ = ok(stream.result()).generator;
    const auto came = ok(generator_().result());
    if (arrow::IsIterationEnd(came)) return nullptr;
    if (const auto sync = came.batch->GetSyncEvent()) ok(sync->Wait());
    return to_cpu(came.batch);
  }
  arrow::Status next_status() {
    if (!generator_) generator_ = ok(stream.result()).generator;
    return generator_().status();
  }
  bool is_released() const { return is_released_; }
  void drop() {
    generator_ = {};
    stream = {};
  }

  arrow::Future<arrow::AsyncRecordBatchGenerator> stream;

 private:
  // The private_data belongs to Arrow C++.
  struct Handler {
    ArrowAsyncDeviceStreamHandler published{};
    ArrowConsumer* consumer = nullptr;
  } handler_;
  void (*release_)(ArrowAsyncDeviceStreamHandler*) = nullptr;
  std::atomic<bool> is_released_{false};
  arrow::AsyncGenerator<arrow::RecordBatchWithMetadata> generator_;
};

}  // namespace arrow_cpp_test

// SPDX-License-Identifier: Apache-2.0
// The library as a producer: a stream that is pulled as fast as the consumer requests arrays.
#include <cerrno>
#include <memory>
#include <mutex>
#include <utility>

#include "array/locate.h"
#include "base/error.h"
#include "stream/async.h"
#include "stream/async_producer.h"
#include "stream/device_stream.h"
#include "stream/upstream.h"

namespace arrowdevice::stream {
namespace {

class PulledStream final : public AsyncSource {
 public:
  PulledStream(GetMetadata get_metadata, void* user) : get_metadata_(get_metadata), user_(user) {}

  void take(ArrowDeviceArrayStream& moved) noexcept { upstream_->take(moved); }
  void give_back(ArrowDeviceArrayStream& moved) noexcept {
    moved = **upstream_;
    (*upstream_)->release = nullptr;
  }

  bool has_next(bool wants_array) noexcept override { return !has_schema_ || (wants_array && !has_ended_); }

  Item next() noexcept override {
    bool is_producers = true;  // a failure is the producer's
    try {
      if (!has_schema_) return schema();
      Item item(Item::Kind::kArray);
      get_next(**upstream_, &item.array);
      is_producers = false;
      item.metadata = copy_metadata(metadata(ARROWDEVICE_METADATA_ITEM));
      if (item.array.array.release == nullptr) {
        has_ended_ = true;
        Item end(Item::Kind::kEnd);
        end.metadata = std::move(item.metadata);
        return end;
      }
      array::check_accessible(item.array, (*upstream_)->device_type);
      array::check_event(item.array);
      array::make_canonical(item.array);
      return item;
    } catch (...) {
      has_schema_ = true;
      has_ended_ = true;
      Item failed(Failure::current());
      if (is_producers) failed.metadata = copy_error_metadata(metadata(ARROWDEVICE_METADATA_ITEM));
      return failed;
    }
  }

  // Wakes a stream of the library that waits. No lock is held meanwhile, because the cancel may call a foreign
  // producer. If the stream is closed meanwhile, this thread releases it.
  void cancel() noexcept override {
    if (const auto upstream = shared_upstream()) stream::cancel(**upstream);
  }

  void close() noexcept override {
    std::shared_ptr<Upstream<ArrowDeviceArrayStream>> ended;  // released after the unlock
    const std::lock_guard lock(closing_);
    ended.swap(upstream_);
  }

 private:
  Item schema() {
    Item item(Item::Kind::kSchema);
    get_schema(**upstream_, &item.schema);
    item.metadata = copy_metadata(metadata(ARROWDEVICE_METADATA_STREAM));
    has_schema_ = true;
    return item;
  }

  // Returns the metadata that the program gives. Without a callback, returns that of a stream of the library.
  const char* metadata(int32_t kind) {
    return get_metadata_ != nullptr ? get_metadata_(user_, kind) : metadata_of(**upstream_, kind);
  }

  std::shared_ptr<Upstream<ArrowDeviceArrayStream>> shared_upstream() noexcept {
    const std::lock_guard lock(closing_);
    return upstream_;
  }

  // Written only by close(), under the lock. The thread that pulls is the thread that closes.
  std::shared_ptr<Upstream<ArrowDeviceArrayStream>> upstream_ = std::make_shared<Upstream<ArrowDeviceArrayStream>>();
  std::mutex closing_;
  const GetMetadata get_metadata_;
  void* const user_;
  // Both change only in next(), which never runs concurrently.
  bool has_schema_ = false;
  bool has_ended_ = false;
};

}  // namespace

void produce(ArrowDeviceArrayStream& moved, ArrowAsyncDeviceStreamHandler& handler, AsyncOptions options) {
  auto source = std::make_unique<PulledStream>(options.get_metadata, options.user);
  auto& stream = *source;
  const auto producer =
      std::make_shared<AsyncProducer>(moved.device_type, handler, std::move(source), std::move(options.executor));
  stream.take(moved);
  const int code = producer->start();
  if (code == 0) return;
  stream.give_back(moved);
  throw Error(code, format("the executor did not take the stream's work: errno %d", code));
}

}  // namespace arrowdevice::stream

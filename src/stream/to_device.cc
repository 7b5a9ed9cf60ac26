// SPDX-License-Identifier: Apache-2.0
#include "stream/to_device.h"

#include "device/devices.h"
#include "stream/device_stream.h"
#include "stream/pipeline.h"
#include "transfer/move.h"

namespace arrowdevice::stream {
namespace {

class MovedStream final : public DeviceStream {
 public:
  MovedStream(device::Device& to, const MoveOptions& options) : pipeline_(std::make_shared<Pipeline>(to, options)) {}
  ~MovedStream() override { pipeline_->close(); }

  void take(ArrowDeviceArrayStream& moved) noexcept { pipeline_->take(moved); }

  void schema(ArrowSchema* out) override { pipeline_->schema(out); }
  const char* metadata() const noexcept override { return pipeline_->metadata(); }
  bool next(ArrowDeviceArray* out, Metadata& metadata) override { return pipeline_->next(out, metadata); }
  void cancel() noexcept override { pipeline_->cancel(); }

 private:
  std::shared_ptr<Pipeline> pipeline_;
};

void check_queue_and_pool(const MoveOptions& options, const ArrowDeviceArrayStream& from, const device::Device& to) {
  auto means = options.copy;
  means.queue = options.queue.get();
  transfer::check_queue_and_pool(means, from.device_type, to);
}

}  // namespace

void to_device(ArrowDeviceArrayStream& moved, device::Device& to, const MoveOptions& options,
               ArrowDeviceArrayStream* out) {
  to.check_usable();
  check_queue_and_pool(options, moved, to);
  auto stream = std::make_unique<MovedStream>(to, options);
  auto& moving = *stream;
  Publication<ArrowDeviceArrayStream> publication(std::move(stream));
  moving.take(moved);
  publish_on(to.type(), publication, out);
}

void to_host(ArrowDeviceArrayStream& moved, const MoveOptions& options, ArrowArrayStream* out) {
  auto& cpu = device::Devices::instance().cpu();
  check_queue_and_pool(options, moved, cpu);
  auto stream = std::make_unique<MovedStream>(cpu, options);
  auto& moving = *stream;
  Publication<ArrowArrayStream> publication(std::move(stream));
  moving.take(moved);
  publication.publish(out);
}

}  // namespace arrowdevice::stream

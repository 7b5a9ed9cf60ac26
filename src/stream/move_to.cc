// SPDX-License-Identifier: Apache-2.0
#include "stream/move_to.h"

#include "array/move.h"
#include "device/devices.h"
#include "stream/device_stream.h"
#include "stream/pipeline.h"

namespace arrowdevice::stream {
namespace {

class MovedStream final : public DeviceStream {
 public:
  MovedStream(device::Device& to, const MoveOptions& options) : pipeline_(std::make_shared<Pipeline>(to, options)) {}
  ~MovedStream() override { pipeline_->close(); }

  void take(ArrowDeviceArrayStream& moved) noexcept { pipeline_->take(moved); }

  void schema(ArrowSchema* out) override { pipeline_->schema(out); }
  bool next(ArrowDeviceArray* out) override { return pipeline_->next(out); }
  void cancel() noexcept override { pipeline_->cancel(); }

 private:
  std::shared_ptr<Pipeline> pipeline_;
};

void check_means(const MoveOptions& options, const ArrowDeviceArrayStream& from, const device::Device& to) {
  auto means = options.copy;
  means.queue = options.queue.get();
  array::check_means(means, from.device_type, to);
}

}  // namespace

void move_to(ArrowDeviceArrayStream& moved, device::Device& to, const MoveOptions& options,
             ArrowDeviceArrayStream* out) {
  to.check_usable();
  check_means(options, moved, to);
  auto stream = std::make_unique<MovedStream>(to, options);
  auto& moving = *stream;
  Publication<ArrowDeviceArrayStream> publication(std::move(stream));
  moving.take(moved);
  publish_on(to.type(), publication, out);
}

void to_host(ArrowDeviceArrayStream& moved, const MoveOptions& options, ArrowArrayStream* out) {
  auto& cpu = device::Devices::instance().cpu();
  check_means(options, moved, cpu);
  auto stream = std::make_unique<MovedStream>(cpu, options);
  auto& moving = *stream;
  Publication<ArrowArrayStream> publication(std::move(stream));
  moving.take(moved);
  publication.publish(out);
}

}  // namespace arrowdevice::stream

// SPDX-License-Identifier: Apache-2.0
#include "transfer/copy_log.h"

#include "base/text.h"

namespace arrowdevice::transfer {
namespace {

const char* text_of(Way way) {
  switch (way) {
    case Way::kDirect: return "directly";
    case Way::kPinned: return "in pieces through pinned memory";
    case Way::kGathered: return "gathered in staging memory";
    case Way::kStaged: return "through host memory, because there is no direct path";
  }
  return "";
}

}  // namespace

void CopyLog::write(const Route& route, const PlacedBuffers& placed, const InFlight* in_flight,
                    bool is_pending) const noexcept {
  const double microseconds = std::chrono::duration<double, std::micro>(Clock::now() - begin_).count();
  log_detail([&] {
    return format("copy from %s to %s: %lld bytes in %zu buffers, %s, %.1f us%s", route.source().text().c_str(),
                  route.target().text().c_str(), static_cast<long long>(placed.device_bytes), placed.buffers.size(),
                  in_flight == nullptr ? "by the CPU" : text_of(in_flight->way), microseconds,
                  is_pending ? " until it was submitted" : "");
  });
}

void log_shared(const device::Device& source, const device::Device& target) noexcept {
  log_detail([&] { return format("move from %s to %s without a copy", source.text().c_str(), target.text().c_str()); });
}

}  // namespace arrowdevice::transfer

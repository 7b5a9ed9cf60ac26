// SPDX-License-Identifier: Apache-2.0
#include "transfer/copy_log.h"

#include <string>

#include "base/error.h"

namespace arrowdevice::transfer {
namespace {

constexpr const char* kInFlight = "copy in flight";

const char* text_of(Way way) {
  switch (way) {
    case Way::kDirect: return "directly";
    case Way::kPinned: return "in pieces through pinned memory";
    case Way::kGathered: return "gathered in staging memory";
    case Way::kStaged: return "through host memory";
  }
  return "";
}

}  // namespace

trace::Facts CopyLog::facts(const Route& route, const CopySize& size, const InFlight* in_flight, bool is_pending) {
  const std::string from = route.source().text();
  const std::string to = route.target().text();
  const std::string path = in_flight == nullptr ? "by the CPU" : text_of(in_flight->way);
  const std::string reason = in_flight == nullptr || in_flight->reason == nullptr ? "" : in_flight->reason;
  trace::Facts facts;
  facts.add("from", from).add("to", to).add("bytes", size.bytes);
  facts.add("buffers", size.buffers).add("path", path);
  if (!reason.empty()) facts.add("reason", reason);
  facts.add_flag("pending", is_pending);
  facts.log_as(format("copy from %s to %s: %lld bytes in %lld buffers, %s%s%s", from.c_str(), to.c_str(),
                      static_cast<long long>(size.bytes), static_cast<long long>(size.buffers), path.c_str(),
                      reason.empty() ? "" : ", because ", reason.c_str()),
               is_pending ? " until it was submitted" : "");
  return facts;
}

void MoveLog::moved(const device::Device& source, const device::Device& target) noexcept {
  span_.end([&] {
    const std::string from = source.text();
    const std::string to = target.text();
    trace::Facts facts;
    facts.add("from", from).add("to", to).log_as("move from " + from + " to " + to + " without a copy");
    return facts;
  });
}

void LaterWork::begin() noexcept { number_ = trace::begin_later("copy", kInFlight); }

void LaterWork::end() noexcept { trace::end_later("copy", kInFlight, number_); }

}  // namespace arrowdevice::transfer

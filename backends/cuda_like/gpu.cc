// SPDX-License-Identifier: Apache-2.0
#include "cuda_like/gpu.h"

#include <exception>

#include "base/log.h"

namespace arrowdevice::cuda_like {

namespace {

// Disables stream-ordered memory in a wrapped context. Such memory belongs to a GPU and not to a context, so locate()
// could not find it again.
Properties properties_in(Driver& driver, int ordinal, Context wrapped) {
  Properties properties = driver.properties(ordinal);
  if (wrapped != nullptr) properties.has_stream_ordered_memory = false;
  return properties;
}

}  // namespace

Gpu::Gpu(Driver& driver, int ordinal, Context wrapped)
    : driver_(driver),
      ordinal_(ordinal),
      wrapped_(wrapped),
      properties_(properties_in(driver, ordinal, wrapped)),
      context_(wrapped) {}

Context Gpu::context() {
  if (wrapped_ == nullptr) std::call_once(retained_, [this] { context_ = driver_.retain_context(ordinal_); });
  return context_;
}

std::string Gpu::text() const {
  return wrapped_ == nullptr ? format("GPU %d", ordinal_) : format("the context %p of GPU %d", wrapped_, ordinal_);
}

void Gpu::report_unreturned() const noexcept {
  try {
    throw;
  } catch (const Error& e) {
    if (driver_.has_shut_down(e.native_code())) return;
    log(LogLevel::kWarning, e.message());
  } catch (const std::exception& e) {
    log(LogLevel::kWarning, e.what());
  }
}

Stream Gpu::memory_stream() {
  const std::lock_guard lock(mutex_);
  if (memory_stream_ == nullptr) memory_stream_ = driver_.create_stream();
  return memory_stream_;
}

}  // namespace arrowdevice::cuda_like

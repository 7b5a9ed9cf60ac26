// SPDX-License-Identifier: Apache-2.0
#include "array/eventfd.h"

#include <sys/eventfd.h>

#include <cerrno>
#include <memory>
#include <system_error>
#include <utility>

#include "array/locate.h"
#include "base/error.h"
#include "base/file_descriptor.h"
#include "device/deferred.h"
#include "device/event.h"

namespace arrowdevice::array {
namespace {

FileDescriptor checked(FileDescriptor descriptor) {
  if (descriptor) return descriptor;
  const int code = errno;
  throw Error(code, "no file descriptor for an array's event: " + std::generic_category().message(code));
}

// Makes the descriptor readable. It is a duplicate, because the application may close its own at any time.
class Signal final : public device::Deferred {
 public:
  explicit Signal(int descriptor) : duplicate_(checked(FileDescriptor::duplicate_of(descriptor))) { is_awaited = true; }
  ~Signal() override {
    after.reset();  // the program may release the array as soon as it wakes
    eventfd_write(duplicate_.get(), 1);
  }

 private:
  const FileDescriptor duplicate_;
};

}  // namespace

int open_eventfd(const ArrowDeviceArray& array, device::Device* named) {
  check_alive(&array);
  auto event = device::ForeignEvent(device_of(array, named), array.sync_event).take();
  FileDescriptor descriptor = checked(FileDescriptor(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)));
  auto signal = std::make_unique<Signal>(descriptor.get());
  signal->after = std::move(event);
  device::DeferredWork::instance().defer(std::move(signal));
  return descriptor.release();
}

}  // namespace arrowdevice::array

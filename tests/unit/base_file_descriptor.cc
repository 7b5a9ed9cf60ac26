// SPDX-License-Identifier: Apache-2.0
// Tests owned file descriptors.
#include "base/file_descriptor.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <cerrno>
#include <string>

#include "support/catch.h"

namespace {

using arrowdevice::Error;
using arrowdevice::FileDescriptor;

TEST_CASE("a descriptor closes on exec after a request") {
  const FileDescriptor file(::memfd_create("test", 0));
  REQUIRE(::fcntl(file.get(), F_GETFD) == 0);
  file.close_on_exec("a file");
  CHECK(::fcntl(file.get(), F_GETFD) == FD_CLOEXEC);
}

TEST_CASE("a descriptor that is not open cannot close on exec, and the error names it") {
  try {
    FileDescriptor().close_on_exec("a file of a test");
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(error.code() == EBADF);
    CHECK(error.message() == "a file of a test does not close on exec: Bad file descriptor");
  }
}

}  // namespace

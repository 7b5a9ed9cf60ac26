// SPDX-License-Identifier: Apache-2.0
#include "ipc/file_reader.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <new>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/file_descriptor.h"
#include "ipc/stream_reader.h"

namespace arrowdevice::ipc {
namespace {

constexpr std::string_view kMagic = "ARROW1";
constexpr int64_t kFirstMessage = 8;  // in a file with a footer
constexpr int64_t kTail =
    sizeof(int32_t) + static_cast<int64_t>(kMagic.size());  // after the footer: its size, the magic

constexpr const char* kNoArrowFile = "it is no file of Arrow's IPC format";
constexpr uint32_t kLargestSchema = uint32_t{64} << 20;  // bytes, in an old stream; other files begin with any number

[[noreturn]] void fail_with_errno() { throw Error(errno, std::generic_category().message(errno)); }

struct ReadBytes final : HostBytes {
  explicit ReadBytes(int64_t n) {
    address = static_cast<uint8_t*>(::operator new(static_cast<size_t>(n), kAlignment));
    size = n;
  }
  ~ReadBytes() override { ::operator delete(address, kAlignment); }
  static constexpr std::align_val_t kAlignment{64};
};

// Reads the messages of a file in their order. The footer repeats the schema and has the positions of the messages,
// which random access needs.
class FileInput final : public Input {
 public:
  explicit FileInput(const char* path) : file_(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    if (!file_) fail_with_errno();
    struct stat status {};
    if (fstat(file_.get(), &status) != 0) fail_with_errno();
    if (!S_ISREG(status.st_mode)) throw Error(EINVAL, "it is not a regular file");
    end_ = status.st_size;
    find_messages();
  }

  std::shared_ptr<HostBytes> take(int64_t size) override {
    if (size < 0 || size > end_ - position_) throw Error(EINVAL, "it ends in a message");
    auto bytes = std::make_shared<ReadBytes>(size);
    read(bytes->address, size, position_);
    position_ += size;
    return bytes;
  }
  bool is_at_end() override { return position_ == end_; }

 private:
  void find_messages() {
    std::array<char, kMagic.size()> first{};
    if (end_ == 0) throw Error(EINVAL, "it is empty");
    if (end_ < std::ssize(kMagic)) throw Error(EINVAL, kNoArrowFile);
    read(first.data(), std::ssize(first), 0);
    const std::string_view start(first.data(), first.size());
    if (start.starts_with("PAR1")) throw Error(EINVAL, "it is a Parquet file (expected a file of Arrow's IPC format)");
    if (start.starts_with("FEA1")) throw Error(ENOTSUP, "it is a Feather file of version 1");
    if (start != kMagic) {
      uint32_t number = 0;  // a continuation, or the size of the schema
      std::memcpy(&number, first.data(), sizeof number);
      if (number != kContinuation && (number > end_ || number > kLargestSchema)) throw Error(EINVAL, kNoArrowFile);
      return;
    }
    int32_t footer = 0;
    if (end_ < kFirstMessage + kTail) throw Error(EINVAL, "it ends before its footer");
    read(first.data(), std::ssize(first), end_ - std::ssize(first));
    if (start != kMagic) throw Error(EINVAL, "it does not end with \"ARROW1\", so it was cut");
    read(&footer, sizeof footer, end_ - kTail);
    if (footer < 0 || footer > end_ - kFirstMessage - kTail) {
      throw Error(EINVAL, "its footer has " + std::to_string(footer) + " bytes");
    }
    position_ = kFirstMessage;
    end_ -= kTail + footer;
  }

  void read(void* to, int64_t size, int64_t position) const {
    auto* next = static_cast<char*>(to);
    while (size > 0) {
      const ssize_t done = pread(file_.get(), next, static_cast<size_t>(size), position);
      if (done < 0 && errno == EINTR) continue;
      if (done < 0) fail_with_errno();
      if (done == 0) throw Error(EINVAL, "it became shorter while it was read");
      next += done;
      position += done;
      size -= done;
    }
  }

  FileDescriptor file_;
  int64_t position_ = 0;
  int64_t end_ = 0;  // of the messages
};

// Calls `read`. Its errors get the path of the file.
template <typename Read>
auto with_path(const std::string& path, const Read& read) {
  try {
    return read();
  } catch (const Error& error) {
    throw Error(error.code(), path + ": " + error.message());
  } catch (const std::bad_alloc&) {
    throw Error(ENOMEM, path + ": there is no memory for a message");
  }
}

}  // namespace

FileReader::FileReader(std::string path) : path_(std::move(path)) {
  with_path(path_, [&] {
    input_ = std::make_unique<FileInput>(path_.c_str());
    reader_ = std::make_unique<StreamReader>(*input_);
  });
}

FileReader::~FileReader() = default;

const ArrowSchema& FileReader::schema() const noexcept { return reader_->schema(); }

bool FileReader::next(ArrowArray* out) {
  return with_path(path_, [&] { return reader_->next(out); });
}

}  // namespace arrowdevice::ipc

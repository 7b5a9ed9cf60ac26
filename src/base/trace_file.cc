// SPDX-License-Identifier: Apache-2.0
#include "base/trace_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include "base/environment.h"
#include "base/error.h"
#include "base/log.h"
#include "base/process.h"

namespace arrowdevice::trace {
namespace {

constexpr std::string_view kProcessId = "%p";

// Returns the name with the process id in place of each "%p".
std::string name_for_process(std::string name) {
  const std::string id = std::to_string(::getpid());
  for (size_t at = 0; (at = name.find(kProcessId, at)) != name.npos; at += id.size()) {
    name.replace(at, kProcessId.size(), id);
  }
  return name;
}

// Two processes with one environment must not mix their events. Children do not inherit such a lock.
bool is_locked_by_another(int file) noexcept {
  struct flock whole {};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  return ::fcntl(file, F_SETLK, &whole) != 0 && (errno == EACCES || errno == EAGAIN);
}

// Returns the failure of the last call of the system.
std::string failure_of(const char* what, const std::string& name) {
  return std::string("the trace file ") + name + " cannot be " + what + ": " + std::strerror(errno);
}

void log_failure(const std::string& failure) {
  if (!failure.empty()) log(LogLevel::kError, failure);
}

}  // namespace

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : utf8(text)) {
    if (static_cast<unsigned char>(c) < ' ') {
      out += format("\\u%04x", static_cast<unsigned>(c));
      continue;
    }
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

TraceFile& TraceFile::instance() {
  static auto* const file = [] {
    std::unique_ptr<TraceFile> made(new TraceFile);
    process::keep_usable_across_fork(made->mutex_);
    return made.release();
  }();
  return *file;
}

bool TraceFile::open() {
  auto pattern = environment::text("ARROWDEVICE_TRACE");
  if (!pattern) return false;
  log_failure(instance().open_once(std::move(*pattern)));
  return true;
}

std::string TraceFile::open_once(std::string pattern) {
  const std::lock_guard lock(mutex_);
  if (process_ != 0) return {};
  pattern_ = std::move(pattern);
  process::at_exit([] { instance().close(); });
  process::watch_exit();
  return open_here();
}

std::string TraceFile::open_here() {
  process_ = ::getpid();
  const std::string path = name_for_process(pattern_);
  file_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file_ < 0) return failure_of("opened", path);
  std::string failure = begin_array(path);
  if (!failure.empty()) ::close(std::exchange(file_, -1));
  return failure;
}

std::string TraceFile::begin_array(const std::string& path) {
  if (is_locked_by_another(file_)) {
    return "the trace file " + path + " is in use by another process; %p in its name stands for the process id";
  }
  // A pipe or a terminal has no length.
  if (::ftruncate(file_, 0) != 0 && errno != EINVAL) return failure_of("emptied", path);
  // Later events begin with a comma, so that the array is complete at any time but for its end.
  return append("[\n{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":" + std::to_string(process_) +
                ",\"args\":{\"name\":" + quoted(::program_invocation_short_name) + "}}");
}

// Writes at once, so that the events before a crash are in the file.
std::string TraceFile::append(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(file_, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<size_t>(written));
    } else if (errno != EINTR) {
      return failure_of("written", name_for_process(pattern_));
    }
  }
  return {};
}

std::string TraceFile::leave_parents_file() {
  if (file_ >= 0) ::close(std::exchange(file_, -1));
  if (pattern_.find(kProcessId) != pattern_.npos) return open_here();
  process_ = ::getpid();
  return {};
}

std::string TraceFile::write_here(std::string_view event) {
  std::string failure;
  if (process_ != ::getpid()) failure = leave_parents_file();
  if (file_ < 0) return failure;
  failure = append(",\n" + std::string(event));
  if (!failure.empty()) ::close(std::exchange(file_, -1));
  return failure;
}

void TraceFile::write(std::string_view event) {
  std::string failure;
  {
    const std::lock_guard lock(mutex_);
    failure = write_here(event);
  }
  log_failure(failure);
}

void TraceFile::close() {
  std::string failure;
  {
    const std::lock_guard lock(mutex_);
    if (file_ < 0) return;
    // A forked child leaves the end to its parent.
    if (process_ == ::getpid()) failure = append("\n]\n");
    ::close(std::exchange(file_, -1));
  }
  log_failure(failure);
}

}  // namespace arrowdevice::trace

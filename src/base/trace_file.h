// SPDX-License-Identifier: Apache-2.0
// The file that ARROWDEVICE_TRACE names: a JSON array of events in Chrome's trace event format.
#pragma once

#include <sys/types.h>

#include <mutex>
#include <string>
#include <string_view>

namespace arrowdevice::trace {

// Returns a text as a string of JSON.
std::string quoted(std::string_view text);

// Any thread may write. The array is closed when `exit` begins, and readers of the format accept an array that is not.
// A forked child has a file of its own if the name contains the process id, and else none.
class TraceFile {
 public:
  static TraceFile& instance();

  // Opens the file that the environment names. Returns false if it names none. A file that cannot be opened is logged.
  static bool open();

  // Writes an event. A failure is logged, and ends the file. Drops the event if there is no file.
  void write(std::string_view event);

  // Closes the array and the file.
  void close();

 private:
  TraceFile() = default;

  std::string open_once(std::string pattern);

  // These need the lock. They return the message of a failure, or an empty text.
  std::string open_here();
  std::string begin_array(const std::string& path);
  std::string append(std::string_view text);
  std::string leave_parents_file();
  std::string write_here(std::string_view event);

  std::mutex mutex_;  // guards all members below
  std::string pattern_;
  pid_t process_ = 0;  // that opened the file; 0: not tried yet
  int file_ = -1;
};

}  // namespace arrowdevice::trace

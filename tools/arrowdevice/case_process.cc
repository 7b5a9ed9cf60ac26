// SPDX-License-Identifier: Apache-2.0
#include "case_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include <arrowdevice/arrowdevice.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <thread>

#include "command.h"
#include "conformance/left_at_exit.h"
#include "names.h"

namespace arrowdevice::tool {
namespace {

using Clock = std::chrono::steady_clock;
using conformance::Outcome;

[[noreturn]] void fail(const std::string& what) { throw std::runtime_error(what + ": " + std::strerror(errno)); }

class Pipe {
 public:
  Pipe() {
    if (::pipe2(ends_.data(), O_CLOEXEC) != 0) fail("no pipe");
  }
  ~Pipe() {
    for (const int end : ends_) {
      if (end >= 0) ::close(end);
    }
  }
  Pipe(const Pipe&) = delete;
  int out() const { return ends_[0]; }
  int in() const { return ends_[1]; }
  void close_in() {
    ::close(ends_[1]);
    ends_[1] = -1;
  }

 private:
  std::array<int, 2> ends_{-1, -1};
};

// Reads all bytes before the deadline. Returns false at the end of the pipe or after the deadline.
bool read_all(int from, void* to, size_t size, Clock::time_point deadline, bool* late) {
  auto* next = static_cast<char*>(to);
  while (size > 0) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    pollfd wanted{from, POLLIN, 0};
    const int ready = left.count() <= 0 ? 0 : ::poll(&wanted, 1, static_cast<int>(left.count()));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) {
      *late = true;
      return false;
    }
    const ssize_t n = ::read(from, next, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    next += n;
    size -= static_cast<size_t>(n);
  }
  return true;
}

void write_all(int to, const void* from, size_t size) {
  const auto* next = static_cast<const char*>(from);
  while (size > 0) {
    const ssize_t n = ::write(to, next, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) fail("the report cannot be written");
    next += n;
    size -= static_cast<size_t>(n);
  }
}

// Writes a text after its length. Such processes send their results this way.
void say(int to, const std::string& text) {
  const uint64_t size = text.size();
  write_all(to, &size, sizeof size);
  write_all(to, text.data(), text.size());
}

// Runs this program again with other arguments.
class Process {
 public:
  Process(const char* command, const std::vector<std::string>& arguments, std::chrono::seconds patience)
      : patience_(patience) {
    std::vector<std::string> all{"arrowdevice", command, std::to_string(pipe_.in())};
    all.insert(all.end(), arguments.begin(), arguments.end());
    std::vector<char*> raw;
    for (std::string& argument : all) raw.push_back(argument.data());
    raw.push_back(nullptr);
    std::fflush(nullptr);
    child_ = ::fork();
    if (child_ < 0) fail("no process");
    if (child_ == 0) {
      ::fcntl(pipe_.in(), F_SETFD, 0);       // the only descriptor that the child inherits
      ::dup2(STDERR_FILENO, STDOUT_FILENO);  // separates a driver's output from the tool's output
      ::execv("/proc/self/exe", raw.data());
      ::_exit(127);
    }
    pipe_.close_in();
  }
  ~Process() {
    if (child_ < 0) return;
    is_late_ = true;
    end();
  }
  Process(const Process&) = delete;

  // Reads the next text. Returns false if there are no more texts, or if the text is late.
  bool hear(std::string* text) {
    const auto deadline = Clock::now() + patience_;
    uint64_t size = 0;
    if (!read_all(pipe_.out(), &size, sizeof size, deadline, &is_late_) || size > kLongestText) return false;
    text->resize(size);
    return read_all(pipe_.out(), text->data(), text->size(), deadline, &is_late_);
  }

  // Returns how the process ended, or an empty string on success. The caller calls it once, after the last text. Kills
  // a process that is late.
  std::string end() {
    const auto deadline = Clock::now() + patience_;
    int status = 0;
    if (is_late_) ::kill(child_, SIGKILL);
    // The process has closed its end of the pipe and has usually ended. This loop waits for it, with a time limit.
    for (pid_t ended = 0; ended != child_; ended = ::waitpid(child_, &status, is_late_ ? 0 : WNOHANG)) {
      if (ended < 0 && errno != EINTR) fail("the process is lost");
      if (ended == 0 && !is_late_ && Clock::now() >= deadline) {
        is_late_ = true;
        ::kill(child_, SIGKILL);
      }
      if (ended == 0 && !is_late_) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    child_ = -1;
    if (is_late_) return "it did not end within " + std::to_string(patience_.count()) + " seconds";
    if (WIFSIGNALED(status)) {
      const int number = WTERMSIG(status);
      return "it was ended by signal " + std::to_string(number) + " (" + ::strsignal(number) + ")";
    }
    if (WEXITSTATUS(status) != 0) return "it ended the process with exit code " + std::to_string(WEXITSTATUS(status));
    return "";
  }

 private:
  static constexpr uint64_t kLongestText = 1 << 20;

  const std::chrono::seconds patience_;
  Pipe pipe_;
  pid_t child_ = -1;
  bool is_late_ = false;
};

// Returns the name of the backend that a plugin registered.
std::string load(const std::string& path) {
  cpp::backend_load(path);
  for (const auto& report : cpp::backend_reports()) {
    if (report.status == 0 && path == report.path) return report.name;
  }
  throw std::runtime_error(path + " was loaded, and no backend says that it came from there");
}

std::vector<Subject> find_here(const std::vector<std::string>& names) {
  std::vector<Subject> subjects;
  std::vector<std::string> backends;
  for (const std::string& name : names) {
    if (name[0] == '/') {
      backends.push_back(load(name));
      continue;
    }
    try {
      const auto info = cpp::Device::find_by_name(name).info();
      subjects.push_back({name_of(info), info.backend, ""});
    } catch (const cpp::Exception& error) {
      subjects.push_back({name, error.backend(), error.what()});
    }
  }
  if (!names.empty() && backends.empty()) return subjects;
  for (const cpp::Device& device : cpp::Device::list()) {
    const auto info = device.info();
    if (names.empty() || std::find(backends.begin(), backends.end(), info.backend) != backends.end()) {
      subjects.push_back({name_of(info), info.backend, ""});
    }
  }
  for (const std::string& backend : backends) {
    const bool has_one = std::any_of(subjects.begin(), subjects.end(),
                                     [&](const Subject& subject) { return subject.backend == backend; });
    if (!has_one) subjects.push_back({backend, backend, "the backend has no device here"});
  }
  return subjects;
}

// Finds a device by name, including a type without a name, which the library cannot find by name.
cpp::Device device_named(const std::string& name) {
  try {
    return cpp::Device::find_by_name(name);
  } catch (const cpp::Exception&) {
    for (const cpp::Device& device : cpp::Device::list()) {
      if (name_of(device.info()) == name) return device;
    }
    throw;
  }
}

// Returns the descriptor to which such a process writes its results.
int listener(const std::vector<std::string>& arguments, const char* command) {
  if (arguments.empty()) throw UsageError(std::string(command) + " is for the tool itself");
  const int descriptor = std::stoi(arguments[0]);
  ::fcntl(descriptor, F_SETFD, FD_CLOEXEC);
  return descriptor;
}

}  // namespace

std::vector<Subject> find_subjects(const std::vector<std::string>& devices, const std::vector<std::string>& plugins,
                                   std::chrono::seconds patience) {
  std::vector<std::string> arguments = plugins;
  arguments.insert(arguments.end(), devices.begin(), devices.end());
  Process process(kFindSubjects, arguments, patience);
  std::vector<Subject> subjects;
  for (std::string device, backend, missing;
       process.hear(&device) && process.hear(&backend) && process.hear(&missing);) {
    if (!device.empty()) {
      subjects.push_back({device, backend, missing});
      continue;
    }
    if (!missing.empty()) throw std::runtime_error(missing);
    return subjects;  // all texts have arrived; the cases test how the process ends
  }
  const std::string end = process.end();
  throw std::runtime_error("the devices cannot be told: " + (end.empty() ? "it ended the process" : end));
}

int find_subjects_here(const std::vector<std::string>& arguments) {
  const int say_to = listener(arguments, kFindSubjects);
  std::string problem;
  try {
    for (const Subject& subject : find_here({arguments.begin() + 1, arguments.end()})) {
      for (const std::string* text : {&subject.device, &subject.backend, &subject.missing}) say(say_to, *text);
    }
  } catch (const std::exception& error) {
    problem = error.what();
  }
  for (const std::string& text : {std::string(), std::string(), problem}) say(say_to, text);
  return kSuccess;
}

CasesRun run_cases(const std::string& device, const std::vector<std::string>& plugins, const std::vector<size_t>& cases,
                   std::chrono::seconds patience,
                   const std::function<void(size_t, Outcome, const std::string&)>& done) {
  std::vector<std::string> arguments{device, std::to_string(plugins.size())};
  arguments.insert(arguments.end(), plugins.begin(), plugins.end());
  for (const size_t index : cases) arguments.push_back(std::to_string(index));
  Process process(kRunCases, arguments, patience);
  size_t ended = 0;
  std::string outcome, message;
  const bool is_open = process.hear(&message) && message.empty();
  while (is_open && ended < cases.size() && process.hear(&outcome) && process.hear(&message)) {
    done(cases[ended], static_cast<Outcome>(std::stoi(outcome)), message);
    ++ended;
  }
  if (ended == cases.size()) process.hear(&outcome);  // no text follows; waits for the end of the process
  std::string end = process.end();
  if (ended < cases.size() && end.empty()) end = is_open || message.empty() ? "it ended the process" : message;
  return {is_open, ended, end};
}

int run_cases_here(const std::vector<std::string>& arguments) {
  const int say_to = listener(arguments, kRunCases);
  const size_t cases_at = 3 + std::stoul(arguments.at(2));
  for (size_t i = 3; i < cases_at; ++i) cpp::backend_load(arguments.at(i));
  cpp::Device device;
  try {
    device = device_named(arguments[1]);
  } catch (const std::exception& error) {
    say(say_to, error.what());
    return kSuccess;
  }
  say(say_to, "");  // the device is open
  for (size_t i = cases_at; i < arguments.size(); ++i) {
    const conformance::Result result = conformance::run(conformance::cases()[std::stoul(arguments[i])], device.get());
    say(say_to, std::to_string(static_cast<int>(result.outcome)));
    say(say_to, result.message);
  }
  return kSuccess;
}

std::string end_with_things_left(const std::string& device, const std::vector<std::string>& plugins,
                                 std::chrono::seconds patience) {
  std::vector<std::string> arguments{device};
  arguments.insert(arguments.end(), plugins.begin(), plugins.end());
  Process process(kLeaveThings, arguments, patience);
  std::string problem;
  const bool was_heard = process.hear(&problem);
  const std::string end = process.end();
  return !end.empty() ? end : was_heard ? problem : "it ended the process";
}

int leave_things_here(const std::vector<std::string>& arguments) {
  const int say_to = listener(arguments, kLeaveThings);
  conformance::left_at_exit::release_last();
  for (size_t i = 2; i < arguments.size(); ++i) cpp::backend_load(arguments[i]);
  std::string problem;
  try {
    const cpp::Device device = device_named(arguments.at(1));
    conformance::left_at_exit::release_first();
    conformance::left_at_exit::leave(device.get());
  } catch (const std::exception& error) {
    problem = error.what();
  }
  say(say_to, problem);
  return kSuccess;
}

}  // namespace arrowdevice::tool

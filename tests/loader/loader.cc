// SPDX-License-Identifier: Apache-2.0
#include "loader.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <system_error>
#include <utility>

namespace loader_test {

std::string file_of(const std::string& plugin) { return "libarrowdevice-" + plugin + ".so"; }

Folder::Folder() {
  std::string name = (fs::temp_directory_path() / "arrowdevice-loader-XXXXXX").string();
  REQUIRE(mkdtemp(name.data()) != nullptr);
  path_ = fs::canonical(name);
}

Folder::~Folder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

Folder& Folder::with(const std::string& plugin, const std::string& as) {
  fs::copy_file(kPlugins / file_of(plugin), path_ / file_of(as.empty() ? plugin : as));
  return *this;
}

Folder& Folder::with_file(const std::string& name, const std::string& content) {
  std::ofstream(path_ / name) << content;
  return *this;
}

std::string Answer::text() const {
  std::string all;
  for (const auto& line : lines) all += line + "\n";
  return all;
}

std::string Answer::line(const std::string& begin) const {
  for (const auto& one : lines) {
    if (one.starts_with(begin)) return one;
  }
  return {};
}

std::vector<std::string> Answer::all(const std::string& begin) const {
  std::vector<std::string> found;
  for (const auto& one : lines) {
    if (one.starts_with(begin)) found.push_back(one);
  }
  return found;
}

Variables path_of(const std::string& folders) { return {{"ARROWDEVICE_BACKEND_PATH", folders}}; }

Answer ask(const std::vector<std::string>& commands, const Variables& variables, const Where& where) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  std::vector<std::string> arguments{where.program.string(), where.library.string()};
  arguments.insert(arguments.end(), commands.begin(), commands.end());
  std::vector<char*> pointers;
  for (auto& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    for (const char* name : {"ARROWDEVICE_BACKEND_PATH", "ARROWDEVICE_SIM_DEVICES", "ARROWDEVICE_LOG"}) unsetenv(name);
    for (const auto& [name, value] : variables) setenv(name.c_str(), value.c_str(), 1);
    dup2(ends[1], STDOUT_FILENO);
    if (where.user != 0 && setuid(where.user) != 0) _exit(127);
    if (chdir(where.folder.c_str()) == 0) execv(pointers[0], pointers.data());
    _exit(127);
  }
  REQUIRE(child > 0);
  close(ends[1]);
  std::string output;
  char chunk[4096];
  for (ssize_t n; (n = read(ends[0], chunk, sizeof chunk)) > 0;) output.append(chunk, static_cast<size_t>(n));
  close(ends[0]);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  Answer answer;
  size_t start = 0;
  for (size_t end; (end = output.find('\n', start)) != std::string::npos; start = end + 1) {
    answer.lines.push_back(output.substr(start, end - start));
  }
  INFO(output);
  REQUIRE(status == 0);
  return answer;
}

bool contains(const std::string& text, const std::string& part) {
  UNSCOPED_INFO("in \"" << text << "\"");
  return text.find(part) != std::string::npos;
}

std::string outcome(const std::string& command, int code) { return command + " -> " + std::to_string(code) + " "; }

std::string get(int type) { return "get=" + std::to_string(type); }

const std::vector<Broken>& broken_plugins() {
  static const std::vector<Broken> broken = [] {
    std::vector<Broken> all = {
        {"no_symbol", EINVAL, "exports no arrowdevice_backend_entry"},
        {"dependent", EINVAL, "exports no arrowdevice_backend_entry"},
        {"null", EINVAL, "returned NULL"},
        {"fails", ENODEV, "the driver of the test is not installed"},
        {"unterminated", EIO, "xxxxxxxx"},
        {"too_short", EINVAL, "its required functions alone take"},
        {"empty_table", EINVAL, "the table has 0 bytes"},
        {"half_a_function", EINVAL, "ends within a function"},
        {"other_abi", ENOTSUP, "the table has version 2, this library speaks 1"},
        {"no_types", EINVAL, "names 0 device types"},
        {"null_types", EINVAL, "device types"},
        {"null_name", EINVAL, "name"},
        {"wrong_name", EINVAL, "named other"},
        {"bad_name", EINVAL, "name"},
        {"long_name", EINVAL, "name"},
        {"no_name", EINVAL, "name"},
        {"unresolved", EINVAL, "arrowdevice_test_nowhere"},
    };
    // The order is that of the build file, in which these have numbers, because names have at most 15
    // letters.
    int number = 0;
    for (const char* function : {"device_count", "device_open", "device_get_info", "buffer_allocate", "buffer_free",
                                 "queue_create", "queue_destroy", "queue_copy", "event_record", "event_query",
                                 "event_wait", "queue_wait_event", "event_destroy"}) {
      all.push_back({"lacks_" + std::to_string(number++), EINVAL,
                     std::string("the required function ") + function + " is missing"});
    }
    number = 0;
    const std::pair<const char*, const char*> pairs[] = {{"sub_buffer_create", "sub_buffer_destroy"},
                                                         {"queue_wrap", "queue_get_native"},
                                                         {"device_wrap", "device_unwrap"}};
    for (const auto& [first, second] : pairs) {
      for (const char* half : {first, second}) {
        all.push_back({"half_" + std::to_string(number++), EINVAL,
                       std::string(first) + " and " + second + " come together, but only " + half + " is there"});
      }
    }
    return all;
  }();
  return broken;
}

}  // namespace loader_test

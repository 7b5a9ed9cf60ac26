// SPDX-License-Identifier: Apache-2.0
// Asks questions about finding and loading backends. Each question runs in its own process.
//
//   Folder folder;
//   folder.with("ok");
//   const Answer answer = ask({"get=60", "explain"}, path_of(folder.path().string()));
//   CHECK(answer.line("get=60 ->") == "get=60 -> 0 ");
#pragma once

#include <sys/types.h>

#include <cerrno>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "support/catch.h"

namespace loader_test {

namespace fs = std::filesystem;

inline const fs::path kPlugins = ARROWDEVICE_TEST_PLUGINS;
inline const fs::path kLibrary = ARROWDEVICE_TEST_LIBRARY;
inline constexpr int kTestType = 60;

std::string file_of(const std::string& plugin);

// A folder that is removed with the test.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  const fs::path& path() const { return path_; }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }

  // Adds a plugin under its own or another name.
  Folder& with(const std::string& plugin, const std::string& as = {});
  Folder& with_file(const std::string& name, const std::string& content);

 private:
  fs::path path_;
};

// The output of the probe.
struct Answer {
  std::vector<std::string> lines;

  std::string text() const;
  std::string line(const std::string& begin) const;  // first line with this beginning; empty if there is none
  std::vector<std::string> all(const std::string& begin) const;
};

using Variables = std::map<std::string, std::string>;

Variables path_of(const std::string& folders);

struct Where {
  fs::path library = kLibrary;
  fs::path folder = "/";  // the working folder
  fs::path program = ARROWDEVICE_TEST_PROBE;
  uid_t user = 0;  // if not 0, this user runs the probe
};

// Runs the probe. The library sees only `variables` of its environment.
Answer ask(const std::vector<std::string>& commands, const Variables& variables = {}, const Where& where = {});

bool contains(const std::string& text, const std::string& part);

// Returns the beginning of the line for a command that ended with that code. If the code is 0, this is the
// whole line.
std::string outcome(const std::string& command, int code);
std::string get(int type);

// A plugin that cannot be used.
struct Broken {
  std::string name;
  int code;
  std::string reason;
};
const std::vector<Broken>& broken_plugins();

}  // namespace loader_test

// SPDX-License-Identifier: Apache-2.0
// Questions about finding and loading backends, each put to a process of its own.
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

// A folder that goes with the test.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  const fs::path& path() const { return path_; }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }

  // One of the plugins, under its own or another name.
  Folder& with(const std::string& plugin, const std::string& as = {});
  Folder& with_file(const std::string& name, const std::string& content);

 private:
  fs::path path_;
};

// What the probe printed.
struct Answer {
  std::vector<std::string> lines;

  std::string text() const;
  std::string line(const std::string& begin) const;  // the first that begins so; empty if none does
  std::vector<std::string> all(const std::string& begin) const;
};

using Variables = std::map<std::string, std::string>;

Variables path_of(const std::string& folders);

struct Where {
  fs::path library = kLibrary;
  fs::path folder = "/";  // the working folder
  fs::path program = ARROWDEVICE_TEST_PROBE;
  uid_t user = 0;  // not 0: it is run by that user
};

// Runs the probe in an environment of which the library sees only `variables`.
Answer ask(const std::vector<std::string>& commands, const Variables& variables = {}, const Where& where = {});

bool contains(const std::string& text, const std::string& part);

// How the line of a command begins that ended with that code; all of the line if the code is 0.
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

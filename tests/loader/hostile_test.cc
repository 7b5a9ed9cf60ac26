// SPDX-License-Identifier: Apache-2.0
// Tests malicious or damaged plugins and environments.
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "loader.h"

namespace {

using namespace loader_test;  // NOLINT: what every line of these tests is written with

std::string bytes_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string ok_plugin() { return bytes_of(kPlugins / file_of("ok")); }

TEST_CASE("a plugin truncated at any length is refused or works, without a crash") {
  const std::string whole = ok_plugin();
  Folder folder;
  std::vector<std::string> commands;
  // The lengths are close to each other in the headers, and farther apart in code and data.
  for (size_t length = 0; length < whole.size(); length += length < 1024 ? 16 : 509) {
    const std::string below = std::to_string(length);
    fs::create_directory(folder.path() / below);
    folder.with_file(below + "/" + file_of("ok"), whole.substr(0, length));
    commands.push_back("load=" + folder / (below + "/" + file_of("ok")));
  }
  commands.emplace_back("list");
  const Answer answer = ask(commands);
  CHECK(answer.all("load -> ").size() == commands.size() - 1);
  CHECK(answer.line("list") == "list -> 0 ");
  CHECK(contains(answer.text(), "not whole"));
}

TEST_CASE("objects of another architecture and files that imitate objects are refused") {
  constexpr size_t kMachine = 18;  // offset of the machine number
  constexpr size_t kType = 16;
  std::string other = ok_plugin();
  other[kMachine] = static_cast<char>(other[kMachine] ^ 0x7F);
  std::string program = ok_plugin();
  program[kType] = 2;
  Folder folder;
  folder.with_file(file_of("ok"), other)
      .with_file(file_of("cuda"), program)
      .with_file(file_of("opencl"),
                 "\x7F"
                 "ELF");
  const Answer answer =
      ask({"load=" + folder / file_of("ok"), "load=" + folder / file_of("cuda"), "load=" + folder / file_of("opencl")});
  const auto loads = answer.all("load -> ");
  REQUIRE(loads.size() == 3);
  CHECK(contains(loads[0], "another architecture"));
  CHECK(contains(loads[1], "not a shared object"));
  CHECK(contains(loads[2], "not a shared object"));
}

TEST_CASE("a plugin whose entry calls the library loads, but cannot ask for itself") {
  Folder folder;
  folder.with("recurses").with("cuda");
  Variables variables = path_of(folder.path().string());
  variables["ARROWDEVICE_TEST_LIBRARY"] = kLibrary.string();
  const Answer answer = ask({get(kTestType), get(2)}, variables);
  CHECK_FALSE(answer.line("within: own -> ").empty());
  CHECK(answer.line("within: own -> ") != "within: own -> 0");
  CHECK(answer.line("within: another's -> ") == "within: another's -> 0");
  CHECK(answer.line("within: all -> ") == "within: all -> 0");
  CHECK(answer.line(get(kTestType) + " is") == get(kTestType) + " is of recurses");
  CHECK(answer.line(get(kTestType) + " ->") == outcome(get(kTestType), 0));
  CHECK(answer.line("get=2 ->") == "get=2 -> 0 ");
}

TEST_CASE("a plugin whose entry blocks delays only the callers that need it") {
  Folder folder;
  folder.with("blocks").with("cuda");
  const std::string gate = folder / "gate";
  REQUIRE(mkfifo(gate.c_str(), 0600) == 0);
  Variables variables = path_of(folder.path().string());
  variables["ARROWDEVICE_TEST_GATE"] = gate;
  const Answer answer = ask({"begin=" + std::to_string(kTestType), "meet=" + gate, get(2), get(1),
                             "fork=" + folder / file_of("blocks"), "part", "end", get(kTestType)},
                            variables);
  CHECK(answer.line("get=2 ->") == "get=2 -> 0 ");
  CHECK(answer.line("get=1 ->") == "get=1 -> 0 ");
  // The child has no thread that would finish the opening.
  CHECK(answer.line("in a child").starts_with(outcome("in a child", EBUSY)));
  CHECK(contains(answer.line("in a child"), "it was being opened when this process was forked"));
  CHECK(answer.line("other -> ") == "other -> 0");
  CHECK(answer.line(get(kTestType) + " is") == get(kTestType) + " is of blocks");
}

TEST_CASE("ARROWDEVICE_BACKEND_PATH may have any length and content") {
  Folder folder;
  folder.with("cuda");
  const std::string good = folder.path().string();
  std::string folders;
  while (folders.size() < 10'000) folders += "/nowhere/" + std::string(300, 'x') + ":";
  folders += ":relative:../up::" + good + "/../" + folder.path().filename().string() + ":\n:%s%n";
  const Answer answer = ask({get(2), "explain"}, path_of(folders));
  CHECK(answer.line("get=2 ->") == "get=2 -> 0 ");
  const std::string refused = std::to_string(EINVAL);
  CHECK(contains(answer.line("look " + refused + " [cuda] [relative]"), "absolute"));
  CHECK(contains(answer.line("look " + refused + " [cuda] [../up]"), "absolute"));
}

// Root can read every file, so another user runs the probe.
constexpr uid_t kNobody = 65534;

TEST_CASE("a plugin that cannot be read is refused with the reason") {
  Folder folder;
  folder.with("cuda").with("ok");
  REQUIRE(chmod((folder / file_of("cuda")).c_str(), 0) == 0);
  // The user "nobody" may have no access to the build folder, so the files are copied.
  REQUIRE(chmod(folder.path().c_str(), 0755) == 0);
  fs::copy_file(ARROWDEVICE_TEST_PROBE, folder.path() / "probe");
  fs::copy_file(kLibrary, folder.path() / "libarrowdevice.so.0");
  const Where where{.library = folder.path() / "libarrowdevice.so.0",
                    .folder = "/",
                    .program = folder.path() / "probe",
                    .user = geteuid() == 0 ? kNobody : 0};
  const Answer answer =
      ask({"load=" + folder / file_of("cuda"), get(2), get(kTestType)}, path_of(folder.path().string()), where);
  CHECK(contains(answer.line("load -> "), "Permission denied"));
  CHECK(answer.line("get=2 ->").starts_with(outcome("get=2", ENODEV)));
  CHECK(contains(answer.line("get=2 ->"), "Permission denied"));
  CHECK(answer.line(get(kTestType) + " ->") == outcome(get(kTestType), 0));
}

// Runs the probe with another user's rights, which only root can set. It is a separate Meson test, which is
// skipped for other users.
TEST_CASE("a set-user-ID program loads plugins from the compiled-in folder only", "[.setuid]") {
  Folder folder;
  struct statvfs mounted {};
  REQUIRE(statvfs(folder.path().c_str(), &mounted) == 0);
  if (geteuid() != 0 || (mounted.f_flag & ST_NOSUID) != 0) {
    constexpr char kReason[] = "only root can make a set-user-ID program, and where that has an effect";
    if (std::getenv("CI") != nullptr) FAIL(kReason);
    fs::remove_all(folder.path());
    std::fprintf(stderr, "skipped: %s\n", kReason);
    std::_Exit(77);
  }
  folder.with("cuda");
  chmod(folder.path().c_str(), 0755);
  fs::copy_file(ARROWDEVICE_TEST_PROBE, folder.path() / "probe");
  REQUIRE(chmod((folder / "probe").c_str(), 04755) == 0);
  const Variables variables = path_of(folder.path().string());
  CHECK(ask({get(2)}, variables).line("get=2 ->") == "get=2 -> 0 ");
  const Where where{.library = kLibrary, .folder = "/", .program = folder / "probe", .user = kNobody};
  const Answer answer = ask({"list", get(2), "explain", "opened"}, variables, where);
  CHECK(answer.line("list") == "list -> 0 ");
  CHECK(answer.line("get=2 ->").starts_with(outcome("get=2", ENODEV)));
  CHECK_FALSE(contains(answer.text(), folder.path().string()));
  CHECK(contains(answer.text(), ARROWDEVICE_TEST_COMPILED_IN));
}

}  // namespace

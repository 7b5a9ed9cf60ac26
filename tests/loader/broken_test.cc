// SPDX-License-Identifier: Apache-2.0
// Tests plugins that cannot be used, and plugins with defects that can still be used.
#include <sys/stat.h>

#include "loader.h"

namespace {

using namespace loader_test;  // NOLINT: what every line of these tests is written with

TEST_CASE("each unusable plugin is refused with its reason, and the report keeps it") {
  for (const Broken& broken : broken_plugins()) {
    const std::string path = (kPlugins / file_of(broken.name)).string();
    INFO(broken.name);
    const Answer answer = ask({"load=" + path, "explain", get(kTestType)});
    const std::string load = answer.line("load -> ");
    CHECK(load.starts_with(outcome("load", broken.code)));
    CHECK(contains(load, path));
    CHECK(contains(load, broken.reason));
    const std::string look =
        answer.line("look " + std::to_string(broken.code) + " [" + broken.name + "] [" + path + "]");
    CHECK(contains(look, broken.reason));
    CHECK(answer.line(get(kTestType)).starts_with(outcome(get(kTestType), ENOTSUP)));
  }
}

TEST_CASE("a file that is not a plugin is refused with the reason") {
  Folder folder;
  folder.with_file(file_of("text"), "This is no shared object.\n").with_file(file_of("empty"), "");
  fs::create_directory(folder / file_of("folder"));
  fs::create_symlink("nowhere", folder / file_of("dangling"));
  REQUIRE(mkfifo((folder / file_of("pipe")).c_str(), 0600) == 0);
  const auto load = [&](const std::string& name) { return ask({"load=" + folder / name}).line("load -> "); };
  CHECK(load(file_of("text")).starts_with(outcome("load", EINVAL)));
  CHECK(load(file_of("empty")).starts_with(outcome("load", EINVAL)));
  CHECK(contains(load(file_of("folder")), "a folder"));
  CHECK(load(file_of("dangling")).starts_with(outcome("load", ENOENT)));
  CHECK(contains(load(file_of("pipe")), "not a regular file"));
  CHECK(load(file_of("nowhere")).starts_with(outcome("load", ENOENT)));
  CHECK(load(file_of("text") + "/below").starts_with(outcome("load", EINVAL)));
}

TEST_CASE("a plugin under another file name is refused") {
  Folder folder;
  folder.with("ok", "renamed");
  fs::copy_file(kPlugins / file_of("ok"), folder / "plugin.so");
  CHECK(ask({"load=" + folder / file_of("renamed")}).line("load").starts_with(outcome("load", EINVAL)));
  CHECK(ask({"load=" + folder / "plugin.so"}).line("load").starts_with(outcome("load", EINVAL)));
}

TEST_CASE("only an absolute path is loaded") {
  Folder folder;
  folder.with("ok");
  const Where here{.library = kLibrary, .folder = folder.path()};
  for (const std::string& path : {file_of("ok"), "./" + file_of("ok"), std::string(), std::string("~/x.so")}) {
    const Answer answer = ask({"load=" + path, "opened"}, {}, here);
    CHECK(contains(answer.line("load"), "absolute path"));
    CHECK(answer.line("opened") == "opened.");
  }
}

TEST_CASE("a device with a wrong description is not opened, and others are") {
  for (const auto& [name, reason] :
       {std::pair<std::string, std::string>{"handles", "sub_buffer_create"}, {"odd_alignment", "alignment of 48"}}) {
    Folder folder;
    folder.with(name).with("cuda");
    const Answer answer = ask({get(kTestType), get(2), "list"}, path_of(folder.path().string()));
    CHECK(answer.line(get(kTestType)).starts_with(outcome(get(kTestType), EINVAL)));
    CHECK(contains(answer.line(get(kTestType)), reason));
    CHECK(answer.line("get=2 ->") == "get=2 -> 0 ");
    CHECK(answer.line("list") == "list -> 0 ");
    CHECK(answer.line("device 60:").empty());
  }
}

// -- plugins that can be used

TEST_CASE("a plugin that is loaded by its path drives its devices, once") {
  const std::string path = (kPlugins / file_of("ok")).string();
  const Answer answer = ask({get(kTestType), "load=" + path, get(kTestType), "load=" + path, "explain"});
  const auto gets = answer.all(get(kTestType) + " -> ");
  REQUIRE(gets.size() == 2);
  CHECK(gets[0].starts_with(outcome(get(kTestType), ENOTSUP)));  // no plugin served this type yet
  CHECK(gets[1] == outcome(get(kTestType), 0));
  const auto loads = answer.all("load -> ");
  REQUIRE(loads.size() == 2);
  CHECK(loads[0] == outcome("load", 0));
  CHECK(loads[1].starts_with(outcome("load", EEXIST)));
  CHECK(contains(answer.line("look 0 [ok] [" + path + "]"), "serves device type 60"));
}

TEST_CASE("older and newer tables work, and the library reads no further than their end") {
  for (const char* name : {"older", "newer"}) {
    INFO(name);
    const Answer answer = ask({"load=" + (kPlugins / file_of(name)).string(), get(kTestType), "list"});
    CHECK(answer.line("load") == outcome("load", 0));
    CHECK(answer.line(get(kTestType) + " is") == get(kTestType) + " is of " + name);
    CHECK(answer.line(get(kTestType) + " ->") == outcome(get(kTestType), 0));
    CHECK_FALSE(answer.line("device 60:0 of " + std::string(name)).empty());
  }
}

TEST_CASE("a plugin is loaded after broken ones") {
  std::vector<std::string> commands;
  for (const Broken& broken : broken_plugins())
    commands.push_back("load=" + (kPlugins / file_of(broken.name)).string());
  commands.push_back("load=" + (kPlugins / file_of("ok")).string());
  commands.push_back(get(kTestType));
  const Answer answer = ask(commands);
  CHECK(answer.all("load -> ").back() == outcome("load", 0));
  CHECK(answer.line(get(kTestType) + " ->") == outcome(get(kTestType), 0));
}

TEST_CASE("a working plugin is found among broken ones, which have their reasons") {
  Folder folder;
  for (const Broken& broken : broken_plugins()) {
    if (broken.name != "dependent") folder.with(broken.name);
  }
  folder.with_file(file_of("a_text"), "no shared object")
      .with_file("libarrowdevice-.so", "")
      .with_file("notes.txt", "");
  fs::create_directory(folder / file_of("b_folder"));
  folder.with("ok", "ok").with("cuda");
  const Answer answer = ask({"list", get(kTestType), get(2), "explain"}, path_of(folder.path().string()));
  CHECK(answer.line("list") == "list -> 0 ");
  CHECK(answer.line(get(kTestType) + " is") == get(kTestType) + " is of ok");
  CHECK(answer.line("get=2 is") == "get=2 is of cuda");
  for (const Broken& broken : broken_plugins()) {
    if (broken.name == "dependent") continue;
    INFO(broken.name);
    CHECK(contains(answer.line("look " + std::to_string(broken.code) + " [" + broken.name + "]"), broken.reason));
  }
  CHECK_FALSE(answer.line("look " + std::to_string(EINVAL) + " [a_text]").empty());
  CHECK(contains(answer.line("look " + std::to_string(EINVAL) + " [b_folder]"), "a folder"));
  CHECK_FALSE(contains(answer.text(), "notes.txt"));
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// Tests in which folders and in which order the library finds backends, and when it opens them.
#include "loader.h"

namespace {

using namespace loader_test;  // NOLINT: what every line of these tests is written with

// -- search order

// The library with a folder of plugins beside it, and another folder in the path.
struct BufferBounds {
  BufferBounds() : library(install.path() / kLibrary.filename()) {
    fs::copy_file(kLibrary, library);
    fs::create_directory(beside());
  }
  fs::path beside() const { return install.path() / ("arrowdevice-" ARROWDEVICE_TEST_ABI); }
  Answer ask(const std::vector<std::string>& commands, const Variables& more = {}) const {
    Variables variables = path_of(on_path.path().string());
    for (const auto& [name, value] : more) variables[name] = value;
    return loader_test::ask(commands, variables, {.library = library, .folder = "/"});
  }

  Folder install, on_path;
  fs::path library;
};

TEST_CASE("a backend is taken from the folder beside the library") {
  BufferBounds places;
  fs::copy_file(kPlugins / file_of("ok"), places.beside() / file_of("ok"));
  fs::copy_file(kPlugins / file_of("cuda"), places.beside() / file_of("cuda"));
  const Answer answer = places.ask({get(kTestType), get(2), "explain"});
  CHECK(answer.line(get(kTestType) + " ->") == outcome(get(kTestType), 0));
  CHECK(answer.line("get=2 ->") == "get=2 -> 0 ");
  CHECK_FALSE(answer.line("look 0 [ok] [" + (places.beside() / file_of("ok")).string() + "]").empty());
}

TEST_CASE("the folder beside the library is found through a link to it") {
  BufferBounds places;
  Folder links;
  fs::copy_file(kPlugins / file_of("cuda"), places.beside() / file_of("cuda"));
  fs::create_symlink(places.library, links / "libarrowdevice.so.0");
  const Answer answer = ask({get(2)}, {}, {.library = links / "libarrowdevice.so.0", .folder = "/"});
  CHECK(answer.line("get=2 ->") == "get=2 -> 0 ");
}

TEST_CASE("a loaded plugin precedes the path, and the path the library's folder") {
  BufferBounds places;
  const auto path = [&] { return (places.on_path.path() / file_of("cuda")).string(); };
  fs::copy_file(kPlugins / file_of("cuda"), places.beside() / file_of("cuda"));
  places.on_path.with("cuda");
  CHECK_FALSE(places.ask({get(2), "explain"}).line("look 0 [cuda] [" + path() + "]").empty());

  Folder given;
  given.with("cuda");
  const Answer loaded = places.ask({"load=" + given / file_of("cuda"), get(2), "explain"});
  CHECK(loaded.line("get=2 ->") == "get=2 -> 0 ");
  CHECK_FALSE(loaded.line("look 0 [cuda] [" + given / file_of("cuda") + "]").empty());
  CHECK_FALSE(contains(loaded.text(), path()));
}

TEST_CASE("a registered backend precedes every plugin") {
  BufferBounds places;
  places.on_path.with("ok");
  const Answer answer = places.ask({"register", get(kTestType), "opened", "explain"});
  CHECK(answer.line("register") == outcome("register", 0));
  CHECK(answer.line(get(kTestType) + " is") == get(kTestType) + " is of registered");
  CHECK(answer.line("opened") == "opened.");
  CHECK(contains(answer.line("look 0 [registered] []"), "serves device type 60"));
  const Answer loaded = places.ask({"register", "load=" + places.on_path / file_of("ok")});
  CHECK(loaded.line("load").starts_with(outcome("load", EEXIST)));
  const Answer late = places.ask({get(kTestType), "register"});
  CHECK(late.line("register").starts_with(outcome("register", EEXIST)));
}

TEST_CASE("folders of the path are searched in order, the compiled-in folder last") {
  BufferBounds places;
  Folder second;
  places.on_path.with("no_types", "cuda");  // its table has another name, so it is refused
  second.with("cuda");
  const std::string both = places.on_path.path().string() + ":" + second.path().string();
  const Answer answer = places.ask({get(2), get(4), "explain"}, {{"ARROWDEVICE_BACKEND_PATH", both}});
  CHECK(answer.line("get=2 ->") == "get=2 -> 0 ");
  std::vector<std::string> looks;
  for (const std::string& line : answer.all("look ")) {
    if (contains(line, "[cuda]")) looks.push_back(line);
  }
  REQUIRE(looks.size() == 2);
  CHECK(contains(looks[0], places.on_path.path().string()));
  CHECK(contains(looks[1], second.path().string()));
  looks.clear();
  for (const std::string& line : answer.all("look ")) {
    if (contains(line, "[opencl]")) looks.push_back(line);
  }
  REQUIRE(looks.size() == 4);
  CHECK(contains(looks[0], places.on_path.path().string()));
  CHECK(contains(looks[1], second.path().string()));
  CHECK(contains(looks[2], places.beside().string()));
  CHECK(contains(looks[3], ARROWDEVICE_TEST_COMPILED_IN));
}

TEST_CASE("relative folders of the path are refused and not searched") {
  Folder folder;
  folder.with("cuda");
  fs::create_directory(folder / "below");
  fs::copy_file(kPlugins / file_of("cuda"), folder / ("below/" + file_of("cuda")));
  const Where here{.library = kLibrary, .folder = folder.path()};
  const Answer answer = ask({get(2), "opened", "explain"}, path_of(".:below:./below:"), here);
  CHECK(answer.line("get=2 ->").starts_with(outcome("get=2", ENODEV)));
  CHECK(answer.line("opened") == "opened.");
  for (const char* relative : {".", "below", "./below"}) {
    CHECK(contains(answer.line("look " + std::to_string(EINVAL) + " [cuda] [" + relative + "]"),
                   "absolute folders only"));
  }
}

TEST_CASE("neither the working folder nor the home folder is searched") {
  Folder folder;
  folder.with("cuda");
  const Answer answer = ask({get(2), "list", "opened", "explain"},
                            {{"HOME", folder.path().string()}, {"LD_LIBRARY_PATH", folder.path().string()}},
                            {.library = kLibrary, .folder = folder.path()});
  CHECK(answer.line("get=2 ->").starts_with(outcome("get=2", ENODEV)));
  CHECK(answer.line("opened") == "opened.");
  CHECK_FALSE(contains(answer.text(), folder.path().string()));
}

TEST_CASE("missing folders of the path are ignored") {
  const Answer answer = ask({get(2), "list", "explain"}, path_of("/nonexistent/a:/nonexistent/b"));
  CHECK(answer.line("get=2 ->").starts_with(outcome("get=2", ENODEV)));
  CHECK(contains(answer.line("get=2 ->"), "/nonexistent/a"));
  CHECK(answer.line("list") == "list -> 0 ");
  CHECK_FALSE(
      answer.line("look " + std::to_string(ENOENT) + " [cuda] [/nonexistent/a/" + file_of("cuda") + "]").empty());
}

// -- time of opening

TEST_CASE("loading the library and using the CPU opens no plugin") {
  Folder folder;
  folder.with("ok").with("cuda").with("opencl");
  const Answer answer = ask({"opened", get(1), "count=1", "opened", "explain"}, path_of(folder.path().string()));
  const auto opened = answer.all("opened");
  REQUIRE(opened.size() == 2);
  CHECK(opened[0] == "opened.");
  CHECK(opened[1] == "opened.");
  CHECK(answer.line("count=1 is") == "count=1 is 1");
  CHECK(answer.all("look ").size() == 1);  // the CPU's own entry
}

TEST_CASE("a known device type opens only its own plugin") {
  Folder folder;
  folder.with("ok").with("cuda").with("opencl");
  const Answer answer = ask({"count=2", "opened", get(4), "opened", "list", "opened"}, path_of(folder.path().string()));
  const auto opened = answer.all("opened");
  REQUIRE(opened.size() == 3);
  CHECK(opened[0] == "opened cuda.so.");
  CHECK(contains(opened[1], "opencl.so"));
  CHECK_FALSE(contains(opened[1], "ok.so"));
  CHECK(contains(opened[2], "ok.so"));
  CHECK(answer.all("device ").size() == 4);
}

TEST_CASE("the library asks every plugin for an unknown or missing device type") {
  Folder folder;
  folder.with("cuda").with("ok");
  const Answer unknown = ask({get(kTestType)}, path_of(folder.path().string()));
  CHECK(unknown.line(get(kTestType) + " is") == get(kTestType) + " is of ok");
  const Answer nobody = ask({"count=61", get(61), "count=4", get(4), "explain"}, path_of(folder.path().string()));
  CHECK(nobody.line("count=61 ->").starts_with(outcome("count=61", ENOTSUP)));
  CHECK(nobody.line("get=61 ->").starts_with(outcome("get=61", ENOTSUP)));
  CHECK(nobody.line("count=4 is") == "count=4 is 0");
  CHECK(nobody.line("get=4 ->").starts_with(outcome("get=4", ENODEV)));
}

TEST_CASE("every search step is reported once, in order, with its outcome") {
  Folder folder;
  folder.with("fails", "cuda").with("ok");
  const Answer answer =
      ask({get(2), get(2), "list", "list", get(kTestType), "explain"}, path_of(folder.path().string()));
  CHECK(contains(answer.line("get=2 ->"), "the driver of the test is not installed"));
  const auto looks = answer.all("look ");
  CHECK(contains(looks[0], "look 0 [cpu] []"));
  int of_cuda = 0, of_ok = 0;
  for (const std::string& look : looks) {
    if (contains(look, "[" + folder / file_of("cuda") + "]")) {
      ++of_cuda;
      CHECK(look.starts_with("look " + std::to_string(ENODEV) + " [cuda]"));
    }
    if (contains(look, "[" + folder / file_of("ok") + "]")) {
      ++of_ok;
      CHECK(look.starts_with("look 0 [ok]"));
    }
  }
  CHECK(of_cuda == 1);
  CHECK(of_ok == 1);
}

TEST_CASE("a plugin that the program loads after a failed search serves its devices") {
  Folder folder;
  folder.with("cuda");
  const Answer answer = ask({get(2), "load=" + folder / file_of("cuda"), get(2)});
  const auto gets = answer.all("get=2 -> ");
  REQUIRE(gets.size() == 2);
  CHECK(gets[0].starts_with(outcome("get=2", ENODEV)));
  CHECK(gets[1] == outcome("get=2", 0));
}

// -- two copies of a backend

// Checks the report line of the second copy, and the number of lines that name it.
void check_second_copy(const Answer& answer, const std::string& first, const std::string& second) {
  const std::string reason = "a backend named ok is there already: " + first;
  CHECK(contains(answer.line("look 0 [ok] [" + first + "]"), "serves device type 60"));
  CHECK(contains(answer.line("look " + std::to_string(EEXIST) + " [ok] [" + second + "]"), reason));
  size_t of_second = 0;
  for (const std::string& look : answer.all("look ")) of_second += look.find("[" + second + "]") != look.npos;
  CHECK(of_second == 1);
  CHECK(answer.all("device 60:").size() == 1);  // no device is listed twice
}

TEST_CASE("the first copy of a backend serves, and the second is refused with its path") {
  Folder a, b;
  a.with("ok");
  b.with("ok");
  const std::string first = a / file_of("ok"), second = b / file_of("ok");
  const Variables both = path_of(a.path().string() + ":" + b.path().string());

  const Answer found = ask({get(kTestType), "load=" + second, get(kTestType), "list", "explain"}, both);
  CHECK(found.all(get(kTestType) + " -> ") == std::vector(2, outcome(get(kTestType), 0)));
  CHECK(found.line("load").starts_with(outcome("load", EEXIST)));
  CHECK(contains(found.line("load"), second + ": a backend named ok is there already: " + first));
  check_second_copy(found, first, second);

  // A second load has no effect.
  const Answer again =
      ask({get(kTestType), "load=" + second, "load=" + second, "load=" + first, "list", "explain"}, both);
  CHECK(again.all("load -> ").size() == 3);
  for (const std::string& load : again.all("load -> ")) CHECK(load.starts_with(outcome("load", EEXIST)));
  check_second_copy(again, first, second);
}

TEST_CASE("a copy loaded by its own path serves, and copies on the path are refused") {
  Folder a, b;
  a.with("ok");
  b.with("ok");
  const std::string of_path = a / file_of("ok"), given = b / file_of("ok");
  const Answer answer = ask({"load=" + given, get(kTestType), "list", "explain"}, path_of(a.path().string()));
  CHECK(answer.line("load") == outcome("load", 0));
  CHECK(answer.line(get(kTestType) + " ->") == outcome(get(kTestType), 0));
  check_second_copy(answer, given, of_path);

  // Loads both by their paths, without a search path.
  const Answer loaded = ask({"load=" + of_path, "load=" + given, get(kTestType), "list", "explain"});
  const auto loads = loaded.all("load -> ");
  REQUIRE(loads.size() == 2);
  CHECK(loads[0] == outcome("load", 0));
  CHECK(loads[1].starts_with(outcome("load", EEXIST)));
  CHECK(loaded.line(get(kTestType) + " ->") == outcome(get(kTestType), 0));
  check_second_copy(loaded, of_path, given);
}

TEST_CASE("the copy in the first folder of the path serves, even if all are listed") {
  Folder a, b;
  a.with("ok");
  b.with("ok");
  const std::string first = a / file_of("ok"), second = b / file_of("ok");
  const Answer answer = ask({"list", get(kTestType), "explain"}, path_of(a.path().string() + ":" + b.path().string()));
  CHECK(answer.line("list") == "list -> 0 ");
  CHECK(answer.line(get(kTestType) + " ->") == outcome(get(kTestType), 0));
  check_second_copy(answer, first, second);
}

#ifdef ARROWDEVICE_TEST_SIM
TEST_CASE("the simulated backend is used only if ARROWDEVICE_SIM_DEVICES is set") {
  const std::string sim = ARROWDEVICE_TEST_SIM;
  const std::string folder = fs::path(sim).parent_path().string();
  const Answer unasked = ask({get(12), "count=12", "list", "opened", "explain"}, path_of(folder));
  CHECK(unasked.line("get=12 ->").starts_with(outcome("get=12", ENODEV)));
  CHECK(contains(unasked.line("get=12 ->"), "ARROWDEVICE_SIM_DEVICES"));
  CHECK(unasked.line("count=12 is") == "count=12 is 0");
  CHECK(unasked.line("opened") == "opened.");
  CHECK(unasked.line("device 12:").empty());
  CHECK(
      contains(unasked.line("look " + std::to_string(ECANCELED) + " [sim] [" + sim + "]"), "ARROWDEVICE_SIM_DEVICES"));

  Variables asked = path_of(folder);
  asked["ARROWDEVICE_SIM_DEVICES"] = "addresses,handles";
  const Answer answer = ask({get(12), "count=12", "opened"}, asked);
  CHECK(answer.line("get=12 ->") == "get=12 -> 0 ");
  CHECK(answer.line("count=12 is") == "count=12 is 2");
  CHECK(answer.line("opened") == "opened sim.so.");

  const Answer by_path = ask({"load=" + sim, get(12)});
  CHECK(by_path.line("get=12 ->") == "get=12 -> 0 ");

  Variables wrong = path_of(folder);
  wrong["ARROWDEVICE_SIM_DEVICES"] = "adresses";
  CHECK(contains(ask({get(12)}, wrong).line("get=12 ->"), "adresses"));
}
#endif

}  // namespace

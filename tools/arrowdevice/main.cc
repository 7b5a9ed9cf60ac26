// SPDX-License-Identifier: Apache-2.0
#include <arrowdevice/arrowdevice.hpp>

#include <array>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "case_process.h"
#include "command.h"

namespace arrowdevice::tool {
namespace {

struct Command {
  const char* name;
  const char* summary;
  const char* help;
  int (*run)(const std::vector<std::string>& arguments);
};

constexpr std::array kCommands{
    Command{"list", "the devices of this machine",
            "Usage: arrowdevice list [--json]\n"
            "\n"
            "Lists the devices of every backend that loads: type, id, name, memory, backend, whether their\n"
            "buffers are addresses or handles, and whether the CPU reads and writes their memory in place.\n"
            "`TYPE:ID` is what other programs call a device by.\n"
            "\n"
            "  --json  one JSON object, sizes in bytes, for scripts\n"
            "  --help  this text\n"
            "\n"
            "Exit code: 0 listed, 1 the library failed, 2 wrong usage.\n",
            list},
    Command{"bench", "how fast arrays get from device to device",
            "Usage: arrowdevice bench [--json] [--mib=N] [DEVICE]...\n"
            "\n"
            "Copies an array of N MiB (64 unless said otherwise) and one of a few bytes from each of the\n"
            "devices to each, and prints GB/s and microseconds: medians of warm copies, waited for, and\n"
            "verified. Without DEVICE (cuda:1), all that there are.\n"
            "\n"
            "  --json   one JSON object, for scripts\n"
            "  --mib=N  the size of the large array\n"
            "  --help   this text\n"
            "\n"
            "Exit code: 0 all copies arrived, 1 some did not, or the library failed; 2 wrong usage.\n",
            bench},
    Command{"check", "whether a backend does what every backend must",
            "Usage: arrowdevice check [OPTION...] [DEVICE | /PATH/OF/PLUGIN.so]...\n"
            "\n"
            "Runs the conformance suite on the devices that are named (cuda:1), on those of the plugins that are\n"
            "named by an absolute path, or on all that there are. The cases run in another process: one that\n"
            "crashes or hangs has failed, and the rest goes on. What a device does not have is unsupported.\n"
            "\n"
            "  --list            the names of the cases; nothing is run\n"
            "  --only=TEXT       only cases with TEXT in their name; may be repeated\n"
            "  --require-device  a device that is not there is a failure\n"
            "  --known=FILE      what is known of a backend already, one line a case:\n"
            "                      BACKEND | unsupported | CASE | REASON\n"
            "                      BACKEND | expected to fail | CASE | REASON\n"
            "                    the latter is a failure when it passes; may be repeated\n"
            "  --timeout=N       seconds that a case may take, 120 unless said otherwise\n"
            "  --json            one JSON object, for scripts\n"
            "  --help            this text\n"
            "\n"
            "Exit code: 0 nothing failed, 1 something did, or the library failed; 2 wrong usage.\n",
            check},
    Command{"explain", "why a device or backend is there, or is not",
            "Usage: arrowdevice explain [NAME]\n"
            "\n"
            "Tells every place that was looked at for backends, in the order of looking, and why it was not\n"
            "used.\n"
            "NAME is a device type (cuda), a device (cuda:1) or a backend (sim): then only what was looked at\n"
            "for it, and whether it can be used.\n"
            "\n"
            "  --help  this text\n"
            "\n"
            "Exit code: 0 told, and NAME can be used; 1 it cannot, or the library failed; 2 wrong usage.\n",
            explain},
};

void print_usage(std::FILE* to) {
  std::fputs("Usage: arrowdevice COMMAND [OPTION...]\n\nCommands:\n", to);
  for (const Command& command : kCommands) std::fprintf(to, "  %-9s %s\n", command.name, command.summary);
  std::fputs(
      "\n"
      "  --version  the version of the library\n"
      "  --help     this text; after a command: its help\n"
      "\n"
      "Exit code: 0 success, 1 failure, 2 wrong usage.\n"
      "Colour is for terminals, and for them too only where NO_COLOR is not set.\n",
      to);
}

bool is_help(std::string_view argument) { return argument == "--help" || argument == "-h"; }

int run(const std::vector<std::string>& arguments) {
  if (arguments.empty()) {
    print_usage(stderr);
    return kUsage;
  }
  const std::string& first = arguments.front();
  if (is_help(first)) {
    print_usage(stdout);
    return kSuccess;
  }
  if (first == "--version") {
    if (arguments.size() > 1) throw UsageError("--version stands alone");
    std::printf("arrowdevice %s\n", arrowdevice_version());
    return kSuccess;
  }
  const std::vector<std::string> rest(arguments.begin() + 1, arguments.end());
  if (first == kFindSubjects) return find_subjects_here(rest);
  if (first == kRunCases) return run_cases_here(rest);
  if (first == kLeaveThings) return leave_things_here(rest);
  for (const Command& command : kCommands) {
    if (first != command.name) continue;
    for (const std::string& argument : rest) {
      if (is_help(argument)) {
        std::fputs(command.help, stdout);
        return kSuccess;
      }
    }
    return command.run(rest);
  }
  throw UsageError("there is no command \"" + first + "\"");
}

int guarded_run(const std::vector<std::string>& arguments) {
  try {
    const int code = run(arguments);
    // A full disk or a closed pipe must not look like success.
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
      std::perror("arrowdevice: standard output");
      return kFailure;
    }
    return code;
  } catch (const UsageError& error) {
    std::fprintf(stderr, "arrowdevice: %s\nTry: arrowdevice --help\n", error.what());
    return kUsage;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "arrowdevice: %s\n", error.what());
    return kFailure;
  }
}

}  // namespace
}  // namespace arrowdevice::tool

int main(int argc, char** argv) {
  return arrowdevice::tool::guarded_run(std::vector<std::string>(argv + (argc > 0 ? 1 : 0), argv + argc));
}

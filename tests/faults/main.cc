// SPDX-License-Identifier: Apache-2.0
// Plays the catalogue of operations with an injector: faults calls|losses|allocations|driver FOLDER PLUGIN
// [WORD | PART/PARTS]
//
// FOLDER has the C headers. Each function in them must have an operation. PLUGIN is the absolute path of the
// simulation as a plugin. With a WORD, only operations run whose name contains it. With 2/3, every third
// operation runs, from the second on. The outcomes go to $ARROWDEVICE_TEST_REPORT like those of Catch2
// programs.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <regex>
#include <set>
#include <sstream>

#include "faults/injector.h"
#include "faults/scene.h"

namespace faults {
namespace {

Operations all_operations() {
  Operations operations;
  for (auto* const add : {add_arrays, add_async, add_backends, add_bytes, add_copies, add_devices, add_exports,
                          add_handles, add_links, add_streams, add_tensors, add_views}) {
    add(operations);
  }
  return operations;
}

// Reads the functions of all headers, without "arrowdevice_".
std::set<std::string> functions_of(const char* folder) {
  const std::regex declaration(R"(ARROWDEVICE_API\s[^;(]*?\barrowdevice_(\w+)\()");
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".h") continue;
    std::ifstream file(entry.path());
    const std::string text(std::istreambuf_iterator<char>(file), {});
    for (std::sregex_iterator at(text.begin(), text.end(), declaration), end; at != end; ++at) names.insert((*at)[1]);
  }
  return names;
}

bool has_all(const std::set<std::string>& functions, const Operations& operations) {
  auto missing = functions;
  bool is_known = true;
  for (const auto& operation : operations) {
    missing.erase(operation.function);
    if (functions.contains(operation.function)) continue;
    std::fprintf(stderr, "no header declares %s\n", operation.function.c_str());
    is_known = false;
  }
  for (const auto& name : missing) std::fprintf(stderr, "there is no operation of %s\n", name.c_str());
  return is_known && missing.empty() && functions.size() > 60;
}

// Calls of the backend that must fail in operations of a function. A call that is missing here may have become
// unnecessary, or no operation needs it any more.
constexpr struct {
  const char* function;
  const char* calls;
} kReached[] = {
    {"array_copy",
     "buffer_allocate queue_create queue_copy event_record event_wait event_query queue_wait_event "
     "event_publish event_import sub_buffer_create device_locate device_get_peer_flags "
     "pointer_get_info event lost"},
    {"array_to_device", "buffer_allocate queue_copy event_record event_wait event_import event lost"},
    {"array_to_host", "queue_copy event_record event_wait event_import event lost"},
    {"array_to_host_async", "queue_copy event_record event_wait event_import event lost"},
    {"array_open_eventfd", "event_import"},
    {"array_import",
     "event_import queue_wait_event event_wait queue_copy event_record queue_create pointer_get_info "
     "event lost device_locate"},
    {"array_release_after", "event_record event lost event_query"},
    {"view_release_after", "event_record event lost event_query"},
    {"array_export", "event_record event_publish event_wait event lost"},
    {"queue_wait_array", "event_import queue_wait_event lost"},
    {"array_wait", "event_wait"},
    {"array_is_ready", "event_query"},
    {"buffer_allocate", "buffer_allocate"},
    {"buffer_free", "event_record event lost"},
    {"queue_copy", "queue_copy event_record event_wait event lost"},
    {"sub_buffer_create", "sub_buffer_create"},
    {"queue_create", "queue_create"},
    {"queue_get_native", "queue_get_native"},
    {"queue_wrap", "queue_wrap"},
    {"pool_create", "device_get_memory_info buffer_allocate"},
    {"device_get_native", "device_get_native"},
    {"device_get_peer_flags", "device_get_peer_flags"},
    {"device_get_memory_info", "device_get_memory_info"},
    {"device_wrap", "device_wrap device_get_info"},
    {"device_unwrap", "device_unwrap"},
    {"device_find_by_id", "device_count device_open device_get_info"},
    {"dlpack_export", "event_import event_wait queue_wait_event queue_copy event_record event lost device_locate"},
    {"dlpack_import", "device_locate event_record event_publish event_wait event lost"},
    {"stream_get_next",
     "buffer_allocate queue_create queue_copy event_record event_wait event_publish event_import "
     "sub_buffer_create event lost"},
    {"stream_to_host", "queue_create queue_copy event_record event_wait event lost"},
    {"async_to_device",
     "buffer_allocate queue_create queue_copy event_record event_wait event_publish event_import "
     "sub_buffer_create event lost"},
};

using Kinds = std::map<std::string, std::set<std::string>>;  // of failure, for each function

bool has_reached_all(const Kinds& reached) {
  bool has_all = true;
  for (const auto& [function, calls] : kReached) {
    std::istringstream names(calls);
    for (std::string name; names >> name;) {
      if (reached.contains(function) && reached.at(function).contains(name)) continue;
      std::fprintf(stderr, "no operation of %s meets the failure of %s\n", function, name.c_str());
      has_all = false;
    }
  }
  return has_all;
}

class Report {
 public:
  void add(bool is_well, const std::string& name) {
    if (file_ != nullptr) std::fprintf(file_, "%s %s\n", is_well ? "passed" : "failed", name.c_str());
    if (file_ != nullptr) std::fflush(file_);
    if (!is_well) std::fprintf(stderr, "FAILED: %s\n", name.c_str());
    failed_ += !is_well;
  }
  int64_t failed() const { return failed_; }

 private:
  static std::FILE* open() {
    const char* const path = std::getenv("ARROWDEVICE_TEST_REPORT");
    return path != nullptr ? std::fopen(path, "we") : nullptr;
  }

  std::FILE* const file_ = open();
  int64_t failed_ = 0;
};

// The operations that run: those with a word in their name, one of several parts, or a random part.
struct Selection {
  std::string word;
  size_t part = 1;
  size_t parts = 1;

  explicit Selection(const char* text) {
    if (std::sscanf(text, "random/%zu", &parts) == 1 && parts > 0) {
      part = 1 + std::random_device()() % parts;
      std::printf("part %zu/%zu, chosen at random\n", part, parts);
    } else if (std::sscanf(text, "%zu/%zu", &part, &parts) != 2) {
      word = text;
    }
  }
  bool has(size_t place, const std::string& name) const {
    return (place + 1) % parts == part % parts && name.find(word) != std::string::npos;
  }
  bool has_all() const { return parts == 1 && word.empty(); }
};

int play_all(Injector& injector, const char* folder, const char* plugin, const Selection& selection) {
  Rows::prepare();
  const auto operations = all_operations();
  Report report;
  Kinds kinds;
  int64_t all = 0;
  size_t place = 0;
  for (const auto& operation : operations) {
    if (!injector.plays(operation) || !selection.has(place++, operation.name())) continue;
    const Outcome outcome = injector.play(operation, plugin);
    report.add(outcome.is_well, operation.name());
    std::printf("%s: %lld:%s\n", operation.name().c_str(), static_cast<long long>(outcome.failures),
                outcome.text.c_str());
    std::fflush(stdout);
    all += outcome.failures;
    kinds[operation.function].insert(outcome.kinds.begin(), outcome.kinds.end());
  }
  report.add(has_all(functions_of(folder), operations), "every function of the headers has an operation");
  if (injector.id() == kCalls && selection.has_all()) {
    report.add(has_reached_all(kinds), "every call that can fail has failed");
  }
  std::printf("%lld points of failure; %lld operations failed\n", static_cast<long long>(all),
              static_cast<long long>(report.failed()));
  return report.failed() == 0 ? 0 : 1;
}

std::unique_ptr<Injector> injector_named(const std::string& name) {
  if (name == "calls") return inject_calls();
  if (name == "losses") return inject_losses();
  if (name == "driver") return inject_driver_calls();
  if (name == "allocations") return inject_allocations();
  return nullptr;
}

}  // namespace
}  // namespace faults

int main(int argc, char** argv) {
  const auto injector = faults::injector_named(argc > 1 ? argv[1] : "");
  if (injector == nullptr || argc < 4) {
    std::fprintf(stderr,
                 "usage: faults calls|losses|allocations|driver FOLDER PLUGIN [WORD | PART/PARTS | random/PARTS]\n");
    return 2;
  }
  return faults::play_all(*injector, argv[2], argv[3], faults::Selection(argc > 4 ? argv[4] : ""));
}

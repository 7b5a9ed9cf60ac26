// SPDX-License-Identifier: Apache-2.0
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "sim_table.h"
#include "support/ending.h"

using namespace sim_test;
using arrowdevice::sim::Configuration;
using arrowdevice::sim::Function;
using arrowdevice::sim::Peers;

namespace {

// Sets these variables of the simulated backend and unsets all others, as long as this object lives.
class Environment {
 public:
  explicit Environment(std::map<std::string, std::string> variables) : variables_(std::move(variables)) {
    for (const char* name : {"DEVICES", "MEMORY", "LATENCY_US", "BANDWIDTH", "PEERS", "WITHOUT", "FAIL", "STATS"}) {
      ::unsetenv((std::string("ARROWDEVICE_SIM_") + name).c_str());
    }
    for (const auto& [name, value] : variables_) ::setenv(name.c_str(), value.c_str(), 1);
  }
  ~Environment() {
    for (const auto& [name, value] : variables_) ::unsetenv(name.c_str());
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  std::map<std::string, std::string> variables_;
};

std::string refusal(const std::string& name, const std::string& value) {
  const Environment environment(std::map<std::string, std::string>{{name, value}});
  try {
    Configuration::from_environment();
  } catch (const arrowdevice::Error& error) {
    CHECK(error.code() == EINVAL);
    return error.message();
  }
  return "accepted";
}

// A unique file name. The file is removed in the destructor.
class TemporaryFile {
 public:
  TemporaryFile() {
    const char* folder = std::getenv("TMPDIR");
    path_ = std::string(folder != nullptr ? folder : P_tmpdir) + "/arrowdevice-sim-XXXXXX";
    const int fd = ::mkstemp(path_.data());
    REQUIRE(fd >= 0);
    ::close(fd);
  }
  ~TemporaryFile() { ::unlink(path_.c_str()); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  const std::string& path() const { return path_; }
  std::string text() const {
    std::ifstream file(path_);
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  std::string path_;
};

constexpr const char* kChildTest = "simulated device: a program that leaks";

}  // namespace

TEST_CASE("simulated device: an empty environment means one device with addresses", "[sim]") {
  const Environment nothing(std::map<std::string, std::string>{});
  const auto configuration = Configuration::from_environment();
  REQUIRE(configuration.devices.size() == 1);
  CHECK(configuration.devices[0].addresses);
  CHECK(configuration.devices[0].memory == int64_t{4} << 30);
  CHECK(configuration.devices[0].latency_us == 0);
  CHECK(configuration.devices[0].bandwidth == 0);
  CHECK(configuration.peers == Peers::kCopy);
  CHECK(configuration.without.empty());
  CHECK(configuration.failures.empty());
  CHECK(configuration.statistics_file.empty());
}

TEST_CASE("simulated device: the environment sets everything", "[sim]") {
  const Environment environment({{"ARROWDEVICE_SIM_DEVICES", "addresses,handles:memory=3k:latency_us=7:bandwidth=2g"},
                                 {"ARROWDEVICE_SIM_MEMORY", "16m"},
                                 {"ARROWDEVICE_SIM_LATENCY_US", "5"},
                                 {"ARROWDEVICE_SIM_BANDWIDTH", "1000"},
                                 {"ARROWDEVICE_SIM_PEERS", "access"},
                                 {"ARROWDEVICE_SIM_WITHOUT", "event_publish,device_get_peer_flags"},
                                 {"ARROWDEVICE_SIM_FAIL", "allocate:3,queue_copy:2+,event,lost:9"},
                                 {"ARROWDEVICE_SIM_STATS", "/somewhere/statistics.json"}});
  const auto configuration = Configuration::from_environment();
  REQUIRE(configuration.devices.size() == 2);
  CHECK(configuration.devices[0].addresses);
  CHECK(configuration.devices[0].memory == 16 << 20);
  CHECK(configuration.devices[0].latency_us == 5);
  CHECK(configuration.devices[0].bandwidth == 1000);
  CHECK_FALSE(configuration.devices[1].addresses);
  CHECK(configuration.devices[1].memory == 3072);
  CHECK(configuration.devices[1].latency_us == 7);
  CHECK(configuration.devices[1].bandwidth == int64_t{2} << 30);
  CHECK(configuration.peers == Peers::kAccess);
  CHECK(configuration.without == std::vector{Function::event_publish, Function::device_get_peer_flags});
  REQUIRE(configuration.failures.size() == 4);
  CHECK(configuration.failures[0].function == Function::buffer_allocate);
  CHECK(configuration.failures[0].call == 3);
  CHECK_FALSE(configuration.failures[0].onwards);
  CHECK(configuration.failures[1].function == Function::queue_copy);
  CHECK(configuration.failures[1].call == 2);
  CHECK(configuration.failures[1].onwards);
  CHECK(configuration.failures[2].function == Function::event);
  CHECK(configuration.failures[2].call == 1);
  CHECK(configuration.failures[3].function == Function::lost);
  CHECK(configuration.failures[3].call == 9);
  CHECK(configuration.statistics_file == "/somewhere/statistics.json");
}

TEST_CASE("simulated device: a wrong word in the environment is reported", "[sim]") {
  CHECK(contains(refusal("ARROWDEVICE_SIM_DEVICES", "addresses,adresses"),
                 "\"adresses\" is not a kind of simulated device"));
  CHECK(contains(refusal("ARROWDEVICE_SIM_DEVICES", "handles:size=1"), "\"handles:size=1\" has settings"));
  CHECK(contains(refusal("ARROWDEVICE_SIM_DEVICES", "handles:memory="), "\"\" is not a number"));
  CHECK(contains(refusal("ARROWDEVICE_SIM_MEMORY", "1t"), "\"1t\" is not a number"));
  CHECK(contains(refusal("ARROWDEVICE_SIM_MEMORY", "9999999999g"), "too large"));
  CHECK(contains(refusal("ARROWDEVICE_SIM_LATENCY_US", "-1"), "\"-1\" is not a number"));
  for (const char* most : {"3600000001", "9223372036854775807", "8g"}) {
    CHECK(contains(refusal("ARROWDEVICE_SIM_LATENCY_US", most), "is more than 3600000000 microseconds"));
    CHECK(contains(refusal("ARROWDEVICE_SIM_DEVICES", std::string("handles:latency_us=") + most),
                   "is more than 3600000000 microseconds"));
  }
  CHECK(refusal("ARROWDEVICE_SIM_LATENCY_US", "3600000000") == "accepted");
  CHECK(contains(refusal("ARROWDEVICE_SIM_PEERS", "some"), "\"some\" is none of"));
  CHECK(contains(refusal("ARROWDEVICE_SIM_WITHOUT", "queue_copy"), "\"queue_copy\" is not an optional function"));
  CHECK(contains(refusal("ARROWDEVICE_SIM_FAIL", "cpoy:1"), "\"cpoy:1\" is not a function"));
  CHECK(contains(refusal("ARROWDEVICE_SIM_FAIL", "queue_destroy:1"), "no way to fail"));
  CHECK(contains(refusal("ARROWDEVICE_SIM_FAIL", "queue_copy:0"), "counts from 1"));
  CHECK(contains(refusal("ARROWDEVICE_SIM_STATS", "statistics.json"), "is not an absolute path"));
}

// The next test runs this case in a separate process.
TEST_CASE(kChildTest, "[.]") {
  control::reset(Configuration::from_environment());
  void* device = open(0);
  const auto bytes = sample(300);
  auto* leaked = output_of(table().buffer_allocate, device, nullptr, int64_t{500}, int64_t{64});
  const Buffer buffer(device, 300);
  const Queue queue(device);
  queue.copy(to_device(buffer, bytes.data()));
  CHECK(queue.finish() == 0);
  table().buffer_free(device, nullptr, &leaked);
}

TEST_CASE("simulated device: statistics are written at exit", "[sim]") {
  const TemporaryFile file;
  const Environment environment({{"ARROWDEVICE_SIM_STATS", file.path()}, {"ARROWDEVICE_SIM_DEVICES", "handles"}});
  const pid_t child = ::fork();
  if (child == 0) {
    ::unsetenv("ARROWDEVICE_TEST_REPORT");  // the child would overwrite the parent's report
    // Reads the path first, because under valgrind executing the link would start valgrind.
    const std::string program = std::filesystem::read_symlink("/proc/self/exe");
    ::execl(program.c_str(), "sim", kChildTest, "--out", "/dev/null", static_cast<char*>(nullptr));
    ::_exit(127);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);

  const std::string text = file.text();
  CHECK(contains(text, "\"name\": \"Simulated accelerator 0 (handles)\""));
  CHECK(contains(text, "\"allocations\": 2,"));
  CHECK(contains(text, "\"allocations_live\": 1,"));
  CHECK(contains(text, "\"bytes_live\": 500,"));
  CHECK(contains(text, "\"bytes_peak\": 800,"));
  CHECK(contains(text, "\"bytes_in\": 300,"));
  CHECK(contains(text, "\"events_live\": 0,"));
  CHECK(contains(text, "\"queues_live\": 0,"));
  CHECK(contains(text, "\"calls\": {\n    \""));
  CHECK(contains(text, "\"buffer_allocate\": 2,"));
  CHECK(contains(text, "\"queue_copy\": 1,"));
  CHECK(contains(text, "\"refused\": 1,"));
  CHECK(contains(text, "is not a live allocation of this device"));
}

// Allocates in a child process in which files may have at most 0 bytes. Returns the code, or -1 minus the
// signal that ended the child.
int allocate_without_files() {
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_DFL);
    rlimit usual{};
    ::getrlimit(RLIMIT_FSIZE, &usual);
    const rlimit none{0, usual.rlim_max};
    void* buffer = nullptr;
    arrowdevice_error error{};
    if (::setrlimit(RLIMIT_FSIZE, &none) != 0) ::_exit(1);
    const int code = table().buffer_allocate(open(0), nullptr, 4096, 64, &buffer, &error);
    sigset_t pending;
    ::sigpending(&pending);
    const bool is_told = contains(error.message, "ulimit -f") && ::sigismember(&pending, SIGXFSZ) == 0;
    ::setrlimit(RLIMIT_FSIZE, &usual);  // a build that counts lines writes files at the end
    arrowdevice::testing::end_child(is_told ? code : 1);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return WIFSIGNALED(status) ? -1 - WTERMSIG(status) : WEXITSTATUS(status);
}

TEST_CASE("simulated device: a file size limit is an error and does not end the process", "[sim]") {
  control::reset(devices("a"));
  open(0);
  CHECK(allocate_without_files() == EFBIG);
}

// SPDX-License-Identifier: Apache-2.0
// Scenarios of streams that are pulled.
#include "allocations/foreign.h"

namespace allocations {
namespace {

using arrowdevice::sim::Peers;

struct Way {
  int64_t from, to;
  uint32_t flags = 0;
  Machine machine = {};
  const char* how = "";

  std::string text() const { return std::string(kind_of(from)) + " to " + kind_of(to) + how; }
};

// Returns all paths. The last path uses staging memory, so a thread of the stream copies.
std::vector<Way> all_ways() {
  return {{-1, kAddresses[0]},
          {kHandles[0], kAddresses[0], ARROWDEVICE_STREAM_READ_AHEAD, {}, ", read ahead"},
          {kAddresses[0], kHandles[0], 0, {.peers = Peers::kNone}, ", staged"}};
}

arrowdevice_stream_options options_of(const Way& way) {
  arrowdevice_stream_options options{};
  options.struct_size = sizeof options;
  options.flags = way.flags;
  return options;
}

const Rows& rows() { return Rows::nested(); }

// A stream and the output of the call.
struct Flow {
  Flow() = default;
  explicit Flow(DeviceStream stream) : in(std::move(stream)) {}

  // Checks that no input was released.
  void check_inputs() const {
    const bool has_arrays = !schema.released() && arrays[0].array.release != nullptr;
    check(!in.released() || !host_in.released() || has_arrays, "an input was released");
  }

  // Checks that the stream returns the same result again.
  void check_answers_again() {
    arrowdevice_error error{};
    Array none;
    const int code = arrowdevice_stream_get_next(in.get(), none.get(), &error);
    check(code != 0, "a stream goes on after it has failed");
    check(none.released(), "a stream that failed has given an array");
  }

  ~Flow() {
    for (auto& array : arrays) arrowdevice_array_release(&array);
  }

  DeviceStream in;
  HostStream host_in;
  std::array<ArrowDeviceArray, kBatches> arrays{};
  Owned<ArrowSchema> schema;
  arrowdevice_device* to = nullptr;
  DeviceStream out;
  HostStream host_out;
  Pulled pulled;
};

// -- streams are made

// Takes over `flow.in`.
using Body = std::function<int(Flow& flow, arrowdevice_error* error)>;
using Make = std::function<std::shared_ptr<Flow>()>;

Scenario making(const char* function, std::string variant, Make make, Body body, Machine machine = {}) {
  return {.function = function,
          .variant = std::move(variant),
          .make =
              [make, body] {
                const auto flow = make();
                Attempt attempt;
                attempt.run = [flow, body](auto* error) { return body(*flow, error); };
                attempt.check_refused = [flow] {
                  check(flow->out.released() && flow->host_out.released(), "a stream was put out");
                  flow->check_inputs();
                };
                attempt.check_done = [flow] {
                  arrowdevice_error error{};
                  const int code = flow->out.released() ? flow->pulled.pull(flow->host_out.get(), &error)
                                                        : flow->pulled.pull(flow->out.get(), &error);
                  check_code(code, 0, error);
                  flow->pulled.check_all(rows());
                };
                return attempt;
              },
          .machine = machine};
}

int move(Flow& flow, const Way& way, arrowdevice_device* to, arrowdevice_error* error) {
  const auto options = options_of(way);
  poison(*flow.out.out());
  return arrowdevice_stream_to_device(flow.in.get(), to, &options, flow.out.get(), error);
}

int move_to_host(Flow& flow, arrowdevice_error* error) {
  poison(*flow.host_out.out());
  return arrowdevice_stream_to_host(flow.in.get(), nullptr, flow.host_out.get(), error);
}

int from_host(Flow& flow, arrowdevice_error* error) {
  poison(*flow.out.out());
  return arrowdevice_stream_from_host(flow.host_in.get(), flow.out.get(), error);
}

int from_arrays(Flow& flow, arrowdevice_error* error) {
  poison(*flow.out.out());
  return arrowdevice_stream_from_arrays(flow.schema.get(), flow.arrays.data(), kBatches, ARROW_DEVICE_EXT_DEV,
                                        flow.out.get(), error);
}

std::shared_ptr<Flow> arrays_on_handles() {
  auto flow = std::make_shared<Flow>();
  must(arrowdevice_schema_copy, static_cast<const ArrowSchema*>(rows().schema()), flow->schema.out());
  for (auto& array : flow->arrays) array = on(rows(), kHandles[0]).take();
  return flow;
}

std::shared_ptr<Flow> flow_from(int64_t id) { return std::make_shared<Flow>(foreign_stream(rows(), id)); }

void add_making(Scenarios& scenarios) {
  for (const Way& way : all_ways()) {
    scenarios.push_back(making(
        "stream_to_device", way.text(),
        [way] {
          auto flow = flow_from(way.from);
          flow->to = device(way.to);
          return flow;
        },
        [way](Flow& flow, auto* error) { return move(flow, way, flow.to, error); }, way.machine));
  }
  scenarios.push_back(making(
      "stream_to_host", "of handles", [] { return flow_from(kHandles[0]); }, move_to_host));
  scenarios.push_back(making(
      "stream_from_host", "",
      [] {
        auto flow = std::make_shared<Flow>();
        flow->host_in = foreign_host_stream(rows());
        return flow;
      },
      from_host));
  scenarios.push_back(making("stream_from_arrays", "on handles", arrays_on_handles, from_arrays));
}

// -- streams are used

// Returns a scenario that uses `flow.in`, a stream of the library.
Scenario using_stream(const char* function, std::string variant, Make make, Body body, std::optional<bool> allocates,
                      bool is_final) {
  const bool is_next = function == std::string_view("stream_get_next");
  return {.function = function,
          .variant = std::move(variant),
          .make =
              [make, body, is_next, is_final] {
                const auto flow = make();
                Attempt attempt;
                attempt.run = [flow, body](auto* error) { return body(*flow, error); };
                attempt.check_refused = [flow, answers_again = is_next && is_final] {
                  check(flow->schema.released(), "a schema was put out");
                  flow->pulled.check_rows(rows());
                  if (answers_again) flow->check_answers_again();
                };
                attempt.check_done = [flow] { flow->pulled.check_rows(rows()); };
                return attempt;
              },
          .allocates = allocates,
          .has_threads = true,
          .is_final = is_final};
}

std::shared_ptr<Flow> moved(const Way& way) {
  auto flow = flow_from(way.from);
  arrowdevice_error error{};
  check_code(move(*flow, way, device(way.to), &error), 0, error);
  flow->in = std::move(flow->out);
  return flow;
}

std::shared_ptr<Flow> of_arrays() {
  auto flow = arrays_on_handles();
  arrowdevice_error error{};
  check_code(from_arrays(*flow, &error), 0, error);
  flow->in = std::move(flow->out);
  return flow;
}

int ask_schema(Flow& flow, arrowdevice_error* error) {
  poison(*flow.schema.out());
  return arrowdevice_stream_get_schema(flow.in.get(), flow.schema.get(), error);
}

// Asks for the metadata of the stream, for which the library reads the schema.
int ask_metadata(Flow& flow, arrowdevice_error* error) {
  const char* metadata = poisoned_pointer<const char>();
  const int code = arrowdevice_stream_get_metadata(flow.in.get(), ARROWDEVICE_METADATA_STREAM, &metadata, error);
  check_now(metadata == nullptr, "a stream without metadata has some");
  return code;
}

int pull(Flow& flow, arrowdevice_error* error) { return flow.pulled.pull(flow.in.get(), error); }

int release(Flow& flow, arrowdevice_error*) {
  arrowdevice_stream_release(flow.in.get());
  check_now(flow.in.released(), "a stream was not released");
  return 0;
}

int cancel(Flow& flow, arrowdevice_error* error) {
  if (const int code = arrowdevice_stream_cancel(flow.in.get(), error); code != 0) return code;
  Array none;
  const int code = arrowdevice_stream_get_next(flow.in.get(), none.get(), nullptr);
  check_now(code == ECANCELED || code == ENOMEM, "a stream goes on after it was cancelled");
  return 0;
}

// Returns a flow whose first array was taken. Other arrays are waiting.
Make begun(const Way& way) {
  return [way] {
    auto flow = moved(way);
    Array first;
    must(arrowdevice_stream_get_next, flow->in.get(), first.out());
    return flow;
  };
}

void add_using(Scenarios& scenarios) {
  for (const Way& way : all_ways()) {
    const Make make = [way] { return moved(way); };
    const bool reads_ahead = way.flags != 0;
    auto add = [&](const char* function, const std::string& variant, const Make& from, const Body& body,
                   std::optional<bool> allocates, bool is_final) {
      auto scenario = using_stream(function, variant + way.text(), from, body, allocates, is_final);
      scenario.machine = way.machine;
      scenarios.push_back(std::move(scenario));
    };
    add("stream_get_schema", "", make, ask_schema, true, reads_ahead);
    add("stream_get_metadata", "", make, ask_metadata, true, reads_ahead);
    add("stream_get_next", "", make, pull, true, true);
    add("stream_release", "", make, release, kByPace, false);
    add("stream_release", "begun, ", begun(way), release, kByPace, false);
    add("stream_cancel", "", make, cancel, true, false);
    add("stream_cancel", "begun, ", begun(way), cancel, true, false);
  }
  scenarios.push_back(using_stream("stream_get_schema", "of arrays", of_arrays, ask_schema, true, false));
  scenarios.push_back(using_stream("stream_get_next", "of arrays", of_arrays, pull, false, false));
  scenarios.push_back(using_stream("stream_release", "of arrays", of_arrays, release, kByPace, false));
}

// Adds scenarios with a C stream that the test pulls through the stream's own functions.
void add_pulling_on_host(Scenarios& scenarios) {
  scenarios.push_back({.function = "stream_to_host",
                       .variant = "of handles, pulled",
                       .make =
                           [] {
                             auto flow = flow_from(kHandles[0]);
                             arrowdevice_error unseen{};
                             check_code(move_to_host(*flow, &unseen), 0, unseen);
                             Attempt attempt;
                             attempt.run = [flow](auto* error) {
                               return flow->pulled.pull(flow->host_out.get(), error);
                             };
                             attempt.check_refused = [flow] { flow->pulled.check_rows(rows()); };
                             attempt.check_done = [flow] { flow->pulled.check_all(rows()); };
                             return attempt;
                           },
                       .has_threads = true,
                       .is_final = true});
}

}  // namespace

void add_streams(Scenarios& scenarios) {
  add_making(scenarios);
  add_using(scenarios);
  add_pulling_on_host(scenarios);
}

}  // namespace allocations

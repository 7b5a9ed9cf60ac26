// SPDX-License-Identifier: Apache-2.0
// Operations of streams that are pulled.
#include "faults/foreign.h"

namespace faults {
namespace {

using arrowdevice::sim::Peers;

constexpr uint32_t kReadAhead = ARROWDEVICE_STREAM_READ_AHEAD;
constexpr Machine kStaged{.peers = Peers::kNone};

// The first three paths play every function. A thread of the stream copies on a path with staging memory.
constexpr Way kWays[] = {{kHost, kAddresses[0]},
                         {kHandles[0], kAddresses[0], kReadAhead, {}, "read ahead, "},
                         {kAddresses[0], kHandles[0], 0, kStaged, "staged, "},
                         {kHost, kAddresses[0], kReadAhead, {}, "read ahead, "},
                         {kHost, kHandles[0]},
                         {kHost, kHandles[0], kReadAhead, {}, "read ahead, "},
                         {kAddresses[0], kHost},
                         {kAddresses[0], kHost, kReadAhead, {}, "read ahead, "},
                         {kAddresses[0], kHandles[0]},
                         {kAddresses[0], kHandles[0], kReadAhead, {}, "read ahead, "},
                         {kAddresses[0], kHandles[0], kReadAhead, kStaged, "staged, read ahead, "},
                         {kHandles[0], kAddresses[0], 0, kStaged, "staged, "},
                         {kHandles[0], kAddresses[0], kReadAhead, kStaged, "staged, read ahead, "}};
constexpr auto kFewWays = std::span(kWays).first(3);

arrowdevice_stream_options options_of(uint32_t flags) {
  auto options = sized<arrowdevice_stream_options>();
  options.flags = flags;
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

using Body = std::function<int(Flow& flow, arrowdevice_error* error)>;

int move(Flow& flow, const Way& way, arrowdevice_error* error) {
  const auto options = options_of(way.flags);
  poison(*flow.out.out());
  return arrowdevice_stream_to_device(flow.in.get(), flow.to, &options, flow.out.get(), error);
}

int move_to_host(Flow& flow, uint32_t flags, arrowdevice_error* error) {
  const auto options = options_of(flags);
  poison(*flow.host_out.out());
  return arrowdevice_stream_to_host(flow.in.get(), &options, flow.host_out.get(), error);
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
  for (auto& array : flow->arrays) array = rows().on(kHandles[0]).take();
  return flow;
}

std::shared_ptr<Flow> flow_from(int64_t id, int64_t to = kHost) {
  auto flow = std::make_shared<Flow>(foreign_stream(rows(), id));
  flow->to = device(to);
  flow->pulled.on = flow->to;
  return flow;
}

// Returns an operation that makes a stream of another, which it takes over.
Operation making(const char* function, std::string variant, std::function<std::shared_ptr<Flow>()> make, Body body,
                 Machine machine = {}) {
  return of<Flow>({.function = function, .variant = std::move(variant), .machine = machine},
                  {.make = std::move(make),
                   .run = std::move(body),
                   .refused =
                       [](Flow& flow) {
                         check(flow.out.released() && flow.host_out.released(), "a stream was put out");
                         flow.check_inputs();
                       },
                   .done =
                       [](Flow& flow) {
                         arrowdevice_error error{};
                         const int code = flow.out.released() ? flow.pulled.pull(flow.host_out.get(), &error)
                                                              : flow.pulled.pull(flow.out.get(), &error);
                         check_code(code, 0, error);
                         flow.pulled.check_all(rows());
                       }});
}

void add_making(Operations& operations) {
  for (const Way& way : kFewWays) {
    auto operation = making(
        "stream_to_device", way.text(), [way] { return flow_from(way.from, way.to); },
        [way](Flow& flow, auto* error) { return move(flow, way, error); }, way.machine);
    if (way.flags != 0) operation.injectors = kAllocations;  // a thread begins to move at once
    operations.push_back(std::move(operation));
  }
  operations.push_back(making(
      "stream_to_host", "of handles", [] { return flow_from(kHandles[0]); },
      [](Flow& flow, auto* error) { return move_to_host(flow, 0, error); }));
  operations.push_back(making(
      "stream_from_host", "",
      [] {
        auto flow = std::make_shared<Flow>();
        flow->host_in = foreign_host_stream(rows());
        return flow;
      },
      from_host));
  operations.push_back(making("stream_from_arrays", "on handles", arrays_on_handles, from_arrays));
}

// -- streams are used

using Make = std::function<std::shared_ptr<Flow>()>;

// Before it moves an array, a stream asks if the move occupies its thread. If that query fails, the move itself asks
// again. If an event query fails, the memory is freed at once, because a failed query means a failed event.
const std::vector<std::string> kMaySurvive{"event_query", "device_get_peer_flags", "device_locate"};

Operation using_stream(Operation operation, Make make, Body body) {
  operation.has_threads = true;
  operation.may_survive = kMaySurvive;
  const bool pulls = operation.function == "stream_get_next";
  const bool answers_again = pulls && operation.is_final;
  return of<Flow>(std::move(operation), {.make = std::move(make),
                                         .run = std::move(body),
                                         .refused =
                                             [answers_again](Flow& flow) {
                                               check(flow.schema.released(), "a schema was put out");
                                               flow.pulled.check_rows(rows());
                                               if (answers_again && !flow.pulled.has_failed_later)
                                                 flow.check_answers_again();
                                             },
                                         .done =
                                             [pulls](Flow& flow) {
                                               if (pulls) flow.pulled.check_all(rows());
                                             }});
}

// Returns a flow whose input is a stream that `make` puts out.
template <typename Body>
std::shared_ptr<Flow> made(std::shared_ptr<Flow> flow, Body body) {
  arrowdevice_error error{};
  check_code(body(*flow, &error), 0, error);
  flow->in = std::move(flow->out);
  return flow;
}

std::shared_ptr<Flow> moved(const Way& way) {
  return made(flow_from(way.from, way.to), [&](Flow& flow, auto* error) { return move(flow, way, error); });
}

std::shared_ptr<Flow> of_arrays() { return made(arrays_on_handles(), from_arrays); }

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

int move_and_pull(Flow& flow, const Way& way, arrowdevice_error* error) {
  if (const int code = move(flow, way, error); code != 0) return code;
  flow.in = std::move(flow.out);
  return pull(flow, error);
}

void add_using(Operations& operations) {
  for (const Way& way : kFewWays) {
    const Make make = [way] { return moved(way); };
    const bool reads_ahead = way.flags != 0;
    auto add = [&](const char* function, const std::string& variant, const Make& from, const Body& body,
                   std::optional<bool> allocates, bool is_final) {
      const bool is_moving = reads_ahead || !variant.empty();  // on a thread, before the call
      operations.push_back(using_stream({.function = function,
                                         .variant = variant + way.text(),
                                         .machine = way.machine,
                                         .injectors = is_moving ? unsigned{kAllocations} : kAll,
                                         .allocates = allocates,
                                         .is_final = is_final},
                                        from, body));
    };
    add("stream_get_schema", "", make, ask_schema, true, reads_ahead);
    add("stream_get_metadata", "", make, ask_metadata, true, reads_ahead);
    add("stream_get_next", "", make, pull, true, true);
    add("stream_release", "", make, release, kByPace, false);
    add("stream_release", "begun, ", begun(way), release, kByPace, false);
    add("stream_cancel", "", make, cancel, true, false);
    add("stream_cancel", "begun, ", begun(way), cancel, true, false);
  }
  for (const Way& way : kWays) {
    operations.push_back(using_stream(
        {.function = "stream_get_next",
         .variant = "all, " + way.text(),
         .machine = way.machine,
         .injectors = kCalls | kLosses,
         .is_final = true},
        [way] { return flow_from(way.from, way.to); },
        [way](Flow& flow, auto* error) { return move_and_pull(flow, way, error); }));
  }
  operations.push_back(using_stream({.function = "stream_get_schema", .variant = "of arrays"}, of_arrays, ask_schema));
  operations.push_back(
      using_stream({.function = "stream_get_next", .variant = "of arrays", .is_final = true}, of_arrays, pull));
  operations.push_back(
      using_stream({.function = "stream_release", .variant = "of arrays", .allocates = kByPace}, of_arrays, release));
}

// Adds operations with a C stream that the test pulls through the stream's own functions.
void add_pulling_on_host(Operations& operations) {
  for (const int64_t id : {kAddresses[0], kHandles[0]}) {
    for (const uint32_t flags : {uint32_t{0}, kReadAhead}) {
      operations.push_back(
          of<Flow>({.function = "stream_to_host",
                    .variant = std::string("pulled, of ") + kind_of(id) + (flags != 0 ? ", read ahead" : ""),
                    .has_threads = true,
                    .is_final = true,
                    .may_survive = kMaySurvive},
                   {.make = [id] { return flow_from(id); },
                    .run =
                        [flags](Flow& flow, auto* error) {
                          if (const int code = move_to_host(flow, flags, error); code != 0) return code;
                          return flow.pulled.pull(flow.host_out.get(), error);
                        },
                    .refused = [](Flow& flow) { flow.pulled.check_rows(rows()); },
                    .done = [](Flow& flow) { flow.pulled.check_all(rows()); }}));
    }
  }
}

}  // namespace

void add_streams(Operations& operations) {
  add_making(operations);
  add_using(operations);
  add_pulling_on_host(operations);
}

}  // namespace faults

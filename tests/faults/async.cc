// SPDX-License-Identifier: Apache-2.0
// Operations of async streams.
#include "faults/foreign.h"

namespace faults {
namespace {

constexpr Way kWays[] = {{kHandles[0], kAddresses[0]},
                         {kHost, kAddresses[0]},
                         {kHost, kHandles[0]},
                         {kHandles[0], kHost},
                         {kAddresses[0], kHandles[0], 0, {.peers = arrowdevice::sim::Peers::kNone}, "staged, "}};

// An object of each kind. A scenario uses those that it needs.
struct Flow {
  ~Flow() {
    // A handler that no producer ever got is destroyed by its release.
    if (handler != nullptr) handler->release(handler);
  }

  void tell() { producer->tell(std::exchange(handler, nullptr)); }

  // Returns the options. With an executor all work runs on this thread.
  const arrowdevice_async_options* options() {
    if (has_executor) given = executor.options();
    given.struct_size = sizeof given;
    return &given;
  }

  bool has_executor = false;
  Executor executor;
  arrowdevice_async_options given{};
  arrowdevice_device* to = nullptr;
  Consumer consumer;
  std::optional<Producer> producer;
  ArrowAsyncDeviceStreamHandler* handler = nullptr;  // of the library, for the producer
  DeviceStream stream;
  Pulled pulled;
  bool was_accepted = false;
};

// As in streams.cc.
const std::vector<std::string> kMaySurvive{"event_query", "device_get_peer_flags", "device_locate"};

using Body = std::function<int(Flow& flow, arrowdevice_error* error)>;
using Check = std::function<void(Flow& flow)>;

struct AsyncSteps {
  Check prepare;
  Body call;
  Check refused;
  Check done;
};

Operation flowing(Operation operation, bool has_executor, AsyncSteps steps) {
  operation.variant += has_executor ? "by an executor" : "by a thread";
  operation.has_threads = !has_executor;
  return of<Flow>(std::move(operation), {.make =
                                             [has_executor, prepare = steps.prepare] {
                                               auto flow = std::make_shared<Flow>();
                                               flow->has_executor = has_executor;
                                               prepare(*flow);
                                               return flow;
                                             },
                                         .run = steps.call,
                                         .refused = steps.refused,
                                         .done = steps.done});
}

// Returns the final result that the consumer got.
int outcome(Flow& flow, arrowdevice_error* error) {
  flow.executor.run();
  const int code = flow.consumer.wait(error);
  check_now(!flow.consumer.was_dropped(), "a consumer was told neither the end nor an error");
  arrowdevice_error late{};
  const int later = flow.consumer.pulled.wait(&late);
  if (later != 0) *error = late;
  return later != 0 ? later : code;
}

void check_all_came(Flow& flow) { flow.consumer.pulled.check_all(Rows::nested()); }
void check_what_came(Flow& flow) { flow.consumer.pulled.check_rows(Rows::nested()); }

// -- the library as a producer

int produce(Flow& flow, arrowdevice_error* error) {
  const int code = arrowdevice_async_produce(flow.stream.get(), flow.consumer.handler(), flow.options(), error);
  flow.was_accepted = code == 0;
  return code != 0 ? code : outcome(flow, error);
}

AsyncSteps producing() {
  return {.prepare = [](Flow& flow) { flow.stream = foreign_stream(Rows::nested(), kHandles[0]); },
          .call = produce,
          .refused =
              [](Flow& flow) {
                check(flow.was_accepted == flow.stream.released(), "the stream was released, or not taken over");
                check(flow.was_accepted == flow.consumer.was_called(), "a callback was made, or none");
                check_what_came(flow);
              },
          .done = check_all_came};
}

// -- the library as a consumer

int collect(Flow& flow, arrowdevice_error* error) {
  poison(*flow.stream.out());
  flow.handler = poisoned_pointer<ArrowAsyncDeviceStreamHandler>();
  return arrowdevice_async_collect(ARROW_DEVICE_EXT_DEV, nullptr, &flow.handler, flow.stream.get(), error);
}

void check_collected(Flow& flow) {
  flow.tell();
  arrowdevice_error error{};
  check_code(flow.pulled.pull(flow.stream.get(), &error), 0, error);
  flow.pulled.check_all(Rows::nested());
}

void prepare_producer(Flow& flow, int64_t id = kHandles[0]) { flow.producer.emplace(Rows::nested(), id); }

AsyncSteps collecting() {
  return {.prepare = [](Flow& flow) { prepare_producer(flow); },
          .call = collect,
          .refused =
              [](Flow& flow) {
                check(flow.handler == nullptr, "a handler was put out");
                check(flow.stream.released(), "a stream was put out");
              },
          .done = check_collected};
}

void must_collect(Flow& flow) {
  prepare_producer(flow);
  arrowdevice_error error{};
  check_code(collect(flow, &error), 0, error);
}

AsyncSteps collecting_all() {
  return {.prepare = must_collect,
          .call =
              [](Flow& flow, auto* error) {
                flow.tell();
                return flow.pulled.pull(flow.stream.get(), error);
              },
          .refused = [](Flow& flow) { flow.pulled.check_rows(Rows::nested()); },
          .done = [](Flow& flow) { flow.pulled.check_all(Rows::nested()); }};
}

// Returns steps that release a stream while it has arrays that no consumer has pulled.
AsyncSteps releasing_collected() {
  return {.prepare =
              [](Flow& flow) {
                must_collect(flow);
                flow.tell();
              },
          .call =
              [](Flow& flow, auto*) {
                arrowdevice_stream_release(flow.stream.get());
                return 0;
              },
          .refused = [](Flow&) {},
          .done = [](Flow& flow) { check(flow.stream.released(), "the stream was not released"); }};
}

// -- the library between producer and consumer

int move(Flow& flow, arrowdevice_device* to, arrowdevice_error* error) {
  flow.handler = poisoned_pointer<ArrowAsyncDeviceStreamHandler>();
  flow.consumer.pulled.on = to;
  return arrowdevice_async_to_device(flow.consumer.handler(), to, flow.options(), &flow.handler, error);
}

void check_moved(Flow& flow) {
  flow.tell();
  arrowdevice_error error{};
  check_code(outcome(flow, &error), 0, error);
  check_all_came(flow);
}

AsyncSteps moving() {
  return {.prepare =
              [](Flow& flow) {
                prepare_producer(flow);
                flow.to = device(kAddresses[0]);
              },
          .call = [](Flow& flow, auto* error) { return move(flow, flow.to, error); },
          .refused =
              [](Flow& flow) {
                check(flow.handler == nullptr, "a handler was put out");
                check(!flow.consumer.was_called(), "a callback was made");
              },
          .done = check_moved};
}

AsyncSteps moving_all(const Way& way) {
  return {.prepare =
              [way](Flow& flow) {
                prepare_producer(flow, way.from);
                arrowdevice_error error{};
                check_code(move(flow, device(way.to), &error), 0, error);
              },
          .call =
              [](Flow& flow, auto* error) {
                flow.tell();
                return outcome(flow, error);
              },
          .refused = check_what_came,
          .done = check_all_came};
}

// Returns steps with a producer that fails. The consumer must get that failure or ENOMEM.
AsyncSteps moving_an_error() {
  AsyncSteps steps = moving_all(kWays[0]);
  steps.prepare = [prepare = steps.prepare](Flow& flow) {
    prepare(flow);
    flow.producer->fails = true;
  };
  steps.call = [](Flow& flow, auto* error) {
    flow.tell();
    arrowdevice_error told{};
    const int code = outcome(flow, &told);
    check_now(code != 0, "an error has not arrived");
    if (code == Producer::kFailure) return 0;
    *error = told;
    return code;
  };
  return steps;
}

}  // namespace

void add_async(Operations& operations) {
  for (const bool has_executor : {false, true}) {
    operations.push_back(flowing({.function = "async_produce", .is_final = true}, has_executor, producing()));
    operations.push_back(flowing({.function = "async_to_device"}, has_executor, moving()));
    for (const Way& way : kWays) {
      operations.push_back(flowing({.function = "async_to_device",
                                    .variant = "all, " + way.text() + ", ",
                                    .machine = way.machine,
                                    .is_final = true,
                                    .may_survive = kMaySurvive},
                                   has_executor, moving_all(way)));
    }
    operations.push_back(
        flowing({.function = "async_to_device", .variant = "an error, ", .is_final = true, .may_survive = kMaySurvive},
                has_executor, moving_an_error()));
  }
  operations.push_back(flowing({.function = "async_collect"}, true, collecting()));
  operations.push_back(
      flowing({.function = "async_collect", .variant = "all, ", .is_final = true}, true, collecting_all()));
  operations.push_back(flowing({.function = "stream_release", .variant = "collected, ", .allocates = kByPace}, true,
                               releasing_collected()));
}

}  // namespace faults

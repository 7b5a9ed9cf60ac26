// SPDX-License-Identifier: Apache-2.0
// Scenarios of async streams.
#include "allocations/foreign.h"

namespace allocations {
namespace {

const Rows& rows() { return Rows::nested(); }

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

using Body = std::function<int(Flow& flow, arrowdevice_error* error)>;
using Check = std::function<void(Flow& flow)>;

struct Steps {
  Check prepare;
  Body call;
  Check refused;
  Check done;
};

Scenario flowing(const char* function, const char* variant, bool has_executor, bool is_final, Steps steps) {
  return {.function = function,
          .variant = std::string(variant) + (has_executor ? "by an executor" : "by a thread"),
          .make =
              [has_executor, steps] {
                const auto flow = std::make_shared<Flow>();
                flow->has_executor = has_executor;
                steps.prepare(*flow);
                Attempt attempt;
                attempt.run = [flow, call = steps.call](auto* error) { return call(*flow, error); };
                attempt.check_refused = [flow, refused = steps.refused] { refused(*flow); };
                attempt.check_done = [flow, done = steps.done] { done(*flow); };
                return attempt;
              },
          .has_threads = !has_executor,
          .is_final = is_final};
}

// Returns the final result that the consumer got.
int outcome(Flow& flow, arrowdevice_error* error) {
  flow.executor.run();
  const int code = flow.consumer.wait(error);
  check_now(!flow.consumer.was_dropped(), "a consumer was told neither the end nor an error");
  return code;
}

void check_all_came(Flow& flow) { flow.consumer.pulled.check_all(rows()); }
void check_what_came(Flow& flow) { flow.consumer.pulled.check_rows(rows()); }

// -- the library as a producer

int produce(Flow& flow, arrowdevice_error* error) {
  const int code = arrowdevice_async_produce(flow.stream.get(), flow.consumer.handler(), flow.options(), error);
  flow.was_accepted = code == 0;
  return code != 0 ? code : outcome(flow, error);
}

Steps producing() {
  return {.prepare = [](Flow& flow) { flow.stream = foreign_stream(rows(), kHandles[0]); },
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
  flow.pulled.check_all(rows());
}

void prepare_producer(Flow& flow) { flow.producer.emplace(rows(), kHandles[0]); }

Steps collecting() {
  return {.prepare = prepare_producer,
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

Steps collecting_all() {
  return {.prepare = must_collect,
          .call =
              [](Flow& flow, auto* error) {
                flow.tell();
                return flow.pulled.pull(flow.stream.get(), error);
              },
          .refused = [](Flow& flow) { flow.pulled.check_rows(rows()); },
          .done = [](Flow& flow) { flow.pulled.check_all(rows()); }};
}

// Returns steps that release a stream while it has arrays that no consumer has pulled.
Steps releasing_collected() {
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
  return arrowdevice_async_to_device(flow.consumer.handler(), to, flow.options(), &flow.handler, error);
}

void check_moved(Flow& flow) {
  flow.tell();
  arrowdevice_error error{};
  check_code(outcome(flow, &error), 0, error);
  check_all_came(flow);
}

Steps moving() {
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

Steps moving_all() {
  return {.prepare =
              [](Flow& flow) {
                prepare_producer(flow);
                arrowdevice_error error{};
                check_code(move(flow, device(kAddresses[0]), &error), 0, error);
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
Steps moving_an_error() {
  Steps steps = moving_all();
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

void add_async(Scenarios& scenarios) {
  for (const bool has_executor : {false, true}) {
    scenarios.push_back(flowing("async_produce", "", has_executor, true, producing()));
    scenarios.push_back(flowing("async_to_device", "", has_executor, false, moving()));
    scenarios.push_back(flowing("async_to_device", "all, ", has_executor, true, moving_all()));
    scenarios.push_back(flowing("async_to_device", "an error, ", has_executor, true, moving_an_error()));
  }
  scenarios.push_back(flowing("async_collect", "", true, false, collecting()));
  scenarios.push_back(flowing("async_collect", "all, ", true, true, collecting_all()));
  auto released = flowing("stream_release", "collected, ", true, false, releasing_collected());
  released.allocates = kByPace;
  scenarios.push_back(std::move(released));
}

}  // namespace allocations

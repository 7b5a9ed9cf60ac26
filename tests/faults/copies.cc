// SPDX-License-Identifier: Apache-2.0
// Each backend call of array_copy, array_to_device and array_to_host fails in turn; see trial.h.
#include "faults/trial.h"

namespace {

using namespace faults;  // NOLINT: what every line of these tests is written with

struct End {
  const char* name;
  int64_t id;  // of a simulated device; -1 is the CPU

  arrowdevice_device* device() const { return id < 0 ? cpu() : sim(id); }
};

constexpr End kHost{"host", -1};
constexpr End kAddressesEnd{"addresses", 0};
constexpr End kHandlesEnd{"handles", 2};

struct Way {
  End from, to;
  Peers peers = Peers::kCopy;

  std::string text() const {
    const bool is_staged = peers == Peers::kNone && from.id >= 0 && to.id >= 0;
    return std::string(from.name) + " to " + to.name + (is_staged ? ", staged" : "");
  }
};

const Way kHostWays[] = {{kHost, kAddressesEnd}, {kHost, kHandlesEnd}, {kAddressesEnd, kHost}, {kHandlesEnd, kHost}};
const Way kDirectWays[] = {{kAddressesEnd, {"addresses", 1}}, {kAddressesEnd, kHandlesEnd},
                           {kHandlesEnd, kAddressesEnd},      {kHandlesEnd, {"handles", 3}},
                           {kAddressesEnd, {"itself", 0}},    {kHandlesEnd, {"itself", 2}}};
const Way kStagedWays[] = {{kAddressesEnd, {"addresses", 1}, Peers::kNone},
                           {kAddressesEnd, kHandlesEnd, Peers::kNone},
                           {kHandlesEnd, kAddressesEnd, Peers::kNone},
                           {kHandlesEnd, {"handles", 3}, Peers::kNone}};

std::string text_of(uint32_t flags) {
  std::string text;
  if ((flags & ARROWDEVICE_COPY_ASYNC) != 0) text += ", ASYNC";
  if ((flags & ARROWDEVICE_COPY_NO_TRIM) != 0) text += ", WHOLE";
  if ((flags & ARROWDEVICE_COPY_ALWAYS) != 0) text += ", ALWAYS";
  return text;
}

struct Options {
  uint32_t flags = 0;
  bool own_queue = false;  // a queue of the application
  bool own_pool = false;   // a pool of the application without cached memory

  std::string text() const {
    return text_of(flags) + (own_queue ? ", on a queue" : "") + (own_pool ? ", from a pool" : "");
  }
};

// The input, output and options of either kind of copy.
struct Copying {
  Copying(const Rows& of, const Way& way, const Options& with, const Ledger& ledger)
      : rows(of), in(of.on(way.from.device(), ledger)), to(way.to.device()), options(copy_options(with.flags)) {
    if (with.own_queue) queue = make_queue(way.to.id < 0 ? way.from.device() : to);
    if (with.own_pool) {
      auto keeping_nothing = pool_options();
      keeping_nothing.max_cached_bytes = -1;
      pool = make_pool(to, &keeping_nothing);
    }
    options.queue = queue.get();
    options.pool = pool.get();
  }

  const Rows& rows;
  Array in;
  arrowdevice_device* to;
  Queue queue;
  Pool pool;
  arrowdevice_copy_options options;
  Array out;
  Owned<ArrowArray> host_out;

  int settle(arrowdevice_error* error) {
    return arrowdevice_array_wait(out.get(), nullptr, ARROWDEVICE_NO_TIMEOUT, error);
  }

  void check_refused() {
    CHECK(out.released());
    CHECK(host_out.released());
    check_input();
  }
  void check_input() {
    REQUIRE_FALSE(in.released());
    CHECK(rows.difference(*in) == "");
  }
  void check_output(bool spoiled) {
    REQUIRE_FALSE(out.released());
    if (!spoiled) CHECK(rows.difference(*out) == "");
    out.reset();
  }
};

Operation copying(const Rows& rows, const char* what, const Way& way, const Options& options) {
  return {.name = "array_copy",
          .variant = way.text() + ", " + what + options.text(),
          .make =
              [&rows, way, options] {
                Trial trial;
                const auto copy = std::make_shared<Copying>(rows, way, options, trial.ledger);
                trial.run = [copy](auto* error) {
                  poison(*copy->out.out());
                  return arrowdevice_array_copy(copy->in.get(), &copy->rows.schema(), copy->to, &copy->options,
                                                copy->out.get(), error);
                };
                trial.settle = [copy](auto* error) { return copy->settle(error); };
                trial.check_refused = [copy] { copy->check_refused(); };
                trial.check_done = [copy](bool spoiled) {
                  copy->check_input();
                  copy->check_output(spoiled);
                };
                return trial;
              },
          // If an event query fails, the copy counts as finished and its memory is freed at once, because a
          // failed query means a failed event.
          .may_survive = {"event_query"},
          .peers = way.peers};
}

Operation moving(const Rows& rows, const char* what, const Way& way, const Options& options) {
  auto operation = copying(rows, what, way, options);
  operation.name = "array_to_device";
  operation.make = [&rows, way, options] {
    Trial trial;
    const auto move = std::make_shared<Copying>(rows, way, options, trial.ledger);
    trial.run = [move](auto* error) {
      poison(*move->out.out());
      return arrowdevice_array_to_device(move->in.get(), &move->rows.schema(), move->to, &move->options,
                                         move->out.get(), error);
    };
    trial.settle = [move](auto* error) { return move->settle(error); };
    trial.check_refused = [move] { move->check_refused(); };
    trial.check_done = [move](bool spoiled) {
      CHECK(move->in.released());
      move->check_output(spoiled);
    };
    return trial;
  };
  return operation;
}

Operation to_host(const Rows& rows, const char* what, const Way& way, const Options& options) {
  auto operation = copying(rows, what, way, options);
  operation.name = "array_to_host";
  operation.make = [&rows, way, options] {
    Trial trial;
    const auto move = std::make_shared<Copying>(rows, way, options, trial.ledger);
    trial.run = [move](auto* error) {
      poison(*move->host_out.out());
      return arrowdevice_array_to_host(move->in.get(), &move->rows.schema(), &move->options, move->host_out.get(),
                                       error);
    };
    trial.check_refused = [move] { move->check_refused(); };
    trial.check_done = [move](bool) {
      CHECK(move->in.released());
      REQUIRE_FALSE(move->host_out.released());
      const Array here = from_host(std::move(move->host_out));
      CHECK(move->rows.difference(*here) == "");
    };
    return trial;
  };
  return operation;
}

constexpr uint32_t kAsync = ARROWDEVICE_COPY_ASYNC;
constexpr uint32_t kWhole = ARROWDEVICE_COPY_NO_TRIM;

template <size_t n>
void exercise_copies(const Way (&ways)[n]) {
  for (const Way& way : ways) {
    for (const uint32_t flags : {uint32_t{0}, kAsync, kWhole, kAsync | kWhole}) {
      exercise(copying(Rows::nested(), "nested", way, {flags}));
    }
    for (const uint32_t flags : {uint32_t{0}, kAsync}) exercise(copying(Rows::flat(), "flat", way, {flags}));
    exercise(copying(Rows::flat(), "flat", way, {kAsync, true, true}));
  }
}

template <size_t n>
void exercise_moves(const Way (&ways)[n]) {
  for (const Way& way : ways) {
    for (const uint32_t flags : {uint32_t{0}, kAsync}) exercise(moving(Rows::nested(), "nested", way, {flags}));
  }
}

void check_reached(const std::string& operation, std::initializer_list<const char*> functions) {
  for (const char* function : functions) {
    INFO(operation << ": " << function);
    CHECK(was_reached(operation, function));
  }
}

TEST_CASE("copies from and to the host survive the failure of any backend call", "[faults]") {
  exercise_copies(kHostWays);
  check_reached("array_copy", {"buffer_allocate", "queue_create", "queue_copy", "event_record", "event_wait",
                               "event_query", "queue_wait_event", "event_publish", "event_import", "sub_buffer_create",
                               "device_locate", "event", "lost"});
}

TEST_CASE("direct copies between devices survive the failure of any backend call", "[faults]") {
  exercise_copies(kDirectWays);
  check_reached("array_copy", {"device_get_peer_flags", "pointer_get_info"});
}

TEST_CASE("staged copies between devices survive the failure of any backend call", "[faults]") {
  exercise_copies(kStagedWays);
}

TEST_CASE("copies in several pieces survive the failure of any backend call", "[faults]") {
  for (const Way& way : {kStagedWays[0], kStagedWays[2]}) {
    exercise(copying(Rows::large(), "1.25 MiB", way, {0}));
    exercise(copying(Rows::large(), "1.25 MiB", way, {kAsync}));
  }
}

TEST_CASE("copies with an index of more than 64 KiB survive the failure of any backend call", "[faults]") {
  for (const Way& way : {kDirectWays[0], kDirectWays[2], kStagedWays[0], kStagedWays[2], kHostWays[0], kHostWays[3]}) {
    exercise(copying(Rows::long_index(), "80 KB of offsets", way, {0}));
    exercise(copying(Rows::long_index(), "80 KB of offsets", way, {kAsync}));
  }
}

TEST_CASE("moves to another device survive the failure of any backend call", "[faults]") {
  exercise_moves(kHostWays);
  exercise_moves(kDirectWays);
  exercise_moves(kStagedWays);
  check_reached("array_to_device",
                {"buffer_allocate", "queue_copy", "event_record", "event_wait", "event_import", "event", "lost"});
}

TEST_CASE("moves to where the memory can be used survive the failure of any backend call", "[faults]") {
  const Way way{kAddressesEnd, {"addresses that use it in place", 1}, Peers::kAccess};
  exercise(moving(Rows::nested(), "nested", way, {}));
  exercise(moving(Rows::nested(), "nested", way, {kAsync | ARROWDEVICE_COPY_ALWAYS}));
}

TEST_CASE("arrays on their way to the host survive the failure of any backend call", "[faults]") {
  for (const Way& way : {kHostWays[2], kHostWays[3]}) {
    exercise(to_host(Rows::nested(), "nested", way, {}));
    exercise(to_host(Rows::nested(), "nested", way, {kWhole}));
    exercise(to_host(Rows::nested(), "nested", way, {0, true, false}));
  }
  check_reached("array_to_host", {"queue_copy", "event_record", "event_wait", "event_import", "event", "lost"});
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// Calls of the library, the faults that they carry, and the expected results.
#include "report.h"
#include "worker.h"

namespace soak {

namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

// Half of the faults hit a call by its number. Such faults mostly hit the same few functions, so the other
// half use this list.
constexpr Function kFailing[] = {
    Function::event,
    Function::event,
    Function::event,
    Function::event_record,
    Function::event_wait,
    Function::event_import,
    Function::event_publish,
    Function::event_query,
    Function::buffer_allocate,
    Function::sub_buffer_create,
    Function::queue_create,
    Function::queue_wait_event,
    Function::queue_copy,
    Function::queue_copy,
    Function::pointer_get_info,
    Function::device_get_memory_info,
};

// Returns true if a call failed with the fault that hit it.
bool says_so(const Planned& planned, int code, const std::string& message) {
  if (planned.dooms_an_event()) return code == EIO && contains(message, "an event failed");
  return code == planned.code() && contains(message, std::string(arrowdevice::sim::name_of(*planned.struck())) + ": ");
}

// Fills an output with garbage. A failed call must set its release to NULL.
void poison(ArrowDeviceArray& out) {
  out.array.release = [](ArrowArray* array) { array->release = nullptr; };
}

int64_t bytes_of_node(const arrowdevice_node& node) {
  int64_t bytes = 0;
  for (int32_t i = 0; i < node.n_buffers; ++i) bytes += node.buffers[i].size;
  for (int64_t i = 0; i < node.n_children; ++i) bytes += bytes_of_node(*node.children[i]);
  return node.dictionary != nullptr ? bytes + bytes_of_node(*node.dictionary) : bytes;
}

}  // namespace

std::optional<Fault> Worker::some_fault() {
  if (dice_.below(100) >= run_.fault_percent) return std::nullopt;
  Fault fault;
  fault.code = one_in(3) ? ENOMEM : EIO;
  if (one_in(2)) {
    fault.call = 1 + dice_.below(one_in(2) ? 3 : 20);
  } else {
    fault.function = kFailing[below(std::size(kFailing))];
    fault.call = 1 + (one_in(2) ? 0 : dice_.below(4));
  }
  return fault;
}

Outcome Worker::call(const char* name, const Risk& risk, const Call& make) {
  const Planned planned(some_fault());
  arrowdevice_error error;
  std::memset(&error, '?', sizeof error);  // the library must fill all of it
  const int code = make(&error);
  if (planned.struck()) {
    last_fault_ = arrowdevice::sim::name_of(*planned.struck());
    ++tally().faults;
  }
  if (code != 0) judge(name, risk, planned, code, error);
  return {.code = code, .spoils = planned.dooms_an_event()};
}

void Worker::judge(const char* name, const Risk& risk, const Planned& planned, int code,
                   const arrowdevice_error& error) const {
  const std::string message(error.message, strnlen(error.message, sizeof error.message));
  const auto complain = [&](const std::string& what) {
    wrong(std::string(name) + " " + what + ": code " + std::to_string(code) + ", \"" + message + "\"");
  };
  if (error.code != code || message.empty() || message.size() == sizeof error.message) complain("fails without a text");
  const bool was_asked_for = contains(message, kAskedFor);
  if (planned.struck() && was_asked_for && says_so(planned, code, message)) {
    ++tally().failed;
    return;
  }
  const bool is_late = was_asked_for && (code == EIO || code == ENOMEM);
  const bool is_full = contains(message, "device memory: ") || contains(message, "the pool's limit");
  if (risk.spoiled && was_asked_for && code == EIO) {
    ++tally().spoiled;
  } else if (risk.streamed && is_late) {
    ++tally().interrupted;
  } else if (risk.full && code == ENOMEM && is_full) {
    ++tally().exhausted;
  } else if (risk.brief && code == ETIMEDOUT) {
    ++tally().timed_out;
  } else if (code != risk.also && !(risk.shares && code == ENOTSUP)) {
    complain("must not fail");
  }
}

Outcome Worker::fill(const char* name, const Risk& risk, Item& input, Array& out, const Fill& make) {
  for (;;) {
    const ArrowDeviceArray before = *input.array;
    poison(*out.out());
    const Outcome outcome = call(name, risk, [&](auto* error) { return make(out.get(), error); });
    const bool has_given = !out.released();
    if (outcome.code == 0) {
      if (!has_given) wrong(std::string(name) + " succeeded and gave no array");
      return outcome;
    }
    if (has_given) wrong(std::string(name) + " failed and gave an array");
    check_unchanged(name, risk, outcome.code, before, input);
    if (outcome.code == ETIMEDOUT) keep_until_idle(input);  // work that runs on needs the source
    check_rows(input);
    if (risk.spoiled || outcome.spoils || one_in(2)) return outcome;
  }
}

void Worker::check_unchanged(const char* name, const Risk& risk, int code, const ArrowDeviceArray& before,
                             const Item& input) const {
  const bool may_share = risk.moves && risk.brief && code == ETIMEDOUT;
  const bool is_unchanged = std::memcmp(&before, input.array.get(), sizeof before) == 0;
  if (!is_unchanged && !may_share) wrong(std::string(name) + " failed and changed its input");
}

void Worker::keep_until_idle(Item& item) {
  Array second;
  must(arrowdevice_array_share, item.array.get(), second.out());
  const std::lock_guard lock(run_.mutex);
  run_.running.push_back(std::move(second));
}

void Worker::check_rows(const Item& item) const {
  const Planned nothing;
  Array here;
  arrowdevice_error error{};
  const int code = arrowdevice_array_copy(item.array.get(), &item.type(), at(0).device, nullptr, here.out(), &error);
  if (code != 0) return judge("reading back", {.spoiled = item.is_spoiled}, nothing, code, error);
  expect_equal(here->array.length, item.length(), "rows that came back");
  expect_same(item.rows->difference(item.columns.get(), item.first, item.type(), here->array));
  ++tally().arrays;
  tally().bytes += bytes_of(*here, item.type());
}

int64_t Worker::bytes_of(ArrowDeviceArray& on_cpu, const ArrowSchema& type) const {
  auto options = sized<arrowdevice_import_options>();
  options.flags = ARROWDEVICE_IMPORT_RESOLVE_SIZES;
  auto* view = output_of(arrowdevice_array_import, &on_cpu, &type, &options);
  const int64_t bytes = bytes_of_node(*arrowdevice_view_get_root(view));
  arrowdevice_view_detach(view, &on_cpu);
  return bytes;
}

}  // namespace soak

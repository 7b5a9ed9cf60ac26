// SPDX-License-Identifier: Apache-2.0
// Tests copies of small arrays from the CPU to a device in two passes against copies by the engine: the structs, the
// bytes with their padding, the positions, the counters and the log.
#include "transfer/gathered_copy.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "base/scratch.h"
#include "base/trace.h"
#include "device/devices.h"
#include "library.h"
#include "schema/binding.h"
#include "support/cases.h"
#include "transfer/copy.h"

namespace {

using namespace library_test;  // NOLINT: what every line of these tests is written with
namespace device = arrowdevice::device;
namespace schema = arrowdevice::schema;
namespace trace = arrowdevice::trace;
namespace transfer = arrowdevice::transfer;

device::Device& device_of(int64_t id) { return device::Devices::instance().get(ARROW_DEVICE_EXT_DEV, id); }

transfer::CopyRequest request_to(int64_t id, bool async) {
  return {.source = device::Devices::instance().cpu(),
          .sync_event = nullptr,
          .moved = nullptr,
          .target = device_of(id),
          .pool = nullptr,
          .async = async};
}

Array copy_by_engine(const ArrowDeviceArray& array, const ArrowSchema& type, int64_t id, bool async) {
  arrowdevice::Scratch scratch;
  const schema::Tree tree(type, scratch.memory());
  const schema::Binding bound(tree, array.array, scratch.memory());
  Array out;
  transfer::copy_array(bound, false, request_to(id, async), out.out());
  return out;
}

// Returns an array without a release if the engine must make the copy.
Array copy_in_two_passes(const ArrowDeviceArray& array, const ArrowSchema& type, int64_t id, bool async) {
  transfer::GatheredCopy copy;
  Array out;
  if (copy.measure(array, type, device_of(id))) copy.run(request_to(id, async), out.out());
  return out;
}

// The rest of what a copy does: the device's counts, and the line in the log without the time.
struct Effects {
  std::vector<int64_t> counts;
  std::string logged;
};

std::vector<int64_t> counts_of(int64_t id) {
  const Counters now = counters(sim(id));
  return {now.submissions, now.regions,  now.events,    now.host_waits,
          now.readbacks,   now.bytes_in, now.bytes_out, now.staged_bytes};
}

void note_copy(void* user, int /*level*/, const char* message) {
  const std::string line = message;
  if (!line.starts_with("copy from")) return;
  // The time, such as ", 12.3 us", follows the other facts.
  const size_t end = line.find(" us");
  *static_cast<std::string*>(user) = line.substr(0, line.rfind(", ", end)) + line.substr(end);
}

template <typename Copy>
Effects effects_of(int64_t id, const Copy& copy) {
  Effects effects;
  const auto before = counts_of(id);
  const int receivers = trace::receivers.exchange(trace::kLog);
  arrowdevice_log_set_handler(note_copy, &effects.logged);
  copy();
  arrowdevice_log_set_handler(nullptr, nullptr);
  trace::receivers = receivers;
  effects.counts = counts_of(id);
  for (size_t i = 0; i < before.size(); ++i) effects.counts[i] -= before[i];
  return effects;
}

// A view of an array on a simulated device.
class DeviceView {
 public:
  DeviceView(Array array, const ArrowSchema& type, int64_t id) : id_(id), moved_(std::move(array)) {
    const auto options = import_options(ARROWDEVICE_IMPORT_RESOLVE_SIZES);
    must(arrowdevice_array_import, moved_.get(), &type, &options, &view_);
  }
  ~DeviceView() { arrowdevice_view_release(view_); }

  const arrowdevice_node& root() const { return *arrowdevice_view_get_root(view_); }

  // Returns the bytes of a buffer with its padding.
  std::vector<std::byte> bytes(const arrowdevice_node_buffer& buffer) const {
    const int64_t size = transfer::padded(buffer.size);
    std::vector<std::byte> out(buffer.data == nullptr ? 0 : static_cast<size_t>(size));
    if (!out.empty()) control::peek(id_, buffer.data, 0, out.data(), size);
    return out;
  }

 private:
  const int64_t id_;
  Array moved_;
  arrowdevice_view* view_ = nullptr;
};

bool same_node(const DeviceView& a_view, const arrowdevice_node& a, const DeviceView& b_view,
               const arrowdevice_node& b) {
  if (a.length != b.length || a.offset != b.offset || a.null_count != b.null_count || a.n_buffers != b.n_buffers ||
      a.array->null_count != b.array->null_count || a.n_children != b.n_children) {
    return false;
  }
  for (int32_t i = 0; i < a.n_buffers; ++i) {
    if (a.buffers[i].size != b.buffers[i].size || a_view.bytes(a.buffers[i]) != b_view.bytes(b.buffers[i]))
      return false;
  }
  for (int64_t i = 0; i < a.n_children; ++i) {
    if (!same_node(a_view, *a.children[i], b_view, *b.children[i])) return false;
  }
  return true;
}

void add_buffers(const ArrowArray& array, std::vector<const char*>& buffers) {
  for (int64_t i = 0; i < array.n_buffers; ++i) {
    if (array.buffers[i] != nullptr) buffers.push_back(static_cast<const char*>(array.buffers[i]));
  }
  for (int64_t i = 0; i < array.n_children; ++i) add_buffers(*array.children[i], buffers);
}

// Returns the positions of the buffers in the allocation of an array, in the order of its structs.
std::vector<int64_t> positions_of(const ArrowDeviceArray& array) {
  std::vector<const char*> buffers;
  add_buffers(array.array, buffers);
  std::vector<int64_t> positions;
  for (const char* const buffer : buffers) positions.push_back(buffer - *std::ranges::min_element(buffers));
  return positions;
}

// Returns false if the engine must make the copy. Compares the copies otherwise.
bool is_same_both_ways(const ArrowDeviceArray& array, const ArrowSchema& type, int64_t id, bool async) {
  Array fast;
  Array engine;
  const Effects of_fast = effects_of(id, [&] { fast = copy_in_two_passes(array, type, id, async); });
  if (fast.released()) return false;
  const Effects of_engine = effects_of(id, [&] { engine = copy_by_engine(array, type, id, async); });
  CHECK(of_fast.counts == of_engine.counts);
  CHECK(of_fast.logged == of_engine.logged);
  CHECK(of_fast.logged.starts_with("copy from cpu:0 to ext_dev:"));
  CHECK(fast->device_id == engine->device_id);
  CHECK(fast->device_type == engine->device_type);
  CHECK((fast->sync_event == nullptr) == (engine->sync_event == nullptr));
  if (describe(sim(id)).flags & ARROWDEVICE_DEVICE_ADDRESSES) CHECK(positions_of(*fast) == positions_of(*engine));
  for (const Array* const one : {&fast, &engine}) must(arrowdevice_array_wait, one->get(), nullptr, int64_t{0});
  const DeviceView fast_view(std::move(fast), type, id);
  const DeviceView engine_view(std::move(engine), type, id);
  CHECK(same_node(fast_view, fast_view.root(), engine_view, engine_view.root()));
  return true;
}

// Copies an array to a device in the given way, and returns the regions of a copy from there to another device. These
// depend on the padding that the first copy has noted.
template <typename Copy>
int64_t regions_of_next_copy(const Sample& sample, const Copy& copy_first) {
  const Array there = copy_first(*sample.host, *sample.schema, kAddresses[0], false);
  const int64_t before = counters(sim(kAddresses[1])).regions;
  const Array further = copy(*there, *sample.schema, sim(kAddresses[1]));
  CHECK(difference(sample, *further) == "");
  return counters(sim(kAddresses[1])).regions - before;
}

constexpr int64_t kBothKinds[] = {kAddresses[0], kHandles[0]};

}  // namespace

TEST_CASE("a gathered copy equals the copy of the engine for every case") {
  begin();
  int64_t gathered = 0;
  for (const HostCase& c : asked_cases()) {
    INFO(c.name);
    const Ledger ledger;
    const Schema type = c.schema();
    const Array array = from_host(c.array(ledger));
    for (const int64_t id : kBothKinds) gathered += is_same_both_ways(*array, *type, id, false);
  }
  CHECK(gathered > 0);
}

TEST_CASE("gathered copies of slices equal those of the engine") {
  begin();
  Random random(11);
  int64_t gathered = 0;
  for (const HostCase& c : few_cases()) {
    INFO(c.name);
    const Ledger ledger;
    const Schema type = c.schema();
    Array array = from_host(c.array(ledger));
    for (int i = 0; i < 8; ++i) {
      const int64_t first = random.below(array->array.length + 1);
      const int64_t rows = random.below(array->array.length - first + 1);
      INFO(first << " and " << rows << " more");
      const Array part = slice(*array, *type, first, rows);
      gathered += is_same_both_ways(*part, *type, kBothKinds[i % 2], i % 4 < 2);
    }
  }
  CHECK(gathered > 0);
}

TEST_CASE("nested tables are placed level by level") {
  begin();
  const Field type =
      struct_of({field("l", "a"), list_of(struct_of({field("b", "x"), list_of(field("u")).named("y")})).named("b"),
                 struct_of({field("i", "p"), field("u", "q")}).named("c"), field("u", "d")});
  for (const Nulls nulls : {Nulls::kNone, Nulls::kSome, Nulls::kSomeUncounted}) {
    const Sample sample(type, {.rows = 30, .nulls = nulls, .offset = 3, .child_offset = 5});
    for (const int64_t id : kBothKinds) CHECK(is_same_both_ways(*sample.host, *sample.schema, id, false));
    CHECK(regions_of_next_copy(sample, copy_in_two_passes) == regions_of_next_copy(sample, copy_by_engine));
  }
}

TEST_CASE("copies of small arrays to a device are gathered, with or without options") {
  begin();
  const Sample sample(struct_of({field("l", "n"), field("u", "t")}), kPlain);
  for (const int64_t id : kBothKinds) {
    const Queue queue = make_queue(sim(id));
    const Pool pool = make_pool(sim(id));
    const int64_t before = counters(sim(id)).regions;
    const Array plain = copy(sample, sim(id));
    const Array async = copy(sample, sim(id), ARROWDEVICE_COPY_ASYNC);
    const Array chosen = copy(*sample.host, *sample.schema, sim(id), 0, queue.get(), pool.get());
    CHECK(counters(sim(id)).regions == before + 3);
    CHECK(stats(pool.get()).allocations == 1);
    for (const Array* const one : {&plain, &async, &chosen}) CHECK(difference(sample, **one) == "");
  }
}

TEST_CASE("arrays that are not small, or that have an event, are the engine's") {
  begin();
  transfer::GatheredCopy copies[5];
  const auto measures = [](transfer::GatheredCopy& copy, const Sample& sample, device::Device& to) {
    return copy.measure(*sample.host, *sample.schema, to);
  };
  const Knobs most{.rows = 8192, .nulls = Nulls::kNone};  // 64 KiB
  CHECK(measures(copies[0], Sample(field("l"), most), device_of(0)));
  CHECK(!measures(copies[1], Sample(field("l"), {.rows = 8193, .nulls = Nulls::kNone}), device_of(0)));
  CHECK(!measures(copies[2], Sample(struct_of(std::vector<Field>(128, field("l"))).not_null(), most), device_of(0)));
  CHECK(!measures(copies[3], Sample(field("l"), kPlain), device::Devices::instance().cpu()));
  // Its offsets must not be read before the event has fired.
  const Sample sample(field("u"), kPlain);
  ArrowDeviceArray with_event = *sample.host;
  with_event.sync_event = &with_event;
  CHECK(!copies[4].measure(with_event, *sample.schema, device_of(0)));
}

TEST_CASE("a gathered copy that ends early runs on with its memory") {
  begin();
  Sample sample(field("l"), kPlain);
  const int64_t before = stats(default_pool(sim(0))).used_bytes;
  const int64_t staging_before = stats(default_pool(cpu())).used_bytes;
  Held engine(0);
  auto options = copy_options();
  options.timeout_ns = 1'000'000;
  Array out;
  must_fail(ETIMEDOUT, arrowdevice_array_to_device, sample.host.get(), sample.schema.get(), sim(0), &options,
            out.out());
  CHECK(out.released());
  CHECK(control::copies_in_flight(0) > 0);
  CHECK(stats(default_pool(sim(0))).used_bytes > before);
  CHECK(stats(default_pool(cpu())).used_bytes > staging_before);
  sample.host.reset();
  CHECK(sample.ledger.live() > 0);
  engine.resume();
  must(arrowdevice_wait_idle, ARROWDEVICE_NO_TIMEOUT);
  CHECK(sample.ledger.live() == 0);
  CHECK(stats(default_pool(sim(0))).used_bytes == before);
  CHECK(stats(default_pool(cpu())).used_bytes == staging_before);
}

TEST_CASE("the staging memory of a gathered copy is used until the copy has finished") {
  begin();
  const Sample sample(field("l"), kPlain);
  const int64_t before = stats(default_pool(cpu())).used_bytes;
  Held engine(0);
  Array there = copy(sample, sim(0), ARROWDEVICE_COPY_ASYNC);
  CHECK(stats(default_pool(cpu())).used_bytes > before);
  engine.resume();
  must(arrowdevice_wait_idle, ARROWDEVICE_NO_TIMEOUT);
  CHECK(stats(default_pool(cpu())).used_bytes == before);
  CHECK(difference(sample, *there) == "");
}

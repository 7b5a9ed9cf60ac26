// SPDX-License-Identifier: Apache-2.0
// Tests mistakes that existing implementations make with outputs, inputs and calls. Each test is named after
// the mistake that it rules out.
#include "library.h"
#include "support/canon.h"

namespace {

using namespace library_test;  // NOLINT: what every line of these tests is written with

// A second backend over the same simulated devices. It has its own table and a device type that the format
// does not name.
constexpr ArrowDeviceType kBareType = 77;

const arrowdevice_backend& bare_table() {
  static const ArrowDeviceType types[] = {kBareType};
  static const arrowdevice_backend table = [] {
    arrowdevice_backend made = *control::table();
    made.name = "bare";
    made.device_types = types;
    made.device_count = [](ArrowDeviceType, int64_t* out, arrowdevice_error*) {
      *out = 2;
      return 0;
    };
    made.device_open = [](ArrowDeviceType, int64_t id, void** device, arrowdevice_error* error) {
      return control::table()->device_open(ARROW_DEVICE_EXT_DEV, id, device, error);
    };
    made.event_publish = nullptr;
    made.event_import = nullptr;
    made.sub_buffer_create = nullptr;
    made.sub_buffer_destroy = nullptr;
    made.queue_wrap = nullptr;
    made.queue_get_native = nullptr;
    made.device_wrap = nullptr;
    made.device_unwrap = nullptr;
    made.device_get_native = nullptr;
    made.device_get_peer_flags = nullptr;
    made.device_locate = nullptr;
    made.pointer_get_info = nullptr;
    made.device_get_memory_info = nullptr;
    return made;
  }();
  return table;
}

arrowdevice_device* bare(int64_t id) {
  static const int registered = arrowdevice_backend_register(&bare_table(), nullptr);
  REQUIRE(registered == 0);
  return output_of(arrowdevice_device_find_by_id, kBareType, id);
}

TEST_CASE("mistake 5: the library does not call functions that the table lacks") {
  begin();
  Sample sample(mixed_batch(), kPlain);
  arrowdevice_device* const device = bare(0);
  arrowdevice_device* const peer = bare(1);
  const Array there = copy(sample, device, ARROWDEVICE_COPY_ASYNC);
  CHECK(there->sync_event == nullptr);  // the backend cannot publish an event, so the copy has finished
  CHECK(difference(sample, *there) == "");
  CHECK(difference(sample, *copy(*there, *sample.schema, peer)) == "");
  CHECK(difference(sample, *copy(*there, *sample.schema, sim(kHandles[0]))) == "");
  CHECK(difference(sample, *copy(*copy(sample, sim(1)), *sample.schema, device)) == "");
  Array shared = output_of(arrowdevice_array_to_device, copy(sample, device).get(), sample.schema.get(), peer, nullptr);
  CHECK(difference(sample, *shared) == "");
  auto* found = output_of(arrowdevice_array_get_device, there.get());
  CHECK(found == device);

  const Queue queue = make_queue(device);
  Owned<ArrowArray> plain(copy(sample, device).take().array);
  Array exported = output_of(arrowdevice_array_export, device, plain.get(), queue.get());
  CHECK(exported->sync_event == nullptr);
  CHECK(difference(sample, *exported) == "");

  uint32_t reach = 77;
  must(arrowdevice_device_get_peer_flags, device, peer, &reach);
  CHECK(reach == 0);
  must(arrowdevice_device_get_peer_flags, device, cpu(), &reach);
  CHECK(reach == ARROWDEVICE_PEER_COPY);
  int64_t free_bytes = 0, total = 0;
  must(arrowdevice_device_get_memory_info, device, &free_bytes, &total);
  CHECK(free_bytes == -1);
  CHECK(total == describe(device).total_memory);
  auto* buffer = output_of(arrowdevice_buffer_allocate, device, nullptr, queue.get(), 100);
  auto* part = output_of(arrowdevice_sub_buffer_create, device, buffer, 10, 5);
  CHECK(part == static_cast<char*>(buffer) + 10);
  arrowdevice_sub_buffer_destroy(device, part);
  arrowdevice_buffer_free(device, queue.get(), buffer);

  // A call that needs the missing function fails and names the function.
  auto native = sized<arrowdevice_native_queue>();
  arrowdevice_queue* wrapped = nullptr;
  must_fail_saying(ENOTSUP, "queue_wrap", arrowdevice_queue_wrap, device, &native, &wrapped);
  must_fail_saying(ENOTSUP, "queue_get_native", arrowdevice_queue_get_native, queue.get(), &native);
  auto native_device = sized<arrowdevice_native_device>();
  arrowdevice_device* wrapped_device = nullptr;
  must_fail_saying(ENOTSUP, "device_wrap", arrowdevice_device_wrap, kBareType, 0, &native_device, &wrapped_device);
  must_fail_saying(ENOTSUP, "device_get_native", arrowdevice_device_get_native, device, &native_device);
  control::UserEvent event;
  Array with_event = copy(sample, device);
  with_event->sync_event = event.sync_event();
  must_fail_saying(ENOTSUP, "event_import", arrowdevice_array_wait, with_event.get(), nullptr, ARROWDEVICE_POLL);
  with_event->sync_event = nullptr;
}

TEST_CASE("mistake 9: every call zeroes the reserved words of its output") {
  begin();
  Sample sample(mixed_batch(), kPlain);
  for (int64_t& reserved : sample.host->reserved) reserved = 0x5C5C5C5C;
  const auto check = [](const Array& out, const char* function) {
    INFO(function);
    for (const int64_t reserved : out->reserved) CHECK(reserved == 0);
  };
  const auto stained = [] {
    ArrowDeviceArray array;
    std::memset(&array, 0x5C, sizeof array);
    array.array.release = nullptr;
    return Array(array);
  };
  Array out = stained();
  must(arrowdevice_array_copy, sample.host.get(), sample.schema.get(), sim(0), nullptr, out.get());
  check(out, "copy");
  Array shared = stained();
  must(arrowdevice_array_share, sample.host.get(), shared.get());
  check(shared, "share");
  Array part = stained();
  must(arrowdevice_array_slice, sample.host.get(), sample.schema.get(), 1, 2, part.get());
  check(part, "slice");
  const int64_t first = 0;
  Array selected = stained();
  must(arrowdevice_array_select, sample.host.get(), sample.schema.get(), &first, 1, selected.get(), nullptr);
  check(selected, "select");
  auto* view = output_of(arrowdevice_array_import, shared.get(), sample.schema.get(), nullptr);
  Array of_view = stained();
  must(arrowdevice_view_share, view, of_view.get());
  check(of_view, "view_share");
  arrowdevice_view_release(view);
  Array again = stained();
  must(arrowdevice_array_share, sample.host.get(), again.get());
  for (int64_t& reserved : again->reserved) reserved = 0x5C5C5C5C;
  must(arrowdevice_array_import, again.get(), sample.schema.get(), nullptr, &view);
  Array detached = stained();
  arrowdevice_view_detach(view, detached.get());
  check(detached, "view_detach");
  Array moved = stained();
  must(arrowdevice_array_to_device, sample.host.get(), sample.schema.get(), cpu(), nullptr, moved.get());
  check(moved, "to_device");
  Owned<ArrowArray> plain(moved.take().array);
  Array back = stained();
  must(arrowdevice_array_from_host, plain.get(), back.get());
  check(back, "from_host");
  plain = Owned<ArrowArray>(back.take().array);
  const Queue queue = make_queue(sim(0));
  Array exported = stained();
  must(arrowdevice_array_export, sim(0), plain.get(), queue.get(), exported.get());
  check(exported, "export");
  plain = Owned<ArrowArray>(exported.take().array);
  exported = stained();
  must(arrowdevice_array_export, cpu(), plain.get(), nullptr, exported.get());
  check(exported, "export without a queue");
  plain = Owned<ArrowArray>(exported.take().array);
  Array with_event = stained();
  must(arrowdevice_array_export_event, sim(0), plain.get(), nullptr, nullptr, nullptr, with_event.get());
  check(with_event, "export_event");
}

TEST_CASE("mistake 9: share, slice and select refuse a CPU array with an event") {
  begin();
  Sample sample(mixed_batch(), kPlain);
  int event = 0;
  sample.host->sync_event = &event;
  Array out;
  const int64_t first = 0;
  must_fail_saying(EINVAL, "sync_event", arrowdevice_array_share, sample.host.get(), out.out());
  must_fail_saying(EINVAL, "sync_event", arrowdevice_array_slice, sample.host.get(), sample.schema.get(), 1, 2,
                   out.out());
  must_fail_saying(EINVAL, "sync_event", arrowdevice_array_select, sample.host.get(), sample.schema.get(), &first, 1,
                   out.out(), nullptr);
  sample.host->sync_event = nullptr;
  CHECK(difference(sample, *sample.host) == "");
}

TEST_CASE("mistake 11: the CPU does not read device memory to count nulls") {
  begin();
  // Memory of the simulated device faults if the CPU reads it. A null count of -1 must stay -1.
  Sample sample(struct_of({field("l"), field("u"), list_of(field("b"))}).not_null(),
                {.rows = 50, .nulls = Nulls::kSomeUncounted});
  Array there = copy(sample, sim(0));
  for (int i = 0; i < 2; ++i) {
    CHECK(there->array.children[i]->null_count > 0);  // the copy counted the nulls on the host
    there->array.children[i]->null_count = -1;        // a producer need not count nulls
  }
  Owned<ArrowArray> plain(there.take().array);
  const Queue queue = make_queue(sim(0));
  const auto before = control::counters(0);
  Array exported = output_of(arrowdevice_array_export, sim(0), plain.get(), queue.get());
  CHECK(exported->array.children[0]->null_count == -1);
  Array part = slice(*exported, *sample.schema, 3, 30);
  CHECK(part->array.children[1]->null_count == -1);
  auto* view = output_of(arrowdevice_array_import, part.get(), sample.schema.get(), nullptr);
  CHECK(arrowdevice_view_get_root(view)->children[0]->null_count == -1);
  CHECK(control::counters(0).bytes_out == before.bytes_out);
  arrowdevice_view_detach(view, part.out());
  CHECK(difference(sample, *part, 3) == "");
}

TEST_CASE("mistake 12: an array without buffers keeps its device") {
  begin();
  for (const Field& type : {field("n"), struct_of({field("n")}), struct_of({}), run_end_encoded("i", field("n"))}) {
    INFO(type.format);
    Sample sample(type, {.rows = 9, .nulls = Nulls::kNone});
    for (const int64_t id : {int64_t{1}, kHandles[1]}) {
      const Array there = copy(sample, sim(id));
      CHECK(there->device_type == ARROW_DEVICE_EXT_DEV);
      CHECK(there->device_id == id);
      CHECK(canon_problem(*there, *sample.schema, describe(sim(id))) == "");
    }
    Array moved = output_of(arrowdevice_array_to_device, sample.host.get(), sample.schema.get(), sim(1), nullptr);
    CHECK(moved->device_type == ARROW_DEVICE_EXT_DEV);
    CHECK(slice(*moved, *sample.schema, 0, 3)->device_type == ARROW_DEVICE_EXT_DEV);
  }
}

TEST_CASE("mistake 19: ids -1 and 0 of the CPU are one device") {
  begin();
  arrowdevice_device* zero = nullptr;
  arrowdevice_device* minus_one = nullptr;
  must(arrowdevice_device_find_by_id, ARROW_DEVICE_CPU, 0, &zero);
  must(arrowdevice_device_find_by_id, ARROW_DEVICE_CPU, -1, &minus_one);
  CHECK(zero == minus_one);
  const void* values = nullptr;
  for (const int64_t id : {0, -1}) {
    Sample sample(field("l"), kPlain);
    sample.host->device_id = id;
    values = sample.host->array.buffers[1];
    Array moved;
    const auto never = copy_options(ARROWDEVICE_COPY_NEVER);
    must(arrowdevice_array_to_device, sample.host.get(), sample.schema.get(), zero, &never, moved.out());
    CHECK(moved->array.buffers[1] == values);
    CHECK(moved->device_id == -1);
    moved->device_id = id;
    CHECK(slice(*moved, *sample.schema, 0, 5)->device_id == -1);
  }
}

// A producer of arrays with an invalid pointer as private_data.
struct Foreign {
  static int64_t released;
  static void release(ArrowArray* array) {
    ++released;
    for (int64_t i = 0; i < array->n_children; ++i) {
      if (array->children[i]->release != nullptr) array->children[i]->release(array->children[i]);
    }
    array->release = nullptr;
  }
};
int64_t Foreign::released = 0;

TEST_CASE("mistake 20: the library does not use another producer's private_data") {
  begin();
  const int64_t values[] = {1, 2, 3, 4};
  const void* buffers[] = {nullptr, values};
  const void* no_buffers[] = {nullptr};
  const auto schema = make_schema(struct_of({field("l").not_null()}).not_null());
  for (void* const data : {static_cast<void*>(nullptr), reinterpret_cast<void*>(uintptr_t{8})}) {
    Foreign::released = 0;
    ArrowArray child{};
    child.length = 4;
    child.n_buffers = 2;
    child.buffers = buffers;
    child.release = Foreign::release;
    child.private_data = data;
    ArrowArray* children[] = {&child};
    ArrowArray root{};
    root.length = 4;
    root.n_buffers = 1;
    root.buffers = no_buffers;
    root.n_children = 1;
    root.children = children;
    root.release = Foreign::release;
    root.private_data = data;
    Array host = output_of(arrowdevice_array_from_host, &root);
    Array there = copy(*host, *schema, sim(0));
    Array second = output_of(arrowdevice_array_share, host.get());
    Array part = slice(*host, *schema, 1, 2);
    auto* view = output_of(arrowdevice_array_import, host.get(), schema.get(), nullptr);
    arrowdevice_view_release(view);
    Owned<ArrowArray> plain(second.take().array);
    const Queue queue = make_queue(cpu());
    Array exported = output_of(arrowdevice_array_export, cpu(), plain.get(), queue.get());
    exported.reset();
    CHECK(Foreign::released == 0);
    part.reset();
    CHECK(Foreign::released == 2);
  }
}

}  // namespace

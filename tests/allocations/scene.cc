// SPDX-License-Identifier: Apache-2.0
#include "allocations/scene.h"

#include <cstring>

#include "support/reader.h"

namespace allocations {
namespace {

constexpr int64_t kLargeBytes = 9 << 20;

Field everything() {
  return struct_of({field("l", "id"), field("b", "flag"), field("u", "name"), list_of(field("u", "item")).named("tags"),
                    list_view_of(field("i")).named("ranges"), field("vu", "view"),
                    dense_union_of("0,1", {field("i"), field("u")}).named("either"),
                    run_end_encoded("i", field("s")).named("runs"),
                    dictionary_of("c", field("u")).named("a_name_that_is_longer_than_a_string_keeps_in_itself")})
      .with_metadata("key", "a value that is longer than a string keeps in itself")
      .not_null();
}

template <typename Struct>
void fill(Struct& out) {
  std::memset(static_cast<void*>(&out), 0x5C, sizeof out);
}

}  // namespace

Rows::Rows(Field type, const Knobs& knobs) : Rows(type, generate(type, knobs)) {}

Rows::Rows(Field type, Data data)
    : type_(std::move(type)), data_(std::move(data)), schema_(make_schema(type_)), twin_(make_array(data_, Ledger())) {}

const Rows& Rows::nested() {
  static const Rows rows(everything(), {.rows = 11, .child_offset = 3, .tail = 2});
  return rows;
}

const Rows& Rows::flat() {
  static const Rows rows(field("l"), {.rows = 11, .offset = 3});
  return rows;
}

const Rows& Rows::lists() {
  static const Rows rows = [] {
    const Field type = fixed_size_list_of(2, field("i", "item"));
    Data data = generate(type, {.rows = 11, .nulls = Nulls::kNoneWithBitmap, .offset = 3, .child_offset = 2});
    data.null_count = -1;
    return Rows(type, std::move(data));
  }();
  return rows;
}

const Rows& Rows::large() {
  static const Rows rows(field("l"), {.rows = kLargeBytes / 8, .nulls = Nulls::kNone});
  return rows;
}

void Rows::prepare() {
  for (auto* const rows : {nested, flat, lists, large}) rows();
}

Array Rows::host() const {
  auto array = plain();
  Array out;
  must(arrowdevice_array_from_host, array.get(), out.out());
  return out;
}

std::string Rows::difference(const ArrowDeviceArray& array, int64_t first) const {
  const Array here = copy(array, *schema_, cpu());
  if (this == &large()) return plain_difference(here->array);
  const std::string malformed = problem(*schema_, here->array);
  if (!malformed.empty()) return "malformed: " + malformed;
  return arrowdevice::testing::difference(*schema_, *twin_, first, *schema_, here->array, 0, here->array.length);
}

// Compares fixed-width values without nulls in a single step.
std::string Rows::plain_difference(const ArrowArray& here) const {
  const bool is_same = here.length == length() && std::memcmp(here.buffers[1], twin_->buffers[1], kLargeBytes) == 0;
  return is_same ? "" : "other bytes";
}

int64_t live_nodes() {
  int64_t live = 0;
  for (auto* const rows : {Rows::nested, Rows::flat, Rows::lists, Rows::large}) live += rows().ledger().live();
  return live;
}

arrowdevice_device* device(int64_t id) { return id < 0 ? cpu() : sim(id); }

const char* kind_of(int64_t id) { return id < 0 ? "the CPU" : id < kHandles[0] ? "addresses" : "handles"; }

Array on(const Rows& rows, int64_t id) {
  Array host = rows.host();
  if (id < 0) return host;
  Array there = copy(*host, *rows.schema(), sim(id), ARROWDEVICE_COPY_ASYNC);
  must(arrowdevice_array_wait, there.get(), nullptr, int64_t{ARROWDEVICE_NO_TIMEOUT});
  return there;
}

void poison(ArrowDeviceArray& out) { fill(out); }
void poison(ArrowArray& out) { fill(out); }
void poison(ArrowSchema& out) { fill(out); }
void poison(ArrowDeviceArrayStream& out) { fill(out); }
void poison(ArrowArrayStream& out) { fill(out); }

Queue queue_on(arrowdevice_device* device) { return Queue(make_queue(device)); }

Scene::~Scene() {
  held.reset();
  if (buffer == nullptr) return;
  must(arrowdevice_queue_finish, queue.get(), int64_t{ARROWDEVICE_NO_TIMEOUT});
  arrowdevice_buffer_free(device_of_buffer, nullptr, buffer);
}

void Scene::queue_pending_work(int64_t id) {
  queue = queue_on(device(id));
  device_of_buffer = device(id);
  must(arrowdevice_buffer_allocate, device(id), nullptr, nullptr, int64_t{sizeof bytes}, &buffer);
  held.emplace(id);
  arrowdevice_copy_region region{};
  region.dst_device = device(id);
  region.dst = buffer;
  region.src = bytes.data();
  region.size = sizeof bytes;
  must(arrowdevice_queue_copy, queue.get(), &region, int64_t{1});
}

void Scene::check_input() {
  held.reset();
  check(!in.released(), "the input was released");
  check_same(rows.difference(*in));
}

void Scene::check_released() const {
  check(out.released(), "the output of a call that failed is not released");
  check(host_out.released(), "the output of a call that failed is not released");
  check(schema_out.released(), "the schema that a call that failed has put out is not released");
  check(view == nullptr, "a call that failed has made a view");
}

void Scene::check_refused() {
  check_released();
  check_input();
}

void Scene::check_output() {
  held.reset();
  check(!out.released(), "nothing was put out");
  check_same(rows.difference(*out));
  out.reset();
}

void Scene::check_view() {
  held.reset();
  check(view != nullptr, "there is no view");
  check_same(rows.difference(*arrowdevice_view_get_array(view.get())));
}

}  // namespace allocations

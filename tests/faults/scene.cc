// SPDX-License-Identifier: Apache-2.0
#include "faults/scene.h"

#include <cstring>

#include "faults/driver.h"
#include "support/reader.h"

namespace faults {
namespace {

constexpr int64_t kLargeBytes = 9 << 20;
constexpr int64_t kPiecesBytes = 1280 << 10;

Field everything() {
  return struct_of({field("l", "id"), field("b", "flag"), field("u", "name"), list_of(field("u", "item")).named("tags"),
                    list_view_of(field("i")).named("ranges"), field("vu", "view"),
                    dense_union_of("0,1", {field("i"), field("u")}).named("either"),
                    run_end_encoded("i", field("s")).named("runs"),
                    dictionary_of("c", field("u")).named("a_name_that_is_longer_than_a_string_keeps_in_itself")})
      .with_metadata("key", "a value that is longer than a string keeps in itself")
      .not_null();
}

Data numbers(int64_t n, int64_t size) {
  Data data;
  data.length = n;
  data.buffers = {no_buffer(), {}};
  auto& bytes = data.buffers[1].bytes;
  bytes.resize(static_cast<size_t>(n * size));
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<unsigned char>(i * 2654435761u >> 16);
  return data;
}

// Returns lists of two bytes.
Data pairs(int32_t n) {
  Data data;
  data.length = n;
  data.buffers = {no_buffer(), {}};
  data.children = {numbers(2 * int64_t{n}, 1)};
  std::vector<int32_t> offsets(static_cast<size_t>(n) + 1);
  for (size_t i = 0; i < offsets.size(); ++i) offsets[i] = 2 * static_cast<int32_t>(i);
  const auto* const bytes = reinterpret_cast<const unsigned char*>(offsets.data());
  data.buffers[1].bytes.assign(bytes, bytes + offsets.size() * sizeof offsets[0]);
  return data;
}

bool is_plain(const Data& data) { return data.buffers.size() == 2 && data.buffers[1].bytes.size() > (64 << 10); }

}  // namespace

Rows::Rows(const Field& type, Data data, int64_t first, int64_t length)
    : data_(std::move(data)),
      schema_(make_schema(type)),
      twin_(make_array(data_, Ledger())),
      first_(first),
      length_(length) {}

const Rows& Rows::nested() {
  static const Rows rows(everything(), generate(everything(), {.rows = 17, .child_offset = 3, .tail = 4}), 5, 9);
  return rows;
}

const Rows& Rows::flat() {
  static const Rows rows(field("l"), generate(field("l"), {.rows = 40, .offset = 3}), 11, 23);
  return rows;
}

const Rows& Rows::whole() {
  static const Rows rows(everything(), generate(everything(), {.rows = 11, .child_offset = 3, .tail = 2}), 0, 11);
  return rows;
}

const Rows& Rows::whole_flat() {
  static const Rows rows(field("l"), generate(field("l"), {.rows = 11, .offset = 3}), 0, 11);
  return rows;
}

const Rows& Rows::lists() {
  static const Rows rows = [] {
    const Field type = fixed_size_list_of(2, field("i", "item"));
    Data data = generate(type, {.rows = 40, .nulls = Nulls::kNoneWithBitmap, .offset = 3, .child_offset = 2});
    data.null_count = -1;
    return Rows(type, std::move(data), 11, 23);
  }();
  return rows;
}

const Rows& Rows::long_index() {
  static const Rows rows(list_of(field("c")), pairs(20'000), 0, 20'000);
  return rows;
}

const Rows& Rows::pieces() {
  static const Rows rows(field("c"), numbers(kPiecesBytes, 1), 0, kPiecesBytes);
  return rows;
}

const Rows& Rows::large() {
  static const Rows rows(field("l"), numbers(kLargeBytes / 8, 8), 0, kLargeBytes / 8);
  return rows;
}

namespace {
constexpr const Rows& (*kAllRows[])() = {Rows::nested, Rows::flat,       Rows::whole,  Rows::whole_flat,
                                         Rows::lists,  Rows::long_index, Rows::pieces, Rows::large};
}  // namespace

void Rows::prepare() {
  for (auto* const rows : kAllRows) rows();
}

Array Rows::cut(Array all) const { return first_ == 0 ? std::move(all) : slice(*all, *schema_, first_, length_); }

Array Rows::host() const { return cut(from_host(make_array(data_, ledger_))); }

Array Rows::on(int64_t id) const {
  if (id < 0) return host();
  const Array all = from_host(make_array(data_, ledger_));
  Array there = copy(*all, *schema_, device(id), ARROWDEVICE_COPY_ASYNC);
  must(arrowdevice_array_wait, there.get(), nullptr, int64_t{ARROWDEVICE_NO_TIMEOUT});
  return cut(std::move(there));
}

std::string Rows::difference(const ArrowDeviceArray& array, int64_t first) const {
  const Array here = copy(array, *schema_, cpu());
  if (is_plain(data_)) return plain_difference(here->array);
  const std::string malformed = problem(*schema_, here->array);
  if (!malformed.empty()) return "malformed: " + malformed;
  return arrowdevice::testing::difference(*schema_, *twin_, first_ + first, *schema_, here->array, 0,
                                          here->array.length);
}

// Compares many rows without nulls byte by byte.
std::string Rows::plain_difference(const ArrowArray& here) const {
  const auto is_same = [](const Data& data, const ArrowArray& array) {
    const auto& bytes = data.buffers[1].bytes;
    return array.length == data.length && std::memcmp(array.buffers[1], bytes.data(), bytes.size()) == 0;
  };
  const bool has_same_items = data_.children.empty() || is_same(data_.children[0], *here.children[0]);
  return is_same(data_, here) && has_same_items ? "" : "other bytes";
}

int64_t live_nodes() {
  int64_t live = 0;
  for (auto* const rows : kAllRows) live += rows().ledger().live();
  return live;
}

arrowdevice_device* device(int64_t id) { return id < 0 ? cpu() : driver::is_used() ? driver::device(id) : sim(id); }

const char* kind_of(int64_t id) { return id < 0 ? "the CPU" : id < kHandles[0] ? "addresses" : "handles"; }

Scene::~Scene() {
  held.reset();
  if (buffer_ == nullptr) return;
  // The queue has failed if its device was lost.
  arrowdevice_queue_finish(queue.get(), ARROWDEVICE_NO_TIMEOUT, nullptr);
  arrowdevice_buffer_free(device(device_of_buffer_), nullptr, buffer_);
}

void Scene::use_queue(int64_t id) {
  queue = make_queue(device(id));
  device_of_buffer_ = id;
  must(arrowdevice_buffer_allocate, device(id), nullptr, nullptr, int64_t{sizeof bytes_}, &buffer_);
}

void Scene::queue_work() {
  const arrowdevice_copy_region region{device(device_of_buffer_), buffer_, 0, nullptr, bytes_.data(), 0,
                                       int64_t{sizeof bytes_},    0};
  must(arrowdevice_queue_copy, queue.get(), &region, int64_t{1});
}

void Scene::queue_pending_work() {
  held.emplace(device_of_buffer_);
  queue_work();
}

int Scene::settle(arrowdevice_error* error) {
  held.reset();
  int code = 0;
  if (!out.released()) code = arrowdevice_array_wait(out.get(), nullptr, ARROWDEVICE_NO_TIMEOUT, error);
  if (queue == nullptr) return code;
  const int finished = arrowdevice_queue_finish(queue.get(), ARROWDEVICE_NO_TIMEOUT, code == 0 ? error : nullptr);
  return code != 0 ? code : finished;
}

void Scene::check_input() {
  held.reset();
  check(!in.released(), "the input was released");
  if (!is_pending) check_same(rows.difference(*in));
}

void Scene::check_released() const {
  check(out.released(), "the output of a call that failed is not released");
  check(host_out.released(), "the output of a call that failed is not released");
  check(schema_out.released(), "the schema that a call that failed has put out is not released");
  check(view == nullptr, "a call that failed has made a view");
}

void Scene::check_refused() {
  held.reset();
  if (queue != nullptr) arrowdevice_queue_finish(queue.get(), ARROWDEVICE_NO_TIMEOUT, nullptr);
  check_released();
  check_input();
}

void Scene::check_output() {
  held.reset();
  check(!out.released(), "nothing was put out");
  if (!is_spoiled) check_same(rows.difference(*out));
  out.reset();
}

void Scene::check_view() {
  held.reset();
  check(view != nullptr, "there is no view");
  check_same(rows.difference(*arrowdevice_view_get_array(view.get())));
}

}  // namespace faults

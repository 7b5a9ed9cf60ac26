// SPDX-License-Identifier: Apache-2.0
#include "library.h"

#include <chrono>
#include <thread>

#include "support/field.h"

namespace library_test {

namespace {

constexpr unsigned char kUntouched = 0x5C;

}  // namespace

arrowdevice_error untouched_error() {
  arrowdevice_error error;
  std::memset(&error, kUntouched, sizeof error);
  return error;
}

void check_success(int code, const arrowdevice_error& error) {
  INFO((code == 0 ? "" : error.message));
  REQUIRE(code == 0);
  const arrowdevice_error untouched = untouched_error();
  REQUIRE(std::memcmp(&error, &untouched, sizeof error) == 0);
}

std::string check_refusal(int expected, int code, int code_without_error, const arrowdevice_error& error) {
  INFO(error.message);
  CHECK(code == expected);
  CHECK(error.code == code);
  CHECK(error.message[0] != '\0');
  CHECK(code_without_error == expected);
  return error.message;
}

bool contains(const std::string& text, const std::string& part) {
  UNSCOPED_INFO("in \"" << text << "\"");
  return text.find(part) != std::string::npos;
}

arrowdevice::sim::Configuration configuration(Peers peers) {
  arrowdevice::sim::Configuration made;
  made.devices.clear();
  for (int64_t id = 0; id < kSims; ++id) made.devices.push_back({.addresses = id < kHandles[0]});
  made.peers = peers;
  return made;
}

arrowdevice_device* cpu() {
  arrowdevice_device* device = nullptr;
  must(arrowdevice_device_find_by_id, ARROW_DEVICE_CPU, -1, &device);
  return device;
}

arrowdevice_device* sim(int64_t id) {
  arrowdevice_device* device = nullptr;
  must(arrowdevice_device_find_by_id, ARROW_DEVICE_EXT_DEV, id, &device);
  return device;
}

arrowdevice_pool* default_pool(arrowdevice_device* device) {
  arrowdevice_pool* pool = nullptr;
  must(arrowdevice_device_get_pool, device, &pool);
  return pool;
}

void expect_fields_gone(int64_t before) {
  const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (arrowdevice::testing::live_schema_fields() > before && std::chrono::steady_clock::now() < patience)
    std::this_thread::yield();
  CHECK(arrowdevice::testing::live_schema_fields() <= before);
}

void begin(arrowdevice::sim::Configuration configured) {
  control::reset(configuration());
  static const bool registered = arrowdevice_backend_register(control::table(), nullptr) == 0;
  REQUIRE(registered);
  must(arrowdevice_wait_idle, ARROWDEVICE_NO_TIMEOUT);
  for (int64_t id = 0; id < kSims; ++id) must(arrowdevice_pool_trim, default_pool(sim(id)));
  control::reset(std::move(configured));
}

Queue make_queue(arrowdevice_device* device) {
  arrowdevice_queue* queue = nullptr;
  must(arrowdevice_queue_create, device, &queue);
  return Queue(queue);
}

Pool make_pool(arrowdevice_device* device, const arrowdevice_pool_options* options) {
  arrowdevice_pool* pool = nullptr;
  must(arrowdevice_pool_create, device, options, &pool);
  return Pool(pool);
}

arrowdevice_pool_options pool_options() {
  arrowdevice_pool_options options{};
  options.struct_size = sizeof options;
  return options;
}

arrowdevice_import_options import_options(uint32_t flags) {
  arrowdevice_import_options options{};
  options.struct_size = sizeof options;
  options.flags = flags;
  return options;
}

arrowdevice_copy_options copy_options(uint32_t flags) {
  arrowdevice_copy_options options{};
  options.struct_size = sizeof options;
  options.flags = flags;
  return options;
}

arrowdevice_device_info describe(const arrowdevice_device* device) {
  arrowdevice_device_info info{};
  info.struct_size = sizeof info;
  must(arrowdevice_device_get_info, device, &info);
  return info;
}

Counters counters(const arrowdevice_device* device) {
  Counters counted{};
  counted.struct_size = sizeof counted;
  must(arrowdevice_device_get_counters, device, &counted);
  return counted;
}

PoolStats stats(const arrowdevice_pool* pool) {
  PoolStats figures{};
  figures.struct_size = sizeof figures;
  must(arrowdevice_pool_get_stats, pool, &figures);
  return figures;
}

int is_ready(const ArrowDeviceArray& array) {
  int ready = -1;
  must(arrowdevice_array_is_ready, &array, nullptr, &ready);
  return ready;
}

Array from_host(Owned<ArrowArray> array) {
  Array out;
  must(arrowdevice_array_from_host, array.get(), out.out());
  return out;
}

Sample::Sample(Field of, Knobs with)
    : type(std::move(of)),
      knobs(with),
      schema(make_schema(type)),
      host(from_host(make_array(generate(type, with), ledger))),
      twin(make_array(generate(type, with), Ledger())) {}

Array copy(const ArrowDeviceArray& array, const ArrowSchema& schema, arrowdevice_device* to,
           const arrowdevice_copy_options& options) {
  Array out;
  must(arrowdevice_array_copy, &array, &schema, to, &options, out.out());
  return out;
}

Array copy(const ArrowDeviceArray& array, const ArrowSchema& schema, arrowdevice_device* to, uint32_t flags) {
  return copy(array, schema, to, copy_options(flags));
}

Array copy(const Sample& sample, arrowdevice_device* to, uint32_t flags) {
  return copy(*sample.host, *sample.schema, to, flags);
}

Array slice(ArrowDeviceArray& array, const ArrowSchema& schema, int64_t offset, int64_t length) {
  Array out;
  must(arrowdevice_array_slice, &array, &schema, offset, length, out.out());
  return out;
}

std::string difference(const Sample& sample, const ArrowDeviceArray& array, int64_t first) {
  const Array here = copy(array, *sample.schema, cpu());
  const std::string malformed = problem(*sample.schema, here->array);
  if (!malformed.empty()) return "malformed: " + malformed;
  return arrowdevice::testing::difference(*sample.schema, *sample.twin, first, *sample.schema, here->array, 0,
                                          here->array.length);
}

Data data_of(int64_t length, std::vector<Buffer> buffers, std::vector<Data> children) {
  Data data;
  data.length = length;
  data.buffers = std::move(buffers);
  data.children = std::move(children);
  return data;
}

Data at(int64_t offset, Data data) {
  data.offset = offset;
  return data;
}

Data with_nulls(int64_t null_count, Data data) {
  data.null_count = null_count;
  return data;
}

Field mixed_batch() {
  return struct_of({field("l", "id"), field("b", "flag"), field("u", "name"), list_of(field("u", "item")).named("tags"),
                    list_view_of(field("i")).named("ranges"), field("vu", "view"),
                    dense_union_of("0,1", {field("i"), field("u")}).named("either"),
                    run_end_encoded("i", field("s")).named("runs"), dictionary_of("c", field("u")).named("kind")})
      .not_null();
}

}  // namespace library_test

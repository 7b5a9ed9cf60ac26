// SPDX-License-Identifier: Apache-2.0
#include "library.h"

#include <chrono>
#include <thread>

namespace library_test {

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

void until(const std::function<bool()>& condition) {
  const auto patience = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (!condition()) {
    REQUIRE(std::chrono::steady_clock::now() < patience);
    std::this_thread::yield();
  }
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

arrowdevice_pool_options pool_options() {
  auto options = sized<arrowdevice_pool_options>();
  return options;
}

arrowdevice_import_options import_options(uint32_t flags) {
  auto options = sized<arrowdevice_import_options>();
  options.flags = flags;
  return options;
}

arrowdevice_device_info describe(const arrowdevice_device* device) {
  return output_of(arrowdevice_device_get_info, device);
}

Counters counters(const arrowdevice_device* device) { return output_of(arrowdevice_device_get_counters, device); }

PoolStats stats(const arrowdevice_pool* pool) { return output_of(arrowdevice_pool_get_stats, pool); }

int is_ready(const ArrowDeviceArray& array) {
  int ready = -1;
  must(arrowdevice_array_is_ready, &array, nullptr, &ready);
  return ready;
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

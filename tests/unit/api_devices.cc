// SPDX-License-Identifier: Apache-2.0
// Tests the functions about devices.
#include <limits>
#include <thread>

#include "library.h"

namespace {

using namespace library_test;  // NOLINT: what every line of these tests is written with

// Device types that the format does not name and that no backend serves.
constexpr ArrowDeviceType kNoTypes[] = {
    0, 5, 6, 17, 99, -7, std::numeric_limits<int32_t>::max(), std::numeric_limits<int32_t>::min()};

arrowdevice_device* const kNotADevice = reinterpret_cast<arrowdevice_device*>(8);

TEST_CASE("every search for a type and id returns the same device") {
  begin();
  CHECK(sim(0) == sim(0));
  CHECK(sim(0) != sim(1));
  const auto info = describe(sim(2));
  CHECK(info.device_type == ARROW_DEVICE_EXT_DEV);
  CHECK(info.device_id == 2);
}

TEST_CASE("an unknown device type is not supported and has no devices") {
  begin();
  for (const ArrowDeviceType type : kNoTypes) {
    INFO(type);
    arrowdevice_device* device = kNotADevice;
    must_fail_saying(ENOTSUP, std::to_string(type), arrowdevice_device_find_by_id, type, 0, &device);
    CHECK(device == nullptr);
    int64_t count = 77;
    must_fail(ENOTSUP, arrowdevice_device_count, type, &count);
    CHECK(count == 0);
    auto native = sized<arrowdevice_native_device>();
    device = kNotADevice;
    must_fail(ENOTSUP, arrowdevice_device_wrap, type, 0, &native, &device);
    CHECK(device == nullptr);
  }
}

TEST_CASE("a device id out of range fails with ENODEV") {
  begin();
  for (const int64_t id : {int64_t{kSims}, int64_t{-1}, int64_t{-2}, std::numeric_limits<int64_t>::max(),
                           std::numeric_limits<int64_t>::min()}) {
    arrowdevice_device* device = kNotADevice;
    must_fail_saying(ENODEV, "ext_dev:" + std::to_string(id), arrowdevice_device_find_by_id, ARROW_DEVICE_EXT_DEV, id,
                     &device);
    CHECK(device == nullptr);
  }
  arrowdevice_device* device = kNotADevice;
  must_fail_saying(ENODEV, "cpu:1", arrowdevice_device_find_by_id, ARROW_DEVICE_CPU, 1, &device);
}

TEST_CASE("a device type without a driver has no devices and names the searched paths") {
  begin();
  int64_t count = 77;
  must(arrowdevice_device_count, ARROW_DEVICE_METAL, &count);
  CHECK(count == 0);
  arrowdevice_device* device = kNotADevice;
  must_fail_saying(ENODEV, "metal", arrowdevice_device_find_by_id, ARROW_DEVICE_METAL, 0, &device);
  CHECK(device == nullptr);
}

TEST_CASE("devices are listed by type and id, as many as fit") {
  begin();
  int64_t count = output_of(arrowdevice_device_list, nullptr, 0);
  REQUIRE(count >= 1 + kSims);
  std::vector<arrowdevice_device*> all(static_cast<size_t>(count) + 1, kNotADevice);
  must(arrowdevice_device_list, all.data(), count, &count);
  CHECK(all.back() == kNotADevice);
  all.pop_back();
  CHECK(all[0] == cpu());
  for (size_t i = 1; i < all.size(); ++i) {
    const auto before = describe(all[i - 1]);
    const auto info = describe(all[i]);
    CHECK(std::pair(before.device_type, before.device_id) < std::pair(info.device_type, info.device_id));
  }
  std::vector<arrowdevice_device*> two(3, kNotADevice);
  int64_t total = output_of(arrowdevice_device_list, two.data(), 2);
  CHECK(total == count);
  CHECK(two[1] == all[1]);
  CHECK(two[2] == kNotADevice);
}

TEST_CASE("device_get_info returns the backend's description") {
  begin();
  auto info = describe(sim(0));
  CHECK(std::string(info.backend) == "sim");
  CHECK(std::string(info.vendor) == "libarrowdevice");
  CHECK(info.name[0] != '\0');
  CHECK(info.total_memory == int64_t{4} << 30);
  CHECK(info.buffer_alignment == 64);
  CHECK(info.flags == (ARROWDEVICE_DEVICE_ADDRESSES | ARROWDEVICE_DEVICE_EVENTS | ARROWDEVICE_DEVICE_SHAREABLE));
  info = describe(sim(kHandles[0]));
  CHECK(info.flags == (ARROWDEVICE_DEVICE_EVENTS | ARROWDEVICE_DEVICE_SHAREABLE));
  CHECK(info.sub_buffer_alignment == 128);
  info = describe(cpu());
  CHECK(std::string(info.backend) == "cpu");
  CHECK(info.flags == (ARROWDEVICE_DEVICE_ADDRESSES | ARROWDEVICE_DEVICE_HOST_READABLE | ARROWDEVICE_DEVICE_SHAREABLE));
  CHECK(info.device_id == 0);
}

TEST_CASE("device_get_peer_flags returns the backend's flags") {
  const auto reach = [](arrowdevice_device* from, arrowdevice_device* to) {
    uint32_t out = 77;
    must(arrowdevice_device_get_peer_flags, from, to, &out);
    return out;
  };
  constexpr uint32_t kBoth = ARROWDEVICE_PEER_ACCESS | ARROWDEVICE_PEER_COPY;
  begin();
  CHECK(reach(sim(0), sim(0)) == kBoth);
  CHECK(reach(cpu(), cpu()) == kBoth);
  CHECK(reach(cpu(), sim(0)) == ARROWDEVICE_PEER_COPY);
  CHECK(reach(sim(0), cpu()) == ARROWDEVICE_PEER_COPY);
  CHECK(reach(sim(0), sim(1)) == ARROWDEVICE_PEER_COPY);
  begin(configuration(Peers::kNone));
  CHECK(reach(sim(0), sim(1)) == 0);
  begin(configuration(Peers::kAccess));
  CHECK(reach(sim(0), sim(1)) == kBoth);
  CHECK(reach(sim(0), sim(2)) == ARROWDEVICE_PEER_COPY);
}

TEST_CASE("a device is found by its name, and an invalid name is refused") {
  begin();
  const auto find = [](const char* name) { return output_of(arrowdevice_device_find_by_name, name); };
  CHECK(find("cpu") == cpu());
  CHECK(find("cpu:0") == cpu());
  CHECK(find("ext_dev") == sim(0));
  CHECK(find("ext_dev:3") == sim(3));
  for (const char* name : {"", ":", ":0", "cpu:", "cpu:x", "cpu:0x", "cpu:-1", "cpu: 0", "cpu:0:0", "gpu",
                           "ext_dev:99999999999999999999", "cpu\xFF"}) {
    INFO(name);
    arrowdevice_device* device = kNotADevice;
    must_fail(EINVAL, arrowdevice_device_find_by_name, name, &device);
    CHECK(device == nullptr);
  }
  arrowdevice_device* device = kNotADevice;
  CHECK(find("CPU:0") == cpu());
  CHECK(find("Ext_Dev:1") == sim(1));
  // A word that is close to a type, or that names a backend, is explained.
  for (const auto& [name, message] : {std::pair{"opncl:0", R"(no device type "opncl" (did you mean "opencl"?))"},
                                      {"cdua", R"(no device type "cdua" (did you mean "cuda"?))"},
                                      {"CUAD", R"(no device type "CUAD" (did you mean "cuda"?))"},
                                      {"hip:0", R"(no device type "hip" (did you mean "rocm"?))"},
                                      {"level_zero", R"(no device type "level_zero" (did you mean "oneapi"?))"},
                                      {"extdev:1", R"(no device type "extdev" (did you mean "ext_dev"?))"}}) {
    must_fail_saying(EINVAL, message, arrowdevice_device_find_by_name, name, &device);
  }
  for (const char* name : {"toaster:0", ":0", "gpu:0", "a name that is longer than every name of a device type"}) {
    CHECK_FALSE(contains(must_fail(EINVAL, arrowdevice_device_find_by_name, name, &device), "did you mean"));
  }
  must_fail(ENODEV, arrowdevice_device_find_by_name, "ext_dev:4", &device);
}

TEST_CASE("every device type that the format names has a name, and no other has one") {
  const std::pair<ArrowDeviceType, const char*> names[] = {{ARROW_DEVICE_CPU, "cpu"},
                                                           {ARROW_DEVICE_CUDA, "cuda"},
                                                           {ARROW_DEVICE_CUDA_HOST, "cuda_host"},
                                                           {ARROW_DEVICE_OPENCL, "opencl"},
                                                           {ARROW_DEVICE_VULKAN, "vulkan"},
                                                           {ARROW_DEVICE_METAL, "metal"},
                                                           {ARROW_DEVICE_VPI, "vpi"},
                                                           {ARROW_DEVICE_ROCM, "rocm"},
                                                           {ARROW_DEVICE_ROCM_HOST, "rocm_host"},
                                                           {ARROW_DEVICE_EXT_DEV, "ext_dev"},
                                                           {ARROW_DEVICE_CUDA_MANAGED, "cuda_managed"},
                                                           {ARROW_DEVICE_ONEAPI, "oneapi"},
                                                           {ARROW_DEVICE_WEBGPU, "webgpu"},
                                                           {ARROW_DEVICE_HEXAGON, "hexagon"}};
  for (const auto& [type, name] : names) CHECK(arrowdevice_device_type_get_name(type) == std::string(name));
  for (const ArrowDeviceType type : kNoTypes) CHECK(arrowdevice_device_type_get_name(type) == nullptr);
}

TEST_CASE("an allocation lowers a device's free memory") {
  begin();
  int64_t before = 0, total = 0;
  must(arrowdevice_device_get_memory_info, sim(0), &before, &total);
  CHECK(total == describe(sim(0)).total_memory);
  auto* buffer = output_of(arrowdevice_buffer_allocate, sim(0), nullptr, nullptr, 1 << 20);
  int64_t after = 0;
  must(arrowdevice_device_get_memory_info, sim(0), &after, nullptr);
  CHECK(before - after == 1 << 20);
  must(arrowdevice_device_get_memory_info, sim(0), nullptr, nullptr);
  arrowdevice_buffer_free(sim(0), nullptr, buffer);
  must_fail(EINVAL, arrowdevice_device_get_memory_info, nullptr, &before, &total);
  control::lose(0);
  must_fail(EIO, arrowdevice_device_get_memory_info, sim(0), &before, &total);
}

// Returns a native device. A variable of the test is its context.
arrowdevice_native_device context_of(int& mine) {
  auto native = sized<arrowdevice_native_device>();
  native.context = &mine;
  return native;
}

TEST_CASE("a wrapped context is its own device until each wrap has its unwrap") {
  begin();
  int mine = 0;
  const auto native = context_of(mine);
  auto* wrapped = output_of(arrowdevice_device_wrap, ARROW_DEVICE_EXT_DEV, 1, &native);
  CHECK(wrapped != sim(1));
  auto info = describe(wrapped);
  CHECK(info.device_id == 1);
  CHECK((info.flags & ARROWDEVICE_DEVICE_WRAPPED) != 0);
  CHECK((describe(sim(1)).flags & ARROWDEVICE_DEVICE_WRAPPED) == 0);
  auto* again = output_of(arrowdevice_device_wrap, ARROW_DEVICE_EXT_DEV, 1, &native);
  CHECK(again == wrapped);
  int other_mine = 0;
  const auto other_native = context_of(other_mine);
  auto* other = output_of(arrowdevice_device_wrap, ARROW_DEVICE_EXT_DEV, 1, &other_native);
  CHECK(other != wrapped);

  Sample sample(mixed_batch());
  auto there = copy(sample, wrapped);
  auto* found = output_of(arrowdevice_array_get_device, there.get());
  CHECK(found == wrapped);
  CHECK(difference(sample, *there) == "");

  must(arrowdevice_device_unwrap, wrapped, ARROWDEVICE_POLL);  // undoes the second wrap
  must_fail_saying(EBUSY, "alive", arrowdevice_device_unwrap, wrapped, ARROWDEVICE_NO_TIMEOUT);
  CHECK(difference(sample, *there) == "");
  there.reset();
  must(arrowdevice_device_unwrap, wrapped, ARROWDEVICE_NO_TIMEOUT);
  must_fail_saying(ENODEV, "unwrapped", arrowdevice_device_unwrap, wrapped, ARROWDEVICE_NO_TIMEOUT);
  Array out;
  must_fail(ENODEV, arrowdevice_array_copy, sample.host.get(), sample.schema.get(), wrapped, nullptr, out.out());
  arrowdevice_queue* queue = nullptr;
  must_fail(ENODEV, arrowdevice_queue_create, wrapped, &queue);
  int64_t free_bytes = 0;
  must_fail(ENODEV, arrowdevice_device_get_memory_info, wrapped, &free_bytes, &free_bytes);
  auto info_after = sized<arrowdevice_device_info>();
  must_fail(ENODEV, arrowdevice_device_get_info, wrapped, &info_after);

  must(arrowdevice_device_wrap, ARROW_DEVICE_EXT_DEV, 1, &native, &again);
  CHECK(difference(sample, *copy(sample, again)) == "");
  must(arrowdevice_device_unwrap, again, ARROWDEVICE_NO_TIMEOUT);
  must(arrowdevice_device_unwrap, other, ARROWDEVICE_NO_TIMEOUT);
  CHECK(control::refused() == 0);
}

TEST_CASE("the context of an array is found by any buffer that it has") {
  begin();
  int mine = 0;
  const auto native = context_of(mine);
  const Data numbers = data_of(2, {no_buffer(), buffer_of<int32_t>({1, 2})});
  const Data nothing = data_of(2, {});
  const Data no_index = data_of(0, {no_buffer(), no_buffer()});
  Data dictionary = no_index;
  dictionary.dictionary = std::make_shared<Data>(numbers);
  const struct {
    const char* where;
    Field type;
    Data data;
  } cases[] = {
      {"in the second column", struct_of({field("n"), field("i")}), data_of(2, {no_buffer()}, {nothing, numbers})},
      {"in a column of the second column", struct_of({field("n"), struct_of({field("n"), field("i")})}),
       data_of(2, {no_buffer()}, {nothing, data_of(2, {no_buffer()}, {nothing, numbers})})},
      {"in the dictionary", dictionary_of("c", field("i")), dictionary},
  };
  for (const auto& one : cases) {
    for (const int64_t id : {kAddresses[0], kHandles[0]}) {
      INFO(one.where << " on device " << id);
      auto* wrapped = output_of(arrowdevice_device_wrap, ARROW_DEVICE_EXT_DEV, id, &native);
      const auto schema = make_schema(one.type);
      Array there = copy(*from_host(make_array(one.data, Ledger())), *schema, wrapped);
      auto* found = output_of(arrowdevice_array_get_device, there.get());
      CHECK(found == wrapped);
      there.reset();
      must(arrowdevice_device_unwrap, wrapped, ARROWDEVICE_NO_TIMEOUT);
    }
  }
}

TEST_CASE("the search for a buffer ends in an array that contains itself") {
  begin();
  ArrowDeviceArray array{};
  ArrowArray* children[] = {&array.array, &array.array};
  array.array.n_children = 2;
  array.array.children = children;
  array.array.release = [](ArrowArray* released) { released->release = nullptr; };
  array.device_type = ARROW_DEVICE_EXT_DEV;
  array.device_id = 1;
  auto* found = output_of(arrowdevice_array_get_device, &array);
  CHECK(found == sim(1));
}

// A wrapped device with work that is pending until resume() is called. The device cannot be unwrapped
// earlier.
class BusyWrapping {
 public:
  BusyWrapping() : queue_(make_queue(sim(0))), engine_(0) {
    must(arrowdevice_device_wrap, ARROW_DEVICE_EXT_DEV, 1, &native_, &device_);
    must(arrowdevice_array_release_after, sample_.host.get(), queue_.get());
  }

  const arrowdevice_native_device& native() const { return native_; }
  arrowdevice_device* device() const { return device_; }
  void resume() { engine_.resume(); }

 private:
  int mine_ = 0;
  const arrowdevice_native_device native_ = context_of(mine_);
  arrowdevice_device* device_ = nullptr;
  Sample sample_{field("l")};
  const Queue queue_;
  Held engine_;
};

TEST_CASE("unwrapping a device with pending work times out") {
  begin();
  BusyWrapping wrapping;
  must_fail(ETIMEDOUT, arrowdevice_device_unwrap, wrapping.device(), ARROWDEVICE_POLL);
  wrapping.resume();
  must(arrowdevice_device_unwrap, wrapping.device(), ARROWDEVICE_NO_TIMEOUT);
}

TEST_CASE("a device that another thread is unwrapping is not wrapped once more") {
  begin();
  BusyWrapping wrapping;
  int code = EBUSY;
  std::thread unwrapping([&] {
    while (code == EBUSY) code = arrowdevice_device_unwrap(wrapping.device(), ARROWDEVICE_NO_TIMEOUT, nullptr);
  });
  while (arrowdevice_device_unwrap(wrapping.device(), ARROWDEVICE_POLL, nullptr) != EBUSY) std::this_thread::yield();
  arrowdevice_device* again = nullptr;
  must_fail_saying(EBUSY, "another thread", arrowdevice_device_wrap, ARROW_DEVICE_EXT_DEV, 1, &wrapping.native(),
                   &again);
  wrapping.resume();
  unwrapping.join();
  CHECK(code == 0);
  must(arrowdevice_device_wrap, ARROW_DEVICE_EXT_DEV, 1, &wrapping.native(), &again);
  must(arrowdevice_device_unwrap, again, ARROWDEVICE_NO_TIMEOUT);
}

TEST_CASE("unwrap refuses devices that are not wrapped, and wrap refuses invalid handles") {
  begin();
  must_fail(EINVAL, arrowdevice_device_unwrap, nullptr, ARROWDEVICE_POLL);
  must_fail_saying(EINVAL, "not wrapped", arrowdevice_device_unwrap, sim(0), ARROWDEVICE_POLL);
  arrowdevice_device* device = kNotADevice;
  auto native = sized<arrowdevice_native_device>();
  must_fail(EINVAL, arrowdevice_device_wrap, ARROW_DEVICE_EXT_DEV, 0, &native, &device);
  CHECK(device == nullptr);
  must_fail(EINVAL, arrowdevice_device_wrap, ARROW_DEVICE_EXT_DEV, 0, nullptr, &device);
  must_fail(EINVAL, arrowdevice_device_wrap, ARROW_DEVICE_EXT_DEV, 0, &native, nullptr);
  must_fail(ENOTSUP, arrowdevice_device_wrap, ARROW_DEVICE_CPU, 0, &native, &device);
  must_fail(ENODEV, arrowdevice_device_wrap, ARROW_DEVICE_METAL, 0, &native, &device);
}

TEST_CASE("a device returns its driver's handles, and wrapping them returns the device") {
  begin();
  auto native = output_of(arrowdevice_device_get_native, sim(1));
  REQUIRE(native.device != nullptr);
  REQUIRE(native.context != nullptr);
  auto* wrapped = output_of(arrowdevice_device_wrap, ARROW_DEVICE_EXT_DEV, 1, &native);
  CHECK(wrapped == sim(1));
  must(arrowdevice_device_wrap, ARROW_DEVICE_EXT_DEV, 1, &native, &wrapped);
  for (const int64_t n : {1, 2}) control::fail_nth("device_unwrap", n);  // must_fail() calls twice
  must_fail(EIO, arrowdevice_device_unwrap, wrapped, ARROWDEVICE_NO_TIMEOUT);
  must(arrowdevice_device_unwrap, wrapped, ARROWDEVICE_NO_TIMEOUT);
  must(arrowdevice_device_unwrap, wrapped, ARROWDEVICE_NO_TIMEOUT);  // undoes the wraps only
  must_fail(EINVAL, arrowdevice_device_unwrap, wrapped, ARROWDEVICE_NO_TIMEOUT);
  CHECK(describe(sim(1)).device_id == 1);
  must_fail(EINVAL, arrowdevice_device_get_native, nullptr, &native);
  must_fail(EINVAL, arrowdevice_device_get_native, sim(1), nullptr);
  must_fail(ENOTSUP, arrowdevice_device_get_native, cpu(), &native);
}

TEST_CASE("device functions name their missing arguments") {
  begin();
  arrowdevice_device* device = nullptr;
  int64_t count = 0;
  uint32_t reach = 0;
  must_fail_saying(EINVAL, "out", arrowdevice_device_find_by_id, ARROW_DEVICE_CPU, 0, nullptr);
  must_fail_saying(EINVAL, "out", arrowdevice_device_count, ARROW_DEVICE_CPU, nullptr);
  must_fail_saying(EINVAL, "count", arrowdevice_device_list, &device, 1, nullptr);
  must_fail_saying(EINVAL, "out", arrowdevice_device_list, nullptr, 1, &count);
  must_fail_saying(EINVAL, "capacity", arrowdevice_device_list, &device, -1, &count);
  must_fail_saying(EINVAL, "from", arrowdevice_device_get_peer_flags, nullptr, sim(0), &reach);
  must_fail_saying(EINVAL, "to", arrowdevice_device_get_peer_flags, sim(0), nullptr, &reach);
  must_fail_saying(EINVAL, "out", arrowdevice_device_get_peer_flags, sim(0), sim(0), nullptr);
  must_fail_saying(EINVAL, "name", arrowdevice_device_find_by_name, nullptr, &device);
  must_fail_saying(EINVAL, "out", arrowdevice_device_find_by_name, "cpu", nullptr);
  auto info = sized<arrowdevice_device_info>();
  must_fail_saying(EINVAL, "device", arrowdevice_device_get_info, nullptr, &info);
  must_fail_saying(EINVAL, "info", arrowdevice_device_get_info, sim(0), nullptr);
  auto counted = sized<Counters>();
  must_fail_saying(EINVAL, "device", arrowdevice_device_get_counters, nullptr, &counted);
  must_fail_saying(EINVAL, "counters", arrowdevice_device_get_counters, sim(0), nullptr);
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// Tests structs that begin with their size. The program may be compiled before or after this release.
#include "library.h"

namespace {

using namespace library_test;  // NOLINT: what every line of these tests is written with

constexpr unsigned char kUntouched = 0x5C;
constexpr uint32_t kMore = 40;  // bytes that a later release may have added

// Calls `fill` with structs of several sizes. Bytes behind the known struct are set to zero, up to the given
// size.
template <typename Struct>
void check_filled(const std::function<int(Struct*, arrowdevice_error*)>& fill) {
  struct Later {
    Struct known;
    unsigned char more[kMore];
  } later;
  auto exact = sized<Struct>();
  REQUIRE(fill(&exact, nullptr) == 0);
  CHECK(exact.struct_size == sizeof exact);

  std::memset(&later, kUntouched, sizeof later);
  later.known.struct_size = sizeof later - 8;
  REQUIRE(fill(&later.known, nullptr) == 0);
  CHECK(later.known.struct_size == sizeof later - 8);
  const auto* bytes = reinterpret_cast<const unsigned char*>(&later);
  for (size_t i = sizeof(Struct); i < sizeof later - 8; ++i) CHECK(bytes[i] == 0);
  for (size_t i = sizeof later - 8; i < sizeof later; ++i) CHECK(bytes[i] == kUntouched);
  CHECK(std::memcmp(bytes + 4, reinterpret_cast<const unsigned char*>(&exact) + 4, sizeof exact - 4) == 0);

  for (const uint32_t size : {uint32_t{0}, uint32_t{4}, uint32_t{sizeof(Struct)} - 1}) {
    std::memset(&later, kUntouched, sizeof later);
    later.known.struct_size = size;
    arrowdevice_error error{};
    CHECK(fill(&later.known, &error) == EINVAL);
    CHECK(contains(error.message, "struct_size is " + std::to_string(size)));
    for (size_t i = 4; i < sizeof later; ++i) REQUIRE(bytes[i] == kUntouched);
  }
}

TEST_CASE("info structs are filled up to the caller's size and zeroed past the library's") {
  begin();
  const auto warm = make_queue(sim(0));
  check_filled<arrowdevice_device_info>([](auto* out, auto* e) { return arrowdevice_device_get_info(sim(0), out, e); });
  check_filled<Counters>([](auto* out, auto* e) { return arrowdevice_device_get_counters(sim(0), out, e); });
  check_filled<PoolStats>([](auto* out, auto* e) { return arrowdevice_pool_get_stats(default_pool(sim(0)), out, e); });
  check_filled<arrowdevice_native_queue>(
      [&](auto* out, auto* e) { return arrowdevice_queue_get_native(warm.get(), out, e); });
  check_filled<arrowdevice_native_device>(
      [](auto* out, auto* e) { return arrowdevice_device_get_native(sim(0), out, e); });
  check_filled<arrowdevice_backend_report>(
      [](auto* out, auto* e) { return arrowdevice_backend_get_report(0, out, e); });
}

// Calls `use` with options of several sizes. All options are zero.
template <typename Options>
void check_read(const std::function<int(const Options*, arrowdevice_error*)>& use) {
  struct Later {
    Options known;
    unsigned char more[kMore];
  } later;
  CHECK(use(nullptr, nullptr) == 0);
  auto exact = sized<Options>();
  CHECK(use(&exact, nullptr) == 0);
  std::memset(&later, 0, sizeof later);
  std::memset(later.more, kUntouched, sizeof later.more);  // options that only a later release understands
  later.known.struct_size = sizeof later;
  CHECK(use(&later.known, nullptr) == 0);
  CHECK(later.known.struct_size == sizeof later);
  for (const uint32_t size : {uint32_t{0}, uint32_t{4}, uint32_t{sizeof(Options)} - 1}) {
    exact.struct_size = size;
    arrowdevice_error error{};
    CHECK(use(&exact, &error) == EINVAL);
    CHECK(contains(error.message, "struct_size is " + std::to_string(size)));
  }
}

TEST_CASE("options are read up to the smaller struct size, and NULL means the defaults") {
  begin();
  Sample sample(field("l"));
  check_read<arrowdevice_copy_options>([&](const auto* options, auto* e) {
    Array out;
    return arrowdevice_array_copy(sample.host.get(), sample.schema.get(), sim(0), options, out.out(), e);
  });
  check_read<arrowdevice_copy_options>([&](const auto* options, auto* e) {
    Array source = copy(sample, sim(0));
    Array out;
    return arrowdevice_array_to_device(source.get(), sample.schema.get(), sim(1), options, out.out(), e);
  });
  check_read<arrowdevice_copy_options>([&](const auto* options, auto* e) {
    Array source = copy(sample, sim(0));
    Owned<ArrowArray> out;
    return arrowdevice_array_to_host(source.get(), sample.schema.get(), options, out.out(), e);
  });
  check_read<arrowdevice_import_options>([&](const auto* options, auto* e) {
    Array source = copy(sample, sim(0));
    arrowdevice_view* view = nullptr;
    const int code = arrowdevice_array_import(source.get(), sample.schema.get(), options, &view, e);
    arrowdevice_view_release(view);
    return code;
  });
  check_read<arrowdevice_pool_options>([&](const auto* options, auto* e) {
    arrowdevice_pool* pool = nullptr;
    const int code = arrowdevice_pool_create(sim(0), options, &pool, e);
    arrowdevice_pool_destroy(pool);
    return code;
  });
}

TEST_CASE("native handles are read up to their struct_size") {
  begin();
  int mine = 0;
  arrowdevice_native_device device{};
  device.context = &mine;
  arrowdevice_device* wrapped = nullptr;
  for (const uint32_t size : {uint32_t{0}, uint32_t{sizeof device} - 1}) {
    device.struct_size = size;
    must_fail_saying(EINVAL, "struct_size", arrowdevice_device_wrap, ARROW_DEVICE_EXT_DEV, 0, &device, &wrapped);
  }
  arrowdevice_native_queue queue{};
  arrowdevice_queue* wrapped_queue = nullptr;
  for (const uint32_t size : {uint32_t{0}, uint32_t{sizeof queue} - 1}) {
    queue.struct_size = size;
    must_fail_saying(EINVAL, "struct_size", arrowdevice_queue_wrap, sim(0), &queue, &wrapped_queue);
  }
  struct {
    arrowdevice_native_queue known;
    unsigned char more[kMore];
  } later{};
  later.known.struct_size = sizeof later;
  must(arrowdevice_queue_wrap, sim(0), &later.known, &wrapped_queue);
  arrowdevice_queue_destroy(wrapped_queue);
}

TEST_CASE("an error has code, backend and the driver's text, truncated if too long") {
  begin();
  control::fail_next("queue_create", ENOMEM);
  arrowdevice_error error{};
  arrowdevice_queue* queue = nullptr;
  CHECK(arrowdevice_queue_create(sim(0), &queue, &error) == ENOMEM);
  CHECK(error.code == ENOMEM);
  CHECK(std::string(error.backend) == "sim");
  CHECK(contains(error.message, "queue_create"));
  CHECK(arrowdevice_queue_create(nullptr, &queue, &error) == EINVAL);
  CHECK(std::string(error.backend).empty());

  const std::string long_path = "/" + std::string(2'000, 'x') + "\xC3\xA4";
  CHECK(arrowdevice_backend_load(long_path.c_str(), &error) != 0);
  CHECK(std::memchr(error.message, 0, sizeof error.message) != nullptr);
  CHECK(std::string(error.message).size() == sizeof error.message - 1);
}

}  // namespace

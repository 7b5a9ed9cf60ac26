// SPDX-License-Identifier: Apache-2.0
// Tests validation of arrays on devices: where the buffers are, how large they are, and when they are ready.
#include "library.h"
#include "validate_data.h"

namespace {

using namespace library_test;  // NOLINT: what every line of these tests is written with

TEST_CASE("a buffer on another device than its array is refused with both ids") {
  begin();
  Sample sample(field("i"));
  Array there = copy(sample, sim(0));
  there->device_id = 1;
  const std::string message = must_fail(EINVAL, arrowdevice_array_validate, there.get(), sample.schema.get(), sim(1),
                                        ARROWDEVICE_VALIDATE_FULL);
  CHECK(contains(message, "array: the validity buffer is on device_id 0, and the array says device_id 1"));
  there->device_id = 0;
  must(arrowdevice_array_validate, there.get(), sample.schema.get(), nullptr, ARROWDEVICE_VALIDATE_FULL);
}

TEST_CASE("a buffer on another device is accepted if the array's device has access") {
  begin(configuration(Peers::kAccess));
  Sample sample(field("i"));
  Array there = copy(sample, sim(0));
  Array moved = output_of(arrowdevice_array_to_device, there.get(), sample.schema.get(), sim(1), nullptr);
  CHECK(moved->device_id == 1);
  must(arrowdevice_array_validate, moved.get(), sample.schema.get(), nullptr, ARROWDEVICE_VALIDATE_FULL);
  // Handles are valid only on their own device.
  Array handles = copy(sample, sim(2));
  handles->device_id = 3;
  must_fail_saying(EINVAL, "is on device_id 2, and the array says device_id 3", arrowdevice_array_validate,
                   handles.get(), sample.schema.get(), sim(3), ARROWDEVICE_VALIDATE_FULL);
  handles->device_id = 2;
}

TEST_CASE("a buffer that is too small for its slots is refused if the driver knows it") {
  begin();
  constexpr int64_t kFarTooMany = 100'000'000;
  Sample sample(field("l").not_null());
  Array there = copy(sample, sim(0));
  there->array.length = kFarTooMany;
  must_fail_saying(EINVAL, "array: the data buffer needs 800000000 bytes, and its memory ends after",
                   arrowdevice_array_validate, there.get(), sample.schema.get(), nullptr, ARROWDEVICE_VALIDATE_FULL);
}

// Tests only memory of devices, because the library does not know the end of host memory.
TEST_CASE("data that refers outside of a driver's memory is refused before a read") {
  begin();
  const auto write = [](int64_t place, const ArrowArray& array, size_t buffer, int64_t offset, auto value) {
    control::poke(place, const_cast<void*>(array.buffers[buffer]), offset, &value, sizeof value);
  };
  const auto text_schema = make_schema(field("u"));
  const auto runs_schema = make_schema(run_end_encoded("i", field("c")));
  const Array text_host = from_host(make_array(bytes_of_three("abcdef", 2, 4), Ledger()));
  const Array runs_host = from_host(make_array(run_ends({2, 4, 6}, 6), Ledger()));
  for (const int64_t place : {int64_t{0}, int64_t{2}}) {
    INFO("on device " << place);
    const Array texts = copy(*text_host, *text_schema, sim(place));
    write(place, texts->array, 1, 12, int32_t{1} << 30);
    must_fail_saying(EINVAL, "array: slot 3 has offset 1073741824, and there are ", arrowdevice_array_validate,
                     texts.get(), text_schema.get(), nullptr, ARROWDEVICE_VALIDATE_FULL);
    const Array runs = copy(*runs_host, *runs_schema, sim(place));
    runs->array.children[0]->length = runs->array.children[1]->length = 100'000'000;
    must_fail_saying(EINVAL, "array.run_ends: the data buffer needs 400000000 bytes, and its memory ends after ",
                     arrowdevice_array_validate, runs.get(), runs_schema.get(), nullptr, ARROWDEVICE_VALIDATE_FULL);
  }
  const auto view_schema = make_schema(field("vz"));
  const Array view_host = from_host(make_array(views({kFirstView, kSecondView}, kTwoTexts), Ledger()));
  const Array there = copy(*view_host, *view_schema, sim(0));
  const int64_t far_too_many = int64_t{1} << 40;
  std::memcpy(const_cast<void*>(there->array.buffers[3]), &far_too_many, sizeof far_too_many);  // on the host
  must_fail_saying(EINVAL, "array: variadic buffer 0 has 1099511627776 bytes, and its memory ends after ",
                   arrowdevice_array_validate, there.get(), view_schema.get(), nullptr, ARROWDEVICE_VALIDATE_FULL);
}

TEST_CASE("validation waits for the array and returns the error of its work") {
  begin();
  Sample sample(field("u"), {.rows = 100});
  {
    Held engine(0);
    Array there = copy(sample, sim(0), ARROWDEVICE_COPY_ASYNC);
    auto options = import_options();
    options.validate = ARROWDEVICE_VALIDATE_FULL;
    options.timeout_ns = 1;
    arrowdevice_view* view = nullptr;
    arrowdevice_error error{};
    CHECK(arrowdevice_array_import(there.get(), sample.schema.get(), &options, &view, &error) == ETIMEDOUT);
    CHECK(!there.released());
    engine.resume();
    must(arrowdevice_array_validate, there.get(), sample.schema.get(), nullptr, ARROWDEVICE_VALIDATE_FULL);
  }
  const Array failing = copy(sample, sim(0));
  control::fail_nth("queue_copy", 1);
  arrowdevice_error error{};
  CHECK(arrowdevice_array_validate(failing.get(), sample.schema.get(), nullptr, ARROWDEVICE_VALIDATE_FULL, &error) ==
        EIO);
  CHECK(contains(error.message, "copy"));
  must(arrowdevice_array_validate, failing.get(), sample.schema.get(), nullptr, ARROWDEVICE_VALIDATE_FULL);
}

// Uses several megabytes of offsets, of views and of a single text, so that each is read in pieces.

}  // namespace

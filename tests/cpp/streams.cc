// SPDX-License-Identifier: Apache-2.0
// Tests arrowdevice.hpp: streams are ranges of owners.
#include "cpp/cpp.h"

#include <algorithm>
#include <iterator>

namespace {

using namespace cpp_test;  // NOLINT: what every line of these tests is written with

ad::TypedArray batch_of(int32_t first) {
  return ad::BatchBuilder().add("value", std::vector<int32_t>{first, first + 1}).build();
}

// Returns a stream of the batches {0, 1}, {2, 3}, ...
ad::DeviceArrayStream stream_of(int32_t batches) {
  ad::Schema schema = batch_of(0).schema;
  std::vector<ad::DeviceArray> arrays;
  for (int32_t i = 0; i < batches; ++i) arrays.push_back(batch_of(2 * i).array);
  return ad::DeviceArrayStream::from_arrays(std::move(schema), std::move(arrays), ARROW_DEVICE_CPU);
}

std::vector<int32_t> values_of(ad::DeviceArray&& batch, const ad::Schema& schema) {
  const ad::View view(std::move(batch).to_device(schema, ad::Device::find_by_name("cpu")), schema);
  return list(view.column("value").values<int32_t>());
}

// A stream that gives one array and then fails, with or without a message.
template <typename Stream, typename Array>
struct Failing {
  explicit Failing(const char* said) : text(said) {}

  Stream stream() {
    Stream made{};
    made.get_schema = [](Stream*, ArrowSchema*) { return EACCES; };
    made.get_next = [](Stream* self, Array* out) {
      auto& failing = *static_cast<Failing*>(self->private_data);
      if (failing.asked++ == 0) {
        give(out);
        return 0;
      }
      return EPIPE;
    };
    made.get_last_error = [](Stream* self) { return static_cast<Failing*>(self->private_data)->text; };
    made.release = [](Stream* self) {
      ++static_cast<Failing*>(self->private_data)->releases;
      self->release = nullptr;
    };
    made.private_data = this;
    return made;
  }

  static void give(ArrowDeviceArray* out) { ad::make_array(std::vector<int32_t>{1}).array.hand_over(out); }
  static void give(ArrowArray* out) {
    ArrowDeviceArray array;
    give(&array);
    *out = array.array;
  }

  const char* text;
  int asked = 0, releases = 0;
};

static_assert(kMovesOnly<ad::DeviceArrayStream> && kMovesOnly<ad::ArrayStream>);
static_assert(std::is_same_v<std::iterator_traits<ad::ArrayStream::iterator>::value_type, ad::Array>);
#if __cplusplus >= 202002L
static_assert(std::input_iterator<ad::DeviceArrayStream::iterator> && std::input_iterator<ad::ArrayStream::iterator>);
static_assert(std::ranges::input_range<ad::DeviceArrayStream&>);
#endif

}  // namespace

TEST_CASE("a device stream is a range of its batches and has a schema") {
  for (const char* name : kDevices) {
    INFO(name);
    const ad::Device device = ad::Device::find_by_name(name);
    ad::DeviceArrayStream stream = stream_of(5).to_device(device);
    const ad::Schema schema = stream.schema();
    std::vector<int32_t> seen;
    for (ad::DeviceArray& batch : stream) {
      CHECK(batch.device() == device);
      for (const int32_t value : values_of(std::move(batch), schema)) seen.push_back(value);
      CHECK(std::string(stream.schema()->format) == "+s");
    }
    CHECK(seen == std::vector<int32_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
    for (ad::DeviceArray& batch : stream) FAIL("a batch after the end, of " << batch->array.length);
  }
}

TEST_CASE("a host stream is a range of its batches and has a schema") {
  ad::ArrayStream stream = stream_of(3)
                               .to_device(ad::Device::find_by_name("ext_dev:0"), ad::stream_options())
                               .to_host(ad::stream_options(ARROWDEVICE_STREAM_READ_AHEAD));
  CHECK(std::string(stream.schema()->children[0]->name) == "value");
  std::vector<int32_t> seen;
  for (ad::Array& batch : stream) seen.push_back(static_cast<const int32_t*>(batch->children[0]->buffers[1])[1]);
  CHECK(seen == std::vector<int32_t>{1, 3, 5});
  CHECK_FALSE(stream.next());
}

TEST_CASE("streams go from the host and back") {
  ad::DeviceArrayStream stream = ad::DeviceArrayStream::from_host(stream_of(2).to_host());
  CHECK(stream->device_type == ARROW_DEVICE_CPU);
  CHECK(std::distance(stream.begin(), stream.end()) == 2);
}

TEST_CASE("an iterator's step releases its batch unless the caller has moved it out") {
  ad::DeviceArrayStream stream = stream_of(3);
  ad::DeviceArrayStream::iterator at = stream.begin();
  const ad::DeviceArrayStream::iterator same = at;
  CHECK(at == same);
  CHECK(&*at == &*same);
  const ad::DeviceArray kept = std::move(*at);
  CHECK_FALSE(*at);
  ++at;
  CHECK((*at)->array.length == 2);
  CHECK(at->get()->array.length == 2);
  const ad::DeviceArray passed = *at++;
  CHECK(passed->array.children[0]->buffers[1] != (*at)->array.children[0]->buffers[1]);
  CHECK(at != stream.end());
  ++at;
  CHECK(at == stream.end());
  CHECK(kept->array.length == 2);
  CHECK(passed->array.length == 2);
}

TEST_CASE("a producer's failure throws in the loop, and the stream is released once") {
  for (const char* text : {static_cast<const char*>("the pipe has burst"), static_cast<const char*>(nullptr)}) {
    Failing<ArrowArrayStream, ArrowArray> host(text);
    Failing<ArrowDeviceArrayStream, ArrowDeviceArray> device(text);
    int batches = 0;
    {
      ArrowArrayStream host_struct = host.stream();
      ArrowDeviceArrayStream device_struct = device.stream();
      device_struct.device_type = ARROW_DEVICE_CPU;
      ad::ArrayStream from_host(&host_struct);
      ad::DeviceArrayStream from_device(&device_struct);
      const std::string expected = text != nullptr ? text : "get_next of the stream failed with errno 32";
      CHECK(refused(EPIPE, [&] {
              for (ad::Array& batch : from_host) batches += batch ? 1 : 0;
            }) == expected);
      CHECK(refused(EPIPE, [&] {
              for (ad::DeviceArray& batch : from_device) batches += batch ? 1 : 0;
            }) == expected);
      refused(EACCES, [&] { from_host.schema(); });
      refused(EACCES, [&] { from_device.schema(); });
    }
    CHECK(batches == 2);
    CHECK(host.releases == 1);
    CHECK(device.releases == 1);
  }
}

TEST_CASE("a failure in a stream of the library is an exception with the whole error") {
  ad::DeviceArrayStream stream = stream_of(2).to_device(ad::Device::find_by_name("ext_dev:0"));
  stream.cancel();
  refused(ECANCELED, [&] { stream.begin(); });
  ad::ArrayStream released;
  CHECK(refused(EINVAL, [&] { released.begin(); }) == "the stream is released");
  refused(EINVAL, [&] { released.schema(); });
  refused(EINVAL, [] { ad::DeviceArrayStream().begin(); });
  refused(EINVAL, [] { ad::DeviceArrayStream().cancel(); });
  refused(EINVAL, [] { ad::DeviceArrayStream().metadata(ARROWDEVICE_METADATA_ITEM); });
}

TEST_CASE("a stream without metadata returns NULL for it") {
  ad::DeviceArrayStream stream = stream_of(1);
  CHECK(stream.metadata(ARROWDEVICE_METADATA_STREAM) == nullptr);
  CHECK(stream.next());
  CHECK(stream.metadata(ARROWDEVICE_METADATA_ITEM) == nullptr);
  refused(EINVAL, [&] { stream.metadata(2); });
}

TEST_CASE("arrays that cannot be a stream stay with their owners") {
  ad::TypedArray first = batch_of(0);
  std::vector<ad::DeviceArray> arrays;
  arrays.push_back(std::move(first.array));
  arrays.push_back(ad::make_array(std::vector<int32_t>{1}).array);
  refused(EINVAL,
          [&] { ad::DeviceArrayStream::from_arrays(std::move(first.schema), std::move(arrays), ARROW_DEVICE_CPU); });
  CHECK(first.schema);  // NOLINT(bugprone-use-after-move): it was not taken
  REQUIRE(arrays.size() == 2);
  CHECK(arrays[0]);
  CHECK(arrays[1]);
  CHECK(arrays[0]->array.length == 2);
  CHECK(arrays[1]->array.length == 1);
  refused(EINVAL, [&] { std::move(first.array).to_host(first.schema); });

  ad::DeviceArrayStream stream = stream_of(1);
  ad::Queue wrong(ad::Device::find_by_name("ext_dev:0"));
  auto options = ad::stream_options();
  options.queue = wrong.get();
  refused(EINVAL, [&] { std::move(stream).to_host(options); });
  CHECK(std::distance(stream.begin(), stream.end()) == 1);  // NOLINT(bugprone-use-after-move)
}

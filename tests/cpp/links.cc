// SPDX-License-Identifier: Apache-2.0
// Tests arrowdevice.hpp: servers and their clients.
#include "cpp/cpp.h"

#include <unistd.h>

namespace {

using namespace cpp_test;  // NOLINT: what every line of these tests is written with

static_assert(kMovesOnly<ad::Server>);

std::string new_address() {
  static int last = 0;
  return "unix:@arrowdevice-cpp-" + std::to_string(getpid()) + "-" + std::to_string(++last);
}

ad::TypedArray numbers() { return ad::make_array(std::vector<int64_t>{1, 2, 3}); }

ad::DeviceArrayStream stream_of(ad::TypedArray made) {
  std::vector<ad::DeviceArray> arrays;
  arrays.push_back(std::move(made.array));
  return ad::DeviceArrayStream::from_arrays(std::move(made.schema), std::move(arrays), ARROW_DEVICE_CPU);
}

std::vector<int64_t> read_numbers(ad::DeviceArrayStream stream) {
  std::vector<int64_t> all;
  const ad::Schema type = stream.schema();
  for (ad::DeviceArray& array : stream) {
    const ad::View view(std::move(array), type);
    for (const int64_t value : view.values<int64_t>()) all.push_back(value);
  }
  return all;
}

const std::vector<int64_t> kNumbers{1, 2, 3};

}  // namespace

TEST_CASE("a server offers a stream, arrays and a function") {
  const std::string uri = new_address();
  ad::Server server = ad::Server::create(uri);
  server.add("stream", stream_of(numbers()));
  ad::TypedArray made = numbers();
  std::vector<ad::DeviceArray> arrays;
  arrays.push_back(std::move(made.array));
  server.add("arrays", made.schema, arrays);
  CHECK(arrays.front());
  int calls = 0;
  server.add("function", [&calls] {
    if (++calls == 2) throw std::runtime_error("no more");
    return stream_of(numbers());
  });
  CHECK(read_numbers(ad::connect(uri + "?name=stream")) == kNumbers);
  CHECK(read_numbers(ad::connect(uri + "?name=arrays")) == kNumbers);
  CHECK(read_numbers(ad::connect(uri + "?name=arrays", ad::Device::find_by_name("cpu"))) == kNumbers);
  CHECK(read_numbers(ad::connect(uri + "?name=function")) == kNumbers);
  refused(EIO, [&] { ad::connect(uri + "?name=function"); });
  CHECK(server.stats().batches == 4);
  server.remove("arrays");
  refused(ENOENT, [&] { ad::connect(uri + "?name=arrays"); });
  refused(ENOENT, [&] { server.remove("arrays"); });
}

TEST_CASE("a stream and arrays stay with the caller if the server refuses them") {
  ad::Server server = ad::Server::create(new_address());
  server.add("name", stream_of(numbers()));
  ad::DeviceArrayStream stream = stream_of(numbers());
  refused(EEXIST, [&] { server.add("name", std::move(stream)); });
  CHECK(read_numbers(std::move(stream)) == kNumbers);
  ad::TypedArray made = numbers();
  std::vector<ad::DeviceArray> arrays;
  arrays.push_back(std::move(made.array));
  refused(EEXIST, [&] { server.add("name", made.schema, arrays); });
  CHECK(arrays.front());
  refused(EEXIST, [&] { server.add("name", [] { return stream_of(numbers()); }); });
}

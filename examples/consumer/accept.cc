// SPDX-License-Identifier: Apache-2.0
// Does the same as accept.c, in C++: owners release their arrays, and failures are exceptions.
#include <arrowdevice/arrowdevice.hpp>
#include <cstdio>
#include <stdexcept>
#include <string>

namespace ad = arrowdevice::cpp;

namespace {

// Adds the values of an int64 array on any device, without nulls.
int64_t add_up(ad::DeviceArray array, const ad::Schema& schema) {
  auto options = ad::import_options();
  options.validate = ARROWDEVICE_VALIDATE_FULL;
  ad::View view(std::move(array), schema, options);
  if (std::string(view.root().format) != "l") {
    throw std::invalid_argument("int64 was expected, and the format is " + std::string(view.root().format));
  }

  // A real engine would run a kernel on the device. This one adds on the CPU: in place if the CPU can read the buffers,
  // else in a copy.
  const ad::Array host = std::move(view).detach().to_host(schema);
  const auto* const validity = static_cast<const uint8_t*>(host->buffers[0]);
  const auto* const values = static_cast<const int64_t*>(host->buffers[1]);
  int64_t sum = 0;
  for (int64_t i = host->offset; i < host->offset + host->length; ++i) {
    if (validity == nullptr || (validity[i / 8] >> (i % 8) & 1) != 0) sum += values[i];
  }
  return sum;
}

// A producer with static memory, which is not freed. The third of five values is null.
const int64_t values[] = {1, 20, -1, 300, 4000};
const uint8_t validity[] = {0x1b};
const void* buffers[] = {validity, values};

ad::Schema make_schema() {
  ad::Schema schema;
  ArrowSchema& c = *schema.get();
  c.format = "l";
  c.name = "";
  c.flags = ARROW_FLAG_NULLABLE;
  c.release = [](ArrowSchema* released) { released->release = nullptr; };
  return schema;
}

ad::DeviceArray produce(const std::string& device, const ad::Schema& schema) {
  ad::Array array;
  ArrowArray& c = *array.get();
  c.length = 5;
  c.null_count = 1;
  c.n_buffers = 2;
  c.buffers = buffers;
  c.release = [](ArrowArray* released) { released->release = nullptr; };
  return ad::DeviceArray::from_host(std::move(array)).to_device(schema, ad::Device::find_by_name(device));
}

}  // namespace

int main(int argc, char** argv) try {
  const std::string device = argc > 1 ? argv[1] : "cpu";
  const ad::Schema schema = make_schema();
  const int64_t sum = add_up(produce(device, schema), schema);
  std::printf("the sum on %s is %lld\n", device.c_str(), static_cast<long long>(sum));
  return sum == 4321 ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}

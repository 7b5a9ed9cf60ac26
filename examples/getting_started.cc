/* SPDX-License-Identifier: Apache-2.0 */
/* getting_started.c with owners, in C++17: what goes wrong is an exception, and nothing has to be released. */
/* [program] */
#include <arrowdevice/arrowdevice.hpp>
#include <cstdio>

namespace ad = arrowdevice::cpp;

static const int64_t numbers[] = {1, 2, 3, 4, 5};
static const void* buffers[] = {nullptr, numbers};

int main(int argc, char** argv) try {
  ad::Array column;
  column.get()->length = 5;
  column.get()->n_buffers = 2;
  column.get()->buffers = buffers;
  column.get()->release = [](ArrowArray* array) { array->release = nullptr; };
  ad::Schema type;
  type.get()->format = "l";
  type.get()->name = "number";
  type.get()->release = [](ArrowSchema* schema) { schema->release = nullptr; };

  const auto device = ad::Device::find(argc > 1 ? argv[1] : "cpu");
  auto there = ad::DeviceArray::from_host(std::move(column)).move_to(type, device);
  std::printf("%lld rows on device type %d\n", static_cast<long long>(there->array.length), there->device_type);

  const auto back = std::move(there).to_host(type);
  const auto* values = static_cast<const int64_t*>(back->buffers[1]) + back->offset;
  int64_t sum = 0;
  for (int64_t i = 0; i < back->length; ++i) sum += values[i];
  std::printf("their sum is %lld\n", static_cast<long long>(sum));
} catch (const ad::Exception& failure) {
  std::fprintf(stderr, "%s\n", failure.what());
  return 1;
}
/* [end] */

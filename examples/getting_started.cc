/* SPDX-License-Identifier: Apache-2.0 */
/* getting_started.c with owners, in C++17: what goes wrong is an exception, and nothing has to be released. */
/* [program] */
#include <arrowdevice/arrowdevice.hpp>
#include <cstdio>

namespace ad = arrowdevice::cpp;

int main(int argc, char** argv) try {
  const ad::Device device = ad::Device::find_by_name(argc > 1 ? argv[1] : "cpu");
  ad::TypedArray there = ad::make_array(std::vector<int64_t>{1, 2, 3, 4, 5}).to_device(device);
  std::printf("%lld rows on device type %d\n", static_cast<long long>(there.array->array.length),
              there.array->device_type);

  const ad::View back = std::move(there).to_device(ad::Device::find_by_name("cpu")).view();
  int64_t sum = 0;
  for (const int64_t number : back.values<int64_t>()) sum += number;
  std::printf("their sum is %lld\n", static_cast<long long>(sum));
  return 0;
} catch (const ad::Exception& failure) {
  std::fprintf(stderr, "%s\n", failure.what());
  return 1;
}
/* [end] */

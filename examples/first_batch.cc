// SPDX-License-Identifier: Apache-2.0
// Makes a batch from vectors, sends it to a device and back, and prints it:
//
//   first_batch opencl:0
#include <arrowdevice/arrowdevice.hpp>

#include <cstdio>

namespace ad = arrowdevice::cpp;

int main(int argc, char** argv) try {
  const ad::Device device = ad::Device::find_by_name(argc > 1 ? argv[1] : "cpu");
  ad::TypedArray batch = ad::BatchBuilder()
                             .add("city", std::vector<std::string>{"Bern", "Graz", "Ulm"})
                             .add("height", std::vector<int32_t>{540, 353, 478})
                             .build();
  ad::TypedArray there = std::move(batch).to_device(device);  // shared where the device can use it, copied where not
  const ad::View back = std::move(there).to_device(ad::Device::find_by_name("cpu")).view();
  int64_t row = 0;
  for (const int32_t height : back.column("height").values<int32_t>()) {
    std::printf("%s lies at %d m\n", std::string(back.column("city").text(row++)).c_str(), height);
  }
  return 0;
} catch (const ad::Exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}

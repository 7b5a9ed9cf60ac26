// SPDX-License-Identifier: Apache-2.0
// Tests which regions of a device become one region to staging memory.
#include "transfer/staging.h"

#include "device/devices.h"
#include "library.h"

namespace {

using namespace library_test;  // NOLINT: what every line of these tests is written with
using arrowdevice::device::Devices;
using arrowdevice::transfer::Neighbours;
using arrowdevice::transfer::StagedPiece;
using arrowdevice::transfer::StagedPieces;
using Region = arrowdevice_backend_region;

constexpr int64_t kSize = 4096;

// A buffer of a simulated device with addresses, without a pool's rounding. The test only computes addresses in it.
struct Memory {
  Memory() : address(static_cast<char*>(output_of(arrowdevice_buffer_allocate, sim(0), nullptr, nullptr, kSize))) {}
  ~Memory() { arrowdevice_buffer_free(sim(0), nullptr, address); }

  Region region(int64_t offset, int64_t size, char* target) const {
    return {nullptr, target, 0, device.handle(), address, offset, size, 0};
  }

  const arrowdevice::device::Device& device = Devices::instance().get(ARROW_DEVICE_EXT_DEV, 0);
  char* const address;
};

TEST_CASE("ranges of one allocation with few bytes between them are neighbours") {
  begin();
  const Memory memory;
  Neighbours neighbours(memory.device);
  CHECK(neighbours.gap(memory.address, 100, memory.address + 128, 100) == 28);
  CHECK(neighbours.gap(memory.address, 128, memory.address + 128, 100) == 0);
  CHECK(neighbours.gap(memory.address, 100, memory.address + 356, 100) == 256);
  CHECK(neighbours.gap(memory.address, 100, memory.address + 357, 100) == -1);
  CHECK(neighbours.gap(memory.address + 128, 100, memory.address, 100) == -1);
  CHECK(neighbours.gap(memory.address, 100, memory.address + 99, 100) == -1);
}

// Addresses of two allocations may be side by side, and a driver refuses to copy them as one.
TEST_CASE("ranges of two allocations, or of unknown memory, are no neighbours") {
  begin();
  const Memory memory;
  const auto info = memory.device.pointer_info(memory.address);
  REQUIRE(info);
  const auto* const end = static_cast<const char*>(info->base) + info->size;
  Neighbours neighbours(memory.device);
  CHECK(neighbours.gap(end - 100, 100, end, 100) == -1);
  CHECK(neighbours.gap(end - 300, 100, end - 150, 151) == -1);
  CHECK(neighbours.gap(end - 300, 100, end - 150, 150) == 50);
  const char host[300] = {};
  CHECK(Neighbours(memory.device).gap(host, 100, host + 128, 100) == -1);
}

TEST_CASE("a piece has one region for neighbours, and a region for each of their targets") {
  begin();
  const Memory memory;
  char staging[512], first[100], second[100], third[100];
  const Region regions[] = {memory.region(0, 100, first), memory.region(128, 100, second),
                            memory.region(1024, 100, third)};
  StagedPieces pieces(regions, sizeof staging, Neighbours(memory.device));
  StagedPiece piece;
  pieces.next(staging, piece);
  REQUIRE(piece.in.size() == 2);
  CHECK((piece.in[0].src_offset == 0 && piece.in[0].size == 228 && piece.in[0].dst_offset == 0));
  CHECK((piece.in[1].src_offset == 1024 && piece.in[1].size == 100 && piece.in[1].dst_offset == 228));
  REQUIRE(piece.out.size() == 3);
  CHECK((piece.out[1].dst == second && piece.out[1].src_offset == 128));
  CHECK((piece.out[2].dst == third && piece.out[2].src_offset == 228));
  CHECK(pieces.at_end());
}

TEST_CASE("regions that are adjacent in the target leave a piece as one region") {
  begin();
  const Memory memory;
  char staging[512], source[300];
  const auto to = [&](int64_t offset, int64_t size) {
    return Region{memory.device.handle(), memory.address, offset, nullptr, source, 0, size, 0};
  };
  const Region regions[] = {to(0, 100), to(100, 28), to(128, 100), to(256, 100), to(128, 100)};
  StagedPieces pieces(regions, sizeof staging);
  StagedPiece piece;
  pieces.next(staging, piece);
  CHECK(piece.in.size() == 5);
  REQUIRE(piece.out.size() == 3);
  CHECK((piece.out[0].dst_offset == 0 && piece.out[0].size == 228 && piece.out[0].src_offset == 0));
  CHECK((piece.out[1].dst_offset == 256 && piece.out[1].size == 100 && piece.out[1].src_offset == 228));
  CHECK((piece.out[2].dst_offset == 128 && piece.out[2].size == 100 && piece.out[2].src_offset == 328));
}

// The bytes between two neighbours need not fit into the piece.
TEST_CASE("pieces hold all bytes of neighbours, whatever the size of a piece") {
  begin();
  const Memory memory;
  char staging[512], target[600];
  const Region regions[] = {memory.region(0, 100, target), memory.region(128, 100, target + 100),
                            memory.region(300, 400, target + 200)};
  for (int64_t piece_bytes = 1; piece_bytes <= int64_t{sizeof staging}; ++piece_bytes) {
    StagedPieces pieces(regions, piece_bytes, Neighbours(memory.device));
    StagedPiece piece;
    int64_t bytes = 0;
    while (!pieces.at_end()) {
      pieces.next(staging, piece);
      REQUIRE(!piece.is_empty());
      const auto& last = piece.in.back();
      REQUIRE(last.dst_offset + last.size <= piece_bytes);
      for (const auto& out : piece.out) {
        bytes += out.size;
        // The place in the staging memory that the byte of the source arrives at.
        const auto from = (static_cast<char*>(out.dst) + out.dst_offset) - target;
        const int64_t source = from < 100 ? from : from < 200 ? from + 28 : from + 100;
        const bool is_there = std::ranges::any_of(piece.in, [&](const Region& in) {
          return source >= in.src_offset && source + out.size <= in.src_offset + in.size &&
                 source - in.src_offset + in.dst_offset == out.src_offset;
        });
        REQUIRE(is_there);
      }
    }
    CHECK(bytes == 600);
  }
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// Tests large tables of many buffers in pageable host memory. A piece has several buffers, and is one copy of the
// driver. Each case has its own process.
#include <arrowdevice/arrowdevice.h>

#include <algorithm>
#include <vector>

#include "drivers/budgets.h"
#include "drivers/large_copies.h"
#include "drivers/trips.h"
#include "drivers/vendor.h"
#include "support/catch.h"
#include "support/handles.h"
#include "support/reader.h"

namespace {

using namespace arrowdevice::testing;  // NOLINT: what every line of these tests is written with
using namespace drivers;               // NOLINT: what every line of these tests is written with

// The driver's calls since the last time that they were asked for.
struct Spent {
  int64_t copies = 0;
  int64_t pageable_copies = 0;
  int64_t questions = 0;
};

Spent spent_since_last() {
  static Spent before;
  const Spent now{calls(vendor().copy) + (is_cuda() ? calls("cuMemcpyBatchAsync") : 0), calls("pageable copy"),
                  calls(vendor().question)};
  const Spent former = std::exchange(before, now);
  return {now.copies - former.copies, now.pageable_copies - former.pageable_copies, now.questions - former.questions};
}

std::string text(const Spent& made) {
  return std::to_string(made.copies) + " copies, " + std::to_string(made.pageable_copies) + " of pageable memory, " +
         std::to_string(made.questions) + " questions";
}

// A hundred columns of 100 KB, which are five pieces.
const HostCase& wide() {
  static const HostCase made = budgeted_table("wide");
  return made;
}

constexpr int64_t kWidePieces = 5;

// Copies most rows of the columns to the GPU and back, so that no buffers are adjacent at both ends.
void expect_pieces_each_way(arrowdevice_queue* queue) {
  const auto schema = wide().schema();
  Owned<ArrowArray> made = wide().array(Ledger());
  Owned<ArrowDeviceArray> host = output_of(arrowdevice_array_from_host, made.get());
  spent_since_last();
  Owned<ArrowDeviceArray> there = copy(host.get(), *schema, device(vendor().device), 0, queue);
  const Spent in = spent_since_last();
  expect(in.copies == kWidePieces && in.pageable_copies == 0 && in.questions <= 1, "to the GPU: " + text(in));
  Owned<ArrowDeviceArray> most =
      output_of(arrowdevice_array_slice, there.get(), schema.get(), int64_t{0}, host->array.length - 8);
  spent_since_last();
  const Owned<ArrowDeviceArray> back = copy(most.get(), *schema, device(ARROW_DEVICE_CPU), 0, queue);
  const Spent out = spent_since_last();
  expect(out.pageable_copies == 0, "to the host: " + text(out));
  const auto twin = wide().array(Ledger());
  const auto changed = difference(*schema, *twin, 0, *schema, back->array, 0, back->array.length);
  expect(changed.empty(), "the values changed: " + changed);
}

// Returns the bytes at an address of the GPU.
std::vector<uint8_t> read_back(arrowdevice_device* gpu, const void* address, int64_t size) {
  std::vector<uint8_t> bytes(static_cast<size_t>(size));
  const Queue queue(output_of(arrowdevice_queue_create, gpu));
  const arrowdevice_copy_region region{nullptr, bytes.data(), 0, gpu, address, 0, size, 0};
  must(arrowdevice_queue_copy, queue.get(), &region, int64_t{1});
  must(arrowdevice_queue_finish, queue.get(), int64_t{ARROWDEVICE_NO_TIMEOUT});
  return bytes;
}

TEST_CASE("the padding of a table that is copied in pieces is zeros") {
  CHECK(in_child([] {
          use_threads("3");
          auto* const gpu = device(vendor().device);
          const HostCase former{"former", struct_of({field("w:800")}).not_null(), {.rows = 12'700}};
          Owned<ArrowArray> bytes = former.array(Ledger());
          Owned<ArrowDeviceArray> host = output_of(arrowdevice_array_from_host, bytes.get());
          Owned<ArrowDeviceArray> there = copy(host.get(), *former.schema(), gpu);  // the pool caches its memory
          const auto* const before = there->array.children[0]->buffers[0];
          there.reset();
          bytes = wide().array(Ledger());
          host = output_of(arrowdevice_array_from_host, bytes.get());
          there = copy(host.get(), *wide().schema(), gpu);
          expect(there->array.children[0]->buffers[0] == before, "the memory has no former bytes");
          for (int64_t i = 0; i < there->array.n_children; ++i) {
            const ArrowArray& column = *there->array.children[i];
            const int64_t sizes[] = {(column.length + 7) / 8, 8 * column.length};
            for (const int buffer : {0, 1}) {
              const int64_t padded = (sizes[buffer] + 63) / 64 * 64;
              const auto padding = read_back(gpu, static_cast<const char*>(column.buffers[buffer]) + sizes[buffer],
                                             padded - sizes[buffer]);
              expect(std::ranges::count(padding, 0) == std::ssize(padding), "other bytes are behind a buffer");
            }
          }
          for (auto* const one : {&there, &host}) one->reset();
          drivers::trim_all();
        }) == "");
}

// The CPU writes the bitmaps, and offsets of more than a piece.
TEST_CASE("rows of a large table that begin within a byte are copied in pieces") {
  CHECK(in_child([] {
          use_threads("3");
          const HostCase rows{
              "rows", struct_of({field("b"), field("u"), field("l")}).not_null(), {.rows = 1'000'000, .offset = 13}};
          const auto schema = rows.schema();
          auto* const gpu = device(vendor().device);
          Owned<ArrowArray> made = rows.array(Ledger());
          Owned<ArrowDeviceArray> host = output_of(arrowdevice_array_from_host, made.get());
          staged_since(gpu);
          spent_since_last();
          Owned<ArrowDeviceArray> there = copy(host.get(), *schema, gpu);
          const Spent in = spent_since_last();
          const int64_t bytes = staged_since(gpu);
          expect(bytes > 12'000'000, std::to_string(bytes) + " bytes by way of staging memory");
          expect(in.pageable_copies == 0 && in.copies <= bytes / (2 << 20) + 3, text(in));
          expect_values(rows, *copy(there.get(), *schema, device(ARROW_DEVICE_CPU)));
          for (auto* const one : {&there, &host}) one->reset();
          drivers::trim_all();
        }) == "");
}

TEST_CASE("on an application's queue, many buffers are copied in pieces") {
  CHECK(in_child([] {
          use_threads("3");
          auto native = sized<arrowdevice_native_queue>();
          native.queue = reinterpret_cast<void*>(2);  // the default stream of the calling thread
          const Queue queue(output_of(arrowdevice_queue_wrap, device(vendor().device), &native));
          expect_pieces_each_way(queue.get());
          drivers::trim_all();
        }) == "");
}

TEST_CASE("with one thread, many buffers are copied in pieces") {
  CHECK(in_child([] {
          use_threads("1");
          expect_pieces_each_way(nullptr);
          drivers::trim_all();
        }) == "");
}

TEST_CASE("a table in registered memory is copied directly, after one question") {
  CHECK(in_child([] {
          use_threads("3");
          auto* const gpu = device(vendor().device);  // starts the driver
          const auto schema = wide().schema();
          Owned<ArrowArray> made = wide().array(Ledger());
          Owned<ArrowDeviceArray> host = output_of(arrowdevice_array_from_host, made.get());
          Owned<ArrowDeviceArray> block = copy(host.get(), *schema, device(ARROW_DEVICE_CPU), ARROWDEVICE_COPY_ALWAYS);
          const auto& columns = block->array;
          auto* const begin = static_cast<char*>(const_cast<void*>(columns.children[0]->buffers[0]));
          const auto* const last = static_cast<const char*>(columns.children[columns.n_children - 1]->buffers[1]);
          register_memory(begin, static_cast<size_t>(last - begin + 8 * columns.length));
          Owned<ArrowDeviceArray> there = copy(block.get(), *schema, gpu);  // fills the pools
          spent_since_last();
          staged_since(gpu);
          there = copy(block.get(), *schema, gpu);
          const Spent in = spent_since_last();
          // The backend of CUDA asks about the memory of a batch.
          expect(in.questions <= (is_cuda() ? 3 : 1) && in.pageable_copies == 0, text(in));
          expect(staged_since(gpu) < 8 << 20, "by way of staging memory");
          unregister_memory(begin);
          for (auto* const one : {&there, &block, &host}) one->reset();
          drivers::trim_all();
        }) == "");
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// Describes array data in host memory as a value that a test can write and corrupt, and makes the ArrowArray.
//
//   Ledger ledger;
//   Data data;
//   data.length = 3;
//   data.buffers = {no_buffer(), buffer_of<int32_t>({1, 2, 3})};
//   Owned<ArrowArray> array = make_array(std::move(data), ledger);
//   ...
//   REQUIRE(ledger.live() == 0);      // every node was released,
//   REQUIRE(ledger.mistakes() == 0);  // and only once
//
// Every node of such an array has its own release callback and owns its buffers. Children and dictionaries
// may therefore be moved out and outlive their parent. A buffer has exactly the size that the test wrote, so
// that the address sanitizer sees a read past the end. A buffer is overwritten before it is freed, so that a
// late read is visible without the sanitizer. Any thread may release a node.
#pragma once

#include <arrowdevice/abi.h>

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <vector>

#include "support/owned.h"

namespace arrowdevice::testing {

using Bytes = std::vector<unsigned char>;

struct Buffer {
  Bytes bytes;
  bool null = false;  // a NULL pointer, even if `bytes` is not empty
};

struct Data {
  int64_t length = 0;
  int64_t null_count = 0;
  int64_t offset = 0;
  std::vector<Buffer> buffers;
  std::vector<Data> children;
  std::shared_ptr<Data> dictionary;
  bool misaligned = false;  // buffers start one byte off every alignment
};

inline Buffer no_buffer() { return {{}, true}; }

template <typename Value>
Buffer buffer_of(std::initializer_list<Value> values) {
  Buffer made;
  made.bytes.resize(values.size() * sizeof(Value));
  if (values.size() != 0) std::memcpy(made.bytes.data(), values.begin(), made.bytes.size());
  return made;
}

// Counts the nodes (arrays, children, dictionaries) that were made and released. Copies of a ledger share the
// counts. The counts live as long as the last node.
class Ledger {
 public:
  Ledger();
  int64_t made() const noexcept;
  int64_t released() const noexcept;
  int64_t live() const noexcept { return made() - released(); }
  // Returns the number of nodes, of any ledger, that were released a second time in this process. Such a
  // release has no other effect.
  static int64_t mistakes() noexcept;

  struct Counts;
  const std::shared_ptr<Counts>& counts() const noexcept { return counts_; }

 private:
  std::shared_ptr<Counts> counts_;
};

Owned<ArrowArray> make_array(Data data, const Ledger& ledger);

}  // namespace arrowdevice::testing

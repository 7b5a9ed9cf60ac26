// SPDX-License-Identifier: Apache-2.0
// Array data in host memory as a value that tests can write down and spoil, and the ArrowArray made of it.
//
//   Ledger ledger;
//   Data data;
//   data.length = 3;
//   data.buffers = {no_buffer(), buffer_of<int32_t>({1, 2, 3})};
//   Owned<ArrowArray> array = make_array(std::move(data), ledger);
//   ...
//   REQUIRE(ledger.live() == 0);      // every node was released,
//   REQUIRE(ledger.mistakes() == 0);  // and once
//
// Every node of an array made here has a release of its own and owns its buffers, so that children and dictionaries
// may be moved out and outlive their parent. Buffers have exactly the size written down, so that the address sanitizer
// sees a read past the end, and are overwritten before they are freed, so that a read after the release is seen
// without it too. Releases may come from any thread.
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
  bool null = false;  // a NULL pointer, whatever `bytes` holds
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

// Counts the nodes (arrays, children, dictionaries) that were made and released. Copies count together; the counts
// live as long as the last node.
class Ledger {
 public:
  Ledger();
  int64_t made() const noexcept;
  int64_t released() const noexcept;
  int64_t live() const noexcept { return made() - released(); }
  // Nodes that were released a second time, of any ledger, since the process began. Such a release does nothing else.
  static int64_t mistakes() noexcept;

  struct Counts;
  const std::shared_ptr<Counts>& counts() const noexcept { return counts_; }

 private:
  std::shared_ptr<Counts> counts_;
};

Owned<ArrowArray> make_array(Data data, const Ledger& ledger);

}  // namespace arrowdevice::testing

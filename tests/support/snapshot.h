// SPDX-License-Identifier: Apache-2.0
// Saves an array or a schema before a test corrupts its structs, so that the test can release or compare it
// afterwards.
//
//   const Snapshot healthy(array);
//   array.children[0]->n_buffers = 7;
//   ...
//   healthy.restore();
#pragma once

#include <arrowdevice/abi.h>

#include <cstddef>
#include <vector>

namespace arrowdevice::testing {

// A snapshot of an ArrowArray or ArrowSchema: the structs and the pointers to buffers and children. It does
// not save the contents of buffers.
template <typename Struct>
class Snapshot {
 public:
  explicit Snapshot(Struct& root);
  void restore() const;
  // Return the structs, in the order of a walk from the root.
  size_t size() const noexcept { return structs_.size(); }
  Struct& operator[](size_t i) const noexcept { return *structs_[i].place; }
  const Struct& before(size_t i) const noexcept { return structs_[i].was; }

 private:
  struct One {
    Struct* place;
    Struct was;
    std::vector<const void*> buffers;
    std::vector<Struct*> children;
  };
  void remember(Struct& one);

  std::vector<One> structs_;
};

extern template class Snapshot<ArrowArray>;
extern template class Snapshot<ArrowSchema>;

}  // namespace arrowdevice::testing

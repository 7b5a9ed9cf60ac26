// SPDX-License-Identifier: Apache-2.0
// An array or a schema as it was before a test spoiled its structs, so that it can be released, or compared,
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

// Of the structs, the pointers to buffers and children; what is in the buffers is left alone.
class ArraySnapshot {
 public:
  explicit ArraySnapshot(ArrowArray& root);
  void restore() const;
  // The structs, in the order of a walk from the root.
  size_t size() const noexcept { return structs_.size(); }
  ArrowArray& operator[](size_t i) const noexcept { return *structs_[i].place; }
  const ArrowArray& before(size_t i) const noexcept { return structs_[i].was; }

 private:
  struct One {
    ArrowArray* place;
    ArrowArray was;
    std::vector<const void*> buffers;
    std::vector<ArrowArray*> children;
  };
  void remember(ArrowArray& array);

  std::vector<One> structs_;
};

class SchemaSnapshot {
 public:
  explicit SchemaSnapshot(ArrowSchema& root);
  void restore() const;
  size_t size() const noexcept { return structs_.size(); }
  ArrowSchema& operator[](size_t i) const noexcept { return *structs_[i].place; }
  const ArrowSchema& before(size_t i) const noexcept { return structs_[i].was; }

 private:
  struct One {
    ArrowSchema* place;
    ArrowSchema was;
    std::vector<ArrowSchema*> children;
  };
  void remember(ArrowSchema& schema);

  std::vector<One> structs_;
};

}  // namespace arrowdevice::testing

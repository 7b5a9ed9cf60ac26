// SPDX-License-Identifier: Apache-2.0
#include "support/canon.h"

#include <cstring>
#include <stdexcept>

#include "support/shape.h"

namespace arrowdevice::testing {

namespace {

class Checker {
 public:
  Checker(bool on_host, bool sizes_on_host, const Canon& canon)
      : on_host_(on_host), sizes_on_host_(sizes_on_host), canon_(canon) {}

  void node(const ArrowArray& array, const ArrowSchema& schema, const std::string& path, bool is_root) const;

 private:
  void buffers(const ArrowArray& array, const Shape& shape, const std::string& path) const;

  bool on_host_;
  bool sizes_on_host_;
  const Canon& canon_;
};

void demand(bool holds, const std::string& path, const std::string& what) {
  if (!holds) throw std::runtime_error(path + ": " + what);
}

int64_t integer_at(const void* buffer, int width, int64_t slot) {
  int64_t value = 0;  // copied offsets and sizes are not negative
  std::memcpy(&value, static_cast<const char*>(buffer) + slot * width, static_cast<size_t>(width));
  return value;
}

void Checker::node(const ArrowArray& array, const ArrowSchema& schema, const std::string& path, bool is_root) const {
  const Shape shape = shape_of(schema.format);
  demand(array.release != nullptr, path, "it has no release of its own");
  demand(array.length >= 0 && array.offset >= 0, path, "a negative length or offset");
  demand(array.n_children == schema.n_children, path, "the wrong number of children");
  demand((array.dictionary == nullptr) == (schema.dictionary == nullptr), path, "a dictionary too many or too few");
  if (canon_.offsets_are_zero) demand(array.offset == 0, path, "offset " + std::to_string(array.offset));

  if (canon_.copied) {
    if (shape.kind == Kind::kView) {
      demand(array.n_buffers >= 3, path, "fewer than 3 buffers");
    } else {
      demand(array.n_buffers == shape.n_buffers(), path, std::to_string(array.n_buffers) + " buffers");
    }
  }
  demand(array.n_buffers == 0 || array.buffers != nullptr, path, "buffers is NULL");

  const std::string counted = "null_count " + std::to_string(array.null_count);
  demand(array.null_count >= -1 && array.null_count <= array.length, path, counted);
  if (shape.kind == Kind::kNull) {
    demand(!canon_.copied || array.null_count == array.length, path, counted + " of a null array");
  } else if (!shape.has_validity()) {
    demand(!canon_.copied || array.null_count == 0, path, counted + " of a type without validity");
  } else if (array.buffers[0] == nullptr) {
    demand(!canon_.copied || array.null_count == 0, path, counted + " without a bitmap");
  }
  if (canon_.copied) buffers(array, shape, path);

  const bool is_batch = is_root && shape.kind == Kind::kStruct && array.buffers[0] == nullptr;
  if (is_batch && canon_.copied) {
    demand(array.offset == 0, path, "a record batch with offset " + std::to_string(array.offset));
  }

  for (int64_t i = 0; i < array.n_children; ++i) {
    demand(array.children[i] != nullptr, path, "a child that is NULL");
    const char* name = schema.children[i]->name;
    node(*array.children[i], *schema.children[i],
         path + "." + (name == nullptr ? "[" + std::to_string(i) + "]" : std::string(name)), false);
  }
  if (array.dictionary != nullptr) node(*array.dictionary, *schema.dictionary, path + ".dictionary", false);
}

void Checker::buffers(const ArrowArray& array, const Shape& shape, const std::string& path) const {
  const int64_t slots = array.offset + array.length;
  const auto empty_is_null = [&](int64_t index, int64_t size, const char* what) {
    demand(size != 0 || array.buffers[index] == nullptr, path, std::string(what) + " of zero bytes are not NULL");
    // Validity is the only buffer that may be absent although there are slots.
    demand(size == 0 || index == 0 || array.buffers[index] != nullptr, path, std::string(what) + " are NULL");
  };
  const auto offsets_hold_one = [&] {
    demand(array.buffers[1] != nullptr, path, "the offsets are NULL");
    if (on_host_ && slots == 0) {
      demand(integer_at(array.buffers[1], shape.width, 0) == 0, path, "the first offset of an empty array is not 0");
    }
  };
  if (shape.has_validity()) empty_is_null(0, slots, "validity bits");
  switch (shape.kind) {
    case Kind::kFixed: empty_is_null(1, slots * shape.bits, "values"); break;
    case Kind::kBinary:
      offsets_hold_one();
      if (on_host_) empty_is_null(2, integer_at(array.buffers[1], shape.width, slots), "bytes");
      break;
    case Kind::kList: offsets_hold_one(); break;
    case Kind::kListView:
      // Offsets without slots may be NULL or hold one zero.
      demand(slots == 0 || array.buffers[1] != nullptr, path, "the offsets are NULL");
      empty_is_null(2, slots, "sizes");
      break;
    case Kind::kView: {
      const int64_t n_variadic = array.n_buffers - 3;
      empty_is_null(1, slots, "views");
      empty_is_null(array.n_buffers - 1, n_variadic, "variadic sizes");
      for (int64_t i = 0; i < n_variadic && sizes_on_host_; ++i) {
        empty_is_null(2 + i, integer_at(array.buffers[array.n_buffers - 1], 8, i), "variadic bytes");
      }
      break;
    }
    case Kind::kSparseUnion:
    case Kind::kDenseUnion:
      demand(slots != 0 || array.buffers[0] == nullptr, path, "type ids of zero bytes are not NULL");
      demand(slots == 0 || array.buffers[0] != nullptr, path, "the type ids are NULL");
      if (shape.kind == Kind::kDenseUnion && slots > 0) {
        demand(array.buffers[1] != nullptr, path, "the offsets are NULL");
      }
      break;
    case Kind::kNull:
    case Kind::kStruct:
    case Kind::kFixedSizeList:
    case Kind::kRunEndEncoded: break;
  }
}

}  // namespace

std::string canon_problem(const ArrowDeviceArray& array, const ArrowSchema& schema, const arrowdevice_device_info& info,
                          const Canon& canon) {
  const bool is_cpu = info.device_type == ARROW_DEVICE_CPU;
  try {
    for (const int64_t word : array.reserved) demand(word == 0, "array", "reserved is not zero");
    demand(array.device_type == info.device_type, "array", "device type " + std::to_string(array.device_type));
    demand(array.device_id == (is_cpu ? -1 : info.device_id), "array", "device id " + std::to_string(array.device_id));
    if ((info.flags & ARROWDEVICE_DEVICE_EVENTS) == 0) {
      demand(array.sync_event == nullptr, "array", "an event on a device that has none");
    }
    const bool on_host = is_cpu || (info.flags & ARROWDEVICE_DEVICE_HOST_READABLE) != 0;
    // If buffers are addresses, the sizes of variadic buffers lie in host memory.
    const bool sizes_on_host = on_host || (info.flags & ARROWDEVICE_DEVICE_ADDRESSES) != 0;
    Checker(on_host && array.sync_event == nullptr, sizes_on_host, canon).node(array.array, schema, "array", true);
    return "";
  } catch (const std::exception& error) {
    return error.what();
  }
}

}  // namespace arrowdevice::testing

// SPDX-License-Identifier: Apache-2.0
#include <arrowdevice/arrowdevice.h>

#include <memory>
#include <stdexcept>
#include <string>

#include "calls.h"
#include "peers.h"

namespace arrowdevice::bench::library {
namespace {

ArrowDeviceArray copy_array(const ArrowDeviceArray& array, const ArrowSchema& schema, arrowdevice_device* to) {
  ArrowDeviceArray copied{};
  must(arrowdevice_array_copy, &array, &schema, to, nullptr, &copied);
  return copied;
}

// Releases the array with the last reference to it.
using SharedArray = std::shared_ptr<const ArrowDeviceArray>;

SharedArray last_rows(const RecordBatch& batch, int64_t first_row, int64_t rows) {
  ArrowDeviceArray whole = batch.array();
  ArrowDeviceArray part{};
  must(arrowdevice_array_slice, &whole, &batch.schema(), first_row, rows, &part);
  arrowdevice_array_release(&whole);
  return SharedArray(new ArrowDeviceArray(part), [](const ArrowDeviceArray* array) {
    arrowdevice_array_release(const_cast<ArrowDeviceArray*>(array));
    delete array;
  });
}

arrowdevice_view* import_array(const RecordBatch& batch) {
  ArrowDeviceArray array = batch.array();
  arrowdevice_view* view = nullptr;
  must(arrowdevice_array_import, &array, &batch.schema(), nullptr, &view);
  return view;
}

}  // namespace

Work copy(const RecordBatch& batch) {
  ArrowDeviceArray first = copy_array(batch.array(), batch.schema(), cpu());
  check_copy(kLibrary, first.array, batch);
  return [&batch, to = cpu()] {
    ArrowDeviceArray copied = copy_array(batch.array(), batch.schema(), to);
    arrowdevice_array_release(&copied);
  };
}

Work copy_into_new_memory(const RecordBatch& batch) {
  return [copy = copy(batch), pool = pool(cpu())] {
    copy();
    must(arrowdevice_pool_trim, pool);
  };
}

Work copy_last_rows(const RecordBatch& batch, int64_t rows) {
  const int64_t first_row = batch.array().array.length - rows;
  const SharedArray part = last_rows(batch, first_row, rows);
  ArrowDeviceArray first = copy_array(*part, batch.schema(), cpu());
  check_copy(kLibrary, first.array, batch, first_row);
  return [&batch, part, to = cpu()] {
    ArrowDeviceArray copied = copy_array(*part, batch.schema(), to);
    arrowdevice_array_release(&copied);
  };
}

Work import(const RecordBatch& batch) {
  arrowdevice_view* const view = import_array(batch);
  const arrowdevice_node* const root = arrowdevice_view_get_root(view);
  // An import leaves out the bitmap of a column without nulls.
  check_import(kLibrary, batch, [&](int64_t i) {
    const arrowdevice_node* const column = root->children[i];
    return column->buffers[column->n_buffers - 1].data;
  });
  arrowdevice_view_release(view);
  return [&batch] { arrowdevice_view_release(import_array(batch)); };
}

// Throws std::runtime_error for invalid bytes, which must be refused.
Work validate(const RecordBatch& batch) {
  const Work work = [&batch] {
    arrowdevice_error error{};
    if (arrowdevice_array_validate(&batch.array(), &batch.schema(), nullptr, ARROWDEVICE_VALIDATE_FULL, &error) != 0) {
      throw std::runtime_error(std::string(kLibrary) + ": " + error.message);
    }
  };
  work();
  return work;
}

}  // namespace arrowdevice::bench::library

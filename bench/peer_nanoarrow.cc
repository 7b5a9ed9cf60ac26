// SPDX-License-Identifier: Apache-2.0
#include <nanoarrow/nanoarrow_device.h>

#include <stdexcept>

#include "peers.h"

namespace arrowdevice::bench::nanoarrow {
namespace {

void must(int code) {
  if (code != NANOARROW_OK) throw std::runtime_error("nanoarrow fails with " + std::to_string(code));
}

// A view of an array that stays with its owner.
class View {
 public:
  explicit View(const ArrowSchema& schema) {
    ArrowDeviceArrayViewInit(&view_);
    must(ArrowArrayViewInitFromSchema(&view_.array_view, &schema, nullptr));
  }
  ~View() { ArrowDeviceArrayViewReset(&view_); }
  View(const View&) = delete;

  void set_device_array(ArrowDeviceArray array) { must(ArrowDeviceArrayViewSetArray(&view_, &array, nullptr)); }
  void set_host_array(const ArrowArray& array) { must(ArrowArrayViewSetArray(fields(), &array, nullptr)); }

  ArrowDeviceArrayView* get() { return &view_; }
  ArrowArrayView* fields() { return &view_.array_view; }

 private:
  ArrowDeviceArrayView view_;
};

ArrowArray copy_all(const RecordBatch& batch) {
  View view(batch.schema());
  view.set_device_array(batch.array());
  ArrowDeviceArray copied;
  must(ArrowDeviceArrayViewCopy(view.get(), ArrowDeviceCpu(), &copied));
  return copied.array;
}

void append_numbers(ArrowArray* to, const ArrowArrayView& from, int64_t first, int64_t rows) {
  const int64_t* const values = from.buffer_views[1].data.as_int64;
  must(ArrowBufferAppend(ArrowArrayBuffer(to, 1), values + first, rows * int64_t{sizeof *values}));
  to->length = rows;
}

void append_texts(ArrowArray* to, const ArrowArrayView& from, int64_t first, int64_t rows) {
  for (int64_t row = first; row < first + rows; ++row) {
    must(ArrowArrayAppendString(to, ArrowArrayViewGetStringUnsafe(&from, row)));
  }
}

ArrowArray copy_rows(const RecordBatch& batch, int64_t first, int64_t rows) {
  View view(batch.schema());
  view.set_device_array(batch.array());
  ArrowArray copied;
  must(ArrowArrayInitFromArrayView(&copied, view.fields(), nullptr));
  must(ArrowArrayStartAppending(&copied));
  copied.length = rows;
  for (int64_t i = 0; i < copied.n_children; ++i) {
    const ArrowArrayView& column = *view.fields()->children[i];
    const bool is_text = column.storage_type == NANOARROW_TYPE_STRING;
    (is_text ? append_texts : append_numbers)(copied.children[i], column, first, rows);
  }
  must(ArrowArrayFinishBuilding(&copied, NANOARROW_VALIDATION_LEVEL_MINIMAL, nullptr));
  return copied;
}

}  // namespace

std::string version() { return NANOARROW_VERSION; }

Work copy(const RecordBatch& batch) {
  ArrowArray first = copy_all(batch);
  check_copy(kNanoarrow, first, batch);
  return [&batch] {
    ArrowArray copied = copy_all(batch);
    ArrowArrayRelease(&copied);
  };
}

Work copy_last_rows(const RecordBatch& batch, int64_t rows) {
  const int64_t first_row = batch.array().array.length - rows;
  ArrowArray first = copy_rows(batch, first_row, rows);
  check_copy(kNanoarrow, first, batch, first_row);
  return [&batch, first_row, rows] {
    ArrowArray copied = copy_rows(batch, first_row, rows);
    ArrowArrayRelease(&copied);
  };
}

Work import(const RecordBatch& batch) {
  View view(batch.schema());
  view.set_host_array(batch.array().array);
  check_import(kNanoarrow, batch, [&](int64_t i) { return view.fields()->children[i]->buffer_views[1].data.data; });
  return [&batch] {
    ArrowArray array = batch.array().array;
    {
      View imported(batch.schema());
      imported.set_host_array(array);
    }
    ArrowArrayRelease(&array);
  };
}

}  // namespace arrowdevice::bench::nanoarrow

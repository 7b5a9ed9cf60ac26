// SPDX-License-Identifier: Apache-2.0
// Known data, devices and copies for programs that link the library. Every function throws Failure if a call
// fails.
//
//   Sample sample(list_of(field("u")));
//   Array there = copy(sample, sim(0), ARROWDEVICE_COPY_ASYNC);
//   expect(difference(sample, *there) == "", "other values came back");
#pragma once

#include <arrowdevice/arrowdevice.h>

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "support/calls.h"
#include "support/cases.h"
#include "support/handles.h"
#include "support/reader.h"

namespace arrowdevice::testing {

using Array = Owned<ArrowDeviceArray>;
using Schema = Owned<ArrowSchema>;

// Rows of a type, to make arrays of and to compare arrays with.
struct SampleRows {
  explicit SampleRows(Field of, Knobs with = {});

  Array array() const;  // a new array of these rows on the CPU, counted by the ledger

  Field type;
  Knobs knobs;
  Ledger ledger;  // counts the nodes of all arrays from array()
  Schema schema;
  Owned<ArrowArray> twin;
};

// The rows with an array of them on the CPU.
struct Sample : SampleRows {
  explicit Sample(Field of, Knobs with = {}) : SampleRows(std::move(of), with), host(array()) {}
  Array host;
};

arrowdevice_device* cpu();
arrowdevice_device* sim(int64_t id);
arrowdevice_pool* default_pool(arrowdevice_device* device);
Queue make_queue(arrowdevice_device* device);
Pool make_pool(arrowdevice_device* device, const arrowdevice_pool_options* options = nullptr);

arrowdevice_copy_options copy_options(uint32_t flags = 0, arrowdevice_queue* queue = nullptr,
                                      arrowdevice_pool* pool = nullptr);

// Returns host data as a device array of the CPU.
Array from_host(Owned<ArrowArray> array);
Array copy(const ArrowDeviceArray& array, const ArrowSchema& schema, arrowdevice_device* to,
           const arrowdevice_copy_options& options);
Array copy(const ArrowDeviceArray& array, const ArrowSchema& schema, arrowdevice_device* to, uint32_t flags = 0,
           arrowdevice_queue* queue = nullptr, arrowdevice_pool* pool = nullptr);
Array copy(const Sample& sample, arrowdevice_device* to, uint32_t flags = 0);
Array share(Array& array);
Array slice(ArrowDeviceArray& array, const ArrowSchema& schema, int64_t offset, int64_t length);

// Returns "" if the array, on any device, equals the rows of the sample from `first` on. The array's length
// gives the number of rows.
std::string difference(const SampleRows& sample, const ArrowDeviceArray& array, int64_t first = 0);

// Runs `body(0)` to `body(n - 1)` on a thread each, starts them at the same moment, and joins them. Throws the
// first exception of a thread.
void on_threads(int n, const std::function<void(int)>& body);

// Copies ten thousand batches to a device and back on eight threads, each on its own queue.
void copy_on_threads(arrowdevice_device* device);

}  // namespace arrowdevice::testing

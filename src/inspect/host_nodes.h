// SPDX-License-Identifier: Apache-2.0
// The nodes of an array in host memory, written while its structs are checked. The function knows fixed widths,
// booleans, binaries, lists and structs, nested in any way, without dictionaries. Binding and buffer_sizes() know all
// types. They also have the messages, so that a mistake here only means that they look at the array.
#pragma once

#include <arrowdevice/abi.h>

#include "inspect/nodes.h"

namespace arrowdevice::inspect {

// Returns false, with `nodes` empty, for an array that Binding must look at. Reads the structs, and the last offset of
// each binary.
bool write_host_nodes(const ArrowSchema& schema, const ArrowArray& array, Nodes& nodes) noexcept;

}  // namespace arrowdevice::inspect

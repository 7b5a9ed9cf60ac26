// SPDX-License-Identifier: Apache-2.0
#include "ipc_batches.h"

#include <algorithm>

namespace ipc_test {

using namespace library_test;  // NOLINT: what every line of this file is written with

SentBatch::SentBatch(const HostCase& one) {
  const Field type = (one.type.format == "+s" ? one.type : struct_of({one.type.named("column")})).not_null();
  schema = make_schema(type);
  original = from_host(make_array(generate(type, one.knobs), Ledger()));
  array = copy(*original, *schema, cpu(), ARROWDEVICE_COPY_ALWAYS);
}

bool is_writable(const Field& type) {
  if (type.dictionary != nullptr && (type.dictionary->dictionary != nullptr || !is_writable(*type.dictionary))) {
    return false;
  }
  return std::ranges::all_of(type.children, is_writable);
}

bool is_known_to_arrow_cpp(const Field& type) {
  return std::ranges::all_of(type.children, [&](const Field& child) {
    return !child.name.empty() && !(type.format == "+r" && child.format == "+r") && is_known_to_arrow_cpp(child);
  });
}

}  // namespace ipc_test

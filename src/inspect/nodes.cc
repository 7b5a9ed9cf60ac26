// SPDX-License-Identifier: Apache-2.0
#include "inspect/nodes.h"

#include "schema/metadata.h"

namespace arrowdevice::inspect {

[[gnu::hot]] NodeWriter::NodeWriter(int64_t n_nodes, int64_t n_buffers, Nodes& nodes) : nodes_(nodes) {
  constexpr size_t kUsualTexts = 16;
  const auto n = static_cast<size_t>(n_nodes);
  const size_t buffers_at = n * sizeof(arrowdevice_node);
  const size_t children_at = buffers_at + static_cast<size_t>(n_buffers) * sizeof(arrowdevice_node_buffer);
  const size_t texts_at = children_at + n * sizeof(void*);
  const size_t end = texts_at + n * kUsualTexts;
  nodes.block.reset(new std::byte[end]);
  std::byte* const block = nodes.block.get();
  nodes.all = {reinterpret_cast<arrowdevice_node*>(block), n};
  buffer_ = reinterpret_cast<arrowdevice_node_buffer*>(block + buffers_at);
  child_ = reinterpret_cast<const arrowdevice_node**>(block + children_at);
  text_ = reinterpret_cast<char*>(block + texts_at);
  texts_end_ = reinterpret_cast<char*>(block + end);
}

void NodeWriter::add_metadata(arrowdevice_node& node, const char* metadata) {
  node.metadata = keep({metadata, static_cast<size_t>(schema::metadata_size(metadata))});
  if (const auto name = schema::metadata_find(metadata, schema::kExtensionName)) node.extension_name = keep(*name);
  if (const auto value = schema::metadata_find(metadata, schema::kExtensionMetadata)) {
    node.extension_metadata = keep(*value);
    node.extension_metadata_size = static_cast<int64_t>(value->size());
  }
}

const char* NodeWriter::keep(std::string_view text) { return nodes_.long_texts.emplace_front(text).c_str(); }

}  // namespace arrowdevice::inspect

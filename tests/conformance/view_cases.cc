// SPDX-License-Identifier: Apache-2.0
// Tests views of imported arrays.
#include "conformance/own_array.h"

namespace arrowdevice::conformance {

namespace {

using testing::Kind;
using testing::Reader;
using testing::Shape;

View import(Subject&, ArrowDeviceArray* array, const ArrowSchema& schema,
            const arrowdevice_import_options* options = nullptr) {
  auto* view = output_of(arrowdevice_array_import, array, &schema, options);
  expect(view != nullptr, "no view was made");
  expect(array->array.release == nullptr, "what was imported is not marked released");
  return View(view);
}

int32_t layout_of(const Shape& shape) {
  const bool large = shape.width == 8;
  switch (shape.kind) {
    case Kind::kNull: return ARROWDEVICE_LAYOUT_NULL;
    case Kind::kFixed: return ARROWDEVICE_LAYOUT_FIXED;
    case Kind::kBinary: return large ? ARROWDEVICE_LAYOUT_LARGE_BINARY : ARROWDEVICE_LAYOUT_BINARY;
    case Kind::kView: return ARROWDEVICE_LAYOUT_BINARY_VIEW;
    case Kind::kList: return large ? ARROWDEVICE_LAYOUT_LARGE_LIST : ARROWDEVICE_LAYOUT_LIST;
    case Kind::kListView: return large ? ARROWDEVICE_LAYOUT_LARGE_LIST_VIEW : ARROWDEVICE_LAYOUT_LIST_VIEW;
    case Kind::kFixedSizeList: return ARROWDEVICE_LAYOUT_FIXED_SIZE_LIST;
    case Kind::kStruct: return ARROWDEVICE_LAYOUT_STRUCT;
    case Kind::kSparseUnion: return ARROWDEVICE_LAYOUT_SPARSE_UNION;
    case Kind::kDenseUnion: return ARROWDEVICE_LAYOUT_DENSE_UNION;
    case Kind::kRunEndEncoded: return ARROWDEVICE_LAYOUT_RUN_END_ENCODED;
  }
  return -1;
}

// The role of a buffer and, if the array lies on the host, the number of bytes that the array uses.
struct Expected {
  uint32_t role;
  int64_t size;
};

int64_t integer_at(const void* buffer, int width, int64_t slot) {
  int64_t value = 0;
  if (buffer != nullptr) {
    std::memcpy(&value, static_cast<const char*>(buffer) + slot * width, static_cast<size_t>(width));
  }
  return value;
}

std::vector<Expected> expected_buffers(const Shape& shape, const ArrowArray& array) {
  const int64_t slots = array.offset + array.length;
  std::vector<Expected> buffers;
  if (shape.has_validity()) buffers.push_back({ARROWDEVICE_ROLE_VALIDITY, (slots + 7) / 8});
  switch (shape.kind) {
    case Kind::kFixed: buffers.push_back({ARROWDEVICE_ROLE_DATA, (slots * shape.bits + 7) / 8}); break;
    case Kind::kBinary:
      buffers.push_back({ARROWDEVICE_ROLE_OFFSETS, (slots + 1) * shape.width});
      // The offsets of an array without rows may point to no bytes.
      buffers.push_back(
          {ARROWDEVICE_ROLE_DATA, array.length == 0 ? 0 : integer_at(array.buffers[1], shape.width, slots)});
      break;
    case Kind::kList: buffers.push_back({ARROWDEVICE_ROLE_OFFSETS, (slots + 1) * shape.width}); break;
    case Kind::kListView:
      buffers.push_back({ARROWDEVICE_ROLE_OFFSETS, slots * shape.width});
      buffers.push_back({ARROWDEVICE_ROLE_SIZES, slots * shape.width});
      break;
    case Kind::kView: {
      buffers.push_back({ARROWDEVICE_ROLE_VIEWS, slots * 16});
      const int64_t n_variadic = array.n_buffers - 3;
      for (int64_t i = 0; i < n_variadic; ++i) {
        buffers.push_back({ARROWDEVICE_ROLE_VARIADIC, integer_at(array.buffers[array.n_buffers - 1], 8, i)});
      }
      buffers.push_back({ARROWDEVICE_ROLE_VARIADIC_SIZES, n_variadic * 8});
      break;
    }
    case Kind::kDenseUnion:
    case Kind::kSparseUnion:
      buffers.push_back({ARROWDEVICE_ROLE_TYPE_IDS, slots});
      if (shape.kind == Kind::kDenseUnion) buffers.push_back({ARROWDEVICE_ROLE_OFFSETS, slots * 4});
      break;
    case Kind::kNull:
    case Kind::kFixedSizeList:
    case Kind::kStruct:
    case Kind::kRunEndEncoded: break;
  }
  return buffers;
}

bool same_text(const char* a, const char* b) {
  return (a == nullptr || b == nullptr) ? a == b : std::strcmp(a, b) == 0;
}

// `host` is the same array on the host, from which the sizes can be read. If `all_known` is true, the view
// must know every size.
void check_node(const arrowdevice_node& node, const ArrowArray& array, const ArrowSchema& schema,
                const ArrowArray& host, bool all_known, const std::string& path) {
  const Shape shape = testing::shape_of(schema.format);
  expect(same_text(node.name, schema.name) && same_text(node.format, schema.format), path + ": another field");
  expect(node.flags == schema.flags, path + ": other flags");
  expect((node.metadata == nullptr) == (schema.metadata == nullptr), path + ": metadata came or went");
  expect(node.name == nullptr || node.name != schema.name, path + ": the view borrows a text of the schema");
  expect(node.length == array.length && node.offset == array.offset, path + ": other rows");
  expect(node.layout == layout_of(shape), path + ": layout " + std::to_string(node.layout));
  expect(node.bit_width == (shape.kind == Kind::kFixed ? shape.bits : 0), path + ": another bit width");
  expect(node.list_size == shape.list_size, path + ": another list size");
  expect(node.n_children == array.n_children, path + ": other children");
  expect((node.dictionary == nullptr) == (array.dictionary == nullptr), path + ": a dictionary came or went");
  expect(node.array == &array, path + ": another array");
  for (const uint64_t word : node.reserved) expect(word == 0, path + ": reserved is not zero");

  const std::vector<Expected> buffers = expected_buffers(shape, host);
  expect(node.n_buffers == static_cast<int32_t>(buffers.size()),
         path + ": " + std::to_string(node.n_buffers) + " buffers, expected " + std::to_string(buffers.size()));
  for (size_t i = 0; i < buffers.size(); ++i) {
    const arrowdevice_node_buffer& buffer = node.buffers[i];
    const std::string which = path + ": buffer " + std::to_string(i);
    expect(buffer.role == buffers[i].role, which + " has role " + std::to_string(buffer.role));
    expect(buffer.data == array.buffers[i], which + " is another");
    expect(buffer.reserved == 0, which + ": reserved is not zero");
    const bool known = (buffer.flags & ARROWDEVICE_BUFFER_SIZE_KNOWN) != 0;
    const bool follows_from_length = buffer.role != ARROWDEVICE_ROLE_VARIADIC &&
                                     (buffer.role != ARROWDEVICE_ROLE_DATA || shape.kind == Kind::kFixed);
    expect(known || (!all_known && !follows_from_length), which + ": its size is not known");
    // An absent buffer has no bytes. The sizes of an array without rows are not checked, because no data
    // determines them.
    const int64_t size = buffer.data == nullptr ? 0 : buffers[i].size;
    if (known && host.length > 0) {
      expect(buffer.size == size,
             which + ": " + std::to_string(buffer.size) + " bytes, expected " + std::to_string(size));
    }
    expect(known || buffer.size == 0, which + ": a size that is not known is not 0");
  }
  for (int64_t i = 0; i < node.n_children; ++i) {
    check_node(*node.children[i], *array.children[i], *schema.children[i], *host.children[i], all_known,
               path + "." + std::to_string(i));
  }
  if (node.dictionary != nullptr) {
    check_node(*node.dictionary, *array.dictionary, *schema.dictionary, *host.dictionary, all_known,
               path + ".dictionary");
  }
}

void shows_nodes(Subject& subject) {
  for_each(testing::asked_cases(), [&](Sample& sample) {
    auto there = subject.to_device(*sample.host, *sample.schema);
    auto host = subject.to_cpu(*there, *sample.schema);
    const ArrowDeviceArray before = *there;
    const View view = import(subject, there.get(), *sample.schema);
    expect(arrowdevice_view_get_device(view.get()) == subject.device(), "the view is of another device");
    const ArrowDeviceArray* array = arrowdevice_view_get_array(view.get());
    expect(array->array.private_data == before.array.private_data && array->sync_event == before.sync_event,
           "the view has another array");
    const arrowdevice_node* root = arrowdevice_view_get_root(view.get());
    check_node(*root, array->array, *sample.schema, host->array, false, "array");
  });
}

void learns_sizes(Subject& subject) {
  for_each(thorough_cases(), [&](Sample& sample) {
    auto there = subject.copy(*sample.host, *sample.schema, subject.device(), ARROWDEVICE_COPY_ASYNC);
    auto host = subject.to_cpu(*there, *sample.schema);
    auto options = sized<arrowdevice_import_options>();
    options.flags = ARROWDEVICE_IMPORT_RESOLVE_SIZES;
    const View view = import(subject, there.get(), *sample.schema, &options);
    check_node(*arrowdevice_view_get_root(view.get()), arrowdevice_view_get_array(view.get())->array, *sample.schema,
               host->array, true, "array");
  });
}

void views_host_arrays(Subject& subject) {
  for_each(testing::asked_cases(), [&](Sample& sample) {
    if (sample.origin.knobs.legacy) return;
    const View view = import(subject, sample.host.get(), *sample.schema);
    const ArrowDeviceArray* array = arrowdevice_view_get_array(view.get());
    check_node(*arrowdevice_view_get_root(view.get()), array->array, *sample.schema, array->array, false, "array");
    sample.expect_values(array->array);
  });
}

void shows_extensions(Subject& subject) {
  Sample sample(testing::find_case("extension of list, some nulls"));
  auto there = subject.to_device(*sample.host, *sample.schema);
  const View view = import(subject, there.get(), *sample.schema);
  sample.schema.reset();
  const arrowdevice_node* root = arrowdevice_view_get_root(view.get());
  expect(root->extension_name != nullptr && std::string(root->extension_name) == "example.tensor",
         "the extension has another name");
  expect(std::string_view(root->extension_metadata, static_cast<size_t>(root->extension_metadata_size)) ==
             "{\"shape\":[2]}",
         "the extension has other metadata");
  expect(root->children[0]->extension_name == nullptr, "a child that is no extension has a name of one");
}

void lets_arrays_go(Subject& subject) {
  for_each(testing::few_cases(), [&](Sample& sample) {
    auto there = subject.to_device(*sample.host, *sample.schema);
    const ArrowDeviceArray before = *there;
    View view = import(subject, there.get(), *sample.schema);
    Owned<ArrowDeviceArray> out;
    arrowdevice_view_detach(view.release(), out.out());
    expect(out->array.private_data == before.array.private_data && out->array.buffers == before.array.buffers &&
               out->sync_event == before.sync_event && out->device_id == before.device_id,
           "another array came out than went in");
    auto back = subject.to_cpu(*out, *sample.schema);
    sample.expect_values(back->array);
  });
}

void releases_with_the_view(Subject& subject) {
  for_each(testing::few_cases(), [&](Sample& sample) {
    View view = import(subject, sample.host.get(), *sample.schema);
    expect(sample.ledger.released() == 0, "importing released something");
    view.reset();
    expect(sample.ledger.live() == 0, "ending the view did not release the array");
  });
  arrowdevice_view_release(nullptr);
}

void shares_of_views(Subject& subject) {
  for_each(testing::few_cases(), [&](Sample& sample) {
    auto there = subject.to_device(*sample.host, *sample.schema);
    View view = import(subject, there.get(), *sample.schema);
    auto out = output_of(arrowdevice_view_share, view.get());
    expect_clean(testing::canon_problem(*out, *sample.schema, subject.info(), {.copied = false}), "the second owner");
    view.reset();
    auto back = subject.to_cpu(*out, *sample.schema);
    sample.expect_values(back->array);
  });
}

void releases_views_behind_a_queue(Subject& subject) {
  constexpr int64_t kRows = 30'000;
  const Bytes values = pattern(4 * kRows);
  const auto schema = testing::make_schema(testing::field("i"));
  const Releases releases = count_releases();
  const Queue queue = subject.queue();
  DeviceBuffer buffer(subject.device(), 4 * kRows, nullptr, queue.get());
  enqueue(queue.get(), {region_in(subject.device(), buffer.get(), 0, values.data(), buffer.size())});
  Owned<ArrowArray> array = array_over(std::move(buffer), kRows, releases);
  auto exported = output_of(arrowdevice_array_export, subject.device(), array.get(), queue.get());
  const Queue reader = subject.queue();
  auto options = sized<arrowdevice_import_options>();
  options.queue = reader.get();
  View view = import(subject, exported.get(), *schema, &options);
  Bytes received(values.size());
  // No wait is needed here, because the import made the queue wait.
  enqueue(reader.get(), {region_out(received.data(), subject.device(),
                                    arrowdevice_view_get_root(view.get())->buffers[1].data, 0, 4 * kRows)});
  must(arrowdevice_view_release_after, view.get(), reader.get());
  static_cast<void>(view.release());
  finish(reader.get());
  wait_idle();
  expect(received == values, "the queue did not wait, or the array was released too early");
  expect(*releases == 1, "the array was released " + std::to_string(*releases) + " times");
}

}  // namespace

std::span<const Case> view_cases() {
  static constexpr Case kCases[] = {
      {"a view shows every node and buffer, for every type", kNeedsNothing, shows_nodes},
      {"a view resolves every size, for every type", kNeedsNothing, learns_sizes},
      {"a view of a host array shows every node and buffer, for every type", kNeedsNothing, views_host_arrays},
      {"a view shows extensions, even after its schema is released", kNeedsNothing, shows_extensions},
      {"a view returns its array unchanged", kNeedsNothing, lets_arrays_go},
      {"a view releases its array", kNeedsNothing, releases_with_the_view},
      {"a second owner outlives the view", kNeedsNothing, shares_of_views},
      {"a view makes a queue wait and is released behind its work", kNeedsNothing, releases_views_behind_a_queue},
  };
  return kCases;
}

}  // namespace arrowdevice::conformance

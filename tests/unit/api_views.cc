// SPDX-License-Identifier: Apache-2.0
// Tests imports of foreign arrays.
#include <atomic>
#include <thread>
#include <vector>

#include "library.h"

namespace {

using namespace library_test;  // NOLINT: what every line of these tests is written with

View import_view(ArrowDeviceArray* array, const ArrowSchema& schema,
                 const arrowdevice_import_options* options = nullptr) {
  auto* view = output_of(arrowdevice_array_import, array, &schema, options);
  return View(view);
}

TEST_CASE("a view shows the fields, the buffers and the texts of an array") {
  begin();
  const Field type =
      struct_of({field("l", "id").with_metadata("unit", "s"), field("u", "name").not_null(),
                 field("w:3", "code").extension("house.code", std::string("a\0b", 3)),
                 fixed_size_list_of(4, field("b", "item")).named("bits"), dictionary_of("s", field("u")).named("kind")})
          .not_null();
  Sample sample(type, kPlain);
  Array there = copy(sample, sim(0));
  const ArrowDeviceArray was = *there;
  const View view = import_view(there.get(), *sample.schema);
  CHECK(there.released());
  sample.schema.reset();  // the view does not depend on the schema

  const arrowdevice_node* root = arrowdevice_view_get_root(view.get());
  REQUIRE(root != nullptr);
  CHECK(root->layout == ARROWDEVICE_LAYOUT_STRUCT);
  CHECK(std::string(root->format) == "+s");
  CHECK(root->length == 40);
  REQUIRE(root->n_children == 5);
  const arrowdevice_node& id = *root->children[0];
  CHECK(std::string(id.name) == "id");
  CHECK(std::string(id.format) == "l");
  CHECK(id.layout == ARROWDEVICE_LAYOUT_FIXED);
  CHECK(id.bit_width == 64);
  CHECK(id.extension_name == nullptr);
  CHECK(id.metadata != nullptr);
  REQUIRE(id.n_buffers == 2);
  CHECK(id.buffers[0].role == ARROWDEVICE_ROLE_VALIDITY);
  CHECK(id.buffers[1].role == ARROWDEVICE_ROLE_DATA);
  CHECK(id.buffers[1].size == 40 * 8);
  CHECK(id.buffers[1].flags == ARROWDEVICE_BUFFER_SIZE_KNOWN);
  CHECK(id.buffers[1].data == id.array->buffers[1]);
  const arrowdevice_node& name = *root->children[1];
  CHECK((name.flags & ARROW_FLAG_NULLABLE) == 0);
  REQUIRE(name.n_buffers == 3);
  CHECK(name.buffers[1].role == ARROWDEVICE_ROLE_OFFSETS);
  CHECK(name.buffers[1].size == 41 * 4);
  CHECK((name.buffers[2].flags & ARROWDEVICE_BUFFER_SIZE_KNOWN) == 0);
  CHECK(name.buffers[2].size == 0);
  const arrowdevice_node& code = *root->children[2];
  CHECK(std::string(code.extension_name) == "house.code");
  REQUIRE(code.extension_metadata_size == 3);
  CHECK(std::memcmp(code.extension_metadata, "a\0b", 3) == 0);
  CHECK(code.bit_width == 24);
  CHECK(root->children[3]->list_size == 4);
  CHECK(root->children[3]->children[0]->bit_width == 1);
  const arrowdevice_node& kind = *root->children[4];
  CHECK(kind.layout == ARROWDEVICE_LAYOUT_FIXED);
  REQUIRE(kind.dictionary != nullptr);
  CHECK(std::string(kind.dictionary->format) == "u");
  CHECK(id.dictionary == nullptr);

  CHECK(arrowdevice_view_get_device(view.get()) == sim(0));
  CHECK(arrowdevice_view_get_array(view.get())->device_id == 0);
  CHECK(arrowdevice_view_get_array(view.get())->array.buffers == was.array.buffers);
}

TEST_CASE("a view that resolves sizes on the device waits for the array's event first") {
  begin();
  Sample sample(struct_of({field("u", "a"), field("vu", "b")}).not_null(), kPlain);
  Array there = copy(sample, sim(0));
  const auto* offsets = static_cast<const int32_t*>(sample.twin->children[0]->buffers[1]);
  const int64_t readbacks = counters(sim(0)).readbacks;
  const auto options = import_options(ARROWDEVICE_IMPORT_RESOLVE_SIZES);
  const View view = import_view(there.get(), *sample.schema, &options);
  const auto& text = arrowdevice_view_get_root(view.get())->children[0]->buffers[2];
  CHECK((text.flags & ARROWDEVICE_BUFFER_SIZE_KNOWN) != 0);
  CHECK(text.size == offsets[40]);
  CHECK(counters(sim(0)).readbacks == readbacks + 1);
  const arrowdevice_node& views = *arrowdevice_view_get_root(view.get())->children[1];
  CHECK((views.buffers[views.n_buffers - 1].flags & ARROWDEVICE_BUFFER_HOST) != 0);
}

TEST_CASE("a view whose array is not ready in time is refused, and the array stays") {
  begin();
  Sample sample(field("u"), kPlain);
  Held engine(0);
  Array there = copy(sample, sim(0), ARROWDEVICE_COPY_ASYNC);
  auto options = import_options(ARROWDEVICE_IMPORT_RESOLVE_SIZES);
  options.timeout_ns = 1'000'000;
  auto* view = reinterpret_cast<arrowdevice_view*>(8);
  must_fail(ETIMEDOUT, arrowdevice_array_import, there.get(), sample.schema.get(), &options, &view);
  CHECK(view == nullptr);
  CHECK_FALSE(there.released());
  engine.resume();
  CHECK(difference(sample, *there) == "");
}

TEST_CASE("an import with a queue makes the queue wait instead of the caller") {
  begin();
  Sample sample(field("l"), kPlain);
  Held engine(0);
  Array there = copy(sample, sim(0), ARROWDEVICE_COPY_ASYNC);
  const Queue queue = make_queue(sim(1));
  auto options = import_options();
  options.queue = queue.get();
  const View view = import_view(there.get(), *sample.schema, &options);
  must_fail(ETIMEDOUT, arrowdevice_queue_finish, queue.get(), ARROWDEVICE_POLL);
  engine.resume();
  must(arrowdevice_queue_finish, queue.get(), ARROWDEVICE_NO_TIMEOUT);
}

TEST_CASE("an owner shared from a view and the view outlive each other") {
  begin();
  Sample sample(mixed_batch(), kPlain);
  View view = import_view(sample.host.get(), *sample.schema);
  Array shared = output_of(arrowdevice_view_share, view.get());
  Array more = output_of(arrowdevice_view_share, view.get());
  more.reset();
  CHECK(sample.ledger.live() > 0);
  view.reset();
  CHECK(sample.ledger.live() > 0);
  CHECK(difference(sample, *shared) == "");
  shared.reset();
  CHECK(sample.ledger.live() == 0);
  CHECK(Ledger::mistakes() == 0);
}

TEST_CASE("a view returns its array unchanged") {
  begin();
  Sample sample(mixed_batch(), kPlain);
  const ArrowDeviceArray was = *sample.host;
  View view = import_view(sample.host.get(), *sample.schema);
  Array out;
  arrowdevice_view_detach(view.release(), out.out());
  CHECK(std::memcmp(out.get(), &was, sizeof was) == 0);
  CHECK(difference(sample, *out) == "");
  arrowdevice_view_detach(nullptr, out.out());
  CHECK(out.released());
  CHECK(sample.ledger.live() == 0);
}

TEST_CASE("a view that was shared returns an owner like the others") {
  begin();
  Sample sample(mixed_batch(), kPlain);
  View view = import_view(sample.host.get(), *sample.schema);
  Array shared = output_of(arrowdevice_view_share, view.get());
  Array out;
  arrowdevice_view_detach(view.release(), out.out());
  shared.reset();
  CHECK(sample.ledger.live() > 0);
  CHECK(difference(sample, *out) == "");
  out.reset();
  CHECK(sample.ledger.live() == 0);
}

TEST_CASE("releasing a view releases its array, at once or behind a queue's work") {
  begin();
  Sample first(field("u"), kPlain), second(field("u"), kPlain);
  import_view(first.host.get(), *first.schema).reset();
  CHECK(first.ledger.live() == 0);
  arrowdevice_view_release(nullptr);

  const Queue queue = make_queue(sim(0));
  Held engine(0);
  View view = import_view(second.host.get(), *second.schema);
  must(arrowdevice_view_release_after, view.release(), queue.get());
  CHECK(second.ledger.live() > 0);
  engine.resume();
  must(arrowdevice_wait_idle, ARROWDEVICE_NO_TIMEOUT);
  CHECK(second.ledger.live() == 0);
}

TEST_CASE("a failed view_release_after leaves the view unchanged") {
  begin();
  Sample sample(field("u"), kPlain);
  const Queue queue = make_queue(sim(0));
  View view = import_view(sample.host.get(), *sample.schema);
  must_fail(EINVAL, arrowdevice_view_release_after, nullptr, queue.get());
  must_fail(EINVAL, arrowdevice_view_release_after, view.get(), nullptr);
  control::fail_next("event_record");
  CHECK(arrowdevice_view_release_after(view.get(), queue.get(), nullptr) == EIO);
  CHECK(arrowdevice_view_get_root(view.get())->length == 40);
  Array shared = output_of(arrowdevice_view_share, view.get());
  CHECK(difference(sample, *shared) == "");
}

TEST_CASE("an import that is refused gives no view and leaves the array alone") {
  begin();
  Sample sample(field("u"), kPlain);
  const auto other = make_schema(field("l"));
  auto* view = reinterpret_cast<arrowdevice_view*>(8);
  must_fail(EINVAL, arrowdevice_array_import, nullptr, sample.schema.get(), nullptr, &view);
  CHECK(view == nullptr);
  must_fail(EINVAL, arrowdevice_array_import, sample.host.get(), nullptr, nullptr, &view);
  must_fail(EINVAL, arrowdevice_array_import, sample.host.get(), sample.schema.get(), nullptr, nullptr);
  must_fail(EINVAL, arrowdevice_array_import, sample.host.get(), other.get(), nullptr, &view);
  auto options = import_options(2);
  must_fail_saying(EINVAL, "flags", arrowdevice_array_import, sample.host.get(), sample.schema.get(), &options, &view);
  options = import_options();
  options.validate = 3;
  must_fail(EINVAL, arrowdevice_array_import, sample.host.get(), sample.schema.get(), &options, &view);
  CHECK_FALSE(sample.host.released());
  CHECK(difference(sample, *sample.host) == "");
  Array out;
  must_fail(EINVAL, arrowdevice_view_share, nullptr, out.out());
  const View there = import_view(sample.host.get(), *sample.schema);
  must_fail(EINVAL, arrowdevice_view_share, there.get(), nullptr);
  CHECK(arrowdevice_view_get_root(nullptr) == nullptr);
  CHECK(arrowdevice_view_get_array(nullptr) == nullptr);
  CHECK(arrowdevice_view_get_device(nullptr) == nullptr);
}

// The thread sanitizer reports a missing lock.
TEST_CASE("several threads share one view at the same time") {
  begin();
  Sample sample(mixed_batch(), kPlain);
  for (int round = 0; round < 50; ++round) {
    Array there = copy(sample, sim(0));
    View view = import_view(there.get(), *sample.schema);
    constexpr int kThreads = 4;
    Array shared[kThreads];
    int codes[kThreads] = {};
    std::atomic<int> ready = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&, i] {
        for (++ready; ready < kThreads;) std::this_thread::yield();
        codes[i] = arrowdevice_view_share(view.get(), shared[i].out(), nullptr);
      });
    }
    for (auto& thread : threads) thread.join();
    view.reset();
    for (int i = 0; i < kThreads; ++i) {
      REQUIRE(codes[i] == 0);
      CHECK(difference(sample, *shared[i]) == "");
      shared[i].reset();
    }
  }
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// Tests children that are moved out of their parents, and arrays that contain themselves.
#include "library.h"

namespace {

using namespace library_test;  // NOLINT: what every line of these tests is written with

Field nested() {
  return struct_of(
             {field("l", "id"), list_of(field("u", "item")).named("tags"),
              dictionary_of("s", field("u", "value")).named("kind"), field("vu", "view"),
              struct_of({field("g", "x"), list_of(struct_of({field("b", "flag")})).named("deep")}).named("inner")})
      .not_null();
}

struct Maker {
  const char* name;
  std::function<Array(Sample&, int64_t id)> make;
};

Owned<ArrowArray> plain(Sample& sample, int64_t id) { return Owned<ArrowArray>(copy(sample, sim(id)).take().array); }

Array moved_to(Array from, const Sample& sample, arrowdevice_device* to, uint32_t flags) {
  Array out;
  const auto options = copy_options(flags);
  must(arrowdevice_array_to_device, from.get(), sample.schema.get(), to, &options, out.out());
  return out;
}

arrowdevice_view* import_view(Array& array, const Sample& sample) {
  return output_of(arrowdevice_array_import, array.get(), sample.schema.get(), nullptr);
}

const Maker kMakers[] = {
    {"array_export",
     [](Sample& sample, int64_t id) {
       auto array = plain(sample, id);
       const Queue queue = make_queue(sim(id));
       return output_of(arrowdevice_array_export, sim(id), array.get(), queue.get());
     }},
    {"array_export without a queue",
     [](Sample& sample, int64_t id) {
       auto array = plain(sample, id);
       return output_of(arrowdevice_array_export, sim(id), array.get(), nullptr);
     }},
    {"array_export_event",
     [](Sample& sample, int64_t id) {
       auto array = plain(sample, id);
       auto* const event = new control::UserEvent;
       event->set();
       return output_of(
           arrowdevice_array_export_event, sim(id), array.get(), event->sync_event(),
           [](void* user, void*) { delete static_cast<control::UserEvent*>(user); }, static_cast<void*>(event));
     }},
    {"array_copy", [](Sample& sample, int64_t id) { return copy(sample, sim(id)); }},
    {"array_copy, pending", [](Sample& sample, int64_t id) { return copy(sample, sim(id), ARROWDEVICE_COPY_ASYNC); }},
    {"array_to_device by a copy",
     [](Sample& sample, int64_t id) { return moved_to(copy(sample, sim(1 - id % 2)), sample, sim(id), 0); }},
    {"array_to_device by sharing",
     [](Sample& sample, int64_t id) {
       return moved_to(copy(sample, sim(id), ARROWDEVICE_COPY_ASYNC), sample, sim(id), ARROWDEVICE_COPY_NEVER);
     }},
    {"array_to_host and array_from_host",
     [](Sample& sample, int64_t id) {
       Array there = copy(sample, sim(id));
       auto back = output_of(arrowdevice_array_to_host, there.get(), sample.schema.get(), nullptr);
       return from_host(std::move(back));
     }},
    {"array_share, the second owner",
     [](Sample& sample, int64_t id) {
       Array there = copy(sample, sim(id), ARROWDEVICE_COPY_ASYNC);
       return output_of(arrowdevice_array_share, there.get());
     }},
    {"array_share, the first owner",
     [](Sample& sample, int64_t) {
       Array host = from_host(make_array(generate(sample.type, kPlain), sample.ledger));
       Array out = output_of(arrowdevice_array_share, host.get());
       return host;
     }},
    {"array_slice",
     [](Sample& sample, int64_t id) {
       Array there = copy(sample, sim(id), ARROWDEVICE_COPY_ASYNC);
       return slice(*there, *sample.schema, 0, kPlain.rows);
     }},
    {"array_select",
     [](Sample& sample, int64_t id) {
       Array there = copy(sample, sim(id), ARROWDEVICE_COPY_ASYNC);
       const int64_t all[] = {0, 1, 2, 3, 4};
       Array out;
       must(arrowdevice_array_select, there.get(), sample.schema.get(), all, 5, out.out(), nullptr);
       return out;
     }},
    {"view_share",
     [](Sample& sample, int64_t id) {
       Array there = copy(sample, sim(id), ARROWDEVICE_COPY_ASYNC);
       const View view(import_view(there, sample));
       return output_of(arrowdevice_view_share, view.get());
     }},
    {"view_detach",
     [](Sample& sample, int64_t id) {
       Array there = copy(sample, sim(id), ARROWDEVICE_COPY_ASYNC);
       Array out;
       arrowdevice_view_detach(import_view(there, sample), out.out());
       return out;
     }},
};

struct Place {
  ArrowArray* array;
  const ArrowSchema* schema;
  const ArrowArray* twin;
};

// Returns all fields below the root.
std::vector<Place> places(ArrowArray& root, const Sample& sample) {
  std::vector<Place> found{{&root, sample.schema.get(), sample.twin.get()}};
  for (size_t i = 0; i < found.size(); ++i) {
    const Place at = found[i];
    for (int64_t c = 0; c < at.schema->n_children; ++c) {
      found.push_back({at.array->children[c], at.schema->children[c], at.twin->children[c]});
    }
    if (at.schema->dictionary != nullptr) {
      found.push_back({at.array->dictionary, at.schema->dictionary, at.twin->dictionary});
    }
  }
  found.erase(found.begin());
  return found;
}

TEST_CASE("a child that is moved out outlives its parent, whatever function made it") {
  for (const int64_t id : {kAddresses[0], kHandles[0]}) {
    for (const Maker& maker : kMakers) {
      begin();
      Sample sample(nested(), kPlain);
      const int64_t own = sample.ledger.live();
      const size_t n = [&] {
        Array probe = maker.make(sample, id);
        return places(probe->array, sample).size();
      }();
      REQUIRE(n == 11);
      for (size_t i = 0; i < n; ++i) {
        Array parent = maker.make(sample, id);
        // The root's owner holds the event of pending work. The child's memory outlives the event too.
        must(arrowdevice_array_wait, parent.get(), nullptr, ARROWDEVICE_NO_TIMEOUT);
        const Place place = places(parent->array, sample)[i];
        INFO(maker.name << " on " << id << ": " << (place.schema->name == nullptr ? "" : place.schema->name));
        ArrowDeviceArray child = *parent;
        child.array = *place.array;
        child.sync_event = nullptr;
        place.array->release = nullptr;
        parent.reset();
        must(arrowdevice_wait_idle, ARROWDEVICE_NO_TIMEOUT);
        // Overwrites memory that was released too early.
        copy(sample, sim(id)).reset();
        Array owned(child);
        const Array back = copy(*owned, *place.schema, cpu());
        const int64_t rows = std::min(place.twin->length, back->array.length);
        CHECK(rows > 0);
        CHECK(arrowdevice::testing::difference(*place.schema, *place.twin, 0, *place.schema, back->array, 0, rows) ==
              "");
        owned.reset();
      }
      CHECK(sample.ledger.live() == own);
      begin();
      for (int64_t each = 0; each < kSims; ++each) {
        CHECK(control::counters(each).allocations_live == 0);
        // A queue holds its last event.
        CHECK(control::counters(each).events_live <= control::counters(each).queues_live);
      }
      CHECK(control::refused() == 0);
    }
  }
  CHECK(Ledger::mistakes() == 0);
}

TEST_CASE("a foreign child that replaces a moved child is released with its parent") {
  begin();
  Sample sample(struct_of({field("l", "id"), field("u", "name")}).not_null(), kPlain);
  Array there = copy(sample, cpu());
  const Ledger foreign;
  Owned<ArrowArray> other = make_array(generate(field("l"), kPlain), foreign);
  Owned<ArrowArray> own(*there->array.children[0]);
  *there->array.children[0] = other.take();
  CHECK(foreign.live() == 1);
  there.reset();
  CHECK(foreign.live() == 0);
  CHECK(own->length == sample.twin->length);
}

TEST_CASE("every function that walks children refuses an array with a cycle") {
  begin();
  Sample sample(struct_of({struct_of({}).named("a"), struct_of({}).named("b")}).not_null(), kPlain);
  ArrowArray& root = sample.host->array;
  ArrowArray* const children[] = {root.children[0], root.children[1]};
  // A walk without a check for cycles doubles its work with every level.
  root.children[0] = &root;
  root.children[1] = &root;
  // Tries a schema as deep as the limit allows, and a shallow schema.
  Field endless = struct_of({struct_of({}), struct_of({})});
  for (int level = 0; level < 5; ++level) endless = struct_of({endless, endless});
  for (const Field& type : {sample.type, endless}) {
    const auto schema = make_schema(type);
    const ArrowDeviceArray was = *sample.host;
    Array out;
    Owned<ArrowArray> host;
    arrowdevice_view* view = nullptr;
    const int64_t first = 0;
    const Queue queue = make_queue(sim(0));
    must_fail(EINVAL, arrowdevice_array_validate, sample.host.get(), schema.get(), nullptr, 0);
    must_fail_saying(EINVAL, "its own ancestor", arrowdevice_array_copy, sample.host.get(), schema.get(), sim(0),
                     nullptr, out.out());
    must_fail(EINVAL, arrowdevice_array_to_device, sample.host.get(), schema.get(), sim(0), nullptr, out.out());
    must_fail(EINVAL, arrowdevice_array_to_host, sample.host.get(), schema.get(), nullptr, host.out());
    must_fail(EINVAL, arrowdevice_array_import, sample.host.get(), schema.get(), nullptr, &view);
    must_fail(EINVAL, arrowdevice_array_slice, sample.host.get(), schema.get(), 0, 1, out.out());
    must_fail(EINVAL, arrowdevice_array_select, sample.host.get(), schema.get(), &first, 1, out.out(), nullptr);
    must_fail_saying(EINVAL, "its own ancestor", arrowdevice_array_share, sample.host.get(), out.out());
    ArrowArray taken = root;
    must_fail(EINVAL, arrowdevice_array_export, sim(0), &root, queue.get(), out.out());
    must_fail(EINVAL, arrowdevice_array_export_event, sim(0), &root, nullptr, nullptr, nullptr, out.out());
    CHECK(std::memcmp(&taken, &root, sizeof root) == 0);
    CHECK(std::memcmp(sample.host.get(), &was, sizeof was) == 0);
  }
  std::copy(std::begin(children), std::end(children), root.children);
}

TEST_CASE("a child in too many positions is refused") {
  begin();
  // Each level names the next level twice: 2^40 arrays in 40 structs.
  constexpr int kLevels = 40;
  Sample sample(struct_of({}).not_null(), kPlain);
  std::vector<ArrowArray> levels(kLevels, sample.host->array);
  std::vector<ArrowArray*> pairs(2 * kLevels);
  for (int i = 0; i + 1 < kLevels; ++i) {
    const auto at = static_cast<size_t>(i);
    pairs[2 * at] = pairs[2 * at + 1] = &levels[at + 1];
    levels[at].n_children = 2;
    levels[at].children = &pairs[2 * at];
  }
  ArrowDeviceArray root = *sample.host;
  root.array = levels[0];
  Array out;
  must_fail_saying(EINVAL, "more than 131072 arrays in one, and only 18 structs", arrowdevice_array_share, &root,
                   out.out());
  const Queue queue = make_queue(sim(0));
  must_fail(EINVAL, arrowdevice_array_export, sim(0), &root.array, queue.get(), out.out());
}

}  // namespace

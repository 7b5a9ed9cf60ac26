// SPDX-License-Identifier: Apache-2.0
#include "support/host_data.h"

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <new>
#include <unordered_map>

#include "support/callback.h"

namespace arrowdevice::testing {

struct Ledger::Counts {
  std::atomic<int64_t> made{0};
  std::atomic<int64_t> released{0};
};

namespace {

constexpr unsigned char kFreed = 0xDB;

// Uses malloc instead of a vector, so that the sanitizer knows the exact end and `misaligned` can add a byte
// in front.
class Block {
 public:
  Block(const Bytes& bytes, bool misaligned) : lead_(misaligned ? 1 : 0), size_(bytes.size()) {
    memory_ = static_cast<unsigned char*>(std::malloc(lead_ + size_));
    // malloc(0) may return NULL, but the test asked for a valid pointer to no bytes.
    if (memory_ == nullptr) memory_ = static_cast<unsigned char*>(std::malloc(1));
    if (memory_ == nullptr) throw std::bad_alloc();
    if (size_ != 0) std::memcpy(memory_ + lead_, bytes.data(), size_);
  }
  Block(Block&& other) noexcept : memory_(other.memory_), lead_(other.lead_), size_(other.size_) {
    other.memory_ = nullptr;
  }
  Block& operator=(Block&&) = delete;
  ~Block() {
    if (memory_ == nullptr) return;
    if (size_ != 0) std::memset(memory_ + lead_, kFreed, size_);
    // The barrier keeps the compiler from dropping the stores into memory that is freed next.
    asm volatile("" : : "r"(memory_) : "memory");
    std::free(memory_);
  }
  const void* data() const noexcept { return memory_ + lead_; }

 private:
  unsigned char* memory_;
  size_t lead_;
  size_t size_;
};

struct ArrayOwner {
  std::vector<Block> blocks;
  std::vector<const void*> buffers;
  std::vector<ArrowArray> children;
  std::vector<ArrowArray*> pointers;
  ArrowArray dictionary{};
  std::shared_ptr<Ledger::Counts> counts;
};

std::atomic<int64_t> second_releases{0};

// Holds the live owners under numbers that are never reused. A struct that is released through a stale copy
// names an owner that is no longer here.
struct Registry {
  std::mutex mutex;
  std::unordered_map<uintptr_t, std::unique_ptr<ArrayOwner>> owners;
  uintptr_t last = 0;
};

Registry& registry() {
  static auto* const only = new Registry;  // never destroyed, because static destructors may release arrays
  return *only;
}

void release_array(ArrowArray* array) {
  enter_callback("release of an array");
  const auto number = reinterpret_cast<uintptr_t>(array->private_data);
  array->release = nullptr;
  std::unique_ptr<ArrayOwner> owner;
  {
    Registry& known = registry();
    const std::lock_guard lock(known.mutex);
    const auto found = known.owners.find(number);
    if (found == known.owners.end()) {
      ++second_releases;
      return;
    }
    owner = std::move(found->second);
    known.owners.erase(found);
  }
  for (ArrowArray& child : owner->children) {
    if (child.release != nullptr) child.release(&child);
  }
  if (owner->dictionary.release != nullptr) owner->dictionary.release(&owner->dictionary);
  ++owner->counts->released;
}

void fill_array(const Data& data, const Ledger& ledger, ArrowArray* out) {
  auto owner = std::make_unique<ArrayOwner>();
  owner->counts = ledger.counts();
  owner->blocks.reserve(data.buffers.size());
  for (const Buffer& buffer : data.buffers) {
    if (buffer.null) {
      owner->buffers.push_back(nullptr);
    } else {
      owner->blocks.emplace_back(buffer.bytes, data.misaligned);
      owner->buffers.push_back(owner->blocks.back().data());
    }
  }
  owner->children.resize(data.children.size());
  for (size_t i = 0; i < data.children.size(); ++i) {
    fill_array(data.children[i], ledger, &owner->children[i]);
    owner->pointers.push_back(&owner->children[i]);
  }
  if (data.dictionary) fill_array(*data.dictionary, ledger, &owner->dictionary);

  *out = ArrowArray{};
  out->length = data.length;
  out->null_count = data.null_count;
  out->offset = data.offset;
  out->n_buffers = static_cast<int64_t>(owner->buffers.size());
  out->n_children = static_cast<int64_t>(owner->children.size());
  out->buffers = owner->buffers.empty() ? nullptr : owner->buffers.data();
  out->children = owner->pointers.empty() ? nullptr : owner->pointers.data();
  out->dictionary = data.dictionary ? &owner->dictionary : nullptr;
  out->release = &release_array;
  {
    Registry& known = registry();
    const std::lock_guard lock(known.mutex);
    ++owner->counts->made;
    const uintptr_t number = ++known.last;
    known.owners.emplace(number, std::move(owner));
    out->private_data = reinterpret_cast<void*>(number);
  }
}

}  // namespace

Ledger::Ledger() : counts_(std::make_shared<Counts>()) {}
int64_t Ledger::made() const noexcept { return counts_->made.load(); }
int64_t Ledger::released() const noexcept { return counts_->released.load(); }
int64_t Ledger::mistakes() noexcept { return second_releases.load(); }

Owned<ArrowArray> make_array(Data data, const Ledger& ledger) {
  Owned<ArrowArray> array;
  fill_array(data, ledger, array.out());
  return array;
}

}  // namespace arrowdevice::testing

// SPDX-License-Identifier: Apache-2.0
#include "link/opened_memory.h"

#include <sys/stat.h>

#include <map>
#include <mutex>
#include <optional>
#include <tuple>

#include "base/process.h"

namespace arrowdevice::link {
namespace {

// A file of memory has a number of its own as long as it is open anywhere. Descriptors of drivers have no such number.
using Key = std::tuple<const device::Device*, dev_t, ino_t>;

std::optional<Key> key_of(const device::Device& device, const arrowdevice_memory_record& record) {
  struct stat facts {};
  if (record.kind != ARROWDEVICE_MEMORY_DESCRIPTOR || fstat(record.descriptor, &facts) != 0 || !S_ISREG(facts.st_mode))
    return std::nullopt;
  return Key(&device, facts.st_dev, facts.st_ino);
}

// Any thread may call this class.
class OpenAllocations {
 public:
  static OpenAllocations& instance() {
    static auto* const all = new OpenAllocations;
    return *all;
  }

  std::shared_ptr<OpenedMemory> find(const Key& key) {
    const std::lock_guard lock(mutex_);
    const auto found = opened_.find(key);
    return found != opened_.end() ? found->second.lock() : nullptr;
  }

  // Returns the memory that another thread has added meanwhile, or `memory`.
  std::shared_ptr<OpenedMemory> add(const Key& key, std::shared_ptr<OpenedMemory> memory) {
    const std::lock_guard lock(mutex_);
    auto& entry = opened_[key];
    if (auto earlier = entry.lock()) return earlier;
    entry = memory;
    return memory;
  }

  // Removes memory that is not open any more.
  void remove(const Key& key) noexcept {
    const std::lock_guard lock(mutex_);
    const auto found = opened_.find(key);
    if (found != opened_.end() && found->second.expired()) opened_.erase(found);
  }

 private:
  std::mutex mutex_;
  process::UsableAcrossFork usable_across_fork_{mutex_};
  std::map<Key, std::weak_ptr<OpenedMemory>> opened_;
};

class KnownMemory final : public OpenedMemory {
 public:
  KnownMemory(device::Device& device, const arrowdevice_memory_record& record, const Key& key)
      : OpenedMemory(device, record), key_(key) {}
  ~KnownMemory() override { OpenAllocations::instance().remove(key_); }

 private:
  const Key key_;
};

}  // namespace

std::shared_ptr<OpenedMemory> open_memory(device::Device& device, const arrowdevice_memory_record& record) {
  const auto key = key_of(device, record);
  if (!key) return std::make_shared<OpenedMemory>(device, record);
  auto& all = OpenAllocations::instance();
  if (auto open = all.find(*key)) return open;
  return all.add(*key, std::make_shared<KnownMemory>(device, record, *key));
}

}  // namespace arrowdevice::link

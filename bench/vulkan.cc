// SPDX-License-Identifier: Apache-2.0
// Compares the library on a Vulkan device with raw calls that move the same bytes on the same VkDevice. Both run in
// turns, so that other load affects both. `ratio` is the ratio of the medians.
#include <arrowdevice/arrowdevice.h>
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "vulkan/functions.h"

namespace {

using Clock = std::chrono::steady_clock;

void must(int code, const arrowdevice_error& error) {
  if (code == 0) return;
  std::fprintf(stderr, "bench: %s\n", error.message);
  std::exit(1);
}
void must(VkResult result, const char* call) {
  if (result >= 0) return;
  std::fprintf(stderr, "bench: %s: %d\n", call, result);
  std::exit(1);
}

arrowdevice_device* device(ArrowDeviceType type) {
  arrowdevice_error error{};
  arrowdevice_device* found = nullptr;
  must(arrowdevice_device_find_by_id(type, 0, &found, &error), error);
  return found;
}

// Uses the VkDevice that the library opened, as an application would.
class Raw {
 public:
  struct Buffer {
    VkBuffer buffer = VK_NULL_HANDLE;
    VkDeviceMemory memory = VK_NULL_HANDLE;
    unsigned char* mapped = nullptr;
  };

  Raw() {
    arrowdevice_native_device native{};
    native.struct_size = sizeof native;
    arrowdevice_error error{};
    must(arrowdevice_device_get_native(device(ARROW_DEVICE_VULKAN), &native, &error), error);
    const auto get = reinterpret_cast<PFN_vkGetInstanceProcAddr>(native.get_proc_addr);
    const auto instance = static_cast<VkInstance>(native.platform);
    const auto get_device = reinterpret_cast<PFN_vkGetDeviceProcAddr>(get(instance, "vkGetDeviceProcAddr"));
    device_ = static_cast<VkDevice>(native.device);
    queue_ = static_cast<VkQueue>(native.queue);
    vk_ = arrowdevice::vulkan::device_functions(get_device, device_);
    reset_fences_ = reinterpret_cast<PFN_vkResetFences>(get_device(device_, "vkResetFences"));
    VkCommandPoolCreateInfo pool{};
    pool.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
    pool.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT;
    pool.queueFamilyIndex = native.queue_family;
    must(vk_.vkCreateCommandPool(device_, &pool, nullptr, &pool_), "vkCreateCommandPool");
    VkCommandBufferAllocateInfo commands{};
    commands.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
    commands.commandPool = pool_;
    commands.commandBufferCount = 1;
    must(vk_.vkAllocateCommandBuffers(device_, &commands, &commands_), "vkAllocateCommandBuffers");
    VkFenceCreateInfo fence{};
    fence.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO;
    must(vk_.vkCreateFence(device_, &fence, nullptr, &fence_), "vkCreateFence");
  }

  VkBuffer create(VkDeviceSize size) const {
    VkBufferCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
    info.size = size;
    info.usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;
    VkBuffer made = VK_NULL_HANDLE;
    must(vk_.vkCreateBuffer(device_, &info, nullptr, &made), "vkCreateBuffer");
    return made;
  }

  VkMemoryRequirements requirements(VkBuffer buffer) const {
    VkMemoryRequirements needed{};
    vk_.vkGetBufferMemoryRequirements(device_, buffer, &needed);
    return needed;
  }

  // Uses memory type 0, which Vulkan implementations on CPUs have.
  Buffer make(VkDeviceSize size) const {
    Buffer made;
    made.buffer = create(size);
    VkMemoryAllocateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
    info.allocationSize = requirements(made.buffer).size;
    must(vk_.vkAllocateMemory(device_, &info, nullptr, &made.memory), "vkAllocateMemory");
    must(vk_.vkBindBufferMemory(device_, made.buffer, made.memory, 0), "vkBindBufferMemory");
    void* mapped = nullptr;
    must(vk_.vkMapMemory(device_, made.memory, 0, VK_WHOLE_SIZE, 0, &mapped), "vkMapMemory");
    made.mapped = static_cast<unsigned char*>(mapped);
    std::memset(made.mapped, 1, size);
    return made;
  }

  void bind(VkBuffer buffer, VkDeviceMemory memory, VkDeviceSize offset) const {
    must(vk_.vkBindBufferMemory(device_, buffer, memory, offset), "vkBindBufferMemory");
  }
  void destroy(VkBuffer buffer) const { vk_.vkDestroyBuffer(device_, buffer, nullptr); }
  void destroy(const Buffer& made) const {
    destroy(made.buffer);
    vk_.vkFreeMemory(device_, made.memory, nullptr);
  }

  // Submits one command with these regions and waits for its fence.
  void copy(VkBuffer from, VkBuffer to, const std::vector<VkBufferCopy>& regions) const {
    VkCommandBufferBeginInfo begin{};
    begin.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
    must(vk_.vkBeginCommandBuffer(commands_, &begin), "vkBeginCommandBuffer");
    vk_.vkCmdCopyBuffer(commands_, from, to, static_cast<uint32_t>(regions.size()), regions.data());
    must(vk_.vkEndCommandBuffer(commands_), "vkEndCommandBuffer");
    VkSubmitInfo submit{};
    submit.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
    submit.commandBufferCount = 1;
    submit.pCommandBuffers = &commands_;
    must(vk_.vkQueueSubmit(queue_, 1, &submit, fence_), "vkQueueSubmit");
    must(vk_.vkWaitForFences(device_, 1, &fence_, VK_TRUE, UINT64_MAX), "vkWaitForFences");
    must(reset_fences_(device_, 1, &fence_), "vkResetFences");
  }

 private:
  VkDevice device_ = VK_NULL_HANDLE;
  VkQueue queue_ = VK_NULL_HANDLE;
  arrowdevice::vulkan::DeviceFunctions vk_;
  PFN_vkResetFences reset_fences_ = nullptr;
  VkCommandPool pool_ = VK_NULL_HANDLE;
  VkCommandBuffer commands_ = VK_NULL_HANDLE;
  VkFence fence_ = VK_NULL_HANDLE;
};

const Raw& raw() {
  static const Raw made;
  return made;
}

// A record batch of int64 columns in host memory.
class Batch {
 public:
  Batch(size_t columns, int64_t rows) : values_(columns), buffers_(columns * 2), columns_(columns), children_(columns) {
    for (size_t i = 0; i < columns; ++i) {
      values_[i].resize(static_cast<size_t>(rows));
      std::iota(values_[i].begin(), values_[i].end(), 1);
      buffers_[2 * i + 1] = values_[i].data();
      children_[i] = &columns_[i];
      fill(columns_[i], rows, 2, &buffers_[2 * i]);
    }
    fill(array_.array, rows, 1, root_);
    array_.array.n_children = static_cast<int64_t>(columns);
    array_.array.children = children_.data();
    array_.device_type = ARROW_DEVICE_CPU;
    array_.device_id = -1;

    fields_.resize(columns);
    field_pointers_.resize(columns);
    for (size_t i = 0; i < columns; ++i) {
      fill(fields_[i], "l");
      field_pointers_[i] = &fields_[i];
    }
    fill(schema_, "+s");
    schema_.n_children = static_cast<int64_t>(columns);
    schema_.children = field_pointers_.data();
  }

  const ArrowDeviceArray& array() const { return array_; }
  const ArrowSchema& schema() const { return schema_; }

 private:
  static void fill(ArrowArray& array, int64_t rows, int64_t n_buffers, const void** buffers) {
    array = ArrowArray{};
    array.length = rows;
    array.n_buffers = n_buffers;
    array.buffers = buffers;
    array.release = [](ArrowArray* one) { one->release = nullptr; };
  }
  static void fill(ArrowSchema& schema, const char* format) {
    schema = ArrowSchema{};
    schema.format = format;
    schema.name = "";
    schema.release = [](ArrowSchema* one) { one->release = nullptr; };
  }

  std::vector<std::vector<int64_t>> values_;
  std::vector<const void*> buffers_;
  std::vector<ArrowArray> columns_;
  std::vector<ArrowArray*> children_;
  const void* root_[1] = {};
  ArrowDeviceArray array_{};
  std::vector<ArrowSchema> fields_;
  std::vector<ArrowSchema*> field_pointers_;
  ArrowSchema schema_{};
};

ArrowDeviceArray copy(const ArrowDeviceArray& array, const ArrowSchema& schema, arrowdevice_device* to) {
  ArrowDeviceArray out{};
  arrowdevice_error error{};
  must(arrowdevice_array_copy(&array, &schema, to, nullptr, &out, &error), error);
  return out;
}

template <typename Body>
double seconds(Body&& body) {
  const auto start = Clock::now();
  body();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double median(std::vector<double>& all) {
  std::ranges::nth_element(all, all.begin() + static_cast<ptrdiff_t>(all.size() / 2));
  return all[all.size() / 2];
}

// Runs both in turns. Reports the medians and their ratio.
template <typename RawBody, typename LibraryBody>
void compare(benchmark::State& state, RawBody&& raw_body, LibraryBody&& library_body) {
  std::vector<double> raw_times;
  std::vector<double> library_times;
  raw_body();
  library_body();
  for (auto _ : state) {
    raw_times.push_back(raw_body());
    library_times.push_back(library_body());
    state.SetIterationTime(library_times.back());
  }
  const double raw_median = median(raw_times);
  const double library_median = median(library_times);
  state.counters["raw_ms"] = raw_median * 1e3;
  state.counters["library_ms"] = library_median * 1e3;
  state.counters["ratio"] = library_median / raw_median;
}

constexpr size_t kColumns = 8;
constexpr int64_t kRows = 1 << 20;
constexpr VkDeviceSize kBytes = kColumns * kRows * 8;

void large_batch_there(benchmark::State& state, bool mapped_write) {
  const Batch batch(kColumns, kRows);
  const auto staging = raw().make(kBytes);
  const auto target = raw().make(kBytes);
  compare(
      state,
      [&] {
        return seconds([&] {
          if (mapped_write) {
            std::memcpy(target.mapped, staging.mapped, kBytes);
          } else {
            raw().copy(staging.buffer, target.buffer, {{0, 0, kBytes}});
          }
        });
      },
      [&] {
        ArrowDeviceArray out{};
        const double time = seconds([&] { out = copy(batch.array(), batch.schema(), device(ARROW_DEVICE_VULKAN)); });
        out.array.release(&out.array);
        return time;
      });
  raw().destroy(staging);
  raw().destroy(target);
}

void large_batch_back(benchmark::State& state) {
  const Batch batch(kColumns, kRows);
  const auto staging = raw().make(kBytes);
  const auto source = raw().make(kBytes);
  ArrowDeviceArray there = copy(batch.array(), batch.schema(), device(ARROW_DEVICE_VULKAN));
  compare(
      state, [&] { return seconds([&] {
                     raw().copy(source.buffer, staging.buffer, {{0, 0, kBytes}});
                   }); },
      [&] {
        ArrowDeviceArray out{};
        const double time = seconds([&] { out = copy(there, batch.schema(), device(ARROW_DEVICE_CPU)); });
        out.array.release(&out.array);
        return time;
      });
  there.array.release(&there.array);
  raw().destroy(staging);
  raw().destroy(source);
}

constexpr size_t kManyColumns = 1000;
constexpr int64_t kFewRows = 100;
constexpr VkDeviceSize kColumnBytes = kFewRows * 8;

void wide_batch_there(benchmark::State& state) {
  const Batch batch(kManyColumns, kFewRows);
  const VkDeviceSize step = raw().requirements(raw().create(kColumnBytes)).size;
  const auto staging = raw().make(kManyColumns * step);
  const auto target = raw().make(kManyColumns * step);
  std::vector<VkBuffer> parts(kManyColumns);
  std::vector<VkBufferCopy> regions;
  for (size_t i = 0; i < kManyColumns; ++i) regions.push_back({i * step, i * step, kColumnBytes});
  compare(
      state,
      [&] {
        const double time = seconds([&] {
          for (size_t i = 0; i < kManyColumns; ++i) {
            parts[i] = raw().create(kColumnBytes);
            static_cast<void>(raw().requirements(parts[i]));
            raw().bind(parts[i], target.memory, i * step);
          }
          raw().copy(staging.buffer, target.buffer, regions);
        });
        for (const VkBuffer part : parts) raw().destroy(part);
        return time;
      },
      [&] {
        ArrowDeviceArray out{};
        const double time = seconds([&] { out = copy(batch.array(), batch.schema(), device(ARROW_DEVICE_VULKAN)); });
        out.array.release(&out.array);
        return time;
      });
  raw().destroy(staging);
  raw().destroy(target);
}

BENCHMARK_CAPTURE(large_batch_there, beside_vkCmdCopyBuffer, false)
    ->UseManualTime()
    ->Iterations(60)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(large_batch_there, beside_mapped_write, true)
    ->UseManualTime()
    ->Iterations(60)
    ->Unit(benchmark::kMillisecond);
BENCHMARK(large_batch_back)->UseManualTime()->Iterations(60)->Unit(benchmark::kMillisecond);
BENCHMARK(wide_batch_there)->UseManualTime()->Iterations(300)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();

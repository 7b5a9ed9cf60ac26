/* SPDX-License-Identifier: Apache-2.0 */
/* Puts an array on the program's own VkDevice, and reads its VkBuffer with the program's own commands. */
#include <arrowdevice/arrowdevice.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vulkan/vulkan.h>

#define ROWS 1000

static int64_t values[ROWS];

static void release_array(struct ArrowArray* array) { array->release = NULL; }
static void release_schema(struct ArrowSchema* schema) { schema->release = NULL; }

static void check(int code, const char* what, const struct arrowdevice_error* error) {
  if (code == 0) return;
  fprintf(stderr, "%s: %s\n", what, error->message);
  exit(1);
}

static void check_vk(VkResult result, const char* what) {
  if (result >= 0) return;
  fprintf(stderr, "%s: %d\n", what, result);
  exit(1);
}

/* The objects that such a program already has. */
struct program {
  VkInstance instance;
  VkPhysicalDevice physical;
  VkDevice device;
  VkQueue queue;
  VkPhysicalDeviceTimelineSemaphoreFeatures timeline;
  VkPhysicalDeviceFeatures2 features; /* as passed to vkCreateDevice */
};

static void start(struct program* program) {
  const VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .apiVersion = VK_API_VERSION_1_2};
  const VkInstanceCreateInfo instance = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                         .pApplicationInfo = &application};
  check_vk(vkCreateInstance(&instance, NULL, &program->instance), "vkCreateInstance");
  uint32_t one = 1;
  check_vk(vkEnumeratePhysicalDevices(program->instance, &one, &program->physical), "vkEnumeratePhysicalDevices");
  if (one == 0) {
    fprintf(stderr, "there is no Vulkan device\n");
    exit(1);
  }

  /* The library uses timeline semaphores if the program has enabled them, and fences otherwise. */
  program->timeline = (VkPhysicalDeviceTimelineSemaphoreFeatures){
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES, .timelineSemaphore = VK_TRUE};
  program->features =
      (VkPhysicalDeviceFeatures2){.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, .pNext = &program->timeline};
  const float priority = 1;
  /* Family 0 can compute and copy with every driver that we know. */
  const VkDeviceQueueCreateInfo queue = {
      .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, .queueCount = 1, .pQueuePriorities = &priority};
  const VkDeviceCreateInfo device = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                     .pNext = &program->features,
                                     .queueCreateInfoCount = 1,
                                     .pQueueCreateInfos = &queue};
  check_vk(vkCreateDevice(program->physical, &device, NULL, &program->device), "vkCreateDevice");
  vkGetDeviceQueue(program->device, 0, 0, &program->queue);
}

static uint32_t host_memory_type(const struct program* program, uint32_t allowed) {
  const VkMemoryPropertyFlags wanted = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  VkPhysicalDeviceMemoryProperties properties;
  vkGetPhysicalDeviceMemoryProperties(program->physical, &properties);
  for (uint32_t i = 0; i < properties.memoryTypeCount; ++i) {
    if ((allowed >> i & 1) != 0 && (properties.memoryTypes[i].propertyFlags & wanted) == wanted) return i;
  }
  fprintf(stderr, "there is no memory that the CPU sees\n");
  exit(1);
}

/* Copies a buffer to one that the CPU can read. A real program would run a shader. */
static void read_buffer(const struct program* program, VkBuffer from, void* out, size_t size) {
  const VkBufferCreateInfo info = {
      .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, .size = size, .usage = VK_BUFFER_USAGE_TRANSFER_DST_BIT};
  VkBuffer to;
  VkMemoryRequirements needed;
  VkDeviceMemory memory;
  check_vk(vkCreateBuffer(program->device, &info, NULL, &to), "vkCreateBuffer");
  vkGetBufferMemoryRequirements(program->device, to, &needed);
  const VkMemoryAllocateInfo allocation = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                           .allocationSize = needed.size,
                                           .memoryTypeIndex = host_memory_type(program, needed.memoryTypeBits)};
  check_vk(vkAllocateMemory(program->device, &allocation, NULL, &memory), "vkAllocateMemory");
  check_vk(vkBindBufferMemory(program->device, to, memory, 0), "vkBindBufferMemory");

  const VkCommandPoolCreateInfo pool_info = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
  VkCommandPool pool;
  VkCommandBuffer commands;
  check_vk(vkCreateCommandPool(program->device, &pool_info, NULL, &pool), "vkCreateCommandPool");
  const VkCommandBufferAllocateInfo commands_info = {
      .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO, .commandPool = pool, .commandBufferCount = 1};
  check_vk(vkAllocateCommandBuffers(program->device, &commands_info, &commands), "vkAllocateCommandBuffers");
  const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
  check_vk(vkBeginCommandBuffer(commands, &begin), "vkBeginCommandBuffer");
  const VkMemoryBarrier written = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                   .srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
                                   .dstAccessMask = VK_ACCESS_TRANSFER_READ_BIT};
  vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 1, &written, 0,
                       NULL, 0, NULL);
  const VkBufferCopy region = {.size = size};
  vkCmdCopyBuffer(commands, from, to, 1, &region);
  const VkMemoryBarrier readable = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                    .srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
                                    .dstAccessMask = VK_ACCESS_HOST_READ_BIT};
  vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &readable, 0, NULL,
                       0, NULL);
  check_vk(vkEndCommandBuffer(commands), "vkEndCommandBuffer");
  const VkSubmitInfo submit = {
      .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1, .pCommandBuffers = &commands};
  check_vk(vkQueueSubmit(program->queue, 1, &submit, VK_NULL_HANDLE), "vkQueueSubmit");
  check_vk(vkQueueWaitIdle(program->queue), "vkQueueWaitIdle");

  void* mapped;
  check_vk(vkMapMemory(program->device, memory, 0, VK_WHOLE_SIZE, 0, &mapped), "vkMapMemory");
  memcpy(out, mapped, size);
  vkDestroyCommandPool(program->device, pool, NULL);
  vkDestroyBuffer(program->device, to, NULL);
  vkFreeMemory(program->device, memory, NULL);
}

int main(void) {
  struct program program;
  start(&program);

  /* Wraps the VkDevice as a device that works on this queue. If several threads use the queue, `lock` and `unlock` must
   * guard it. Here one thread does. */
  struct arrowdevice_error error;
  struct arrowdevice_device* device;
  const struct arrowdevice_native_device native = {.struct_size = sizeof native,
                                                   .platform = program.instance,
                                                   .physical_device = program.physical,
                                                   .device = program.device,
                                                   .queue = program.queue,
                                                   .queue_family = 0,
                                                   .api_version = VK_API_VERSION_1_2,
                                                   .features = &program.features};
  check(arrowdevice_device_wrap(ARROW_DEVICE_VULKAN, 0, &native, &device, &error), "arrowdevice_device_wrap", &error);

  /* Puts an array from the CPU on the device. */
  static const void* buffers[] = {NULL, values};
  const struct ArrowSchema schema = {.format = "l", .name = "", .release = release_schema};
  struct ArrowArray array = {.length = ROWS, .n_buffers = 2, .buffers = buffers, .release = release_array};
  struct ArrowDeviceArray host, there;
  for (int64_t i = 0; i < ROWS; ++i) values[i] = i;
  check(arrowdevice_array_from_host(&array, &host, &error), "arrowdevice_array_from_host", &error);
  check(arrowdevice_array_to_device(&host, &schema, device, NULL, &there, &error), "arrowdevice_array_to_device",
        &error);

  /* The array's buffers are VkBuffers of the program's own VkDevice. */
  int64_t result[ROWS];
  memset(result, 0xff, sizeof result);
  read_buffer(&program, (VkBuffer)there.array.buffers[1], result, sizeof result);
  const int whole = memcmp(result, values, sizeof result) == 0;
  printf("the array in the program's own VkDevice is %s\n", whole ? "whole" : "NOT whole");

  /* Afterwards the library holds nothing in the VkDevice, and the program may destroy it. */
  arrowdevice_array_release(&there);
  check(arrowdevice_device_unwrap(device, ARROWDEVICE_NO_TIMEOUT, &error), "arrowdevice_device_unwrap", &error);
  vkDestroyDevice(program.device, NULL);
  vkDestroyInstance(program.instance, NULL);
  return whole ? 0 : 1;
}

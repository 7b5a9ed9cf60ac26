/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adds up a slice of a column with nulls by a shader of Vulkan. The result is an array on the device.
 *
 *   glslangValidator -V --vn kSum -o sum_vulkan_shader.h sum_vulkan.comp
 *   cc sum_vulkan.c -o sum_vulkan $(pkg-config --cflags --libs arrowdevice) -lvulkan
 *   sum_vulkan              prints "4 on vulkan:0"
 */
#include <vulkan/vulkan.h>

#include "sum.h"
#include "sum_vulkan_shader.h"

enum { buffer_count = 3 }; /* validity, data, result */

static void check_vk(VkResult result, const char* call) {
  if (result == VK_SUCCESS) return;
  fprintf(stderr, "%s: Vulkan error %d\n", call, result);
  exit(1);
}

struct rows {
  int32_t offset, length, has_validity; /* as in sum_vulkan.comp */
};

/* The objects of the shader, on the library's VkDevice. */
struct shader {
  VkDevice device;
  VkDescriptorSetLayout set_layout;
  VkPipelineLayout layout;
  VkPipeline pipeline;
  VkDescriptorPool descriptors;
  VkDescriptorSet set;
  VkCommandPool pool;
  VkCommandBuffer commands;
};

static void make_shader(struct shader* shader, VkDevice device, uint32_t family) {
  shader->device = device;
  VkDescriptorSetLayoutBinding bindings[buffer_count];
  for (uint32_t i = 0; i < buffer_count; ++i) {
    bindings[i] = (VkDescriptorSetLayoutBinding){.binding = i,
                                                 .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                                 .descriptorCount = 1,
                                                 .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT};
  }
  const VkDescriptorSetLayoutCreateInfo set = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
                                               .bindingCount = buffer_count,
                                               .pBindings = bindings};
  check_vk(vkCreateDescriptorSetLayout(device, &set, NULL, &shader->set_layout), "vkCreateDescriptorSetLayout");
  const VkPushConstantRange rows = {.stageFlags = VK_SHADER_STAGE_COMPUTE_BIT, .size = sizeof(struct rows)};
  const VkPipelineLayoutCreateInfo layout = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                             .setLayoutCount = 1,
                                             .pSetLayouts = &shader->set_layout,
                                             .pushConstantRangeCount = 1,
                                             .pPushConstantRanges = &rows};
  check_vk(vkCreatePipelineLayout(device, &layout, NULL, &shader->layout), "vkCreatePipelineLayout");
  const VkShaderModuleCreateInfo code = {
      .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, .codeSize = sizeof kSum, .pCode = kSum};
  VkShaderModule module;
  check_vk(vkCreateShaderModule(device, &code, NULL, &module), "vkCreateShaderModule");
  const VkComputePipelineCreateInfo pipeline = {.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
                                                .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                                                          .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                                                          .module = module,
                                                          .pName = "main"},
                                                .layout = shader->layout};
  check_vk(vkCreateComputePipelines(device, VK_NULL_HANDLE, 1, &pipeline, NULL, &shader->pipeline),
           "vkCreateComputePipelines");
  vkDestroyShaderModule(device, module, NULL);

  const VkDescriptorPoolSize size = {.type = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, .descriptorCount = buffer_count};
  const VkDescriptorPoolCreateInfo descriptors = {
      .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO, .maxSets = 1, .poolSizeCount = 1, .pPoolSizes = &size};
  check_vk(vkCreateDescriptorPool(device, &descriptors, NULL, &shader->descriptors), "vkCreateDescriptorPool");
  const VkDescriptorSetAllocateInfo one_set = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                               .descriptorPool = shader->descriptors,
                                               .descriptorSetCount = 1,
                                               .pSetLayouts = &shader->set_layout};
  check_vk(vkAllocateDescriptorSets(device, &one_set, &shader->set), "vkAllocateDescriptorSets");
  const VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                        .queueFamilyIndex = family};
  check_vk(vkCreateCommandPool(device, &pool, NULL, &shader->pool), "vkCreateCommandPool");
  const VkCommandBufferAllocateInfo commands = {
      .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO, .commandPool = shader->pool, .commandBufferCount = 1};
  check_vk(vkAllocateCommandBuffers(device, &commands, &shader->commands), "vkAllocateCommandBuffers");
}

/* Requires that the commands have finished. */
static void destroy_shader(struct shader* shader) {
  vkDestroyCommandPool(shader->device, shader->pool, NULL);
  vkDestroyDescriptorPool(shader->device, shader->descriptors, NULL);
  vkDestroyPipeline(shader->device, shader->pipeline, NULL);
  vkDestroyPipelineLayout(shader->device, shader->layout, NULL);
  vkDestroyDescriptorSetLayout(shader->device, shader->set_layout, NULL);
}

/* Records the shader over buffers of the library. */
static void record(const struct shader* shader, const VkBuffer* buffers, struct rows rows) {
  VkDescriptorBufferInfo infos[buffer_count];
  VkWriteDescriptorSet writes[buffer_count];
  for (uint32_t i = 0; i < buffer_count; ++i) {
    infos[i] = (VkDescriptorBufferInfo){.buffer = buffers[i], .range = VK_WHOLE_SIZE};
    writes[i] = (VkWriteDescriptorSet){.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                       .dstSet = shader->set,
                                       .dstBinding = i,
                                       .descriptorCount = 1,
                                       .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                       .pBufferInfo = &infos[i]};
  }
  vkUpdateDescriptorSets(shader->device, buffer_count, writes, 0, NULL);
  const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
  check_vk(vkBeginCommandBuffer(shader->commands, &begin), "vkBeginCommandBuffer");
  vkCmdBindPipeline(shader->commands, VK_PIPELINE_BIND_POINT_COMPUTE, shader->pipeline);
  vkCmdBindDescriptorSets(shader->commands, VK_PIPELINE_BIND_POINT_COMPUTE, shader->layout, 0, 1, &shader->set, 0,
                          NULL);
  vkCmdPushConstants(shader->commands, shader->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof rows, &rows);
  vkCmdDispatch(shader->commands, 1, 1, 1);
  /* Copies of the library, and the CPU, read what the shader writes. */
  const VkMemoryBarrier written = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                   .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT,
                                   .dstAccessMask = VK_ACCESS_MEMORY_READ_BIT};
  vkCmdPipelineBarrier(shader->commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                       VK_PIPELINE_STAGE_ALL_COMMANDS_BIT | VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &written, 0, NULL, 0,
                       NULL);
  check_vk(vkEndCommandBuffer(shader->commands), "vkEndCommandBuffer");
}

/* Adds up an array by work on the queue. Takes the array over. */
static struct ArrowDeviceArray sum(struct arrowdevice_device* device, struct arrowdevice_queue* queue,
                                   struct ArrowDeviceArray* array, struct shader* shader) {
  struct arrowdevice_native_device vulkan = {.struct_size = sizeof vulkan};
  struct arrowdevice_native_queue native = {.struct_size = sizeof native};
  check(arrowdevice_device_get_native(device, &vulkan, &error), "arrowdevice_device_get_native");
  check(arrowdevice_queue_get_native(queue, &native, &error), "arrowdevice_queue_get_native");
  make_shader(shader, vulkan.device, native.family);
  check(arrowdevice_queue_wait_array(queue, array, NULL, &error), "arrowdevice_queue_wait_array");
  void* memory;
  check(arrowdevice_buffer_allocate(device, NULL, queue, sizeof(int32_t), &memory, &error),
        "arrowdevice_buffer_allocate");
  const void* const* from = array->array.buffers;
  /* A binding needs some buffer, also if there is no validity bitmap. */
  const VkBuffer buffers[] = {(VkBuffer)(from[0] != NULL ? from[0] : from[1]), (VkBuffer)from[1], (VkBuffer)memory};
  const struct rows rows = {(int32_t)array->array.offset, (int32_t)array->array.length, from[0] != NULL};
  record(shader, buffers, rows);
  const VkSubmitInfo submit = {
      .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1, .pCommandBuffers = &shader->commands};
  vulkan.lock(vulkan.lock_user, native.queue); /* the library submits to its queues too */
  const VkResult submitted = vkQueueSubmit(native.queue, 1, &submit, VK_NULL_HANDLE);
  vulkan.unlock(vulkan.lock_user, native.queue);
  check_vk(submitted, "vkQueueSubmit");
  check(arrowdevice_array_release_after(array, queue, &error), "arrowdevice_array_release_after");
  return export_result(device, queue, memory);
}

int main(void) {
  struct arrowdevice_device* device;
  struct arrowdevice_queue* queue;
  struct shader shader;
  check(arrowdevice_device_find_by_name("vulkan:0", &device, &error), "arrowdevice_device_find_by_name");
  check(arrowdevice_queue_create(device, &queue, &error), "arrowdevice_queue_create");
  struct ArrowDeviceArray slice = slice_on(device);
  struct ArrowDeviceArray total = sum(device, queue, &slice, &shader);
  arrowdevice_queue_destroy(queue);
  print_result(&total, "vulkan:0");
  destroy_shader(&shader); /* the result has arrived, so the shader has finished */
  return 0;
}

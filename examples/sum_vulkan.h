/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shader sum_vulkan.comp over buffers of the library, for programs in C and in Go. Include it once in a program.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <vulkan/vulkan.h>

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

/* `words` is the SPIR-V of sum_vulkan.comp. The shader runs on queues of the family. */
static void make_shader(struct shader* shader, VkDevice device, uint32_t family, const uint32_t* words, size_t bytes) {
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
      .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, .codeSize = bytes, .pCode = words};
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

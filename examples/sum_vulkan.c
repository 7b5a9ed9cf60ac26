/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adds up a slice of a column with nulls by a shader of Vulkan. The result is an array on the device.
 *
 *   glslangValidator -V --vn kSum -o sum_vulkan_shader.h sum_vulkan.comp
 *   cc sum_vulkan.c -o sum_vulkan $(pkg-config --cflags --libs arrowdevice) -lvulkan
 *   sum_vulkan              prints "4 on vulkan:0"
 */
#include "sum_vulkan.h"
#include "sum.h"
#include "sum_vulkan_shader.h"

/* Adds up an array by work on the queue. Takes the array over. */
static struct ArrowDeviceArray sum(struct arrowdevice_device* device, struct arrowdevice_queue* queue,
                                   struct ArrowDeviceArray* array, struct shader* shader) {
  struct arrowdevice_native_device vulkan = {.struct_size = sizeof vulkan};
  struct arrowdevice_native_queue native = {.struct_size = sizeof native};
  check(arrowdevice_device_get_native(device, &vulkan, &error), "arrowdevice_device_get_native");
  check(arrowdevice_queue_get_native(queue, &native, &error), "arrowdevice_queue_get_native");
  make_shader(shader, vulkan.device, native.family, kSum, sizeof kSum);
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

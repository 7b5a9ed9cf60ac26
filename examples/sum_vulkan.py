# SPDX-License-Identifier: Apache-2.0
"""Adds up a slice of a column with nulls by a shader of Vulkan. The result is an array on the device.

    glslangValidator -V -o sum.spv sum_vulkan.comp
    python sum_vulkan.py sum.spv    prints "<arrowdevice.Array int32, 1 rows on vulkan:0> [4]"

It needs the package vulkan.
"""

import sys

import arrowdevice
import pyarrow as pa
import vulkan as vk

WHOLE_SIZE = 2**64 - 1  # VK_WHOLE_SIZE, which the package has as a negative number


def handle(kind, number):
    return vk.ffi.cast(kind, number)


class Shader:
    """The objects of the shader, on the library's VkDevice. Call destroy() when its work has finished."""

    def __init__(self, queue, words):
        self.device = device = handle("VkDevice", queue.device.native.device)
        compute, storage = vk.VK_SHADER_STAGE_COMPUTE_BIT, vk.VK_DESCRIPTOR_TYPE_STORAGE_BUFFER
        bindings = [
            vk.VkDescriptorSetLayoutBinding(binding=i, descriptorType=storage, descriptorCount=1, stageFlags=compute)
            for i in range(3)
        ]
        self.set_layout = vk.vkCreateDescriptorSetLayout(
            device, vk.VkDescriptorSetLayoutCreateInfo(pBindings=bindings), None
        )
        rows = vk.VkPushConstantRange(stageFlags=compute, offset=0, size=12)
        self.layout = vk.vkCreatePipelineLayout(
            device, vk.VkPipelineLayoutCreateInfo(pSetLayouts=[self.set_layout], pPushConstantRanges=[rows]), None
        )
        module = vk.vkCreateShaderModule(device, vk.VkShaderModuleCreateInfo(codeSize=len(words), pCode=words), None)
        stage = vk.VkPipelineShaderStageCreateInfo(stage=compute, module=module, pName="main")
        pipeline = vk.VkComputePipelineCreateInfo(stage=stage, layout=self.layout)
        (self.pipeline,) = vk.vkCreateComputePipelines(device, None, 1, [pipeline], None)
        vk.vkDestroyShaderModule(device, module, None)

        size = vk.VkDescriptorPoolSize(type=storage, descriptorCount=3)
        self.descriptors = vk.vkCreateDescriptorPool(
            device, vk.VkDescriptorPoolCreateInfo(maxSets=1, pPoolSizes=[size]), None
        )
        (self.set,) = vk.vkAllocateDescriptorSets(
            device, vk.VkDescriptorSetAllocateInfo(descriptorPool=self.descriptors, pSetLayouts=[self.set_layout])
        )
        self.pool = vk.vkCreateCommandPool(
            device, vk.VkCommandPoolCreateInfo(queueFamilyIndex=queue.native.family), None
        )
        (self.commands,) = vk.vkAllocateCommandBuffers(
            device, vk.VkCommandBufferAllocateInfo(commandPool=self.pool, commandBufferCount=1)
        )

    def record(self, addresses, offset, length):
        """Records the shader over buffers of the library: validity, data and result."""
        validity, data, _ = addresses
        # A binding needs some buffer, also if there is no validity bitmap.
        buffers = [handle("VkBuffer", address or data) for address in addresses]
        infos = [vk.VkDescriptorBufferInfo(buffer=buffer, offset=0, range=WHOLE_SIZE) for buffer in buffers]
        writes = [
            vk.VkWriteDescriptorSet(
                dstSet=self.set,
                dstBinding=i,
                descriptorCount=1,
                pBufferInfo=[info],
                descriptorType=vk.VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
            )
            for i, info in enumerate(infos)
        ]
        vk.vkUpdateDescriptorSets(self.device, len(writes), writes, 0, None)
        commands, compute = self.commands, vk.VK_PIPELINE_BIND_POINT_COMPUTE
        vk.vkBeginCommandBuffer(commands, vk.VkCommandBufferBeginInfo())
        vk.vkCmdBindPipeline(commands, compute, self.pipeline)
        vk.vkCmdBindDescriptorSets(commands, compute, self.layout, 0, 1, [self.set], 0, None)
        rows = vk.ffi.new("int32_t[3]", [offset, length, validity != 0])
        vk.vkCmdPushConstants(commands, self.layout, vk.VK_SHADER_STAGE_COMPUTE_BIT, 0, 12, rows)
        vk.vkCmdDispatch(commands, 1, 1, 1)
        # Copies of the library, and the CPU, read what the shader writes.
        written = vk.VkMemoryBarrier(
            srcAccessMask=vk.VK_ACCESS_SHADER_WRITE_BIT, dstAccessMask=vk.VK_ACCESS_MEMORY_READ_BIT
        )
        readers = vk.VK_PIPELINE_STAGE_ALL_COMMANDS_BIT | vk.VK_PIPELINE_STAGE_HOST_BIT
        vk.vkCmdPipelineBarrier(
            commands, vk.VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, readers, 0, 1, [written], 0, None, 0, None
        )
        vk.vkEndCommandBuffer(commands)

    # [submit]
    def submit(self, queue):
        work = vk.VkSubmitInfo(pCommandBuffers=[self.commands])
        with queue.lock() as native:  # the library submits to its queues too
            vk.vkQueueSubmit(handle("VkQueue", native.handle), 1, [work], None)
    # [end]

    def destroy(self):
        vk.vkDestroyCommandPool(self.device, self.pool, None)
        vk.vkDestroyDescriptorPool(self.device, self.descriptors, None)
        vk.vkDestroyPipeline(self.device, self.pipeline, None)
        vk.vkDestroyPipelineLayout(self.device, self.layout, None)
        vk.vkDestroyDescriptorSetLayout(self.device, self.set_layout, None)


def add_up(array, queue, shader):
    result = arrowdevice.Memory(queue.device, 4, queue=queue)
    with queue.use(array):
        validity, data = (part.address for part in array.buffers())  # 0 if there are no nulls
        shader.record([validity, data, result.address], array.offset, len(array))
        shader.submit(queue)
    return arrowdevice.Array.from_buffers(pa.int32(), 1, [None, result], queue=queue)


def main(path):
    with open(path, "rb") as file:
        words = file.read()
    column = arrowdevice.to_device(pa.array([10, 1, None, 3], pa.int32()), "vulkan:0")
    with arrowdevice.Queue("vulkan:0") as queue:
        shader = Shader(queue, words)
        total = add_up(column[1:], queue, shader)
        values = total.to_pyarrow().to_pylist()
        shader.destroy()  # the result has arrived, so the shader has finished
    print(total, values)
    assert values == [4]


if __name__ == "__main__":
    main(sys.argv[1])

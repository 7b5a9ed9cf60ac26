// SPDX-License-Identifier: Apache-2.0
//! Adds up a slice of a column with nulls by a shader of Vulkan. The result is an array on the
//! device.
//!
//! ```sh
//! glslangValidator -V -o sum.spv sum_vulkan.comp   # the shader is in the folder examples/ of libarrowdevice
//! cargo run --example sum_vulkan -- sum.spv        # prints "4 on vulkan:0"
//! ```

use std::error::Error;
use std::fs::File;

use arrow_array::{Int32Array, cast::AsArray, types::Int32Type};
use arrowdevice::{Array, Buffer, CopyOptions, Device, Queue};
use ash::vk::{self, Handle};

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args()
        .nth(1)
        .ok_or("the argument is missing: the shader's SPIR-V")?;
    let words = ash::util::read_spv(&mut File::open(path)?)?;
    let device = Device::find_by_name("vulkan:0")?;
    let column = Array::from_arrow(&Int32Array::from(vec![Some(10), Some(1), None, Some(3)]))?;
    let slice = column.into_device(device, CopyOptions::new())?.slice(1, 3)?;

    let mut queue = Queue::new(device)?;
    // SAFETY: the words are those of the shader, and it is destroyed after its work.
    let shader = unsafe { Shader::new(device, &queue, &words) }?;
    let total = sum(device, &mut queue, &shader, slice)?; // an array on the device, which may not be ready yet
    let total = total.into_arrow()?.as_primitive::<Int32Type>().value(0);
    // SAFETY: the result has arrived, so the shader has finished.
    unsafe { shader.destroy() };
    println!("{total} on {device}");
    assert_eq!(total, 4);
    Ok(())
}

/// Adds up the rows of a column that are not null.
fn sum(device: Device, queue: &mut Queue, shader: &Shader, column: Array) -> Result<Array, Box<dyn Error>> {
    queue.wait_array(&column)?; // the shader runs after a copy that still writes the column
    let total = Buffer::new(device, size_of::<i32>(), None, Some(queue))?;
    let array = &column.as_raw().array;
    // SAFETY: an array of numbers has two buffers, and all buffers are alive until the work has finished.
    unsafe {
        let (validity, data) = (*array.buffers, *array.buffers.add(1));
        // A binding needs some buffer, also if there is no validity bitmap.
        let bound = if validity.is_null() { data } else { validity };
        let buffers = [bound, data, total.as_ptr()].map(|buffer| vk::Buffer::from_raw(buffer.addr() as u64));
        let rows = [array.offset as i32, array.length as i32, i32::from(!validity.is_null())];
        shader.record(&buffers, rows)?;
        shader.submit(device, queue)?;
    }
    let schema = column.schema().clone();
    column.release_after(queue)?; // the memory is not reused before the shader has finished
    // SAFETY: the shader writes one number.
    Ok(unsafe { Array::from_buffers(device, schema, 1, vec![None, Some(total)], Some(queue)) }?)
}

/// The objects of the shader, on the library's `VkDevice`.
struct Shader {
    _entry: ash::Entry, // keeps the loader open
    device: ash::Device,
    set_layout: vk::DescriptorSetLayout,
    layout: vk::PipelineLayout,
    pipeline: vk::Pipeline,
    descriptors: vk::DescriptorPool,
    set: vk::DescriptorSet,
    pool: vk::CommandPool,
    commands: vk::CommandBuffer,
}

impl Shader {
    /// # Safety
    /// The words are the SPIR-V of sum_vulkan.comp.
    unsafe fn new(device: Device, queue: &Queue, words: &[u32]) -> Result<Shader, Box<dyn Error>> {
        let native = device.native()?;
        let family = queue.native()?.family;
        // SAFETY: the handles are valid as long as the process, and the structs as long as the calls.
        unsafe {
            let entry = ash::Entry::load()?;
            let instance = vk::Instance::from_raw(native.platform.addr() as u64);
            let instance = ash::Instance::load(entry.static_fn(), instance);
            let device = vk::Device::from_raw(native.device.addr() as u64);
            let device = ash::Device::load(instance.fp_v1_0(), device);

            let bindings = [0, 1, 2].map(|binding| {
                vk::DescriptorSetLayoutBinding::default()
                    .binding(binding)
                    .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
                    .descriptor_count(1)
                    .stage_flags(vk::ShaderStageFlags::COMPUTE)
            });
            let set_layout = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
            let set_layout = device.create_descriptor_set_layout(&set_layout, None)?;
            let set_layouts = [set_layout];
            let rows = [vk::PushConstantRange::default()
                .stage_flags(vk::ShaderStageFlags::COMPUTE)
                .size(size_of::<[i32; 3]>() as u32)];
            let layout = vk::PipelineLayoutCreateInfo::default()
                .set_layouts(&set_layouts)
                .push_constant_ranges(&rows);
            let layout = device.create_pipeline_layout(&layout, None)?;

            let module = device.create_shader_module(&vk::ShaderModuleCreateInfo::default().code(words), None)?;
            let stage = vk::PipelineShaderStageCreateInfo::default()
                .stage(vk::ShaderStageFlags::COMPUTE)
                .module(module)
                .name(c"main");
            let pipeline = vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout);
            let pipeline = device
                .create_compute_pipelines(vk::PipelineCache::null(), &[pipeline], None)
                .map_err(|(_, error)| error)?[0];
            device.destroy_shader_module(module, None);

            let sizes = [vk::DescriptorPoolSize::default()
                .ty(vk::DescriptorType::STORAGE_BUFFER)
                .descriptor_count(3)];
            let descriptors = vk::DescriptorPoolCreateInfo::default().max_sets(1).pool_sizes(&sizes);
            let descriptors = device.create_descriptor_pool(&descriptors, None)?;
            let set = vk::DescriptorSetAllocateInfo::default()
                .descriptor_pool(descriptors)
                .set_layouts(&set_layouts);
            let set = device.allocate_descriptor_sets(&set)?[0];
            let pool = vk::CommandPoolCreateInfo::default().queue_family_index(family);
            let pool = device.create_command_pool(&pool, None)?;
            let commands = vk::CommandBufferAllocateInfo::default()
                .command_pool(pool)
                .command_buffer_count(1);
            let commands = device.allocate_command_buffers(&commands)?[0];
            Ok(Shader {
                _entry: entry,
                device,
                set_layout,
                layout,
                pipeline,
                descriptors,
                set,
                pool,
                commands,
            })
        }
    }

    /// Records the shader over buffers of the library.
    ///
    /// # Safety
    /// The buffers are alive until the work has finished.
    unsafe fn record(&self, buffers: &[vk::Buffer; 3], rows: [i32; 3]) -> Result<(), vk::Result> {
        let infos = buffers.map(|buffer| [vk::DescriptorBufferInfo::default().buffer(buffer).range(vk::WHOLE_SIZE)]);
        let writes = [0, 1, 2].map(|binding| {
            vk::WriteDescriptorSet::default()
                .dst_set(self.set)
                .dst_binding(binding)
                .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
                .buffer_info(&infos[binding as usize])
        });
        let mut constants = [0; size_of::<[i32; 3]>()];
        for (bytes, row) in constants.chunks_exact_mut(4).zip(rows) {
            bytes.copy_from_slice(&row.to_ne_bytes());
        }
        // Copies of the library, and the CPU, read what the shader writes.
        let written = vk::MemoryBarrier::default()
            .src_access_mask(vk::AccessFlags::SHADER_WRITE)
            .dst_access_mask(vk::AccessFlags::MEMORY_READ);
        let readers = vk::PipelineStageFlags::ALL_COMMANDS | vk::PipelineStageFlags::HOST;
        let (device, commands, compute) = (&self.device, self.commands, vk::PipelineBindPoint::COMPUTE);
        // SAFETY: the objects belong to one device, and the caller guarantees the buffers.
        unsafe {
            device.update_descriptor_sets(&writes, &[]);
            device.begin_command_buffer(commands, &vk::CommandBufferBeginInfo::default())?;
            device.cmd_bind_pipeline(commands, compute, self.pipeline);
            device.cmd_bind_descriptor_sets(commands, compute, self.layout, 0, &[self.set], &[]);
            device.cmd_push_constants(commands, self.layout, vk::ShaderStageFlags::COMPUTE, 0, &constants);
            device.cmd_dispatch(commands, 1, 1, 1);
            device.cmd_pipeline_barrier(
                commands,
                vk::PipelineStageFlags::COMPUTE_SHADER,
                readers,
                vk::DependencyFlags::empty(),
                &[written],
                &[],
                &[],
            );
            device.end_command_buffer(commands)
        }
    }

    /// Submits the commands, under the lock of the queue because the library submits to it too.
    ///
    /// # Safety
    /// The commands are recorded for buffers that are alive until the work has finished.
    unsafe fn submit(&self, device: Device, queue: &Queue) -> Result<(), Box<dyn Error>> {
        let native = device.native()?;
        let queue = queue.native()?.queue;
        let (lock, unlock) = native.lock.zip(native.unlock).ok_or("the device has no lock")?;
        let commands = [self.commands];
        let work = [vk::SubmitInfo::default().command_buffers(&commands)];
        // SAFETY: the lock is released on the same thread, without a call of the library between.
        let submitted = unsafe {
            lock(native.lock_user, queue);
            let submitted =
                self.device
                    .queue_submit(vk::Queue::from_raw(queue.addr() as u64), &work, vk::Fence::null());
            unlock(native.lock_user, queue);
            submitted
        };
        Ok(submitted?)
    }

    /// # Safety
    /// The shader's work has finished.
    unsafe fn destroy(self) {
        // SAFETY: the caller guarantees it, and the objects are not used again.
        unsafe {
            self.device.destroy_command_pool(self.pool, None);
            self.device.destroy_descriptor_pool(self.descriptors, None);
            self.device.destroy_pipeline(self.pipeline, None);
            self.device.destroy_pipeline_layout(self.layout, None);
            self.device.destroy_descriptor_set_layout(self.set_layout, None);
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
use std::fmt;

use crate::call::text_or_none;
use crate::sys;

/// A type of device, with the numbers of the Arrow format.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeviceType(pub i32);

impl DeviceType {
    /// The CPU.
    pub const CPU: DeviceType = DeviceType(sys::ARROW_DEVICE_CPU);
    /// NVIDIA's GPUs.
    pub const CUDA: DeviceType = DeviceType(sys::ARROW_DEVICE_CUDA);
    /// CPU memory pinned by CUDA.
    pub const CUDA_HOST: DeviceType = DeviceType(sys::ARROW_DEVICE_CUDA_HOST);
    /// OpenCL: buffers are `cl_mem`.
    pub const OPENCL: DeviceType = DeviceType(sys::ARROW_DEVICE_OPENCL);
    /// Vulkan: buffers are `VkBuffer`.
    pub const VULKAN: DeviceType = DeviceType(sys::ARROW_DEVICE_VULKAN);
    /// Metal for Apple's GPUs.
    pub const METAL: DeviceType = DeviceType(sys::ARROW_DEVICE_METAL);
    /// A buffer of a Verilog simulator.
    pub const VPI: DeviceType = DeviceType(sys::ARROW_DEVICE_VPI);
    /// AMD's GPUs, driven by ROCm.
    pub const ROCM: DeviceType = DeviceType(sys::ARROW_DEVICE_ROCM);
    /// CPU memory pinned by ROCm.
    pub const ROCM_HOST: DeviceType = DeviceType(sys::ARROW_DEVICE_ROCM_HOST);
    /// Extension devices, including the simulated ones. Their producers document their meaning.
    pub const EXT_DEV: DeviceType = DeviceType(sys::ARROW_DEVICE_EXT_DEV);
    /// Memory managed by CUDA.
    pub const CUDA_MANAGED: DeviceType = DeviceType(sys::ARROW_DEVICE_CUDA_MANAGED);
    /// Unified shared memory of a oneAPI device.
    pub const ONEAPI: DeviceType = DeviceType(sys::ARROW_DEVICE_ONEAPI);
    /// WebGPU.
    pub const WEBGPU: DeviceType = DeviceType(sys::ARROW_DEVICE_WEBGPU);
    /// Qualcomm's Hexagon.
    pub const HEXAGON: DeviceType = DeviceType(sys::ARROW_DEVICE_HEXAGON);

    /// Returns the type's name, "opencl", or `None` if the format names no such type.
    pub fn name(self) -> Option<&'static str> {
        // SAFETY: the function takes any number and returns static text or NULL.
        unsafe { text_or_none(sys::arrowdevice_device_type_get_name(self.0)) }.and_then(|name| name.to_str().ok())
    }
}

impl fmt::Display for DeviceType {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => formatter.write_str(name),
            None => write!(formatter, "device type {}", self.0),
        }
    }
}

impl fmt::Debug for DeviceType {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

// SPDX-License-Identifier: Apache-2.0
//! Adds up a slice of a column with nulls by a kernel of OpenCL. The result is an array on the
//! device.
//!
//! `cargo run --example sum_opencl` prints "4 on opencl:0".

// [program]
use std::error::Error;
use std::ptr::{from_ref, null, null_mut};

use arrow_array::{Int32Array, cast::AsArray, types::Int32Type};
use arrowdevice::{Array, Buffer, CopyOptions, Device, Queue};
use cl3::error_codes::error_text;
use cl3::types::{cl_int, cl_kernel, cl_long, cl_uint};
use cl3::{command_queue, event, kernel, program};

const SUM: &str = "
kernel void sum(global const uchar* validity, global const int* data, long offset, long length,
                global int* out) {
  *out = 0;
  for (long i = offset; i < offset + length; ++i)
    if (validity == 0 || (validity[i / 8] >> (i % 8) & 1)) *out += data[i];
}";

fn main() -> Result<(), Box<dyn Error>> {
    let device = Device::find_by_name("opencl:0")?;
    let column = Array::from_arrow(&Int32Array::from(vec![Some(10), Some(1), None, Some(3)]))?;
    let slice = column.into_device(device, CopyOptions::new())?.slice(1, 3)?;

    let total = sum(device, slice)?; // an array on the device, which may not be ready yet
    let total = total.into_arrow()?.as_primitive::<Int32Type>().value(0);
    println!("{total} on {device}");
    assert_eq!(total, 4);
    Ok(())
}

/// Adds up the rows of a column that are not null.
fn sum(device: Device, column: Array) -> Result<Array, Box<dyn Error>> {
    let mut queue = Queue::new(device)?;
    queue.wait_array(&column)?; // the kernel runs after a copy that still writes the column
    let total = Buffer::new(device, size_of::<cl_int>(), None, Some(&queue))?;
    let kernel = build(device)?;
    let array = &column.as_raw().array;
    // SAFETY: an array of numbers has two buffers, and the arguments have the kernel's types.
    unsafe {
        set(kernel, 0, &*array.buffers)?; // a null pointer if there are no nulls
        set(kernel, 1, &*array.buffers.add(1))?;
        set(kernel, 2, &(array.offset as cl_long))?;
        set(kernel, 3, &(array.length as cl_long))?;
        set(kernel, 4, &total.as_ptr())?;
        let native = queue.native()?.queue;
        let done = command_queue::enqueue_nd_range_kernel(native, kernel, 1, null(), &1, null(), 0, null());
        event::release_event(done.map_err(error_text)?).map_err(error_text)?;
        kernel::release_kernel(kernel).map_err(error_text)?;
    }
    let schema = column.schema().clone();
    column.release_after(&mut queue)?; // the memory is not reused before the kernel has finished
    // SAFETY: the kernel writes one number.
    Ok(unsafe { Array::from_buffers(device, schema, 1, vec![None, Some(total)], Some(&mut queue)) }?)
}

/// Builds the kernel in the library's context.
fn build(device: Device) -> Result<cl_kernel, Box<dyn Error>> {
    let native = device.native()?;
    let program = program::create_program_with_source(native.context, &[SUM]).map_err(error_text)?;
    program::build_program(program, &[native.device], c"", None, null_mut()).map_err(error_text)?;
    let kernel = kernel::create_kernel(program, c"sum").map_err(error_text)?;
    // SAFETY: the program is not used again.
    unsafe { program::release_program(program) }.map_err(error_text)?;
    Ok(kernel)
}

/// # Safety
/// The kernel's argument has the type `T`.
unsafe fn set<T>(kernel: cl_kernel, index: cl_uint, value: &T) -> Result<(), Box<dyn Error>> {
    // SAFETY: the caller guarantees it.
    unsafe { kernel::set_kernel_arg(kernel, index, size_of::<T>(), from_ref(value).cast()) }.map_err(error_text)?;
    Ok(())
}
// [end]

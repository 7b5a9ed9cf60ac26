# SPDX-License-Identifier: Apache-2.0
"""
Arrow arrays on any device that libarrowdevice drives.

    device = ArrowDevice.find("opencl:0")
    there = from_vector([1, missing, 3], device)
    to_vector(there[2:3])

An array that is handed over (`move_to`) is closed by it on success, and as it was on failure. Devices need no closing.
Failures are `ArrowDeviceError`s. One array belongs to one task at a time. Calls that wait hold up their thread, and with
it Julia's garbage collector.
"""
module ArrowDevice

using Libdl

export ArrowDeviceError, Device, DeviceArray, DeviceInfo
export copy_to, devices, from_vector, info, move_to, select, share, slice, to_vector, validate

include("structs.jl")
include("library.jl")
include("error.jl")
include("device.jl")
include("array.jl")
include("vector.jl")

end

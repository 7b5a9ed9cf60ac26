# SPDX-License-Identifier: Apache-2.0
"""
Arrow arrays on any device that libarrowdevice drives.

    device = ArrowDevice.find("opencl:0")
    array = from_vector([1, missing, 3], device)
    to_vector(array[2:3])

`to_device` closes its argument if it succeeds, and leaves it unchanged if it fails. Devices need no closing. Errors are
`ArrowDeviceError`s. One task at a time may use an array. A call that waits blocks its thread, and with it Julia's garbage
collector.
"""
module ArrowDevice

using Libdl

export ArrowDeviceError, Device, DeviceArray, DeviceInfo
export copy_to, devices, from_vector, info, select, share, slice, to_device, to_vector, validate, wait_idle

include("structs.jl")
include("library.jl")
include("error.jl")
include("device.jl")
include("array.jl")
include("vector.jl")

end

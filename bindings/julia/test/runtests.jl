# SPDX-License-Identifier: Apache-2.0
# Tests of the package. test.sh sets the paths of the library and its plugins.

using ArrowDevice
using ArrowDevice: CDeviceArray, CError, CSchema, libarrowdevice
using Test

const NAMES = split(get(ENV, "ARROWDEVICE_TEST_DEVICES", "cpu"), ','; keepempty=false)

# Returns the error code of a call, 0 if it succeeds.
function code_of(call)
    try
        call()
    catch e
        e isa ArrowDeviceError || rethrow()
        @test !isempty(e.message)
        @test occursin(e.message, sprint(showerror, e))
        return Int(e.code)
    end
    return 0
end

@testset "numbers survive the round trip to $on" for on in NAMES
    to = ArrowDevice.find(on) # fails if the device does not exist
    @test to in devices()
    @test startswith(ArrowDevice.name(to), first(split(on, ':')))
    @test !isempty(info(to).name)
    for T in (Int8, UInt8, Int16, UInt16, Int32, UInt32, Int64, UInt64, Float16, Float32, Float64)
        values = T[0, 1, 2, 100, typemax(T)]
        with_gaps = Union{T,Missing}[missing, 1, 2, missing, 5, 6, 7, 8, 9, missing]
        for vector in (values, with_gaps, T[], Union{T,Missing}[1])
            there = from_vector(vector, to)
            @test length(there) == length(vector)
            wait(there; timeout=60)
            @test isready(there)
            @test ArrowDevice.device(there) == to
            validate(there, ArrowDevice.VALIDATE_STRICT)
            @test isequal(to_vector(there), vector)
            if length(vector) > 3
                @test isequal(to_vector(there[2:end]), vector[2:end])
                copied = copy_to(there[3:4], to)
                shared = share(copied)
                close(copied)
                @test isequal(to_vector(shared), vector[3:4])
            end
            moved = to_device(there, ArrowDevice.find("cpu"))
            @test !isopen(there)
            @test isequal(to_vector(moved), vector)
        end
    end
end

@testset "invalid calls fail and leave the array usable" begin
    @test code_of(() -> ArrowDevice.find("cpu:7")) == Libc.ENODEV
    @test code_of(() -> ArrowDevice.find("no such type:0")) == Libc.EINVAL
    there = from_vector([1, 2, 3])
    @test code_of(() -> slice(there, 2:4)) == Libc.EINVAL
    @test code_of(() -> select(there, [1])) == Libc.EINVAL
    @test code_of(() -> to_device(there, Device(C_NULL))) == Libc.EINVAL
    @test to_vector(there) == [1, 2, 3]
    close(there)
    close(there)
    @test code_of(() -> length(there)) == Libc.EINVAL
    @test code_of(() -> to_vector(there)) == Libc.EINVAL
    @test code_of(() -> wait(there)) == Libc.EINVAL
    @test_throws ArgumentError from_vector(["a", "b"])
end

@testset "a time-out of 0 does not wait without limit" begin
    nanoseconds(timeout) = ArrowDevice.copy_options(UInt32(0), timeout)[].timeout_ns
    @test nanoseconds(nothing) == 0 # without limit
    @test nanoseconds(0) == -1 # polls
    @test nanoseconds(1.5) == 1_500_000_000
end

@testset "nanoseconds limits a long time-out to the largest Int64" begin
    nanoseconds = ArrowDevice.nanoseconds
    @test nanoseconds(nothing) == 0
    for timeout in (Inf, Inf32, 1.0e300, 9.3e9, typemax(Int64), big(10)^400, typemax(Int64) // 1)
        @test nanoseconds(timeout) == typemax(Int64)
    end
    for timeout in (0, 0.0, -0.0, -1, -Inf, false)
        @test nanoseconds(timeout) == -1
    end
    @test nanoseconds(1 // 3) == 333_333_334
    @test nanoseconds(9) == 9_000_000_000
    @test_throws ArgumentError nanoseconds(NaN)
    there = from_vector([1, 2, 3])
    @test wait(there; timeout=Inf) === nothing
    @test to_vector(to_device(there, ArrowDevice.find("cpu"); copy=true, timeout=Inf)) == [1, 2, 3]
end

@testset "to_device with copy=$copy shares or copies" for copy in (nothing, true, false)
    array = from_vector([1, 2, 3])
    @test code_of(() -> array = to_device(array, ArrowDevice.find("cpu"); copy=copy)) == 0
    @test to_vector(array) == [1, 2, 3]
end

@testset "to_device with copy=false fails on $on when a copy is needed" for on in filter(startswith("ext_dev"), NAMES)
    array = from_vector([1, 2, 3])
    @test code_of(() -> to_device(array, ArrowDevice.find(on); copy=false)) == Libc.ENOTSUP
    @test to_vector(array) == [1, 2, 3]
end

@testset "wait_idle returns when no work is left" begin
    @test wait_idle(; timeout=60) === nothing
end

@testset "show works for an unknown type and an invalid device" begin
    @test ArrowDevice.device_type_name(Int32(1)) == "cpu"
    @test ArrowDevice.device_type_name(Int32(4711)) == "device type 4711"
    @test repr(ArrowDevice.find("cpu")) == "Device(\"cpu:0\")"
    @test occursin(r"^Device\(.*0x0+\)+$", repr(Device(C_NULL)))
end

# Calls a function with C structs of an array, as another library exports them. Releases the structs afterwards.
function with_c_structs(call, a)
    array = Ptr{CDeviceArray}(Libc.calloc(1, sizeof(CDeviceArray)))
    schema = Ptr{CSchema}(Libc.calloc(1, sizeof(CSchema)))
    try
        code = @ccall libarrowdevice.arrowdevice_schema_copy(a::Ptr{CSchema}, schema::Ptr{CSchema}, C_NULL::Ptr{CError})::Cint
        @test code == 0
        @ccall libarrowdevice.arrowdevice_array_move(a::Ptr{CDeviceArray}, array::Ptr{CDeviceArray})::Cvoid
        close(a)
        return call(array, schema)
    finally
        @ccall libarrowdevice.arrowdevice_array_release(array::Ptr{CDeviceArray})::Cvoid
        @ccall libarrowdevice.arrowdevice_schema_release(schema::Ptr{CSchema})::Cvoid
        Libc.free(array)
        Libc.free(schema)
    end
end

@testset "import_c moves structs by pointers to $T" for T in (Nothing, UInt8, CDeviceArray)
    with_c_structs(from_vector([1, missing, 3])) do array, schema
        taken = ArrowDevice.import_c(Ptr{T}(array), Ptr{Nothing}(schema))
        @test isequal(to_vector(taken), [1, missing, 3])
        @test unsafe_load(array).array.release == C_NULL
        @test unsafe_load(schema).release == C_NULL
        @test code_of(() -> ArrowDevice.import_c(Ptr{T}(array), Ptr{Nothing}(schema))) == Libc.EINVAL
    end
    @test code_of(() -> ArrowDevice.import_c(C_NULL, C_NULL)) == Libc.EINVAL
end

@testset "the collector closes a forgotten array" begin
    to = ArrowDevice.find(last(NAMES))
    before = ArrowDevice.counters(to).driver_allocations
    for round in 1:200
        from_vector(collect(1:1000), to)
        GC.gc(false)
    end
    GC.gc()
    GC.gc()
    # The pool reuses released memory, so that the driver allocates less than once in each round.
    @test ArrowDevice.counters(to).driver_allocations - before < 200
end

@testset "the example of the README runs" begin
    # README begins
    device = ArrowDevice.find("cpu")                    # or "opencl:0", "cuda:1"
    array = from_vector([1, missing, 3, 4], device)     # copies the values
    middle = array[2:3]                                 # shares the memory
    back = to_vector(middle)                            # [missing, 3], from any device
    # README ends
    @test isequal(back, [missing, 3])
end

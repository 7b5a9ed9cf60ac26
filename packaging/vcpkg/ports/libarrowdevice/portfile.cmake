# SPDX-License-Identifier: Apache-2.0
# The port builds the tree that it is in: vcpkg install libarrowdevice --overlay-ports=packaging/vcpkg/ports
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../../.." ABSOLUTE)

# The library is always shared, and programs of every build type use the same one.
vcpkg_check_linkage(ONLY_DYNAMIC_LIBRARY)
set(VCPKG_BUILD_TYPE release)

set(backends -Dsim=enabled -Dcuda=enabled -Dhip=enabled -Dlevel_zero=disabled)
foreach(name IN ITEMS opencl vulkan)
  if(name IN_LIST FEATURES)
    list(APPEND backends "-D${name}=enabled")
  else()
    list(APPEND backends "-D${name}=disabled")
  endif()
endforeach()
vcpkg_configure_meson(
  SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS -Dtests=disabled -Dtools=disabled -Dexamples=disabled -Dbench=disabled ${backends})
vcpkg_install_meson()
vcpkg_fixup_pkgconfig()
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")

# The CMake package finds the library relative to its own folder, so it stays there.
set(VCPKG_POLICY_SKIP_MISPLACED_CMAKE_FILES_CHECK enabled)
set(VCPKG_POLICY_SKIP_LIB_CMAKE_MERGE_CHECK enabled)

# Toolchain file: compiles for aarch64 on another machine, against the libraries of Debian for arm64 in
# ECHOLINE_SYSROOT. Compiler and code generators are this machine's. deploy/wheel.sh --aarch64 uses it.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)

set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES ECHOLINE_SYSROOT)
set(CMAKE_SYSROOT ${ECHOLINE_SYSROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${ECHOLINE_SYSROOT})
set(ENV{PKG_CONFIG_LIBDIR}
    ${ECHOLINE_SYSROOT}/usr/lib/aarch64-linux-gnu/pkgconfig:${ECHOLINE_SYSROOT}/usr/share/pkgconfig)
file(GLOB Python3_INCLUDE_DIR ${ECHOLINE_SYSROOT}/usr/include/python3.*)

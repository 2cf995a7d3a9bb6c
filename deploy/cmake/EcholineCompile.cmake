# Compiler settings.

find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${CCACHE})
endif()

# aarch64 has instructions that multiply and add with one rounding: pixels would be others than on x86-64.
if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  add_compile_options(-ffp-contract=off)
endif()

add_library(echoline_flags INTERFACE)
target_compile_options(echoline_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
  -Wno-sign-conversion -Werror
  # g++ 12 sees overlaps in `"x" + string` that aren't there (GCC bug 105651).
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
# That locks are held where daemon/base/mutex.h says so. Not for tests, which may be sure of being alone.
set(ECHOLINE_MODULE_OPTIONS "$<$<CXX_COMPILER_ID:Clang>:-Wthread-safety;-Wthread-safety-beta>")
if(CMAKE_UNITY_BUILD)
  # A class of a .cc file may have members of types of its unnamed namespace; here no .cc file is the main one.
  target_compile_options(echoline_flags INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
endif()
if(ECHOLINE_SANITIZE)
  # With the sanitizers' extra code, g++ 12 also reports accesses out of bounds that aren't there, in inlined
  # std::string code. The release build keeps these warnings.
  target_compile_options(echoline_flags INTERFACE
    $<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread>)
  add_compile_options(-fsanitize=${ECHOLINE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  # clang's check of virtual tables opens a pipe: it fails in tests that have no free descriptor.
  add_compile_options($<$<CXX_COMPILER_ID:Clang>:-fno-sanitize=vptr>)
  add_link_options(-fsanitize=${ECHOLINE_SANITIZE})
  # For tests that are too slow with it, or measure memory. The compilers' own macros differ.
  if(ECHOLINE_SANITIZE MATCHES "address")
    add_compile_definitions(ECHOLINE_SANITIZE_ADDRESS)
  elseif(ECHOLINE_SANITIZE MATCHES "thread")
    add_compile_definitions(ECHOLINE_SANITIZE_THREAD)
    # With this sanitizer a header of protobuf gives a class two members that it does not have in the library, which is
    # compiled without: reflection over a map would read other bytes than it means.
    file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/tsan/google/protobuf/map_field.h CONTENT [[
#pragma push_macro("__SANITIZE_THREAD__")
#include <memory>
#undef __SANITIZE_THREAD__
#include_next <google/protobuf/map_field.h>
#pragma pop_macro("__SANITIZE_THREAD__")
]] @ONLY)
    include_directories(BEFORE SYSTEM ${CMAKE_BINARY_DIR}/tsan)
  endif()
endif()
if(ECHOLINE_FUZZ)
  # Coverage of the modules guides the fuzzers, that of the tests' own lines does not.
  list(APPEND ECHOLINE_MODULE_OPTIONS -fsanitize=fuzzer-no-link)
endif()

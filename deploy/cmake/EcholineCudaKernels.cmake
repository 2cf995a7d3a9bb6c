# The client's CUDA kernels: one fat binary, made by nvcc beside the C++ build (no CUDA language in CMake, whose
# compiler test alone would take longer) and put into the library as an array.

set(ECHOLINE_CUDA_KERNELS AUTO CACHE STRING
  "The client library's CUDA kernels: AUTO (where nvcc is found), ON (or it is an error) or OFF")
set_property(CACHE ECHOLINE_CUDA_KERNELS PROPERTY STRINGS AUTO ON OFF)

# Machine code for these as far as nvcc knows them: Turing, A100, RTX 30, RTX 40 and L4, H100 and H200, B200, RTX 50.
# For any other from 75 on, the driver compiles the PTX when the kernels are loaded.
set(ECHOLINE_CUDA_ARCHITECTURES 75 80 86 89 90 100 120)
set(ECHOLINE_CUDA_PTX 75 90)

# echoline_find_nvcc(RESULT): nvcc's path, or empty where there is none that works with this machine's compiler.
function(echoline_find_nvcc result)
  set(${result} "" PARENT_SCOPE)
  if(ECHOLINE_CUDA_KERNELS STREQUAL "OFF")
    return()
  endif()
  find_program(ECHOLINE_NVCC nvcc PATHS /usr/local/cuda/bin)
  find_program(ECHOLINE_BIN2C bin2c PATHS /usr/local/cuda/bin)
  mark_as_advanced(ECHOLINE_NVCC ECHOLINE_BIN2C)
  set(why "nvcc and bin2c are not found")
  if(ECHOLINE_NVCC AND ECHOLINE_BIN2C)
    set(probe ${CMAKE_CURRENT_BINARY_DIR}/nvcc_works.cu)
    file(WRITE ${probe} "#include <cuda_bf16.h>\n__global__ void probe(const __grid_constant__ int number) {}\n")
    execute_process(COMMAND ${ECHOLINE_NVCC} -std=c++17 -arch=sm_75 -fatbin -o ${probe}.fatbin ${probe}
      RESULT_VARIABLE failed ERROR_VARIABLE why OUTPUT_QUIET)
    if(NOT failed)
      set(${result} ${ECHOLINE_NVCC} PARENT_SCOPE)
      return()
    endif()
  endif()
  if(ECHOLINE_CUDA_KERNELS STREQUAL "ON")
    message(FATAL_ERROR "ECHOLINE_CUDA_KERNELS is ON, but: ${why}")
  endif()
  message(STATUS "No CUDA kernels in the client library: ${why}")
endfunction()

# echoline_cuda_kernels(TARGET SOURCE HEADERS...): makes the fat binary, includes it in TARGET, if nvcc is there.
function(echoline_cuda_kernels target source)
  echoline_find_nvcc(nvcc)
  if(NOT nvcc)
    return()
  endif()
  execute_process(COMMAND ${nvcc} --list-gpu-code OUTPUT_VARIABLE known)
  set(code)
  foreach(architecture ${ECHOLINE_CUDA_ARCHITECTURES})
    if(known MATCHES "sm_${architecture}\n")
      list(APPEND code -gencode arch=compute_${architecture},code=sm_${architecture})
    endif()
  endforeach()
  foreach(architecture ${ECHOLINE_CUDA_PTX})
    if(known MATCHES "sm_${architecture}\n")
      list(APPEND code -gencode arch=compute_${architecture},code=compute_${architecture})
    endif()
  endforeach()
  set(image ${CMAKE_CURRENT_BINARY_DIR}/kernels_image)
  add_custom_command(OUTPUT ${image}.inc
    COMMAND ${nvcc} -std=c++17 -fatbin -Xfatbin -compress-all ${code} -I${CMAKE_CURRENT_SOURCE_DIR}/src
            -o ${image}.fatbin ${source}
    COMMAND ${ECHOLINE_BIN2C} --const --static --type longlong --name kKernelsImage ${image}.fatbin > ${image}.inc
    DEPENDS ${source} ${ARGN} COMMENT "CUDA kernels" VERBATIM)
  target_sources(${target} PRIVATE ${image}.inc)
  target_compile_definitions(${target} PRIVATE ECHOLINE_KERNELS_IMAGE="${image}.inc")
endfunction()

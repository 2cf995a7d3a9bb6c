# Test helpers: one executable per folder of tests, one ctest entry per GoogleTest case.

find_package(GTest REQUIRED)
include(GoogleTest)

# GoogleTest's headers are parsed once: they take two thirds of a test file's compile time. The preset `single` does
# without, and without unity builds: it shows whether each file includes what it uses. The tests' own code is not
# optimised much: that would take most of the rest of the time, and g++ 12 then reports accesses out of bounds that are
# not there, in std::string code that it inlined from precompiled headers.
set(ECHOLINE_TEST_OPTIONS $<$<CONFIG:Release>:-O1>
  $<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread>)
if(ECHOLINE_TESTS AND NOT CMAKE_DISABLE_PRECOMPILE_HEADERS)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/test_headers.cc CONTENT "int main() {}\n")
  add_executable(echoline_test_headers ${PROJECT_BINARY_DIR}/test_headers.cc)  # a program: its flags are the tests'
  target_link_libraries(echoline_test_headers PRIVATE GTest::gmock echoline_flags)
  target_compile_options(echoline_test_headers PRIVATE -pthread "${ECHOLINE_TEST_OPTIONS}")
  target_precompile_headers(echoline_test_headers PRIVATE <gmock/gmock.h> <gtest/gtest.h>)
endif()

# echoline_googletest(TARGET [libraries...]): links GoogleTest and its main().
function(echoline_googletest target)
  target_link_libraries(${target} PRIVATE ${ARGN} GTest::gmock GTest::gtest_main echoline_flags)
  target_compile_options(${target} PRIVATE "${ECHOLINE_TEST_OPTIONS}")
  if(TARGET echoline_test_headers)
    target_precompile_headers(${target} REUSE_FROM echoline_test_headers)
    target_compile_options(${target} PRIVATE -pthread)  # as the header's: some libraries bring it, some do not
  endif()
endfunction()

# echoline_test(NAME [libraries...]): every *_test.cc of this folder as the executable NAME_test.
function(echoline_test name)
  if(NOT ECHOLINE_TESTS)
    return()
  endif()
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
  list(FILTER sources EXCLUDE REGEX "_(fuzz|bench)\\.cc$")
  if(NOT sources)
    return()
  endif()
  add_executable(${name}_test ${sources})
  echoline_googletest(${name}_test ${ARGN})
  target_include_directories(${name}_test PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_compile_definitions(${name}_test PRIVATE
    ECHOLINE_SOURCE_DIR="${PROJECT_SOURCE_DIR}" ECHOLINE_BINARY_DIR="${PROJECT_BINARY_DIR}")
  gtest_discover_tests(${name}_test TEST_PREFIX ${name}. DISCOVERY_TIMEOUT 60
    PROPERTIES LABELS ${name} TIMEOUT 300)
endfunction()

# echoline_fuzz(NAME SOURCE [libraries...]): a libFuzzer target; ctest runs it briefly, from the seeds in
# NAME_corpus next to it if there are any.
function(echoline_fuzz name source)
  if(NOT ECHOLINE_FUZZ)
    return()
  endif()
  add_executable(${name}_fuzz ${source})
  target_link_libraries(${name}_fuzz PRIVATE ${ARGN} echoline_flags)
  target_compile_options(${name}_fuzz PRIVATE -fsanitize=fuzzer)
  target_link_options(${name}_fuzz PRIVATE -fsanitize=fuzzer)
  file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/${name}_corpus)
  set(seeds ${CMAKE_CURRENT_SOURCE_DIR}/${name}_corpus)
  if(NOT EXISTS ${seeds})
    set(seeds)
  endif()
  add_test(NAME fuzz.${name}
    COMMAND ${name}_fuzz -max_total_time=10 -timeout=10 -rss_limit_mb=1024 -print_final_stats=1
            ${CMAKE_CURRENT_BINARY_DIR}/${name}_corpus ${seeds})
  set_tests_properties(fuzz.${name} PROPERTIES LABELS fuzz TIMEOUT 120)
endfunction()

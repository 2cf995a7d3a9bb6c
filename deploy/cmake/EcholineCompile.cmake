# Compiler settings and the one function that makes a room of the daemon.

find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${CCACHE})
endif()

add_library(echoline_flags INTERFACE)
target_compile_options(echoline_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
  -Wno-sign-conversion -Werror
  # g++ 12 sees overlaps in `"x" + string` that aren't there (GCC bug 105651).
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
if(ECHOLINE_SANITIZE)
  add_compile_options(-fsanitize=${ECHOLINE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${ECHOLINE_SANITIZE})
endif()
if(ECHOLINE_FUZZ)
  # The rooms are what is to be covered, not the fuzz target's own few lines.
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# echoline_room(NAME [rooms and libraries it may use, ...]): daemon/NAME as the target echoline_NAME.
# Rooms are given by their own names; what is not a room is linked as it is. A room sees only the
# headers of the rooms it names: an include the other way does not compile.
function(echoline_room name)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
  if(NOT sources)
    return()
  endif()
  add_library(echoline_${name} STATIC ${sources})
  # A room is included as "NAME/file.h"; a folder of links per room keeps the others out of sight.
  set(view ${CMAKE_BINARY_DIR}/rooms/${name})
  file(MAKE_DIRECTORY ${view})
  file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR} ${view}/${name} SYMBOLIC)
  target_include_directories(echoline_${name} PUBLIC ${view})
  target_link_libraries(echoline_${name} PRIVATE echoline_flags)
  foreach(dependency ${ARGN})
    if(IS_DIRECTORY ${PROJECT_SOURCE_DIR}/daemon/${dependency})
      target_link_libraries(echoline_${name} PUBLIC echoline_${dependency})
    else()
      target_link_libraries(echoline_${name} PUBLIC ${dependency})
    endif()
  endforeach()
endfunction()

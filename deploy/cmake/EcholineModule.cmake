# echoline_module(PATH [USES modules...] [LINKS libraries...]): the sources of daemon/PATH as a library, `engine/fetch`
# as the target echoline_engine_fetch. USES names the modules whose headers it may include; they must be declared
# before it. Modules of one folder are also linked together as echoline_FOLDER.
set_property(GLOBAL PROPERTY echoline_modules "")

function(echoline_module path)
  cmake_parse_arguments(module "" "" "USES;LINKS" ${ARGN})
  string(REPLACE "/" "_" name ${path})
  set(folder ${CMAKE_CURRENT_SOURCE_DIR}/${path})
  file(GLOB sources CONFIGURE_DEPENDS ${folder}/*.cc)
  file(GLOB headers CONFIGURE_DEPENDS ${folder}/*.h)

  set(libraries ${module_LINKS})
  foreach(used ${module_USES})
    string(REPLACE "/" "_" used_name ${used})
    if(NOT TARGET echoline_${used_name})
      message(FATAL_ERROR "${path} uses ${used}, which is not declared before it in daemon/CMakeLists.txt")
    endif()
    list(APPEND libraries echoline_${used_name})
  endforeach()

  if(sources)
    set(scope PUBLIC)
    add_library(echoline_${name} STATIC ${sources})
    target_link_libraries(echoline_${name} PRIVATE echoline_flags)
  else()
    set(scope INTERFACE)
    add_library(echoline_${name} INTERFACE)
  endif()
  target_include_directories(echoline_${name} ${scope} ${PROJECT_SOURCE_DIR}/daemon)
  target_link_libraries(echoline_${name} ${scope} ${libraries})

  # The check runs when a file of the module has changed, before anything of it is compiled.
  set_property(GLOBAL APPEND PROPERTY echoline_modules ${path})
  set(stamp ${CMAKE_CURRENT_BINARY_DIR}/${name}.includes)
  set(script ${PROJECT_SOURCE_DIR}/deploy/cmake/CheckIncludes.cmake)
  add_custom_command(OUTPUT ${stamp} DEPENDS ${sources} ${headers} ${script} ${CMAKE_CURRENT_SOURCE_DIR}/CMakeLists.txt
    COMMAND ${CMAKE_COMMAND} -DDAEMON=${CMAKE_CURRENT_SOURCE_DIR} -DMODULE=${path} "-DUSES=${module_USES}"
            -DSTAMP=${stamp} -P ${script}
    COMMENT "Checking the includes of ${path}" VERBATIM)
  add_custom_target(echoline_${name}_includes DEPENDS ${stamp})
  add_dependencies(echoline_${name} echoline_${name}_includes)

  # The folder's umbrella target.
  if(path MATCHES "^([a-z]+)/")
    set(umbrella echoline_${CMAKE_MATCH_1})
    if(NOT TARGET ${umbrella})
      add_library(${umbrella} INTERFACE)
    endif()
    target_link_libraries(${umbrella} INTERFACE echoline_${name})
  endif()
endfunction()

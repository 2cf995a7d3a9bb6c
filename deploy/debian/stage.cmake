# Adds the files that Debian requires in a package to the folders from which CPack builds the packages.
set(here ${CMAKE_CURRENT_LIST_DIR})

function(compress file)
  execute_process(COMMAND gzip --best --no-name --force ${file} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

foreach(component ${CPACK_COMPONENTS_ALL})
  string(TOUPPER ${component} key)
  set(root ${CPACK_TEMPORARY_DIRECTORY}/${component})
  set(documents ${root}/usr/share/doc/${CPACK_DEBIAN_${key}_PACKAGE_NAME})
  file(COPY ${here}/copyright ${here}/changelog DESTINATION ${documents})
  compress(${documents}/changelog)
endforeach()

set(daemon ${CPACK_TEMPORARY_DIRECTORY}/daemon)
if(EXISTS ${daemon})
  # A conffile: an upgrade keeps the changes of the administrator.
  file(COPY ${daemon}/usr/share/echoline/echoline.yaml DESTINATION ${daemon}/etc/echoline)
  find_program(PYTHON python3 REQUIRED)
  set(manuals ${daemon}/usr/share/man/man1)
  file(MAKE_DIRECTORY ${manuals})
  foreach(program echoline echolined)
    file(GLOB_RECURSE built ${CPACK_ECHOLINE_BINARY_DIR}/daemon/${program})
    execute_process(COMMAND ${PYTHON} ${here}/manual.py ${built} OUTPUT_FILE ${manuals}/${program}.1
                    COMMAND_ERROR_IS_FATAL ANY)
    compress(${manuals}/${program}.1)
  endforeach()
endif()

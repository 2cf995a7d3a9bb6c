# The programs: `echolined`, the daemon, `echoline`, the command line, and the one in which plugins run.
include(GNUInstallDirs)
set(older_libc ${CMAKE_CURRENT_SOURCE_DIR}/older_libc.cc)

add_executable(echolined ${CMAKE_CURRENT_SOURCE_DIR}/main.cc ${older_libc})
target_link_libraries(echolined PRIVATE echoline_serve echoline_engine CLI11::CLI11 echoline_flags)
install(TARGETS echolined RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT daemon)

add_executable(echoline ${CMAKE_CURRENT_SOURCE_DIR}/cli_main.cc ${older_libc})
target_link_libraries(echoline PRIVATE echoline_cli CLI11::CLI11 echoline_flags)
set_target_properties(echoline PROPERTIES INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
install(TARGETS echoline RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT daemon)

# Its C++ library is its own: a plugin brings that of its compiler, which may be newer than this system's.
add_executable(echoline-plugin-runner ${CMAKE_CURRENT_SOURCE_DIR}/plugin_runner_main.cc ${older_libc})
target_link_libraries(echoline-plugin-runner PRIVATE echoline_plugin_runner echoline_flags ${CMAKE_DL_LIBS})
if(NOT ECHOLINE_SANITIZE)
  target_link_options(echoline-plugin-runner PRIVATE -static-libstdc++ -static-libgcc)
endif()
install(TARGETS echoline-plugin-runner RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/echoline COMPONENT daemon)
add_dependencies(echolined echoline-plugin-runner)
add_dependencies(echoline echoline-plugin-runner)

set(completion ${PROJECT_SOURCE_DIR}/deploy/completion)
install(FILES ${completion}/echoline.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
  RENAME echoline COMPONENT daemon)
install(FILES ${completion}/_echoline DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions COMPONENT daemon)
install(FILES ${completion}/echoline.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d
  COMPONENT daemon)

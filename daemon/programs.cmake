# The two programs: `echolined`, the daemon, and `echoline`, the command line.
include(GNUInstallDirs)

add_executable(echolined ${CMAKE_CURRENT_SOURCE_DIR}/main.cc)
target_link_libraries(echolined PRIVATE echoline_serve echoline_engine CLI11::CLI11 echoline_flags)
install(TARGETS echolined RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT daemon)

add_executable(echoline ${CMAKE_CURRENT_SOURCE_DIR}/cli_main.cc)
target_link_libraries(echoline PRIVATE echoline_cli CLI11::CLI11 echoline_flags)
set_target_properties(echoline PROPERTIES INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
install(TARGETS echoline RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT daemon)

set(completion ${PROJECT_SOURCE_DIR}/deploy/completion)
install(FILES ${completion}/echoline.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
  RENAME echoline COMPONENT daemon)
install(FILES ${completion}/_echoline DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions COMPONENT daemon)
install(FILES ${completion}/echoline.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d
  COMPONENT daemon)

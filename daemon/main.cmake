# The daemon itself.
find_package(CLI11 CONFIG REQUIRED)
include(GNUInstallDirs)
if(TARGET echoline_engine)
  add_executable(echolined ${CMAKE_CURRENT_SOURCE_DIR}/main.cc)
  target_link_libraries(echolined PRIVATE echoline_serve echoline_engine CLI11::CLI11 echoline_flags)
  install(TARGETS echolined RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT daemon)
endif()

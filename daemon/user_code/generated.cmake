# worker.py as a string of the daemon: so every installation has the one that fits.
set(generated_user_code ${CMAKE_CURRENT_BINARY_DIR}/generated)
file(READ ${CMAKE_CURRENT_SOURCE_DIR}/user_code/worker.py ECHOLINE_WORKER_PY)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/user_code/worker.py)
configure_file(${CMAKE_CURRENT_SOURCE_DIR}/user_code/worker_source.h.in ${generated_user_code}/user_code/worker_source.h @ONLY)
# Where the program that runs plugins is, seen from the folder of the daemon.
include(GNUInstallDirs)
file(RELATIVE_PATH from_bin_to_libexec ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBEXECDIR}/echoline)
target_compile_definitions(echoline_user_code PRIVATE ECHOLINE_FROM_BIN_TO_LIBEXEC="${from_bin_to_libexec}")
target_include_directories(echoline_user_code PUBLIC ${generated_user_code})

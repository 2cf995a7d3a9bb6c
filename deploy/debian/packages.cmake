# Debian packages: `cmake --workflow --preset deb` puts them into build/deb. The names follow the Debian policy: that of
# the library contains its soname.
set(CPACK_GENERATOR DEB)
set(CPACK_COMPONENTS_ALL client client_dev)
if(TARGET echoline AND TARGET echolined)
  list(APPEND CPACK_COMPONENTS_ALL daemon)
endif()
if(TARGET echoline_python)
  list(APPEND CPACK_COMPONENTS_ALL python)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/client/python/echoline DESTINATION lib/python3/dist-packages
    COMPONENT python EXCLUDE_FROM_ALL PATTERN __pycache__ EXCLUDE)
  install(TARGETS echoline_python LIBRARY DESTINATION lib/python3/dist-packages/echoline
    COMPONENT python EXCLUDE_FROM_ALL)
endif()

set(CPACK_PACKAGE_NAME echoline)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")  # each package sets its own
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE
    WORLD_READ WORLD_EXECUTE)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(ECHOLINE_MAINTAINER "Echoline authors <authors@echoline.invalid>" CACHE STRING "Who maintains the packages")
set(CPACK_DEBIAN_PACKAGE_MAINTAINER ${ECHOLINE_MAINTAINER})
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
# The command line depends on the library, whose package is not installed during the build.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/client)
set(library libecholine${PROJECT_VERSION_MAJOR})

set(CPACK_DEBIAN_CLIENT_PACKAGE_NAME ${library})
set(CPACK_DEBIAN_CLIENT_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_CLIENT_PACKAGE_CONTROL_EXTRA ${CMAKE_CURRENT_LIST_DIR}/triggers)
set(CPACK_COMPONENT_CLIENT_DESCRIPTION "library of trainers for the Echoline data loader
Reads the batches that the Echoline daemon prepares in shared memory,
from C and C++.")

set(CPACK_DEBIAN_CLIENT_DEV_PACKAGE_NAME libecholine-dev)
set(CPACK_DEBIAN_CLIENT_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_CLIENT_DEV_PACKAGE_DEPENDS "${library} (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_CLIENT_DEV_PACKAGE_RECOMMENDS libdlpack-dev)  # for plugins
set(CPACK_COMPONENT_CLIENT_DEV_DESCRIPTION "library of trainers for the Echoline data loader, development files
Headers, and what CMake and pkg-config need to link with the library. Also
the header of plugins, steps for the daemon's pipelines.")

set(CPACK_DEBIAN_DAEMON_PACKAGE_NAME echoline)
set(CPACK_DEBIAN_DAEMON_PACKAGE_SECTION science)
set(CPACK_DEBIAN_DAEMON_PACKAGE_DEPENDS
    "${library} (= ${PROJECT_VERSION}), systemd | systemd-standalone-sysusers, systemd | systemd-standalone-tmpfiles")
set(CPACK_DEBIAN_DAEMON_PACKAGE_RECOMMENDS ca-certificates)
set(CPACK_DEBIAN_DAEMON_PACKAGE_CONTROL_EXTRA
    ${CMAKE_CURRENT_LIST_DIR}/postinst ${CMAKE_CURRENT_LIST_DIR}/prerm ${CMAKE_CURRENT_LIST_DIR}/postrm
    ${CMAKE_CURRENT_LIST_DIR}/conffiles)
set(CPACK_COMPONENT_DAEMON_DESCRIPTION "data loader of a host's training jobs
A daemon that streams records from files or object storage, decodes and
augments them, uses each several times where the source is slow, and hands
finished batches to trainers through shared memory.")

set(CPACK_DEBIAN_PYTHON_PACKAGE_NAME python3-echoline)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS "python3 (>= 3.9), python3-numpy")
set(CPACK_DEBIAN_PYTHON_PACKAGE_SUGGESTS echoline)
set(CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_EXTRA
    ${CMAKE_CURRENT_LIST_DIR}/python/postinst ${CMAKE_CURRENT_LIST_DIR}/python/prerm)
set(CPACK_COMPONENT_PYTHON_DESCRIPTION "library of trainers for the Echoline data loader, for Python
Reads the batches that the Echoline daemon prepares in shared memory,
as NumPy views and torch tensors.")

set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/stage.cmake)
set(CPACK_ECHOLINE_SOURCE_DIR ${PROJECT_SOURCE_DIR})
set(CPACK_ECHOLINE_BINARY_DIR ${PROJECT_BINARY_DIR})
include(CPack)

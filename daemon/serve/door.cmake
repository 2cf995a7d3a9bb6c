# The door alone, without gRPC and metrics: it sees base, the contract, and the engine's headers (no engine code).
file(GLOB door_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/door*.cc ${CMAKE_CURRENT_LIST_DIR}/unix_listener.cc)
add_library(echoline_door STATIC ${door_sources})
set(door_view ${CMAKE_BINARY_DIR}/rooms/door)
file(MAKE_DIRECTORY ${door_view})
file(CREATE_LINK ${PROJECT_SOURCE_DIR}/daemon/serve ${door_view}/serve SYMBOLIC)
file(CREATE_LINK ${PROJECT_SOURCE_DIR}/daemon/engine ${door_view}/engine SYMBOLIC)
target_include_directories(echoline_door PUBLIC ${door_view})
target_link_libraries(echoline_door PUBLIC echoline_base echoline_shm Threads::Threads
  PRIVATE echoline_flags)

# The packing part of the command line, apart so that its tests need nothing else of it.
find_package(PNG REQUIRED)
find_package(ZLIB REQUIRED)
add_library(echoline_pack STATIC
  ${CMAKE_CURRENT_LIST_DIR}/pack.cc
  ${CMAKE_CURRENT_LIST_DIR}/pack_idx.cc
  ${CMAKE_CURRENT_LIST_DIR}/pack_input.cc
  ${CMAKE_CURRENT_LIST_DIR}/pack_list.cc
  ${CMAKE_CURRENT_LIST_DIR}/pack_writer.cc)
set(pack_view ${CMAKE_BINARY_DIR}/rooms/pack)
file(MAKE_DIRECTORY ${pack_view})
file(CREATE_LINK ${CMAKE_CURRENT_LIST_DIR} ${pack_view}/cli SYMBOLIC)
target_include_directories(echoline_pack PUBLIC ${pack_view})
target_link_libraries(echoline_pack PUBLIC echoline_base echoline_record
  PRIVATE PNG::PNG ZLIB::ZLIB echoline_flags)

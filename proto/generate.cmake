find_package(Protobuf REQUIRED)
find_package(gRPC CONFIG REQUIRED)

set(generated ${CMAKE_CURRENT_BINARY_DIR}/generated)
file(MAKE_DIRECTORY ${generated})

# echoline_proto(TARGET FILE [SERVICE]): generated code is compiled without our warnings.
function(echoline_proto target file)
  set(source ${CMAKE_CURRENT_SOURCE_DIR}/${file})
  string(REGEX REPLACE "\\.proto$" "" stem ${file})
  set(outputs ${generated}/${stem}.pb.cc ${generated}/${stem}.pb.h)
  set(plugin)
  if("SERVICE" IN_LIST ARGN)
    list(APPEND outputs ${generated}/${stem}.grpc.pb.cc ${generated}/${stem}.grpc.pb.h)
    set(plugin --grpc_out=${generated} --plugin=protoc-gen-grpc=$<TARGET_FILE:gRPC::grpc_cpp_plugin>)
  endif()
  add_custom_command(OUTPUT ${outputs}
    COMMAND protobuf::protoc --proto_path=${CMAKE_CURRENT_SOURCE_DIR} --cpp_out=${generated} ${plugin} ${source}
    DEPENDS ${source} VERBATIM)
  add_library(${target} STATIC ${outputs})
  target_include_directories(${target} SYSTEM PUBLIC ${generated})
  target_link_libraries(${target} PUBLIC protobuf::libprotobuf)
  if("SERVICE" IN_LIST ARGN)
    target_link_libraries(${target} PUBLIC gRPC::grpc++)
  endif()
endfunction()

echoline_proto(echoline_options_proto echoline/v1/options.proto)
foreach(part audio_steps image_steps user_code_steps read_step)
  echoline_proto(echoline_${part}_proto echoline/v1/${part}.proto)
  target_link_libraries(echoline_${part}_proto PUBLIC echoline_options_proto)
endforeach()
target_link_libraries(echoline_read_step_proto PUBLIC echoline_user_code_steps_proto)
echoline_proto(echoline_config_proto echoline/v1/config.proto)
target_link_libraries(echoline_config_proto
  PUBLIC echoline_audio_steps_proto echoline_image_steps_proto echoline_read_step_proto)
echoline_proto(echoline_control_proto echoline/v1/control.proto SERVICE)
target_link_libraries(echoline_control_proto PUBLIC echoline_config_proto)
echoline_proto(echoline_preparation_proto echoline/v1/preparation.proto SERVICE)

// How a host's connection to a preparation server behaves.
#pragma once

#include <string>

namespace grpc {
class ChannelArguments;
}  // namespace grpc

namespace echoline::engine {

// `host`: the name in the server's certificate.
void set_channel_arguments(const std::string& host, grpc::ChannelArguments& arguments);

}  // namespace echoline::engine

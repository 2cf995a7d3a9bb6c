#include "cli/resolve_paths.h"

#include <string>
#include <string_view>

namespace echoline::cli {
namespace {

constexpr std::string_view kFile = "file:";

void resolve(std::string& address, const std::filesystem::path& folder) {
  const bool has_scheme = address.find("://") != std::string::npos;
  if (address.empty() || has_scheme) return;
  const std::size_t begin = address.starts_with(kFile) ? kFile.size() : 0;
  if (address.substr(begin).starts_with('/')) return;
  address = (folder / address.substr(begin)).string();
}

void resolve_read(v1::Read& read, const std::filesystem::path& folder) {
  if (read.has_python()) resolve(*read.mutable_python()->mutable_file(), folder);
  for (std::string& url : *read.mutable_url()) resolve(url, folder);
  if (read.has_classes()) resolve(*read.mutable_classes(), folder);
  if (read.has_credentials_file()) resolve(*read.mutable_credentials_file(), folder);
  if (read.has_ca_file()) resolve(*read.mutable_ca_file(), folder);
}

}  // namespace

void resolve_paths(v1::Stream& stream, const std::filesystem::path& folder) {
  for (v1::Step& step : *stream.mutable_pipeline()) {
    if (step.has_prepare()) {
      v1::Prepare& prepare = *step.mutable_prepare();
      for (std::string* file :
           {prepare.mutable_certificate(), prepare.mutable_key(), prepare.mutable_server_ca()}) {
        resolve(*file, folder);
      }
    }
    if (step.shuffle().has_order()) resolve(*step.mutable_shuffle()->mutable_order(), folder);
    if (step.has_python()) resolve(*step.mutable_python()->mutable_file(), folder);
    if (step.has_plugin()) resolve(*step.mutable_plugin()->mutable_library(), folder);
    if (step.has_read()) resolve_read(*step.mutable_read(), folder);
    if (!step.has_mix()) continue;
    for (v1::MixSource& source : *step.mutable_mix()->mutable_sources()) {
      resolve_read(*source.mutable_read(), folder);
    }
  }
}

}  // namespace echoline::cli

// Hostile answers of Google Cloud Storage, credential services and settings files:
// arbitrary bytes give a value or an error, never a crash.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "source/credentials/aws_profile.h"
#include "source/credentials/command_line.h"
#include "source/credentials/credential_answer.h"
#include "source/store/gcs_answer.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace source = echoline::source;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto page = source::parse_gcs_list(text);
  if (page.ok() && page->truncated == page->next.empty()) std::abort();
  const auto object = source::parse_gcs_object(text);
  if (object.ok() && object->version.empty()) std::abort();
  if (source::gcs_error_text(text).size() > 300) std::abort();
  for (const auto& keys : {source::parse_aws_json(text), source::parse_aws_sts(text, "AssumeRole"),
                           source::parse_aws_process(text), source::parse_aws_sso(text)})
    if (keys.ok() && (keys->access_key.empty() || keys->secret_key.empty())) std::abort();
  const auto token = source::parse_oauth(text, 1000);
  if (token.ok() && (token->token.empty() || token->expires < 1000)) std::abort();
  const auto words = source::split_command_line(text);
  if (words.ok() && words->empty()) std::abort();
  source::parse_settings(text, "default");
  return 0;
}

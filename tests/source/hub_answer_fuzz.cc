// Hostile answers of the Hugging Face Hub: arbitrary bytes give a value or an error, never a crash.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "source/store/hub_answer.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace source = echoline::source;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto tree = source::parse_hub_tree(text, "commit");
  if (tree.ok())
    for (const auto& entry : tree->entries)
      if (entry.key.empty()) std::abort();
  const auto commit = source::parse_hub_commit(text);
  if (commit.ok() && commit->size() < 40) std::abort();
  source::HttpResponse response;
  response.headers = {{"link", std::string(text)}, {"x-error-message", std::string(text)}};
  source::hub_cursor(response);
  if (source::hub_error_text(response, text).size() > 300) std::abort();
  if (source::hub_moved_to(text).size() > 300) std::abort();
  return 0;
}

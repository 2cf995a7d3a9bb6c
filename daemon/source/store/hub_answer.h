// Parses answers of the Hugging Face Hub. They are untrusted bytes from the network.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"
#include "source/http/http_transfers.h"
#include "source/store/object_store.h"

namespace echoline::source {

// The files of a page of tree or paths-info, with this commit as their version; kDataLoss for
// anything else.
Result<ListPage> parse_hub_tree(std::string_view body, const std::string& commit);

// The commit in the description of a revision; kDataLoss for anything else.
Result<std::string> parse_hub_commit(std::string_view body);

// The continuation in the Link header of a page; empty if there is none. Only this, not the
// address: a request with the token must not go where an answer says.
std::string hub_cursor(const HttpResponse& response);

// The data set in the address of a redirect, "OWNER/NAME"; empty if it has none.
std::string hub_moved_to(std::string_view location);

// The text of an error: printable; empty if it has none.
std::string hub_error_text(const HttpResponse& response, std::string_view body);

}  // namespace echoline::source

// A change of the order that hosts agree upon, in a pass of one of them.
#pragma once

#include <string>

#include "agree/change.h"
#include "base/status.h"
#include "engine/pass/pass.h"

namespace echoline::engine {

// For people: "echo factor 2", "weights 1, 0.5".
std::string text_of(const agree::Change& change);

// Whether the pass has the decided change.
bool has_change(const Pass& pass, const agree::Change& change);
// The change as it is decided: from a position on that all hosts have named.
agree::Change decided_in(const Pass& pass, const agree::Reply& latest, agree::Change change);
// Makes a decided change. An error: the pass has another order than those of the other hosts.
Status make_change(Pass& pass, const agree::Change& change);

}  // namespace echoline::engine

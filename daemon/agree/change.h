// What hosts write about a change of a job's order, as JSON.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"

namespace echoline::agree {

// One host of a job, as it registers itself.
struct Member {
  std::string host;                  // for people
  std::vector<std::uint32_t> ranks;  // of the job, that read on this host
  double ratio = 0;                  // R, as measured there; 0: unknown
  double ratio_error = 1;            // its relative standard error
  bool operator==(const Member&) const = default;
};

// Where a change begins (engine::FactorPlace, engine::WeightPlace).
struct Place {
  std::uint32_t epoch = 0;
  std::uint64_t begin = 0;  // a block of the echo step; a row without echo
  std::uint32_t since_epoch = 0;
  std::uint64_t since_row = 0;
};

// The changes of an epoch: where each one begins, and its values.
using Values = std::vector<std::uint32_t>;
using ChangeList = std::vector<std::pair<std::uint64_t, Values>>;

// A number in the log of a run. It is open until it is decided or cancelled, and never changes
// afterwards.
struct Change {
  enum class State : std::uint8_t { kOpen, kDecided, kCancelled };
  enum class Kind : std::uint8_t { kFactor, kWeights };
  State state = State::kOpen;
  std::string by = {};  // id of the host that proposes it
  std::string id = {};  // of the proposal
  Kind kind = Kind::kFactor;
  Values values = {};  // in thousandths: the echo factor, or the weights of all sources
  Place place = {};    // of a decided one
  // The changes of its kind in that epoch, with it: hosts with another list have another order.
  ChangeList list = {};
  std::string why = {};  // of a cancelled one

  bool is_factor() const { return kind == Kind::kFactor; }
};

// What a host answers to an open change, from when on it plans no further batch.
struct Reply {
  std::string refusal = {};  // not empty: it cannot follow
  // From where on it can change the order,
  std::uint32_t epoch = 0;
  std::uint64_t row = 0;
  std::uint64_t batch_rows_most = 0;  // with batches of this size,
  // and what it has there without the change.
  std::uint32_t factor = 0;
  Values weights = {};
};

std::string to_text(const Member& member);
std::string to_text(const Change& change);
std::string to_text(const Reply& reply);
// kDataLoss for any other text.
Result<Member> member_of(const std::string& text);
Result<Change> change_of(const std::string& text);
Result<Reply> reply_of(const std::string& text);

}  // namespace echoline::agree

// Trainers that wait for a pass to read, in the order of their requests.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <utility>
#include <variant>

#include "base/status.h"
#include "engine/api/attach.h"
#include "engine/jobs/attach_call.h"
#include "engine/stream/admission.h"
#include "engine/stream/order_control.h"
#include "engine/stream/pass_set.h"

namespace echoline::engine {

// Answers one trainer after the other: the ranks of a job begin where the first of them did. Under
// the registry's lock. What it refers to outlives it.
class AttachQueue {
 public:
  // Makes a trainer that has joined its pass one of the stream's consumers.
  using PlaceFunction = std::function<Attachment(Consumer consumer, const JoinedPass& joined,
                                                 const AttachCall& call, const Start& start)>;

  AttachQueue(const Admission& admission, const OrderControl& order, PassSet& passes,
              PlaceFunction place)
      : admission_(admission), order_(order), passes_(passes), place_(std::move(place)) {}

  void add(AttachCall call) { waiting_.push_back({.call = std::move(call), .start = {}}); }
  // False if that connection does not wait here.
  bool withdraw(std::uint64_t connection);
  bool empty() const { return waiting_.empty(); }
  // Of the trainer whose turn it is; 0 if there is none.
  std::uint64_t first() const { return waiting_.empty() ? 0 : waiting_.front().call.connection; }

  // Answers trainers until one needs a pass that does not exist: it stays first, and its pass is
  // returned. `open` is why the stream takes no trainers, if it takes none.
  std::optional<Pass::Options> admit(const Status& open, std::uint64_t now_ns);
  // The pass of the first trainer could not be built: it joins the pass of a slow job, or is
  // refused.
  void admit_without_pass(const Status& open, const Status& why, std::uint64_t now_ns);
  void refuse_all(const Status& why);

 private:
  struct Waiting {
    AttachCall call;
    // Decided at its first turn: it must not move on while its pass is under construction.
    std::optional<Start> start;
    std::uint64_t order_changes = 0;  // when the start was decided
    std::uint32_t builds = 0;         // passes that were requested for it
  };

  // A trainer that has joined, or the pass that it needs because none has its position.
  using Joined = std::variant<Attachment, Pass::Options>;
  Result<Joined> try_join(Waiting& waiting, bool also_split_off, std::uint64_t now_ns);
  // `no_pass` is why the trainer does not get the pass that it needs.
  static Result<Attachment> reply_to(const Result<Joined>& joined, const Status& no_pass);
  // The start of a trainer, which holds until the factor or the weights change.
  Status decide_start(Waiting& waiting, const Consumer& consumer);

  const Admission& admission_;
  const OrderControl& order_;
  PassSet& passes_;
  const PlaceFunction place_;
  std::deque<Waiting> waiting_;
};

}  // namespace echoline::engine

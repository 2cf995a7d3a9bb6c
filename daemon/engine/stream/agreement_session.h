// One job with ranks on other hosts, as its host sees it through the store: takes part in the
// changes of the order that its hosts agree upon.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "agree/run.h"
#include "base/status.h"
#include "engine/stream/stream.h"

namespace echoline::engine {

// One thread, without the registry's lock: calls take as long as the store's. Each answer of the
// store is taken as the present state: the next action follows from the first change of the log
// that is not finished here, and from whether this host has replied to it.
class AgreementSession {
 public:
  using Wish = std::optional<agree::Change>;
  // Calls its argument with the stream, under the registry's lock; false if the stream is gone.
  using WithStream = std::function<bool(const std::function<void(Stream&)>&)>;
  struct Names {
    std::string stream;
    std::string root;   // of the job's keys
    std::string host;   // unique
    std::string shown;  // the host, for people
  };
  // Within this time all hosts must have replied, or the change is cancelled.
  static constexpr std::uint64_t kReplyNs = 5'000'000'000;
  // Ranks that have just attached are registered within this time.
  static constexpr std::uint64_t kRegisterNs = 2'000'000'000;
  // After this time any host cancels a change of which it hears nothing.
  static constexpr std::uint64_t kDecisionNs = 10'000'000'000;

  AgreementSession(Names names, agree::Store& store, WithStream with_stream, SharedJob::View view);

  const SharedJob::View& view() const { return view_; }
  void see(SharedJob::View view) { view_ = std::move(view); }
  // One round. `wish`: a change to be proposed. An error of the store, or that the run is over.
  Status follow(const Wish& wish, std::uint64_t now_ns);
  // Something is under way: the next round should be soon.
  bool is_busy() const { return !joined_ || open_since_ns_ != 0; }
  // Its change is on its way: what becomes of it is not known yet.
  bool has_proposal() const { return proposal_.has_value(); }
  // What became of a wish.
  std::optional<Result<SharedJob::Made>> take_result() { return std::exchange(result_, {}); }
  void leave() { run_.leave(); }

 private:
  struct Proposal {
    std::string id;
    bool is_wish = false;  // else that of `factor: auto`
    std::uint64_t until_ns = 0;
  };
  using Numbered = agree::Run::Numbered;

  Status take_part(const Wish& wish, std::uint64_t now_ns);
  agree::Member member() const;
  // Registers again what has changed of this host.
  Status publish(std::uint64_t now_ns);
  Status see_open(const Numbered& change, std::uint64_t now_ns);
  void see_closed(const Numbered& change);
  // Of the host that has proposed the change.
  Status decide(const Numbered& change, std::uint64_t now_ns);
  Status cancel(const Numbered& change, std::string why);
  // Nothing is open.
  Status propose(const Wish& wish, std::uint64_t now_ns);
  Wish wanted_by_ratio(std::uint64_t now_ns);
  bool is_own(const Numbered& change) const;
  void finish(Result<SharedJob::Made> result);

  const Names names_;
  const WithStream with_stream_;
  agree::Run run_;
  SharedJob::View view_;
  bool joined_ = false;
  agree::Member published_;
  std::uint64_t published_ns_ = 0;
  std::uint64_t kept_ns_ = 0;
  std::uint64_t looked_ns_ = 0;      // at the R of all hosts
  std::uint64_t open_since_ns_ = 0;  // 0: no change is open
  std::uint32_t replied_ = 0;        // the number of the last change that was replied to
  std::uint32_t proposals_ = 0;
  std::uint64_t missing_since_ns_ = 0;  // ranks, for a change that is wanted; 0: none are
  std::optional<Proposal> proposal_;
  std::optional<Result<SharedJob::Made>> result_;
};

}  // namespace echoline::engine

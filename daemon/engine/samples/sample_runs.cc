#include "engine/samples/sample_runs.h"

#include <fmt/format.h>

#include <atomic>
#include <deque>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "echo/item.h"

namespace echoline::engine {
namespace {

constexpr std::size_t kRecordsMax = 4096;
// Longer answers are cut, so that each can be received, and so that one question takes no more of
// daemon.serve.memory, except for a single sample that is larger.
constexpr std::uint64_t kAnswerBytesMax = 64 << 20;

class EncodedAccount final : public echo::Account {
 public:
  explicit EncodedAccount(std::shared_ptr<StreamCounters> counters)
      : counters_(std::move(counters)) {}
  void add_ahead(std::int64_t) override {}
  void note_arrival(std::uint64_t) override {}
  bool try_keep(std::uint64_t) override { return false; }
  void release_kept(std::uint64_t) override {}
  void add_encoded(std::int64_t bytes) override {
    counters_->encoded_bytes.fetch_add(static_cast<std::uint64_t>(bytes),
                                       std::memory_order_relaxed);
  }

 private:
  const std::shared_ptr<StreamCounters> counters_;
};

// The frames that are made without a gap from the first one on: an answer has no others.
class Prefix {
 public:
  explicit Prefix(std::size_t count) : sizes_(count) {}

  // Frame `index` has been made. Frames have at least their head.
  void add(std::size_t index, std::uint64_t bytes) ECHOLINE_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    sizes_[index] = bytes;
    while (count_ < sizes_.size() && sizes_[count_] > 0) bytes_ += sizes_[count_++];
    if (bytes_ >= kAnswerBytesMax) is_full_.store(true, std::memory_order_relaxed);
  }
  // More frames would be cut off.
  bool is_full() const { return is_full_.load(std::memory_order_relaxed); }

 private:
  Mutex mutex_;
  std::vector<std::uint64_t> sizes_ ECHOLINE_GUARDED_BY(mutex_);  // 0: not made yet
  std::size_t count_ ECHOLINE_GUARDED_BY(mutex_) = 0;
  std::uint64_t bytes_ ECHOLINE_GUARDED_BY(mutex_) = 0;
  std::atomic<bool> is_full_{false};
};

// One question. Its owner keeps it until it was answered; chunks and items refer to it.
class Run final : public SampleRun, public std::enable_shared_from_this<Run> {
 public:
  Run(std::shared_ptr<StreamCore> core, const std::vector<std::uint64_t>& records,
      SampleAnswer answer, ByteShare share)
      : core_(std::move(core)),
        share_(std::move(share)),
        answer_(std::move(answer)),
        made_(records.size()) {
    const auto account = std::make_shared<EncodedAccount>(core_->counters);
    for (const std::uint64_t record : records) {
      items_.push_back(std::make_shared<echo::Item>(account, 0, record));
    }
    frames_.resize(records.size());
  }

  void start() {
    std::vector<FetchRequest> requests;
    std::size_t begin = 0;
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < items_.size(); ++i) {
      const record::Extent extent = core_->data_set->index().extent(items_[i]->planned_record);
      requests.push_back({items_[i], items_[i]->planned_record, extent});
      bytes += extent.bytes;
      if (bytes < kChunkBytes && i + 1 < items_.size()) continue;
      chunks_.emplace_back(*this, begin, i + 1);
      begin = i + 1;
      bytes = 0;
    }
    chunks_left_.store(chunks_.size());
    for (Chunk& chunk : chunks_) chunk.start();
    core_->fetchers->request(std::move(requests));
  }

  void answer_empty() { answer_({}); }
  void cancel() override { cancelled_.store(true); }

 private:
  // Some records of the run, which one worker prepares when the bytes of all are there.
  class Chunk final : public echo::Waiter, public Task {
   public:
    Chunk(Run& run, std::size_t begin, std::size_t end) : run_(run), begin_(begin), end_(end) {}

    void start() {
      // One more than the items, so that it is not queued before all were looked at.
      pending_.store(end_ - begin_ + 1);
      for (std::size_t i = begin_; i < end_; ++i) {
        if (!run_.items_[i]->wait(shared())) pending_.fetch_sub(1);
      }
      item_ready();
    }
    void item_ready() override {
      if (pending_.fetch_sub(1) == 1) run_.core_->pool->push(shared());
    }
    void run(std::size_t worker) override {
      for (std::size_t i = begin_; i < end_ && run_.goes_on(); ++i) run_.make(i, worker);
      run_.finish_chunk();
    }

   private:
    // Shares the run's count: who holds the chunk keeps the run that owns it.
    std::shared_ptr<Chunk> shared() { return {run_.shared_from_this(), this}; }

    Run& run_;
    const std::size_t begin_;
    const std::size_t end_;
    std::atomic<std::size_t> pending_{0};
  };

  bool goes_on() const { return !cancelled_.load() && !made_.is_full(); }

  void make(std::size_t index, std::size_t worker) {
    echo::Item& item = *items_[index];
    batch::WorkerScratch& scratch = core_->worker_scratch[worker];
    StreamCounters& counters = *core_->counters;
    const std::uint64_t begin_ns = monotonic_ns();
    const prepare::SampleKey key{item.planned_record, 0};
    {
      const MutexLock lock(item.mutex);
      const auto source = core_->preparer->prepare_whole(item, scratch);
      frames_[index] = source.ok() ? prepare::make_frame(key, scratch.sample, *source)
                                   : prepare::make_frame(key, source.status());
      if (!source.ok()) counters.served_bad.fetch_add(1, std::memory_order_relaxed);
      // Frees the encoded bytes, unless the frame keeps them.
      item.used();
    }
    made_.add(index, frames_[index].bytes());
    counters.served_samples.fetch_add(1, std::memory_order_relaxed);
    counters.served_bytes.fetch_add(frames_[index].bytes(), std::memory_order_relaxed);
    counters.prepare_first_ns.fetch_add(monotonic_ns() - begin_ns, std::memory_order_relaxed);
    counters.prepare_first_rows.fetch_add(1, std::memory_order_relaxed);
  }

  void finish_chunk() {
    // The last chunk has the frames of all of them (acquire).
    if (chunks_left_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    if (cancelled_.load()) return;
    // Ends before the first frame that was not made: then those before it have as many bytes.
    std::size_t count = 0;
    std::uint64_t bytes = 0;
    while (count < frames_.size() && (count == 0 || bytes < kAnswerBytesMax)) {
      bytes += frames_[count++].bytes();
    }
    frames_.resize(count);
    answer_(std::move(frames_));
  }

  const std::shared_ptr<StreamCore> core_;
  const ByteShare share_;
  const SampleAnswer answer_;
  std::vector<std::shared_ptr<echo::Item>> items_;
  std::vector<prepare::Frame> frames_;  // by item; each written by one worker
  Prefix made_;
  std::deque<Chunk> chunks_;
  std::atomic<std::size_t> chunks_left_{0};
  std::atomic<bool> cancelled_{false};
};

Status check(const StreamCore& core, const SampleQuestion& question) {
  if (!core.serves) {
    return Status(Code::kNotFound,
                  fmt::format("stream '{}' has no prepare step on this server", core.name));
  }
  if (question.fingerprint != core.sample_fingerprint) {
    return Status(
        Code::kFailedPrecondition,
        fmt::format("stream '{}' of this server differs from the host's: in its data set "
                    "(its format, objects, or their versions), in a step before prepare, or in "
                    "the version of echolined; give both the same",
                    core.name));
  }
  if (question.records.size() > kRecordsMax) {
    return Status(Code::kInvalidArgument, fmt::format("{} records in a request; allowed: {}",
                                                      question.records.size(), kRecordsMax));
  }
  const std::uint64_t count = core.data_set->index().record_count();
  for (const std::uint64_t record : question.records) {
    if (record < count) continue;
    return Status(Code::kInvalidArgument,
                  fmt::format("record {} of a data set with {} records", record, count));
  }
  return {};
}

// The first records of a question: those that probably fit into an answer, at least one. The host
// asks for the others again.
struct AnswerPart {
  std::vector<std::uint64_t> records;
  std::uint64_t bytes = 0;  // of their samples and encoded records, estimated
};

AnswerPart first_part(const StreamCore& core, const std::vector<std::uint64_t>& records) {
  AnswerPart part;
  for (const std::uint64_t record : records) {
    const std::uint64_t bytes = core.decoded_bytes + core.data_set->index().extent(record).bytes;
    if (!part.records.empty() && part.bytes + bytes > kAnswerBytesMax) break;
    part.records.push_back(record);
    part.bytes += bytes;
  }
  return part;
}

}  // namespace

Result<ByteShare> SampleRuns::take(std::uint64_t bytes) {
  ByteShare share(bytes_, bytes);
  // One question is always answered, however large its sample is.
  const std::uint64_t all = bytes_->load(std::memory_order_relaxed);
  if (all <= bytes_max_ || all == bytes) return share;
  refused_.fetch_add(1, std::memory_order_relaxed);
  return Status(Code::kResourceExhausted,
                fmt::format("this preparation server has samples of {} bytes in preparation or on "
                            "their way (daemon.serve.memory)",
                            all - bytes));
}

Result<std::shared_ptr<SampleRun>> SampleRuns::start(const std::shared_ptr<StreamCore>& core,
                                                     const SampleQuestion& question,
                                                     SampleAnswer answer) {
  ECHOLINE_TRY(check(*core, question));
  const AnswerPart part = first_part(*core, question.records);
  ECHOLINE_ASSIGN(ByteShare share, take(part.bytes));
  auto run = std::make_shared<Run>(core, part.records, std::move(answer), std::move(share));
  // An empty question asks whether others would be answered.
  if (part.records.empty()) {
    run->answer_empty();
  } else {
    run->start();
  }
  return std::shared_ptr<SampleRun>(run);
}

}  // namespace echoline::engine

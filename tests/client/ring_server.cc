// A daemon for tests: the real ring and the real door, but formulas instead of a pipeline make the
// batches. usage: ring_server key=value... (see Options). Prints "ready" when it is; exits by a
// signal or when its stdin is closed.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <thread>

#include "base/clock.h"
#include "client/made_stream.h"
#include "ring/ring.h"
#include "serve/door/door.h"

namespace echoline::test {
namespace {

struct Options {
  std::string dir = ".";
  std::uint32_t batch = 4;
  std::uint64_t rows = 40;  // per epoch
  std::uint32_t slots = 4;
  std::uint32_t last = shm::kLastDrop;
  std::uint32_t tail = 1;           // under drop: publish the rows that do not fill a batch
  std::uint32_t ragged = 0;         // 1: adds a field of tokens; 2: and one of points [n, 2]
  std::uint32_t variable = 0;       // 1: the number of rows is not announced
  std::uint32_t batch_echo = 0;     // 1: publishes each batch twice
  std::uint32_t consumers = 1;      // number that must attach before anything is published
  std::uint32_t batches_max = ~0U;  // number to publish; then it pauses
  std::uint32_t fail_at = ~0U;      // after this many batches the stream fails
  std::uint32_t wide = 1;           // factor of the bytes of an image
  std::uint32_t interval_us = 0;    // between two batches
  std::uint32_t seed = 0;           // part of the fingerprint
  std::uint32_t sealed = 1;
};

Options parse(int argc, char** argv) {
  Options o;
  std::map<std::string, std::uint32_t*> numbers = {{"batch", &o.batch},
                                                   {"slots", &o.slots},
                                                   {"last", &o.last},
                                                   {"tail", &o.tail},
                                                   {"ragged", &o.ragged},
                                                   {"variable", &o.variable},
                                                   {"batch_echo", &o.batch_echo},
                                                   {"consumers", &o.consumers},
                                                   {"batches_max", &o.batches_max},
                                                   {"fail_at", &o.fail_at},
                                                   {"wide", &o.wide},
                                                   {"interval_us", &o.interval_us},
                                                   {"seed", &o.seed},
                                                   {"sealed", &o.sealed}};
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const std::size_t equals = word.find('=');
    const std::string key = word.substr(0, equals);
    const std::string value = word.substr(equals + 1);
    if (key == "dir") {
      o.dir = value;
    } else if (key == "rows") {
      o.rows = std::stoull(value);
    } else {
      *numbers.at(key) = static_cast<std::uint32_t>(std::stoul(value));
    }
  }
  return o;
}

decode::FieldType field(const char* name, shm::DType dtype,
                        std::initializer_list<std::uint32_t> sizes, bool ragged = false) {
  decode::FieldType type;
  type.name = name;
  type.dtype = dtype;
  type.fixed = !ragged;
  type.ragged = ragged;
  type.shape.rank = static_cast<std::uint32_t>(sizes.size());
  std::copy(sizes.begin(), sizes.end(), type.shape.sizes.begin());
  return type;
}

ring::RingSpec spec_of(const Options& o) {
  ring::RingSpec spec;
  spec.fields = {field("image", shm::kUint8, {5 * o.wide, 7, 3}), field("label", shm::kInt64, {})};
  if (o.ragged != 0) spec.fields.push_back(field("tokens", shm::kInt32, {4}, true));
  if (o.ragged > 1) spec.fields.push_back(field("points", shm::kFloat32, {4, 2}, true));
  spec.batch_rows = o.batch;
  spec.slot_count = o.batch_echo != 0 ? o.slots + 1 : o.slots;
  spec.descriptors_live = o.slots;
  spec.last_batch = static_cast<shm::LastBatchPolicy>(o.last);
  if (o.sealed == 0) spec.flags &= ~std::uint32_t{shm::kRingSealed};
  if (o.variable != 0) spec.flags |= shm::kRingVariable;
  if (o.batch_echo != 0) spec.flags |= shm::kRingBatchEcho;
  spec.rows_per_epoch = o.rows;
  spec.records_per_epoch = (o.rows + 2) / 3;
  spec.fingerprint.fill(static_cast<std::uint8_t>(0xA0 + o.seed));
  spec.factor = 3000;
  spec.seed = o.seed;
  return spec;
}

// One ring, one pass. It begins at the position of the first trainer.
class RingServer : public engine::AttachHandler {
 public:
  explicit RingServer(const Options& options) : options_(options) {
    auto made = ring::Ring::create(spec_of(options));
    if (!made.ok()) {
      std::fprintf(stderr, "ring_server: %s\n", made.status().message().c_str());
      std::exit(1);
    }
    ring_ = std::move(made).value();
  }

  void attach(std::uint64_t connection, const shm::AttachRequest& request, const engine::Peer&,
              engine::ReplyFunction reply) override {
    const std::lock_guard lock(mutex_);
    if (std::strcmp(request.stream, "train") != 0) {
      return reply(Status(Code::kNotFound, "there is no stream '" + std::string(request.stream) +
                                               "'; streams: train"));
    }
    if (request.has_fingerprint != 0 &&
        std::memcmp(request.fingerprint, ring_->spec().fingerprint.data(),
                    shm::kFingerprintBytes) != 0) {
      return reply(Status(Code::kFailedPrecondition, "the state is of another seed"));
    }
    std::uint32_t epoch = 0;
    std::uint64_t row = 0;
    if (request.join == shm::kJoinPosition) {
      epoch = request.epoch;
      row = request.row;
    } else if (request.join == shm::kJoinNextEpoch) {
      epoch = 1;
    }
    const std::uint64_t wanted = epoch * steps() + row / options_.batch;
    if (!begun_) first_ = readers_.empty() ? wanted : std::min(first_, wanted);
    auto reader = ring_->add_reader(wanted < first_ ? 0 : wanted - first_);
    if (!reader.ok()) return reply(reader.status());
    if (reader->first_sequence + first_ > wanted) {
      ring_->remove_reader(reader->id);
      return reply(Status(Code::kFailedPrecondition, "those rows are gone"));
    }
    readers_[connection] = reader->id;
    engine::Attachment attachment;
    attachment.reply.batch_size = request.batch_size == 0 ? options_.batch : request.batch_size;
    attachment.reply.first_sequence = reader->first_sequence;
    attachment.reply.epoch = epoch;
    attachment.reply.row = row;
    attachment.reply.change_count = request.change_count;
    std::copy(std::begin(request.changes), std::end(request.changes), attachment.reply.changes);
    attachment.data_fd = ring_->data_fd();
    attachment.cursor_fd = reader->cursor_fd;
    reply(std::move(attachment));
    if (readers_.size() >= options_.consumers) begun_ = true;
  }

  void withdraw(std::uint64_t connection) override {
    const std::lock_guard lock(mutex_);
    const auto found = readers_.find(connection);
    if (found == readers_.end()) return;
    ring_->remove_reader(found->second);
    readers_.erase(found);
  }

  void set_notify(engine::NotifyFunction notify) override { notify_ = std::move(notify); }

  // Never returns, unless the stream fails.
  void publish_all() {
    while (!begun()) usleep(1000);
    for (std::uint64_t count = 0;; ++count) {
      if (count == options_.fail_at) return fail();
      while (count >= options_.batches_max) pause();
      const std::uint64_t live = options_.slots;
      if (count >= live) wait_released(count - live + 1);
      publish(first_ + count, count);
      if (options_.interval_us != 0) usleep(options_.interval_us);
    }
  }

 private:
  std::uint64_t steps() const {
    const bool tail = options_.last != shm::kLastDrop || options_.tail != 0;
    const std::uint64_t whole = options_.rows / options_.batch;
    return whole + (tail && options_.rows % options_.batch != 0 ? 1 : 0);
  }

  bool begun() {
    const std::lock_guard lock(mutex_);
    return begun_;
  }

  void wait_released(std::uint64_t count) {
    while (!ring_->wait_released(count, monotonic_ns() + 100'000'000)) {
    }
  }

  void publish(std::uint64_t global_step, std::uint64_t count) {
    const std::uint64_t step = global_step % steps();
    shm::Descriptor d{};
    d.epoch = static_cast<std::uint32_t>(global_step / steps());
    d.step = step;
    d.row = step * options_.batch;
    d.valid_rows =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(options_.batch, options_.rows - d.row));
    if (step + 1 == steps()) d.flags = shm::kEndOfEpoch;
    const bool echoed = options_.batch_echo != 0;
    // Under batch echo the steps 2k and 2k + 1 use one slot, with the rows from 2k * batch on.
    const std::uint64_t slot_number = echoed ? count / 2 : count;
    d.slot = static_cast<std::uint32_t>(slot_number % ring_->spec().slot_count);
    d.arena_row = (echoed ? d.slot : count) * std::uint64_t{options_.batch};
    d.batch_use = echoed ? static_cast<std::uint32_t>(step % 2) : 0;
    if (!echoed || d.batch_use == 0) fill(d);
    d.published_ns = monotonic_ns();
    ring_->publish(d);
  }

  void fill(shm::Descriptor& d) {
    std::vector<std::uint64_t> lengths, point_lengths;
    for (std::uint32_t r = 0; r < d.valid_rows; ++r) {
      const std::uint64_t at = d.arena_row + r;
      const std::uint64_t row = d.row + r;
      *ring_->sample_ids(at) = made_sample_id(d.epoch, row);
      *ring_->uses(at) = options_.batch_echo != 0 ? 0 : made_use(row);
      *ring_->row_flags(at) = row % 11 == 3 ? std::uint32_t{shm::kRowReplaced} : 0U;
      auto* image = reinterpret_cast<std::uint8_t*>(ring_->row(0, at));
      if (options_.wide == 1) {
        for (std::uint32_t i = 0; i < kImageBytes; ++i) image[i] = made_pixel(d.epoch, row, i);
      }
      const std::int64_t label = made_label(d.epoch, row);
      std::memcpy(ring_->row(1, at), &label, sizeof(label));
      if (options_.ragged == 0) continue;
      auto* tokens = reinterpret_cast<std::int32_t*>(ring_->ragged_row(2, d.slot, r));
      for (std::uint32_t i = 0; i < made_token_count(row); ++i) tokens[i] = made_token(row, i);
      lengths.push_back(made_token_count(row) * sizeof(std::int32_t));
      if (options_.ragged == 1) continue;
      auto* points = reinterpret_cast<float*>(ring_->ragged_row(3, d.slot, r));
      for (std::uint32_t i = 0; i < 2 * made_token_count(row); ++i) {
        points[i] = static_cast<float>(made_token(row, i)) / 2;
      }
      point_lengths.push_back(made_token_count(row) * 2 * sizeof(float));
    }
    if (options_.ragged != 0) ring_->finish_ragged(2, d.slot, lengths);
    if (options_.ragged > 1) ring_->finish_ragged(3, d.slot, point_lengths);
  }

  void fail() {
    ring_->end(shm::kWriterFailed);
    const std::lock_guard lock(mutex_);
    for (const auto& [connection, reader] : readers_) {
      notify_(connection, shm::kNoticeFailed,
              Status(Code::kDataLoss, "shard train-000001.tar changed since it was indexed"));
    }
  }

  const Options options_;
  std::unique_ptr<ring::Ring> ring_;
  std::mutex mutex_;
  std::map<std::uint64_t, std::uint64_t> readers_;  // by connection
  std::uint64_t first_ = 0;                         // global step of sequence 0
  bool begun_ = false;
  engine::NotifyFunction notify_;
};

int serve(int argc, char** argv) {
  RingServer server(parse(argc, argv));
  auto door = serve::Door::open(parse(argc, argv).dir + "/door.sock", server);
  if (!door.ok()) {
    std::fprintf(stderr, "ring_server: %s\n", door.status().message().c_str());
    return 1;
  }
  // Exits when the parent process ends, for any reason: the kernel closes the pipe then.
  std::thread([] {
    char byte = 0;
    while (read(STDIN_FILENO, &byte, 1) > 0) {
    }
    _exit(0);
  }).detach();
  std::puts("ready");
  std::fflush(stdout);
  server.publish_all();
  for (;;) pause();
}

}  // namespace
}  // namespace echoline::test

int main(int argc, char** argv) { return echoline::test::serve(argc, argv); }

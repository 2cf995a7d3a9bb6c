// Does not use protobuf's JSON, which writes 64-bit numbers as strings.
#include "cli/stream_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "base/pluralize.h"
#include "config/names.h"
#include "config/values.h"
#include "echoline/shm/ring_layout.h"

namespace echoline::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string echo_text(const v1::StreamStatus& stream) {
  if (stream.echo_point().empty() || stream.echo_point() == "none") return "none";
  return fmt::format("{} x {}{}", stream.echo_point(),
                     config::format_thousandths(stream.factor_thousandths()),
                     stream.auto_factor() ? " (auto)" : "");
}

std::string shape_text(const v1::Field& field) {
  std::string text;
  for (const std::int64_t size : field.shape()) {
    text += fmt::format("{}{}", text.empty() ? "" : ", ", size);
  }
  return fmt::format("{} [{}]{}", field.dtype(), text, field.ragged() ? " ragged" : "");
}

Json field_json(const v1::Field& field) {
  return {{"name", field.name()},
          {"dtype", field.dtype()},
          {"shape", std::vector<std::int64_t>(field.shape().begin(), field.shape().end())},
          {"ragged", field.ragged()}};
}

Json consumer_json(const v1::Consumer& consumer) {
  return {{"job", consumer.job()},
          {"rank", consumer.rank()},
          {"world_size", consumer.world_size()},
          {"batch_size", consumer.batch_size()},
          {"epoch", consumer.epoch()},
          {"step", consumer.step()},
          {"batches", consumer.batches()},
          {"lag_rows", consumer.lag_rows()},
          {"wait_seconds", consumer.wait_seconds()}};
}

Json loss_json(const v1::ReportedLoss& loss) {
  return {{"job", loss.job()},
          {"use", loss.use()},
          {"rows", loss.rows()},
          {"loss_sum", loss.loss_sum()}};
}

Json stage_json(const v1::Stage& stage) {
  return {{"name", stage.name()},
          {"busy_seconds", stage.busy_seconds()},
          {"starved_seconds", stage.starved_seconds()},
          {"blocked_seconds", stage.blocked_seconds()}};
}

Json sources_json(const v1::StreamStatus& stream) {
  Json sources = Json::array();
  for (const v1::MixedSource& source : stream.mixed()) {
    sources.push_back({{"name", source.name()},
                       {"weight", source.weight_thousandths() / 1000.0},
                       {"records", source.records()},
                       {"records_per_epoch", source.records_per_epoch()},
                       {"samples", source.rows()}});
  }
  return sources;
}

Json counts_json(const v1::StreamStatus& stream) {
  const std::map<std::string, std::uint64_t> bad(stream.records_bad().begin(),
                                                 stream.records_bad().end());
  return {{"samples_fresh", stream.samples_fresh()},
          {"samples_echoed", stream.samples_echoed()},
          {"batches", stream.batches()},
          {"records_bad", bad},
          {"upstream_downstream_ratio", stream.upstream_downstream_ratio()},
          {"seconds_to_first_batch", stream.seconds_to_first_batch()}};
}

Json indexing_json(const v1::Indexing& indexing) {
  return {
      {"shards_done", indexing.shards_done()},  {"shards", indexing.shards()},
      {"bytes_done", indexing.bytes_done()},    {"bytes", indexing.bytes()},
      {"records", indexing.records()},          {"bytes_per_second", indexing.bytes_per_second()},
      {"seconds_left", indexing.seconds_left()}};
}

Json to_json(const v1::StreamStatus& stream) {
  Json json = {{"name", stream.name()},
               {"state", stream.state()},
               {"persisted", stream.persisted()},
               {"records", stream.records()},
               {"shards", stream.shards()},
               {"rows_per_epoch", stream.rows_per_epoch()},
               {"batches_per_epoch", stream.batches_per_epoch()},
               {"batch_size", stream.batch_size()},
               {"echo_point", stream.echo_point()},
               {"echo_factor", stream.factor_thousandths() / 1000.0},
               {"echo_factor_auto", stream.auto_factor()},
               {"echo_choice", stream.echo_choice()},
               {"seed", stream.seed()},
               {"fingerprint", stream.fingerprint()},
               {"memory_bytes", stream.memory_bytes()}};
  if (!stream.error().empty()) json["error"] = stream.error();
  if (stream.has_indexing()) json["indexing"] = indexing_json(stream.indexing());
  json.update(counts_json(stream));
  json["fields"] = Json::array();
  json["consumers"] = Json::array();
  json["stages"] = Json::array();
  json["reported_losses"] = Json::array();
  for (const v1::Field& field : stream.fields()) json["fields"].push_back(field_json(field));
  for (const v1::Consumer& one : stream.consumers())
    json["consumers"].push_back(consumer_json(one));
  for (const v1::Stage& stage : stream.stages()) json["stages"].push_back(stage_json(stage));
  if (stream.mixed_size() > 0) json["sources"] = sources_json(stream);
  for (const v1::ReportedLoss& loss : stream.reported_losses()) {
    json["reported_losses"].push_back(loss_json(loss));
  }
  return json;
}

std::string stages_text(const v1::StreamStatus& stream) {
  std::string text;
  for (const v1::Stage& stage : stream.stages()) {
    text += fmt::format("stage        {}: busy {:.2f} s, starved {:.2f} s, blocked {:.2f} s\n",
                        stage.name(), stage.busy_seconds(), stage.starved_seconds(),
                        stage.blocked_seconds());
  }
  return text;
}

std::string consumers_text(const v1::StreamStatus& stream) {
  std::string text;
  for (const v1::Consumer& one : stream.consumers()) {
    text +=
        fmt::format("trainer      {} rank {} of {}: epoch {}, step {}, {}, waited {:.2f} s{}\n",
                    one.job(), one.rank(), one.world_size(), one.epoch(), one.step(),
                    pluralize(one.batches(), "batch"), one.wait_seconds(),
                    one.lag_rows() == 0 ? "" : ", behind by " + pluralize(one.lag_rows(), "row"));
  }
  return text;
}

std::string use_text(std::uint32_t use) {
  if (use == 0) return "fresh";
  return fmt::format("use {}{}", use + 1, use + 1 == shm::kLossUses ? " and later" : "");
}

// A line for each job: the mean loss of each use.
std::string losses_text(const v1::StreamStatus& stream) {
  std::map<std::string, std::string> by_job;
  for (const v1::ReportedLoss& one : stream.reported_losses()) {
    std::string& uses = by_job[one.job()];
    uses +=
        fmt::format("{}{} {:.4g} ({})", uses.empty() ? "" : ", ", use_text(one.use()),
                    one.loss_sum() / static_cast<double>(one.rows()), pluralize(one.rows(), "row"));
  }
  std::string text;
  for (const auto& [job, uses] : by_job) text += fmt::format("loss         {}: {}\n", job, uses);
  return text;
}

std::string counts_text(const v1::StreamStatus& stream) {
  std::string text =
      fmt::format("samples      {} fresh, {} echoed, in {}\n", stream.samples_fresh(),
                  stream.samples_echoed(), pluralize(stream.batches(), "batch"));
  if (stream.upstream_downstream_ratio() > 0) {
    text += fmt::format("R            {:.2f} (time before the echo point over time after it)\n",
                        stream.upstream_downstream_ratio());
  }
  if (stream.seconds_to_first_batch() > 0) {
    text += fmt::format("first batch  after {:.2f} s\n", stream.seconds_to_first_batch());
  }
  for (const v1::MixedSource& source : stream.mixed()) {
    text +=
        fmt::format("source       {}: weight {}, {}, {} in an epoch, {} published\n", source.name(),
                    source.weight_thousandths() / 1000.0, pluralize(source.records(), "record"),
                    source.records_per_epoch(), pluralize(source.rows(), "sample"));
  }
  for (const auto& [reason, count] : stream.records_bad()) {
    text += fmt::format("bad records  {}: {}\n", reason, count);
  }
  return text;
}

// What a table adds about a stream that is not ready.
std::string note_of(const v1::StreamStatus& stream) {
  return stream.state() == "opening" ? stream.verdict().text() : stream.error();
}

std::string epoch_text(const v1::StreamStatus& stream) {
  const std::uint64_t most = stream.batches_per_epoch() * stream.batch_size();
  // Of more than the last batch.
  const bool differ = stream.rows_per_epoch() + stream.batch_size() <= most;
  return fmt::format("epoch        {}, {} of {}{}\n", pluralize(stream.rows_per_epoch(), "row"),
                     pluralize(stream.batches_per_epoch(), "batch"), differ ? "up to " : "",
                     stream.batch_size());
}

}  // namespace

std::string streams_table(const std::vector<v1::StreamStatus>& streams) {
  if (streams.empty()) return "no streams\n";
  std::size_t width = 6;
  bool any_note = false;
  for (const v1::StreamStatus& stream : streams) {
    width = std::max(width, stream.name().size());
    any_note |= !note_of(stream).empty();
  }
  std::string text = fmt::format("{:<{}}  {:<8}  {:<4}  {:>10}  {:>9}  {:>6}  {:<15}  {:>8}{}\n",
                                 "STREAM", width, "STATE", "KEPT", "RECORDS", "BATCHES", "SIZE",
                                 "ECHO", "TRAINERS", any_note ? "  NOTE" : "");
  for (const v1::StreamStatus& stream : streams) {
    text += fmt::format("{:<{}}  {:<8}  {:<4}  {:>10}  {:>9}  {:>6}  {:<15}  {:>8}{}{}\n",
                        stream.name(), width, stream.state(), stream.persisted() ? "yes" : "no",
                        stream.records(), stream.batches_per_epoch(), stream.batch_size(),
                        echo_text(stream), stream.consumers_size(),
                        note_of(stream).empty() ? "" : "  ", note_of(stream));
  }
  return text;
}

std::string streams_json(const std::vector<v1::StreamStatus>& streams) {
  Json list = Json::array();
  for (const v1::StreamStatus& stream : streams) list.push_back(to_json(stream));
  return list.dump() + "\n";
}

std::string stream_text(const v1::StreamStatus& stream) {
  std::string text = fmt::format("stream       {}: {}{}{}{}\n", stream.name(), stream.state(),
                                 stream.persisted() ? ", kept over restarts" : "",
                                 note_of(stream).empty() ? "" : ": ", note_of(stream));
  if (stream.state() == "opening") return text;
  text += fmt::format("data         {} in {}\n", pluralize(stream.records(), "record"),
                      pluralize(stream.shards(), "shard"));
  text += epoch_text(stream);
  text += fmt::format("echo         {}\n", echo_text(stream));
  if (!stream.echo_choice().empty()) {
    text += fmt::format("echo place   {}\n", stream.echo_choice());
  }
  text += fmt::format("memory       {} in use\n", config::format_bytes(stream.memory_bytes()));
  text += fmt::format("fingerprint  {}, seed {}\n", stream.fingerprint(), stream.seed());
  for (const v1::Field& field : stream.fields()) {
    text += fmt::format("field        {}: {}\n", field.name(), shape_text(field));
  }
  return text + counts_text(stream) + stages_text(stream) + consumers_text(stream) +
         losses_text(stream);
}

std::string stall_text(const v1::StreamStatus& stream) {
  std::string text;
  for (const std::string& line : stream.stall().lines()) text += line + "\n";
  return text;
}

std::string stall_json(const v1::StreamStatus& stream) {
  const v1::StallReport& report = stream.stall();
  Json json = {{"waiting", report.waiting()},
               {"in_flight", report.in_flight()},
               {"records_awaited", report.records_awaited()},
               {"store_pause", report.store_pause()},
               {"workers_busy", report.workers_busy()},
               {"chunks_queued", report.chunks_queued()},
               {"waits", Json::array()},
               {"reads", Json::array()},
               {"holders", Json::array()}};
  for (const v1::StallWait& one : report.waits()) {
    json["waits"].push_back({{"job", one.job()},
                             {"rank", one.rank()},
                             {"pid", one.pid()},
                             {"limit", one.limit()},
                             {"seconds", one.seconds()}});
  }
  for (const v1::StallRead& one : report.reads()) {
    json["reads"].push_back({{"address", one.address()},
                             {"offset", one.offset()},
                             {"bytes", one.bytes()},
                             {"records", one.records()},
                             {"seconds", one.seconds()}});
  }
  for (const v1::StallHolder& one : report.holders()) {
    json["holders"].push_back({{"job", one.job()},
                               {"rank", one.rank()},
                               {"pid", one.pid()},
                               {"awaited", one.awaited()},
                               {"slots", one.slots()},
                               {"seconds", one.seconds()}});
  }
  return json.dump() + "\n";
}

std::string stream_json(const v1::StreamStatus& stream) { return to_json(stream).dump() + "\n"; }

Status unknown_stream(const std::string& name, const std::vector<std::string>& known) {
  return Status(Code::kNotFound, fmt::format("no stream '{}'; there are: {}", name,
                                             known.empty() ? "none" : config::join_names(known)));
}

}  // namespace echoline::cli

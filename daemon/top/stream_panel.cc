// The lines of one stream: properties, limit, time per stage, source, caches.
#include <fmt/core.h>

#include <algorithm>

#include "base/pluralize.h"
#include "config/values.h"
#include "top/bar.h"
#include "top/numbers.h"
#include "top/panels.h"

namespace echoline::top {
namespace {

// A narrower screen shows only the bars and the busy shares.
constexpr std::size_t kColumnsOfAllShares = 64;

std::string echo_text(const v1::StreamStatus& stream) {
  if (stream.echo_point().empty() || stream.echo_point() == "none") return "no echo";
  return fmt::format("{} echo x {}{}", stream.echo_point(),
                     config::format_thousandths(stream.factor_thousandths()),
                     stream.auto_factor() ? " (auto)" : "");
}

std::string slots_text(const v1::Slots& slots) {
  return fmt::format("ring {} free, {} filling, {} published", slots.free(), slots.filling(),
                     slots.published());
}

std::vector<std::string> facts_of(const v1::StreamStatus& stream) {
  std::vector<std::string> facts = {stream.state(), echo_text(stream)};
  if (stream.upstream_downstream_ratio() > 0) {
    facts.push_back(fmt::format("R {:.2f}", stream.upstream_downstream_ratio()));
  }
  facts.push_back(slots_text(stream.slots()));
  if (stream.passes() > 1) facts.push_back(fmt::format("{} passes", stream.passes()));
  facts.push_back(config::format_bytes(stream.memory_bytes()) + " in use");
  facts.push_back(fmt::format("{} an epoch", pluralize(stream.batches_per_epoch(), "batch")));
  for (const auto& [reason, count] : stream.records_bad()) {
    facts.push_back(pluralize(count, "bad record") + ": " + reason);
  }
  for (const auto& [outcome, count] : stream.slow_jobs()) {
    if (count > 0) facts.push_back(pluralize(count, "slow job") + " " + outcome);
  }
  return facts;
}

Style style_of(const v1::StreamStatus& stream) {
  const std::string& limit = stream.verdict().limit();
  if (limit == "trainers") return Style::kGood;
  if (limit == "failed" || limit == "daemon") return Style::kBad;
  const bool unknown = limit == "unknown" || limit == "opening" || limit == "nobody";
  return unknown ? Style::kPlain : Style::kWarning;
}

Line stage_line(const StageShares& stage, const Paper& paper) {
  Line line;
  line.add(shortened(printable(stage.stage, paper.theme), kLabelColumns - 1, paper.theme),
           Style::kFaint);
  line.fill_to(kLabelColumns);
  const bool narrow = paper.columns < kColumnsOfAllShares;
  std::string shares = fmt::format("  {:>4} busy", percent_text(stage.busy));
  if (!narrow) {
    shares += fmt::format("  {:>4} starved  {:>4} blocked", percent_text(stage.starved),
                          percent_text(stage.blocked));
  }
  const std::size_t taken = kLabelColumns + columns_of(shares);
  if (paper.columns > taken) add_bar(line, stage, paper.columns - taken, paper.theme);
  return line.add(shares);
}

// "imitated" is the counter's name for waits of read.throttle.
std::string wait_reason_text(const std::string& reason) {
  return reason == "imitated" ? "read.throttle" : reason;
}

std::vector<std::string> source_facts(const SourceInterval& source) {
  const v1::Source& now = source.now;
  std::vector<std::string> facts = {now.scheme() + " " + bytes_rate_text(source.bytes_per_second),
                                    count_text(source.requests_per_second) + " requests/s"};
  if (source.mean_seconds > 0) {
    facts.push_back(fmt::format("mean {}, 99% {}", seconds_text(source.mean_seconds),
                                seconds_text(source.p99_seconds)));
  }
  facts.push_back(fmt::format("{} in flight", now.in_flight()) +
                  (now.limit() == 0 ? "" : fmt::format(" of {}", now.limit())));
  if (source.retried_per_second > 0) {
    facts.push_back(count_text(source.retried_per_second) + " retried/s");
  }
  if (source.failed_per_second > 0) {
    facts.push_back(count_text(source.failed_per_second) + " failed/s");
  }
  for (const auto& [reason, requests] : source.waiting) {
    if (requests < 0.05) continue;
    facts.push_back(count_text(requests) + " waiting: " + wait_reason_text(reason));
  }
  return facts;
}

std::vector<std::string> cache_facts(const std::vector<CacheInterval>& caches) {
  std::vector<std::string> facts;
  for (const CacheInterval& cache : caches) {
    std::string text = fmt::format("{} {} of {}/s hit", cache.level, percent_text(cache.hit_share),
                                   count_text(cache.lookups_per_second));
    if (cache.held_bytes > 0) text += ", " + config::format_bytes(cache.held_bytes) + " held";
    if (cache.failures_per_second > 0) {
      text += ", " + count_text(cache.failures_per_second) + " failures/s";
    }
    facts.push_back(text);
  }
  return facts;
}

void append(std::vector<Line>& lines, const std::vector<Line>& more) {
  lines.insert(lines.end(), more.begin(), more.end());
}

std::vector<std::string> printable_all(std::vector<std::string> parts, const Theme& theme) {
  for (std::string& part : parts) part = printable(part, theme);
  return parts;
}

}  // namespace

std::vector<Line> stall_panel(const StreamInterval& stream, const Paper& paper) {
  std::vector<Line> lines;
  for (const std::string& line : stream.now.stall().lines()) {
    const std::string text = printable(line, paper.theme);
    const std::size_t label = std::min(text.find(':'), text.size());
    append(lines, wrapped(text.substr(0, label),
                          words_of(text.substr(std::min(label + 1, text.size()))), " ", 3, paper));
  }
  return lines;
}

std::vector<Line> stream_panel(const StreamInterval& stream, bool brief, const Paper& paper) {
  const auto facts = [&](std::string_view label, const std::vector<std::string>& parts) {
    return wrapped(label, printable_all(parts, paper.theme), ", ", brief ? 1 : 3, paper);
  };
  const std::string verdict = printable(stream.now.verdict().text(), paper.theme);
  std::vector<Line> lines = facts("stream", facts_of(stream.now));
  append(lines,
         wrapped("limit", words_of(verdict), " ", brief ? 2 : 3, paper, style_of(stream.now)));
  for (const StageShares& stage : stream.stages) lines.push_back(stage_line(stage, paper));
  if (!stream.source.now.scheme().empty())
    append(lines, facts("source", source_facts(stream.source)));
  append(lines, facts("cache", cache_facts(stream.caches)));
  return lines;
}

}  // namespace echoline::top

#include "cli/checked_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/pluralize.h"
#include "config/echo_places.h"
#include "config/pipeline.h"
#include "config/values.h"

namespace echoline::cli {
namespace {

std::string echo_text(const v1::Stream& stream) {
  if (config::leaves_echo_place(stream)) {
    // Factor and window are the same at any place.
    const std::string text =
        echo_text(config::with_echo_at(stream, config::echo_places(stream).back()));
    return "echo where the daemon chooses" + text.substr(text.find(" x "));
  }
  const config::EchoPlace place = config::echo_place(stream);
  if (place == config::EchoPlace::kNone) return "no echo";
  const std::string factor =
      config::echo_is_auto(stream)
          ? "1 to " + config::format_thousandths(config::echo_factor_max(stream)) + " (auto)"
          : config::format_thousandths(config::echo_factor(stream));
  const v1::Echo& echo = *config::echo_step(stream);
  const std::string where =
      echo.has_spread() ? "within a batch" : fmt::format("window {}", echo.window());
  return fmt::format("{} echo x {}, {}", config::to_string(place), factor, where);
}

// Advice if publish.when_slow needs a second pass for which the budget has no room.
std::string second_pass_text(const Checked& checked, std::uint64_t free_bytes) {
  const std::string& when_slow = config::publish_step(*checked.stream).when_slow();
  const std::uint64_t needed = checked.memory.pass();
  if (when_slow == "wait" || needed <= free_bytes) return "";
  return fmt::format(
      "  when_slow: {} needs {} for a second pass, {} would be free: the others of a slow job "
      "would wait for it; raise daemon.memory by {}\n",
      when_slow, config::format_bytes(needed), config::format_bytes(free_bytes),
      config::format_bytes(needed - free_bytes));
}

std::string tried_text(const TriedRecords& records) {
  std::string text = fmt::format("  records tried: {}, bad: {}{}\n", records.tried.size(),
                                 records.bad, records.short_text());
  if (records.bad > 0) text += fmt::format("    {}\n", records.first_error);
  return text;
}

std::size_t answering(const Checked& checked) {
  return static_cast<std::size_t>(
      std::count_if(checked.servers.begin(), checked.servers.end(),
                    [](const engine::ServerAnswer& answer) { return answer.status.ok(); }));
}

// Whether its step `prepare` has servers, and none of them answers.
bool has_no_server(const Checked& checked) {
  return !checked.servers.empty() && answering(checked) == 0;
}

std::string servers_text(const Checked& checked) {
  if (checked.servers.empty()) return "";
  std::string text = fmt::format("  preparation servers: {} of {} answer\n", answering(checked),
                                 checked.servers.size());
  for (const engine::ServerAnswer& answer : checked.servers) {
    if (answer.status.ok()) continue;
    text += fmt::format("    {}: {}\n", answer.server, answer.status.message());
  }
  if (!has_no_server(checked)) return text;
  const bool waits = config::prepare_step(*checked.stream)->fallback() == "wait";
  return text + fmt::format("    without one, {}; start them, or correct prepare.servers\n",
                            waits ? "trainers wait (prepare.fallback: wait)"
                                  : "this host reads and decodes itself (prepare.fallback: local)");
}

std::string stream_text(const std::string& file, const Checked& checked, std::uint64_t free_bytes) {
  if (!checked.looked) return "  data: not checked\n";
  if (!checked.indexed) {
    return fmt::format(
        "  data: found; {}epoch, echo window and memory can be checked after indexing; run "
        "'echoline "
        "index {}'\n",
        checked.decoded ? "first records tried; " : "records with their keys, ", file);
  }
  const Memory& memory = checked.memory;
  const std::string decoded =
      memory.decoded == 0 ? ""
                          : fmt::format(
                                "  additionally, as far as there is room: {} to keep the echo "
                                "window's samples ready for use\n",
                                config::format_bytes(memory.decoded));
  return fmt::format(
      "  epoch: {}, {}, {}\n  memory to reserve: {} (ring {}, read-ahead {}, echo window {}, cache "
      "{})\n{}{}{}{}",
      pluralize(checked.records, "record"), pluralize(checked.rows, "row"),
      pluralize(checked.batches, "batch"), config::format_bytes(memory.total()),
      config::format_bytes(memory.ring), config::format_bytes(memory.read_ahead),
      config::format_bytes(memory.window), config::format_bytes(memory.cache), decoded,
      second_pass_text(checked, free_bytes), tried_text(checked.tried), servers_text(checked));
}

// "ok" must not promise what nobody looked at.
std::string not_checked_text(const CheckedStreams& all) {
  const auto count = [&all](const auto& is_meant) {
    return static_cast<std::size_t>(std::count_if(
        all.begin(), all.end(), [&](const auto& stream) { return is_meant(stream.second); }));
  };
  const std::size_t unseen = count([](const Checked& checked) { return !checked.looked; });
  const std::size_t unindexed =
      count([](const Checked& checked) { return checked.looked && !checked.indexed; });
  std::string text;
  if (unseen > 0) {
    text += fmt::format(", without the data and memory of {}", pluralize(unseen, "stream"));
  }
  const std::size_t with_bad = count([](const Checked& checked) { return checked.tried.bad > 0; });
  if (with_bad > 0) {
    text += fmt::format(", except for bad records in {}", pluralize(with_bad, "stream"));
  }
  const std::size_t without_server = count(has_no_server);
  if (without_server > 0) {
    text += fmt::format(", except that no preparation server of {} answers",
                        pluralize(without_server, "stream"));
  }
  if (unindexed > 0) {
    const std::size_t undecoded = count([](const Checked& checked) {
      return checked.looked && !checked.indexed && !checked.decoded;
    });
    text += fmt::format(", without what has to be indexed first: {}echo window and memory of {}",
                        undecoded > 0 ? "records, " : "", pluralize(unindexed, "stream"));
  }
  return text;
}

nlohmann::ordered_json stream_json(const Checked& checked) {
  nlohmann::ordered_json line = {
      {"echo_point", config::leaves_echo_place(*checked.stream)
                         ? "auto"
                         : std::string(config::to_string(config::echo_place(*checked.stream)))},
      {"echo_factor", config::echo_factor(*checked.stream) / 1000.0},
      {"batch_size", config::batch_step(*checked.stream).size()},
      {"data_seen", checked.looked},
      {"indexed", checked.indexed}};
  if (!checked.indexed) {
    line["first_record_decoded"] = checked.decoded;
    return line;
  }
  line["records"] = checked.records;
  line["rows_per_epoch"] = checked.rows;
  line["batches_per_epoch"] = checked.batches;
  line["records_tried"] = checked.tried.tried.size();
  line["records_bad"] = checked.tried.bad;
  line["tried_as_intended"] = !checked.tried.is_short;
  if (checked.tried.bad > 0) line["first_bad_record"] = checked.tried.first_error;
  if (!checked.code.empty()) line["code"] = checked.code;
  for (const engine::ServerAnswer& answer : checked.servers) {
    nlohmann::ordered_json server = {{"server", answer.server}, {"answers", answer.status.ok()}};
    if (!answer.status.ok()) server["reason"] = answer.status.message();
    line["preparation_servers"].push_back(std::move(server));
  }
  line["memory_bytes"] = {{"ring", checked.memory.ring},
                          {"read_ahead", checked.memory.read_ahead},
                          {"window", checked.memory.window},
                          {"window_decoded", checked.memory.decoded},
                          {"cache", checked.memory.cache}};
  return line;
}

}  // namespace

std::uint64_t total_bytes(const CheckedStreams& all) {
  std::uint64_t bytes = 0;
  for (const auto& [name, checked] : all) bytes += checked.memory.total();
  return bytes;
}

std::string checked_text(const std::string& file, const v1::Daemon& daemon,
                         const CheckedStreams& all) {
  std::string text = fmt::format("{}: ok{}\n", file, not_checked_text(all));
  if (all.empty()) text += "no streams in it; 'echoline create FILE' adds some to a daemon\n";
  const std::uint64_t free_bytes = daemon.memory() - std::min(daemon.memory(), total_bytes(all));
  for (const auto& [name, checked] : all) {
    text += fmt::format("stream {}: {}, batches of {}\n", name, echo_text(*checked.stream),
                        config::batch_step(*checked.stream).size());
    if (!checked.echo_choice.empty()) {
      text += fmt::format("  echo place: {}\n", checked.echo_choice);
    }
    text += stream_text(file, checked, free_bytes);
    for (const std::string& line : checked.code) {
      text += fmt::format("  {}; {}\n", line,
                          checked.tried.repeated > 0 ? "called twice for a few samples: equal"
                                                     : "not called twice");
    }
  }
  const bool whole =
      std::all_of(all.begin(), all.end(), [](const auto& stream) { return stream.second.indexed; });
  return text + fmt::format("memory to reserve: {}{} of {} (daemon.memory)\n",
                            whole ? "" : "as far as known ", config::format_bytes(total_bytes(all)),
                            config::format_bytes(daemon.memory()));
}

std::string checked_json(const v1::Daemon& daemon, const CheckedStreams& all) {
  nlohmann::ordered_json document = {{"memory_budget_bytes", daemon.memory()},
                                     {"memory_needed_bytes", total_bytes(all)}};
  document["streams"] = nlohmann::ordered_json::object();
  for (const auto& [name, checked] : all) document["streams"][name] = stream_json(checked);
  return document.dump() + "\n";
}

}  // namespace echoline::cli

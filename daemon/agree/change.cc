#include "agree/change.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace echoline::agree {
namespace {

using nlohmann::json;

constexpr const char* kStates[] = {"open", "decided", "cancelled"};
constexpr const char* kKinds[] = {"factor", "weights"};

Status no_daemon_wrote(const char* what, const char* why) {
  return {Code::kDataLoss, fmt::format("etcd: {} that no daemon wrote: {}", what, why)};
}

// `read` may throw whatever the JSON library throws: the text is from another host.
template <typename T>
Result<T> parse(const std::string& text, const char* what, void (*read)(const json&, T&)) {
  try {
    T value;
    read(json::parse(text), value);
    return value;
  } catch (const json::exception& error) {
    return no_daemon_wrote(what, error.what());
  }
}

Change::State state_of(const std::string& name) {
  if (name == kStates[1]) return Change::State::kDecided;
  return name == kStates[2] ? Change::State::kCancelled : Change::State::kOpen;
}

void read_change(const json& from, Change& change) {
  change.state = state_of(from.at("state"));
  change.by = from.at("by");
  change.id = from.at("id");
  change.kind = from.at("kind") == kKinds[0] ? Change::Kind::kFactor : Change::Kind::kWeights;
  change.values = from.at("values").get<Values>();
  change.why = from.value("why", "");
  if (change.state != Change::State::kDecided) return;
  change.place = {from.at("epoch"), from.at("begin"), from.at("since_epoch"), from.at("since_row")};
  for (const json& pair : from.at("list")) {
    change.list.emplace_back(pair.at(0).get<std::uint64_t>(), pair.at(1).get<Values>());
  }
}

void read_member(const json& from, Member& member) {
  member = {from.at("host"), from.at("ranks"), from.at("ratio"), from.at("ratio_error")};
}

void read_reply(const json& from, Reply& reply) {
  reply = {from.at("refusal"),         from.at("epoch"),  from.at("row"),
           from.at("batch_rows_most"), from.at("factor"), from.at("weights")};
}

std::string to_line(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace

std::string to_text(const Member& member) {
  return to_line({{"host", member.host},
                  {"ranks", member.ranks},
                  {"ratio", member.ratio},
                  {"ratio_error", member.ratio_error}});
}

std::string to_text(const Change& change) {
  json text{{"state", kStates[static_cast<int>(change.state)]},
            {"by", change.by},
            {"id", change.id},
            {"kind", kKinds[static_cast<int>(change.kind)]},
            {"values", change.values}};
  if (change.state == Change::State::kCancelled) text["why"] = change.why;
  if (change.state == Change::State::kDecided) {
    text.update({{"epoch", change.place.epoch},
                 {"begin", change.place.begin},
                 {"since_epoch", change.place.since_epoch},
                 {"since_row", change.place.since_row},
                 {"list", change.list}});
  }
  return to_line(text);
}

std::string to_text(const Reply& reply) {
  return to_line({{"refusal", reply.refusal},
                  {"epoch", reply.epoch},
                  {"row", reply.row},
                  {"batch_rows_most", reply.batch_rows_most},
                  {"factor", reply.factor},
                  {"weights", reply.weights}});
}

Result<Member> member_of(const std::string& text) {
  return parse<Member>(text, "a host", read_member);
}

Result<Change> change_of(const std::string& text) {
  Result<Change> change = parse<Change>(text, "a change", read_change);
  if (!change.ok() || change->values.size() == 1) return change;
  if (change->kind == Change::Kind::kWeights && !change->values.empty()) return change;
  return no_daemon_wrote("a change", "its number of values");
}

Result<Reply> reply_of(const std::string& text) {
  return parse<Reply>(text, "an answer", read_reply);
}

}  // namespace echoline::agree

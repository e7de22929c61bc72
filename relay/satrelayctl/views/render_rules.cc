// Formats the rules with the traffic that matched each rule. Also formats the explanation why a
// packet matches a rule.
#include <string_view>
#include <vector>

#include "relay/client/reply.h"
#include "relay/gateway/rules/rule_counters.h"
#include "relay/satrelayctl/views/listing.h"
#include "relay/satrelayctl/views/render.h"
#include "relay/text/numbers.h"
#include "relay/text/table.h"

namespace satrelay::ctl {
namespace {

// Returns those settings of a rule that differ from the defaults, since most rules have only
// defaults.
std::string switches(const Json& rule) {
  const Json& modes = member(rule, "modes");
  std::string out;
  const auto add = [&](const Json& from, const char* name, std::string_view usual) {
    const std::string word = text(from, name);
    if (word == usual || word == "-") return;
    if (!out.empty()) out += ", ";
    out += name;
    out += ' ';
    out += word;
  };
  add(rule, "compress", "auto");
  add(modes, "handshake", "local");
  add(modes, "ack", "local");
  add(modes, "close", "local");
  add(modes, "window", "rewrite");
  add(modes, "delivery", "ordinary");
  add(rule, "ttl", "last");
  add(rule, "mptcp", "fallback");
  return out;
}

// Returns the action with its settings, such as "accelerate: compress off (set)".
std::string action_of(const Json& rule) {
  std::string action = text(rule, "action");
  const std::string more = switches(rule);
  if (!more.empty()) action += ": " + more;
  if (text(rule, "changed") == "yes") action += " (set)";
  return action;
}

std::string compressed_to(const Json& rule) {
  const Json& codec = member(rule, "codec");
  const auto before = number(codec, "plain_bytes");
  const auto after = number(codec, "encoded_bytes");
  if (!before || !after || *before == 0) return "-";
  const double share = static_cast<double>(*after) / static_cast<double>(*before);
  return text::share(static_cast<std::uint64_t>(share * 1e6));
}

std::string number_of(const Json& rule) {
  const std::string which = shown(rule, "rule", text::plain);
  return which == "0" ? "none" : which;
}

std::string optional_text(const Json& object, const char* key) {
  std::string value = text(object, key);
  return value == "-" ? "" : value;
}

// Returns the reason why the server, and not the gateway, answers a SYN.
std::string_view why_server_answers(std::string_view cause) {
  if (cause == "rule") return "as the rule says";
  if (cause == "service_refused")
    return "because it refused the latest connection, or did not answer";
  if (cause == "service_unknown") return "because it has answered no connection for a day";
  if (cause == "family_silent") return "because no server there answers over this version of IP";
  if (cause == "peer_refused")
    return "because the peer refused this host, or had no room for the server";
  if (cause == "ttl_unknown") return "because its TTL is not known";
  return "";
}

// Gateways without the field `outcome` do not compare the protocol of the packet with the action.
std::string what_happens(const Json& explanation) {
  const std::string action = text(explanation, "action");
  const std::string outcome = text(explanation, "outcome");
  if (action == "drop" || outcome == "dropped") return "dropped";
  if (outcome == "reset") return "answered with RST";
  if (action == "reset") return "TCP is answered with RST; all else is dropped";
  const std::string reason = optional_text(explanation, "bridged_as");
  if (!reason.empty()) return "bridged, and counted as " + reason;
  if (action != "accelerate") return "bridged";
  std::string answer = outcome == "relayed" ? "relayed" : "relayed, if it is TCP";
  if (optional_text(explanation, "handshake") == "remote") {
    answer += "; the server answers the SYN";
    const auto why = why_server_answers(optional_text(explanation, "handshake_cause"));
    if (!why.empty()) answer += ", " + std::string(why);
  }
  return answer;
}

// Returns the class in which a bridged frame waits for the link, with its rates.
std::string turn_of(const Json& explanation) {
  std::string out = text(explanation, "bridged_class");
  const std::string turn = text(explanation, "bridged_turn");
  if (turn != out) out += ", at the turn of " + turn;
  out += ": weight " + shown(explanation, "bridged_weight", text::plain);
  if (number(explanation, "bridged_guaranteed_bps").value_or(0) != 0) {
    out += ", guaranteed " + shown(explanation, "bridged_guaranteed_bps", bits_per_second);
  }
  if (number(explanation, "bridged_maximum_bps").value_or(0) != 0) {
    out += ", at most " + shown(explanation, "bridged_maximum_bps", bits_per_second);
  }
  return out;
}

// Returns what the rule that matches says about this packet.
std::string says_of(const Json& explanation) {
  std::string says = text(explanation, "action");
  if (text(explanation, "tcp_only") == "yes") {
    says += ", for TCP only";
  } else if (const std::string more = switches(explanation); !more.empty()) {
    says += ", " + more;
  }
  const std::string name = optional_text(explanation, "class");
  return name.empty() ? says : says + ", class " + name;
}

}  // namespace

std::string render_rules(const Json& rules, std::size_t width) {
  using gateway::RuleUse;
  return format_listing(
      rules,
      {right(words("rule", number_of)),
       words("name", [](const Json& rule) { return optional_text(rule, "name"); }),
       words("action", action_of), figure("connections", field_of(&RuleUse::connections)),
       figure("from lan", field_of(&RuleUse::bytes_from_lan)),
       right(words("became", compressed_to)), figure("to lan", field_of(&RuleUse::bytes_to_lan)),
       figure("bridged frames", field_of(&RuleUse::bridged_frames)),
       figure("bridged", field_of(&RuleUse::bridged_bytes)),
       figure("dropped", field_of(&RuleUse::dropped_frames))},
      width);
}

std::string render_explanation(const Json& explanation, std::size_t width) {
  std::vector<text::Row> rows;
  const Json& misses = member(explanation, "misses");
  if (misses.is_object()) {
    for (const auto& [rule, miss] : misses.items()) {
      rows.push_back(
          {"rule " + rule, optional_text(miss, "name"), "no: another " + text(miss, "criterion")});
    }
  }
  if (const auto more = number(explanation, "more_misses").value_or(0); more != 0) {
    rows.push_back({"", "", "and " + text::count(more) + " more that do not match"});
  }
  const std::string which = number_of(explanation);
  rows.push_back({which == "none" ? "no rule" : "rule " + which, optional_text(explanation, "name"),
                  "matches: " + says_of(explanation)});
  const std::string peer = optional_text(explanation, "peer");
  rows.push_back({"peer", "",
                  peer.empty() ? "none: no peer's prefix holds the far host"
                               : peer + ", for " + text(explanation, "prefix")});
  rows.push_back({"now", "", what_happens(explanation)});
  if (!optional_text(explanation, "bridged_class").empty()) {
    rows.push_back({"class", "", turn_of(explanation)});
  }
  return text::fit_table({{""}, {""}, {"", text::Align::kLeft, text::Overflow::kFold}}, rows, width)
      .text.substr(1);
}

}  // namespace satrelay::ctl

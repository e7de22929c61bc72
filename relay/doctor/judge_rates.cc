// The rates of the links: against the port, against the other direction, and against the far end.
#include <algorithm>
#include <string>

#include "relay/doctor/judgements.h"
#include "relay/text/numbers.h"

namespace satrelay::ctl::doctor {
namespace {

using machine::Findings;
using ops::Severity;

// A prefix of a unit that is wrong (kbit for Mbit) makes a rate this many times too low or high.
constexpr std::uint64_t kPrefix = 1000;
// A sender that gets less than this share of its rate has lost much of it.
constexpr double kMuchOfRate = 0.9;
// A found rate this near to its ceiling is held down by the ceiling.
constexpr double kNearCeiling = 0.95;
constexpr std::string_view kPageOfRates = "configuration.md#links";

struct LinkRates {
  std::string name;
  std::uint64_t send_bps = 0;     // 0: not known, or to be found
  std::uint64_t receive_bps = 0;  // 0: not known, or to be found
};

std::string in_words(std::uint64_t bits_per_second) {
  return text::bit_rate(static_cast<double>(bits_per_second));
}

// The rates of the file, or without a file those that the gateway reports.
std::vector<LinkRates> rates_of(const Facts& facts) {
  std::vector<LinkRates> all;
  const auto known = [](std::uint64_t rate) {
    return rate == config::kMostLinkRate.to_bits_per_second() ? 0 : rate;
  };
  if (facts.file.config) {
    for (const config::Link& link : facts.file.config->links) {
      // A receive_rate that was not written is for the plan of the memory only.
      const std::uint64_t receive =
          link.finds_capacity() ? 0 : link.receive_rate.to_bits_per_second();
      all.push_back({link.name, known(link.send_rate.to_bits_per_second()), receive});
    }
  } else if (facts.gateway) {
    for (const Json& link : facts.gateway->links) {
      const bool finds = has_word(link, "finds_capacity", "yes");
      all.push_back({text(link, "name"), known(count_of(link, "send_configured_bps")),
                     finds ? 0 : count_of(link, "receive_configured_bps")});
    }
  }
  return all;
}

// In bit/s; 0 if it is not known.
std::uint64_t speed_of_wan(const Facts& facts) {
  const std::uint64_t megabits =
      std::max(count_of(port_of(facts, "wan"), "link_mbit_per_s"),
               facts.machine.wan ? std::uint64_t{facts.machine.wan->megabits} : 0);
  return megabits * 1'000'000;
}

void judge_against_port(const LinkRates& link, std::uint64_t speed, Findings& findings) {
  if (speed == 0) return;
  const auto judge_one = [&](const char* key, std::uint64_t rate) {
    if (rate <= speed) return;
    findings.push_back(
        {.check = "rate_above_port",
         .severity = Severity::kError,
         .subject = "links." + link.name + '.' + key,
         .seen = "is " + in_words(rate) + ", and the WAN port runs at " + in_words(speed),
         .cause = rate / kPrefix >= speed ? "the unit is probably wrong: Gbit instead of Mbit"
                                          : "the port cannot carry that rate, so the excess is "
                                            "lost before the modem",
         .cure = "write the rate of the modem, or bring the port to its speed (ethtool)",
         .page = kPageOfRates});
  };
  judge_one("send_rate", link.send_bps);
  judge_one("receive_rate", link.receive_bps);
}

void judge_against_each_other(const LinkRates& link, Findings& findings) {
  if (link.send_bps == 0 || link.receive_bps == 0) return;
  const auto [less, more] = std::minmax(link.send_bps, link.receive_bps);
  if (more / less < kPrefix) return;
  findings.push_back({.check = "rate_unit",
                      .severity = Severity::kWarning,
                      .subject = "links." + link.name,
                      .seen = "send_rate is " + in_words(link.send_bps) + ", receive_rate " +
                              in_words(link.receive_bps),
                      .cause = "one is a thousand times the other or more: a unit is probably "
                               "wrong, as kbit for Mbit",
                      .cure = std::string("correct links.") + link.name +
                              (link.send_bps == less ? ".send_rate" : ".receive_rate") +
                              "; the units are kbit, Mbit, Gbit",
                      .page = kPageOfRates});
}

void judge_ceiling(const Json& link, Findings& findings) {
  const std::uint64_t ceiling = count_of(link, "send_configured_bps");
  const std::uint64_t found = count_of(link, "send_capacity_bps");
  if (!has_word(link, "finds_capacity", "yes")) return;
  if (ceiling == config::kMostLinkRate.to_bits_per_second()) return;
  if (static_cast<double>(found) < kNearCeiling * static_cast<double>(ceiling)) return;
  findings.push_back({.check = "capacity_at_ceiling",
                      .severity = Severity::kInfo,
                      .subject = "link " + text(link, "name"),
                      .seen = "the found rate " + in_words(found) +
                              " is at the ceiling send_rate " + in_words(ceiling),
                      .cause = "the gateway finds no more than the ceiling, and the link may carry "
                               "more",
                      .cure = "raise send_rate, or remove it, if the link carries more",
                      .page = kPageOfRates});
}

void judge_command(const Json& link, const char* way, Findings& findings) {
  const std::uint64_t commanded = count_of(link, (std::string(way) + "_commanded_bps").c_str());
  const std::uint64_t configured = count_of(link, (std::string(way) + "_configured_bps").c_str());
  if (commanded == 0 || commanded >= configured) return;
  findings.push_back(
      {.check = "rate_commanded",
       .severity = Severity::kInfo,
       .subject = "link " + text(link, "name"),
       .seen = std::string("an operator has set ") + in_words(commanded) + " to " + way + ", of " +
               in_words(configured),
       .cause = "satrelayctl capacity holds until the next command or restart",
       .cure = "satrelayctl capacity " + text(link, "name") + ' ' + way + " configured",
       .page = "guide.md#capacity-changes"});
}

const Json* link_called(const Json& links, const std::string& name) {
  for (const Json& link : links) {
    if (has_word(link, "name", name)) return &link;
  }
  return nullptr;
}

// Compares what the gateway may send to a peer with the link's send_rate.
void judge_peer_rate(const GatewayFacts& gateway, const Json& peer, Findings& findings) {
  const Json* const link = link_called(gateway.links, text(peer, "link"));
  if (link == nullptr || !has_word(peer, "state", "alive")) return;
  const std::uint64_t configured = count_of(*link, "send_configured_bps");
  const auto is_much_less = [&](std::uint64_t rate) {
    return static_cast<double>(rate) < kMuchOfRate * static_cast<double>(configured);
  };
  const std::string subject = "peer " + text(peer, "name");
  const std::uint64_t told = count_of(peer, "announced_bps");
  if (told > 0 && is_much_less(told)) {
    findings.push_back({.check = "rate_above_far_end",
                        .severity = Severity::kWarning,
                        .subject = subject,
                        .seen = "the far gateway reports that it receives " + in_words(told) +
                                ", and send_rate here is " + in_words(configured),
                        .cause = configured / kPrefix >= told
                                     ? "a unit is probably wrong at one end: kbit for Mbit"
                                     : "an operator or a modem there has lowered the "
                                       "capacity, or send_rate is too high",
                        .cure = "compare links." + text(*link, "name") +
                                ".send_rate with the receive_rate and "
                                "satrelayctl links of the far end",
                        .page = "guide.md#capacity-changes",
                        .told_by = {.begin = "rate_cut", .end = "rate_restored", .subject = {}}});
    return;
  }
  const std::uint64_t allowed = count_of(peer, "send_rate_bps");
  if (has_word(*link, "finds_capacity", "yes") || allowed == 0 || !is_much_less(allowed)) return;
  if (count_of(*link, "send_commanded_bps") > 0) return;
  findings.push_back(
      {.check = "rate_cut",
       .severity = Severity::kWarning,
       .subject = subject,
       .seen = "may be sent " + in_words(allowed) + ", of a send_rate of " + in_words(configured),
       .cause = "rate control has found that the link carries less (controller " +
                text(peer, "controller") + ")",
       .cure = "correct send_rate, or write capacity: find; satrelayctl events has "
               "rate_cut with the cause",
       .page = machine::kPageOfSpeed,
       .told_by = {.begin = "rate_cut", .end = "rate_restored", .subject = {}}});
}

}  // namespace

Findings judge_rates(const Facts& facts) {
  Findings findings;
  const std::uint64_t speed = speed_of_wan(facts);
  for (const LinkRates& link : rates_of(facts)) {
    judge_against_port(link, speed, findings);
    judge_against_each_other(link, findings);
  }
  if (!facts.gateway) return findings;
  for (const Json& link : facts.gateway->links) {
    judge_ceiling(link, findings);
    judge_command(link, "send", findings);
    judge_command(link, "receive", findings);
  }
  for (const Json& peer : facts.gateway->peers) judge_peer_rate(*facts.gateway, peer, findings);
  return findings;
}

}  // namespace satrelay::ctl::doctor

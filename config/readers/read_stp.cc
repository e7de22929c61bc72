#include "config/readers/read_stp.h"

#include "config/keys/kinds.h"

namespace satrelay::config {
namespace {

constexpr Bounds<Duration> kGiveUp{Duration::seconds(1), Duration::seconds(86'400)};
constexpr Bounds<Duration> kLiveness{Duration::milliseconds(100), Duration::seconds(600)};
constexpr Bounds<BitRate> kReportBudget{kLeastReportBudget,
                                        BitRate::bits_per_second(1'000'000'000)};

Kind<double> overhead_of_repairs() {
  return {
      .read =
          [](const Value& value) {
            const double share = value.share();
            if (share < kLeastPromptOverhead) {
              value.refuse("is too little to repair anything", "write 1% to 100%");
            }
            return share;
          },
      .show = [](const double& share) { return share == 0 ? "from the loss" : share_text(share); },
      .allowed = "1% to 100%",
      .unit = "share"};
}

}  // namespace

const Keys<Feedback>& feedback_keys() {
  static const Keys<Feedback> keys({
      key<Feedback>({.name = "mode", .help = "When received packets are reported."},
                    &Feedback::mode, word(Feedback().mode)),
      key<Feedback>({.name = "budget",
                     .help = "The most of a link's send_rate that reports of all its peers take."},
                    &Feedback::budget, rate(kReportBudget, "from the rates")),
  });
  return keys;
}

const Keys<Stp>& stp_keys() {
  static const Keys<Stp> keys({
      key<Stp>(
          {.name = "port", .help = "The UDP port of both gateways; lane n is sent to port + n."},
          &Stp::port, whole<std::uint16_t>({1, 65535})),
      key<Stp>({.name = "mtu",
                .help = "The largest IP packet of STP.",
                .fallback = "ports.wan.mtu, at most 1500",
                .allowed = "576 (with IPv6: 1280) to ports.wan.mtu"},
               &Stp::mtu, whole<std::uint16_t>({576, 9000})),
      key<Stp>({.name = "path_mtu", .help = "Whether the MTU of the path is searched for."},
               &Stp::path_mtu, word(Stp().path_mtu)),
      key<Stp>({.name = "ping_after", .help = "A peer is probed after this much silence."},
               &Stp::ping_after, duration(kLiveness)),
      key<Stp>({.name = "suspect_after",
                .help = "A peer is suspect after this much silence: new connections are bridged.",
                .allowed = "100ms to 600s, longer than ping_after"},
               &Stp::suspect_after, duration(kLiveness)),
      key<Stp>({.name = "give_up_after",
                .reload = Reload::kLive,
                .help = "A peer is given up, and flows that owe it bytes are reset, after this.",
                .fallback = "15min"},
               &Stp::give_up_after, duration(kGiveUp)),
      key_of_section<Stp>({.name = "feedback", .help = "How received packets are reported."},
                          [](const Stp&) { return std::string(); }),
      key<Stp>({.name = "fec", .help = "Whether losses are repaired by forward error correction."},
               &Stp::fec, word(Stp().fec)),
      key<Stp>({.name = "prompt_overhead",
                .help = "The most that repairs of flows with delivery: prompt take, as a share of "
                        "their bytes."},
               &Stp::prompt_overhead, overhead_of_repairs()),
  });
  return keys;
}

Stp read_stp(const Value& value, std::uint16_t default_mtu) {
  Stp stp;
  stp.mtu = default_mtu;
  const Fields fields = stp_keys().fields(value);
  stp_keys().read(fields, stp);
  fields.read("feedback", [&](const Value& feedback) {
    feedback_keys().read(feedback_keys().fields(feedback), stp.feedback);
  });
  return stp;
}

}  // namespace satrelay::config

#include "relay/satperf/report.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "config/text/format.h"
#include "relay/text/numbers.h"

namespace satrelay::satperf {
namespace {

using Json = nlohmann::ordered_json;

std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

double seconds(std::uint64_t nanoseconds) { return static_cast<double>(nanoseconds) / 1e9; }

// A negative value means that the value is unknown.
constexpr double kUnknown = -1;

// Returns the growth of a counter within a span, per second.
double per_second(const std::optional<Span>& span, std::uint64_t Snapshot::*member) {
  if (!span || span->to.time_ns <= span->from.time_ns) return kUnknown;
  return static_cast<double>(span->to.*member - span->from.*member) /
         seconds(span->to.time_ns - span->from.time_ns);
}

double bits_per_second(const std::optional<Span>& span, std::uint64_t Snapshot::*member) {
  const double bytes = per_second(span, member);
  return bytes < 0 ? kUnknown : bytes * 8;
}

// Returns the share of the sender's packets that were declared lost.
double loss(const std::optional<Span>& sender) {
  if (!sender) return kUnknown;
  const std::uint64_t sent = sender->to.packets_out - sender->from.packets_out;
  if (sent == 0) return kUnknown;
  return static_cast<double>(sender->to.packets_lost - sender->from.packets_lost) /
         static_cast<double>(sent);
}

// Returns the share of one core that was used, in user mode and in the kernel together.
double cpu(const std::optional<Span>& span) {
  const double user = per_second(span, &Snapshot::cpu_user_us);
  const double system = per_second(span, &Snapshot::cpu_system_us);
  return user < 0 ? kUnknown : (user + system) / 1e6;
}

// Returns the snapshot with the round-trip time to report. Prefers the sender's snapshot, since the
// sender sends all the time and thus measures more often.
const Snapshot* rtt_source(const BothEnds& ends) {
  if (ends.sender) return &ends.sender->to;
  return ends.receiver ? &ends.receiver->to : nullptr;
}

std::string rate_column(double rate) { return rate < 0 ? "-" : text::bit_rate(rate); }
std::string percent_column(double share, int decimals) {
  return share < 0 ? "-" : text::percent(share, decimals);
}

Json whole(double value, double factor = 1) {
  return value < 0 ? Json() : Json(static_cast<std::uint64_t>(std::llround(value * factor)));
}
Json whole_span(const std::optional<Span>& span, std::uint64_t Snapshot::*member) {
  return span ? Json(span->to.*member - span->from.*member) : Json();
}

Json all_fields(const std::optional<Span>& span) {
  if (!span) return {};
  Json json;
  for (const auto& field : Snapshot::kFields) json[field.name] = value_of(span->to, field);
  return json;
}

const char* to_string(Outcome outcome) {
  switch (outcome) {
    case Outcome::kComplete:
      return "complete";
    case Outcome::kInterrupted:
      return "interrupted";
    case Outcome::kFailed:
      return "failed";
  }
  return "unknown";
}

std::string cpu_text(const Snapshot& end, std::uint64_t bytes) {
  const double user = static_cast<double>(end.cpu_user_us) / 1e6;
  const double system = static_cast<double>(end.cpu_system_us) / 1e6;
  std::string text = fmt::format("CPU {:.2f} s user, {:.2f} s system", user, system);
  if (bytes > 0) {
    const double gigabytes = static_cast<double>(bytes) / 1e9;
    text += fmt::format(" ({:.2f} and {:.2f} s a GB)", user / gigabytes, system / gigabytes);
  }
  return text;
}

std::string sender_text(const Snapshot& s) {
  std::string text = "sender    " + text::decimal_bytes(s.sent_bytes) + " of payload, " +
                     text::decimal_bytes(s.acknowledged_bytes) + " acknowledged, " +
                     text::decimal_bytes(s.retransmitted_bytes) + " retransmitted; ";
  const double share = s.packets_out == 0 ? 0
                                          : static_cast<double>(s.packets_lost) * 100 /
                                                static_cast<double>(s.packets_out);
  text += fmt::format("{} of {} packets lost ({:.2f}%), RTT {:.1f} ms\n", s.packets_lost,
                      s.packets_out, share, static_cast<double>(s.rtt_us) / 1e3);
  return text + "          " + cpu_text(s, s.sent_bytes) + "\n";
}

std::string receiver_text(const Snapshot& s) {
  std::string text = "receiver  " + text::decimal_bytes(s.delivered_bytes) + " in order in " +
                     fmt::format("{:.2f} s: ", seconds(s.last_byte_ns - s.first_byte_ns)) +
                     text::bit_rate(goodput(s)) + "; ";
  text += s.blocks_checked == 0
              ? "payload not checked\n"
              : fmt::format("{} blocks checked, {} damaged\n", s.blocks_checked, s.blocks_damaged);
  return text + "          " + cpu_text(s, s.delivered_bytes) + "\n";
}

// Returns the counts that help to tell the causes of loss apart.
std::string losses_text(const char* name, const Snapshot& s) {
  struct Shown {
    const char* text;
    std::uint64_t Snapshot::*member;
  };
  constexpr std::array<Shown, 11> kShown{{
      {"lost", &Snapshot::packets_lost},
      {"of these received after all", &Snapshot::spurious_losses},
      {"probes of silence", &Snapshot::tail_probes},
      {"duplicates", &Snapshot::duplicate_packets},
      {"bad CRC", &Snapshot::bad_crc_packets},
      {"malformed", &Snapshot::malformed_packets},
      {"bytes without memory", &Snapshot::no_memory_drops},
      {"not taken by the kernel", &Snapshot::send_errors},
      {"reports in", &Snapshot::reports_in},
      {"reports out", &Snapshot::reports_out},
      {"packets in", &Snapshot::packets_in},
  }};
  std::string text = fmt::format("{:<10}", name);
  const char* separator = "";
  for (const auto& [words, member] : kShown) {
    text += fmt::format("{}{} {}", separator, words, s.*member);
    separator = ", ";
  }
  return text + "\n";
}

}  // namespace

double goodput(const Snapshot& receiver) {
  if (receiver.last_byte_ns <= receiver.first_byte_ns) return 0;
  return static_cast<double>(receiver.delivered_bytes) * 8 /
         seconds(receiver.last_byte_ns - receiver.first_byte_ns);
}

std::string Report::start(const Plan& plan, End end, const std::string& peer) const {
  const bool sends = plan.sender() == end;
  if (format_ == Format::kJson) {
    Json json{{"event", "start"},
              {"peer", peer},
              {"role", sends ? "sender" : "receiver"},
              {"rate_bps", plan.rate.to_bits_per_second()},
              {"controller", config::to_string(plan.controller)},
              {"overhead_bytes", plan.overhead},
              {"segment_bytes", plan.segment},
              {"streams", plan.streams},
              {"interval_ms", plan.interval.to_milliseconds()}};
    json["bytes"] = plan.bytes > 0 ? Json(plan.bytes) : Json();
    const auto milliseconds = plan.duration.to_milliseconds();
    json["duration_ms"] = plan.bytes > 0 ? Json() : Json(milliseconds);
    return dump(json);
  }
  const std::string amount = plan.bytes > 0 ? config::to_text(ByteCount(plan.bytes))
                                            : "for " + config::to_text(plan.duration);
  const std::string by = plan.controller == config::Controller::kFixedRate
                             ? ""
                             : std::string(" at most, by ") + config::to_string(plan.controller);
  std::string text = std::string(sends ? "sending to " : "receiving from ") + peer + " at " +
                     config::to_text(plan.rate) + by + " (+" + std::to_string(plan.overhead) +
                     " bytes a packet), packets of " + std::to_string(plan.segment) + " bytes, " +
                     std::to_string(plan.streams) +
                     (plan.streams == 1 ? " stream, " : " streams, ") + amount + "\n";
  return text + fmt::format("{:>9}  {:>12}  {:>12}  {:>12}  {:>12}  {:>7}  {:>9}  {:>7}  {:>7}\n",
                            "time", "goodput", "stored", "sent new", "sent again", "lost", "RTT",
                            "CPU snd", "CPU rcv");
}

std::string Report::interval(std::uint64_t time_ns, const BothEnds& ends) const {
  const double delivered = bits_per_second(ends.receiver, &Snapshot::delivered_bytes);
  const double stored = bits_per_second(ends.receiver, &Snapshot::stored_bytes);
  const double sent = bits_per_second(ends.sender, &Snapshot::sent_bytes);
  const double again = bits_per_second(ends.sender, &Snapshot::retransmitted_bytes);
  const Snapshot* const rtt = rtt_source(ends);
  if (format_ == Format::kJson) {
    return dump({{"event", "interval"},
                 {"time_ms", time_ns / 1'000'000},
                 {"goodput_bps", whole(delivered)},
                 {"stored_bps", whole(stored)},
                 {"sent_bps", whole(sent)},
                 {"retransmitted_bps", whole(again)},
                 {"packets_lost", whole_span(ends.sender, &Snapshot::packets_lost)},
                 {"loss_ppm", whole(loss(ends.sender), 1e6)},
                 {"rtt_us", rtt != nullptr ? Json(rtt->rtt_us) : Json()},
                 {"sender_cpu_ppm", whole(cpu(ends.sender), 1e6)},
                 {"receiver_cpu_ppm", whole(cpu(ends.receiver), 1e6)}});
  }
  const std::string rtt_text =
      rtt != nullptr ? fmt::format("{:.1f} ms", static_cast<double>(rtt->rtt_us) / 1e3) : "-";
  return fmt::format("{:7.1f} s  {:>12}  {:>12}  {:>12}  {:>12}  {:>7}  {:>9}  {:>7}  {:>7}\n",
                     seconds(time_ns), rate_column(delivered), rate_column(stored),
                     rate_column(sent), rate_column(again), percent_column(loss(ends.sender), 2),
                     rtt_text, percent_column(cpu(ends.sender), 0),
                     percent_column(cpu(ends.receiver), 0));
}

std::string Report::summary(const BothEnds& ends, Outcome outcome, const std::string& why) const {
  if (format_ == Format::kJson) {
    const double rate = ends.receiver ? goodput(ends.receiver->to) : kUnknown;
    return dump({{"event", "summary"},
                 {"outcome", to_string(outcome)},
                 {"reason", why.empty() ? Json() : Json(why)},
                 {"goodput_bps", whole(rate)},
                 {"sender", all_fields(ends.sender)},
                 {"receiver", all_fields(ends.receiver)}});
  }
  std::string text = std::string(to_string(outcome)) + (why.empty() ? "" : ": " + why) + "\n";
  if (ends.sender) text += sender_text(ends.sender->to);
  if (ends.receiver) text += receiver_text(ends.receiver->to);
  if (losses_ == LossReport::kOff) return text;
  text += "loss report, in packets\n";
  if (ends.sender) text += losses_text("sender", ends.sender->to);
  if (ends.receiver) text += losses_text("receiver", ends.receiver->to);
  return text;
}

std::string Report::notice(const std::string& text) const {
  if (format_ == Format::kJson) return dump({{"event", "notice"}, {"text", text}});
  return text + "\n";
}

}  // namespace satrelay::satperf

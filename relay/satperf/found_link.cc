#include "relay/satperf/found_link.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "config/text/format.h"
#include "relay/text/numbers.h"

namespace satrelay::satperf {
namespace {

constexpr std::uint64_t kIpAndUdp = 28;

std::uint64_t carried_bytes(const Snapshot& sender, std::uint32_t overhead) {
  return sender.udp_bytes_out + sender.packets_out * (kIpAndUdp + overhead);
}

// Rounds down to three digits: a configured rate may be slightly below the rate of the link, but
// not above it.
BitRate rounded(BitRate rate) {
  std::uint64_t unit = 1;
  while (rate.to_bits_per_second() / unit >= 1000) unit *= 10;
  return BitRate::bits_per_second(rate.to_bits_per_second() / unit * unit);
}

std::string overhead_text(std::uint32_t overhead) {
  if (overhead == 38) return "ethernet";
  return overhead == 0 ? "ip" : std::to_string(overhead);
}

std::string direction_text(const char* name, const FoundRate& rate, BitRate ceiling) {
  std::string text = fmt::format("{:<8}  ", name);
  text += text::bit_rate(static_cast<double>(rate.rate().to_bits_per_second()));
  if (rate.varies()) {
    text += fmt::format(", between {} and {} meanwhile",
                        text::bit_rate(static_cast<double>(rate.least().to_bits_per_second())),
                        text::bit_rate(static_cast<double>(rate.most().to_bits_per_second())));
  }
  if (rate.most() >= ceiling) text += ", the most that was tried: the path may carry more (--rate)";
  return text + "\n";
}

bool varies(const FoundLink& link) { return link.sent.varies() || link.received.varies(); }

}  // namespace

void CarriedRate::look(const Snapshot& sender) {
  if (sender.time_ns < from_ns_ || sender.time_ns > to_ns_) return;
  if (!first_) first_ = sender;
  if (sender.time_ns <= first_->time_ns) return;
  const auto bits =
      static_cast<double>(carried_bytes(sender, overhead_) - carried_bytes(*first_, overhead_)) *
      8e9;
  rate_ = BitRate::bits_per_second(
      static_cast<std::uint64_t>(bits / static_cast<double>(sender.time_ns - first_->time_ns)));
}

std::string links_section(const FoundLink& link) {
  return fmt::format(
      "links:\n  sat: {{{}send_rate: {}, receive_rate: {}, overhead: {}}}\n",
      varies(link) ? "capacity: find, " : "",
      config::to_text(rounded(varies(link) ? link.sent.most() : link.sent.rate())),
      config::to_text(rounded(varies(link) ? link.received.most() : link.received.rate())),
      overhead_text(link.overhead));
}

std::string describe(const FoundLink& link, Format format) {
  if (format == Format::kJson) {
    const auto bits = [](BitRate rate) { return rate.to_bits_per_second(); };
    return nlohmann::ordered_json{{"event", "found"},
                                  {"send_bps", bits(link.sent.rate())},
                                  {"send_least_bps", bits(link.sent.least())},
                                  {"send_most_bps", bits(link.sent.most())},
                                  {"receive_bps", bits(link.received.rate())},
                                  {"receive_least_bps", bits(link.received.least())},
                                  {"receive_most_bps", bits(link.received.most())},
                                  {"rtt_us", link.rtt_us},
                                  {"links", links_section(link)}}
               .dump() +
           "\n";
  }
  std::string text = direction_text("up", link.sent, link.ceiling) +
                     direction_text("down", link.received, link.ceiling) +
                     fmt::format("RTT       {:.1f} ms\n\n", static_cast<double>(link.rtt_us) / 1e3);
  text += "For gateway.yaml here; at the far end send_rate and receive_rate change places.\n";
  text += varies(link) ? "The rate varies, so let the gateway find it all the time.\n"
                       : "If the link may fade, or others share it, add capacity: find.\n";
  return text + "\n" + links_section(link);
}

}  // namespace satrelay::satperf

#include "relay/satrelayctl/render.h"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "relay/satrelayctl/reply.h"
#include "relay/satrelayctl/scale.h"
#include "relay/satrelayctl/table.h"

namespace satrelay::ctl {
namespace {

// "lan: af_packet on lan0" beside a column that says "lan" already.
std::string device_of(const Json& port) {
  const std::string device = text(port, "device");
  const std::string name = text(port, "name") + ": ";
  return device.starts_with(name) ? device.substr(name.size()) : device;
}

std::string percent_of(std::uint64_t part, std::uint64_t whole) {
  if (whole == 0) return "";
  const double share = static_cast<double>(part) / static_cast<double>(whole);
  return " (" + human_share(static_cast<std::uint64_t>(share * 1e6)) + ")";
}

std::string memory_line(const Json& status) {
  const auto used = number(status, "arena_used_bytes");
  const auto all = number(status, "arena_bytes");
  if (!used || !all) return "-";
  return human_bytes(*used) + " of " + human_bytes(*all) + percent_of(*used, *all);
}

std::string compression_line(const Json& codec) {
  const auto plain_bytes = number(codec, "plain_bytes");
  const auto encoded = number(codec, "encoded_bytes");
  if (!plain_bytes || !encoded) return "-";
  return human_bytes(*plain_bytes) + " became " + human_bytes(*encoded) +
         percent_of(*encoded, *plain_bytes) + "; " +
         shown(codec, "compressed_blocks", human_count) + " blocks compressed" +
         (number(codec, "dictionary_blocks").value_or(0) == 0
              ? ", "
              : " (" + shown(codec, "dictionary_blocks", human_count) + " with a dictionary), ") +
         shown(codec, "skipped_blocks", human_count) + " left alone, " +
         shown(codec, "expanded_blocks", human_count) + " not smaller";
}

std::string tcp_line(const Json& tcp) {
  return shown(tcp, "bytes_in", human_bytes) + " in, " + shown(tcp, "bytes_out", human_bytes) +
         " out; " + shown(tcp, "retransmitted_segments", human_count) +
         " segments retransmitted, " + shown(tcp, "retransmission_timeouts", human_count) +
         " timeouts";
}

// "2 alive, 1 suspect"
std::string peers_line(const Json& peers) {
  std::string line;
  if (!peers.is_object()) return "-";
  for (const auto& [state, count] : peers.items()) {
    if (!line.empty()) line += ", ";
    line += shown(peers, state.c_str(), human_count) + ' ' + state_words(state);
  }
  return line;
}

constexpr std::uint64_t kStaleMilliseconds = 2000;

}  // namespace

std::string render_status(const Json& status) {
  std::vector<std::vector<std::string>> rows{
      {"uptime", shown(status, "uptime_ms", milliseconds)},
      {"peers", peers_line(member(status, "peers"))},
      {"flows", shown(status, "flows", human_count) + ", and " +
                    shown(status, "half_open", human_count) + " half-open"},
      {"memory", memory_line(status)},
      {"tcp", tcp_line(member(status, "tcp"))},
      {"compression", compression_line(member(status, "codec"))},
  };
  if (const std::string admission = text(status, "new_flows");
      admission != "-" && admission != "open") {
    rows.insert(rows.begin() + 3, {"new flows", "bridged (" + admission + ")"});
  }
  if (number(status, "age_ms").value_or(0) > kStaleMilliseconds) {
    rows.push_back({"WARNING", "the worker has told nothing for " +
                                   shown(status, "age_ms", milliseconds) + ": it is stuck"});
  }
  return format_pairs(rows);
}

std::string render_ports(const Json& ports) {
  std::vector<std::vector<std::string>> rows;
  for (const Json& port : ports) {
    const auto megabits = number(port, "link_mbit_per_s");
    std::string link = text(port, "link");
    if (megabits && *megabits != 0) link += ' ' + human_rate(*megabits * 1'000'000);
    rows.push_back({text(port, "name"), device_of(port), text(port, "mac"), link,
                    shown(port, "mtu_bytes", plain), shown(port, "rx_frames", human_count),
                    shown(port, "rx_bytes", human_bytes), shown(port, "tx_frames", human_count),
                    shown(port, "tx_bytes", human_bytes), shown(port, "rx_missed", human_count),
                    shown(port, "rx_errors", human_count), shown(port, "rx_no_buffer", human_count),
                    shown(port, "rx_merged", human_count), shown(port, "tx_errors", human_count),
                    shown(port, "tx_unsent", human_count), shown(port, "tx_down", human_count)});
  }
  return format_table({{"port"},
                       {"device"},
                       {"mac"},
                       {"link"},
                       {"mtu", Align::kRight},
                       {"rx frames", Align::kRight},
                       {"rx", Align::kRight},
                       {"tx frames", Align::kRight},
                       {"tx", Align::kRight},
                       {"rx missed", Align::kRight},
                       {"rx errors", Align::kRight},
                       {"no buffer", Align::kRight},
                       {"merged", Align::kRight},
                       {"tx errors", Align::kRight},
                       {"unsent", Align::kRight},
                       {"down", Align::kRight}},
                      rows);
}

std::string render_peers(const Json& peers) {
  std::vector<std::vector<std::string>> rows;
  for (const Json& peer : peers) {
    const Json& counters = member(peer, "counters");
    std::string state = state_words(text(peer, "state"));
    if (state == "refused") {
      state += number(counters, "security_mismatch").value_or(0) > 0 ? " (only one encrypts)"
                                                                     : " (another version)";
    }
    const std::string admission = text(peer, "new_flows");
    if (admission != "-" && admission != "open") state += " (" + admission + ")";
    if (text(peer, "next_hop") == "unresolved") state += " (next hop unresolved)";
    rows.push_back(
        {text(peer, "name"), text(peer, "address"), state, text(peer, "link"),
         shown(peer, "send_rate_bps", human_rate), shown(peer, "path_mtu_bytes", plain),
         shown(peer, "rtt_us", human_duration), shown(peer, "loss_ppm", human_share),
         shown(peer, "streams", human_count), shown(peer, "packets_in_flight", human_count),
         shown(peer, "stored_bytes", human_bytes), shown(counters, "bytes_out", human_bytes),
         shown(counters, "bytes_in", human_bytes), shown(counters, "packets_lost", human_count),
         shown(counters, "retransmitted_bytes", human_bytes)});
  }
  return format_table({{"peer"},
                       {"address"},
                       {"state"},
                       {"link"},
                       {"rate", Align::kRight},
                       {"path mtu", Align::kRight},
                       {"rtt", Align::kRight},
                       {"loss", Align::kRight},
                       {"streams", Align::kRight},
                       {"in flight", Align::kRight},
                       {"stored", Align::kRight},
                       {"sent", Align::kRight},
                       {"received", Align::kRight},
                       {"lost", Align::kRight},
                       {"sent again", Align::kRight}},
                      rows);
}

std::string render_flows(const Json& flows) {
  std::vector<std::vector<std::string>> rows;
  for (const Json& flow : flows) {
    rows.push_back(
        {shown(flow, "id", plain), endpoint(flow, "client", "client_port"),
         endpoint(flow, "server", "server_port"), text(flow, "client_side"), text(flow, "peer"),
         text(flow, "tcp_state"), shown(flow, "age_ms", milliseconds),
         shown(flow, "idle_ms", milliseconds), shown(flow, "from_lan_bytes", human_bytes),
         shown(flow, "to_lan_bytes", human_bytes), shown(flow, "lan_stored_bytes", human_bytes),
         shown(flow, "stp_unacknowledged_bytes", human_bytes),
         shown(flow, "stp_stored_bytes", human_bytes),
         shown(flow, "lan_unacknowledged_bytes", human_bytes),
         shown(flow, "lan_window_bytes", human_bytes),
         shown(flow, "host_window_bytes", human_bytes), shown(flow, "lan_rtt_us", human_duration)});
  }
  return format_table({{"id", Align::kRight},
                       {"client"},
                       {"server"},
                       {"from"},
                       {"peer"},
                       {"tcp state"},
                       {"age", Align::kRight},
                       {"idle", Align::kRight},
                       {"from lan", Align::kRight},
                       {"to lan", Align::kRight},
                       {"waiting", Align::kRight},
                       {"on the way", Align::kRight},
                       {"arrived", Align::kRight},
                       {"unacked", Align::kRight},
                       {"our window", Align::kRight},
                       {"its window", Align::kRight},
                       {"lan rtt", Align::kRight}},
                      rows);
}

std::string render_counters(const Json& counters, Zeros zeros) {
  std::vector<std::vector<std::string>> rows;
  std::size_t hidden = 0;
  if (counters.is_object()) {
    for (const auto& [name, value] : counters.items()) {
      if (!value.is_number_unsigned()) continue;
      if (zeros == Zeros::kHide && value.get<std::uint64_t>() == 0) {
        ++hidden;
        continue;
      }
      rows.push_back({name, human_count(value.get<std::uint64_t>())});
    }
  }
  std::string out = format_table({{"counter"}, {"since start", Align::kRight}}, rows);
  if (hidden != 0) out += "and " + std::to_string(hidden) + " at 0 (--all shows them)\n";
  return out;
}

}  // namespace satrelay::ctl

#include "relay/satrelayctl/views/render.h"

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <vector>

#include "pep/compress/codec_counters.h"
#include "pep/stp/counters.h"
#include "pep/tcp/counters.h"
#include "relay/client/reply.h"
#include "relay/dpdk/device/port_stats.h"
#include "relay/gateway/counters.h"
#include "relay/records/record_counters.h"
#include "relay/satrelayctl/views/listing.h"
#include "relay/text/numbers.h"
#include "relay/text/table.h"
#include "relay/version/version.h"

namespace satrelay::ctl {
namespace {

// Removes the port's name from a text such as "lan: af_packet on lan0", since another column shows
// the name.
std::string device_of(const Json& port) {
  const std::string device = text(port, "device");
  const std::string name = text(port, "name") + ": ";
  return device.starts_with(name) ? device.substr(name.size()) : device;
}

std::string percent_of(std::uint64_t part, std::uint64_t whole) {
  if (whole == 0) return "";
  const double share = static_cast<double>(part) / static_cast<double>(whole);
  return " (" + text::share(static_cast<std::uint64_t>(share * 1e6)) + ")";
}

std::string memory_line(const Json& status) {
  const auto used = number(status, "arena_used_bytes");
  const auto all = number(status, "arena_bytes");
  if (!used || !all) return "-";
  return text::binary_bytes(*used) + " of " + text::binary_bytes(*all) + percent_of(*used, *all);
}

std::string compression_line(const Json& codec) {
  using compress::CodecCounters;
  const CounterField<CodecCounters>& with_dictionary = field_of(&CodecCounters::dictionary_blocks);
  const auto plain_bytes = number(codec, field_of(&CodecCounters::plain_bytes).name);
  const auto encoded = number(codec, field_of(&CodecCounters::encoded_bytes).name);
  if (!plain_bytes || !encoded) return "-";
  return text::binary_bytes(*plain_bytes) + " became " + text::binary_bytes(*encoded) +
         percent_of(*encoded, *plain_bytes) + "; " +
         shown(codec, field_of(&CodecCounters::compressed_blocks)) + " blocks compressed" +
         (number(codec, with_dictionary.name).value_or(0) == 0
              ? ", "
              : " (" + shown(codec, with_dictionary) + " with a dictionary), ") +
         shown(codec, field_of(&CodecCounters::skipped_blocks)) + " left alone, " +
         shown(codec, field_of(&CodecCounters::expanded_blocks)) + " not smaller";
}

std::string tcp_line(const Json& sums) {
  using tcp::Counters;
  return shown(sums, field_of(&Counters::bytes_in)) + " in, " +
         shown(sums, field_of(&Counters::bytes_out)) + " out; " +
         shown(sums, field_of(&Counters::retransmitted_segments)) + " segments retransmitted, " +
         shown(sums, field_of(&Counters::retransmission_timeouts)) + " timeouts";
}

// Returns a text like "2 alive, 1 suspect".
std::string peers_line(const Json& peers) {
  std::string line;
  if (!peers.is_object()) return "-";
  for (const auto& [state, count] : peers.items()) {
    if (!line.empty()) line += ", ";
    line += shown(peers, state.c_str(), text::count) + ' ' + state_words(state);
  }
  return line;
}

constexpr std::uint64_t kStaleMilliseconds = 2000;

// Returns a text like "up 10.0 Gbit/s".
std::string link_of(const Json& port) {
  const auto megabits = number(port, "link_mbit_per_s");
  std::string link = text(port, "link");
  if (megabits && *megabits != 0) link += ' ' + bits_per_second(*megabits * 1'000'000);
  return link;
}

// Returns the state of the peer. If the peer's flows cannot be relayed, adds the reason.
std::string peer_state(const Json& peer) {
  std::string state = state_words(text(peer, "state"));
  if (state == "refused") {
    const auto counted = [&](const CounterField<stp::Counters>& field) {
      return number(member(peer, "counters"), field.name).value_or(0) > 0;
    };
    state += counted(field_of(&stp::Counters::security_mismatch)) ? " (only one encrypts)"
             : counted(field_of(&stp::Counters::lanes_mismatch))  ? " (other workers)"
                                                                  : " (another version)";
  }
  const std::string admission = text(peer, "new_flows");
  if (admission != "-" && admission != "open") state += " (" + admission + ")";
  if (text(peer, "next_hop") == "unresolved") state += " (next hop unresolved)";
  return state;
}

// Returns the meaning of a counter of the gateway, or "" if this program does not know the counter.
std::string meaning_of(std::string_view name) {
  const auto& fields = gateway::Counters::kFields;
  const auto found = std::ranges::find(fields, name, &gateway::Counters::Field::name);
  return found == fields.end() ? "" : found->help;
}

}  // namespace

namespace {

// Adds a line for each worker, if there are several.
void add_workers(const Json& workers, std::vector<text::Row>& rows) {
  if (!workers.is_object() || workers.size() < 2) return;
  for (const auto& [number_of, worker] : workers.items()) {
    rows.push_back({"worker " + number_of,
                    shown(worker, "flows", text::count) + " flows, " +
                        shown(worker, "frames", text::count) + " frames in, " +
                        shown(worker, "given", text::count) + " of them given to other workers"});
  }
}

// The version that runs, and the installed one if it is another: an upgrade replaces the programs
// of a gateway and does not restart it. satrelayctl is installed together with satrelayd.
std::vector<text::Row> version_rows(const Json& status) {
  Build running{.version = text(status, "version"), .commit = text(status, "commit")};
  if (running.version == "-") return {};
  if (running.commit == "-") running.commit = "none";  // an earlier version does not tell it
  std::vector<text::Row> rows{{"version", to_string(running)}};
  if (running != this_build()) {
    rows.push_back({"waiting", to_string(this_build()) + " is installed, and takes over when the " +
                                   "gateway is restarted"});
  }
  return rows;
}

}  // namespace

std::string render_status(const Json& status, std::size_t width) {
  std::vector<text::Row> rows = version_rows(status);
  rows.push_back({"uptime", shown(status, "uptime_ms", milliseconds)});
  rows.push_back({"peers", peers_line(member(status, "peers"))});
  rows.push_back({"flows", shown(status, "flows", text::count) + ", and " +
                               shown(status, "half_open", text::count) + " half-open"});
  if (const std::string admission = text(status, "new_flows");
      admission != "-" && admission != "open") {
    rows.push_back({"new flows", "bridged (" + admission + ")"});
  }
  rows.push_back({"memory", memory_line(status)});
  rows.push_back({"tcp", tcp_line(member(status, "tcp"))});
  rows.push_back({"compression", compression_line(member(status, "codec"))});
  add_workers(member(status, "workers"), rows);
  if (number(status, "age_ms").value_or(0) > kStaleMilliseconds) {
    rows.push_back({"WARNING", "the worker has not reported for " +
                                   shown(status, "age_ms", milliseconds) + ": it is stuck"});
  }
  return text::format_pairs(rows, width);
}

std::string render_records(const Json& records, std::size_t width) {
  using records::RecordCounters;
  const auto state = [&](const char* key, const char* trouble) {
    const std::string why = text(records, trouble);
    return text(records, key) + (why.empty() || why == "-" ? "" : ": " + why);
  };
  const auto told = [&](const CounterField<RecordCounters>& field) {
    return shown(records, field);
  };
  return text::format_pairs(
      {{"file", state("file", "file_trouble")},
       {"written", told(field_of(&RecordCounters::written)) + ", " +
                       told(field_of(&RecordCounters::written_bytes)) + "; " +
                       told(field_of(&RecordCounters::unwritten)) + " could not be"},
       {"rotations", told(field_of(&RecordCounters::rotations))},
       {"IPFIX", state("ipfix", "ipfix_trouble")},
       {"exported", told(field_of(&RecordCounters::exported)) + ", " +
                        told(field_of(&RecordCounters::exported_bytes)) + "; " +
                        told(field_of(&RecordCounters::unexported)) + " could not be"},
       {"connections", told(field_of(&RecordCounters::connections))},
       {"waiting", shown(records, "waiting", text::count)},
       {"lost", shown(records, "lost", text::count)}},
      width);
}

std::string render_ports(const Json& ports, std::size_t width) {
  using dpdk::PortStats;
  return format_listing(ports,
                        {words("port", "name"), words("device", device_of), words("mac", "mac"),
                         words("link", link_of), figure("mtu", "mtu_bytes", text::plain),
                         figure("rx frames", field_of(&PortStats::rx_frames)),
                         figure("rx", field_of(&PortStats::rx_bytes)),
                         figure("tx frames", field_of(&PortStats::tx_frames)),
                         figure("tx", field_of(&PortStats::tx_bytes)),
                         figure("rx missed", field_of(&PortStats::rx_missed)),
                         figure("rx errors", field_of(&PortStats::rx_errors)),
                         figure("no buffer", field_of(&PortStats::rx_no_buffer)),
                         figure("merged", field_of(&PortStats::rx_merged)),
                         figure("tx errors", field_of(&PortStats::tx_errors)),
                         figure("unsent", field_of(&PortStats::tx_unsent)),
                         figure("down", field_of(&PortStats::tx_down))},
                        width);
}

std::string render_peers(const Json& peers, std::size_t width) {
  constexpr const char* kCounters = "counters";
  return format_listing(
      peers,
      {words("peer", "name"), words("address", "address"), words("state", peer_state),
       words("link", "link"), figure("rate", "send_rate_bps", bits_per_second),
       figure("path mtu", "path_mtu_bytes", text::plain), figure("rtt", "rtt_us", text::duration),
       figure("loss", "loss_ppm", text::share), figure("streams", "streams", text::count),
       figure("in flight", "packets_in_flight", text::count),
       figure("stored", "stored_bytes", text::binary_bytes),
       figure("sent", field_of(&stp::Counters::bytes_out), kCounters),
       figure("received", field_of(&stp::Counters::bytes_in), kCounters),
       figure("lost", field_of(&stp::Counters::packets_lost), kCounters),
       figure("sent again", field_of(&stp::Counters::retransmitted_bytes), kCounters),
       figure("flows", "flows", text::count), figure("refused", "flows_refused", text::count),
       figure("memory", "arena_used_bytes", text::binary_bytes)},
      width);
}

std::string render_flows(const Json& flows, std::size_t width) {
  return format_listing(
      flows,
      {right(words("id", "id")),
       words("client", [](const Json& flow) { return endpoint(flow, "client", "client_port"); }),
       words("server", [](const Json& flow) { return endpoint(flow, "server", "server_port"); }),
       words("from", "client_side"), words("peer", "peer"), words("tcp state", "tcp_state"),
       figure("age", "age_ms", milliseconds), figure("idle", "idle_ms", milliseconds),
       figure("from lan", "from_lan_bytes", text::binary_bytes),
       figure("to lan", "to_lan_bytes", text::binary_bytes),
       figure("waiting", "lan_stored_bytes", text::binary_bytes),
       figure("on the way", "stp_unacknowledged_bytes", text::binary_bytes),
       figure("arrived", "stp_stored_bytes", text::binary_bytes),
       figure("unacked", "lan_unacknowledged_bytes", text::binary_bytes),
       figure("our window", "lan_window_bytes", text::binary_bytes),
       figure("its window", "host_window_bytes", text::binary_bytes),
       figure("lan rtt", "lan_rtt_us", text::duration)},
      width);
}

std::string render_counters(const Json& counters, Zeros zeros, std::size_t width) {
  std::vector<text::Row> rows;
  std::size_t hidden = 0;
  if (counters.is_object()) {
    for (const auto& [name, value] : counters.items()) {
      if (!value.is_number_unsigned()) continue;
      if (zeros == Zeros::kHide && value.get<std::uint64_t>() == 0) {
        ++hidden;
        continue;
      }
      rows.push_back({name, text::count(value.get<std::uint64_t>()), meaning_of(name)});
    }
  }
  std::string out = text::fit_table({{"counter"},
                                     {"since start", text::Align::kRight},
                                     {"meaning", text::Align::kLeft, text::Overflow::kFold}},
                                    rows, width)
                        .text;
  if (hidden != 0) out += "and " + std::to_string(hidden) + " at 0 (--all shows them)\n";
  return out;
}

}  // namespace satrelay::ctl

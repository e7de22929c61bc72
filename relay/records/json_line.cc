#include "relay/records/json_line.h"

#include <ctime>
#include <iterator>

namespace satrelay::records {
namespace {

// Appends the start time of the flow in UTC, in the format of RFC 3339.
void append_time(fmt::memory_buffer& out, std::uint64_t utc_us) {
  const auto seconds = static_cast<std::time_t>(utc_us / 1'000'000);
  std::tm utc{};
  ::gmtime_r(&seconds, &utc);
  fmt::format_to(std::back_inserter(out), R"("began":"{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z")",
                 utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday, utc.tm_hour, utc.tm_min,
                 utc.tm_sec, utc_us % 1'000'000);
}

void append_vlans(fmt::memory_buffer& out, const gateway::FlowRecord& record) {
  if (record.vlans[0] == 0) return;
  fmt::format_to(std::back_inserter(out), R"(,"vlan":{})", record.vlans[0]);
  if (record.vlans[1] != 0) {
    fmt::format_to(std::back_inserter(out), R"(,"inner_vlan":{})", record.vlans[1]);
  }
}

}  // namespace

std::string_view end_of(const gateway::FlowRecord& record) {
  constexpr std::string_view kCommon = "flows_";
  std::string_view name = gateway::name(record.end);
  if (name.starts_with(kCommon)) name.remove_prefix(kCommon.size());
  return name;
}

void append_line(fmt::memory_buffer& out, const gateway::FlowRecord& record,
                 const RecordContext& context) {
  const auto to = std::back_inserter(out);
  out.push_back('{');
  append_time(out, context.utc_us(record.began));
  fmt::format_to(to, R"(,"duration_us":{})", (record.ended - record.began).to_microseconds());
  if (record.first_byte) {
    fmt::format_to(to, R"(,"first_byte_us":{})", record.first_byte->to_microseconds());
  }
  // The protocol is always TCP, since only TCP connections become flows.
  fmt::format_to(
      to, R"(,"protocol":"tcp","client":"{}","client_port":{},"server":"{}","server_port":{})",
      record.client.to_string(), record.client_port, record.server.to_string(), record.server_port);
  append_vlans(out, record);
  const bool from_lan = record.origin == gateway::Origin::kLan;
  fmt::format_to(
      to, R"(,"client_side":"{}","peer":"{}","rule":{},"rule_name":"{}","class":"{}")",
      from_lan ? "lan" : "peer",
      record.peer.index() < context.peers.size() ? context.peers[record.peer.index()] : "",
      record.rule, record.rule_name.view(), record.traffic_class.view());
  fmt::format_to(to,
                 R"(,"from_lan_bytes":{},"to_lan_bytes":{},"encoded_to_peer_bytes":{},)"
                 R"("encoded_from_peer_bytes":{},"lan_retransmitted":{},"lan_repeated":{})",
                 record.bytes_from_lan, record.bytes_to_lan, record.encoded_to_peer,
                 record.encoded_from_peer, record.lan.retransmitted, record.lan.repeated);
  if (record.far) {
    fmt::format_to(to, R"(,"far_retransmitted":{},"far_repeated":{})", record.far->retransmitted,
                   record.far->repeated);
  }
  // The identifier is a string, as on the stats socket.
  fmt::format_to(to,
                 R"(,"established":{},"end":"{}","id":"{}"}})"
                 "\n",
                 record.established, end_of(record), record.id);
}

}  // namespace satrelay::records

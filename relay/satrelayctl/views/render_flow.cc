// Formats one flow: its two directions, and a sentence that says for what each direction waits.
#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

#include "relay/client/reply.h"
#include "relay/satrelayctl/views/render.h"
#include "relay/text/numbers.h"
#include "relay/text/table.h"

namespace satrelay::ctl {
namespace {

struct Reason {
  std::string_view word;
  std::string_view sentence;
};

// The sentences for the words of relay/gateway/flows/wait.h.
constexpr Reason kTowardsPeer[] = {
    {"handshake", "the handshake with the host is not complete"},
    {"peer", "the peer is silent, or the session is set up again after a restart"},
    {"source", "the host sends no data at present"},
    {"our_window",
     "the window to the host is closed: memory is low, or the far side accepts no more"},
    {"credit", "the far host reads more slowly than this host sends: no credit is left"},
    {"store", "the store is full: the most that may be stored waits to be acknowledged"},
    {"link", "the flow waits for its turn on the link"},
    {"acknowledgment", "all bytes are sent, the peer has not acknowledged them yet"},
    {"lost_bytes", "the LAN has lost a segment, the host has not retransmitted it yet"},
    {"nothing", "this direction is over: all bytes have arrived, or the flow has ended"},
};
constexpr Reason kTowardsHost[] = {
    {"handshake", "the handshake with the host is not complete"},
    {"peer", "the peer is silent, or the session is set up again after a restart"},
    {"source", "the peer sends no data at present"},
    {"lost_bytes", "the link has lost earlier bytes, the peer retransmits them"},
    {"rest_of_block", "a compressed block is not complete yet"},
    {"host_window", "the host does not read, or reads more slowly than bytes arrive"},
    {"host_path", "congestion control on the LAN: the host has not acknowledged enough yet"},
    {"memory", "the gateway's memory is low"},
    {"acknowledgment", "all bytes are sent, the host has not acknowledged them yet"},
    {"nothing", "this direction is over: the host has all bytes, or the flow has ended"},
};

std::string reason(std::span<const Reason> reasons, const std::string& word) {
  const auto found = std::ranges::find(reasons, word, &Reason::word);
  // The word may come from another version of the gateway.
  return found == reasons.end() ? word : std::string(found->sentence);
}

std::string compression(const Json& flow) {
  std::string mode = text(flow, "compress");
  const std::string dictionary = text(flow, "dictionary");
  if (!dictionary.empty() && dictionary != "-") mode += ", dictionary " + dictionary;
  const auto plain_bytes = number(flow, "from_lan_bytes");
  const auto encoded = number(flow, "encoded_bytes");
  if (!plain_bytes || !encoded || *plain_bytes == 0) return mode;
  return mode + ", " + text::binary_bytes(*plain_bytes) + " became " + text::binary_bytes(*encoded);
}

std::string modes(const Json& flow) {
  const Json& all = member(flow, "modes");
  std::string out;
  for (const char* name : {"handshake", "ack", "close", "window", "delivery"}) {
    if (!out.empty()) out += ", ";
    out += std::string(name) + ": " + text(all, name);
  }
  return out;
}

std::string rule(const Json& flow) {
  const std::string which = shown(flow, "rule", text::plain);
  const std::string name = text(flow, "rule_name");
  if (which == "0") return "none";
  return name.empty() || name == "-" ? which : which + " (" + name + ")";
}

}  // namespace

std::string render_flow(const nlohmann::ordered_json& flow, std::size_t width) {
  const std::vector<text::Row> rows{
      {"flow " + text(flow, "id"),
       endpoint(flow, "client", "client_port") + " > " + endpoint(flow, "server", "server_port") +
           ", client on the " + (text(flow, "client_side") == "lan" ? "LAN" : "peer's LAN")},
      {"age",
       shown(flow, "age_ms", milliseconds) + ", idle for " + shown(flow, "idle_ms", milliseconds)},
      {"rule", rule(flow) + "; compress " + text(flow, "compress") + ", class " +
                   (text(flow, "class").empty() ? "none" : text(flow, "class"))},
      {"modes", modes(flow)},
      {"host", text(flow, "tcp_state") + ", RTT " + shown(flow, "lan_rtt_us", text::duration) +
                   ", segments of " + shown(flow, "lan_segment_bytes", text::plain) + " bytes"},
      {"path", "peer " + text(flow, "peer") + ", RTT " +
                   shown(flow, "path_rtt_us", text::duration) + ", loss " +
                   shown(flow, "path_loss_ppm", text::share) + ", " +
                   shown(flow, "path_rate_bps", bits_per_second)},
      {"", ""},
      {"host to peer", shown(flow, "from_lan_bytes", text::binary_bytes) + " carried"},
      {"  from the host", "window " + shown(flow, "lan_window_bytes", text::binary_bytes) +
                              ", waiting " + shown(flow, "lan_stored_bytes", text::binary_bytes)},
      {"  compression", compression(flow)},
      {"  to the peer", "unsent " + shown(flow, "stp_unsent_bytes", text::binary_bytes) +
                            ", not acknowledged " +
                            shown(flow, "stp_unacknowledged_bytes", text::binary_bytes) +
                            ", credit " + shown(flow, "stp_credit_bytes", text::binary_bytes)},
      {"  waits", reason(kTowardsPeer, text(flow, "waits_towards_peer"))},
      {"peer to host", shown(flow, "to_lan_bytes", text::binary_bytes) + " carried"},
      {"  from the peer", "arrived " + shown(flow, "stp_stored_bytes", text::binary_bytes) +
                              ", of which in order " +
                              shown(flow, "stp_in_order_bytes", text::binary_bytes)},
      {"  to the host",
       "not acknowledged " + shown(flow, "lan_unacknowledged_bytes", text::binary_bytes) +
           ", its window " + shown(flow, "host_window_bytes", text::binary_bytes) +
           ", congestion window " + shown(flow, "lan_congestion_window_bytes", text::binary_bytes)},
      {"  waits", reason(kTowardsHost, text(flow, "waits_towards_host"))},
  };
  return text::format_pairs(rows, width);
}

}  // namespace satrelay::ctl

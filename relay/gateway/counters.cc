#include "relay/gateway/counters.h"

namespace satrelay::gateway {
namespace {

// In the order of enum Counter.
constexpr std::array<std::string_view, kCounterCount> kNames = {
    "lan_frames_in",
    "lan_frames_out",
    "wan_frames_in",
    "wan_frames_out",
    "held_frames",
    "bridged_not_ip",
    "bridged_not_tcp",
    "bridged_fragment",
    "bridged_ip_options",
    "bridged_ip_extension",
    "bridged_malformed",
    "bridged_by_rule",
    "bridged_no_peer_prefix",
    "bridged_peer_down",
    "bridged_bypass",
    "bridged_draining",
    "bridged_peer_bypass",
    "bridged_table_full",
    "bridged_half_open_full",
    "bridged_memory_low",
    "bridged_tcp_options",
    "bridged_mid_stream",
    "bridged_from_wan",
    "bridged_multicast",
    "bridged_own_segment",
    "bridged_asymmetric",
    "dropped_relayed_from_wan",
    "dropped_bad_checksum",
    "dropped_unfinished_checksum",
    "dropped_icmp_for_relayed",
    "dropped_fragment_of_relayed",
    "dropped_stp_unknown_peer",
    "dropped_to_gateway",
    "dropped_forged_gateway",
    "dropped_bridged_queue",
    "dropped_orphaned",
    "dropped_memory_low",
    "dropped_too_long",
    "flows_accepted",
    "flows_established",
    "flows_from_peer",
    "flows_finished",
    "flows_handshake_timeout",
    "flows_refused",
    "flows_unreachable",
    "flows_reset_by_host",
    "flows_reset_by_peer",
    "flows_reset_peer_restart",
    "flows_reset_peer_closed",
    "flows_reset_peer_lost",
    "flows_reset_timeout",
    "flows_reset_idle",
    "flows_reset_no_resources",
    "flows_reset_protocol",
    "flows_reset_shutdown",
    "flows_listed",
    "flows_orphaned",
    "orphans_reset",
    "orphans_gone",
    "orphans_silent",
    "arp_answered",
    "neighbour_answered",
    "ping_answered",
};
static_assert(!kNames.back().empty(), "a counter has no name");

}  // namespace

std::string_view name(Counter counter) { return kNames[static_cast<std::size_t>(counter)]; }

}  // namespace satrelay::gateway

// The gateway's reports about itself: plain values, copied at one instant.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "config/model/schema.h"
#include "pep/base/address.h"
#include "pep/base/histogram.h"
#include "pep/base/time.h"
#include "pep/base/units.h"
#include "pep/compress/block_codec.h"
#include "pep/stp/session.h"
#include "pep/tcp/endpoint.h"
#include "relay/gateway/admission.h"
#include "relay/gateway/counters.h"
#include "relay/gateway/flows/wait.h"
#include "relay/gateway/rules/rule_use.h"
#include "relay/gateway/uplink/traffic_classes.h"

namespace satrelay::gateway {

struct Status {
  Duration uptime;
  std::uint64_t boot_epoch = 0;
  Admission admission = Admission::kOpen;
  std::uint32_t flows = 0;
  std::uint32_t half_open = 0;
  // Connections in TIME-WAIT that no longer have a flow, since only late segments must still be
  // answered. `flows` does not count them.
  std::uint32_t time_wait = 0;
  std::uint64_t arena_bytes = 0;
  std::uint64_t arena_used = 0;
  compress::CodecCounters codec;
  tcp::Counters tcp;  // sum over all flows since the start
};

// How many bytes of the arena's blocks are in use, and for which purpose.
struct ArenaUse {
  std::uint64_t from_hosts = 0;  // bytes received from hosts, not yet written into a stream
  std::uint64_t to_peers = 0;    // bytes in streams, not yet acknowledged by the peer
  std::uint64_t from_peers = 0;  // bytes received from peers, not yet passed to a host
  std::uint64_t to_hosts = 0;    // bytes in send buffers, not yet acknowledged by a host
  // Memory that is reserved for each flow. A reserve is a part of a block, and blocks() does not
  // include it.
  std::uint64_t reserves = 0;
  std::uint64_t blocks() const { return from_hosts + to_peers + from_peers + to_hosts; }
};

struct PeerSnapshot {
  std::string name;
  std::uint8_t lane = 0;  // each lane has a snapshot of its own
  IpAddress address;
  bool resolved = false;  // the MAC of the next hop is known
  stp::PeerState state{};
  bool is_given_up = false;  // the peer was silent for so long that its flows were reset
  bool wrong_key = false;    // the peer seems to have another secret (Session::doubts_key())
  Admission admission = Admission::kOpen;  // whether the peer accepts new flows
  std::string link;
  bool encrypts = false;
  BitRate send_rate;
  BitRate link_rate;  // configured or measured rate of the peer's link; zero if it is not known
  bool finds_capacity = false;
  // The operator's limit for the link or the peer, if it is below the configured rate; otherwise
  // zero.
  BitRate commanded;
  std::string controller;
  // The rate of the link to the peer, as the peer announces it; zero if it announces none.
  BitRate announced;
  std::optional<stp::RateCut> last_cut;  // the last reduction of send_rate
  // These values are empty until they are measured. path_mtu is the size of the largest IP packet
  // that the path is known to carry.
  std::optional<std::uint16_t> path_mtu;
  std::optional<Duration> rtt;
  std::optional<double> loss_ratio;
  std::uint32_t streams = 0;
  std::uint64_t packets_in_flight = 0;
  std::uint64_t bytes_stored = 0;
  std::uint64_t flows = 0;          // flows in the table
  std::uint64_t flows_refused = 0;  // new flows refused for lack of room, since the start
  // Used bytes of the part of the arena that the peer has. Only the first lane to the peer reports
  // them.
  std::uint64_t arena_used = 0;
  std::size_t dictionaries = 0;  // number of class dictionaries that the peer also has
  // True if the peer has reported from which hosts it accepts connections, or will never report it.
  bool are_sources_known = false;
  stp::Counters counters;
};

struct LinkSnapshot {
  std::string name;
  std::uint32_t peers = 0;  // peers that are reached over this link
  bool finds_capacity = false;
  struct Way {
    // The configured rate. With `capacity: find`, it limits the rate that a controller may choose.
    BitRate configured;
    BitRate commanded;  // the operator's limit if it is below `configured`; otherwise zero
    // The rate in force. For `send` it is the lowest of the configured rate, the commanded rate,
    // the rate that a peer has announced, and the rate that a controller has measured. For
    // `receive` it is the lower of the configured and commanded rates.
    BitRate capacity;
  };
  Way send, receive;
  std::uint64_t sent_bytes = 0;  // includes bridged frames and the overhead of the link
};

struct RuleSnapshot {
  std::uint32_t number = 0;  // position in the configuration, from 1; 0 means "no rule"
  std::string name;
  config::Action action{};
  config::Compress compress{};
  config::FlowModes modes;
  config::TtlMode ttl{};
  config::MptcpMode mptcp{};
  bool is_changed = false;  // the operator has changed the rule since the configuration was read
  RuleUse use;
};

struct ClassSnapshot {
  config::TrafficClass in_force;
  bool is_changed = false;  // the operator has changed the class since the configuration was read
  // Fingerprint of the dictionary; nullopt if the class has none.
  std::optional<std::uint64_t> dictionary = {};
  std::uint64_t held_frames = 0;  // bridged frames that wait now
  std::uint64_t held_bytes = 0;
  std::uint64_t waiting_bytes = 0;  // bytes of hosts that wait to be relayed
  std::uint32_t hosts = 0;          // hosts with something to send now
  ClassUse use;
};

// A connection that was bridged instead of relayed.
struct BridgedSnapshot {
  IpAddress client;
  std::uint16_t client_port = 0;
  IpAddress server;
  std::uint16_t server_port = 0;
  Counter reason{};
  std::uint32_t rule = 0;  // number of the rule that matched it; 0 if no rule did
  std::string rule_name;
  Duration age;            // time since its latest SYN
  std::uint32_t syns = 0;  // number of SYNs of this connection in a row
};

struct HistogramSnapshot {
  const HistogramField* field;
  std::string of;  // value of the field's label; empty if the field has no label
  Histogram values;
};

struct FlowSnapshot {
  std::uint64_t id = 0;
  IpAddress client;
  std::uint16_t client_port = 0;
  IpAddress server;
  std::uint16_t server_port = 0;
  std::string peer;
  bool from_lan = true;  // the client is on this gateway's LAN
  tcp::State tcp_state{};
  Duration age;
  Duration idle;
  std::uint64_t bytes_from_lan = 0;  // bytes before compression
  std::uint64_t bytes_to_lan = 0;
  std::uint64_t lan_stored = 0;  // received from the host, not yet written into the stream
  std::uint64_t stp_unacknowledged = 0;
  std::uint64_t stp_stored = 0;  // received from the peer, not yet passed to the host's TCP
  std::uint64_t lan_unacknowledged = 0;
  std::uint64_t lan_window = 0;     // window that is advertised to the host
  std::uint64_t host_window = 0;    // window that the host advertises
  std::optional<Duration> lan_rtt;  // nullopt until it is measured
  std::uint64_t lan_congestion_window = 0;
  std::uint16_t lan_segment_size = 0;  // size of the segments to the host
  std::uint64_t bytes_encoded = 0;     // size of the bytes from the LAN as encoded in the stream
  std::uint64_t stp_unsent = 0;        // in the stream, and not sent yet
  std::uint64_t stp_credit = 0;        // bytes that the peer's flow control still allows
  std::uint64_t stp_in_order = 0;      // the part of stp_stored that can be passed to the host
  std::optional<Duration> path_rtt;    // measured on the peer's path, like the next two values
  std::optional<double> path_loss_ratio;
  BitRate path_rate;
  std::uint32_t rule = 0;  // number of this gateway's rule that matched it; 0 if no rule did
  std::string rule_name;
  config::Compress compress{};
  config::FlowModes modes;
  std::string traffic_class;  // empty if the flow has no class
  // Fingerprint of the dictionary that now compresses the flow's bytes from the LAN.
  std::optional<std::uint64_t> dictionary;
  Wait wait_towards_peer{};
  Wait wait_towards_host{};
};

}  // namespace satrelay::gateway

// The configuration as plain values. config/readers/loader.h reads them from YAML, and the engines
// use them. Every member has its default here, except ports, peer addresses and link rates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pep/base/address.h"
#include "pep/base/image/image.h"
#include "pep/base/secret.h"
#include "pep/base/time.h"
#include "pep/base/units.h"

namespace satrelay::config {

enum class Driver : std::uint8_t { kPci, kAfPacket, kAfXdp, kMemif };

struct Port {
  Driver driver = Driver::kAfPacket;
  std::string interface;      // af_packet, af_xdp: the kernel interface
  std::string pci;            // pci: "0000:01:00.0"
  std::string socket;         // memif: path of the UNIX socket
  bool memif_server = false;  // memif: this end has `role: server`
  std::uint16_t mtu = 1500;   // IP bytes of a frame, up to 9000
  // af_packet, pci: the port cuts large frames into segments and writes checksums.
  bool large_frames = true;
};

enum class Polling : std::uint8_t { kAdaptive, kBusy };

// Maximum number of workers of a gateway. A worker is a thread that forwards its part of the
// connections. The number of workers is a power of two.
inline constexpr unsigned kMostWorkers = 16;

struct Worker {
  unsigned count = 1;
  Polling polling = Polling::kAdaptive;
  std::vector<unsigned> cpus;  // the core of each worker; if empty, the kernel chooses
  // The core that the worker is pinned to; nullopt if the kernel chooses.
  std::optional<unsigned> cpu_of(unsigned worker) const {
    return cpus.empty() ? std::nullopt : std::optional(cpus[worker]);
  }
};

// A modem counts a packet as its IP bytes plus this many bytes.
inline constexpr std::uint32_t kOverheadIp = 0;
inline constexpr std::uint32_t kOverheadEthernet = 38;

// How the rate of a link is chosen. kFind means `capacity: find`. Each of the other enumerators
// means a value of `controller`.
enum class Controller : std::uint8_t { kFixedRate, kHpfp, kTps, kStp, kFind };
constexpr const char* to_string(Controller controller) {
  constexpr const char* kNames[] = {"fixed_rate", "hpfp", "tps", "stp", "find"};
  return kNames[static_cast<std::size_t>(controller)];
}

// The controller that chooses the rate towards a link, and its parameters (docs/configuration.md).
struct RateControl {
  Controller controller = Controller::kFixedRate;
  // Parameters of hpfp. A target of zero means the link's send rate.
  BitRate target;
  Duration period = Duration::milliseconds(250);
  // Parameter of tps, in packets. 0 means that it is computed from the rate and the round trip.
  std::uint32_t window = 0;
  // Parameters of stp, in packets. A threshold of 0 means that there is no threshold.
  std::uint32_t initial_window = 6;
  std::uint32_t threshold = 0;
  std::uint32_t growth = 10;           // for each ACK in slow start
  std::uint32_t avoidance_growth = 1;  // for each round trip after slow start
  // Parameter of stp. 0 means that it is computed from the rate and the round trip.
  ByteCount buffer = ByteCount(0);
};

// kMostLinkRate is the highest rate of a link. If a link has `capacity: find` and the file gives no
// rate, memory is planned for kAssumedRate.
inline constexpr BitRate kMostLinkRate = BitRate::bits_per_second(100'000'000'000);
inline constexpr BitRate kAssumedRate = BitRate::bits_per_second(500'000'000);

struct Link {
  std::string name;
  // If the controller is kFind, this is a ceiling, and kMostLinkRate means that there is no
  // ceiling.
  BitRate send_rate;
  BitRate receive_rate;  // if the controller is kFind, used only to plan memory
  std::uint32_t overhead = kOverheadEthernet;
  RateControl control = {};
  // The share of the link that is guaranteed to bridged frames without a class. They get more only
  // while other classes leave a part of the rate unused. If no link has a value, bridged frames and
  // relayed connections without a class form one class, and its hosts get equal shares.
  std::optional<double> bridged_share = {};
  Duration bridged_queue = Duration::milliseconds(100);  // longest standing queue (CoDel)

  bool finds_capacity() const { return control.controller == Controller::kFind; }
  // The send rate that memory is planned for.
  BitRate planned_rate() const {
    return finds_capacity() && send_rate == kMostLinkRate ? kAssumedRate : send_rate;
  }
};

struct GatewayAddress {
  IpPrefix address;  // the subnet of `own`
  IpAddress own;     // the gateway's own address
  std::optional<std::uint16_t> vlan;
  std::optional<IpAddress> next_hop;  // router to the peers outside the subnet
};

// The keys in a file that `satrelayctl keygen` makes (config/readers/psk_file.h). kPskSize is the
// size of a key in bytes.
inline constexpr std::size_t kPskSize = 32;
struct PresharedKeys {
  Secret<kPskSize> current;               // the key with which the gateway starts handshakes
  std::optional<Secret<kPskSize>> other;  // also accepted, while two gateways change keys
};

// The protection of packets between two gateways.
struct Security {
  std::string psk_file;
  std::optional<PresharedKeys> keys;  // nullopt if `none`: packets can be read and forged

  // Wipes the keys. `keys` stays set, and so still shows that packets are protected. Code that
  // keeps a configuration calls this function, so that the configuration holds no copies of the
  // keys.
  void forget_keys() {
    if (!keys) return;
    keys->current = Secret<kPskSize>();
    keys->other.reset();
  }
};

struct Peer {
  std::string name;
  IpAddress address;
  std::vector<IpPrefix> prefixes;  // prefixes of the hosts behind the far gateway
  // Names of the links that carry the traffic of this peer. There is exactly one.
  std::vector<std::string> links;
  Security security = {};
  unsigned workers = 0;  // workers of the far gateway; 0 means as many as this gateway has
};

// The action of a rule. kAccelerate relays TCP connections, and bridges all other packets. kDrop
// drops every packet that does not belong to a relayed connection. kReset does the same, but
// answers TCP packets with RST.
enum class Action : std::uint8_t { kAccelerate, kBridge, kDrop, kReset };
enum class Compress : std::uint8_t { kOff, kAuto, kOn };

// The modes of a rule: which parts of a connection depend on the far host (docs/configuration.md).
// The default of each mode costs no round trip.
enum class HandshakeMode : std::uint8_t {  // when a SYN is answered
  kLocal,
  kRemote,
  // kLocal if the server has answered lately, else kRemote. A flow has one of these two modes.
  kAuto,
};
enum class AckMode : std::uint8_t { kLocal, kEndToEnd };     // when data is acknowledged
enum class CloseMode : std::uint8_t { kLocal, kConfirmed };  // when a FIN is acknowledged
enum class WindowMode : std::uint8_t { kRewrite, kMirror };  // which window is advertised
// With kPrompt, the sender adds repair data (FEC) throughout a flow, so that a lost packet delays
// later bytes only a little.
enum class DeliveryMode : std::uint8_t { kOrdinary, kPrompt };
// The TTL and DSCP of packets that the gateway sends in a host's name before it has seen the host's
// first packet of the connection.
enum class TtlMode : std::uint8_t {
  kLast,  // the latest known values of the host; if there are none, TTL 64 and the client's DSCP
  // The known values of the server's port. If there are none, the gateway waits for the server's
  // answer.
  kPreserve,
};
// How the gateway treats a connection with a client that offers Multipath TCP (RFC 8684).
enum class MptcpMode : std::uint8_t {
  kFallback,  // relays it as plain TCP, over its first path only
  kBridge,    // bridges it with all paths that its two hosts agree on
};
struct FlowModes {
  HandshakeMode handshake = HandshakeMode::kLocal;
  AckMode ack = AckMode::kLocal;
  CloseMode close = CloseMode::kLocal;
  WindowMode window = WindowMode::kRewrite;
  DeliveryMode delivery = DeliveryMode::kOrdinary;
  void image(Image& image) {
    image.at_most(HandshakeMode::kAuto, handshake);
    image.at_most(AckMode::kEndToEnd, ack);
    image.at_most(CloseMode::kConfirmed, close);
    image.at_most(WindowMode::kMirror, window);
    image.at_most(DeliveryMode::kPrompt, delivery);
  }
  friend bool operator==(const FlowModes&, const FlowModes&) = default;
  // Whether the gateways must report the progress of their hosts to each other.
  bool any() const {
    return handshake != HandshakeMode::kLocal || ack != AckMode::kLocal ||
           close != CloseMode::kLocal || window != WindowMode::kRewrite;
  }
};

struct PortRange {
  std::uint16_t first = 0;
  std::uint16_t last = 65535;
  friend bool operator==(const PortRange&, const PortRange&) = default;
};

// The direction of a packet or connection: outbound from a host of this gateway's LAN, or inbound
// from a host behind a peer.
enum class Direction : std::uint8_t { kOutbound, kInbound };

// Protocol numbers of IP, as in pep/wire. This folder may not include pep/wire.
inline constexpr std::uint8_t kProtocolIcmp = 1;
inline constexpr std::uint8_t kProtocolTcp = 6;
inline constexpr std::uint8_t kProtocolUdp = 17;
inline constexpr std::uint8_t kProtocolIcmpV6 = 58;
inline constexpr std::uint16_t kUntagged = 0;  // the VLAN id that stands for no tag
inline constexpr std::uint16_t kMostVlanId = 4094;
inline constexpr std::uint8_t kMostDscp = 63;

// The first rule that matches decides. An absent criterion matches everything. A connection is
// matched by its SYN, all other traffic packet by packet.
struct Match {
  std::vector<IpPrefix> source;
  std::vector<IpPrefix> destination;
  std::vector<PortRange> port;  // destination port of TCP or UDP; in a SYN, the server's port
  std::vector<std::uint8_t> protocol;  // protocol numbers of IP
  std::vector<std::uint16_t> vlan;     // the outermost tag, or kUntagged
  std::vector<std::uint8_t> dscp;
  std::optional<Direction> direction;
  std::vector<std::string> peer;  // names of peers, if the far host must be behind one of them
  friend bool operator==(const Match&, const Match&) = default;
};

// A traffic class shares each link with the other classes. Relayed connections and bridged packets
// of a class count together. Two more classes exist for traffic that no rule gives a class: one for
// relayed connections, with weight 1, and one for bridged packets. If no link has a bridged_share,
// these two classes count as one. Otherwise bridged packets get the bridged_share of each link, or
// weight 1 on a link without a bridged_share.
struct TrafficClass {
  std::string name;
  std::uint8_t weight = 1;  // relative share of the rate that is not guaranteed
  BitRate guaranteed = {};  // zero means no guarantee
  BitRate maximum = {};     // zero means no limit
  // A dictionary in zstd's format, for compression towards peers that have the same dictionary.
  // Empty if there is none.
  std::vector<std::byte> dictionary = {};
  friend bool operator==(const TrafficClass&, const TrafficClass&) = default;
};
inline constexpr std::size_t kMostClasses = 15;

// This value of compress_level means that the gateway chooses a level that suits the link and the
// processor.
inline constexpr int kAutoLevel = 0;

// Which hosts get equal shares of a class: hosts of this gateway's LAN, or hosts behind peers.
enum class FairHosts : std::uint8_t { kLocal, kRemote };

struct Rule {
  std::string name;  // if empty, the position in the list names the rule
  Match match;
  Action action = Action::kAccelerate;
  Compress compress = Compress::kAuto;
  FlowModes modes = {};
  TtlMode ttl = TtlMode::kLast;
  MptcpMode mptcp = MptcpMode::kFallback;
  std::string traffic_class;  // empty if there is none
  friend bool operator==(const Rule&, const Rule&) = default;
};

enum class FeedbackMode : std::uint8_t { kAdaptive, kHpfp, kMNack };

enum class Fec : std::uint8_t { kAuto, kOff };

struct Feedback {
  FeedbackMode mode = FeedbackMode::kAdaptive;
  // The highest total rate of the reports to all peers on a link. If zero, two limits apply. All
  // reports together may take kReportPercent of the link's sending rate. The sending rate counts as
  // at most 1 Mbit/s until `capacity: find` has found it. The reports to one peer may take max(50
  // kbit/s, 0.05% of the link's receiving rate).
  BitRate budget;
};
inline constexpr BitRate kLeastReportBudget = BitRate::bits_per_second(1'000);
// Percentage of a link's sending rate that reports may take. Hosts hardly notice reports up to this
// rate.
inline constexpr std::uint64_t kReportPercent = 5;

// Which size of packets a session starts with. kDiscover: it starts with 1200 bytes, and searches
// for larger sizes up to the MTU. kKnown: it starts with the MTU.
enum class PathMtu : std::uint8_t { kDiscover, kKnown };

inline constexpr double kLeastPromptOverhead = 0.01;

struct Stp {
  std::uint16_t port = 7878;  // UDP port of both gateways; lane n is sent to port + n
  std::uint16_t mtu = 1500;   // largest IP packet of STP; at most the MTU of the WAN port
  PathMtu path_mtu = PathMtu::kDiscover;
  Duration ping_after = Duration::seconds(1);
  Duration suspect_after = Duration::seconds(3);
  // A peer that has been suspect for this long counts as lost. A flow with bytes for a silent peer
  // is reset after this time. The default is the time for which Linux retransmits (tcp_retries2).
  Duration give_up_after = Duration::seconds(900);
  Feedback feedback;
  Fec fec = Fec::kAuto;  // forward error correction, if the peer allows it too
  // Repair bytes per byte of a flow with `delivery: prompt`. 0 means that the gateway chooses the
  // ratio from the measured loss.
  double prompt_overhead = 0;
};

// Hosts that keep a silent connection alive probe every two hours (RFC 1122 section 4.2.3.6). A
// device between them waits at least four minutes longer (RFC 5382, REQ-5).
inline constexpr Duration kLeastIdle = Duration::seconds(2 * 3600 + 4 * 60);

// Memory that a gateway needs for each relayed flow. One half is for the reserves of that flow. The
// other half is shared with other flows.
inline constexpr ByteCount kMemoryOfAFlow = ByteCount(4096);

struct Limits {
  std::uint32_t flows = 65536;
  std::uint32_t half_open = 4096;     // connections with an incomplete handshake
  std::uint32_t time_wait = 262'144;  // closed connections, kept to answer late segments
  // Memory for stored bytes. 0 means that it is computed from the rates of the links and from
  // `flows`.
  ByteCount memory = ByteCount(0);
  // Maximum number of bytes that a flow stores in each direction. 0 means that the number is
  // computed from `memory`.
  ByteCount flow_memory = ByteCount(0);
  // The largest window that is advertised to a host. 0 means that it is computed from the links.
  ByteCount host_window = ByteCount(0);
  Duration idle_timeout = kLeastIdle;
  Duration half_close_timeout = Duration::seconds(600);
};

// Which congestion control the gateway's TCP uses towards its hosts.
enum class Congestion : std::uint8_t { kCubic, kNewReno };

struct Tcp {
  Congestion congestion = Congestion::kCubic;
  // Use ECN (RFC 3168) with hosts that request it. A server is asked for ECN if the client has
  // requested it.
  bool ecn = true;
};

inline constexpr const char* kNoSocket = "none";
inline constexpr const char* kNoJournal = "none";

// The access to a socket of the gateway for users other than root and the gateway's user.
struct Access {
  std::string group;          // empty if there is none
  std::uint16_t mode = 0600;  // permissions: 0600, 0660, or 0666 for the stats socket
};

// ---- records of flows ------------------------------------------------------------------------

enum class IpfixTransport : std::uint8_t { kUdp, kTcp };
inline constexpr std::uint16_t kIpfixPort = 4739;  // RFC 7011 section 10.2.3

// The program that collects the records as IPFIX.
struct IpfixCollector {
  IpAddress address;
  std::uint16_t port = kIpfixPort;
  IpfixTransport transport = IpfixTransport::kUdp;
  std::uint32_t observation_domain = 1;
  friend bool operator==(const IpfixCollector&, const IpfixCollector&) = default;
};

// The records of flows that have ended. If there is neither a file nor a collector, no records are
// written.
struct Records {
  std::string file;                                // empty if there is none
  ByteCount rotate_size = ByteCount(100'000'000);  // size at which the next file begins
  unsigned keep = 10;                              // number of older files that are kept
  std::optional<IpfixCollector> ipfix;
  bool wanted() const { return !file.empty() || ipfix.has_value(); }
  friend bool operator==(const Records&, const Records&) = default;
};

inline constexpr const char* kGatewayUser = "satrelay";
inline constexpr const char* kNobody = "nobody";

enum class LogLevel : std::uint8_t { kError, kWarning, kInfo, kDebug };

// Messages about a file, each with its place.
struct Remarks {
  std::vector<std::string> warnings;  // about values that are allowed but doubtful
  std::vector<std::string> notes;     // about consequences that the file does not state
};

struct Gateway {
  Port lan;
  Port wan;
  // While the WAN port has no link, the LAN port is switched off. Hosts and routers then notice.
  bool lan_follows_wan = false;
  GatewayAddress gateway;
  std::vector<Link> links;
  std::vector<Peer> peers;
  std::vector<TrafficClass> classes;
  FairHosts fair_hosts = FairHosts::kLocal;
  std::vector<Rule> rules;  // if empty, everything towards a peer's prefixes is accelerated
  Stp stp;
  Limits limits;
  Tcp tcp;
  Worker worker;
  int compress_level = kAutoLevel;
  // DPDK file prefix: the socket is <runtime dir>/dpdk/<prefix>/dpdk_telemetry.v2
  std::string stats_socket_prefix = "satrelay";
  // Path of the control socket. If empty, it is control.sock beside the stats socket. kNoSocket
  // means that there is no control socket.
  std::string control_socket;
  Access stats_access;
  Access control_access;
  // The user that the gateway becomes once the ports are open, if root has started it. If empty, it
  // is kGatewayUser, or kNobody if there is no such user.
  std::string user;
  // The path to which the journal of the flows is copied. The journal itself is a file beside the
  // stats socket. If empty, there is no copy. kNoJournal means that there is no journal.
  std::string journal;
  Records records;
  LogLevel log_level = LogLevel::kInfo;
  Remarks remarks;
};

}  // namespace satrelay::config

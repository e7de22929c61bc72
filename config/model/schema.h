// The configuration as plain values: what config/readers/loader.h reads from YAML and the engines
// take. Every member but ports, peer addresses and link rates has its default here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pep/base/address.h"
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
  bool memif_server = false;  // memif: one end is `role: server`
  std::uint16_t mtu = 1500;   // IP bytes a frame, up to 9000
  bool large_frames = true;   // af_packet, pci: the port cuts segments, and sums them up
};

enum class Polling : std::uint8_t { kAdaptive, kBusy };

// Threads that forward, each with its part of the connections: a power of two.
inline constexpr unsigned kMostWorkers = 16;

struct Worker {
  unsigned count = 1;
  Polling polling = Polling::kAdaptive;
  std::vector<unsigned> cpus;  // one for each, pinned there; none: wherever the kernel runs them
  // The core of one worker.
  std::optional<unsigned> cpu_of(unsigned worker) const {
    return cpus.empty() ? std::nullopt : std::optional(cpus[worker]);
  }
};

// How a modem counts bytes: those of the IP packet plus this many a packet.
inline constexpr std::uint32_t kOverheadIp = 0;
inline constexpr std::uint32_t kOverheadEthernet = 38;

// kFind is `capacity: find`; the others are words of `controller`.
enum class Controller : std::uint8_t { kFixedRate, kHpfp, kTps, kStp, kFind };
constexpr const char* to_string(Controller controller) {
  constexpr const char* kNames[] = {"fixed_rate", "hpfp", "tps", "stp", "find"};
  return kNames[static_cast<std::size_t>(controller)];
}

// What chooses the rate towards a link, and its parameters (docs/configuration.md).
struct RateControl {
  Controller controller = Controller::kFixedRate;
  BitRate target;                                 // hpfp; zero: the link's rate
  Duration period = Duration::milliseconds(250);  // hpfp
  std::uint32_t window = 0;                       // tps, packets; 0: from rate and round trip
  std::uint32_t initial_window = 6;               // stp, packets
  std::uint32_t threshold = 0;                    // stp, packets; 0: none
  std::uint32_t growth = 10;                      // stp, packets an ACK in slow start
  std::uint32_t avoidance_growth = 1;             // stp, packets a round trip behind it
  ByteCount buffer = ByteCount(0);                // stp; 0: from rate and round trip
};

// Of any link; and what memory is planned for where no rate was told.
inline constexpr BitRate kMostLinkRate = BitRate::bits_per_second(100'000'000'000);
inline constexpr BitRate kAssumedRate = BitRate::bits_per_second(500'000'000);

struct Link {
  std::string name;
  BitRate send_rate;     // with Controller::kFind a ceiling; kMostLinkRate: none was told
  BitRate receive_rate;  // with Controller::kFind only planned for
  std::uint32_t overhead = kOverheadEthernet;
  RateControl control = {};
  // Bridged frames without a class are guaranteed this share of the link, and get no more while
  // others want the rest. nullopt: their hosts share with those of relayed streams alike.
  std::optional<double> bridged_share = {};
  Duration bridged_queue = Duration::milliseconds(100);  // that may stand for long

  bool finds_capacity() const { return control.controller == Controller::kFind; }
  // What it sends, for who must plan ahead.
  BitRate planned_rate() const {
    return finds_capacity() && send_rate == kMostLinkRate ? kAssumedRate : send_rate;
  }
};

struct GatewayAddress {
  IpPrefix address;  // own address with the length of its subnet
  IpAddress own;     // the address itself
  std::optional<std::uint16_t> vlan;
  std::optional<IpAddress> next_hop;  // for peers outside the subnet
};

// Of a file that `satrelayctl keygen` makes (config/readers/psk_file.h).
inline constexpr std::size_t kPskSize = 32;
struct PresharedKeys {
  Secret<kPskSize> current;               // what we speak with
  std::optional<Secret<kPskSize>> other;  // understood too, while two gateways change over
};

// How what travels between two gateways is protected.
struct Security {
  std::string psk_file;
  std::optional<PresharedKeys> keys;  // nullopt: `none`, neither secret nor safe from forgery

  // Wipes them; that there are some stays known. Whoever keeps a configuration keeps no keys.
  void forget_keys() {
    if (!keys) return;
    keys->current = Secret<kPskSize>();
    keys->other.reset();
  }
};

struct Peer {
  std::string name;
  IpAddress address;
  std::vector<IpPrefix> prefixes;  // hosts behind that gateway
  std::string link;                // name of a Link
  Security security = {};
  unsigned workers = 0;  // of that gateway; 0: as many as this one has
};

// What a rule does: kAccelerate concerns TCP connections, and bridges all else. kDrop and kReset
// concern every packet that is not a relayed connection's; kReset answers TCP with RST.
enum class Action : std::uint8_t { kAccelerate, kBridge, kDrop, kReset };
enum class Compress : std::uint8_t { kOff, kAuto, kOn };

// How much of what a host sees is the far host's doing, per rule (docs/configuration.md). The
// default of each is the one that costs no round trip.
enum class HandshakeMode : std::uint8_t {  // when a SYN is answered
  kLocal,
  kRemote,
  kAuto,  // as kLocal if the server has answered lately, else as kRemote; a rule's only
};
enum class AckMode : std::uint8_t { kLocal, kEndToEnd };     // when data is acknowledged
enum class CloseMode : std::uint8_t { kLocal, kConfirmed };  // when a FIN is acknowledged
enum class WindowMode : std::uint8_t { kRewrite, kMirror };  // which window is advertised
// Whether the link carries repairs all along, so that a loss delays the bytes behind it little.
enum class DeliveryMode : std::uint8_t { kOrdinary, kPrompt };
// The TTL and DSCP of what is sent in a host's name before its first packet of a connection.
enum class TtlMode : std::uint8_t {
  kLast,      // those of its latest packet that is known; else 64, and the client's DSCP
  kPreserve,  // the same, but where none is known the answer to a SYN is the server's own
};
// A connection whose client offers Multipath TCP (RFC 8684).
enum class MptcpMode : std::uint8_t {
  kFallback,  // is relayed as plain TCP, over its first path only
  kBridge,    // is bridged with all its paths, as its two hosts agree on them
};
struct FlowModes {
  HandshakeMode handshake = HandshakeMode::kLocal;
  AckMode ack = AckMode::kLocal;
  CloseMode close = CloseMode::kLocal;
  WindowMode window = WindowMode::kRewrite;
  DeliveryMode delivery = DeliveryMode::kOrdinary;
  friend bool operator==(const FlowModes&, const FlowModes&) = default;
  // Whether the gateways must tell each other how far their hosts are.
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

// kOutbound: from a host of this gateway's LAN; kInbound: from a host behind a peer.
enum class Direction : std::uint8_t { kOutbound, kInbound };

// Of IP, as in pep/wire, which this folder does not know.
inline constexpr std::uint8_t kProtocolIcmp = 1;
inline constexpr std::uint8_t kProtocolTcp = 6;
inline constexpr std::uint8_t kProtocolUdp = 17;
inline constexpr std::uint8_t kProtocolIcmpV6 = 58;
inline constexpr std::uint16_t kUntagged = 0;  // as a VLAN id
inline constexpr std::uint16_t kMostVlanId = 4094;
inline constexpr std::uint8_t kMostDscp = 63;

// First match wins; an absent criterion matches everything. A connection is matched as its SYN is,
// all else packet by packet.
struct Match {
  std::vector<IpPrefix> source;
  std::vector<IpPrefix> destination;
  std::vector<PortRange> port;         // destination, of TCP or UDP: the server's, of a SYN
  std::vector<std::uint8_t> protocol;  // of IP
  std::vector<std::uint16_t> vlan;     // the outermost tag, or kUntagged
  std::vector<std::uint8_t> dscp;
  std::optional<Direction> direction;
  std::vector<std::string> peer;  // names: the far host is behind one of them
  friend bool operator==(const Match&, const Match&) = default;
};

// What shares each link's capacity with other classes, relayed connections and bridged packets
// alike. What rules give no class is in one of two: relayed connections, of weight 1, and bridged
// packets. These two are one, but on links that have a bridged_share.
struct TrafficClass {
  std::string name;
  std::uint8_t weight = 1;  // of what guaranteed rates leave
  BitRate guaranteed = {};  // zero: nothing
  BitRate maximum = {};     // zero: all there is
  // What its connections are compressed with towards peers that have it too: a dictionary in
  // zstd's format; empty: nothing.
  std::vector<std::byte> dictionary = {};
  friend bool operator==(const TrafficClass&, const TrafficClass&) = default;
};
inline constexpr std::size_t kMostClasses = 15;

// As a level of compression: what the link and the processor justify.
inline constexpr int kAutoLevel = 0;

// Between which hosts a class is shared alike: those of this gateway's LAN or those behind peers.
enum class FairHosts : std::uint8_t { kLocal, kRemote };

struct Rule {
  std::string name;  // "": its place is its name
  Match match;
  Action action = Action::kAccelerate;
  Compress compress = Compress::kAuto;
  FlowModes modes = {};
  TtlMode ttl = TtlMode::kLast;
  MptcpMode mptcp = MptcpMode::kFallback;
  std::string traffic_class;  // "": none
  friend bool operator==(const Rule&, const Rule&) = default;
};

enum class FeedbackMode : std::uint8_t { kAdaptive, kHpfp, kMNack };

enum class Fec : std::uint8_t { kAuto, kOff };

struct Feedback {
  FeedbackMode mode = FeedbackMode::kAdaptive;
  // Of all peers on a link together; zero: kReportPercent of what it sends, and for each peer
  // max(50 kbit/s, 0.05% of what it receives).
  BitRate budget;
};
inline constexpr BitRate kLeastReportBudget = BitRate::bits_per_second(1'000);
// Of what a link sends, in which hosts hardly notice reports.
inline constexpr std::uint64_t kReportPercent = 5;

// kDiscover: starts at 1200 and searches up to the MTU; kKnown: starts at the MTU.
enum class PathMtu : std::uint8_t { kDiscover, kKnown };

inline constexpr double kLeastPromptOverhead = 0.01;

struct Stp {
  std::uint16_t port = 7878;  // UDP, both ends; lane n is sent to port + n
  std::uint16_t mtu = 1500;   // of STP's IP packets; at most the WAN port's
  PathMtu path_mtu = PathMtu::kDiscover;
  Duration ping_after = Duration::seconds(1);
  Duration suspect_after = Duration::seconds(3);
  // A flow waits so long for a suspect peer: as long as Linux sends again (tcp_retries2).
  Duration give_up_after = Duration::seconds(900);
  Feedback feedback;
  Fec fec = Fec::kAuto;        // forward error correction, if the peer takes part
  double prompt_overhead = 0;  // of `delivery: prompt`, to a byte of its flows; 0: from the loss
};

// Hosts that keep a silent connection alive ask every two hours (RFC 1122 section 4.2.3.6); who
// stands between them waits four minutes longer at least (RFC 5382, REQ-5).
inline constexpr Duration kLeastIdle = Duration::seconds(2 * 3600 + 4 * 60);

// What a relayed flow takes of `limits.memory` at least: what it has to itself, and as much of what
// flows share.
inline constexpr ByteCount kMemoryOfAFlow = ByteCount(4096);

struct Limits {
  std::uint32_t flows = 65536;
  std::uint32_t half_open = 4096;     // SYN answered, handshake not complete
  std::uint32_t time_wait = 262'144;  // connections of hosts that are over, but for late segments
  ByteCount memory = ByteCount(0);    // arena for stored bytes; 0: from the links' rates
  ByteCount flow_memory = ByteCount(0);  // most one flow may store, each way; 0: from `memory`
  ByteCount host_window = ByteCount(0);  // largest advertised to a host; 0: from the links
  Duration idle_timeout = kLeastIdle;
  Duration half_close_timeout = Duration::seconds(600);
};

// Which congestion control the gateway's TCP uses towards its hosts.
enum class Congestion : std::uint8_t { kCubic, kNewReno };

struct Tcp {
  Congestion congestion = Congestion::kCubic;
  bool ecn = true;  // RFC 3168, with hosts that ask for it
};

inline constexpr const char* kNoSocket = "none";
inline constexpr const char* kNoJournal = "none";

// Who else than the user of the gateway, and root, may use a socket of it.
struct Access {
  std::string group;          // "": none
  std::uint16_t mode = 0600;  // of the socket: 0600, 0660 or (to read) 0666
};

// ---- records of flows ------------------------------------------------------------------------

enum class IpfixTransport : std::uint8_t { kUdp, kTcp };
inline constexpr std::uint16_t kIpfixPort = 4739;  // RFC 7011 section 10.2.3

// Who collects them as IPFIX.
struct IpfixCollector {
  IpAddress address;
  std::uint16_t port = kIpfixPort;
  IpfixTransport transport = IpfixTransport::kUdp;
  std::uint32_t observation_domain = 1;
  friend bool operator==(const IpfixCollector&, const IpfixCollector&) = default;
};

// Of each flow that has ended; off without a file and a collector.
struct Records {
  std::string file;                                // "": none
  ByteCount rotate_size = ByteCount(100'000'000);  // of the file, before the next one is begun
  unsigned keep = 10;                              // older files beside it
  std::optional<IpfixCollector> ipfix;
  bool wanted() const { return !file.empty() || ipfix.has_value(); }
  friend bool operator==(const Records&, const Records&) = default;
};

inline constexpr const char* kGatewayUser = "satrelay";
inline constexpr const char* kNobody = "nobody";

enum class LogLevel : std::uint8_t { kError, kWarning, kInfo, kDebug };

struct Gateway {
  Port lan;
  Port wan;
  GatewayAddress gateway;
  std::vector<Link> links;
  std::vector<Peer> peers;
  std::vector<TrafficClass> classes;
  FairHosts fair_hosts = FairHosts::kLocal;
  std::vector<Rule> rules;  // none: everything towards a peer's prefixes is accelerated
  Stp stp;
  Limits limits;
  Tcp tcp;
  Worker worker;
  int compress_level = kAutoLevel;
  // DPDK file prefix: the socket is <runtime dir>/dpdk/<prefix>/dpdk_telemetry.v2
  std::string stats_socket_prefix = "satrelay";
  // Path of the control socket; "": control.sock beside the stats socket; kNoSocket: none.
  std::string control_socket;
  Access stats_access;
  Access control_access;
  // What root becomes once the ports are open; "": kGatewayUser, or else kNobody.
  std::string user;
  // The flows are written down in a file beside the stats socket, and copied to this path; "": no
  // copy; kNoJournal: not written down.
  std::string journal;
  Records records;
  LogLevel log_level = LogLevel::kInfo;
  // What is allowed and seldom meant, each with its place in the file.
  std::vector<std::string> warnings;
  // What follows from it and does not stand in it, the same.
  std::vector<std::string> notes;
};

}  // namespace satrelay::config

// Decides what happens to a TCP segment from the LAN that belongs to no flow: it begins a flow, is
// answered by a SYN cookie, is bridged, or is dropped. Stores the state for these decisions:
// connections that are not relayed or no longer relayed (connection_records.h), cookies,
// connections for which there was no room, and resets for hosts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "config/model/schema.h"
#include "pep/base/bytes.h"
#include "pep/base/time.h"
#include "pep/tcp/types.h"
#include "pep/wire/tcp.h"
#include "relay/gateway/addresses/between_gateways.h"
#include "relay/gateway/addresses/symmetric_paths.h"
#include "relay/gateway/admission.h"
#include "relay/gateway/counters.h"
#include "relay/gateway/frames/flow_key.h"
#include "relay/gateway/frames/frame.h"
#include "relay/gateway/ids.h"
#include "relay/gateway/opening/connection_records.h"
#include "relay/gateway/opening/desync_detector.h"
#include "relay/gateway/opening/flow_capacity.h"
#include "relay/gateway/opening/pending_cookies.h"
#include "relay/gateway/opening/refusals.h"
#include "relay/gateway/opening/syn_cookies.h"
#include "relay/gateway/opening/syn_trials.h"
#include "relay/gateway/opening/unplaced_acks.h"
#include "relay/gateway/peers/lane.h"
#include "relay/gateway/port_id.h"
#include "relay/gateway/rules/claims.h"
#include "relay/gateway/rules/policy.h"

namespace satrelay::gateway {

class AdmissionControl : private DesyncDetector::SessionPeers {
 public:
  struct Segment {
    const FlowKey& key;
    const Frame& frame;
    const wire::TcpHeader& header;
    std::size_t payload = 0;  // size of the payload in bytes
  };
  struct Decision {
    enum class Kind : std::uint8_t {
      kRelay,   // a flow begins, and there is room for it
      kCookie,  // the caller must call answer_by_cookie()
      kBridge,  // the segment must be bridged, for `reason`
      kDrop,    // the segment must be dropped, for `reason`
    };
    Kind kind = Kind::kDrop;
    Counter reason{};
    // For kRelay: if the segment returns a cookie, the SYN reconstructed from the cookie. nullopt
    // if the segment is itself the SYN.
    std::optional<wire::TcpHeader> recovered = {};
  };

  // All arguments except the configuration must outlive this object; `lanes` may be filled later.
  AdmissionControl(const config::Gateway& config, HashKey secret, const Policy& policy,
                   const Claims& claims, const Lanes& lanes, const SymmetricPaths& paths,
                   BetweenGateways& between, Counters& counters);
  AdmissionControl(const AdmissionControl&) = delete;
  AdmissionControl& operator=(const AdmissionControl&) = delete;

  // `rule` is the rule that matches the segment. bars() must be false for it. `lane` is the lane
  // that would carry the connection to its far host; nullopt if no peer has that host. Counts the
  // connection for the rule, and remembers the decision.
  Decision decide(const Segment& segment, ActiveRule& rule, std::optional<LaneId> lane,
                  const FlowCapacity& room, Instant now);
  // Returns why the gateway would relay no connection between these two hosts under the rule, with
  // any ports; nullopt if it may relay connections.
  std::optional<Counter> objection(const FlowKey& key, const config::Rule& rule,
                                   std::optional<LaneId> lane, Instant now) const;
  // Queues a SYN-ACK with a cookie. `config` has the settings that the connection's endpoint would
  // have. `lane` leads to the far host.
  void answer_by_cookie(const Segment& syn, const wire::EthernetHeader& to_host,
                        const tcp::Config& config, LaneId lane, Instant now);
  // Call this after bridging a SYN for `reason`. `waits` means that the SYN is queued for the link.
  // The delay of the answer may show whether the server is between the gateways.
  void note_bridged(const Segment& syn, Counter reason, LaneId lane, bool waits, Instant now);
  // The shortest round trip to the lane's peer; nullopt if it is not known yet.
  std::optional<Duration> shortest_path(LaneId lane) const;
  // Checks a segment from the WAN that belongs to no flow. Call this before look_from_wan().
  // `segment` begins with the TCP header. Returns true if the segment answers a SYN that this
  // gateway has withdrawn. The segment must not reach its host then.
  bool takes_back(const FlowKey& key, const wire::EthernetHeader& ethernet, ConstBytes segment,
                  Instant now);
  // Call this when the peer reports that its LAN has the address.
  void refute(const LanAddress& address, Instant now);
  // Notes a segment from the WAN that belongs to no flow. `segment` begins with the TCP header. In
  // `key`, the local host is the host on the LAN.
  void look_from_wan(const FlowKey& key, const wire::EthernetHeader& ethernet, ConstBytes segment,
                     Instant now);
  // Handles a peer's evidence about a host on the peer's LAN. `lane`: the lane of the connection.
  void handle_evidence(LaneId lane, const HostEvidence& evidence, Instant now);
  void handle_timeout(Instant now) {
    desync_detector_.handle_timeout(now);
    unplaced_acks_.handle_timeout(now);
  }
  // Sends the resets of rules with `action: reset`.
  Refusals& refusals() { return refusals_; }
  ConnectionRecords& records() { return records_; }

  Admission admission() const { return admission_; }
  void set_admission(Admission admission) { admission_ = admission; }

  // Each function writes the next frame and returns its size, or returns 0 if there is no frame.
  // Cookies are SYN-ACKs for the LAN. The other frames are RSTs, and ACKs that ask a host for its
  // sequence numbers.
  std::size_t poll_cookie(MutableBytes out) { return cookies_.poll_frame(out); }
  std::size_t poll_reset(PortId port, MutableBytes out);
  // Whether Refusals has a reset for the port.
  bool reset_waits(PortId port) const { return !refusals_.empty(port); }
  Instant next_timeout() const;

 private:
  bool is_alive(LaneId lane) const override;
  bool understands_evidence(LaneId lane) const override;
  bool tell(LaneId lane, const HostEvidence& evidence, Instant now) override;
  // Returns why the segment does not open a connection that may be relayed. `opening` is the
  // connection's SYN: the segment itself, or the SYN that was reconstructed from its cookie.
  std::optional<Counter> reason_to_bridge(const Segment& segment, const wire::TcpHeader& opening,
                                          const config::Rule& rule, std::optional<LaneId> lane,
                                          Instant now) const;
  // Whether the peer accepts connections of this host, according to the lists of accepted sources
  // that the peer has sent. A peer that does not accept them would reset a connection after the
  // client has seen a complete handshake.
  bool is_accepted(const IpAddress& host, LaneId lane) const;
  // Whether the server may be a device between the gateways, and the peer understands questions
  // about such devices. If a peer's prefix longer than 0 contains the server's address, the server
  // is behind this peer, and not between the gateways.
  bool may_be_between(const FlowKey& key, LaneId lane) const;
  // Puts a SYN on trial, to find out whether its server is between the gateways. Returns true if
  // the caller must bridge the SYN, and false if no trial was begun.
  bool begin_trial(const Segment& syn, LaneId lane, Instant now);
  void follow_confirmed(const Segment& syn, const LanAddress& address, LaneId lane, bool waits,
                        Instant now);
  // Asks the peer whether its LAN has the address. Returns false if the peer cannot be asked now.
  bool ask(const LanAddress& address, LaneId lane, Instant now);
  // If `syn` repeats a SYN on trial that was not answered in time, ends the trial, sends a reset
  // for the first SYN, and returns true.
  bool end_overdue_trial(const Segment& syn, Instant now);
  // Whether there will be a slot for the flow when the cookie is returned.
  bool may_answer_by_cookie(LaneId lane, const IpAddress& host, const FlowCapacity& room,
                            Instant now);

  const Policy& policy_;
  const Claims& claims_;
  const Lanes& lanes_;
  const SymmetricPaths& paths_;
  BetweenGateways& between_;
  Admission admission_ = Admission::kOpen;
  ConnectionRecords records_;
  SynTrials trials_;
  SynCookies cookies_;
  PendingCookies under_way_;
  Counters& counters_;
  DesyncDetector desync_detector_;
  UnplacedAcks unplaced_acks_;
  Refusals refusals_;
};

}  // namespace satrelay::gateway

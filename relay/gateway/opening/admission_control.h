// Decides what becomes of a TCP segment from the LAN that belongs to no flow: whether it begins
// one, is answered by a cookie, or is bridged or dropped, and why. All that is remembered for such
// decisions is here: connections that are not relayed or no more (connection_records.h), cookies,
// connections that do not fit, and the resets that are owed to hosts.
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
#include "relay/gateway/opening/connection_records.h"
#include "relay/gateway/opening/desync_detector.h"
#include "relay/gateway/opening/flow_capacity.h"
#include "relay/gateway/opening/pending_cookies.h"
#include "relay/gateway/opening/refusals.h"
#include "relay/gateway/opening/syn_cookies.h"
#include "relay/gateway/opening/syn_trials.h"
#include "relay/gateway/opening/unplaced_acks.h"
#include "relay/gateway/peers/peer.h"
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
    std::size_t payload = 0;  // bytes
  };
  struct Decision {
    enum class Kind : std::uint8_t {
      kRelay,   // a flow begins, for which there is room
      kCookie,  // answer_by_cookie()
      kBridge,  // for a reason
      kDrop,    // for a reason
    };
    Kind kind = Kind::kDrop;
    Counter reason{};
    // kRelay: the SYN, as far as its cookie tells, which the segment has brought back.
    std::optional<wire::TcpHeader> recovered = {};
  };

  // All but the configuration must outlive it; `peers` may be filled later.
  AdmissionControl(const config::Gateway& config, HashKey secret, const Policy& policy,
                   const Claims& claims, const std::vector<std::unique_ptr<Peer>>& peers,
                   const SymmetricPaths& paths, BetweenGateways& between, Counters& counters);
  AdmissionControl(const AdmissionControl&) = delete;
  AdmissionControl& operator=(const AdmissionControl&) = delete;

  // `rule` is that of the segment, and does not bar it; `peer` is the session for it, with the
  // peer that stands before its far host. Counts
  // the connection for the rule, and remembers what it decides.
  Decision decide(const Segment& segment, ActiveRule& rule, std::optional<std::size_t> peer,
                  const FlowCapacity& room, Instant now);
  // Why no connection between these hosts, whatever their ports, is relayed under the rule; nullopt
  // if it may be.
  std::optional<Counter> objection(const FlowKey& key, const config::Rule& rule,
                                   std::optional<std::size_t> peer, Instant now) const;
  // `config`: of the endpoint that the connection would have. `session`: that for its far host.
  void answer_by_cookie(const Segment& syn, const wire::EthernetHeader& to_host,
                        const tcp::Config& config, std::size_t session, Instant now);
  // A SYN is bridged for that reason, or waits for the link: its answer may show whether its server
  // stands between the gateways.
  void note_bridged(const Segment& syn, Counter reason, std::size_t session, bool waits,
                    Instant now);
  // The shortest round trip to the session's peer; nullopt: not known yet.
  std::optional<Duration> shortest_path(std::size_t session) const;
  // A segment from the WAN of no flow, from its TCP header on, is looked at before look_from_wan():
  // whether it answers a SYN that is taken back, and must not reach its host.
  bool takes_back(const FlowKey& key, const wire::EthernetHeader& ethernet, ConstBytes segment,
                  Instant now);
  // The peer says that its LAN has the address.
  void refute(const LanAddress& address, Instant now);
  // A segment from the WAN of no flow, from its TCP header on. `key`: as seen from the LAN.
  void look_from_wan(const FlowKey& key, const wire::EthernetHeader& ethernet, ConstBytes segment,
                     Instant now);
  // What a peer tells of a host, by the session of the connection.
  void handle_evidence(std::size_t session, const HostEvidence& evidence, Instant now);
  void handle_timeout(Instant now) {
    desync_detector_.handle_timeout(now);
    unplaced_acks_.handle_timeout(now);
  }
  // What a rule's `action: reset` says to the sender of a segment.
  Refusals& refusals() { return refusals_; }
  ConnectionRecords& records() { return records_; }

  Admission admission() const { return admission_; }
  void set_admission(Admission admission) { admission_ = admission; }

  // The next frame, 0 if there is none: a SYN-ACK for the LAN that is a cookie; a RST, or what asks
  // a host for its numbers.
  std::size_t poll_cookie(MutableBytes out) { return cookies_.poll_frame(out); }
  std::size_t poll_reset(PortId port, MutableBytes out);
  // DesyncDetector, and hosts without a place, are reset on the LAN only.
  bool reset_waits(PortId port) const { return !refusals_.empty(port); }
  Instant next_timeout() const;

 private:
  bool is_alive(std::size_t session) const override;
  bool understands_evidence(std::size_t session) const override;
  bool tell(std::size_t session, const HostEvidence& evidence, Instant now) override;
  // Why the segment does not open a connection that may be relayed. `opening`: what it opens it
  // with.
  std::optional<Counter> reason_to_bridge(const Segment& segment, const wire::TcpHeader& opening,
                                          const config::Rule& rule, std::optional<std::size_t> peer,
                                          Instant now) const;
  // Whether the peer takes connections of this host, as far as is known. It would reset another
  // one, which its client believed to stand.
  bool is_accepted(const IpAddress& host, std::size_t session) const;
  // Whether the server may be a device between the gateways: only a peer for everything holds its
  // address, and the path is long enough to tell by time.
  bool may_be_between(const FlowKey& key, std::size_t session) const;
  // Bridges a SYN to try whether its server stands between the gateways; false: it does not.
  bool begin_trial(const Segment& syn, std::size_t session, Instant now);
  void follow_confirmed(const Segment& syn, const LanAddress& address, std::size_t session,
                        bool waits, Instant now);
  // Asks the peer whether its LAN has the address; false: not now.
  bool ask(const LanAddress& address, std::size_t session, Instant now);
  // Whether a SYN of a hint is repeated, as nobody has answered it in time: it is taken back.
  bool end_overdue_trial(const Segment& syn, Instant now);
  // Whether there will be a place for the flow when a cookie comes back.
  bool may_answer_by_cookie(std::size_t session, const IpAddress& host, const FlowCapacity& room,
                            Instant now);

  const Policy& policy_;
  const Claims& claims_;
  const std::vector<std::unique_ptr<Peer>>& peers_;
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

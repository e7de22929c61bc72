// Begins flows: after a host's SYN, or after a peer has opened a stream for a flow.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "pep/base/time.h"
#include "pep/base/typed_id.h"
#include "pep/stp/session.h"
#include "pep/wire/tcp.h"
#include "relay/gateway/flows/bytes/ahead.h"
#include "relay/gateway/flows/ending/late_segments.h"
#include "relay/gateway/flows/flow.h"
#include "relay/gateway/flows/opening/awaited_servers.h"
#include "relay/gateway/flows/opening/flow_reopening.h"
#include "relay/gateway/flows/opening/flow_room.h"
#include "relay/gateway/flows/opening/room_maker.h"
#include "relay/gateway/flows/parts/relay_parts.h"
#include "relay/gateway/flows/transfer/far_findings.h"
#include "relay/gateway/flows/transfer/flow_transfer.h"
#include "relay/gateway/flows/transfer/host_tracker.h"
#include "relay/gateway/flows/transfer/peer_epochs.h"
#include "relay/gateway/frames/frame.h"
#include "relay/gateway/ids.h"

namespace satrelay::gateway {

// The units that take part in the beginning of a flow.
struct OpeningUnits {
  const FlowRoom& room;
  RoomMaker& maker;
  FlowReopening& reopening;
  LateSegments& late;
  AwaitedServers& servers;
  HostTracker& hosts;
  FarFindings& findings;
  PeerEpochs& epochs;
  FlowTransfer& transfer;
};

class FlowOpening {
 public:
  // All arguments must outlive this object.
  FlowOpening(RelayParts& parts, const RelayEnvironment& around, const OpeningUnits& units);

  // Accepts a flow from the host's SYN in `frame`. If a SYN cookie has answered that SYN, `frame`
  // is the ACK that returned the `cookie`. The caller has checked that there is room.
  void accept(const FlowKey& key, const Frame& frame, const wire::TcpHeader& syn,
              std::optional<std::uint32_t> cookie, LaneId lane, const RulePtr& chosen, Instant now);
  // The peer has opened a stream for a flow.
  void handle_opened(LaneId id, stp::StreamId stream, Instant now);
  // The settings that the endpoint of a flow with this key would get now. Its window is at least
  // the flow's own reserve. If the window were zero, the host would send nothing that returns its
  // SYN cookie.
  tcp::Config endpoint_config(const FlowKey& key, LaneId lane, Instant now) const;
  // Takes the settings of endpoints from `next`, for connections that begin from now on.
  void reconfigure(const config::Gateway& next);

 private:
  std::uint32_t new_flow(const FlowKey& key, const RulePtr& rule, Origin origin, LaneId lane,
                         Instant now, std::optional<std::uint32_t> initial_sequence = std::nullopt);
  void share_with_endpoints();

  RelayParts& parts_;
  const Policy& policy_;
  const Claims& claims_;
  OrphanedFlows& orphans_;
  const OpeningUnits units_;
  IdVector<FarGatewayId, std::shared_ptr<const tcp::Common>> of_endpoints_;
};

}  // namespace satrelay::gateway

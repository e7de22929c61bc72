// The steps of a frame through the gateway: input receives it from the LAN or the WAN, bridging
// forwards it if it belongs to no flow, lanes pass it to the sessions, and gateway_output.cc sends
// it. The steps share GatewayParts. gateway_snapshots.cc makes the reports, and gateway_audit.cc
// checks the accounts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "config/model/schema.h"
#include "pep/base/bytes.h"
#include "pep/base/check.h"
#include "pep/base/time.h"
#include "pep/schedule/turn.h"
#include "relay/gateway/bridging/bridging.h"
#include "relay/gateway/gateway.h"
#include "relay/gateway/ids.h"
#include "relay/gateway/input/lan_input.h"
#include "relay/gateway/input/station_watch.h"
#include "relay/gateway/input/wan_input.h"
#include "relay/gateway/lanes/deferred_work.h"
#include "relay/gateway/lanes/lane_rounds.h"
#include "relay/gateway/lanes/plain_packets.h"
#include "relay/gateway/lanes/session_events.h"
#include "relay/gateway/opening/between_listener.h"
#include "relay/gateway/parts/gateway_parts.h"
#include "relay/gateway/uplink/uplink.h"

namespace satrelay::gateway {

struct Gateway::Impl final : SessionPort {
  Impl(const config::Gateway& gateway_config, const Identity& gateway_identity,
       MutableBytes arena_memory, MutableBytes journal_memory, Instant now);

  enum class Budget : std::uint8_t { kOfTheInstant, kRenewed };
  // Work that an earlier call has deferred counts as work of this call.
  void begin_call(Instant now, Budget which = Budget::kOfTheInstant);

  // --- output (gateway_output.cc) ----------------------------------------------------------------
  bool is_reachable(LaneId lane) const override { return parts.is_reachable(lane); }
  Written write_packets(LaneId lane, const schedule::Turn& turn,
                        std::span<const MutableBytes> rooms, std::span<stp::PolledPacket> packets,
                        Instant now) override;
  Polled poll_lan_beside_flows(MutableBytes out, Instant now);
  Polled marked(std::size_t size, MutableBytes out, Instant now) const;
  Instant next_own_frame() const;
  // Writes at least one frame, if there is any. Returns the number of frames.
  std::size_t poll_wan(std::span<const MutableBytes> rooms, std::span<Polled> polled, Instant now);
  void count_drops();

  GatewayParts parts;
  const Instant started;
  BetweenListener between;
  StationWatch stations;
  Bridging bridging;
  SessionEvents events;
  LaneRounds rounds;
  DeferredWork deferred;
  LanInput lan_input;
  WanInput wan_input;
  PlainPackets plain_packets;
  Instant last_call;
  std::uint64_t calls = 0, next_audit = 0;  // for audit_at_intervals()
};

}  // namespace satrelay::gateway

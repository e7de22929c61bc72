// How far a flow's host may be ahead of the link, in bytes that the gateway has accepted and that
// have not left in a packet yet. The sender counts these bytes as sent, and waits for an answer to
// them.
#pragma once

#include <cstdint>

#include "pep/base/time.h"
#include "pep/base/units.h"
#include "pep/stp/session.h"
#include "relay/gateway/flows/flow.h"

namespace satrelay::gateway {

// The satellite link, and the part of it that a flow gets while all waiting flows go on waiting.
struct Outlook {
  Duration round_trip;
  BitRate share;
};

// The limit before any byte of the flow has left, in bytes.
std::uint64_t first_ahead(BitRate share);

// As much as the link takes in a flight, which is a round trip and some tenths of a second. So when
// the flow ends, all bytes that a loss could make late are still here, and are sent with repairs.
// It may be two flights if traffic that the session does not see leaves the flow less than its
// share.
std::uint64_t most_ahead(const Flow& f, const Outlook& outlook, Instant now);
// The same, with the share of the flow's last block. A flow without a block has the share of a new
// flow.
std::uint64_t most_ahead(const Flow& f, const stp::Session& session, Instant now);

// Whether `waiting` bytes of the host are about as many as it may be ahead, so that the window
// holds the host back.
bool fills_a_flight(const Flow& f, std::uint64_t waiting);

// The most encoded bytes of a block. The far gateway delivers nothing of a compressed block before
// the block is complete. It delivers a raw block as it comes.
struct LargestBlock {
  std::uint64_t compressed = 0;
  std::uint64_t raw = 0;
};
LargestBlock largest_block(const Flow& f, const Outlook& outlook, Instant now);

// The stream asks for a block, as all bytes before it have left. Call this before the functions
// above.
void end_block(Flow& f, const Outlook& outlook, Instant now);
// A block with `plain` bytes of the host, `encoded` bytes in the stream, begins to leave.
void begin_block(Flow& f, std::uint64_t plain, std::uint64_t encoded);

}  // namespace satrelay::gateway

// How far a flow's host may be ahead of the link: bytes that the gateway has accepted and that have
// left in no packet yet. Whoever sends counts them as sent, and waits for an answer to them.
#pragma once

#include <cstdint>

#include "pep/base/time.h"
#include "pep/base/units.h"
#include "pep/stp/session.h"
#include "relay/gateway/flows/flow.h"

namespace satrelay::gateway {

// The satellite link, and the part of it that a flow gets while all that wait go on to.
struct Outlook {
  Duration round_trip;
  BitRate share;
};

// Before any byte of the flow has left: bytes.
std::uint64_t first_ahead(BitRate share);

// What the link takes in a flight, a round trip and some tenths of a second: when the flow ends,
// all that a loss could make late is still here, to be sent with repairs. It may be two flights,
// where others that the session does not see leave it less than its share.
std::uint64_t most_ahead(const Flow& f, const Outlook& outlook, Instant now);
// The same as it was for the flow's last block, or is for a flow that begins.
std::uint64_t most_ahead(const Flow& f, const stp::Session& session, Instant now);

// Whether `waiting` bytes of the host are about as much as it may be ahead: it is held back.
bool fills_a_flight(const Flow& f, std::uint64_t waiting);

// Encoded bytes of a block, at most. The far gateway delivers nothing of a compressed block before
// all of it is there; a raw block it delivers as it comes.
struct LargestBlock {
  std::uint64_t compressed = 0;
  std::uint64_t raw = 0;
};
LargestBlock largest_block(const Flow& f, const Outlook& outlook, Instant now);

// The stream asks for a block, as all before it has left; to be said before the others are asked.
void end_block(Flow& f, const Outlook& outlook, Instant now);
// One of `plain` bytes of the host, `encoded` in the stream, begins to leave.
void begin_block(Flow& f, std::uint64_t plain, std::uint64_t encoded);

}  // namespace satrelay::gateway

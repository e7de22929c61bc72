// How far a flow's host may be ahead of the link: the number of bytes that the gateway has
// acknowledged but not yet sent in a packet. The host counts these bytes as sent, and waits for the
// far host's answer to them.
#pragma once

#include <cstdint>

#include "pep/base/time.h"
#include "pep/base/units.h"
#include "pep/stp/session.h"
#include "relay/gateway/flows/flow.h"

namespace satrelay::gateway {

// The state of the satellite link. `share` is the part of the rate that a flow gets if all flows
// that wait now continue to wait.
struct Outlook {
  Duration round_trip;
  BitRate share;
};

// The limit in bytes before any byte of the flow was sent.
std::uint64_t first_ahead(BitRate share);

// The limit in bytes: as many as the link sends in a flight, which is a round trip and some tenths
// of a second. A host that is so far ahead sends its FIN before its last flight of bytes leaves
// this gateway. So the gateway can send the last flight with repairs (redundant packets), since a
// retransmission would delay the end of the flow. If traffic that the session does not see leaves
// the flow less than its share, the limit may be two flights.
std::uint64_t most_ahead(const Flow& f, const Outlook& outlook, Instant now);
// Computes the same limit from the share at the flow's last block. A flow without a block uses the
// share of a new flow.
std::uint64_t most_ahead(const Flow& f, const stp::Session& session, Instant now);

// Whether `waiting` bytes of the host nearly reach the limit, so that the host's window keeps it
// from sending more.
bool fills_a_flight(const Flow& f, std::uint64_t waiting);

// Maximum number of encoded bytes in a block. The far gateway delivers nothing of a compressed
// block before the block is complete, but delivers the bytes of a raw block as they arrive.
struct LargestBlock {
  std::uint64_t compressed = 0;
  std::uint64_t raw = 0;
};
LargestBlock largest_block(const Flow& f, const Outlook& outlook, Instant now);

// The stream asks for a block when all bytes of earlier blocks were sent. Call this first, before
// the functions above.
void end_block(Flow& f, const Outlook& outlook, Instant now);
// Call this when a block is ready to be sent. The block has `plain` bytes of the host, in `encoded`
// bytes of the stream.
void begin_block(Flow& f, std::uint64_t plain, std::uint64_t encoded);

}  // namespace satrelay::gateway

#include "relay/gateway/flows/bytes/ahead.h"

#include <algorithm>

#include "pep/compress/codec_work.h"

namespace satrelay::gateway {
namespace {

// A flight is a period: a round trip plus kBeyondRoundTrip, and at least kShortestFlight. The
// gateway stores as many bytes of a host as the link can send in a flight. So the link has bytes to
// send even if the host's bytes arrive late, and the rate of a flow can grow.
constexpr Duration kShortestFlight = Duration::milliseconds(400);
constexpr Duration kBeyondRoundTrip = Duration::milliseconds(200);
// The longest time that the link should need to send a raw block. At first a host may be ahead of
// the link by the bytes that the link sends in this time.
constexpr Duration kBlock = Duration::milliseconds(200);
// The longest time that the link should need to send a compressed block. The block may always have
// kLeastCompressed encoded bytes, because small blocks compress worse: 6 KB of text shrink by a
// third less than 64 KiB do. With 800 ms and 3 KB instead, text would gain up to 5% more, but the
// hosts of 10 flows or more would be 10 to 50% further ahead.
constexpr Duration kCompressedBlock = Duration::milliseconds(600);
constexpr std::uint64_t kLeastCompressed = 2'000;
constexpr std::uint64_t kMostAtFirst = 64 * 1024;
// Minimum number of segments that a host may have in flight. With fewer, its TCP must often stop
// and wait for an acknowledgment.
constexpr std::uint64_t kLeastSegments = 4;
constexpr std::uint64_t kUsualSegment = 1460;
// In a flight a host may send this many times the bytes that the link sent in the flight before, as
// in slow start. Before the link has been measured the factor is larger, so that the last bytes of
// a short flow arrive here soon.
constexpr std::uint64_t kGrowth = 2;
constexpr std::uint64_t kGrowthAtFirst = 8;
// A computed limit is used for this long, or until a block ends. Each segment of a host needs the
// limit, and computing it each time would cost too much.
constexpr Duration kStands = Duration::milliseconds(5);

Duration flight_time(Duration round_trip) {
  return std::max(round_trip + kBeyondRoundTrip, kShortestFlight);
}

std::uint64_t first_of(const Flow& f, BitRate share) {
  const std::uint64_t segment =
      std::max<std::uint64_t>(f.endpoint.sending().segment_size(), kUsualSegment);
  return std::max(first_ahead(share), kLeastSegments * segment);
}

}  // namespace

std::uint64_t first_ahead(BitRate share) {
  return std::clamp(share.bytes_in(kBlock).value(), kLeastSegments * kUsualSegment, kMostAtFirst);
}

std::uint64_t most_ahead(const Flow& f, const stp::Session& session, Instant now) {
  FlowHot* const hot = f.hot();
  if (hot == nullptr) return first_of(f, session.streams().share_of_new());
  if (now < hot->ahead_until) return hot->ahead;
  const BitRate share = hot->share.is_zero() ? session.streams().share_of_new() : hot->share;
  hot->ahead = most_ahead(f, {session.path().smoothed_rtt(), share}, now);
  hot->ahead_until = now + kStands;
  return hot->ahead;
}

// Growth is limited by the flow's share of the link. But the flow may get more than this share,
// since classes have weights, or less, since other sessions use the carrier. So the limit is at
// least the number of bytes that were really sent in the last flight.
std::uint64_t most_ahead(const Flow& f, const Outlook& outlook, Instant now) {
  std::uint64_t first = first_of(f, outlook.share);
  FlowHot* const hot = f.hot();
  if (hot == nullptr) return first;
  Departures& departures = hot->departures;
  const Duration flight = flight_time(outlook.round_trip);
  Duration held = flight;
  // All bytes of a block must be here before the block can be compressed.
  if (departures.compressed()) {
    held = std::max(flight, kCompressedBlock);
    first = std::max(first, std::min<std::uint64_t>(departures.plain_of(kLeastCompressed),
                                                    compress::kMaxPlainBlock));
  }
  const std::uint64_t attainable = departures.plain_of(outlook.share.bytes_in(held).value());
  hot->flight = attainable;
  const std::uint64_t growth = departures.is_measured(flight, now) ? kGrowth : kGrowthAtFirst;
  const std::uint64_t grown = growth * departures.lately(flight, now);
  return std::max({departures.in_a_period(flight, now), std::min(grown, attainable), first});
}

bool fills_a_flight(const Flow& f, std::uint64_t waiting) {
  const FlowHot* const hot = f.hot();
  return hot != nullptr && hot->flight > 0 && waiting >= hot->flight - hot->flight / 4;
}

LargestBlock largest_block(const Flow& f, const Outlook& outlook, Instant now) {
  FlowHot* const hot = f.hot();
  const Duration flight = flight_time(outlook.round_trip);
  const bool is_measured = hot != nullptr && hot->departures.is_measured(flight, now);
  const std::uint64_t left =
      is_measured ? hot->departures.encoded_of(hot->departures.in_a_period(flight, now)) : 0;
  const auto carried = [&](Duration time) {
    const std::uint64_t of_share = outlook.share.bytes_in(time).value();
    if (!is_measured) return of_share;
    const auto of_left = static_cast<std::uint64_t>(static_cast<double>(kGrowth * left) *
                                                    (time.to_seconds() / flight.to_seconds()));
    return std::min(of_share, of_left);
  };
  return {.compressed = std::max(carried(kCompressedBlock), kLeastCompressed),
          .raw = carried(kBlock)};
}

// If the host has been silent for long, the flow has no FlowHot, and nothing is recorded until the
// host sends again.
void end_block(Flow& f, const Outlook& outlook, Instant now) {
  FlowHot* const hot = f.hot();
  if (hot == nullptr) return;
  hot->share = outlook.share;
  hot->ahead_until = now;
  hot->departures.end_block(flight_time(outlook.round_trip), now);
}

void begin_block(Flow& f, std::uint64_t plain, std::uint64_t encoded) {
  FlowHot* const hot = f.hot();
  if (hot == nullptr) return;
  hot->departures.begin_block(plain, encoded, f.endpoint.received().readable() > 0);
}

}  // namespace satrelay::gateway

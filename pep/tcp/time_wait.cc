#include "pep/tcp/time_wait.h"

namespace satrelay::tcp {

using wire::TcpFlags;

namespace {

// How far `sequence` is ahead of `from`; negative if it is behind.
std::int32_t distance(std::uint32_t from, std::uint32_t sequence) {
  return static_cast<std::int32_t>(sequence - from);
}

// The peer has acknowledged everything that we sent. A late segment may acknowledge less, but the
// difference cannot exceed the bytes that were once in flight.
bool has_plausible_ack(const TimeWait& connection, const wire::TcpHeader& header) {
  constexpr std::int32_t kMostUnderWay = 1 << 20;
  const std::int32_t ahead = distance(connection.send_next, header.acknowledgment);
  return ahead <= 0 && ahead >= -kMostUnderWay;
}

}  // namespace

bool admits_new_incarnation(const TimeWait& connection, const wire::TcpHeader& syn) {
  if (!syn.opens_connection()) return false;
  if (syn.options.timestamps) {
    if (!connection.timestamps) return true;
    const std::uint32_t value = syn.options.timestamps->value;
    if (value != connection.recent_timestamp) {
      return distance(connection.recent_timestamp, value) > 0;
    }
  }
  return distance(connection.receive_next, syn.sequence) > 0;
}

LateSegment handle_late_segment(TimeWait& connection, const wire::TcpHeader& header,
                                std::size_t payload, Counters& counters, Instant now) {
  using Effect = LateSegment::Effect;
  ++counters.segments_in;
  const auto challenge = [&] {
    if (!connection.challenges.allow(now)) return LateSegment{};
    ++counters.challenge_acks;
    return LateSegment{.answered = true};
  };
  const std::int32_t begin = distance(connection.receive_next, header.sequence);
  const std::uint64_t window = std::uint64_t{connection.window} << connection.window_scale;
  // RFC 5961 section 3.2.
  if (header.has(TcpFlags::kRst)) {
    if (begin == 0) return {.effect = Effect::kEnds};
    const bool in_window = begin > 0 && static_cast<std::uint64_t>(begin) < window;
    return in_window ? challenge() : LateSegment{};
  }
  if (header.has(TcpFlags::kSyn)) return challenge();  // RFC 5961 section 4.2
  if (!header.has(TcpFlags::kAck)) return {};
  const bool fin = header.has(TcpFlags::kFin);
  const bool occupies = payload > 0 || fin;
  // A segment without timestamps is judged by its sequence numbers alone, as in Endpoint.
  const bool stamped = connection.timestamps && header.options.timestamps.has_value();
  if (stamped && distance(connection.recent_timestamp, header.options.timestamps->value) < 0) {
    ++counters.paws_rejected;
    return {.answered = occupies || connection.challenges.allow(now)};
  }
  // RFC 5961 section 5.2: a segment with an implausible ACK may be forged.
  if (!has_plausible_ack(connection, header)) {
    ++counters.out_of_window_segments_in;
    return challenge();
  }
  const std::int64_t end = std::int64_t{begin} + static_cast<std::int64_t>(payload) + (fin ? 1 : 0);
  // Only a segment that ends at RCV.NXT can be the last one that the peer sent. Take TS.Recent only
  // from such a segment: others may be older, or forged.
  const bool is_last = end == 0;
  if (is_last && stamped) {
    connection.recent_timestamp = header.options.timestamps->value;
  }
  if (begin >= 0 && end > 0 && static_cast<std::uint64_t>(begin) <= window) {
    // No data can follow the peer's FIN, so this data is dropped.
    return {.answered = occupies};
  }
  if (begin == 0 && !occupies) return {};  // a pure ACK needs no answer
  ++counters.out_of_window_segments_in;
  return {.effect = fin && end == 0 ? Effect::kRestarts : Effect::kNone,
          .answered = occupies || connection.challenges.allow(now)};
}

wire::TcpHeader answer_of(const TimeWait& connection, std::uint32_t timestamp) {
  wire::TcpHeader header;
  header.sequence = connection.send_next;
  header.acknowledgment = connection.receive_next;
  header.flags = TcpFlags::kAck;
  header.window = connection.window;
  if (connection.timestamps) {
    header.options.timestamps = wire::TcpTimestamps{timestamp, connection.recent_timestamp};
  }
  return header;
}

}  // namespace satrelay::tcp

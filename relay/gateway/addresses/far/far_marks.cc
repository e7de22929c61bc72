#include "relay/gateway/addresses/far/far_marks.h"

#include "pep/wire/ip.h"
#include "pep/wire/tcp.h"
#include "relay/gateway/frames/coarse_time.h"
#include "relay/gateway/frames/frame.h"

namespace satrelay::gateway {
namespace {

// The time is in the upper bits, so that SharedTable replaces the oldest value first.
std::uint32_t value_of(const PathMarks& marks, Instant now) {
  return (hour_of(now) << 16) | (std::uint32_t{marks.traffic_class} << 8) | marks.hop_limit;
}

}  // namespace

std::uint64_t FarMarks::hash(const IpAddress& host, std::uint16_t port) const {
  return hash_service(key_, host, port);
}

void FarMarks::note(const IpAddress& host, std::uint16_t port, const PathMarks& marks,
                    Instant now) {
  if (marks.hop_limit <= kMostTtlOfAProbe) return;
  table_.put(hash(host, kNoPort), value_of(marks, now));
  if (port != kNoPort) table_.put(hash(host, port), value_of(marks, now));
}

std::optional<PathMarks> FarMarks::find(const IpAddress& host, std::uint16_t port,
                                        Instant now) const {
  const auto value = table_.find(hash(host, port));
  if (!value) return std::nullopt;
  const std::int64_t age = std::int64_t{hour_of(now)} - (*value >> 16);
  if (age > kKept / Duration::seconds(3600)) return std::nullopt;
  return PathMarks{.traffic_class = static_cast<std::uint8_t>(*value >> 8),
                   .hop_limit = static_cast<std::uint8_t>(*value)};
}

std::optional<PathMarks> FarMarks::guess(const IpAddress& host, std::uint16_t port,
                                         Instant now) const {
  const auto of_service = find(host, port, now);
  return of_service ? of_service : find(host, kNoPort, now);
}

void FarMarks::mark(MutableBytes frame, Instant now) const {
  const Frame seen = look_at(frame);
  if (seen.kind != FrameKind::kTcp || seen.payload.size() < wire::kTcpHeaderSize) return;
  const auto marks = guess(seen.ip.source, load_u16(seen.payload.data()), now);
  if (!marks) return;
  wire::IpHeader ip = seen.ip;
  ip.hop_limit = marks->hop_limit;
  ip.traffic_class = static_cast<std::uint8_t>(marks->traffic_class | (ip.traffic_class & 3U));
  wire::write_ip(ip, frame.subspan(seen.ethernet.size()));
}

}  // namespace satrelay::gateway

#include "relay/gateway/addresses/far_marks.h"

#include "pep/wire/checksum.h"
#include "pep/wire/ip.h"
#include "relay/gateway/frames/frame.h"

namespace satrelay::gateway {
namespace {

// From 1 on, 65,535 of them: more than seven years.
std::uint32_t hour_of(Instant now) {
  return static_cast<std::uint32_t>((now - Instant()) / Duration::seconds(3600) % 0xffff) + 1;
}

// The time stands in the upper bits, as SharedTable wants it.
std::uint32_t value_of(const PathMarks& marks, Instant now) {
  return (hour_of(now) << 16) | (std::uint32_t{marks.traffic_class} << 8) | marks.hop_limit;
}

}  // namespace

void FarMarks::note(const IpAddress& host, const PathMarks& marks, Instant now) {
  table_.put(hash_host(key_, host), value_of(marks, now));
}

std::optional<PathMarks> FarMarks::find(const IpAddress& host, Instant now) const {
  const auto value = table_.find(hash_host(key_, host));
  if (!value) return std::nullopt;
  const std::int64_t age = std::int64_t{hour_of(now)} - (*value >> 16);
  if (age > kKept / Duration::seconds(3600)) return std::nullopt;
  return PathMarks{.traffic_class = static_cast<std::uint8_t>(*value >> 8),
                   .hop_limit = static_cast<std::uint8_t>(*value)};
}

void FarMarks::mark(MutableBytes frame, Instant now) const {
  const Frame seen = look_at(frame);
  if (seen.kind < FrameKind::kTcp) return;
  const auto marks = find(seen.ip.source, now);
  if (!marks) return;
  wire::IpHeader ip = seen.ip;
  ip.hop_limit = marks->hop_limit;
  ip.traffic_class = static_cast<std::uint8_t>(marks->traffic_class | (ip.traffic_class & 3U));
  wire::write_ip(ip, frame.subspan(seen.ethernet.size()));
}

}  // namespace satrelay::gateway

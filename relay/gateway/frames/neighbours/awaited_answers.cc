#include "relay/gateway/frames/neighbours/awaited_answers.h"

#include <algorithm>
#include <array>
#include <span>

#include "relay/gateway/frames/coarse_time.h"

namespace satrelay::gateway {

std::uint64_t AwaitedAnswers::hash(const IpAddress& host, const MacAddress& mac) const {
  constexpr std::size_t kMac = 6;
  std::array<std::byte, 16 + kMac> bytes;
  std::ranges::copy(std::as_bytes(std::span(host.octets())), bytes.begin());
  std::ranges::copy(std::as_bytes(std::span(mac.octets)), bytes.end() - kMac);
  return sip_hash(key_, bytes);
}

void AwaitedAnswers::await(const IpAddress& host, const MacAddress& owner, Instant now) {
  table_.put(hash(host, owner), second_of(now));
}

std::optional<std::uint64_t> AwaitedAnswers::find(const AnnouncedOwner& told, Instant now) const {
  const std::uint64_t number = hash(told.host, told.mac);
  return is_within(table_.find(number), kPatience, now) ? std::optional(number) : std::nullopt;
}

}  // namespace satrelay::gateway

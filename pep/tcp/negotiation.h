// Derives the options that both sides use from the options of the two SYNs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "pep/base/image/image.h"
#include "pep/tcp/types.h"
#include "pep/wire/tcp.h"

namespace satrelay::tcp {

inline constexpr std::uint16_t kDefaultMss = 536;  // RFC 9293 section 3.7.1
inline constexpr std::uint16_t kSmallestMss = 48;  // room for all options and some payload
// The least limit for options and payload that an ICMP message can set, in octets. A forged message
// must not make segments arbitrarily small. An IPv4 MTU of 552, the usual lower bound of hosts,
// carries 512 octets.
inline constexpr std::uint16_t kSmallestPathSegment = 512;
inline constexpr std::uint8_t kLargestWindowScale = 14;  // RFC 7323 section 2.3
inline constexpr std::uint16_t kTimestampsSize = 12;     // with padding

struct Negotiation {
  std::uint16_t segment_limit = kDefaultMss;  // options and payload of a segment we send
  std::uint8_t send_scale = 0;                // shift of the peer's window field
  std::uint8_t receive_scale = 0;             // shift of our window field
  bool selective = false;
  bool timestamps = false;

  void image(Image& image) {
    image(segment_limit, send_scale, receive_scale, selective, timestamps);
  }
  // Payload of a segment without SACK blocks.
  std::uint16_t segment_size() const {
    return static_cast<std::uint16_t>(segment_limit - (timestamps ? kTimestampsSize : 0));
  }
  // The window of a segment that is no SYN, in bytes.
  std::uint64_t window_of(const wire::TcpHeader& header) const {
    return std::uint64_t{header.window} << send_scale;
  }
  // nullptr also if the segment has no timestamps. RFC 7323 section 3.2 drops such a segment. But
  // servers behind SYN cookies and some stacks leave timestamps out later, and other stacks accept
  // that. The segment says nothing about its age, so it is judged by its sequence numbers alone.
  const wire::TcpTimestamps* timestamps_of(const wire::TcpHeader& header) const {
    return timestamps && header.options.timestamps ? &*header.options.timestamps : nullptr;
  }
};

// The options of our SYN or SYN-ACK. The values of timestamps are filled in later, as they carry
// the time.
struct Offer {
  std::optional<std::uint16_t> mss;
  std::optional<std::uint8_t> window_scale;
  bool sack_permitted = false;
  bool timestamps = false;

  void image(Image& image) { image(mss, window_scale, sack_permitted, timestamps); }
};

// The part of the configuration that our SYN announces.
struct Announced {
  std::uint16_t mss = 0;
  std::uint8_t window_scale = 0;
};

inline std::uint8_t own_scale(const Announced& own) {
  return std::min(own.window_scale, kLargestWindowScale);
}

// As a server: offers every option that the client's SYN allows.
inline Offer answer_to(const wire::TcpOptions& syn, const Announced& own) {
  Offer offer;
  offer.mss = own.mss;
  if (syn.window_scale) offer.window_scale = own_scale(own);
  offer.sack_permitted = syn.sack_permitted;
  offer.timestamps = syn.timestamps.has_value();
  return offer;
}

// As a client: offers no option that the far client did not offer. The values are our own, but the
// MSS is at most the far client's MSS, or kSmallestMss if that is larger.
inline Offer offer_like(const wire::TcpOptions& client, const Announced& own) {
  Offer offer = answer_to(client, own);
  offer.mss.reset();
  if (client.mss) offer.mss = std::min(own.mss, std::max(*client.mss, kSmallestMss));
  return offer;
}

inline Negotiation negotiate(const Offer& ours, const wire::TcpOptions& theirs,
                             const Announced& own) {
  Negotiation result;
  const std::uint16_t peer_mss = std::max(theirs.mss.value_or(kDefaultMss), kSmallestMss);
  result.segment_limit = std::min(peer_mss, std::max(own.mss, kSmallestMss));
  if (ours.window_scale && theirs.window_scale) {
    result.receive_scale = *ours.window_scale;
    result.send_scale = std::min(*theirs.window_scale, kLargestWindowScale);
  }
  result.selective = ours.sack_permitted && theirs.sack_permitted;
  result.timestamps = ours.timestamps && theirs.timestamps.has_value();
  return result;
}

}  // namespace satrelay::tcp

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
inline constexpr std::uint16_t kSmallestMss = 48;  // leaves space for all options and some payload
// An ICMP message cannot limit the options and payload of a segment to fewer octets than this. A
// forged message must not make segments arbitrarily small. An IPv4 MTU of 552, the usual lower
// bound of hosts, carries 512 octets.
inline constexpr std::uint16_t kSmallestPathSegment = 512;
inline constexpr std::uint8_t kLargestWindowScale = 14;  // RFC 7323 section 2.3
inline constexpr std::uint16_t kTimestampsSize = 12;     // bytes of the option with padding

struct Negotiation {
  // Maximum number of bytes of options and payload in a segment that we send.
  std::uint16_t segment_limit = kDefaultMss;
  std::uint8_t send_scale = 0;     // shift of the window field that the peer sends
  std::uint8_t receive_scale = 0;  // shift of the window field that we send
  bool selective = false;
  bool timestamps = false;

  void image(Image& image) {
    image(segment_limit, selective, timestamps);
    image.at_most(kLargestWindowScale, send_scale);
    image.at_most(kLargestWindowScale, receive_scale);
  }
  // Maximum number of payload bytes in a segment without SACK blocks.
  std::uint16_t segment_size() const {
    return static_cast<std::uint16_t>(segment_limit - (timestamps ? kTimestampsSize : 0));
  }
  // The window of any segment other than a SYN, in bytes.
  std::uint64_t window_of(const wire::TcpHeader& header) const {
    return std::uint64_t{header.window} << send_scale;
  }
  // The timestamps of a segment. nullptr if the connection does not use them, or if the segment has
  // none. RFC 7323 section 3.2 tells receivers to drop a segment without timestamps. But servers
  // behind SYN cookies and some stacks stop sending timestamps, and other stacks accept that. So
  // such a segment is accepted by its sequence numbers alone.
  const wire::TcpTimestamps* timestamps_of(const wire::TcpHeader& header) const {
    return timestamps && header.options.timestamps ? &*header.options.timestamps : nullptr;
  }
};

// The options of our SYN or SYN-ACK. The timestamp values are filled in when the segment is made,
// as they carry the time.
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

// For a server: offers each option that is in the client's SYN.
inline Offer answer_to(const wire::TcpOptions& syn, const Announced& own) {
  Offer offer;
  offer.mss = own.mss;
  if (syn.window_scale) offer.window_scale = own_scale(own);
  offer.sack_permitted = syn.sack_permitted;
  offer.timestamps = syn.timestamps.has_value();
  return offer;
}

// For a client: offers only options that the far client offered. The values are our own. But the
// MSS is at most the far client's MSS, or kSmallestMss if the far client's MSS is smaller.
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

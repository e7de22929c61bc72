#include "relay/gateway/peers/host_arrival.h"

#include "relay/gateway/frames/address_fields.h"

namespace satrelay::gateway {

std::optional<HostArrival> parse_host_arrival(ConstBytes message) {
  ByteReader in(message);
  in.u8();
  const std::uint8_t version = in.u8();
  if (version != kIpVersion4 && version != kIpVersion6) return std::nullopt;
  HostArrival arrival;
  arrival.host = read_address(in, version == kIpVersion4);
  const std::uint8_t tag_count = in.u8();
  if (tag_count > wire::kMaxVlanTags) return std::nullopt;
  read_tags(in, tag_count, arrival.ethernet);
  arrival.ethernet.source = read_mac(in);
  return in.ok() ? std::optional(arrival) : std::nullopt;
}

std::size_t write_host_arrival(const HostArrival& arrival, MutableBytes out) {
  ByteWriter writer(out);
  writer.u8(kHostArrivalMessage);
  writer.u8(arrival.host.is_v4() ? kIpVersion4 : kIpVersion6);
  write_address(writer, arrival.host);
  writer.u8(arrival.ethernet.tag_count);
  write_tags(writer, arrival.ethernet);
  write_mac(writer, arrival.ethernet.source);
  return writer.written();
}

}  // namespace satrelay::gateway

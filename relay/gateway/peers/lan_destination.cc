#include "relay/gateway/peers/lan_destination.h"

#include "relay/gateway/frames/address_fields.h"

namespace satrelay::gateway {

std::optional<LanDestination> parse_lan_destination(ConstBytes message) {
  ByteReader in(message);
  in.u8();
  const std::uint8_t version = in.u8();
  if (version != kIpVersion4 && version != kIpVersion6) return std::nullopt;
  LanDestination told;
  told.stream = static_cast<stp::StreamId>(in.u64());
  told.near = read_address(in, version == kIpVersion4);
  told.far = read_address(in, version == kIpVersion4);
  const std::uint8_t tag_count = in.u8();
  if (tag_count > wire::kMaxVlanTags) return std::nullopt;
  read_tags(in, tag_count, told.ethernet);
  told.ethernet.destination = read_mac(in);
  return in.ok() ? std::optional(told) : std::nullopt;
}

std::size_t write_lan_destination(const LanDestination& told, MutableBytes out) {
  ByteWriter writer(out);
  writer.u8(kLanDestinationMessage);
  writer.u8(told.near.is_v4() ? kIpVersion4 : kIpVersion6);
  writer.u64(static_cast<std::uint64_t>(told.stream));
  write_address(writer, told.near);
  write_address(writer, told.far);
  writer.u8(told.ethernet.tag_count);
  write_tags(writer, told.ethernet);
  write_mac(writer, told.ethernet.destination);
  return writer.written();
}

}  // namespace satrelay::gateway

#include "pep/wire/ethernet.h"

#include "pep/base/check.h"

namespace satrelay::wire {

namespace {

bool is_tag(std::uint16_t type) {
  return type == static_cast<std::uint16_t>(EtherType::kVlan) ||
         type == static_cast<std::uint16_t>(EtherType::kServiceVlan);
}

}  // namespace

bool parse_ethernet(ConstBytes frame, EthernetHeader& header) {
  if (frame.size() < kEthernetHeaderSize) return false;
  const std::byte* p = frame.data();
  std::memcpy(header.destination.octets.data(), p, 6);
  std::memcpy(header.source.octets.data(), p + 6, 6);
  std::uint16_t type = load_u16(p + 12);
  while (is_tag(type)) {
    if (header.tag_count == kMaxVlanTags || frame.size() < header.size() + 4) return false;
    p = frame.data() + header.size();
    header.tags[header.tag_count] = {.tpid = type, .tci = load_u16(p)};
    ++header.tag_count;
    type = load_u16(p + 2);
  }
  header.type = static_cast<EtherType>(type);
  return true;
}

std::optional<EthernetHeader> parse_ethernet(ConstBytes frame) {
  std::optional<EthernetHeader> header(std::in_place);
  if (!parse_ethernet(frame, *header)) header.reset();
  return header;
}

void write_ethernet(const EthernetHeader& header, MutableBytes out) {
  SATRELAY_CHECK(header.tag_count <= kMaxVlanTags && out.size() >= header.size());
  std::byte* p = out.data();
  std::memcpy(p, header.destination.octets.data(), 6);
  std::memcpy(p + 6, header.source.octets.data(), 6);
  p += 12;
  for (std::size_t i = 0; i < header.tag_count; ++i) {
    store_u16(p, header.tags[i].tpid);
    store_u16(p + 2, header.tags[i].tci);
    p += 4;
  }
  store_u16(p, static_cast<std::uint16_t>(header.type));
}

}  // namespace satrelay::wire

#include "relay/sim/network/fragments.h"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

#include "pep/wire/checksum.h"
#include "pep/wire/ethernet.h"
#include "pep/wire/extension_headers.h"
#include "pep/wire/ip.h"

namespace satrelay::sim {
namespace {

constexpr std::uint8_t kRouting = 43, kFragment = 44;
constexpr std::uint16_t kMoreFragments = 0x2000;

struct Layout {
  wire::IpHeader ip;
  std::size_t ip_at = 0;
  std::size_t data_at = 0;  // after the IP header
  std::size_t end = 0;
};

Layout layout_of(ConstBytes frame) {
  const auto ethernet = wire::parse_ethernet(frame);
  const auto ip = ethernet ? wire::parse_ip(frame.subspan(ethernet->size())) : std::nullopt;
  if (!ip) throw std::invalid_argument("no IP frame");
  const std::size_t data_at = ethernet->size() + ip->header_size;
  return {*ip, ethernet->size(), data_at, data_at + ip->payload_size};
}

void append(std::vector<std::byte>& to, ConstBytes bytes) {
  to.insert(to.end(), bytes.begin(), bytes.end());
}

}  // namespace

std::vector<std::vector<std::byte>> fragments_of(ConstBytes frame, const Cut& cut) {
  const Layout all = layout_of(frame);
  const bool v4 = all.ip.source.is_v4();
  const std::size_t data_at = all.data_at + cut.unfragmentable;
  ConstBytes headers = frame.first(data_at);
  std::vector<std::vector<std::byte>> fragments;
  for (std::size_t at = data_at; at < all.end; at += cut.size) {
    const ConstBytes part = frame.subspan(at, std::min(cut.size, all.end - at));
    const auto offset = static_cast<std::uint16_t>(at - data_at);
    const bool more = at + part.size() < all.end;
    std::vector<std::byte>& out = fragments.emplace_back(headers.begin(), headers.end());
    if (v4) {
      std::byte* const ip = out.data() + all.ip_at;
      store_u16(ip + 2, static_cast<std::uint16_t>(all.ip.header_size + part.size()));
      store_u16(ip + 4, static_cast<std::uint16_t>(cut.identification));
      store_u16(ip + 6, static_cast<std::uint16_t>(offset / 8U | (more ? kMoreFragments : 0U)));
      store_u16(ip + 10, 0);
      const auto sum = wire::checksum_sum(ConstBytes(out).subspan(all.ip_at, all.ip.header_size));
      store_u16(ip + 10, static_cast<std::uint16_t>(~sum));
    } else {
      const auto chain = wire::walk_extension_headers(
          all.ip.protocol, frame.subspan(all.data_at, cut.unfragmentable));
      // Position of the Next Header field that must name the Fragment header.
      std::size_t named_at = all.ip_at + 6;
      for (std::size_t to = all.data_at; to < data_at;
           to += (std::size_t{load_u8(frame.data() + to + 1)} + 1) * 8) {
        named_at = to;
      }
      store_u8(out.data() + named_at, kFragment);
      store_u16(
          out.data() + all.ip_at + 4,
          static_cast<std::uint16_t>(cut.unfragmentable + wire::kFragmentHeaderSize + part.size()));
      std::array<std::byte, wire::kFragmentHeaderSize> header{};
      store_u8(header.data(), chain.protocol);
      store_u16(header.data() + 2, static_cast<std::uint16_t>(offset | (more ? 1U : 0U)));
      store_u32(header.data() + 4, cut.identification);
      append(out, header);
    }
    append(out, part);
  }
  return fragments;
}

std::vector<std::byte> with_extension_header(ConstBytes frame, std::uint8_t number) {
  const Layout all = layout_of(frame);
  std::vector<std::byte> out(frame.begin(),
                             frame.begin() + static_cast<std::ptrdiff_t>(all.data_at));
  std::array<std::byte, 8> header{};
  store_u8(header.data(), all.ip.protocol);
  if (number != kRouting && number != kFragment) store_u16(header.data() + 2, 0x0104);  // PadN
  append(out, header);
  append(out, frame.subspan(all.data_at));
  store_u8(out.data() + all.ip_at + 6, number);
  store_u16(out.data() + all.ip_at + 4,
            static_cast<std::uint16_t>(all.ip.payload_size + header.size()));
  return out;
}

}  // namespace satrelay::sim

// Every parser of pep/wire and the OPEN metadata, on arbitrary bytes. A parsed value must be
// written and parsed again to the same value.
#include <array>
#include <cstdlib>
#include <vector>

#include "pep/wire/arp.h"
#include "pep/wire/checksum.h"
#include "pep/wire/icmp.h"
#include "pep/wire/segmenter.h"
#include "pep/wire/tcp.h"
#include "pep/wire/tunnel.h"
#include "pep/wire/udp.h"
#include "relay/gateway/frames/frame.h"
#include "relay/gateway/frames/layer_two.h"
#include "relay/gateway/frames/open_metadata.h"

namespace satrelay {
namespace {

void check(bool condition) {
  if (!condition) std::abort();
}

void fuzz_tcp(ConstBytes bytes) {
  const auto parsed = wire::parse_tcp(bytes);
  if (!parsed) return;
  check(parsed->header_size <= bytes.size());
  std::array<std::byte, wire::kMaxTcpHeaderSize> out{};
  const std::size_t size = wire::write_tcp(parsed->header, out);
  check(size == wire::tcp_header_size(parsed->header) && size <= out.size());
  check(wire::parse_tcp(ConstBytes(out).first(size)).has_value());
}

void fuzz_frame(ConstBytes bytes) {
  const gateway::Frame frame = gateway::look_at(bytes);
  gateway::is_link_control(frame);
  if (const auto inner = gateway::look_inside(frame)) {
    check(inner->kind >= gateway::FrameKind::kFragment && inner->payload.size() < bytes.size());
  }
  if (frame.kind != gateway::FrameKind::kIcmp) return;
  const auto message = wire::parse_icmp(frame.ip, frame.payload);
  if (!message) return;
  if (wire::is_icmp_error(frame.ip, *message)) wire::parse_quoted_flow(frame.ip, *message);
  wire::parse_neighbour(*message);
}

void fuzz_metadata(ConstBytes bytes) {
  const auto parsed = gateway::parse_open_metadata(bytes);
  if (!parsed) return;
  std::array<std::byte, gateway::kMaxOpenMetadata> out{};
  const std::size_t size = gateway::write_open_metadata(*parsed, out);
  const auto again = gateway::parse_open_metadata(ConstBytes(out).first(size));
  check(again && again->options == parsed->options && again->client == parsed->client &&
        again->ethernet == parsed->ethernet);
}

// The kernel may say that the inner segment begins at any offset.
void fuzz_tunnel(ConstBytes bytes) {
  for (std::size_t at = 0; at < bytes.size() && at < 200; ++at) {
    const auto tunnel = wire::Tunnel::around(bytes, at);
    if (!tunnel) continue;
    auto segmenter = wire::Segmenter::of(bytes, *tunnel, wire::SegmentedProtocol::kTcp, 536);
    while (segmenter && !segmenter->done()) {
      std::vector<std::byte> piece(segmenter->next_size());
      segmenter->write_next(piece);
      check(wire::Tunnel::around(piece, at).has_value());
    }
  }
}

}  // namespace
}  // namespace satrelay

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace satrelay;
  const ConstBytes bytes = std::as_bytes(std::span(data, size));
  fuzz_tcp(bytes);
  fuzz_frame(bytes);
  fuzz_metadata(bytes);
  fuzz_tunnel(bytes);
  wire::parse_udp(bytes);
  wire::parse_arp(bytes);
  wire::checksum_sum(bytes);
  return 0;
}

// Every parser of pep/wire and the OPEN metadata on arbitrary bytes. What parses must write and
// parse again to the same value.
#include <array>
#include <cstdlib>

#include "pep/wire/arp.h"
#include "pep/wire/checksum.h"
#include "pep/wire/icmp.h"
#include "pep/wire/tcp.h"
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

}  // namespace
}  // namespace satrelay

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace satrelay;
  const ConstBytes bytes = std::as_bytes(std::span(data, size));
  fuzz_tcp(bytes);
  fuzz_frame(bytes);
  fuzz_metadata(bytes);
  wire::parse_udp(bytes);
  wire::parse_arp(bytes);
  wire::checksum_sum(bytes);
  return 0;
}

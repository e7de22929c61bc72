// Writes and parses whole Ethernet frames with TCP segments, as a host's stack does.
#pragma once

#include <cstddef>
#include <optional>

#include "pep/base/bytes.h"
#include "pep/tcp/endpoint.h"
#include "pep/wire/ethernet.h"
#include "pep/wire/ip.h"
#include "pep/wire/tcp.h"

namespace satrelay::sim {

struct TcpFrame {
  wire::EthernetHeader ethernet;
  wire::IpHeader ip;
  wire::TcpHeader tcp;
  ConstBytes payload;
};

// Returns nullopt unless the frame has an unfragmented TCP segment with a correct checksum.
std::optional<TcpFrame> parse_tcp_frame(ConstBytes frame);

// Writes the headers, lets `fill` write the payload, then writes the checksum. Returns the frame's
// size.
template <typename Fill>
std::size_t write_tcp_frame(const wire::EthernetHeader& ethernet, wire::IpHeader ip,
                            const wire::TcpHeader& tcp, std::size_t payload_size, MutableBytes out,
                            Fill fill);

std::size_t write_tcp_headers(const wire::EthernetHeader& ethernet, wire::IpHeader ip,
                              const wire::TcpHeader& tcp, std::size_t payload_size,
                              MutableBytes out);
// Computes and stores the checksum of a frame that was begun by write_tcp_headers().
void finish_tcp_frame(const wire::EthernetHeader& ethernet, const wire::IpHeader& ip,
                      MutableBytes frame);

template <typename Fill>
std::size_t write_tcp_frame(const wire::EthernetHeader& ethernet, wire::IpHeader ip,
                            const wire::TcpHeader& tcp, std::size_t payload_size, MutableBytes out,
                            Fill fill) {
  const std::size_t headers = write_tcp_headers(ethernet, ip, tcp, payload_size, out);
  fill(out.subspan(headers, payload_size));
  finish_tcp_frame(ethernet, ip, out.first(headers + payload_size));
  return headers + payload_size;
}

}  // namespace satrelay::sim

// Writes the ICMP error that tells a host on the LAN why its SYN failed behind the far gateway. The
// error quotes the SYN, as the error of a router or of the server would over a bridge.
#pragma once

#include <cstddef>
#include <cstdint>

#include "pep/base/address.h"
#include "pep/base/bytes.h"
#include "pep/wire/ethernet.h"
#include "pep/wire/tcp.h"
#include "relay/gateway/frames/flow_key.h"
#include "relay/gateway/frames/path_error.h"

namespace satrelay::gateway {

struct FailedSyn {
  FlowKey key;  // `local` is the host that has sent the SYN
  std::uint32_t sequence = 0;
  std::uint8_t traffic_class = 0;
  std::uint8_t hop_limit = 64;
  wire::TcpOptions options;
};

// The longest frame of write_failed_syn(), in bytes.
inline constexpr std::size_t kMostFailedSynFrame =
    wire::kMaxEthernetHeaderSize + 2 * wire::kIpv6HeaderSize + 8 + wire::kMaxTcpHeaderSize;

// Returns the size of the frame. The IP version of `sender` must be that of the SYN, and `out` must
// have room for kMostFailedSynFrame bytes.
std::size_t write_failed_syn(const wire::EthernetHeader& to_host, const IpAddress& sender,
                             IcmpCode code, const FailedSyn& syn, MutableBytes out);

}  // namespace satrelay::gateway

// One level of tunnel in a large frame that a segmentation offload has to cut. The large frame has
// the headers of one packet, and each piece gets headers of its own.
//
//   Ethernet | IP | IP                               IPIP (RFC 2003), 6in4 (RFC 4213), RFC 2473
//   Ethernet | IP | GRE | [Ethernet] | IP            RFC 2784, RFC 2890
//   Ethernet | IP | UDP | VXLAN | Ethernet | IP      RFC 7348
//   Ethernet | IP | UDP | Geneve | [Ethernet] | IP   RFC 8926
//   Ethernet | IP | UDP | [GUE] | [GRE | [Ethernet]] | IP   draft-ietf-intarea-gue-09, Linux: FOU
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "pep/base/address.h"
#include "pep/base/bytes.h"
#include "pep/wire/ethernet.h"

namespace satrelay::wire {

class Tunnel {
 public:
  // Finds the tunnel around the packet that has its transport header at `transport_at`. Hosts
  // choose the ports of UDP tunnels, so a port does not show the kind of tunnel. Instead, each kind
  // is tried, until the inner transport header of one kind is at `transport_at`. Returns nullopt if
  // there is no such kind, if two lengths contradict each other, or if a header has a flag of
  // unknown meaning.
  static std::optional<Tunnel> around(ConstBytes frame, std::size_t transport_at);

  std::size_t outer_at() const { return outer_at_; }  // offset of the outer IP header
  std::size_t inner_at() const { return inner_at_; }  // offset of the inner IP header
  EtherType inner_type() const { return inner_type_; }

  // `piece` has the headers of the large frame, followed by part `number` of its payload. Adjusts
  // the headers before the inner IP header to the piece: lengths, the outer identification, GRE's
  // sequence number, and the checksums if the frame has any.
  void fit_headers(MutableBytes piece, std::uint16_t number) const;

 private:
  class Search;

  IpAddress source_;
  IpAddress destination_;
  std::size_t outer_at_ = 0;
  std::size_t udp_at_ = 0;  // 0 if there is no UDP header
  std::size_t gre_at_ = 0;  // 0 if there is no GRE header
  std::size_t inner_at_ = 0;
  EtherType inner_type_{};
};

}  // namespace satrelay::wire

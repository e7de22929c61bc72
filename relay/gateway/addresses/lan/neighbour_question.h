// Writes the frame that asks for the owner of an address: an ARP request, or a neighbour
// solicitation. The sender address is unspecified, as in RFC 5227 section 2.1.1 and RFC 4862
// section 5.4, since the gateway has no address on the LAN.
#pragma once

#include <cstddef>

#include "pep/base/address.h"
#include "pep/base/bytes.h"
#include "pep/wire/ethernet.h"

namespace satrelay::gateway {

// Sets the type in `ethernet`, and uses its other fields unchanged. Returns the size of the frame.
std::size_t write_neighbour_question(const IpAddress& host, wire::EthernetHeader ethernet,
                                     MutableBytes out);

// The destination MAC that reaches every station that may have this address.
MacAddress all_who_may_have(const IpAddress& host);

}  // namespace satrelay::gateway

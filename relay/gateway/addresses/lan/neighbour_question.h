// The frame that asks who has an address: ARP, or a neighbour solicitation. The address of the
// sender stays open, as in RFC 5227 section 2.1.1 and RFC 4862 section 5.4: the gateway has none on
// the LAN.
#pragma once

#include <cstddef>

#include "pep/base/address.h"
#include "pep/base/bytes.h"
#include "pep/wire/ethernet.h"

namespace satrelay::gateway {

// To where `ethernet` says, whose type is set; the size of the frame.
std::size_t write_neighbour_question(const IpAddress& host, wire::EthernetHeader ethernet,
                                     MutableBytes out);

// The MAC of all who may have this address.
MacAddress all_who_may_have(const IpAddress& host);

}  // namespace satrelay::gateway

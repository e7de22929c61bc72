// Lists the sockets that this process has open, including those of drivers.
#pragma once

#include <vector>

namespace satrelay::dpdk {

// Descriptors of the open sockets of one address family (AF_PACKET, AF_XDP), ascending.
std::vector<int> own_sockets(int family);

}  // namespace satrelay::dpdk

// The UNIX socket at which the two ends of a memif port meet: the server's driver makes the file,
// and does not start where one was left behind.
#pragma once

#include <sys/types.h>

#include <string>

namespace satrelay::dpdk {

// Removes a socket that nobody serves any more, and nothing else.
void remove_stale_memif_socket(const std::string& path);
// Lets `user` connect again to it, and remove it.
void give_memif_socket(const std::string& path, uid_t user);

}  // namespace satrelay::dpdk

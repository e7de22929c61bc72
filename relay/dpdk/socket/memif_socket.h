// The UNIX socket by which the two ends of a memif port find each other. The driver of the server
// creates the file. If an earlier run has left the file behind, the driver does not start.
#pragma once

#include <sys/types.h>

#include <string>

namespace satrelay::dpdk {

// Removes the socket if no process listens on it. Does not remove a file that is not a socket.
void remove_stale_memif_socket(const std::string& path);
// Makes `user` the owner of the socket, so that processes of `user` can connect to the socket and
// remove it.
void give_memif_socket(const std::string& path, uid_t user);

}  // namespace satrelay::dpdk

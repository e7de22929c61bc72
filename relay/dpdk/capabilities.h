// The rights of root that start-up has needed are given up, in every thread: those that DPDK has
// started too, for capabilities belong to threads (capabilities(7)).
#pragma once

#include <span>
#include <string>

namespace satrelay::dpdk {

// Keeps of the process's capabilities (CAP_* of linux/capability.h) these and no others, now and in
// whatever it may execute. Returns the names of those that are left, "none" if none is. Throws
// std::runtime_error if a thread does not obey within a second.
std::string keep_only(std::span<const int> capabilities);

}  // namespace satrelay::dpdk

// Values that the engine cannot find out by itself.
#pragma once

#include <cstdint>
#include <memory>

#include "pep/base/address.h"
#include "pep/base/entropy.h"
#include "pep/base/stopwatch.h"
#include "relay/gateway/steering/share.h"

namespace satrelay::gateway {

struct CommonKnowledge;  // addresses/common_knowledge.h

struct Identity {
  // Wall clock at the start, in nanoseconds; increases with each start.
  std::uint64_t boot_epoch = 0;
  std::uint64_t secret[2] = {0, 0};  // random key for initial sequence numbers (RFC 6528)
  MacAddress wan_mac;                // source of frames that the gateway itself sends on the WAN
  // Random bytes for keys. Must be set if the security of a peer is not `none`.
  Entropy* entropy = nullptr;
  // Measures compression times; nullptr if they are not measured.
  const Stopwatch* stopwatch = nullptr;
  // True if the LAN port can complete TCP checksums. The engine then leaves the checksums of
  // relayed data to the port (Polled::checksum_from).
  bool lan_port_sums = false;
  // Knowledge of hosts that all workers share; nullptr if this engine shares nothing.
  std::shared_ptr<CommonKnowledge> common = nullptr;
  // Which of the `config.worker.count` workers runs this engine. Except for `share`, the stopwatch
  // and the entropy, all workers of a gateway have the same Identity.
  Share share = {};
};

}  // namespace satrelay::gateway

#include "pep/stp/types.h"

namespace satrelay::stp {

const char* to_string(PeerState state) {
  switch (state) {
    case PeerState::kConnecting:
      return "connecting";
    case PeerState::kAlive:
      return "alive";
    case PeerState::kSuspect:
      return "suspect";
    case PeerState::kRefused:
      return "refused";
    case PeerState::kClosed:
      return "closed";
  }
  return "unknown";
}

const char* to_string(ResetReason reason) {
  switch (reason) {
    case ResetReason::kNone:
      return "none";
    case ResetReason::kHostReset:
      return "host_reset";
    case ResetReason::kRefused:
      return "refused";
    case ResetReason::kUnreachable:
      return "unreachable";
    case ResetReason::kTimeout:
      return "timeout";
    case ResetReason::kNoResources:
      return "no_resources";
    case ResetReason::kPolicy:
      return "policy";
    case ResetReason::kProtocolError:
      return "protocol_error";
    case ResetReason::kPeerRestart:
      return "peer_restart";
    case ResetReason::kUnknownStream:
      return "unknown_stream";
    case ResetReason::kShutdown:
      return "shutdown";
    case ResetReason::kNoRoute:
      return "no_route";
    case ResetReason::kInUse:
      return "in_use";
    case ResetReason::kOtherVlan:
      return "other_vlan";
    case ResetReason::kIcmp:
      return "icmp";
  }
  return "unknown";
}

}  // namespace satrelay::stp

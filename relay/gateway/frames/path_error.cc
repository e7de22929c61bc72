#include "relay/gateway/frames/path_error.h"

#include "pep/wire/icmp.h"

namespace satrelay::gateway {
namespace {

using tcp::PathError;

std::optional<PathError> kind_of_v4(IcmpCode icmp) {
  constexpr std::uint8_t kProtocolUnreachable = 2, kPortUnreachable = 3, kLastCode = 15;
  constexpr std::uint8_t kReassemblyTimeExceeded = 1;
  switch (icmp.type) {
    case wire::kIcmpUnreachable:
      if (icmp.code == wire::kIcmpFragmentationNeeded || icmp.code > kLastCode) return std::nullopt;
      return icmp.code == kProtocolUnreachable || icmp.code == kPortUnreachable ? PathError::kHard
                                                                                : PathError::kSoft;
    case wire::kIcmpTimeExceeded:
      if (icmp.code == kReassemblyTimeExceeded) return std::nullopt;
      return PathError::kSoft;
    case wire::kIcmpParameterProblem:
      return PathError::kSoft;
    default:  // including source quench, which RFC 6633 discards silently
      return std::nullopt;
  }
}

// RFC 4443 section 2.4: a host reports an error to its transport even if the host does not know the
// error's type.
std::optional<PathError> kind_of_v6(IcmpCode icmp) {
  constexpr std::uint8_t kPortUnreachable = 4, kUnknownNextHeader = 1;
  constexpr std::uint8_t kFirstInformational = 128;
  if (icmp.type >= kFirstInformational || icmp.type == wire::kIcmpV6PacketTooBig) {
    return std::nullopt;
  }
  const bool hard = icmp == IcmpCode{wire::kIcmpV6Unreachable, kPortUnreachable} ||
                    icmp == IcmpCode{wire::kIcmpV6ParameterProblem, kUnknownNextHeader};
  return hard ? PathError::kHard : PathError::kSoft;
}

}  // namespace

IcmpCode host_unreachable(IpVersion version) {
  constexpr std::uint8_t kHost = 1, kAddress = 3;
  return version == IpVersion::kV4 ? IcmpCode{wire::kIcmpUnreachable, kHost}
                                   : IcmpCode{wire::kIcmpV6Unreachable, kAddress};
}

std::optional<tcp::PathError> path_error(IpVersion version, IcmpCode code) {
  return version == IpVersion::kV4 ? kind_of_v4(code) : kind_of_v6(code);
}

std::optional<QuotedError> path_error(const Frame& frame) {
  const auto message = wire::parse_icmp(frame.ip, frame.payload);
  if (!message) return std::nullopt;
  const IcmpCode code{message->type, message->code};
  const auto kind = path_error(frame.ip.source.version(), code);
  const auto quoted = wire::parse_quoted_flow(frame.ip, *message);
  if (!kind || !quoted || quoted->protocol != wire::kProtocolTcp) return std::nullopt;
  return QuotedError{quoted->sequence, *kind, code};
}

}  // namespace satrelay::gateway

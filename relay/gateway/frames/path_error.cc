#include "relay/gateway/frames/path_error.h"

#include "pep/wire/icmp.h"

namespace satrelay::gateway {
namespace {

using tcp::PathError;

std::optional<PathError> kind_of_v4(const wire::IcmpMessage& message) {
  constexpr std::uint8_t kProtocolUnreachable = 2, kPortUnreachable = 3;
  switch (message.type) {
    case wire::kIcmpUnreachable:
      if (message.code == wire::kIcmpFragmentationNeeded) return std::nullopt;
      return message.code == kProtocolUnreachable || message.code == kPortUnreachable
                 ? PathError::kHard
                 : PathError::kSoft;
    case wire::kIcmpTimeExceeded:
    case wire::kIcmpParameterProblem:
      return PathError::kSoft;
    default:  // source quench among them, which RFC 6633 has discarded in silence
      return std::nullopt;
  }
}

std::optional<PathError> kind_of_v6(const wire::IcmpMessage& message) {
  constexpr std::uint8_t kPortUnreachable = 4, kUnknownNextHeader = 1;
  switch (message.type) {
    case wire::kIcmpV6Unreachable:
      return message.code == kPortUnreachable ? PathError::kHard : PathError::kSoft;
    case wire::kIcmpV6ParameterProblem:
      return message.code == kUnknownNextHeader ? PathError::kHard : PathError::kSoft;
    case wire::kIcmpV6TimeExceeded:
      return PathError::kSoft;
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<QuotedError> path_error(const Frame& frame) {
  const auto message = wire::parse_icmp(frame.ip, frame.payload);
  if (!message) return std::nullopt;
  const auto kind = frame.ip.source.is_v4() ? kind_of_v4(*message) : kind_of_v6(*message);
  const auto quoted = wire::parse_quoted_flow(frame.ip, *message);
  if (!kind || !quoted || quoted->protocol != wire::kProtocolTcp) return std::nullopt;
  return QuotedError{quoted->sequence, *kind};
}

}  // namespace satrelay::gateway

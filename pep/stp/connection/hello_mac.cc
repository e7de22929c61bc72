#include "pep/stp/connection/hello_mac.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "pep/base/secret.h"
#include "pep/crypto/hkdf.h"
#include "pep/stp/wire/frames.h"
#include "pep/stp/wire/packet.h"

namespace satrelay::stp {
namespace {

constexpr std::string_view kMacLabel = "satrelay stp hello ";

crypto::Nonce mac_context(std::uint8_t lane, bool from_even) {
  return crypto::packet_nonce(
      {lane, from_even ? crypto::Direction::kFromEven : crypto::Direction::kFromOdd});
}

ConstBytes covered_by_mac(ConstBytes packet) {
  return packet.first(packet.size() - kTrailerSize - kHelloMacSize);
}

crypto::Mac& made(std::optional<crypto::Mac>& mac, const crypto::Psk& psk,
                  const std::vector<std::byte>& names) {
  if (!mac) {
    const ConstBytes label = std::as_bytes(std::span(kMacLabel));
    std::vector<std::byte> info(label.begin(), label.end());
    info.insert(info.end(), names.begin(), names.end());
    Secret<crypto::kAeadKeySize> key;
    crypto::hkdf_expand(psk, info, key.bytes());
    mac.emplace(key.bytes());
  }
  return *mac;
}

}  // namespace

HelloMac::HelloMac(std::uint8_t lane, bool opens_even_streams)
    : sending_(mac_context(lane, opens_even_streams)),
      receiving_(mac_context(lane, !opens_even_streams)) {}

void HelloMac::close(MutableBytes packet, const Security& security, Under under) {
  crypto::Mac& mac = under == Under::kOther && security.other
                         ? made(other_, *security.other, security.names)
                         : made(first_, security.psk, security.names);
  const ConstBytes message = covered_by_mac(packet);
  std::ranges::copy(mac.code(sending_, message),
                    packet.begin() + static_cast<std::ptrdiff_t>(message.size()));
  SessionSeal().close(packet);
}

bool HelloMac::is_genuine(ConstBytes packet, const Security& security) {
  const ConstBytes message = covered_by_mac(packet);
  const ConstBytes code = packet.subspan(message.size(), kHelloMacSize);
  const auto matches = [&](crypto::Mac& mac) {
    return equal_in_constant_time(mac.code(receiving_, message), code);
  };
  return matches(made(first_, security.psk, security.names)) ||
         (security.other && matches(made(other_, *security.other, security.names)));
}

}  // namespace satrelay::stp

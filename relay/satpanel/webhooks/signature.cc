#include "relay/satpanel/webhooks/signature.h"

#include <fmt/format.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <array>
#include <stdexcept>

namespace satrelay::panel {

std::string sign(std::string_view secret, const Signed& what) {
  const std::string text = fmt::format("{}.{}", what.timestamp, what.body);
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
  if (HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()), bytes, text.size(),
           digest.data(), &size) == nullptr) {
    throw std::runtime_error("HMAC-SHA256 cannot be calculated");
  }
  std::string hexadecimal;
  for (unsigned i = 0; i < size; ++i) hexadecimal += fmt::format("{:02x}", digest.at(i));
  return hexadecimal;
}

}  // namespace satrelay::panel

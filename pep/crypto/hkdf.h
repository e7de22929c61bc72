// SHA-256 (FIPS 180-4), and HMAC (RFC 2104) and HKDF (RFC 5869) with SHA-256. All secrets are wiped
// after use.
#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>

#include "pep/base/bytes.h"
#include "pep/base/secret.h"

namespace satrelay::crypto {

inline constexpr std::size_t kHashSize = 32;
using Hash = std::array<std::byte, kHashSize>;
using Key256 = Secret<kHashSize>;

// The parts are hashed as one message, in this order.
Hash sha256(std::initializer_list<ConstBytes> parts);
Key256 hmac_sha256(ConstBytes key, std::initializer_list<ConstBytes> parts);

// RFC 5869 section 2.2. An empty salt counts as kHashSize zeros.
inline Key256 hkdf_extract(ConstBytes salt, ConstBytes input) { return hmac_sha256(salt, {input}); }
// RFC 5869 section 2.3: fills `out`, at most 255 * kHashSize bytes.
void hkdf_expand(const Key256& key, ConstBytes info, MutableBytes out);

}  // namespace satrelay::crypto

// Diffie-Hellman on Curve25519 (RFC 7748 sections 5 and 6.1).
#pragma once

#include <array>
#include <cstddef>
#include <optional>

#include "pep/base/secret.h"

namespace satrelay::crypto {

inline constexpr std::size_t kX25519Size = 32;
using PublicKey = std::array<std::byte, kX25519Size>;
using PrivateKey = Secret<kX25519Size>;  // any 32 random bytes
using SharedSecret = Secret<kX25519Size>;

PublicKey x25519_public_key(const PrivateKey& own);
// Returns nullopt if the result is all zeros (section 6.1). Then the other end's key is a point of
// small order, and the result would not depend on our key.
std::optional<SharedSecret> x25519(const PrivateKey& own, const PublicKey& other);

}  // namespace satrelay::crypto

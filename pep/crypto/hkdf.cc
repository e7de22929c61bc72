#include "pep/crypto/hkdf.h"

#include <openssl/evp.h>

#include <algorithm>

#include "pep/base/check.h"
#include "pep/crypto/openssl.h"

namespace satrelay::crypto {
namespace {

// An object can be used again after finish(). libcrypto wipes the memory that it frees.
class Sha256 {
 public:
  Sha256() : context_(EVP_MD_CTX_new()) { begin(); }
  void update(ConstBytes bytes) {
    must(EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()));
  }
  void update(std::initializer_list<ConstBytes> parts) {
    for (const ConstBytes part : parts) update(part);
  }
  // Writes kHashSize bytes.
  void finish(std::byte* out) {
    must(EVP_DigestFinal_ex(context_.get(), raw(out), nullptr));
    begin();
  }

 private:
  void begin() { must(EVP_DigestInit_ex2(context_.get(), algorithms().sha256.get(), nullptr)); }
  DigestContext context_;
};

}  // namespace

Hash sha256(std::initializer_list<ConstBytes> parts) {
  Sha256 digest;
  digest.update(parts);
  Hash hash;
  digest.finish(hash.data());
  return hash;
}

// Computes HMAC from the hash. libcrypto's own HMAC takes twice as long for the handshake's short
// inputs, because it looks up the hash by name each time.
Key256 hmac_sha256(ConstBytes key, std::initializer_list<ConstBytes> parts) {
  constexpr std::size_t kBlock = 64;
  Sha256 digest;
  Secret<kBlock> padded;  // the key, padded with zeros
  if (key.size() > kBlock) {
    digest.update(key);
    digest.finish(padded.bytes().data());
  } else {
    std::copy(key.begin(), key.end(), padded.bytes().begin());
  }
  const auto mask = [&padded](std::byte with) {
    for (std::byte& b : padded.bytes()) b ^= with;
  };
  constexpr std::byte kInner{0x36}, kOuter{0x5c};
  Key256 out;
  mask(kInner);
  digest.update(padded.bytes());
  digest.update(parts);
  digest.finish(out.bytes().data());
  mask(kInner ^ kOuter);
  digest.update(padded.bytes());
  digest.update(out.bytes());
  digest.finish(out.bytes().data());
  return out;
}

void hkdf_expand(const Key256& key, ConstBytes info, MutableBytes out) {
  SATRELAY_CHECK(out.size() <= 255 * kHashSize);
  Key256 block;
  std::byte counter{0};
  for (std::size_t at = 0; at < out.size(); at += kHashSize) {
    const ConstBytes previous = at == 0 ? ConstBytes() : ConstBytes(block.bytes());
    counter = static_cast<std::byte>(static_cast<unsigned>(counter) + 1);
    block = hmac_sha256(key.bytes(), {previous, info, ConstBytes(&counter, 1)});
    const std::size_t n = std::min(kHashSize, out.size() - at);
    std::copy_n(block.bytes().begin(), n, out.begin() + static_cast<std::ptrdiff_t>(at));
  }
}

}  // namespace satrelay::crypto

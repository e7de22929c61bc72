#include "pep/crypto/gcm_ipsec_mb.h"

// Without this macro, the header defines names such as GCM, for programs written for its first
// versions.
#define NO_COMPAT_IMB_API_053
#include <intel-ipsec-mb.h>

#include <optional>

#include "pep/base/check.h"
#include "pep/base/secret.h"

namespace satrelay::crypto {
namespace {

// The library's functions for this CPU.
struct Functions {
  aes_gcm_pre_t expand;
  aes_gcm_enc_dec_t encrypt;
  aes_gcm_enc_dec_t decrypt;
};

// A manager has 200 kB of job queues. Only its function pointers are used, so the manager is freed.
std::optional<Functions> find_functions() {
  IMB_MGR* manager = alloc_mb_mgr(0);
  if (manager == nullptr) return std::nullopt;
  init_mb_mgr_auto(manager, nullptr);
  constexpr std::uint64_t kNeeded =
      IMB_FEATURE_AESNI | IMB_FEATURE_PCLMULQDQ | IMB_FEATURE_SELF_TEST_PASS;
  std::optional<Functions> functions;
  if ((manager->features & kNeeded) == kNeeded) {
    functions = Functions{manager->gcm128_pre, manager->gcm128_enc, manager->gcm128_dec};
  }
  free_mb_mgr(manager);
  return functions;
}

const std::optional<Functions>& functions() {
  static const std::optional<Functions> found = find_functions();
  return found;
}

const std::uint8_t* octets(const std::byte* bytes) {
  return reinterpret_cast<const std::uint8_t*>(bytes);
}
std::uint8_t* octets(std::byte* bytes) { return reinterpret_cast<std::uint8_t*>(bytes); }

gcm_key_data* as_key(std::byte* room) { return reinterpret_cast<gcm_key_data*>(room); }
gcm_context_data* as_context(std::byte* room) { return reinterpret_cast<gcm_context_data*>(room); }

}  // namespace

bool GcmIpsecMb::is_available() { return functions().has_value(); }

GcmIpsecMb::GcmIpsecMb(std::span<const std::byte, kAeadKeySize> key) {
  static_assert(sizeof(gcm_key_data) <= sizeof(key_) && alignof(gcm_key_data) <= 64);
  static_assert(sizeof(gcm_context_data) <= sizeof(work_) && alignof(gcm_context_data) <= 16);
  SATRELAY_CHECK(is_available());
  functions()->expand(key.data(), as_key(key_.data()));
}

GcmIpsecMb::~GcmIpsecMb() {
  wipe(key_);
  wipe(work_);
}

void GcmIpsecMb::encrypt(const Nonce& nonce, ConstBytes associated, ConstBytes plain,
                         std::byte* cipher, std::byte* tag) {
  functions()->encrypt(as_key(key_.data()), as_context(work_.data()), octets(cipher),
                       octets(plain.data()), plain.size(), octets(nonce.data()),
                       octets(associated.data()), associated.size(), octets(tag), kTagSize);
}

bool GcmIpsecMb::decrypt(const Nonce& nonce, ConstBytes associated, ConstBytes cipher,
                         const std::byte* tag, std::byte* plain) {
  std::array<std::byte, kTagSize> expected;
  functions()->decrypt(as_key(key_.data()), as_context(work_.data()), octets(plain),
                       octets(cipher.data()), cipher.size(), octets(nonce.data()),
                       octets(associated.data()), associated.size(), octets(expected.data()),
                       kTagSize);
  return equal_in_constant_time(expected, ConstBytes(tag, kTagSize));
}

}  // namespace satrelay::crypto

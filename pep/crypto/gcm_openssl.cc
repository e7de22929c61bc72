#include "pep/crypto/gcm_openssl.h"

#include <openssl/evp.h>

#include <limits>

#include "pep/base/check.h"

namespace satrelay::crypto {
namespace {

int length_of(ConstBytes bytes) {
  SATRELAY_CHECK(bytes.size() <= std::size_t{std::numeric_limits<int>::max()});
  return static_cast<int>(bytes.size());
}

}  // namespace

GcmOpenSsl::GcmOpenSsl(ConstBytes key)
    : encryption_(EVP_CIPHER_CTX_new()), decryption_(EVP_CIPHER_CTX_new()) {
  SATRELAY_CHECK(key.size() == 16 || key.size() == 32);
  const EVP_CIPHER* cipher =
      key.size() == 16 ? algorithms().aes_128_gcm.get() : algorithms().aes_256_gcm.get();
  must(EVP_EncryptInit_ex2(encryption_.get(), cipher, raw(key.data()), nullptr, nullptr));
  must(EVP_DecryptInit_ex2(decryption_.get(), cipher, raw(key.data()), nullptr, nullptr));
}

void GcmOpenSsl::encrypt(const Nonce& nonce, ConstBytes associated, ConstBytes plain,
                         std::byte* cipher, std::byte* tag) {
  EVP_CIPHER_CTX* const context = encryption_.get();
  int written = 0;
  must(EVP_EncryptInit_ex2(context, nullptr, nullptr, raw(nonce.data()), nullptr));
  // If this call gets a null pointer and a length of 0, it ends the message. So it is skipped if
  // there are no associated data.
  if (!associated.empty()) {
    must(EVP_EncryptUpdate(context, nullptr, &written, raw(associated.data()),
                           length_of(associated)));
  }
  if (!plain.empty()) {
    must(EVP_EncryptUpdate(context, raw(cipher), &written, raw(plain.data()), length_of(plain)));
  }
  must(EVP_EncryptFinal_ex(context, raw(cipher), &written));
  must(EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, kTagSize, tag));
}

bool GcmOpenSsl::decrypt(const Nonce& nonce, ConstBytes associated, ConstBytes cipher,
                         const std::byte* tag, std::byte* plain) {
  EVP_CIPHER_CTX* const context = decryption_.get();
  int written = 0;
  must(EVP_DecryptInit_ex2(context, nullptr, nullptr, raw(nonce.data()), nullptr));
  if (!associated.empty()) {
    must(EVP_DecryptUpdate(context, nullptr, &written, raw(associated.data()),
                           length_of(associated)));
  }
  if (!cipher.empty()) {
    must(EVP_DecryptUpdate(context, raw(plain), &written, raw(cipher.data()), length_of(cipher)));
  }
  // The tag is only read here. The function can also write tags, so its parameter is not const.
  must(EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, kTagSize, const_cast<std::byte*>(tag)));
  return EVP_DecryptFinal_ex(context, raw(plain), &written) == 1;
}

}  // namespace satrelay::crypto

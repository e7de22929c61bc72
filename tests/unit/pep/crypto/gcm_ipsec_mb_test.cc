// How the ciphers use memory. They allocate none for a packet, touch nothing beside the given
// spans, and leave no key behind. They are written in assembly, which sanitizers do not see into.
#include "pep/crypto/gcm_ipsec_mb.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <new>

#include "pep/base/random.h"
#include "pep/base/secret.h"
#include "pep/crypto/aead.h"
#include "tests/unit/pep/compress/allocations.h"
#include "tests/unit/pep/wire/octets.h"

namespace satrelay::crypto::gcm_ipsec_mb_test {
namespace {

using Octets = std::vector<std::byte>;

constexpr AeadBackend kBackends[] = {AeadBackend::kIpsecMb, AeadBackend::kOpenSsl};

std::unique_ptr<Aead> aead_of(AeadBackend backend) {
  const Secret<kAeadKeySize> key;
  return make_aead(key.bytes(), backend);
}

TEST(AeadMemory, PacketsTakeNoneFromTheHeap) {
  if (!compress::counts_allocations()) GTEST_SKIP() << "a sanitizer owns malloc";
  for (const AeadBackend backend : kBackends) {
    if (!is_available(backend)) continue;
    const auto aead = aead_of(backend);
    Octets header(8), packet(1500 + kTagSize);
    const auto carry = [&](std::uint64_t number) {
      const Nonce nonce = packet_nonce({.number = number});
      const MutableBytes plain = MutableBytes(packet).first(1500);
      aead->seal(nonce, header, plain, packet);
      return aead->open(nonce, header, packet, plain);
    };
    // libcrypto allocates a little with the first packet of a key.
    std::size_t carried = carry(0) ? 1 : 0;
    const std::uint64_t before = compress::allocation_count();
    for (std::uint64_t number = 1; number < 1000; ++number) carried += carry(number) ? 1 : 0;
    EXPECT_EQ(compress::allocation_count() - before, 0U) << static_cast<int>(backend);
    EXPECT_EQ(carried, 1000U);
  }
}

TEST(AeadMemory, ForgedPacketsTakeNoneFromTheHeap) {
  if (!compress::counts_allocations()) GTEST_SKIP() << "a sanitizer owns malloc";
  for (const AeadBackend backend : kBackends) {
    if (!is_available(backend)) continue;
    const auto aead = aead_of(backend);
    Octets packet(1500 + kTagSize), plain(1500);
    std::size_t refused = aead->open({}, {}, packet, plain) ? 0 : 1;
    const std::uint64_t before = compress::allocation_count();
    for (int i = 1; i < 1000; ++i) refused += aead->open({}, {}, packet, plain) ? 0 : 1;
    EXPECT_EQ(compress::allocation_count() - before, 0U) << static_cast<int>(backend);
    EXPECT_EQ(refused, 1000U);
  }
}

// Two accessible pages between two that fault on every access.
class Fenced {
 public:
  Fenced() : page_(static_cast<std::size_t>(::sysconf(_SC_PAGESIZE))) {
    void* map = ::mmap(nullptr, 4 * page_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, /*fd=*/-1, 0);
    if (map == MAP_FAILED) throw std::bad_alloc();
    begin_ = static_cast<std::byte*>(map);
    if (::mprotect(begin_ + page_, 2 * page_, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
  }
  Fenced(const Fenced&) = delete;
  Fenced& operator=(const Fenced&) = delete;
  ~Fenced() { ::munmap(begin_, 4 * page_); }

  MutableBytes at_begin(std::size_t size) { return {begin_ + page_, size}; }
  MutableBytes at_end(std::size_t size) { return {begin_ + 3 * page_ - size, size}; }

 private:
  std::size_t page_;
  std::byte* begin_;
};

TEST(AeadMemory, NothingBesideTheSpansIsTouched) {
  Fenced fenced_plain, fenced_sealed, fenced_header;
  for (const AeadBackend backend : kBackends) {
    if (!is_available(backend)) continue;
    const auto aead = aead_of(backend);
    for (std::size_t size = 0; size < 1100; ++size) {
      for (const bool at_end : {false, true}) {
        const auto place = [&](Fenced& fenced, std::size_t n) {
          return at_end ? fenced.at_end(n) : fenced.at_begin(n);
        };
        const MutableBytes plain = place(fenced_plain, size);
        const MutableBytes sealed = place(fenced_sealed, size + kTagSize);
        const MutableBytes header = place(fenced_header, size % 41);
        std::fill(plain.begin(), plain.end(), std::byte{9});
        aead->seal({}, header, plain, sealed);
        ASSERT_TRUE(aead->open({}, header, sealed, plain)) << size;
        ASSERT_TRUE(
            std::all_of(plain.begin(), plain.end(), [](std::byte b) { return b == std::byte{9}; }));
      }
    }
  }
}

TEST(AeadMemory, AKeyIsWipedInTheEnd) {
  if (!is_available(AeadBackend::kIpsecMb)) GTEST_SKIP() << "not on this CPU";
  Random random(6);
  const Octets key = wire::random_octets(random, kAeadKeySize);
  alignas(GcmIpsecMb) std::array<std::byte, sizeof(GcmIpsecMb)> memory{};
  auto* aead = new (memory.data())
      GcmIpsecMb(std::span<const std::byte, kAeadKeySize>(key.data(), kAeadKeySize));
  Octets packet(100 + kTagSize);
  aead->seal({}, {}, ConstBytes(packet).first(100), packet);
  const auto count_of_others_than_zero = [&] {
    return std::count_if(memory.begin(), memory.end(),
                         [](std::byte b) { return b != std::byte{0}; });
  };
  // The first round key is the key itself.
  EXPECT_NE(std::search(memory.begin(), memory.end(), key.begin(), key.end()), memory.end());
  EXPECT_GT(count_of_others_than_zero(), 200);
  aead->~GcmIpsecMb();
  asm volatile("" : : "r"(memory.data()) : "memory");
  EXPECT_LE(count_of_others_than_zero(), 8);  // a pointer to the virtual functions
}

}  // namespace
}  // namespace satrelay::crypto::gcm_ipsec_mb_test

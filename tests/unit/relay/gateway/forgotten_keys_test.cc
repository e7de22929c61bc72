// After a reload with another secret, no memory of the process holds the old one.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "pep/base/seeded_entropy.h"
#include "tests/unit/relay/gateway/gateway_fixture.h"

namespace satrelay::gateway::forgotten_keys_test {
namespace {

// The test itself never stores a whole key, except in the secrets that it gives to the gateways.
std::byte octet_of_key(std::uint8_t key, std::size_t i) {
  return static_cast<std::byte>((i * 151 + key * 29U + 83) * 37U >> 2);
}

Secret<config::kPskSize> make_key(std::uint8_t number) {
  Secret<config::kPskSize> key;
  for (std::size_t i = 0; i < key.size(); ++i) key.bytes()[i] = octet_of_key(number, i);
  return key;
}

// AddressSanitizer would report the freed memory that this reads.
[[gnu::no_sanitize("address")]] bool is_key(const std::byte* bytes, std::uint8_t number) {
  for (std::size_t i = 0; i < config::kPskSize; ++i) {
    if (bytes[i] != octet_of_key(number, i)) return false;
  }
  return true;
}

// Counts the copies of a key in all writable memory of the process, except its stacks.
[[gnu::no_sanitize("address")]] std::size_t copies_of_key(std::uint8_t number) {
  std::size_t copies = 0;
  std::FILE* maps = std::fopen("/proc/self/maps", "re");
  if (maps == nullptr) return 0;
  std::vector<std::pair<std::uintptr_t, std::uintptr_t>> regions;
  for (char line[512]; std::fgets(line, sizeof line, maps) != nullptr;) {
    unsigned long begin = 0, end = 0;
    char rights[8] = {};
    if (std::sscanf(line, "%lx-%lx %7s", &begin, &end, rights) != 3) continue;
    const std::string text = line;
    if (rights[0] != 'r' || rights[1] != 'w' || text.find("[stack") != std::string::npos) continue;
    // Memory that a sanitizer uses for itself is in longer regions.
    if (end - begin <= (1UL << 28)) regions.emplace_back(begin, end);
  }
  std::fclose(maps);
  const std::byte first = octet_of_key(number, 0);
  for (const auto& [begin, end] : regions) {
    const auto* const last = reinterpret_cast<const std::byte*>(end - config::kPskSize);
    for (const auto* at = reinterpret_cast<const std::byte*>(begin); at <= last; ++at) {
      if (*at == first && is_key(at, number)) ++copies;
    }
  }
  return copies;
}

class ForgottenKeys : public GatewayTest {
 protected:
  void give_keys(std::uint8_t number, std::optional<std::uint8_t> other = std::nullopt) {
    for (config::Gateway* config : {&config_a_, &config_b_}) {
      config->peers[0].security.keys.emplace();
      config->peers[0].security.keys->current = make_key(number);
      if (other) config->peers[0].security.keys->other = make_key(*other);
    }
  }
  void start_both() {
    a_ = std::make_unique<Gateway>(
        config_a_,
        Identity{.boot_epoch = 1, .secret = {1, 2}, .wan_mac = kGatewayMac, .entropy = &entropy_},
        memory_a_, now_);
    start_b(2);
  }
  void start_b(std::uint64_t epoch) {
    b_ = std::make_unique<Gateway>(
        config_b_,
        Identity{.boot_epoch = epoch, .secret = {3, 4}, .wan_mac = kPeerMac, .entropy = &entropy_},
        memory_b_, now_);
  }
  void reload_both() {
    a_->reconfigure(config_a_, now_);
    b_->reconfigure(config_b_, now_);
  }
  SeededEntropy entropy_{1};
};

TEST_F(ForgottenKeys, AReloadLeavesNoCopyOfTheOldSecret) {
  give_keys(1, 2);
  start_both();
  for (int i = 0; i < 40; ++i) step();
  ASSERT_EQ(a_->peers()[0].state, stp::PeerState::kAlive);
  ASSERT_TRUE(a_->peers()[0].encrypts);
  give_keys(3);  // removes the key from the test's own configurations
  ASSERT_GE(copies_of_key(1), 2U) << "the sessions have it";
  reload_both();
  EXPECT_EQ(copies_of_key(1), 0U);
  EXPECT_EQ(copies_of_key(2), 0U);
  EXPECT_GE(copies_of_key(3), 2U);
  for (int i = 0; i < 40; ++i) step();
  EXPECT_EQ(a_->peers()[0].state, stp::PeerState::kAlive);
}

// The peer is missed, and HELLOs ask for it. They have offers that were made with the secret.
TEST_F(ForgottenKeys, NorDoesAReloadWhileThePeerIsMissed) {
  give_keys(1);
  start_both();
  for (int i = 0; i < 40; ++i) step();
  b_.reset();
  for (int i = 0; i < 80; ++i) {
    now_ += Duration::milliseconds(100);
    a_->handle_timeout(now_);
    while (next_frame(PortId::kWan)) {
    }
  }
  ASSERT_EQ(a_->peers()[0].state, stp::PeerState::kSuspect);
  give_keys(3);
  a_->reconfigure(config_a_, now_);
  EXPECT_EQ(copies_of_key(1), 0U);
  start_b(3);
  for (int i = 0; i < 40; ++i) step();
  EXPECT_EQ(a_->peers()[0].state, stp::PeerState::kAlive);
}

}  // namespace
}  // namespace satrelay::gateway::forgotten_keys_test

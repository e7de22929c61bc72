// The configuration of fuzz_relay's gateway. It has eight variants, so that a reload changes
// something.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "config/model/schema.h"
#include "pep/base/address.h"
#include "pep/compress/dictionary.h"
#include "pep/compress/effort.h"
#include "tests/support/gateway_config.h"
#include "tests/unit/pep/compress/dictionary_samples.h"

namespace satrelay {

inline constexpr BitRate kRate = BitRate::bits_per_second(50'000'000);
inline constexpr std::size_t kMemory = 1 << 20;
inline constexpr std::uint32_t kFlows = 8;
inline constexpr MacAddress kHostMac{{2, 0, 0, 0, 0, 1}};
inline constexpr MacAddress kFarMac{{2, 0, 0, 0, 0, 2}};
inline constexpr std::uint16_t kFirstClientPort = 40'000, kFirstServerPort = 8'000;
inline constexpr unsigned kPorts = 6;  // Number of client ports, and of server ports.

inline IpAddress own() { return IpAddress::v4({192, 0, 2, 1}); }
inline IpAddress peer_address() { return IpAddress::v4({192, 0, 2, 2}); }
inline IpAddress host_address() { return IpAddress::v4({203, 0, 113, 5}); }
inline IpAddress far_address() { return IpAddress::v4({198, 51, 100, 5}); }

// One rule for each port, so that the client's port chooses the modes.
inline std::vector<config::Rule> rules(unsigned variant) {
  std::vector<config::Rule> list;
  for (std::uint16_t port = 80; port < 86; ++port) {
    config::Rule rule;
    rule.match.port = {{port, port}};
    const unsigned bits = port + variant;
    if (bits % 6 == 5) rule.action = config::Action::kBridge;
    if (bits % 3 == 1) rule.modes.handshake = config::HandshakeMode::kRemote;
    if (bits % 6 == 4) rule.modes.ack = config::AckMode::kEndToEnd;
    if (bits % 2 == 1) rule.modes.close = config::CloseMode::kConfirmed;
    if (bits % 4 == 3) rule.modes.window = config::WindowMode::kMirror;
    if (bits % 5 == 2) rule.modes.delivery = config::DeliveryMode::kPrompt;
    if (variant % 2 == 1) rule.compress = config::Compress::kOn;
    // These also concern connections that exist when the configuration is reloaded.
    if (variant == 6 && port == 82) rule.action = config::Action::kReset;
    if (variant == 7 && port == 83) rule.action = config::Action::kDrop;
    if (rule.action != config::Action::kAccelerate) rule.modes = {};
    if (bits % 4 == 0) rule.traffic_class = "voice";
    if (bits % 4 == 1) rule.traffic_class = "bulk";
    list.push_back(rule);
  }
  return list;
}

// Data that hosts send.
inline ConstBytes answers() {
  static const std::string kText = [] {
    Random random(7);
    std::string text;
    for (int i = 0; i < 40; ++i) text += compress::web_answer(random);
    return text;
  }();
  return std::as_bytes(std::span(kText));
}

inline ConstBytes noise() {
  static const std::vector<std::byte> kNoise = [] {
    Random random(8);
    std::vector<std::byte> bytes(answers().size());
    for (std::byte& octet : bytes) octet = static_cast<std::byte>(random.next());
    return bytes;
  }();
  return kNoise;
}

// A dictionary that fits the answers, and the same under another name.
inline const std::shared_ptr<const compress::DictionaryLevels>& dictionary(unsigned which) {
  static const auto kMade = [] {
    compress::Bytes content = compress::trained_dictionary(1);
    std::array<std::shared_ptr<const compress::DictionaryLevels>, 2> made;
    for (auto& each : made) {
      each = std::make_shared<const compress::DictionaryLevels>(
          compress::Dictionary::make(content), compress::kLowestLevel, compress::kHighestLevel);
      content.back() ^= std::byte{1};
    }
    return made;
  }();
  return kMade.at(which);
}

inline config::Gateway configuration(unsigned variant) {
  config::Gateway config = test::gateway_config(
      {.rate = kRate},
      {test::peer_config("peer", peer_address(), {*IpPrefix::parse("198.51.100.0/24")})});
  config.classes = {{.name = "voice", .guaranteed = kRate.scaled(1 + variant, 50)},
                    {.name = "bulk", .weight = static_cast<std::uint8_t>(1 + variant * 30)}};
  if (variant % 3 != 2) {
    const ConstBytes content = dictionary(variant % 3)->dictionary()->content();
    config.classes[1].dictionary.assign(content.begin(), content.end());
  }
  if (variant == 3) config.classes[1].maximum = kRate.scaled(1, 10);
  if (variant == 4) std::swap(config.classes[0], config.classes[1]);
  config.rules = rules(variant);
  config.limits.flows = kFlows;
  config.limits.half_open = 1 + variant % 4;
  config.limits.memory = ByteCount(kMemory);
  config.limits.idle_timeout = Duration::seconds(60 + variant * 10);
  config.limits.half_close_timeout = Duration::seconds(30 + variant);
  config.stp.give_up_after = Duration::seconds(5 + variant);
  config.links[0].send_rate = kRate.scaled(1 + variant % 4, 4);
  return config;
}

}  // namespace satrelay

// What is left of a flow that has ended: a plain value for whoever writes it down.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "config/model/names.h"
#include "pep/base/address.h"
#include "pep/base/time.h"
#include "pep/wire/ethernet.h"
#include "relay/gateway/counters.h"
#include "relay/gateway/flows/origin.h"
#include "relay/gateway/peers/lan_report.h"

namespace satrelay::gateway {

// A name of the configuration, by value: what a reload takes out of it may be in records still. No
// name is longer.
class RecordedName {
 public:
  RecordedName() = default;
  explicit RecordedName(std::string_view name)
      : size_(static_cast<std::uint8_t>(std::min(name.size(), config::kMostNameCharacters))) {
    std::copy_n(name.begin(), size_, text_.begin());
  }
  std::string_view view() const { return {text_.data(), size_}; }

 private:
  std::array<char, config::kMostNameCharacters> text_{};
  std::uint8_t size_ = 0;
};

struct FlowRecord {
  std::uint64_t id = 0;  // as in FlowSnapshot
  IpAddress client, server;
  std::uint16_t client_port = 0, server_port = 0;
  std::array<std::uint16_t, wire::kMaxVlanTags> vlans{};  // of this LAN, outermost first; 0: none
  Origin origin{};
  Counter end{};             // why it ended: one of those that count ends of flows
  bool established = false;  // the handshake with the host of this LAN was complete
  std::uint32_t peer = 0;    // its place in the configuration, from 0
  std::uint32_t rule = 0;    // that it fell under here; 0: none
  RecordedName rule_name;
  RecordedName traffic_class;  // "": none
  Instant began;               // its SYN came from the LAN, or its OPEN from the peer
  Instant ended;               // nothing was owed any more in either direction
  // Since it began, until the first byte of the server's had come here.
  std::optional<Duration> first_byte;
  std::uint64_t bytes_from_lan = 0;  // plain
  std::uint64_t bytes_to_lan = 0;
  std::uint64_t encoded_to_peer = 0;  // what the bytes from the LAN became in the stream
  std::uint64_t encoded_from_peer = 0;
  LanFigures lan;                 // of this LAN
  std::optional<LanFigures> far;  // of the far one; nullopt: its gateway has not told
};

// Is told of each flow that ends, in the midst of other calls: it must not call the gateway.
class FlowRecorder {
 public:
  virtual ~FlowRecorder() = default;
  virtual void handle_end(const FlowRecord& record) = 0;
};

}  // namespace satrelay::gateway

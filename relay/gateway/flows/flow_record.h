// The record of a flow that has ended: a plain value for the writer of the flow records.
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
#include "relay/gateway/ids.h"
#include "relay/gateway/peers/lan_report.h"

namespace satrelay::gateway {

// A copy of a name of the configuration, since a reload may remove the name before the record is
// written. No name of the configuration is longer than the copy can hold.
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
  // VLAN ids on this LAN, outermost first; 0 if none.
  std::array<std::uint16_t, wire::kMaxVlanTags> vlans{};
  Origin origin{};
  Counter end{};             // why the flow ended: one of the counters of flow ends
  bool established = false;  // the handshake with the host on this LAN was completed
  FarGatewayId peer;
  std::uint32_t rule = 0;  // number of the rule that the connection matched here; 0 if none
  RecordedName rule_name;
  RecordedName traffic_class;  // empty if the flow has no class
  Instant began;               // when its SYN arrived from the LAN, or its OPEN from the peer
  Instant ended;               // when neither direction had anything left to deliver
  // Time from `began` until the server's first byte arrived here.
  std::optional<Duration> first_byte;
  std::uint64_t bytes_from_lan = 0;  // bytes before compression
  std::uint64_t bytes_to_lan = 0;
  std::uint64_t encoded_to_peer = 0;  // bytes from the LAN, as encoded in the stream
  std::uint64_t encoded_from_peer = 0;
  LanFigures lan;                 // retransmissions on this LAN
  std::optional<LanFigures> far;  // the same on the far LAN; nullopt if not reported
};

// Receives a record of each flow that ends. The gateway calls handle_end() in the middle of other
// calls, so handle_end() must not call the gateway.
class FlowRecorder {
 public:
  virtual ~FlowRecorder() = default;
  virtual void handle_end(const FlowRecord& record) = 0;
};

}  // namespace satrelay::gateway

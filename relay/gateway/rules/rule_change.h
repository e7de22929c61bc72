// Settings of a rule that an operator may change at run time, each setting separately.
#pragma once

#include <optional>

#include "config/model/schema.h"

namespace satrelay::gateway {

struct RuleChange {
  std::optional<config::Compress> compress = {};
  std::optional<config::HandshakeMode> handshake = {};
  std::optional<config::AckMode> ack = {};
  std::optional<config::CloseMode> close = {};
  std::optional<config::WindowMode> window = {};
  std::optional<config::DeliveryMode> delivery = {};
  std::optional<config::TtlMode> ttl = {};
  std::optional<config::MptcpMode> mptcp = {};

  void apply(config::Rule& rule) const {
    rule.compress = compress.value_or(rule.compress);
    rule.modes.handshake = handshake.value_or(rule.modes.handshake);
    rule.modes.ack = ack.value_or(rule.modes.ack);
    rule.modes.close = close.value_or(rule.modes.close);
    rule.modes.window = window.value_or(rule.modes.window);
    rule.modes.delivery = delivery.value_or(rule.modes.delivery);
    rule.ttl = ttl.value_or(rule.ttl);
    rule.mptcp = mptcp.value_or(rule.mptcp);
  }
};

}  // namespace satrelay::gateway

#include "config/read_modes.h"

namespace satrelay::config {
namespace {

template <typename Mode>
void read(const Fields& rule, const char* key, Action action,
          std::initializer_list<std::pair<std::string_view, Mode>> words, Mode& mode) {
  const Value* value = rule.find(key);
  if (value == nullptr) return;
  if (action == Action::kBridge) {
    value->fail("contradicts action bridge: bridged frames pass untouched; remove it");
  }
  mode = value->word<Mode>(words);
}

}  // namespace

FlowModes read_modes(const Fields& rule, Action action) {
  FlowModes modes;
  read<HandshakeMode>(rule, "handshake", action,
                      {{"local", HandshakeMode::kLocal}, {"remote", HandshakeMode::kRemote}},
                      modes.handshake);
  read<AckMode>(rule, "ack", action,
                {{"local", AckMode::kLocal}, {"end-to-end", AckMode::kEndToEnd}}, modes.ack);
  read<CloseMode>(rule, "close", action,
                  {{"local", CloseMode::kLocal}, {"confirmed", CloseMode::kConfirmed}},
                  modes.close);
  read<WindowMode>(rule, "window", action,
                   {{"rewrite", WindowMode::kRewrite}, {"mirror", WindowMode::kMirror}},
                   modes.window);
  if (modes.ack == AckMode::kEndToEnd && modes.handshake == HandshakeMode::kLocal) {
    rule.find("ack")->fail(
        "needs handshake: remote; otherwise the host learns the round trip of its own LAN and "
        "sends "
        "everything again before an acknowledgment can be there");
  }
  return modes;
}

}  // namespace satrelay::config

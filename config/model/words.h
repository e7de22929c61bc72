// The words for enumerators, one table for each enum. Configuration files, the control socket and
// messages all use these words.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "config/model/schema.h"

namespace satrelay::config {

template <typename Enum>
using Word = std::pair<std::string_view, Enum>;

// The words are in the order of the enumerators, because word_of() uses the enumerators as indices.
template <typename Enum>
inline constexpr Word<Enum> kWords[] = {};
template <>
inline constexpr Word<Action> kWords<Action>[] = {{"accelerate", Action::kAccelerate},
                                                  {"bridge", Action::kBridge},
                                                  {"drop", Action::kDrop},
                                                  {"reset", Action::kReset}};
template <>
inline constexpr Word<Direction> kWords<Direction>[] = {{"outbound", Direction::kOutbound},
                                                        {"inbound", Direction::kInbound}};
template <>
inline constexpr Word<Compress> kWords<Compress>[] = {
    {"off", Compress::kOff}, {"auto", Compress::kAuto}, {"on", Compress::kOn}};
template <>
inline constexpr Word<HandshakeMode> kWords<HandshakeMode>[] = {{"local", HandshakeMode::kLocal},
                                                                {"remote", HandshakeMode::kRemote},
                                                                {"auto", HandshakeMode::kAuto}};
template <>
inline constexpr Word<AckMode> kWords<AckMode>[] = {{"local", AckMode::kLocal},
                                                    {"end-to-end", AckMode::kEndToEnd}};
template <>
inline constexpr Word<CloseMode> kWords<CloseMode>[] = {{"local", CloseMode::kLocal},
                                                        {"confirmed", CloseMode::kConfirmed}};
template <>
inline constexpr Word<WindowMode> kWords<WindowMode>[] = {{"rewrite", WindowMode::kRewrite},
                                                          {"mirror", WindowMode::kMirror}};
template <>
inline constexpr Word<TtlMode> kWords<TtlMode>[] = {{"last", TtlMode::kLast},
                                                    {"preserve", TtlMode::kPreserve}};
template <>
inline constexpr Word<MptcpMode> kWords<MptcpMode>[] = {{"fallback", MptcpMode::kFallback},
                                                        {"bridge", MptcpMode::kBridge}};
template <>
inline constexpr Word<DeliveryMode> kWords<DeliveryMode>[] = {{"ordinary", DeliveryMode::kOrdinary},
                                                              {"prompt", DeliveryMode::kPrompt}};

template <>
inline constexpr Word<Congestion> kWords<Congestion>[] = {{"cubic", Congestion::kCubic},
                                                          {"newreno", Congestion::kNewReno}};
template <>
inline constexpr Word<LogLevel> kWords<LogLevel>[] = {{"error", LogLevel::kError},
                                                      {"warning", LogLevel::kWarning},
                                                      {"info", LogLevel::kInfo},
                                                      {"debug", LogLevel::kDebug}};

template <>
inline constexpr Word<Polling> kWords<Polling>[] = {{"adaptive", Polling::kAdaptive},
                                                    {"busy", Polling::kBusy}};
template <>
inline constexpr Word<FeedbackMode> kWords<FeedbackMode>[] = {{"adaptive", FeedbackMode::kAdaptive},
                                                              {"hpfp", FeedbackMode::kHpfp},
                                                              {"m-nack", FeedbackMode::kMNack}};
template <>
inline constexpr Word<PathMtu> kWords<PathMtu>[] = {{"discover", PathMtu::kDiscover},
                                                    {"known", PathMtu::kKnown}};
template <>
inline constexpr Word<Fec> kWords<Fec>[] = {{"auto", Fec::kAuto}, {"off", Fec::kOff}};
template <>
inline constexpr Word<FairHosts> kWords<FairHosts>[] = {{"local", FairHosts::kLocal},
                                                        {"remote", FairHosts::kRemote}};
template <>
inline constexpr Word<IpfixTransport> kWords<IpfixTransport>[] = {{"udp", IpfixTransport::kUdp},
                                                                  {"tcp", IpfixTransport::kTcp}};
template <>
inline constexpr Word<Driver> kWords<Driver>[] = {{"pci", Driver::kPci},
                                                  {"af_packet", Driver::kAfPacket},
                                                  {"af_xdp", Driver::kAfXdp},
                                                  {"memif", Driver::kMemif}};

template <typename Enum>
constexpr std::string_view word_of(Enum value) {
  return kWords<Enum>[static_cast<std::size_t>(value)].first;
}

template <typename Enum>
constexpr std::optional<Enum> from_word(std::string_view text) {
  for (const auto& [word, value] : kWords<Enum>) {
    if (word == text) return value;
  }
  return std::nullopt;
}

// Returns all words as text for messages: "off, auto, on".
template <typename Enum>
std::string known_words() {
  std::string known;
  for (const auto& [word, value] : kWords<Enum>) {
    if (!known.empty()) known += ", ";
    known += word;
  }
  return known;
}

}  // namespace satrelay::config

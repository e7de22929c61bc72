// Writes frames as text, so that a test compares what a receiver would read.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pep/stp/wire/frames.h"

namespace satrelay::stp::test {

inline std::vector<std::byte> bytes_of(std::string_view text) {
  const auto* data = reinterpret_cast<const std::byte*>(text.data());
  return {data, data + text.size()};
}

// Collects the frames of a packet as text.
struct Transcript {
  std::string text;
  void operator()(const PingFrame& f) { text += "PING " + std::to_string(f.settled) + ";"; }
  void operator()(const SettledFrame& f) { text += "SETTLED " + std::to_string(f.settled) + ";"; }
  void operator()(const LaneCreditFrame& f) { text += "LANE " + std::to_string(f.limit) + ";"; }
  void operator()(const StreamCreditFrame& f) {
    text += "STREAM " + std::to_string(f.stream) + " " + std::to_string(f.limit) + ";";
  }
  void operator()(const OpenFrame& f) {
    text += "OPEN " + std::to_string(f.stream) + " " + std::to_string(f.metadata.size()) + ";";
  }
  void operator()(const ResetFrame& f) {
    text += "RESET " + std::to_string(f.stream) + " " + to_string(f.reason) + " " +
            std::to_string(f.final_size) + ";";
  }
  void operator()(const ConfirmFrame& f) {
    const Confirmation& c = f.confirmation;
    text += "CONFIRM " + std::to_string(f.stream) + " " + std::to_string(f.sequence) + " " +
            (c.answered ? "A" : "") + (c.ended ? "E" : "") + " " + std::to_string(c.delivered) +
            " " + std::to_string(c.window) +
            (c.keep_alives > 0 ? " " + std::to_string(c.keep_alives) : "") +
            (c.urgent.mark > 0
                 ? " urgent " + std::to_string(c.urgent.after) + " " + std::to_string(c.urgent.mark)
                 : "") +
            (c.word.question > 0
                 ? (c.word.silent ? " silent " : " alive ") + std::to_string(c.word.question)
                 : "") +
            ";";
  }
  void operator()(const RateFrame& f) {
    text += "RATE " + std::to_string(f.sequence) + " " +
            std::to_string(f.capacity.to_bits_per_second()) + ";";
  }
  void operator()(const StartCreditFrame& f) {
    text += "START " + std::to_string(f.sequence) + " " + std::to_string(f.limit) + ";";
  }
  void operator()(const ReceptionFrame& f) {
    text += "RECEPTION " + std::to_string(f.missed) + " " + std::to_string(f.waited_us) + ";";
  }
  void operator()(const CloseFrame& f) {
    text += std::string("CLOSE ") + to_string(f.reason) + ";";
  }
  void operator()(const DataFrame& f) {
    text += "DATA " + std::to_string(f.stream) + " " + std::to_string(f.offset) + "+" +
            std::to_string(f.bytes.size()) + (f.fin ? " FIN;" : ";");
  }
  void operator()(const FeedbackFrame& f) {
    text += "FEEDBACK " + std::to_string(f.floor) + " " + std::to_string(f.begin) + "-" +
            std::to_string(f.end) + "/" + std::to_string(f.highest) + ":";
    f.for_each_run(
        [this](std::uint64_t b, std::uint64_t e) {
          text += " +" + std::to_string(b) + "-" + std::to_string(e);
        },
        [this](std::uint64_t b, std::uint64_t e) {
          text += " -" + std::to_string(b) + "-" + std::to_string(e);
        });
    text += ";";
  }
  void operator()(const RepairFrame& f) {
    text += "REPAIR " + std::to_string(static_cast<int>(f.code)) + " row " + std::to_string(f.row) +
            " of " + std::to_string(f.first) + "+" + std::to_string(f.count) + " " +
            std::to_string(f.symbol.size()) + ";";
  }
  void operator()(const CodedFrame& f) {
    text +=
        "CODED " + std::to_string(static_cast<int>(f.code)) + " " + std::to_string(f.index) + ";";
  }
  void unknown(std::uint8_t type) { text += "UNKNOWN " + std::to_string(type) + ";"; }
};

// nullopt if a frame is malformed.
inline std::optional<std::string> read(ConstBytes frames) {
  Transcript transcript;
  if (!walk_frames(frames, transcript)) return std::nullopt;
  return transcript.text;
}

struct Buffer {
  std::array<std::byte, 2048> room{};
  ByteWriter out{room};
  ConstBytes bytes() const { return ConstBytes(room).first(out.written()); }
};

}  // namespace satrelay::stp::test

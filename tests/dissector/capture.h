// A capture file, and a file with the expectation for each of its packets, one JSON object a line.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>

#include "pep/base/address.h"
#include "pep/base/bytes.h"
#include "pep/base/time.h"
#include "tests/dissector/expectation.h"
#include "tests/dissector/pcap.h"

namespace satrelay::dissector {

inline constexpr std::uint16_t kStpPort = 7878;

class Capture {
 public:
  // Opens FOLDER/NAME.pcap and FOLDER/NAME.jsonl.
  Capture(const std::string& folder, const std::string& name)
      : pcap_(folder + "/" + name + ".pcap"), json_(folder + "/" + name + ".jsonl") {}

  // Adds `frame`, which begins with its Ethernet header. The file gets its first `captured` bytes.
  void add(Instant when, ConstBytes frame, std::size_t captured, const Expectation& expectation);

 private:
  PcapWriter pcap_;
  std::ofstream json_;
};

// Writes every frame type with the values that matter, well-formed and malformed.
void write_frames(const std::string& folder);
// Writes packets cut off at any byte and with any bit flipped, with their old checksum or a new
// one.
void write_damaged(const std::string& folder);

}  // namespace satrelay::dissector

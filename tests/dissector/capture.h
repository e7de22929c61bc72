// A capture file, and beside it what must be said about each of its packets, a JSON object a line.
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
  // FOLDER/NAME.pcap and FOLDER/NAME.jsonl.
  Capture(const std::string& folder, const std::string& name)
      : pcap_(folder + "/" + name + ".pcap"), json_(folder + "/" + name + ".jsonl") {}

  // `frame` from its Ethernet header on, of which `captured` bytes are in the file.
  void add(Instant when, ConstBytes frame, std::size_t captured, const Expectation& expectation);

 private:
  PcapWriter pcap_;
  std::ofstream json_;
};

// Every frame type with the values that matter, well-formed and not.
void write_frames(const std::string& folder);
// Packets cut off at any byte and with any bit flipped, with their checksum as it was or anew.
void write_damaged(const std::string& folder);

}  // namespace satrelay::dissector

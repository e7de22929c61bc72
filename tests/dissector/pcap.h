// Writes captures in the format that every reader knows (draft-ietf-opsawg-pcap).
#pragma once

#include <cstdint>
#include <fstream>
#include <string>

#include "pep/base/bytes.h"
#include "pep/base/time.h"

namespace satrelay::dissector {

class PcapWriter {
 public:
  explicit PcapWriter(const std::string& path) : file_(path, std::ios::binary) {
    file_.exceptions(std::ios::badbit | std::ios::failbit);
    constexpr std::uint32_t kNanoseconds = 0xa1b23c4d, kLongest = 65535, kEthernet = 1;
    for (const std::uint32_t word : {kNanoseconds, 2U | 4U << 16U, 0U, 0U, kLongest, kEthernet}) {
      put(word);
    }
  }
  // Writes the first `captured` bytes of a frame.
  void write(Instant when, ConstBytes frame, std::size_t captured) {
    const auto time = static_cast<std::uint64_t>(when.to_nanoseconds());
    put(static_cast<std::uint32_t>(time / 1'000'000'000));
    put(static_cast<std::uint32_t>(time % 1'000'000'000));
    put(static_cast<std::uint32_t>(captured));
    put(static_cast<std::uint32_t>(frame.size()));
    file_.write(reinterpret_cast<const char*>(frame.data()),
                static_cast<std::streamsize>(captured));
  }

 private:
  // In this machine's byte order, which the first word of the file shows.
  void put(std::uint32_t word) { file_.write(reinterpret_cast<const char*>(&word), sizeof word); }
  std::ofstream file_;
};

}  // namespace satrelay::dissector

// Writes pcapng, the capture format of Wireshark (draft-ietf-opsawg-pcapng), with one section, one
// Ethernet interface, times in nanoseconds, and this machine's byte order.
#pragma once

#include <cstdint>
#include <ostream>
#include <span>
#include <string>

namespace satrelay::ctl {

class PcapngWriter {
 public:
  struct Interface {
    std::string name;         // name of the port: "lan", "wan" or "wan, decrypted"
    std::string description;  // text that names the gateway
    std::string filter;       // empty if there is no filter
    std::uint32_t longest = 0;
  };
  // Writes the headers. `out` must outlive the writer. The state of `out` shows whether all was
  // written.
  PcapngWriter(std::ostream& out, const Interface& interface, const std::string& application);

  enum class Way : std::uint8_t { kInbound = 1, kOutbound = 2 };
  // `time`: nanoseconds since 1970, UTC. `original`: the length of the whole frame.
  void packet(std::uint64_t time, Way way, std::uint32_t original,
              std::span<const std::byte> bytes);
  // `received`: frames that matched. `lost`: how many of these were lost before they could be
  // written.
  void statistics(std::uint64_t time, std::uint64_t received, std::uint64_t lost);

 private:
  void block(std::uint32_t type, const std::string& body);
  std::ostream& out_;
};

}  // namespace satrelay::ctl

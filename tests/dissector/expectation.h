// The expected output of a dissector for an STP packet, found with the project's own parsers. It
// has the values of each field in the order of their places, the findings, and the line in the
// list.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "pep/base/bytes.h"
#include "pep/stp/wire/frames.h"
#include "pep/stp/wire/packet.h"
#include "relay/gateway/peers/host_arrival.h"
#include "relay/gateway/peers/host_evidence.h"
#include "relay/gateway/peers/lan_destination.h"

namespace satrelay::dissector {

struct Expectation {
  bool is_stp = false;
  bool fields_known = false;  // False: only the findings count, as the packet is broken off.
  std::map<std::string, std::vector<std::string>> fields;  // By names without "satstp.".
  std::set<std::string> findings;
  std::string info;
};

// One lane between two gateways, as an observer of its packets knows it.
class Observer {
 public:
  // `from`: which of the two gateways. `captured`: how much of the packet is in the capture.
  Expectation observe(unsigned from, ConstBytes packet, std::size_t captured);
  // Gives the seal of a session for which the capture has no HELLOs.
  void tell(unsigned from, const stp::SessionSeal& seal) { unheard_.at(from) = seal; }

 private:
  enum class Carries : std::uint8_t { kNothing, kBlocks, kList };
  // Where the next header begins in one direction of a stream, and the bytes of it that were seen.
  struct Headers {
    std::optional<std::uint64_t> next = 0;
    std::vector<std::byte> partial;
  };

  void observe_frames(ConstBytes frames);
  void observe_frame(ByteReader& in);
  void check_crc(ConstBytes packet);
  void observe_encrypted(ConstBytes packet);
  void observe_hello(ConstBytes frames);
  void hello(ByteReader& in, std::uint32_t number);
  void open(const stp::OpenFrame& frame);
  std::string metadata(ConstBytes bytes, Carries& carries);
  std::string evidence(const gateway::HostEvidence& evidence);
  std::string destination(const gateway::LanDestination& told);
  std::string arrival(const gateway::HostArrival& told);
  std::string flow(ConstBytes bytes);
  void data(ByteReader& in, std::uint8_t type);
  void stream_bytes(const stp::DataFrame& frame);
  void block(ConstBytes header, ConstBytes rest);
  void entry(ConstBytes header, ConstBytes rest);
  void feedback(const stp::FeedbackFrame& frame);
  void extension(std::uint8_t type, ConstBytes whole);
  void repair(const stp::RepairFrame& frame);

  void add(const std::string& name, std::uint64_t value) {
    now_.fields[name].push_back(std::to_string(value));
  }
  void add_text(const std::string& name, const std::string& value) {
    now_.fields[name].push_back(value);
  }
  void add_bytes(const std::string& name, ConstBytes value);
  void word(const std::string& text) { words_.push_back(text); }

  std::array<std::vector<std::uint64_t>, 2> epochs_;  // Named by HELLOs.
  std::array<std::optional<stp::SessionSeal>, 2> unheard_;
  bool encrypts_ = false;  // As the newest HELLO says.
  std::map<std::uint64_t, Carries> carried_;
  std::map<std::pair<unsigned, std::uint64_t>, Headers> headers_;

  // State for the packet that is being observed.
  Expectation now_;
  unsigned from_ = 0;
  std::uint32_t number_ = 0;
  bool is_trusted_ = false;
  std::vector<std::string> words_;
};

}  // namespace satrelay::dissector

// Writes frames that no honest gateway writes. The frames are well-formed, but may name any stream,
// packet or host.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "pep/base/address.h"
#include "pep/base/bytes.h"
#include "pep/base/random.h"
#include "pep/stp/fec/fec_codec.h"
#include "pep/stp/wire/frames.h"
#include "relay/gateway/frames/open_metadata.h"
#include "relay/sim/adversaries/tricks.h"

namespace satrelay::sim {

// One end of a connection: its address, and the MAC behind that address.
struct KnownConnection {
  IpAddress address;
  MacAddress mac;
};
struct KnownFlow {
  KnownConnection client;
  KnownConnection server;
  std::uint16_t client_port = 0;
  std::uint16_t server_port = 0;
};

// The hosts, flows and ports that the hostile peer may name.
struct KnownHosts {
  std::vector<KnownConnection> own;     // hosts behind the hostile peer
  std::vector<KnownConnection> near;    // hosts behind the victim
  std::vector<KnownConnection> others;  // hosts behind other peers, and addresses that no host has
  std::vector<KnownFlow> flows;         // flows between honest hosts
  std::vector<std::uint16_t> ports;     // server ports
};

class FrameCrafter {
 public:
  FrameCrafter(std::uint64_t seed, std::uint32_t tricks, KnownHosts known)
      : random_(seed), tricks_(tricks), known_(std::move(known)) {}

  // State of the session in which the frames are sent.
  struct Session {
    bool opens_even = false;
    std::uint64_t sent = 0;  // number of packets sent so far
  };
  void begin_session();
  void note_stream(std::uint64_t id) { theirs_.push_back(id); }
  bool knows(PeerTrick trick) const { return (tricks_ & bit(trick)) != 0; }
  Random& random() { return random_; }

  // Adds one or more frames to `out`. Adds nothing if no enabled trick writes frames.
  void craft(ByteWriter& out, const Session& session);
  // Writes the CODED frame, which must be the first frame of a covered packet. (The repairs of an
  // erasure code can restore covered packets.) The frame usually has the next index in sequence.
  void cover(ByteWriter& out);
  // Remembers a covered packet: its number, and its frames after the CODED frame. The packet need
  // not be sent.
  void note_covered(std::uint64_t number, ConstBytes frames);
  // Writes random bytes in place of frames. The first byte is usually a valid frame type.
  void garbage(ByteWriter& out);

 private:
  struct Own {
    std::uint64_t id = 0;
    std::uint64_t offset = 0;
  };

  void open(ByteWriter& out, const Session& session);
  void data(ByteWriter& out);
  void early_end(ByteWriter& out);
  void credit(ByteWriter& out);
  void starts(ByteWriter& out);
  void report(ByteWriter& out, const Session& session);
  void reset(ByteWriter& out);
  void confirm(ByteWriter& out);
  void rate(ByteWriter& out);
  void ping(ByteWriter& out, const Session& session);
  void message(ByteWriter& out, const Session& session);
  void flow_list(ByteWriter& out, const Session& session);
  void unknown(ByteWriter& out);
  void repair(ByteWriter& out, const Session& session);
  void repair_of_nothing(ByteWriter& out, const Session& session);

  // A packet that is covered by a code.
  struct Covered {
    std::uint16_t index = 0;
    std::size_t size = 0;           // number of the symbol's bytes without padding
    std::vector<std::byte> symbol;  // bytes of the symbol, with padding
  };

  std::uint64_t new_stream(const Session& session);
  std::uint64_t any_stream();
  Own* any_own();
  std::uint64_t any_number();  // returns a small number, a number near a limit, or a random number
  const KnownConnection& any_of(const std::vector<KnownConnection>& list);
  const KnownConnection& anybody();
  gateway::OpenMetadata metadata();
  std::size_t write_metadata(MutableBytes out);
  void write_data(ByteWriter& out, std::uint64_t stream, std::uint64_t offset, ConstBytes bytes,
                  bool fin);
  void write_block(ByteWriter& out, Own& own, std::size_t declared, std::size_t given, bool fin);
  void random_bytes(MutableBytes out);

  Random random_;
  std::uint32_t tricks_;
  KnownHosts known_;
  std::vector<std::uint64_t> theirs_;  // streams that the victim opened
  std::vector<Own> own_;
  std::uint64_t next_index_ = 0;
  std::uint64_t starts_ = 0;    // sequence number of the last START_CREDIT
  std::uint64_t rates_ = 0;     // sequence number of the last RATE
  std::uint64_t confirms_ = 0;  // sequence number of the last CONFIRM
  std::uint32_t messages_ = 0;
  stp::FecCodec codec_;
  std::deque<Covered> covered_;  // the last covered packets
  std::uint16_t covered_index_ = 0;
};

}  // namespace satrelay::sim

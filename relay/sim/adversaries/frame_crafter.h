// Frames as no honest gateway writes them: well-formed, about any stream, packet or host.
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

// Both ends of a connection, and the MACs behind them.
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

// Whom the hostile peer may speak of.
struct KnownHosts {
  std::vector<KnownConnection> own;     // hosts behind itself
  std::vector<KnownConnection> near;    // behind its victim
  std::vector<KnownConnection> others;  // behind other peers, and no hosts at all
  std::vector<KnownFlow> flows;         // between hosts that it has nothing to do with
  std::vector<std::uint16_t> ports;     // on which hosts listen
};

class FrameCrafter {
 public:
  FrameCrafter(std::uint64_t seed, std::uint32_t tricks, KnownHosts known)
      : random_(seed), tricks_(tricks), known_(std::move(known)) {}

  // What the crafter has to know of the session that it writes for.
  struct Session {
    bool opens_even = false;
    std::uint64_t sent = 0;  // packets
  };
  void begin_session();
  void note_stream(std::uint64_t id) { theirs_.push_back(id); }
  bool knows(PeerTrick trick) const { return (tricks_ & bit(trick)) != 0; }
  Random& random() { return random_; }

  // Adds a frame or a few; nothing if it knows no trick that fits.
  void craft(ByteWriter& out, const Session& session);
  // First in a packet that a code covers. Its index is mostly the next one.
  void cover(ByteWriter& out);
  // It has these frames behind, and is `number`, whether or not it leaves.
  void note_covered(std::uint64_t number, ConstBytes frames);
  // A packet's frames that are malformed somewhere.
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

  // A packet that a code covers.
  struct Covered {
    std::uint16_t index = 0;
    std::size_t size = 0;           // of its symbol
    std::vector<std::byte> symbol;  // padded
  };

  std::uint64_t new_stream(const Session& session);
  std::uint64_t any_stream();
  Own* any_own();
  std::uint64_t any_number();  // small, near a limit, or anything
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
  std::vector<std::uint64_t> theirs_;  // streams that the victim has opened
  std::vector<Own> own_;
  std::uint64_t next_index_ = 0;
  std::uint64_t starts_ = 0;    // sequence of START_CREDIT
  std::uint64_t rates_ = 0;     // of RATE
  std::uint64_t confirms_ = 0;  // of CONFIRM
  std::uint32_t messages_ = 0;
  stp::FecCodec codec_;
  std::deque<Covered> covered_;  // the last ones
  std::uint16_t covered_index_ = 0;
};

}  // namespace satrelay::sim

// The image of a whole flow: the flow, its endpoint, and its streams, as octets without pointers
// (docs/flow-image.md has the format). A flow that is read from an image behaves as the written
// flow would have, even in another process. Its bytes stay in the arena: the image only has the
// numbers of their blocks. The image contains no secrets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "pep/base/bytes.h"
#include "pep/base/time.h"
#include "pep/stp/session.h"
#include "pep/tcp/environment.h"
#include "relay/gateway/flows/flow.h"

namespace satrelay::gateway {

// Why an image was not read.
enum class FlowImageFault : std::uint8_t {
  kNone,
  kNoImage,       // not the image of a flow, or shorter than the header
  kOtherVersion,  // written by a build with another version of the format
  kDamaged,       // octets are missing, left over or changed
  kOtherFlow,     // the image of another flow, or the session does not have its streams
  kMalformed,     // a count, a number or a block that is impossible
};
const char* to_string(FlowImageFault fault);

// The properties that identify a flow, the objects that it shares with other flows, and its
// positions in tables of its gateway. The reader of an image needs them in addition to the image.
struct FlowGround {
  explicit FlowGround(const Flow& f)
      : key(f.key),
        origin(f.origin),
        lane(f.lane),
        rule(f.rule),
        common(f.endpoint.common()),
        traffic_class(f.traffic_class),
        host(f.lan.host),
        journal_place(f.journal_place) {}

  FlowKey key;
  Origin origin;
  LaneId lane;
  RulePtr rule;
  std::shared_ptr<const tcp::Common> common;  // the endpoint's counters, profile and arena
  schedule::ClassId traffic_class;
  std::uint32_t host;  // index in LanHosts
  FlowJournal::Place journal_place;
};

class FlowImage {
 public:
  static constexpr std::uint32_t kVersion = 2;

  // Writes a flow into an image, which takes the bytes out of the flow and its streams. Afterwards
  // the caller must destroy the flow, and must not use the session until read() has restored the
  // streams.
  static std::vector<std::byte> write(Flow& f, stp::Session& session, Instant now);

  // `session` is the session of the lane in `ground`, and has the streams of the flow. If a fault
  // is returned, the streams are unchanged, and there is no flow.
  struct Read {
    FlowImageFault fault = FlowImageFault::kNone;
    std::unique_ptr<Flow> flow = nullptr;
  };
  static Read read(ConstBytes octets, const FlowGround& ground, stp::Session& session, Instant now);
};

}  // namespace satrelay::gateway

// The image of a whole flow: the flow, its endpoint, and its streams, as octets without pointers
// (docs/flow-image.md has the format). A flow that is read goes on as the flow that was written
// would have gone on, perhaps in another process. Its bytes stay in the arena: the image has the
// numbers of their blocks. The image has no secret.
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
  kNoImage,       // no image of a flow, or not even the whole header
  kOtherVersion,  // another build wrote it
  kDamaged,       // octets are missing, left over or changed
  kOtherFlow,     // it is the image of another flow, or the session does not have its streams
  kMalformed,     // a count, a number or a block that cannot be
};
const char* to_string(FlowImageFault fault);

// What a flow shares with others, and what tells it from others. An image needs it beside it.
struct FlowGround {
  explicit FlowGround(const Flow& f)
      : key(f.key), origin(f.origin), lane(f.lane), rule(f.rule), common(f.endpoint.common()) {}

  FlowKey key;
  Origin origin;
  LaneId lane;
  RulePtr rule;
  std::shared_ptr<const tcp::Common> common;  // the endpoint's counters, profile and arena
};

class FlowImage {
 public:
  static constexpr std::uint32_t kVersion = 1;

  // The flow and its streams are left without their bytes. The flow is destroyed next, and nothing
  // else happens to the session before the streams are read.
  static std::vector<std::byte> write(Flow& f, stp::Session& session, Instant now);

  // `session`: that of the ground's lane, with the streams of the flow. If there is a fault, the
  // streams are as before, and there is no flow.
  struct Read {
    FlowImageFault fault = FlowImageFault::kNone;
    std::unique_ptr<Flow> flow = nullptr;
  };
  static Read read(ConstBytes octets, const FlowGround& ground, stp::Session& session, Instant now);
};

}  // namespace satrelay::gateway

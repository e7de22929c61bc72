// Records of flows as IPFIX messages (RFC 7011): a biflow each (RFC 5103), forward from the client
// to the server. What IANA has an element for is told by that; the rest by elements of the
// enterprise whose number stands in SATRELAY-MIB. docs/records.md lists them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "pep/base/bytes.h"
#include "relay/gateway/flows/flow_record.h"
#include "relay/records/json_line.h"

namespace satrelay::records {

// One transport session: its sequence numbers begin at 0. The library keeps the templates.
class IpfixMessages {
 public:
  struct Parameters {
    std::uint32_t observation_domain = 0;
    std::size_t longest = 0;  // message, octets
  };
  // Throws std::runtime_error if the library refuses what it is given.
  explicit IpfixMessages(const Parameters& parameters);
  IpfixMessages(const IpfixMessages&) = delete;
  IpfixMessages& operator=(const IpfixMessages&) = delete;
  ~IpfixMessages();

  // The templates, as a message of their own; call when nothing is begun. All answers are valid
  // until the next call.
  ConstBytes templates();
  // Adds a record to the message that is begun. If it has no room for it, that message, and the
  // record begins the next one; else nothing.
  ConstBytes add(const gateway::FlowRecord& record, const RecordContext& context);
  // The message that is begun; empty if there is none.
  ConstBytes finish();
  // Records in what add() or finish() has returned last.
  std::size_t records() const { return emitted_; }

 private:
  struct Library;
  ConstBytes emit();
  bool append(const gateway::FlowRecord& record, const RecordContext& context);

  std::unique_ptr<Library> library_;
  bool has_room(const gateway::FlowRecord& record, const RecordContext& context) const;

  std::uint16_t last_id_ = 0;  // the template of the record before
  std::size_t begun_ = 0;      // records
  std::size_t size_ = 0;       // of the message that is begun, at the most
  std::size_t emitted_ = 0;
};

// RFC 7011's flowEndReason (RFC 5102): what is known of the end in five words.
enum class FlowEndReason : std::uint8_t {
  kIdleTimeout = 1,
  kEndOfFlow = 3,
  kForcedEnd = 4,
  kLackOfResources = 5,
};
FlowEndReason flow_end_reason(gateway::Counter end);

}  // namespace satrelay::records

// Writes flow records as IPFIX messages (RFC 7011). Each record is a biflow (RFC 5103), and its
// forward direction is from the client to the server. A record uses IANA's elements where they
// exist, and otherwise enterprise-specific elements of the enterprise in SATRELAY-MIB.
// docs/records.md lists them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "pep/base/bytes.h"
#include "relay/gateway/flows/flow_record.h"
#include "relay/records/json_line.h"

namespace satrelay::records {

// Writes the messages of one transport session, with sequence numbers from 0. The library keeps the
// templates.
class IpfixMessages {
 public:
  struct Parameters {
    std::uint32_t observation_domain = 0;
    std::size_t longest = 0;  // largest size of a message, in octets
  };
  // Throws std::runtime_error if the library refuses the parameters.
  explicit IpfixMessages(const Parameters& parameters);
  IpfixMessages(const IpfixMessages&) = delete;
  IpfixMessages& operator=(const IpfixMessages&) = delete;
  ~IpfixMessages();

  // Returns a message that contains only the templates. Call this before add(), or after finish().
  // The results of all functions of this class are valid until the next call.
  ConstBytes templates();
  // Adds a record to the present message. Returns an empty span if the record fits. Otherwise
  // returns the present message, and begins the next message with the record.
  ConstBytes add(const gateway::FlowRecord& record, const RecordContext& context);
  // Ends the present message and returns it. Returns an empty span if it has no records.
  ConstBytes finish();
  // The number of records in the message that add() or finish() returned last.
  std::size_t records() const { return emitted_; }

 private:
  struct Library;
  ConstBytes emit();
  bool append(const gateway::FlowRecord& record, const RecordContext& context);

  std::unique_ptr<Library> library_;
  bool has_room(const gateway::FlowRecord& record, const RecordContext& context) const;

  std::uint16_t last_id_ = 0;  // template ID of the previous record
  std::size_t begun_ = 0;      // number of records in the present message
  std::size_t size_ = 0;       // upper bound of the present message's size, in octets
  std::size_t emitted_ = 0;
};

// The information element flowEndReason (RFC 5102). The active timeout (2) is not used.
enum class FlowEndReason : std::uint8_t {
  kIdleTimeout = 1,
  kEndOfFlow = 3,
  kForcedEnd = 4,
  kLackOfResources = 5,
};
FlowEndReason flow_end_reason(gateway::Counter end);

}  // namespace satrelay::records

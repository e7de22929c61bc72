// Exports flow records to an IPFIX collector. After the connection is opened, the collector first
// gets the templates. Over UDP the exporter cannot know whether the collector was restarted, so it
// repeats the templates (RFC 7011 section 8.4).
#pragma once

#include <optional>

#include "config/model/schema.h"
#include "pep/base/time.h"
#include "relay/records/collector_socket.h"
#include "relay/records/ipfix_message.h"
#include "relay/records/record_counters.h"

namespace satrelay::records {

class IpfixExporter {
 public:
  static constexpr Duration kTemplateInterval = Duration::seconds(10);
  // The largest UDP payload that fits into the smallest IPv6 MTU, 1280 bytes, and thus needs no
  // fragmentation.
  static constexpr std::size_t kLongestDatagram = 1'232;
  static constexpr std::size_t kLongestSegmented = 16'384;

  // `counters` must outlive this object. Throws std::runtime_error.
  IpfixExporter(const config::IpfixCollector& collector, RecordCounters& counters);

  // Opens or checks the connection, and sends the templates when they are due. Call this often, and
  // before add().
  void look(Instant now);
  void add(const gateway::FlowRecord& record, const RecordContext& context, Instant now);
  // Sends the records that were added, even if they do not fill a message.
  void flush(Instant now);
  const CollectorSocket& socket() const { return socket_; }

 private:
  void send(ConstBytes message, Instant now);
  void begin_session();

  config::IpfixCollector collector_;
  RecordCounters& counters_;
  CollectorSocket socket_;
  std::optional<IpfixMessages> messages_;
  Instant templates_due_;
};

}  // namespace satrelay::records

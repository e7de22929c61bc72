#include "relay/records/ipfix_exporter.h"

namespace satrelay::records {

IpfixExporter::IpfixExporter(const config::IpfixCollector& collector, RecordCounters& counters)
    : collector_(collector), counters_(counters), socket_(collector, counters) {
  begin_session();
}

void IpfixExporter::begin_session() {
  const bool is_tcp = collector_.transport == config::IpfixTransport::kTcp;
  messages_.emplace(
      IpfixMessages::Parameters{.observation_domain = collector_.observation_domain,
                                .longest = is_tcp ? kLongestSegmented : kLongestDatagram});
}

void IpfixExporter::send(ConstBytes message, Instant now) {
  if (message.empty()) return;
  if (socket_.state() == CollectorSocket::State::kOpen) {
    socket_.send(message, messages_->records(), now);
  } else {
    counters_.unexported += messages_->records();
  }
}

void IpfixExporter::look(Instant now) {
  const bool is_anew = socket_.look(now);
  if (socket_.state() != CollectorSocket::State::kOpen) return;
  const bool is_tcp = collector_.transport == config::IpfixTransport::kTcp;
  // Over TCP, each connection is a new transport session (RFC 7011), so start a new sequence.
  if (is_anew && is_tcp) begin_session();
  if (!is_anew && (is_tcp || now < templates_due_)) return;
  send(messages_->templates(), now);
  templates_due_ = now + kTemplateInterval;
}

void IpfixExporter::add(const gateway::FlowRecord& record, const RecordContext& context,
                        Instant now) {
  if (socket_.state() != CollectorSocket::State::kOpen) {
    ++counters_.unexported;
    return;
  }
  send(messages_->add(record, context), now);
}

void IpfixExporter::flush(Instant now) { send(messages_->finish(), now); }

}  // namespace satrelay::records

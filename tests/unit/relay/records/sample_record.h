// A sample flow record for the tests of this folder.
#pragma once

#include "relay/records/json_line.h"

namespace satrelay::records {

inline gateway::FlowRecord sample_record(std::uint64_t id = 7) {
  gateway::FlowRecord record;
  record.id = id;
  record.client = *IpAddress::parse("203.0.113.5");
  record.server = *IpAddress::parse("198.51.100.5");
  record.client_port = 40'000;
  record.server_port = 443;
  record.origin = gateway::Origin::kLan;
  record.end = gateway::Counter::kFlowsFinished;
  record.established = true;
  record.peer = gateway::FarGatewayId(1);
  record.rule = 2;
  record.rule_name = gateway::RecordedName("web");
  record.traffic_class = gateway::RecordedName("bulk");
  record.began = Instant() + Duration::milliseconds(1500);
  record.ended = record.began + Duration::microseconds(2'345'678);
  record.first_byte = Duration::microseconds(612'345);
  record.bytes_from_lan = 100;
  record.bytes_to_lan = 2'000'000;
  record.encoded_to_peer = 104;
  record.encoded_from_peer = 900'000;
  record.lan.retransmitted = 3;
  record.lan.repeated = 1;
  return record;
}

}  // namespace satrelay::records

// How the dissector must show the metadata of messages about hosts.
#include "tests/dissector/expectation.h"
#include "tests/dissector/words.h"

namespace satrelay::dissector {

std::string Observer::evidence(const gateway::HostEvidence& evidence) {
  add("open.kind", gateway::kHostEvidenceMessage);
  add("evidence.version", evidence.near.is_v4() ? 4 : 6);
  const std::string six = evidence.near.is_v4() ? "" : "6";
  add_text("evidence.near" + six, evidence.near.to_string());
  add_text("evidence.far" + six, evidence.far.to_string());
  add("evidence.near_port", evidence.near_port);
  add("evidence.far_port", evidence.far_port);
  add("evidence.sends", evidence.sends);
  add("evidence.expects", evidence.expects);
  return "evidence of " + end_of(evidence.near, evidence.near_port) + " > " +
         end_of(evidence.far, evidence.far_port);
}

std::string Observer::destination(const gateway::LanDestination& told) {
  add("open.kind", gateway::kLanDestinationMessage);
  add("destination.version", told.near.is_v4() ? 4 : 6);
  add("destination.stream", static_cast<std::uint64_t>(told.stream));
  const std::string six = told.near.is_v4() ? "" : "6";
  add_text("destination.near" + six, told.near.to_string());
  add_text("destination.far" + six, told.far.to_string());
  add("destination.tag_count", told.ethernet.tag_count);
  for (std::size_t i = 0; i < told.ethernet.tag_count; ++i) {
    add("destination.vlan.tpid", told.ethernet.tags[i].tpid);
    add("destination.vlan.id", told.ethernet.tags[i].vlan_id());
  }
  add_text("destination.mac", told.ethernet.destination.to_string());
  return "destination of " + host_of(told.near) + " > " + host_of(told.far) + " is " +
         told.ethernet.destination.to_string();
}

std::string Observer::arrival(const gateway::HostArrival& told) {
  add("open.kind", gateway::kHostArrivalMessage);
  add("arrival.version", told.host.is_v4() ? 4 : 6);
  add_text(told.host.is_v4() ? "arrival.host" : "arrival.host6", told.host.to_string());
  add("arrival.tag_count", told.ethernet.tag_count);
  for (std::size_t i = 0; i < told.ethernet.tag_count; ++i) {
    add("arrival.vlan.tpid", told.ethernet.tags[i].tpid);
    add("arrival.vlan.id", told.ethernet.tags[i].vlan_id());
  }
  add_text("arrival.mac", told.ethernet.source.to_string());
  return "arrival of " + host_of(told.host) + " with " + told.ethernet.source.to_string();
}

}  // namespace satrelay::dissector

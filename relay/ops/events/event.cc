#include "relay/ops/events/event.h"

#include <algorithm>
#include <array>

#include "relay/ops/events/event_words.h"

namespace satrelay::ops {
namespace {

using enum Severity;

// In the order of EventKind.
constexpr std::array<EventDescription, kEventKinds> kDescriptions = {{
    {"peer_alive", kInfo, "alive, new connections are relayed", ""},
    {"peer_returned", kInfo, "heard again", ""},
    {"peer_unheard", kWarning, "not heard since the start, new connections are bridged",
     "check its address, the link, and whether the far gateway runs"},
    {"peer_silent", kWarning, "silent, new connections are bridged and open ones wait",
     "check the link and the far gateway"},
    {"peer_lost", kError, "given up, connections with bytes for it are reset",
     "check the link and the far gateway"},
    {"peer_restarted", kWarning, "restarted, its connections were reset",
     "read the log of that gateway for the cause"},
    {"peer_closed", kWarning, "was shut down, its connections were reset",
     "start it again; until then new connections are bridged"},
    {"peer_wrong_key", kError, "its packets fail authentication with our key",
     "compare psk_file at both ends, then reload the gateway that has the wrong one"},
    {"peer_other_version", kError, "speaks another version of STP, new connections are bridged",
     "run the same version at both ends"},
    {"peer_unlike_security", kError, "only one end encrypts, new connections are bridged",
     "set security to the same value at both ends"},
    {"peer_unlike_workers", kError,
     "the two ends disagree about the number of workers, new connections are bridged",
     "set workers at each peer to the worker.count of that gateway"},
    {"rate_cut", kWarning, "the send rate stays below the configured rate of the link",
     "check the modem; satrelayctl peers shows the rate"},
    {"rate_restored", kInfo, "the send rate is restored", ""},
    {"rate_lowered", kInfo, "the send rate was lowered", ""},
    {"capacity_told", kInfo, "the far gateway announced the capacity of the link to it", ""},
    {"capacity_found", kInfo, "rate control has found the capacity of the link", ""},
    {"key_changed", kInfo, "a new key is in use", ""},
    {"port_up", kInfo, "link up", ""},
    {"port_down", kError, "link down, nothing passes",
     "check the cable and the device at its other end"},
    {"port_gone", kError, "its device is gone, nothing passes", "bring the device back"},
    {"port_returned", kInfo, "its device is back", ""},
    {"port_renamed", kWarning, "its device was renamed, the port still uses it",
     "write the new name into the configuration before the next start"},
    {"port_unfit", kError,
     "its device has come back in a state that cannot be used, the gateway exits",
     "restore the settings of the device; the supervisor restarts the gateway"},
    {"frames_merged", kWarning,
     "frames were dropped: they are longer than the MTU and cannot be cut",
     "give the hosts the MTU of the port; if the interface merges frames: ethtool -K <interface> "
     "gro off lro off"},
    {"frames_missed", kWarning, "frames were lost before the worker could take them",
     "give the worker a core of its own: worker.cpu, polling: busy"},
    {"memory_low", kWarning, "memory is low, windows shrink and new connections are bridged",
     "raise limits.memory"},
    {"memory_normal", kInfo, "memory is sufficient again", ""},
    {"table_full", kWarning, "the limit of connections is reached, new connections are bridged",
     "raise limits.flows"},
    {"address_conflict", kError, "another machine on the WAN uses the gateway's address",
     "give each machine an address of its own"},
    {"station_on_both_sides", kWarning, "a host was seen on the LAN and on the WAN",
     "if the host has not moved, look for a loop between the two, or for another host with its "
     "MAC"},
    {"answers_in_other_vlan", kWarning,
     "servers answer in a different VLAN from the one of the SYN; their connections are bridged",
     "check whether this is a private VLAN, which is not relayed, or a fault of a switch"},
    {"service_refuses", kInfo,
     "a far service refused a connection, or did not answer; its clients now wait for its answer",
     ""},
    {"family_silent", kWarning,
     "no server behind a peer answers over IPv4, or over IPv6; clients now wait for the server's "
     "answer",
     "check that the far LAN routes that family; satrelayctl explain shows whether a server is "
     "affected"},
    {"gateway_forged", kWarning, "a host of the LAN uses the address of a gateway",
     "find the host"},
    {"source_forged", kWarning,
     "connections from the LAN have a source address behind a peer, and are not relayed",
     "find the host, or correct the peer's prefixes"},
    {"peer_overreaches", kWarning,
     "connections from a peer were refused: their client is not behind that peer",
     "find the host behind the peer that forges its address, or correct the peer's prefixes"},
    {"source_unaccepted", kInfo,
     "the far gateway does not accept connections from some hosts of the LAN; they are bridged",
     ""},
    {"client_of_no_peer", kInfo,
     "connections from the WAN were bridged: their clients are in no peer's prefixes", ""},
    {"address_between", kInfo,
     "a server, such as a modem, is between the gateways; connections to it are bridged", ""},
    {"syn_flood", kWarning, "SYNs exceed the limit of half-open connections",
     "find the hosts that send them; if the connections are wanted, raise limits.half_open"},
    {"syn_flood_over", kInfo, "SYNs stay below the limit again", ""},
    {"worker_overloaded", kWarning,
     "the worker does not keep up, frames are lost before it can take them",
     "give it a core of its own, or more workers: worker.cpus, worker.count"},
    {"worker_keeps_up", kInfo, "the worker keeps up again", ""},
    {"worker_stuck", kError, "the worker has not reported for some time",
     "find what uses its core; if the worker stays stuck, restart the gateway"},
    {"worker_returned", kInfo, "the worker reports again", ""},
    {"records_failing", kWarning, "fails, records of flows are lost",
     "file: check the disk, the folder and its permissions; collector: check its address, and that "
     "it runs"},
    {"records_resumed", kInfo, "takes records of flows again", ""},
    {"records_lost", kWarning, "does not keep up, records of flows were lost",
     "use a faster disk or collector, or only one of the two; satrelayctl records shows how many "
     "were lost"},
    {"fault", kWarning, "has a fault", "satrelayctl doctor names cause and cure"},
    {"fault_over", kInfo, "the fault is gone", ""},
    {"reload_done", kInfo, "reload: done, the new configuration applies", ""},
    {"reload_refused", kError, "reload: refused, nothing has changed",
     "correct the configuration; satrelayd --check tests it"},
    {"capacity_set", kInfo, "its capacity was set", ""},
    {"peer_rate_set", kInfo, "its maximum send rate was set", ""},
    {"rule_set", kInfo, "its functions were set, until the next reload", ""},
    {"class_set", kInfo, "its share was set, until the next reload", ""},
    {"bypass_set", kInfo, "bypass was set", ""},
    {"drain_begun", kInfo,
     "drain: new connections are bridged; the gateway stops when the last flow has ended", ""},
    {"drain_over", kInfo, "drain: complete, the gateway stops", ""},
    {"capture_begun", kInfo, "capture begins", ""},
    {"capture_ended", kInfo, "capture ends", ""},
    {"events_left_out", kWarning, "too many events of one name, some were not kept",
     "find the cause of the repeated events"},
}};
static_assert(!kDescriptions.back().name.empty(), "an event has no description");
static_assert(std::ranges::all_of(kDescriptions,
                                  [](const EventDescription& each) {
                                    return each.text.size() <= kMostEventText &&
                                           each.advice.size() <= kMostEventText;
                                  }),
              "the stats socket would cut it");

}  // namespace

const EventDescription& describe(EventKind kind) {
  return kDescriptions[static_cast<std::size_t>(kind)];
}

std::string_view advice_of(const Event& event) {
  if (event.fault && !event.fault->cure.empty()) return event.fault->cure;
  return event.advice.empty() ? describe(event.kind).advice : event.advice;
}

Severity severity_of(const Event& event) {
  return event.kind == EventKind::kFault && event.fault ? event.fault->severity
                                                        : describe(event.kind).severity;
}

std::string to_line(const Event& event, std::string_view user) {
  const EventDescription& description = describe(event.kind);
  return to_line(EventWords{.name = description.name,
                            .subject = event.subject,
                            .text = description.text,
                            .detail = event.detail,
                            .advice = advice_of(event),
                            .user = user,
                            .before = event.before,
                            .after = event.after,
                            .check = event.fault ? event.fault->check : ""});
}

config::LogLevel level_of(Severity severity) {
  switch (severity) {
    case kError:
      return config::LogLevel::kError;
    case kWarning:
      return config::LogLevel::kWarning;
    case kInfo:
      break;
  }
  return config::LogLevel::kInfo;
}

}  // namespace satrelay::ops

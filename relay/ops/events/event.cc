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
    {"peer_restarted", kWarning, "was started anew, its connections were reset",
     "its own log tells why"},
    {"peer_closed", kWarning, "has stopped in order, its connections were reset",
     "start it again; until then new connections are bridged"},
    {"peer_wrong_key", kError, "what it sends does not open with our key",
     "compare psk_file at both ends, then reload the gateway that has the wrong one"},
    {"peer_other_version", kError, "speaks another version of STP, new connections are bridged",
     "run the same version at both ends"},
    {"peer_unlike_security", kError, "only one of both ends encrypts, new connections are bridged",
     "set security alike at both ends"},
    {"peer_unlike_workers", kError,
     "it and we count our workers otherwise, new connections are bridged",
     "set workers at each peer to the worker.count of that gateway"},
    {"rate_cut", kWarning, "less is sent than the link is configured for",
     "check the modem; satrelayctl peers shows the rate"},
    {"rate_restored", kInfo, "its rate is cut no more", ""},
    {"rate_lowered", kInfo, "less is sent than before", ""},
    {"capacity_told", kInfo, "the far gateway says what the link to it carries", ""},
    {"capacity_found", kInfo, "rate control has found what the link carries", ""},
    {"key_changed", kInfo, "a new key encrypts from now on", ""},
    {"port_up", kInfo, "link up", ""},
    {"port_down", kError, "link down, nothing passes", "check the cable and the device before it"},
    {"port_gone", kError, "its device has gone, nothing passes", "bring the device back"},
    {"port_returned", kInfo, "its device is back", ""},
    {"port_renamed", kWarning, "its device has another name, and is still the port",
     "name it so in the configuration before the next start"},
    {"port_unfit", kError, "its device has come back as it cannot be used, the gateway ends",
     "its supervisor starts it anew; see that the device is as it was"},
    {"frames_merged", kWarning,
     "frames were dropped, longer than the MTU and in no form that can be cut",
     "give the hosts the MTU of the port; if it merges itself: ethtool -K <interface> gro off lro "
     "off"},
    {"frames_missed", kWarning, "frames were lost before the worker could take them",
     "give the worker a core of its own: worker.cpu, polling: busy"},
    {"memory_low", kWarning, "memory is low, windows shrink and new connections are bridged",
     "raise limits.memory"},
    {"memory_normal", kInfo, "there is memory again", ""},
    {"table_full", kWarning, "as many connections as there may be, new ones are bridged",
     "raise limits.flows"},
    {"address_conflict", kError, "another machine on the WAN uses the gateway's address",
     "give each its own"},
    {"station_on_both_sides", kWarning, "a host was heard on the LAN and on the WAN",
     "if it has not moved, look for a loop between the two, or for who uses its MAC"},
    {"answers_in_other_vlan", kWarning,
     "servers answer in another VLAN than they are asked in; their connections are bridged",
     "see whether that is a private VLAN, which is not relayed, or an error of a switch"},
    {"service_refuses", kInfo,
     "a far service refused a connection, or did not answer; clients of it wait for it now", ""},
    {"family_silent", kWarning,
     "no server behind a peer answers by IPv4, or by IPv6; clients of them wait for them now",
     "see that the far LAN routes that family; satrelayctl explain tells of a server"},
    {"gateway_forged", kWarning, "a host of the LAN speaks in a gateway's name", "find the host"},
    {"source_forged", kWarning,
     "connections came from the LAN with an address behind a peer, and were not relayed",
     "find the host, or correct the peer's prefixes"},
    {"peer_overreaches", kWarning,
     "connections from a peer were refused, as their client is not behind it",
     "find the host behind it that forges its address, or correct the peer's prefixes"},
    {"source_unaccepted", kInfo,
     "the far gateway accepts no connections of some hosts of the LAN, theirs are bridged", ""},
    {"client_of_no_peer", kInfo,
     "connections came over the WAN from hosts in no peer's prefixes, and were bridged", ""},
    {"address_between", kInfo,
     "a server stands between the gateways, as a modem does; connections to it are bridged", ""},
    {"syn_flood", kWarning, "more SYNs come than connections may be half-open",
     "find who sends them; if they are wanted, raise limits.half_open"},
    {"syn_flood_over", kInfo, "SYNs find room again", ""},
    {"worker_overloaded", kWarning, "the worker does not keep up, frames are lost before it",
     "give it a core of its own, or more workers: worker.cpus, worker.count"},
    {"worker_keeps_up", kInfo, "the worker keeps up again", ""},
    {"worker_stuck", kError, "the worker has told nothing for some time",
     "look for what takes its core; if it stays so, restart the gateway"},
    {"worker_returned", kInfo, "the worker goes on", ""},
    {"records_failing", kWarning, "fails, records of flows are lost to it",
     "of the file see to disk, folder and rights; of the collector whether it runs, and its "
     "address"},
    {"records_resumed", kInfo, "takes records of flows again", ""},
    {"records_lost", kWarning, "does not keep up, records of flows were lost",
     "write to a faster disk or collector, or to one of both only; satrelayctl records counts"},
    {"reload_done", kInfo, "reload: taken over", ""},
    {"reload_refused", kError, "reload: refused, nothing has changed",
     "correct the configuration; satrelayd --check reads it"},
    {"capacity_set", kInfo, "its capacity was set", ""},
    {"peer_rate_set", kInfo, "the most that is sent to it was set", ""},
    {"rule_set", kInfo, "its functions were set, until the next reload", ""},
    {"class_set", kInfo, "its part was set, until the next reload", ""},
    {"bypass_set", kInfo, "bypass was set", ""},
    {"drain_begun", kInfo, "drain: new connections are bridged, and it stops behind the last one",
     ""},
    {"drain_over", kInfo, "drain: over, the gateway stops", ""},
    {"capture_begun", kInfo, "capture begins", ""},
    {"capture_ended", kInfo, "capture ends", ""},
    {"events_left_out", kWarning, "more events of one name came than are kept",
     "find what repeats them"},
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

std::string to_line(const Event& event, std::string_view user) {
  const EventDescription& description = describe(event.kind);
  return to_line(EventWords{.name = description.name,
                            .subject = event.subject,
                            .text = description.text,
                            .detail = event.detail,
                            .advice = description.advice,
                            .user = user,
                            .before = event.before,
                            .after = event.after});
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

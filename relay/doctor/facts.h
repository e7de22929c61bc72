// The facts about a gateway: its file, the machine, and its replies if it runs. `satrelayctl
// doctor` reads them when an operator asks, and the gateway itself reads them from time to time.
// The judgements (judgements.h) use nothing else, so that a test can make all of it up.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/model/schema.h"
#include "relay/client/reply.h"
#include "relay/machine/machine_facts.h"
#include "relay/machine/start_memory.h"

namespace satrelay::ctl::doctor {

// How a file differs from the one that the gateway has read, if the gateway itself looks. Another
// program only has the times.
enum class FileChange { kUnknown, kNone, kChanged, kGone };

// A file that the gateway reads at a start and at a reload.
struct ReadFile {
  std::string path;
  std::uint64_t changed_ms = 0;  // milliseconds since 1970, UTC; 0 if there is no such file
  bool is_readable = true;       // by the user of the gateway
  FileChange change = FileChange::kUnknown;
};

struct FileFacts {
  std::string path;                       // empty: no file is known
  std::string mistake;                    // why it cannot be used; empty if it can be
  std::optional<config::Gateway> config;  // nullopt if there is a mistake, or no file
  std::vector<ReadFile> read_files;       // the file itself and the secrets
};

// The replies of the stats socket. A reply that the gateway does not give is null.
struct GatewayFacts {
  Json status, ports, peers, links, rules, counters, records, bridged;
  Json events;  // the latest ones, the oldest first
  // Peers and counters of some seconds before, if a peer is not alive: the growth since then shows
  // the present cause, and the counters since the start also show earlier ones. Else null.
  Json earlier_peers, earlier_counters;
  // Counters and ports at the begin of the span that the judgements count in. Null: the span begins
  // with the start of the gateway.
  Json base_counters, base_ports;
  std::string span = "since the start";
};

// A disk that the gateway writes to.
struct DiskFacts {
  std::string key;   // "journal", "records.file"
  std::string path;  // the folder
  std::uint64_t available_bytes = 0;
  std::uint64_t needed_bytes = 0;  // that the gateway may still write
};

// The stats socket of a gateway that does not answer.
enum class SocketState {
  kAbsent,  // no gateway has run, or it has stopped in order
  kLeft,    // a gateway has left it behind, and does not run any more
  kSilent,  // a process listens, and does not answer, or not this user
};

struct Facts {
  FileFacts file;
  std::optional<GatewayFacts> gateway;  // nullopt: no gateway answers
  std::string gateway_trouble;          // why none answers
  SocketState socket_state = SocketState::kAbsent;
  std::string version;       // of this program
  std::uint64_t now_ms = 0;  // milliseconds since 1970, UTC
  std::string user;          // the user of the gateway; empty if it is not known
  machine::MachineFacts machine;
  // The memory of a start, without packets; nullopt without a file.
  std::optional<machine::StartMemory> needed;
  std::map<unsigned, double> core_loads;  // busy share of each core, 0 to 1
  std::vector<DiskFacts> disks;
  // The addresses that the kernel has on the interface of the LAN port.
  std::vector<std::string> lan_addresses;
};

// Short forms for the judgements.
inline std::uint64_t count_of(const Json& object, const char* key) {
  return number(object, key).value_or(0);
}
inline bool has_word(const Json& object, const char* key, std::string_view word) {
  return text(object, key) == word;
}
// The port in the reply of the gateway; null if it is not there.
inline const Json& port_of(const Facts& facts, const char* name) {
  static const Json nothing;
  return facts.gateway ? member(facts.gateway->ports, name) : nothing;
}
// The growth of a counter since the earlier reading; all of it if there was none.
inline std::uint64_t growth_of(const Json& now, const Json& before, const char* key) {
  return count_of(now, key) - std::min(count_of(now, key), count_of(before, key));
}
// The growth of a counter of the gateway in the span that the judgements count in.
inline std::uint64_t counted(const GatewayFacts& gateway, const char* key) {
  return growth_of(gateway.counters, gateway.base_counters, key);
}
// True if the two ports are probably exchanged: no peer is alive, and gateways, or hosts behind a
// peer, send on the LAN port.
bool looks_exchanged(const Facts& facts);

}  // namespace satrelay::ctl::doctor

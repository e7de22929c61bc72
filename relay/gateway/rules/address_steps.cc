#include "relay/gateway/rules/address_steps.h"

#include <algorithm>
#include <span>

#include "pep/base/bytes.h"

namespace satrelay::gateway {

Uint128 AddressSteps::number_of(const IpAddress& address) {
  const ConstBytes octets = std::as_bytes(std::span(address.octets()));
  if (address.is_v4()) return load_u32(octets.data());
  return Uint128{load_u64(octets.data())} << 64 | load_u64(octets.data() + 8);
}

template <typename Number>
AddressSteps::Steps<Number> AddressSteps::walk(const std::vector<Entry>& entries, IpVersion version,
                                               Walker& walker) {
  struct Edge {
    Number at;
    std::uint32_t id;
    bool enters;
  };
  std::vector<Edge> edges;
  // Ids of the prefixes that contain the last address of the IP version.
  std::vector<std::uint32_t> to_the_last;
  for (const Entry& entry : entries) {
    if (entry.prefix.address.version() != version) continue;
    const auto first = static_cast<Number>(number_of(entry.prefix.address));
    const std::size_t host_bits = sizeof(Number) * 8 - entry.prefix.length;
    const Number mask = entry.prefix.length == 0
                            ? static_cast<Number>(~Number{0})
                            : static_cast<Number>((Number{1} << host_bits) - 1);
    edges.push_back({first, entry.id, true});
    const auto end = static_cast<Number>((first | mask) + 1);
    if (end != 0) {
      edges.push_back({end, entry.id, false});
    } else {
      to_the_last.push_back(entry.id);
    }
  }
  std::ranges::sort(edges, {}, &Edge::at);

  Steps<Number> steps;
  std::size_t next = 0;
  const auto cross = [&](Number at) {
    for (; next < edges.size() && edges[next].at == at; ++next) {
      const Edge& edge = edges[next];
      edge.enters ? walker.enter(edge.id) : walker.leave(edge.id);
    }
    return walker.value();
  };
  steps.values.front() = cross(0);
  while (next < edges.size()) {
    const Number at = edges[next].at;
    const std::uint32_t value = cross(at);
    if (value == steps.values.back()) continue;
    steps.begins.push_back(at);
    steps.values.push_back(value);
  }
  for (const std::uint32_t id : to_the_last) walker.leave(id);
  return steps;
}

AddressSteps::AddressSteps(const std::vector<Entry>& entries, Walker& walker)
    : v4_(walk<std::uint32_t>(entries, IpVersion::kV4, walker)),
      v6_(walk<Uint128>(entries, IpVersion::kV6, walker)) {}

}  // namespace satrelay::gateway

#include "relay/kernel/rtnetlink.h"

#include <libmnl/libmnl.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <net/if.h>

#include <array>
#include <cerrno>
#include <system_error>

namespace satrelay::kernel {
namespace {

// Requests and answers about one interface are smaller: IFLA_STATS64 and IFLA_AF_SPEC are the
// largest parts, of some 2 KiB together.
constexpr std::size_t kMessageRoom = 16384;
using Room = std::array<char, kMessageRoom>;

[[noreturn]] void fail_request(int error, const std::string& what) {
  throw std::system_error(error, std::generic_category(), what);
}

int read_kind(const nlattr* part, void* into) {
  if (mnl_attr_get_type(part) == IFLA_INFO_KIND) {
    *static_cast<std::string*>(into) = mnl_attr_get_str(part);
  }
  return MNL_CB_OK;
}

int read_fact(const nlattr* part, void* into) {
  auto& facts = *static_cast<LinkFacts*>(into);
  switch (mnl_attr_get_type(part)) {
    case IFLA_IFNAME:
      facts.name = mnl_attr_get_str(part);
      break;
    case IFLA_MASTER:
      facts.master = mnl_attr_get_u32(part);
      break;
    case IFLA_MTU:
      facts.mtu = mnl_attr_get_u32(part);
      break;
    case IFLA_LINKINFO:
      return mnl_attr_parse_nested(part, read_kind, &facts.kind);
    default:
      break;
  }
  return MNL_CB_OK;
}

int read_facts(const nlmsghdr* message, void* into) {
  const auto* head = static_cast<const ifinfomsg*>(mnl_nlmsg_get_payload(message));
  LinkFacts facts;
  facts.index = static_cast<unsigned>(head->ifi_index);
  facts.is_up = (head->ifi_flags & IFF_UP) != 0;
  mnl_attr_parse(message, sizeof *head, read_fact, &facts);
  *static_cast<std::optional<LinkFacts>*>(into) = facts;
  return MNL_CB_OK;
}

ifinfomsg& put_link(nlmsghdr& message, unsigned index) {
  auto* head = static_cast<ifinfomsg*>(mnl_nlmsg_put_extra_header(&message, sizeof(ifinfomsg)));
  head->ifi_family = AF_UNSPEC;
  head->ifi_index = static_cast<int>(index);
  return *head;
}

std::string interface_text(unsigned index) { return "interface " + std::to_string(index); }

}  // namespace

void Rtnetlink::Close::operator()(mnl_socket* socket) const { mnl_socket_close(socket); }

Rtnetlink::Rtnetlink() : socket_(mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC)) {
  if (socket_ == nullptr || mnl_socket_bind(socket_.get(), 0, MNL_SOCKET_AUTOPID) != 0) {
    fail_request(errno, "rtnetlink");
  }
}

Rtnetlink::~Rtnetlink() = default;

std::optional<LinkFacts> Rtnetlink::ask(const std::string& what,
                                        const std::function<void(nlmsghdr&)>& fill) {
  Room room{};
  nlmsghdr* message = mnl_nlmsg_put_header(room.data());
  message->nlmsg_type = RTM_GETLINK;
  message->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
  message->nlmsg_seq = ++sequence_;
  fill(*message);
  if (mnl_socket_sendto(socket_.get(), message, message->nlmsg_len) < 0) fail_request(errno, what);
  std::optional<LinkFacts> found;
  int more = MNL_CB_OK;
  while (more == MNL_CB_OK) {
    const ssize_t size = mnl_socket_recvfrom(socket_.get(), room.data(), room.size());
    if (size < 0) fail_request(errno, what);
    more = mnl_cb_run(room.data(), static_cast<std::size_t>(size), sequence_,
                      mnl_socket_get_portid(socket_.get()), read_facts, &found);
  }
  if (more == MNL_CB_ERROR && errno != ENODEV) fail_request(errno, what);
  return found;
}

std::optional<LinkFacts> Rtnetlink::find(const std::string& name) {
  if (name.empty() || name.size() >= IFNAMSIZ) return std::nullopt;
  return ask("interface " + name, [&](nlmsghdr& message) {
    put_link(message, 0);
    mnl_attr_put_strz(&message, IFLA_IFNAME, name.c_str());
  });
}

std::optional<LinkFacts> Rtnetlink::find(unsigned index) {
  if (index == 0) return std::nullopt;
  return ask(interface_text(index), [&](nlmsghdr& message) { put_link(message, index); });
}

void Rtnetlink::change(const std::string& what, std::uint16_t type, std::uint16_t flags,
                       const std::function<void(nlmsghdr&)>& fill) {
  Room room{};
  nlmsghdr* message = mnl_nlmsg_put_header(room.data());
  message->nlmsg_type = type;
  message->nlmsg_flags = static_cast<std::uint16_t>(NLM_F_REQUEST | NLM_F_ACK | flags);
  message->nlmsg_seq = ++sequence_;
  fill(*message);
  if (mnl_socket_sendto(socket_.get(), message, message->nlmsg_len) < 0) fail_request(errno, what);
  const ssize_t size = mnl_socket_recvfrom(socket_.get(), room.data(), room.size());
  if (size < 0 || mnl_cb_run(room.data(), static_cast<std::size_t>(size), sequence_,
                             mnl_socket_get_portid(socket_.get()), nullptr, nullptr) < 0) {
    fail_request(errno, what);
  }
}

void Rtnetlink::set_link(const std::string& what, unsigned index,
                         const std::function<void(nlmsghdr&)>& fill) {
  change(what, RTM_NEWLINK, 0, [&](nlmsghdr& message) {
    put_link(message, index);
    fill(message);
  });
}

void Rtnetlink::set_up(unsigned index, bool up) {
  change(interface_text(index) + (up ? ", up" : ", down"), RTM_NEWLINK, 0, [&](nlmsghdr& message) {
    ifinfomsg& head = put_link(message, index);
    head.ifi_change = IFF_UP;
    if (up) head.ifi_flags = IFF_UP;
  });
}

void Rtnetlink::set_mtu(unsigned index, unsigned mtu) {
  set_link(interface_text(index) + ", MTU " + std::to_string(mtu), index,
           [&](nlmsghdr& message) { mnl_attr_put_u32(&message, IFLA_MTU, mtu); });
}

void Rtnetlink::set_master(unsigned index, unsigned master) {
  set_link(interface_text(index) + ", master " + std::to_string(master), index,
           [&](nlmsghdr& message) { mnl_attr_put_u32(&message, IFLA_MASTER, master); });
}

void Rtnetlink::remove(unsigned index) {
  change(interface_text(index) + ", removal", RTM_DELLINK, 0,
         [&](nlmsghdr& message) { put_link(message, index); });
}

void Rtnetlink::detach_xdp(unsigned index) {
  set_link(interface_text(index) + ", XDP", index, [](nlmsghdr& message) {
    nlattr* const xdp = mnl_attr_nest_start(&message, IFLA_XDP);
    mnl_attr_put_u32(&message, IFLA_XDP_FD, static_cast<std::uint32_t>(-1));
    mnl_attr_nest_end(&message, xdp);
  });
}

}  // namespace satrelay::kernel

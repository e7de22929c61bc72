#include "relay/satrelayctl/init/questions.h"

#include <algorithm>
#include <utility>

#include "config/model/names.h"
#include "config/readers/read_common.h"
#include "config/text/error.h"
#include "relay/satrelayctl/init/address_answers.h"
#include "relay/satrelayctl/init/file_answers.h"
#include "relay/satrelayctl/init/link_answers.h"
#include "relay/satrelayctl/init/port_answers.h"

namespace satrelay::ctl::init {
namespace {

using config::Value;

std::string name_of_host(const Answers& answers, const Setting& setting) {
  std::string name = setting.machine.host_name.substr(0, setting.machine.host_name.find('.'));
  std::erase_if(name, [](char c) { return !config::is_name_character(c); });
  name.resize(std::min(name.size(), config::kMostNameCharacters));
  // The machine has "-" if the kernel gives no name.
  return name.empty() || name == "-" ? to_string(answers.role) : name;
}

std::string read_name(const Value& value) {
  std::string name = value.text("write a name, like teleport");
  config::check_name(value, name);
  return name;
}

void read_peer_name(const Value& value, Answers& answers, const Setting& setting) {
  answers.there.name = read_name(value);
  if (answers.there.name == answers.here.name)
    value.fail("is the name of this site already; write another");
  refuse_existing(value, answers.peer_configuration_file(), setting);
}

const Question kQuestions[] = {
    {.key = "folder",
     .text = "Folder of the files",
     .help = "The folder gets gateway.yaml, the secret psk, and a folder with the file of the "
             "other site. Both sites use the same folder. The systemd unit of satrelayd reads "
             "/etc/satrelay/gateway.yaml.",
     .fallback = [](const Answers& a, const Setting& s) { return s.folder.value_or(a.folder); },
     .read = read_folder},
    {.key = "role",
     .text = "Role of this gateway: hub or terminal",
     .help = "The hub is at the teleport, and may serve several terminals. A terminal has one hub, "
             "and any host may be behind the hub. The hosts behind the terminals share the hub's "
             "link alike.",
     .fallback = [](const Answers& a, const Setting&) { return std::string(to_string(a.role)); },
     .read =
         [](const Value& v, Answers& a, const Setting&) {
           a.role = v.word<Role>({{"hub", Role::kHub}, {"terminal", Role::kTerminal}});
         }},
    {.key = "site",
     .text = "Name of this site",
     .help = "1 to 32 letters, digits, '_' or '-'. The other gateway shows this one by this name.",
     .fallback = name_of_host,
     .read = [](const Value& v, Answers& a, const Setting&) { a.here.name = read_name(v); }},
    {.key = "peer",
     .text = "Name of the other site",
     .help = "1 to 32 letters, digits, '_' or '-'. This gateway shows the other one by this name.",
     .fallback = [](const Answers& a,
                    const Setting&) { return std::string(to_string(other(a.role))); },
     .read = read_peer_name},
    {.key = "take_used_ports",
     .text = "Take ports that carry the default route or an ssh session",
     .help = "yes or no. A gateway on such a port cuts this machine off.",
     .fallback = [](const Answers&, const Setting&) { return std::string("no"); },
     .read =
         [](const Value& v, Answers& a, const Setting&) {
           a.takes_used_ports = v.word<bool>({{"yes", true}, {"no", false}});
         },
     .place = Place::kOnlyInFiles},
    {.key = "lan",
     .text = "Port towards the hosts (LAN)",
     .help = "The name of a kernel interface, or the PCI address of a card that is bound to "
             "vfio-pci. The LAN has hosts on its segment. The WAN has the modem.",
     .fallback = usual_lan,
     .read = read_lan},
    {.key = "wan",
     .text = "Port towards the modem (WAN)",
     .help = "The name of a kernel interface, or the PCI address of a card that is bound to "
             "vfio-pci. If the other gateway runs already, its packets of STP arrive here.",
     .fallback = usual_wan,
     .read = read_wan},
    {.key = "peer_lan",
     .text = "Port towards the hosts at the other site",
     .help = "As above, for the machine at the other site. `ip link` there lists the names.",
     .fallback = [](const Answers& a, const Setting&) { return device_of(a.here.lan); },
     .read = read_peer_lan},
    {.key = "peer_wan",
     .text = "Port towards the modem at the other site",
     .help = "As above, for the machine at the other site.",
     .fallback = [](const Answers& a, const Setting&) { return device_of(a.here.wan); },
     .read = read_peer_wan},
    {.key = "address",
     .text = "Address of this gateway on the WAN, with the length of its subnet",
     .help = "Both gateways need an address of their own, on the side of the modem. If both are on "
             "one segment, a small subnet that nothing else uses will do, as the default. If "
             "routers are between them, write an address of the segment here.",
     .fallback = usual_address,
     .read = read_own_address},
    {.key = "peer_address",
     .text = "Address of the other gateway",
     .help = "An address in the same subnet. If routers are between the gateways, write the "
             "address with the length of its own subnet, like 203.0.113.5/29.",
     .fallback = usual_peer_address,
     .read = read_peer_address},
    {.key = "next_hop",
     .text = "Router towards the other gateway",
     .help = "The address of a router in the subnet of this gateway.",
     .fallback = usual_router,
     .read = read_next_hop,
     .applies = needs_routers},
    {.key = "peer_next_hop",
     .text = "Router from the other gateway to this one",
     .help = "The address of a router in the subnet of the other gateway.",
     .fallback = usual_router,
     .read = read_peer_next_hop,
     .applies = needs_routers},
    {.key = "terminal_hosts",
     .text = "Prefixes of the hosts behind the terminal",
     .help = "One prefix or several, like 198.51.100.0/24, 2001:db8:2::/48. The hub relays TCP "
             "with these hosts only. A hub with several terminals needs the prefixes of each. any: "
             "every host may be behind the terminal, which must be the only one.",
     .fallback = usual_terminal_hosts,
     .read = read_terminal_hosts,
     .shape = Shape::kList},
    {.key = "overhead",
     .text = "Kind of modem: ethernet, ip, gse, mpe, ule, hdlc or bytes",
     .help = "The bytes that each packet costs on the link beyond its IP bytes. The gateways pace "
             "by them, so that the modem's queue stays short.",
     .fallback = [](const Answers& a, const Setting&) { return a.overhead_name; },
     .read = read_overhead},
    {.key = "capacity",
     .text = "Rate of the link: known or find",
     .help = "known: the modems have fixed rates, which you know. find: the gateways find the "
             "rates and follow them, through rain, ACM or a beam that others share.",
     .fallback = usual_capacity,
     .read = read_capacity},
    {.key = "send_rate",
     .text = "Rate that the modem here can send",
     .help = "Like 50Mbit: bits a second, as the modem counts them. With capacity: find this is a "
             "ceiling, and may be none.",
     .fallback = usual_send_rate,
     .read = read_send_rate},
    {.key = "receive_rate",
     .text = "Rate that the modem of the other site can send",
     .help = "Like 10Mbit: bits a second, as the modem counts them. With capacity: find this is "
             "the ceiling of the other gateway, and may be none.",
     .fallback = usual_receive_rate,
     .read = read_receive_rate},
    {.key = "handshake",
     .text = "Handshake of connections: local, remote or auto",
     .help = "local: the gateway answers a SYN at once, which saves a round trip. remote: it "
             "answers when the server has answered, so that a closed port refuses as without "
             "gateways. auto: local for servers that have answered within a day, else remote.",
     .fallback = [](const Answers&, const Setting&) { return std::string("local"); },
     .read = [](const Value& v, Answers& a,
                const Setting&) { a.handshake = v.word<config::HandshakeMode>(); }},
    {.key = "secret",
     .text = "Secret of the two gateways: make, none or a file",
     .help = "make: a new secret, which you take to the other site. If the other site has made "
             "one, write the absolute path of your copy. none: others on the satellite segment "
             "can read and forge, so use it in a lab only.",
     .fallback = [](const Answers& a, const Setting&) { return usual_secret(a); },
     .read = read_secret},
};

// The name under which an answer is read that stands in no file, and the begin of its messages.
constexpr const char* kTyped = "answer";

YAML::Node node_of(const Question& question, const std::string& text) {
  constexpr std::string_view kSeparators = ", \t";
  if (question.shape == Shape::kSingle || text.find_first_of(kSeparators) == std::string::npos) {
    return YAML::Node(text);
  }
  YAML::Node list(YAML::NodeType::Sequence);
  std::size_t from = 0;
  while ((from = text.find_first_not_of(kSeparators, from)) != std::string::npos) {
    const std::size_t end = std::min(text.find_first_of(kSeparators, from), text.size());
    list.push_back(text.substr(from, end - from));
    from = end;
  }
  return list;
}

// Returns the message of an error about a typed answer without its place: "answer: lan: ...".
std::string cause_of(const config::ConfigError& error, const Question& question) {
  std::string message = error.what();
  std::string place = std::string(kTyped) + ": " + std::string(question.key);
  if (message.starts_with(place)) message.erase(0, message.find(": ", place.size()) + 2);
  return message;
}

}  // namespace

std::span<const Question> questions() { return kQuestions; }

bool applies(const Question& question, const Answers& answers, const Setting& setting) {
  return question.applies == nullptr || question.applies(answers, setting);
}

std::optional<std::string> take_answer(const Question& question, const std::string& text,
                                       const Setting& setting, Answers& answers) {
  Answers next = answers;
  config::Places places(kTyped);
  try {
    question.read(Value(places, node_of(question, text), std::string(question.key)), next, setting);
  } catch (const config::ConfigError& error) {
    return cause_of(error, question);
  }
  answers = std::move(next);
  return std::nullopt;
}

}  // namespace satrelay::ctl::init

#include "relay/records/ipfix_message.h"

#include <fixbuf/public.h>

#include <array>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace satrelay::records {
namespace {

// The values from the far gateway may be unknown, and IPFIX cannot encode an unknown value. So each
// IP version has two templates: one with these values, and one without them.
constexpr std::uint16_t kTemplateV4 = 256;
constexpr std::uint16_t kTemplateV6 = 257;
constexpr std::uint16_t kFarTemplateV4 = 258;
constexpr std::uint16_t kFarTemplateV6 = 259;

// --- enterprise-specific elements ----------------------------------------------------------------

// A reversible element has a second element for the reverse direction, with bit 14 of its number
// set (RFC 5103 section 6).
fbInfoElement_t element(const char* name, std::uint16_t number, std::uint16_t size,
                        std::uint32_t flags, std::uint8_t type) {
  return FB_IE_INIT_FULL(name, SATRELAY_ENTERPRISE, number, size, flags, 0, 0, type, nullptr);
}

void add_enterprise_elements(fbInfoModel_t* model) {
  constexpr std::uint32_t kOctets = FB_IE_F_ENDIAN | FB_IE_DELTACOUNTER | FB_UNITS_OCTETS;
  constexpr std::uint32_t kPackets = FB_IE_F_ENDIAN | FB_IE_DELTACOUNTER | FB_UNITS_PACKETS;
  constexpr std::uint32_t kTime = FB_IE_F_ENDIAN | FB_IE_QUANTITY | FB_UNITS_MICROSECONDS;
  std::array elements{
      element("satrelayEncodedOctets", 1, 8, kOctets | FB_IE_F_REVERSIBLE, FB_UINT_64),
      element("satrelayFirstByteMicroseconds", 2, 4, kTime, FB_UINT_32),
      element("satrelayLanRetransmittedSegments", 3, 4, kPackets, FB_UINT_32),
      element("satrelayLanRepeatedSegments", 4, 4, kPackets, FB_UINT_32),
      element("satrelayRuleNumber", 5, 4, FB_IE_F_ENDIAN | FB_IE_IDENTIFIER, FB_UINT_32),
      element("satrelayRuleName", 6, FB_IE_VARLEN, 0, FB_STRING),
      element("satrelayClassName", 7, FB_IE_VARLEN, 0, FB_STRING),
      element("satrelayPeerName", 8, FB_IE_VARLEN, 0, FB_STRING),
      element("satrelayEnd", 9, FB_IE_VARLEN, 0, FB_STRING),
      element("satrelayFarLanRetransmittedSegments", 10, 4, kPackets, FB_UINT_32),
      element("satrelayFarLanRepeatedSegments", 11, 4, kPackets, FB_UINT_32),
  };
  for (fbInfoElement_t& each : elements) fbInfoModelAddElement(model, &each);
}

// --- a record as libfixbuf expects it in memory --------------------------------------------------

// The fields of a record, in the order of kFields and without padding between them.
struct Values {
  std::uint64_t start_ms, end_ms;
  std::uint64_t octets, reverse_octets;
  std::uint64_t encoded, reverse_encoded;
  std::uint64_t id;
  std::uint32_t first_byte_us, retransmitted, repeated, rule;
  std::uint32_t far_retransmitted, far_repeated;
  std::uint16_t client_port, server_port, vlan;
  std::uint8_t protocol, end_reason, biflow_direction, flow_direction;
  std::uint8_t padding[6];
  fbVarfield_t rule_name, class_name, peer_name, end;
};
struct ValuesV4 {
  std::uint32_t client, server;  // host byte order
  Values values;
};
struct ValuesV6 {
  std::array<std::uint8_t, 16> client, server;
  Values values;
};

struct Field {
  std::string_view name;
  std::uint16_t size;  // size in memory, in octets
};
constexpr std::string_view kPadding = "paddingOctets";
constexpr std::string_view kFarRetransmitted = "satrelayFarLanRetransmittedSegments";
constexpr std::string_view kFarRepeated = "satrelayFarLanRepeatedSegments";
constexpr Field kFieldsV4[] = {{"sourceIPv4Address", 4}, {"destinationIPv4Address", 4}};
constexpr Field kFieldsV6[] = {{"sourceIPv6Address", 16}, {"destinationIPv6Address", 16}};
constexpr Field kFields[] = {
    {"flowStartMilliseconds", 8},
    {"flowEndMilliseconds", 8},
    {"octetDeltaCount", 8},
    {"reverseOctetDeltaCount", 8},
    {"satrelayEncodedOctets", 8},
    {"reverseSatrelayEncodedOctets", 8},
    {"flowId", 8},
    {"satrelayFirstByteMicroseconds", 4},
    {"satrelayLanRetransmittedSegments", 4},
    {"satrelayLanRepeatedSegments", 4},
    {"satrelayRuleNumber", 4},
    {kFarRetransmitted, 4},
    {kFarRepeated, 4},
    {"sourceTransportPort", 2},
    {"destinationTransportPort", 2},
    {"vlanId", 2},
    {"protocolIdentifier", 1},
    {"flowEndReason", 1},
    {"biflowDirection", 1},
    {"flowDirection", 1},
    {kPadding, 6},
    {"satrelayRuleName", FB_IE_VARLEN},
    {"satrelayClassName", FB_IE_VARLEN},
    {"satrelayPeerName", FB_IE_VARLEN},
    {"satrelayEnd", FB_IE_VARLEN},
};
constexpr std::uint8_t kProtocolTcp = 6;
// biflowDirection: the initiator of the connection is the source
constexpr std::uint8_t kInitiator = 1;
constexpr std::uint8_t kIngress = 0;  // flowDirection: the client is on the LAN
constexpr std::uint8_t kEgress = 1;

constexpr std::size_t size_in_memory(std::span<const Field> fields) {
  std::size_t size = 0;
  for (const Field& field : fields) {
    size += field.size == FB_IE_VARLEN ? sizeof(fbVarfield_t) : field.size;
  }
  return size;
}
static_assert(size_in_memory(kFields) == sizeof(Values));
static_assert(size_in_memory(kFieldsV4) + sizeof(Values) == sizeof(ValuesV4));
static_assert(size_in_memory(kFieldsV6) + sizeof(Values) == sizeof(ValuesV6));

[[noreturn]] void fail(GError*& error) {
  const std::string text = error != nullptr ? error->message : "no reason given";
  g_clear_error(&error);
  throw std::runtime_error("libfixbuf: " + text);
}

// The layout of a record. kInMemory is the layout of the struct, with its sizes and padding. The
// other two are layouts in the message: kSentWithFar includes the values from the far gateway,
// kSent does not.
enum class Form : std::uint8_t { kInMemory, kSent, kSentWithFar };

void append_fields(fbTemplate_t* made, std::span<const Field> fields, Form form) {
  for (const Field& field : fields) {
    const bool is_far = field.name == kFarRetransmitted || field.name == kFarRepeated;
    if (form != Form::kInMemory && field.name == kPadding) continue;
    if (form == Form::kSent && is_far) continue;
    std::string name(field.name);
    fbInfoElementSpec_t spec{};
    spec.name = name.data();
    const bool sized = form == Form::kInMemory && field.size != FB_IE_VARLEN;
    spec.len_override = sized ? field.size : std::uint16_t{0};
    GError* error = nullptr;
    if (fbTemplateAppendSpec(made, &spec, 0, &error) == FALSE) fail(error);
  }
}

void add_template(fbInfoModel_t* model, fbSession_t* session, std::uint16_t id,
                  std::span<const Field> addresses, Form form) {
  fbTemplate_t* made = fbTemplateAlloc(model);
  append_fields(made, addresses, form);
  append_fields(made, kFields, form);
  GError* error = nullptr;
  const gboolean internal = form == Form::kInMemory ? TRUE : FALSE;
  if (fbSessionAddTemplate(session, internal, id, made, &error) == 0) fail(error);
}

std::uint32_t in_order_of_machine(const IpAddress& address) {
  const auto& octets = address.octets();
  return std::uint32_t{octets[0]} << 24 | std::uint32_t{octets[1]} << 16 |
         std::uint32_t{octets[2]} << 8 | octets[3];
}

// The cast is safe, since the library only reads the text.
fbVarfield_t text_of(std::string_view text) {
  return {text.size(), reinterpret_cast<std::uint8_t*>(const_cast<char*>(text.data()))};
}

Values values_of(const gateway::FlowRecord& record, const RecordContext& context) {
  const bool from_lan = record.origin == gateway::Origin::kLan;
  Values values{};
  values.start_ms = context.utc_us(record.began) / 1000;
  values.end_ms = context.utc_us(record.ended) / 1000;
  values.octets = from_lan ? record.bytes_from_lan : record.bytes_to_lan;
  values.reverse_octets = from_lan ? record.bytes_to_lan : record.bytes_from_lan;
  values.encoded = from_lan ? record.encoded_to_peer : record.encoded_from_peer;
  values.reverse_encoded = from_lan ? record.encoded_from_peer : record.encoded_to_peer;
  values.id = record.id;
  if (record.first_byte) {
    values.first_byte_us = static_cast<std::uint32_t>(record.first_byte->to_microseconds());
  }
  values.retransmitted = record.lan.retransmitted;
  values.repeated = record.lan.repeated;
  values.far_retransmitted = record.far.value_or(gateway::LanFigures{}).retransmitted;
  values.far_repeated = record.far.value_or(gateway::LanFigures{}).repeated;
  values.rule = record.rule;
  values.client_port = record.client_port;
  values.server_port = record.server_port;
  values.vlan = record.vlans[0];
  values.protocol = kProtocolTcp;
  values.end_reason = static_cast<std::uint8_t>(flow_end_reason(record.end));
  values.biflow_direction = kInitiator;
  values.flow_direction = from_lan ? kIngress : kEgress;
  values.rule_name = text_of(record.rule_name.view());
  values.class_name = text_of(record.traffic_class.view());
  if (record.peer.index() < context.peers.size())
    values.peer_name = text_of(context.peers[record.peer.index()]);
  values.end = text_of(end_of(record));
  return values;
}

std::uint16_t template_in_memory(const gateway::FlowRecord& record) {
  return record.client.is_v4() ? kTemplateV4 : kTemplateV6;
}

std::uint16_t template_sent(const gateway::FlowRecord& record) {
  if (!record.far) return template_in_memory(record);
  return record.client.is_v4() ? kFarTemplateV4 : kFarTemplateV6;
}

constexpr std::size_t kMessageHeader = 16;
constexpr std::size_t kSetHeader = 4;

// Returns an upper bound of the record's size in the message. The bound counts one octet for the
// length field of each text, although a text of more than 254 octets has a length field of three
// octets. The bound also counts the struct's padding, which is not sent, so it still holds.
std::size_t longest_sent(const gateway::FlowRecord& record, const RecordContext& context) {
  const Values values = values_of(record, context);
  std::size_t size =
      (record.client.is_v4() ? sizeof(ValuesV4) : sizeof(ValuesV6)) - 4 * sizeof(fbVarfield_t);
  for (const fbVarfield_t& text :
       {values.rule_name, values.class_name, values.peer_name, values.end}) {
    size += 1 + text.len;
  }
  return size;
}

}  // namespace

FlowEndReason flow_end_reason(gateway::Counter end) {
  using gateway::Counter;
  switch (end) {
    case Counter::kFlowsFinished:
    case Counter::kFlowsRefused:
    case Counter::kFlowsResetByHost:
    case Counter::kFlowsResetByPeer:
    case Counter::kFlowsInUse:
    case Counter::kFlowsOtherVlan:
      return FlowEndReason::kEndOfFlow;
    case Counter::kFlowsHandshakeTimeout:
    case Counter::kFlowsUnreachable:
    case Counter::kFlowsResetTimeout:
    case Counter::kFlowsResetIdle:
      return FlowEndReason::kIdleTimeout;
    case Counter::kFlowsResetNoResources:
    case Counter::kFlowsResetForRoom:
      return FlowEndReason::kLackOfResources;
    default:
      return FlowEndReason::kForcedEnd;
  }
}

struct IpfixMessages::Library {
  ~Library() {
    if (buffer != nullptr) fBufFree(buffer);  // also frees session and exporter
    if (model != nullptr) fbInfoModelFree(model);
  }
  fbInfoModel_t* model = nullptr;
  fbSession_t* session = nullptr;
  fbExporter_t* exporter = nullptr;
  fBuf_t* buffer = nullptr;
  std::vector<std::uint8_t> message;
};

IpfixMessages::IpfixMessages(const Parameters& parameters) : library_(std::make_unique<Library>()) {
  Library& l = *library_;
  l.message.resize(parameters.longest);
  l.model = fbInfoModelAlloc();
  add_enterprise_elements(l.model);
  l.session = fbSessionAlloc(l.model);
  fbSessionSetDomain(l.session, parameters.observation_domain);
  // Add the templates before there is a buffer: otherwise the library would send each template at
  // once.
  for (const Form form : {Form::kInMemory, Form::kSent}) {
    add_template(l.model, l.session, kTemplateV4, kFieldsV4, form);
    add_template(l.model, l.session, kTemplateV6, kFieldsV6, form);
  }
  add_template(l.model, l.session, kFarTemplateV4, kFieldsV4, Form::kSentWithFar);
  add_template(l.model, l.session, kFarTemplateV6, kFieldsV6, Form::kSentWithFar);
  l.exporter =
      fbExporterAllocBuffer(l.message.data(), static_cast<std::uint16_t>(l.message.size()));
  l.buffer = fBufAllocForExport(l.session, l.exporter);
  fBufSetAutomaticMode(l.buffer, FALSE);
}

IpfixMessages::~IpfixMessages() = default;

ConstBytes IpfixMessages::emit() {
  GError* error = nullptr;
  if (fBufEmit(library_->buffer, &error) == FALSE) fail(error);
  emitted_ = std::exchange(begun_, 0);
  const std::size_t size = fbExporterGetMsgLen(library_->exporter);
  return std::as_bytes(std::span(library_->message)).first(size);
}

ConstBytes IpfixMessages::templates() {
  GError* error = nullptr;
  // The library exports templates only in automatic mode, in which it may end a message by itself.
  fBufSetAutomaticMode(library_->buffer, TRUE);
  const gboolean said = fbSessionExportTemplates(library_->session, &error);
  fBufSetAutomaticMode(library_->buffer, FALSE);
  if (said == FALSE) fail(error);
  return emit();
}

bool IpfixMessages::append(const gateway::FlowRecord& record, const RecordContext& context) {
  const bool v4 = record.client.is_v4();
  const std::uint16_t id = template_sent(record);
  GError* error = nullptr;
  if (fBufSetInternalTemplate(library_->buffer, template_in_memory(record), &error) == FALSE) {
    fail(error);
  }
  bool done = fBufSetExportTemplate(library_->buffer, id, &error) == TRUE;
  const Values values = values_of(record, context);
  if (done && v4) {
    ValuesV4 all{in_order_of_machine(record.client), in_order_of_machine(record.server), values};
    done = fBufAppend(library_->buffer, reinterpret_cast<std::uint8_t*>(&all), sizeof all,
                      &error) == TRUE;
  } else if (done) {
    ValuesV6 all{record.client.octets(), record.server.octets(), values};
    done = fBufAppend(library_->buffer, reinterpret_cast<std::uint8_t*>(&all), sizeof all,
                      &error) == TRUE;
  }
  if (done) {
    if (begun_ == 0) size_ = kMessageHeader;
    if (begun_ == 0 || id != last_id_) size_ += kSetHeader;
    size_ += longest_sent(record, context);
    last_id_ = id;
    ++begun_;
    return true;
  }
  if (g_error_matches(error, FB_ERROR_DOMAIN, FB_ERROR_EOM) == FALSE) fail(error);
  g_clear_error(&error);
  return false;
}

// Checks for room in the message. The library writes the header of a Set before it knows whether a
// record fits after it, but a Set must have at least one record (RFC 7011 section 3.3).
bool IpfixMessages::has_room(const gateway::FlowRecord& record,
                             const RecordContext& context) const {
  if (begun_ == 0 || template_sent(record) == last_id_) return true;
  return size_ + kSetHeader + longest_sent(record, context) <= library_->message.size();
}

ConstBytes IpfixMessages::add(const gateway::FlowRecord& record, const RecordContext& context) {
  if (has_room(record, context) && append(record, context)) return {};
  // After templates() the library requires the message to be ended once more. That message is
  // empty, and is not sent.
  const bool is_full = begun_ > 0;
  const ConstBytes full = is_full ? emit() : emit().first(0);
  if (!append(record, context)) throw std::runtime_error("libfixbuf: a message takes no record");
  return full;
}

ConstBytes IpfixMessages::finish() {
  if (begun_ == 0) return {};
  return emit();
}

}  // namespace satrelay::records

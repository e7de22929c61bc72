-- STP's fields and expert items, by their names behind "satstp.", and the words for values.
local wanted = ...
if not wanted then return end  -- Wireshark runs every file of its plugin folder

local FRAME_NAMES = {
  [0x00] = "PADDING", [0x01] = "PING", [0x02] = "SETTLED", [0x03] = "FEEDBACK", [0x04] = "LANE_CREDIT",
  [0x05] = "STREAM_CREDIT", [0x06] = "OPEN", [0x07] = "RESET", [0x08] = "CLOSE", [0x09] = "HELLO",
  [0x10] = "DATA", [0x11] = "DATA", [0x12] = "DATA", [0x13] = "DATA", [0x43] = "RATE",
  [0x44] = "CONFIRM", [0x45] = "RECEPTION", [0x46] = "START_CREDIT", [0x47] = "CODED", [0x48] = "REPAIR",
}
local CODES = { [0] = "flight", [1] = "prompt" }
local REASONS = {
  [0] = "none", [1] = "host_reset", [2] = "refused", [3] = "unreachable", [4] = "timeout",
  [5] = "no_resources", [6] = "policy", [7] = "protocol_error", [8] = "peer_restart",
  [9] = "unknown_stream", [10] = "shutdown", [11] = "no_route",
  [12] = "in_use", [13] = "other_vlan", [14] = "icmp",
}
local KINDS = { [3] = "flow", [0xc1] = "admission", [0xc2] = "flows", [0xc3] = "doubt",
                [0xc4] = "dictionaries", [0xc5] = "lan_wish", [0xc6] = "lan_reports", [0xc7] = "evidence",
                [0xc8] = "destination", [0xc9] = "sources", [0xca] = "arrival",
                [0xcb] = "address" }
local ADMISSIONS = { [0] = "open", [1] = "bypass", [2] = "draining" }
local BLOCKS = { [0] = "raw", [1] = "zstd", [2] = "marks", [3] = "dictionary", [4] = "urgent", [5] = "reset" }
local CRC_STATUS = { [0] = "Bad", [1] = "Good", [2] = "Unverified" }

local F, all_fields = {}, {}
local function field(kind, name, ...)
  F[name] = ProtoField[kind]("satstp." .. name, ...)
  all_fields[#all_fields + 1] = F[name]
end
local BYTES, PACKETS = { " byte", " bytes" }, { " packet", " packets" }
local function counted(name, label, unit) field("uint64", name, label, base.UNIT_STRING, unit) end
local function number(name, label) field("uint64", name, label, base.DEC) end

field("uint8", "version", "Version", base.DEC, nil, 0xf0)
field("uint8", "type", "Type", base.DEC, { [0] = "packet of a session", [1] = "HELLO packet" }, 0x08)
field("bool", "key_phase", "Key phase", 8, nil, 0x04)
field("bool", "protected", "Covered by a code", 8, nil, 0x02)
field("bool", "reserved", "Reserved", 8, nil, 0x01)
field("uint8", "lane", "Lane", base.DEC)
field("uint16", "session_tag", "Session tag", base.HEX)
field("uint32", "packet_number", "Packet number (low 32 bits)", base.DEC)
field("uint32", "hello_number", "Number of the HELLO", base.DEC)
field("uint32", "crc", "CRC32C", base.HEX)
field("uint8", "crc.status", "CRC32C status", base.DEC, CRC_STATUS)
field("uint32", "crc.expected", "CRC32C expected", base.HEX)
field("bytes", "encrypted", "Encrypted frames")
field("bytes", "tag", "Authentication tag")
field("bool", "mtu_probe", "Probe of the path MTU, or a padded PING")
field("none", "frame", "Frame")
field("uint8", "frame.type", "Frame type", base.HEX, FRAME_NAMES)
field("uint16", "frame.length", "Frame length", base.UNIT_STRING, BYTES)
field("bytes", "undecoded", "Not known to version 1")
field("uint32", "padding.length", "Padding", base.UNIT_STRING, BYTES)
number("ping.settled", "Report wanted from packet")
number("settled.number", "No report wanted below packet")
number("stream.id", "Stream")
counted("lane_credit.limit", "Limit of all streams together", BYTES)
counted("stream_credit.limit", "Limit of the stream", BYTES)
number("start_credit.sequence", "Sequence")
counted("start_credit.limit", "Limit before the first STREAM_CREDIT", BYTES)
counted("reception.missed", "Missed by the reporter's port", PACKETS)
counted("reception.waited", "Waited at that port", { " microsecond", " microseconds" })
number("rate.sequence", "Sequence")
counted("rate.capacity", "Capacity", { " bit/s" })
field("uint8", "reset.reason", "Reason", base.DEC, REASONS)
counted("reset.final_size", "Final size", BYTES)
field("uint8", "reset.icmp_type", "ICMP type", base.DEC)
field("uint8", "reset.icmp_code", "ICMP code", base.DEC)
field("uint8", "reset.icmp_sender_size", "Size of the sender's address", base.DEC)
field("ipv4", "reset.icmp_sender", "Sender of the ICMP error")
field("ipv6", "reset.icmp_sender6", "Sender of the ICMP error")
field("uint8", "close.reason", "Reason", base.DEC, REASONS)

field("bool", "data.has_length", "Length is present", 8, nil, 0x02)
field("bool", "data.fin", "End of the stream", 8, nil, 0x01)
number("data.offset", "Offset")
field("uint32", "data.length", "Length", base.UNIT_STRING, BYTES)
field("bytes", "data.bytes", "Bytes")

number("feedback.highest", "Highest packet seen")
counted("feedback.delay", "Delay since then", { " microsecond", " microseconds" })
field("uint32", "feedback.arrived", "Arrived, by the reporter's clock (low 32 bits)", base.UNIT_STRING,
      { " microsecond", " microseconds" })
counted("feedback.interval", "Interval to the next report", { " millisecond", " milliseconds" })
number("feedback.floor", "Floor: nothing is known below packet")
number("feedback.begin", "Begin of this part")
number("feedback.end", "End of this part, exclusive")
number("feedback.first", "Begin of the whole report")
counted("feedback.bytes", "UDP payload received", BYTES)
counted("feedback.stored", "Stored for readers", BYTES)
counted("feedback.ce", "Congestion experienced", PACKETS)
counted("feedback.repaired", "Repaired", PACKETS)
counted("feedback.late", "Late by at most", { " microsecond", " microseconds" })
counted("feedback.told", "Told by earlier parts", PACKETS)
field("uint16", "feedback.count", "Pairs", base.DEC)
counted("feedback.bits", "Bits", PACKETS)
field("bytes", "feedback.bitmap", "Bitmap")
counted("feedback.tail", "Received behind the last", PACKETS)
counted("feedback.missing", "Missing in all", PACKETS)
field("none", "feedback.range", "Range")
number("feedback.range.first", "First packet")
number("feedback.range.last", "Last packet")
counted("feedback.range.count", "Count", PACKETS)
field("bool", "feedback.range.received", "Received")

field("uint8", "hello.minimum_version", "Minimum version", base.DEC)
field("uint8", "hello.maximum_version", "Maximum version", base.DEC)
field("uint8", "hello.flags", "Flags", base.HEX)
field("bool", "hello.opens_even", "Opens even streams", 8, nil, 0x01)
field("bool", "hello.answer_wanted", "Answer wanted", 8, nil, 0x02)
field("bool", "hello.encrypts", "Encrypts", 8, nil, 0x04)
field("uint8", "hello.lane_count", "Lanes", base.DEC)
field("uint32", "hello.capabilities", "Capabilities", base.HEX)
field("bool", "hello.capabilities.repair", "Understands CODED and REPAIR", 32, nil, 0x04)
field("bool", "hello.capabilities.reception", "Understands RECEPTION", 32, nil, 0x02)
field("bool", "hello.capabilities.lan_reports", "Understands LAN reports", 32, nil, 0x08)
field("bool", "hello.capabilities.evidence", "Understands evidence", 32, nil, 0x10)
field("bool", "hello.capabilities.other_vlan", "Understands RESET reason 13", 32, nil, 0x20)
field("bool", "hello.capabilities.urgent", "Understands urgent marks", 32, nil, 0x40)
field("bool", "hello.capabilities.destinations", "Understands destinations", 32, nil, 0x80)
field("bool", "hello.capabilities.accepted_sources", "Understands accepted sources", 32, nil, 0x100)
field("bool", "hello.capabilities.reset_marks", "Understands resets behind bytes", 32, nil, 0x200)
field("bool", "hello.capabilities.host_words", "Understands words of hosts", 32, nil, 0x400)
field("bool", "hello.capabilities.icmp", "Understands RESET reason 14", 32, nil, 0x800)
field("bool", "hello.capabilities.arrivals", "Understands arrivals", 32, nil, 0x1000)
field("bool", "hello.capabilities.between", "Understands questions about addresses", 32, nil, 0x2000)
number("hello.epoch", "Boot epoch")
number("hello.peer_epoch", "Boot epoch of the peer")
field("uint32", "hello.echo", "Answers HELLO", base.DEC)
field("uint16", "hello.datagram_size", "Largest datagram taken", base.UNIT_STRING, BYTES)
field("uint16", "hello.zero", "Zero", base.HEX)
counted("hello.lane_credit", "Credit of all streams together", BYTES)
counted("hello.stream_credit", "Credit of a stream", BYTES)
field("uint16", "hello.offer.length", "Length of the offer of keys", base.UNIT_STRING, BYTES)
field("bytes", "hello.offer", "Offer of keys")
field("uint16", "hello.acceptance.length", "Length of the acceptance of keys", base.UNIT_STRING, BYTES)
field("bytes", "hello.acceptance", "Acceptance of keys")
field("bytes", "hello.accepted", "Begin of the offer that is accepted")
field("bytes", "hello.mac", "Message authentication code")

number("confirm.sequence", "Sequence")
field("bool", "confirm.answered", "The host has answered the SYN", 8, nil, 0x01)
field("bool", "confirm.ended", "The host has acknowledged the FIN", 8, nil, 0x02)
field("bool", "confirm.silent", "The host did not answer the question", 8, nil, 0x04)
counted("confirm.delivered", "Acknowledged by the host", BYTES)
counted("confirm.window", "Window of the host", BYTES)
number("confirm.keep_alives", "Keep-alive probes of the host")
number("confirm.urgent.after", "Urgent mark before the next")
number("confirm.urgent.mark", "Next urgent mark")
number("confirm.question", "Question of the far host that this answers")

field("uint8", "coded.code", "Code", base.DEC, CODES)
field("uint16", "coded.index", "Index in the code (low 16 bits)", base.DEC)

field("uint8", "repair.code", "Code", base.DEC, CODES)
field("uint16", "repair.first", "Index of the first packet", base.DEC)
field("uint16", "repair.last", "Index of the last packet", base.DEC)
field("uint16", "repair.count", "Packets", base.UNIT_STRING, PACKETS)
field("uint16", "repair.row", "Row", base.DEC)
field("bytes", "repair.symbol", "Symbol")

field("uint16", "open.length", "Length of the metadata", base.UNIT_STRING, BYTES)
field("bytes", "open.metadata", "Metadata")
field("uint8", "open.kind", "Kind", base.HEX, KINDS)
field("uint8", "open.ip_version", "IP version", base.DEC)
field("uint8", "open.tag_count", "VLAN tags", base.DEC)
field("uint8", "open.options", "Options", base.HEX)
for at, option in ipairs({ { "mss", "MSS" }, { "window_scale", "Window scale" }, { "sack", "SACK permitted" },
                           { "timestamps", "Timestamps offered" }, { "class", "Class" },
                           { "modes", "Modes" }, { "ecn", "ECN offered" } }) do
  field("bool", "open.has_" .. option[1], option[2], 8, nil, 2 ^ (at - 1))
end
field("ether", "open.ethernet.destination", "Ethernet destination")
field("ether", "open.ethernet.source", "Ethernet source")
field("uint16", "open.vlan.tpid", "VLAN TPID", base.HEX)
field("uint16", "open.vlan.id", "VLAN", base.DEC, nil, 0x0fff)
for _, host in ipairs({ "client", "server" }) do
  local name = host:gsub("^%l", string.upper)
  field("ipv4", "open." .. host, name)
  field("ipv6", "open." .. host .. "6", name)
  field("uint16", "open." .. host .. "_port", name .. " port", base.DEC)
end
field("uint16", "open.mss", "MSS", base.UNIT_STRING, BYTES)
field("uint8", "open.window_scale", "Window scale", base.DEC)
field("uint8", "open.traffic_class", "Traffic class", base.HEX)
field("uint8", "open.hop_limit", "Hop limit", base.DEC)
field("string", "open.class", "Class")
field("uint8", "open.modes", "Modes", base.HEX)
field("bool", "open.modes.remote_handshake", "Handshake: remote", 8, nil, 0x01)
field("bool", "open.modes.end_to_end_ack", "Acknowledgments: end to end", 8, nil, 0x02)
field("bool", "open.modes.confirmed_close", "Close: confirmed", 8, nil, 0x04)
field("bool", "open.modes.mirrored_window", "Window: mirrored", 8, nil, 0x08)
field("bool", "open.modes.prompt_delivery", "Delivery: prompt", 8, nil, 0x10)
field("uint32", "admission.sequence", "Sequence", base.DEC)
field("uint8", "admission.state", "Admission", base.DEC, ADMISSIONS)
number("doubt.stream", "Stream in doubt")
field("uint8", "evidence.version", "IP version", base.DEC)
field("ipv4", "evidence.near", "Host of the sender")
field("ipv4", "evidence.far", "Host of the receiver")
field("ipv6", "evidence.near6", "Host of the sender")
field("ipv6", "evidence.far6", "Host of the receiver")
field("uint16", "evidence.near_port", "Port of the sender's host", base.DEC)
field("uint16", "evidence.far_port", "Port of the receiver's host", base.DEC)
field("uint32", "evidence.sends", "Sequence number of the sender's host", base.DEC)
field("uint32", "evidence.expects", "Acknowledgment number of the sender's host", base.DEC)
field("uint8", "destination.version", "IP version", base.DEC)
number("destination.stream", "Stream of a flow that shows it")
field("ipv4", "destination.near", "Host of the sender")
field("ipv4", "destination.far", "Host of the receiver")
field("ipv6", "destination.near6", "Host of the sender")
field("ipv6", "destination.far6", "Host of the receiver")
field("uint8", "destination.tag_count", "VLAN tags", base.DEC)
field("uint16", "destination.vlan.tpid", "TPID", base.HEX)
field("uint16", "destination.vlan.id", "VLAN", base.DEC, nil, 0x0fff)
field("ether", "destination.mac", "Destination of its frames")
field("uint8", "arrival.version", "IP version", base.DEC)
field("ipv4", "arrival.host", "Host of the receiver")
field("ipv6", "arrival.host6", "Host of the receiver")
field("uint8", "arrival.tag_count", "VLAN tags", base.DEC)
field("uint16", "arrival.vlan.tpid", "TPID", base.HEX)
field("uint16", "arrival.vlan.id", "VLAN", base.DEC, nil, 0x0fff)
field("ether", "arrival.mac", "MAC of the host")
field("uint8", "address.version", "IP version", base.DEC)
field("ipv4", "address.host", "Address")
field("ipv6", "address.host6", "Address")
field("uint16", "address.vlan", "VLAN", base.DEC)
field("bool", "sources.more", "The sender accepts others, too", 8, nil, 0x01)
field("uint32", "dictionaries.sequence", "Sequence", base.DEC)
field("uint8", "dictionaries.count", "Dictionaries", base.DEC)
field("uint8", "dictionaries.number", "Number", base.DEC)
field("uint64", "dictionaries.fingerprint", "Fingerprint", base.HEX)

field("none", "block", "Block")
field("uint8", "block.kind", "Kind", base.DEC, BLOCKS)
field("uint24", "block.length", "Encoded length", base.UNIT_STRING, BYTES)
field("uint8", "block.traffic_class", "Traffic class", base.HEX)
field("uint8", "block.hop_limit", "Hop limit", base.DEC)
field("uint8", "block.dictionary", "Dictionary, as the receiver counts", base.DEC)
field("uint32", "block.urgent", "Bytes up to the urgent mark", base.DEC)
field("none", "entry", "Listed flow")
field("bool", "entry.client_at_receiver", "The client is at the receiver's side", 8, nil, 0x01)
field("uint8", "entry.length", "Length of the metadata", base.UNIT_STRING, BYTES)
local E = {}
local function finding(name, text, group, severity)
  E[name] = ProtoExpert.new("satstp." .. name, text, group, severity)
end
finding("crc.bad", "Bad CRC32C", expert.group.CHECKSUM, expert.severity.ERROR)
finding("malformed", "Malformed", expert.group.MALFORMED, expert.severity.ERROR)
finding("cut_short", "Cut short by the capture", expert.group.UNDECODED, expert.severity.NOTE)
finding("other_version", "Of another version", expert.group.PROTOCOL, expert.severity.WARN)
finding("unknown_frame", "Unknown frame", expert.group.UNDECODED, expert.severity.NOTE)
finding("open.undecoded", "Metadata that no gateway of this version understands", expert.group.UNDECODED,
        expert.severity.WARN)
finding("block.undecoded", "What is no block here ends the stream", expert.group.PROTOCOL, expert.severity.WARN)
local experts = {}
for _, item in pairs(E) do experts[#experts + 1] = item end

return {
  F = F, E = E, fields = all_fields, experts = experts, FRAMES = FRAME_NAMES, CODES = CODES, REASONS = REASONS,
  KINDS = KINDS, ADMISSIONS = ADMISSIONS, BLOCKS = BLOCKS, CRC_STATUS = CRC_STATUS,
}

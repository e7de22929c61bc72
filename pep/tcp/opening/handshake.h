// The handshake: our SYN or SYN-ACK and its retransmissions, and the options that both sides use.
#pragma once

#include <cstdint>

#include "pep/base/time.h"
#include "pep/tcp/block/tcb.h"
#include "pep/tcp/ecn.h"
#include "pep/wire/tcp.h"

namespace satrelay::tcp {

// When the SYN-ACK is sent. kAtOnce: it may be sent now. kLater: the application waits for the far
// host, and then calls answer() to send it. kSent: the application has sent it before the endpoint
// existed, with Config::initial_sequence (a SYN cookie).
enum class Answer : std::uint8_t { kAtOnce, kLater, kSent };

// --- calls of the application, documented in endpoint.h ---
void accept(Tcb& tcb, const wire::TcpHeader& syn, Instant now, Answer when);
void connect(Tcb& tcb, const wire::TcpOptions& offer, Instant now, EcnOffer ecn);
void answer(Tcb& tcb, Instant now);
// Whether `header` belongs to another connection of the peer, and so does not answer our SYN. We
// answer such a segment with a reset (RFC 9293), which ends the other connection.
bool shows_another_connection(const Tcb& tcb, const wire::TcpHeader& header);

// --- events ---
// Stores the sequence number of the peer's SYN or SYN-ACK, and turns on each option that both sides
// offer.
void negotiate_with(Tcb& tcb, const wire::TcpHeader& syn);
// Does the same for the SYN of a client. Our SYN-ACK will offer each option that is in the SYN.
void offer_and_negotiate(Tcb& tcb, const wire::TcpHeader& syn);
// Completes the handshake: the peer has acknowledged our SYN. `peer_window` is in bytes.
void establish(Tcb& tcb, std::uint64_t peer_window, Instant now);
// Call when Timer::kRetransmission has expired before the handshake is complete.
void handle_syn_timeout(Tcb& tcb, Instant now);

}  // namespace satrelay::tcp

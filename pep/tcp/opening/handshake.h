// The handshake: our SYN or SYN-ACK and its repetitions, and the options that both sides use.
#pragma once

#include <cstdint>

#include "pep/base/time.h"
#include "pep/tcp/block/tcb.h"
#include "pep/tcp/ecn.h"
#include "pep/wire/tcp.h"

namespace satrelay::tcp {

// When the SYN-ACK leaves that answers a SYN. kAtOnce: it may leave now. kLater: it leaves when the
// application calls answer(), as it waits for the far host first. kSent: the application sent it
// before the endpoint existed, with Config::initial_sequence (a SYN cookie).
enum class Answer : std::uint8_t { kAtOnce, kLater, kSent };

// --- the application, as in Endpoint ---
void accept(Tcb& tcb, const wire::TcpHeader& syn, Instant now, Answer when);
void connect(Tcb& tcb, const wire::TcpOptions& offer, Instant now, EcnOffer ecn);
void answer(Tcb& tcb, Instant now);
// Whether `header` does not answer our SYN, but belongs to another connection that the peer has.
// The reset that RFC 9293 asks for would end that connection.
bool shows_another_connection(const Tcb& tcb, const wire::TcpHeader& header);

// --- events ---
// The peer's SYN or SYN-ACK: takes its sequence number, and its options as far as ours allow them.
void negotiate_with(Tcb& tcb, const wire::TcpHeader& syn);
// The same for the SYN of a client. Our SYN-ACK offers each option that the SYN allows.
void offer_and_negotiate(Tcb& tcb, const wire::TcpHeader& syn);
// The peer has acknowledged our SYN. `peer_window`: in bytes.
void establish(Tcb& tcb, std::uint64_t peer_window, Instant now);
// Timer::kRetransmission has expired before the handshake is complete.
void handle_syn_timeout(Tcb& tcb, Instant now);

}  // namespace satrelay::tcp

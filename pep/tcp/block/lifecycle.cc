#include "pep/tcp/block/lifecycle.h"

#include "pep/base/check.h"

namespace satrelay::tcp {

const char* to_string(State state) {
  switch (state) {
    case State::kClosed:
      return "closed";
    case State::kSynSent:
      return "syn_sent";
    case State::kSynReceived:
      return "syn_received";
    case State::kEstablished:
      return "established";
    case State::kFinWait1:
      return "fin_wait_1";
    case State::kFinWait2:
      return "fin_wait_2";
    case State::kCloseWait:
      return "close_wait";
    case State::kClosing:
      return "closing";
    case State::kLastAck:
      return "last_ack";
    case State::kTimeWait:
      return "time_wait";
  }
  return "unknown";
}

//              accept()            connect()
//   CLOSED ---------> SYN-RECEIVED <--------- SYN-SENT <--- CLOSED
//                          |      peer's SYN     |
//                 its ACK  v                     | SYN-ACK
//                     ESTABLISHED <--------------+
//            close()   |       |   peer's FIN
//                      v       v
//      FIN-WAIT-1 <----+       +----> CLOSE-WAIT
//       |   |   peer's FIN                 | close()
//   ACK |   +----------> CLOSING           v
//       v                   |           LAST-ACK
//   FIN-WAIT-2              | ACK          | ACK
//       | peer's FIN        v              v
//       +-------------> TIME-WAIT -----> CLOSED
//
// A reset, a timeout or abort() leads from any state to CLOSED. If close() is called before the
// handshake is complete, it takes effect when the handshake completes. LAST-ACK leads to TIME-WAIT
// if we held back the ACK of the peer's FIN.
bool is_transition(State from, State to) {
  if (to == State::kClosed) return true;
  switch (from) {
    case State::kClosed:
      return to == State::kSynSent || to == State::kSynReceived;
    case State::kSynSent:
      return to == State::kSynReceived || to == State::kEstablished;
    case State::kSynReceived:
      return to == State::kEstablished;
    case State::kEstablished:
      return to == State::kFinWait1 || to == State::kCloseWait;
    case State::kFinWait1:
      return to == State::kFinWait2 || to == State::kClosing;
    case State::kFinWait2:
      return to == State::kTimeWait;
    case State::kCloseWait:
      return to == State::kLastAck;
    case State::kClosing:
    case State::kLastAck:  // we held back the ACK of the peer's FIN until now
      return to == State::kTimeWait;
    case State::kTimeWait:
      return false;
  }
  return false;
}

void Lifecycle::set_state(State next) {
  SATRELAY_CHECK(is_transition(state_, next));
  state_ = next;
  if (trace_size_ < trace_.size()) trace_[trace_size_++] = next;
}

}  // namespace satrelay::tcp

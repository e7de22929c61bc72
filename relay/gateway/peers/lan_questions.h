// Asks the peer whether its LAN has an address, and answers the same question of the peer
// (docs/stp.md section 15). A question is a message, and the RESET that ends its stream is the
// answer: reason in_use means that the far LAN has the address.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "pep/base/address.h"
#include "pep/base/bytes.h"
#include "pep/base/time.h"
#include "pep/stp/session.h"
#include "pep/wire/ethernet.h"
#include "relay/gateway/peers/messages.h"

namespace satrelay::gateway {

struct AskedAddress {
  IpAddress host;
  std::array<std::uint16_t, wire::kMaxVlanTags> vlans{};
  friend bool operator==(const AskedAddress&, const AskedAddress&) = default;
};

class LanQuestions {
 public:
  // First octet of the metadata of its messages.
  static constexpr std::uint8_t kMessage = 0xcb;
  static constexpr std::size_t kMostUnanswered = 8;
  // A question without an answer by then makes room for another question.
  static constexpr Duration kPatience = Duration::seconds(10);
  // How many questions the peer may ask at once; it may ask ten a second.
  static constexpr int kMostAtOnce = 16;
  static constexpr std::size_t kMaxSize = 2 + 16 + 2 * wire::kMaxVlanTags;

  // `session` and `messages` must outlive this.
  LanQuestions(stp::Session& session, Messages& messages)
      : session_(session), messages_(messages) {}

  bool are_understood() const { return session_.agreed().between_gateways(); }

  // --- to the peer -----------------------------------------------------------------------------
  // False: the peer does not understand questions, is not alive, was just asked too many, or has
  // too many to answer, or the session has no stream to spare.
  bool ask(const AskedAddress& address, Instant now);
  // False if the stream does not carry a question.
  bool handle_reset(stp::StreamId stream, stp::ResetReason reason);
  // An address that the far LAN has, once.
  std::optional<AskedAddress> take_found() { return std::exchange(found_, std::nullopt); }

  // --- from the peer ---------------------------------------------------------------------------
  struct Question {
    stp::StreamId stream{};
    AskedAddress address;
    Instant when;
  };
  void handle_opened(stp::StreamId stream, Instant now);
  // The caller must answer it at once.
  std::optional<Question> take() { return std::exchange(heard_, std::nullopt); }
  enum class Answer : std::uint8_t { kNotHere, kHere };
  void answer(const Question& question, Answer answer, Instant now);

  // --- both directions -------------------------------------------------------------------------
  // The peer has a new boot epoch, or has closed.
  void forget_session() { unanswered_.clear(); }

 private:
  static constexpr Duration kBetween = Duration::milliseconds(100);

  void drop_unanswered(Instant now);
  static bool has_pace(Instant& until, int most, Instant now);

  stp::Session& session_;
  Messages& messages_;
  std::vector<Question> unanswered_;
  Instant asked_until_, heard_until_;  // when the next question may be asked, if many were
  std::optional<AskedAddress> found_;
  std::optional<Question> heard_;
};

// nullopt: the message is cut short, or has another IP version. Octets that a later version appends
// are ignored.
std::optional<AskedAddress> parse_lan_question(ConstBytes message);
std::size_t write_lan_question(const AskedAddress& asked, MutableBytes out);

}  // namespace satrelay::gateway

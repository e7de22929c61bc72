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
  // The first octet of the metadata of its messages.
  static constexpr std::uint8_t kMessage = 0xcb;
  static constexpr std::size_t kMostUnanswered = 8;
  // If a question has no answer after this time, it is withdrawn, so that another question can be
  // asked.
  static constexpr Duration kPatience = Duration::seconds(10);
  // Maximum number of questions that the peer may ask at once. On average it may ask ten a second.
  static constexpr int kMostAtOnce = 16;
  static constexpr std::size_t kMaxSize = 2 + 16 + 2 * wire::kMaxVlanTags;

  // `session` and `messages` must outlive this object.
  LanQuestions(stp::Session& session, Messages& messages)
      : session_(session), messages_(messages) {}

  bool are_understood() const { return session_.agreed().between_gateways(); }

  // --- to the peer -----------------------------------------------------------------------------
  // Returns false if the peer does not understand questions or is not alive, if too many questions
  // were asked lately or are unanswered, or if the session can open no stream.
  bool ask(const AskedAddress& address, Instant now);
  // Returns false if the stream does not carry a question.
  bool handle_reset(stp::StreamId stream, stp::ResetReason reason);
  // Returns an address that the far LAN has, according to a new answer of the peer.
  std::optional<AskedAddress> take_found() { return std::exchange(found_, std::nullopt); }

  // --- from the peer ---------------------------------------------------------------------------
  struct Question {
    stp::StreamId stream{};
    AskedAddress address;
    Instant when;
  };
  void handle_opened(stp::StreamId stream, Instant now);
  // Returns a new question of the peer. The caller must answer it at once.
  std::optional<Question> take() { return std::exchange(heard_, std::nullopt); }
  enum class Answer : std::uint8_t { kNotHere, kHere };
  void answer(const Question& question, Answer answer, Instant now);

  // --- both directions -------------------------------------------------------------------------
  // Call this when the peer has a new boot epoch, or has closed.
  void forget_session() { unanswered_.clear(); }

 private:
  static constexpr Duration kBetween = Duration::milliseconds(100);

  void drop_unanswered(Instant now);
  static bool has_pace(Instant& until, int most, Instant now);

  stp::Session& session_;
  Messages& messages_;
  std::vector<Question> unanswered_;
  // For the questions to the peer and from the peer: the time until which the previous questions
  // have used up the allowed rate.
  Instant asked_until_, heard_until_;
  std::optional<AskedAddress> found_;
  std::optional<Question> heard_;
};

// Returns nullopt if the message is cut short, or has another IP version. Octets that a later
// version appends are ignored.
std::optional<AskedAddress> parse_lan_question(ConstBytes message);
std::size_t write_lan_question(const AskedAddress& asked, MutableBytes out);

}  // namespace satrelay::gateway

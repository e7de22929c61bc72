// A hash table with chaining, over a fixed number of nodes with 64-bit keys. It allocates nothing
// after its construction. Callers use keyed hashes as keys, so that an attacker cannot choose keys
// that collide.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "pep/base/check.h"

namespace satrelay {

// `Node` must have the members std::uint64_t key and Node* chain, which only the pool sets. The
// other members of a new node have the values of Node{}.
template <typename Node>
class KeyedPool {
 public:
  explicit KeyedPool(std::size_t count) : nodes_(count), buckets_(count) {
    for (Node& node : nodes_) release(node);
  }
  KeyedPool(const KeyedPool&) = delete;
  KeyedPool& operator=(const KeyedPool&) = delete;

  bool full() const { return free_ == nullptr; }
  // Returns nullptr if no node has this key.
  Node* find(std::uint64_t key) const {
    Node* node = buckets_[key % buckets_.size()];
    while (node != nullptr && node->key != key) node = node->chain;
    return node;
  }
  // The pool must not be full.
  Node& add(std::uint64_t key) {
    SATRELAY_CHECK(free_ != nullptr);
    Node& node = *free_;
    free_ = node.chain;
    node = Node{};
    node.key = key;
    Node*& bucket = buckets_[key % buckets_.size()];
    node.chain = bucket;
    bucket = &node;
    return node;
  }
  void remove(Node& node) {
    Node** at = &buckets_[node.key % buckets_.size()];
    while (*at != &node) at = &(*at)->chain;
    *at = node.chain;
    release(node);
  }

 private:
  void release(Node& node) {
    node.chain = free_;
    free_ = &node;
  }

  std::vector<Node> nodes_;
  std::vector<Node*> buckets_;
  Node* free_ = nullptr;
};

}  // namespace satrelay

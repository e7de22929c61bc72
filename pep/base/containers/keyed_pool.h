// A fixed number of nodes that are found by a 64-bit key: a hash table with chains, which allocates
// nothing after its construction. Keys are keyed hashes, so that outsiders cannot steer them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "pep/base/check.h"

namespace satrelay {

// `Node` has std::uint64_t key and Node* chain, which belong to the pool. The rest of a new node is
// as in Node{}.
template <typename Node>
class KeyedPool {
 public:
  explicit KeyedPool(std::size_t count) : nodes_(count), buckets_(count) {
    for (Node& node : nodes_) release(node);
  }
  KeyedPool(const KeyedPool&) = delete;
  KeyedPool& operator=(const KeyedPool&) = delete;

  bool full() const { return free_ == nullptr; }
  // nullptr if there is no such node.
  Node* find(std::uint64_t key) const {
    Node* node = buckets_[key % buckets_.size()];
    while (node != nullptr && node->key != key) node = node->chain;
    return node;
  }
  // Only if not full().
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

// A library that prints: tidy-purity must catch it.
#include <cstdio>

void impure_print(int value);

void impure_print(int value) { std::printf("%d\n", value); }

// A library that calls a function that is in no list: tidy-purity must catch it, too.
extern "C" int function_of_another_library(int value);

int impure_call(int value);

int impure_call(int value) { return function_of_another_library(value) + 1; }

#!/usr/bin/env python3
"""Proves that engines are pure: the symbols that their libraries leave undefined are known and harmless.

Usage: purity.py [--expect-impure SYMBOL] READELF LIBRARY...

The given libraries may define symbols for each other. Any other undefined symbol must be in ALLOWED, so that a new
dependency is a decision and not an accident. FORBIDDEN only gives the reasons for common symbols. With --expect-impure
the check succeeds if it catches SYMBOL: this tests the check itself.
"""

import re
import subprocess
import sys

FORBIDDEN = [
    (r"rte_", "DPDK"),
    (r"clock_|time$|gettimeofday$|(local|gm|mk|nano)time|times$|std::chrono|_rdtsc|nanosleep|usleep"
     r"|sleep$", "a clock"),
    (r"(socket|send|sendto|sendmsg|recv|recvfrom|recvmsg|bind|connect|listen|accept4?|poll|select"
     r"|epoll_\w+|getaddrinfo|ioctl|setsockopt)$", "a socket"),
    (r"(open|openat|open64|fopen|fopen64|read|write|pread|pwrite|close|mmap|stat)$"
     r"|std::(basic_|__cxx11::basic_)?\w*(fstream|filebuf)|std::filesystem", "a file"),
    (r"pthread_|std::thread|std::this_thread|std::condition_variable|std::__atomic_wait|sem_|fork$",
     "a thread or lock"),
    (r"\w*printf$|\w*scanf$|puts$|putchar$|fwrite$|fflush$|std(out|err|in)$|syslog$"
     r"|std::(cout|cerr|clog|cin)|std::\w*(ostream|istream|ios)|__\w*printf_chk$", "a sink"),
    (r"getenv$|getpid$|getrandom$|s?rand(om)?$|std::random_device|RAND_\w+$|EVP_\w*(keygen|rand_key)$",
     "the environment"),
]

ALLOWED = [
    (r"mem(cpy|move|set|cmp|chr|mem)$|str(len|cmp|ncmp|chr)$|__mem\w+_chk$|bcmp$",
     "plain memory; compilers make such calls themselves"),
    (r"operator (new|delete)|std::nothrow$",
     "containers sized at start-up; tests count allocations on the data path"),
    (r"__gxx_personality_v0$|_Unwind_Resume$|__cxa_\w+$|__dso_handle$|std::terminate|std::uncaught_exception|"
     r"std::get_unexpected|__clang_call_terminate$",
     "stack unwinding, emitted for every function with a destructor; statics with one"),
    (r"__libc_single_threaded$", "how a shared_ptr counts"),
    (r"(vtable|typeinfo|typeinfo name|VTT|guard variable) for ", "types of the C++ run-time library"),
    (r"std::__throw_\w+", "containers' own checks"),
    (r"std::(exception|bad_alloc|bad_\w+|logic_error|runtime_error|length_error|out_of_range|"
     r"invalid_argument|domain_error|range_error|overflow_error)::", "start-up may throw"),
    (r"std::__detail::(_Prime_rehash_policy|_List_node_base)|std::_Rb_tree_|std::_Hash_bytes",
     "the parts of containers that are not templates"),
    (r"std::(__cxx11::)?basic_string<char|std::__cxx11::to_string|std::(from|to)_chars|"
     r"std::char_traits|std::allocator<char>", "text of addresses and names, outside the data path"),
    (r"(log|log2|log10|log1p|exp|exp2|pow|sqrt|cbrt|ceil|floor|round|lround|llround|trunc|fmod|sin|"
     r"cos|hypot|nearbyint|rint)f?$", "arithmetic"),
    (r"__(u?div|u?mod|mul|float|fix)\w*ti\w*$|__u?divmodti4$|__float\w+$|__fix\w+$|__popcount\w+$",
     "128-bit arithmetic"),
    (r"_GLOBAL_OFFSET_TABLE_$|__stack_chk_fail$|abort$|__assert_fail$|std::__glibcxx_assert_fail",
     "position independence, and stopping on a broken invariant"),
    (r"ZSTD_(CCtx_(setParameter|refCDict|reset)|adjustCParams|getFrameHeader|compress2|decompress_usingDDict|"
     r"(create[CD]Dict_advanced|free[CD]Dict)|estimate[CD]CtxSize\w*|initStatic[CD]Ctx|"
     r"findFrameCompressedSize|get(CParams|FrameContentSize|ErrorCode)|isError)$",
     "the compressor, in memory of ours; not its functions for files or threads"),
    (r"crc32_iscsi\w*$|(ec|gf)_\w+$", "ISA-L: checksums and erasure codes over memory"),
    (r"__cpu_(features2|indicator_init|model)$",
     "which instructions the processor has: the same sums by wider ones"),
    (r"(alloc|free)_mb_mgr$|init_mb_mgr_auto$", "intel-ipsec-mb: a cipher over memory"),
    (r"EVP_(CIPHER|MD)_(fetch|free|CTX_(ctrl|free|new))$|OPENSSL_init_crypto$|"
     r"EVP_(Encrypt|Decrypt|Digest)(Init_ex2|Update|Final_ex)$|"
     r"EVP_PKEY_(free|new_raw_(private|public)_key_ex|get_raw_public_key|CTX_(free|new_from_pkey))$|"
     r"EVP_PKEY_derive(_init|_set_peer)?$|ERR_clear_error$",
     "libcrypto: ciphers, hashes and X25519 over memory; not its random numbers, and initialised so"
     " that it reads no configuration file"),
    (r"__(asan|ubsan|tsan|lsan|sanitizer|gcov|start___sancov|stop___sancov)\w*$",
     "builds with sanitizers or coverage"),
]


def symbols(readelf, library):
    """(object, demangled name, whether defined) of the global symbols of a library's machine code.

    nm is not used. For objects with link-time optimization it shows the compiler's own table, through a plugin. That
    table leaves out functions that the compiler knows, such as printf.
    """
    listing = subprocess.run([readelf, "-sWC", library],
                             capture_output=True, text=True, check=True).stdout
    member = ""
    result = []
    for line in listing.splitlines():
        if line.startswith("File: "):
            member = line.rpartition("/")[2].rstrip(")]")
        # "  5: 0000000000000000     0 NOTYPE  GLOBAL DEFAULT  UND printf"
        match = re.match(r" *\d+: [0-9a-f]+ +\w+ +\w+ +(?:GLOBAL|WEAK|UNIQUE) +\w+ +(\w+) (.+)", line)
        if match:
            result.append((member, match.group(2).strip(), match.group(1) != "UND"))
    return result


def is_among(rules, name):
    for pattern, reason in rules:
        if re.match(pattern, name):
            return reason
    return None


def check(readelf, libraries):
    """The impure symbols, as (name, line to print)."""
    findings = []
    known = set()
    undefined = set()
    for library in libraries:
        listed = symbols(readelf, library)
        defined = {name for _, name, is_defined in listed if is_defined}
        if not defined:
            findings.append((library, f"{library}: defines nothing, so nothing was checked"))
        known |= defined
        undefined |= {(library, member, name) for member, name, is_defined in listed
                      if not is_defined}
    for library, member, name in sorted(undefined):
        if name in known:
            continue
        plain = re.sub(r"@.*", "", name)
        plain = re.sub(r"^(non-)?virtual thunk to ", "", plain)
        forbidden = is_among(FORBIDDEN, plain)
        if forbidden is not None:
            findings.append((plain, f"{library}({member}): {plain}: {forbidden}"))
        elif is_among(ALLOWED, plain) is None:
            findings.append((plain, f"{library}({member}): {plain}: not among the symbols that"
                                    " tests/tidy/purity.py allows"))
    return findings


def main():
    arguments = sys.argv[1:]
    expected = None
    if arguments and arguments[0] == "--expect-impure":
        expected = arguments[1]
        arguments = arguments[2:]
    readelf, libraries = arguments[0], arguments[1:]
    findings = check(readelf, libraries)
    for _, line in findings:
        print(line)
    print(f"{len(libraries)} libraries, {len(findings)} impure symbols")
    if expected is not None:
        return 0 if any(re.match(expected, name) for name, _ in findings) else 1
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())

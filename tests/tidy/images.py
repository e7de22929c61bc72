#!/usr/bin/env python3
"""Checks that the image of each class names all of its members (pep/base/image).

Usage: images.py [ROOT]. A class has an image if it declares `void image(Image& ...)`. A member that its image() does
not name must stand in LEFT_OUT with the reason. Exit status 1 if a member is forgotten: it would be lost when a flow
is written and read back.
"""

import re
import sys

import classes
import repository

BUILT = "the object that is read is built with it"
SHARED = "belongs to what is shared, not to the object"
PLACE = "is a place in a table of the reader"

LEFT_OUT = {
    "pep/base/arena.h:Arena": {
        "memory_": BUILT, "shift_": BUILT, "reserve_size_": BUILT, "reserves_of_a_block_": BUILT,
        "pool_": "own_pool_ of the whole", "is_part_": BUILT, "kept_for_": BUILT, "blocks_kept_for_reserves_": BUILT,
    },
    "pep/base/arena_pool.h:ArenaPool": {"parts": BUILT, "promised": BUILT, "kept_blocks_of_reserves": BUILT},
    "pep/base/containers/reassembler.h:Reassembler": {"bytes_a_piece_": BUILT},
    "pep/base/containers/block_ring.h:BlockRing": {"arena_": BUILT},
    "pep/stp/streams/stream_hot.h:StreamHot": {"places": "belong to the lists and the schedule of Streams"},
    "pep/stp/streams/stream.h:Stream": {"host": PLACE, "stream_class": PLACE, "context": PLACE},
    "pep/tcp/environment.h:Environment": {"common": SHARED},
    "relay/gateway/flows/flow.h:Flow": {
        "key": BUILT, "origin": BUILT, "rule": SHARED, "traffic_class": PLACE, "journal_place": PLACE,
    },
    "relay/gateway/flows/flow.h:LanSide": {"host": PLACE},
}


def body_of(name, header, source):
    """The text of image() of the class; None if it has none."""
    short = name.rsplit("::", 1)[-1]
    outside = re.search(rf"void (?:\w+::)*{short}::image\(Image& \w+\) \{{", source)
    if outside:
        return source[outside.end():classes.matching(source, outside.end() - 1)]
    head = re.search(rf"\b(?:class|struct)\s+{short}\b[^;{{]*\{{", header)
    if not head:
        return None
    body = header[head.end():classes.matching(header, head.end() - 1)]
    # Without the types inside, which have images of their own.
    while nested := re.search(r"\b(?:class|struct)\s+\w+[^;{()]*\{", body):
        body = body[:nested.start()] + body[classes.matching(body, nested.end() - 1):]
    inside = re.search(r"void image\(Image& \w+\)(?: override)? \{", body)
    return body[inside.end():classes.matching(body, inside.end() - 1)] if inside else None


def check(root):
    findings = []
    left_out = {name: dict(members) for name, members in LEFT_OUT.items()}
    for path in repository.tracked_files(root):
        if not path.endswith(".h") or path.startswith("tests/"):
            continue
        header = (root / path).read_text(errors="replace")
        if not re.search(r"\bvoid image\(Image&", header):
            continue
        source = "".join((root / path).parent.joinpath(each.name).read_text(errors="replace")
                         for each in sorted((root / path).parent.glob("*.cc")))
        plain = classes.COMMENT.sub("", header)
        for counted in classes.classes(header):
            body = body_of(counted.name, plain, classes.COMMENT.sub("", source))
            if body is None:
                continue
            excepted = left_out.pop(f"{path}:{counted.name}", {})
            for name in counted.names:
                if re.search(rf"\b{name}\b", body):
                    continue
                if excepted.pop(name, None) is None:
                    findings.append(f"{path}: the image of {counted.name} does not name {name}")
            findings += [f"tests/tidy/images.py: {counted.name} needs no exception for {name}" for name in excepted]
    if root == repository.ROOT:
        findings += [f"tests/tidy/images.py: there is no image of {name}" for name in left_out]
    return findings


if __name__ == "__main__":
    sys.exit(repository.report(check))

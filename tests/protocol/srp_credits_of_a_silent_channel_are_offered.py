# SPDX-License-Identifier: BSD-2-Clause
"""Credits of commands that another channel has aborted are offered by CRED_REQ where no RSP is due,
one request at a time, until the request limit is whole."""

from srp import *


def test(daemon):
    first, second = daemon.session(flags=MULTI), daemon.session(flags=MULTI)
    first.answers = False
    for count in (1, 2, 60, first.granted - 1):
        first.holds_reads = True
        held = [first.write_from(first.direct(bytes(65536))) for _ in range(count)]
        first.send(*held)
        first.response(first.send(first.command(b"\x12\0\0\0\x24")))  # all have come
        tmf = second.send(second.task_mgmt(LUN_RESET))
        for iu in held:
            first.forget(iu)
        first.holds_reads = False
        first.serve_reads()
        while first.limit < first.granted:
            request = first.expect(CRED_REQ)
            check(request.delta > 0, f"{request}")
            first.answer(request)
        check(second.expect(RSP, tag=tmf.tag).code == COMPLETE, "code")
        second.ready()
        first.expect_alive()


main(test)

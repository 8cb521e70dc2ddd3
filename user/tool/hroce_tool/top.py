# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""`hroce top`: rates of links and queue pairs, once or until the user has seen enough."""
import contextlib
import json
import sys
import time

from . import rates, system
from .link import fail, rdma_fails

# Column, counters of which the sum is shown.
COLUMNS = (
    ("TX MB/s", ("tx_bytes",)),
    ("RX MB/s", ("rx_bytes",)),
    ("TX pkt/s", ("tx_packets",)),
    ("RX pkt/s", ("rx_packets",)),
    ("RETRANS", ("retransmits",)),
    ("TIMEOUT", ("timeouts",)),
    ("RNR", ("rnr_sent", "rnr_rcvd")),
    ("ERRORS", ("requester_errors", "responder_errors")),
)
DROPS = "rx_drop_"
# Of intervals, in seconds: a day.
LONGEST = 86400


def number(value):
    if value >= 1e7:
        return f"{value / 1e6:.0f}M"
    return f"{value:.0f}" if value >= 100 or value == int(value) else f"{value:.1f}"


def cells(values):
    """None for a counter that there is not."""
    row = []
    for title, names in COLUMNS:
        known = [values[name] for name in names if name in values]
        scale = 1e6 if "MB" in title else 1
        row.append(number(sum(known) / scale) if known else "-")
    dropped = [value for name, value in values.items() if name.startswith(DROPS)]
    return row + [number(sum(dropped)) if dropped else "-"]


def table(rows):
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return ["  ".join([row[0].ljust(widths[0])] + [cell.rjust(width) for cell, width in zip(row[1:], widths[1:])])
            for row in rows]


def printable(shown):
    return [system.printable(line) for line in shown]


def lines(report):
    titles = [title for title, _ in COLUMNS] + ["DROPS"]
    rows = [["LINK"] + titles] + [[link["name"]] + cells(link["rates"]) for link in report["links"]]
    shown = table(rows)
    for link in report["links"]:
        shown += [f"    {link['name']} {text}" if not text.startswith("peers") else f"    {link['name']}: {text}"
                  for text in link["waits"]]
    if not report["queue_pairs"]:
        return printable(shown + ["", "no queue pairs"])
    titles = ["QUEUE PAIR", "TYPE", "STATE", "PEER", "PID", "RETRANS", "RNR", "RTT us", "WINDOW", "WAITS FOR",
              "PROGRAM"]
    rows = [titles]
    for pair in report["queue_pairs"]:
        row = cells(pair["rates"])
        state = pair["transport"]
        # Nothing has been measured yet if it is 0.
        measured = [str(state.get(name) or "-") for name in ("rtt_us", "window_pkts", "waits_for")]
        rows.append([f"{pair['link']}/{pair['number']}", pair["type"] or "-", pair["state"] or "-",
                     str(pair["peer"] or "-"), str(pair["pid"] or "-"), row[4], row[6],
                     *measured, pair["program"] or "-"])
    shown += [""] + table(rows)
    for pair in report["queue_pairs"]:
        shown += [f"    {pair['link']}/{pair['number']}: {text}" for text in pair["waits"]]
    return printable(shown)


def reports(interval, wait=time.sleep):
    """One for each interval, until WAIT returns true."""
    before = rates.take()
    while not wait(interval):
        after = rates.take()
        yield rates.report(before, after)
        before = after


def on_screen(interval):
    # Some systems have Python without it.
    try:
        import curses
    except ImportError as why:
        return fail(f"{why}: use --once")

    def loop(screen):
        # Not every terminal can do both.
        with contextlib.suppress(curses.error):
            curses.use_default_colors()
        with contextlib.suppress(curses.error):
            curses.curs_set(0)

        def ended(seconds):
            """Wait for so long, or until q is pressed: return whether it was."""
            end = time.monotonic() + seconds
            while (left := end - time.monotonic()) > 0:
                screen.timeout(int(left * 1000))
                key = screen.getch()
                if key == ord("q"):
                    return True
                if key < 0:
                    # The rest of a millisecond; all of it where there is no input.
                    time.sleep(max(0, end - time.monotonic()))
            return False

        screen.addstr(0, 0, "hroce top: measuring; q ends it")
        screen.refresh()
        for report in reports(interval, ended):
            height, width = screen.getmaxyx()
            screen.erase()
            for row, line in enumerate(lines(report)[:height]):
                screen.addnstr(row, 0, line, width - 1, curses.A_BOLD if line.startswith(("LINK", "QUEUE")) else 0)
            screen.refresh()

    try:
        curses.wrapper(loop)
    except curses.error as why:
        return fail(f"{why}: use --once")
    return 0


def main(options):
    if not 0 < options.interval <= LONGEST:
        return fail(f"the interval is a number of seconds above 0, and not above {LONGEST}", 2)
    wrong = rdma_fails()
    if wrong:
        return fail(wrong)
    if sys.stdout.isatty() and not options.json and not options.once:
        return on_screen(options.interval)
    for report in reports(options.interval):
        print(json.dumps(report) if options.json else "\n".join(lines(report)), flush=True)
        if options.once:
            break
        if not options.json:
            print()
    return 0
